//! Routes of flows, and what they say about channels.

use super::links::Builder;
use crate::fitting::fitting;
use crate::model::{Flow as FlowModel, Scenario};
use ackclock_net::routing::shortest_path::ShortestPaths;
use ackclock_net::routing::{Attachment, Graph};
use ackclock_net::{Channel, Hop, Service};
use ackclock_trace::direction;
use ackclock_units::Time;

/// Links on the longest static route of a scenario.
pub fn longest_route(scenario: &Scenario) -> usize {
    let builder = Builder::of(scenario, Service::Fused);
    let mut paths = ShortestPaths::new(&builder.graph);
    let both = |flow: &FlowModel| [(flow.from, flow.to), (flow.to, flow.from)];
    let routes = scenario.flows.iter().flat_map(both);
    routes
        .filter_map(|(from, to)| paths.path(fitting(from), fitting(to)))
        .map(|path| path.len())
        .max()
        .unwrap_or(0)
}

/// For each link and direction, the longest round trip of the flows whose data or ACKs cross it by static routes:
/// propagation both ways, without transmission and queueing. A half-duplex link has it in its first place.
pub fn round_trips(scenario: &Scenario) -> Vec<[Time; 2]> {
    let builder = Builder::of(scenario, Service::Fused);
    let mut paths = ShortestPaths::new(&builder.graph);
    let mut longest = vec![[Time::ZERO; 2]; scenario.links.len()];
    for flow in scenario.flows.iter() {
        let ways = [(flow.from, flow.to), (flow.to, flow.from)];
        let ways =
            ways.map(|(from, to)| paths.path(fitting(from), fitting(to)).unwrap_or_default());
        let crossed = || ways.iter().flatten().map(|hop| &builder.channels[hop.channel() as usize]);
        let trip = Time::from_ns(crossed().map(|channel| channel.delay().as_ns()).sum());
        for channel in crossed() {
            let side = usize::from(channel.direction() == direction::BACKWARD);
            let known = &mut longest[channel.link() as usize][side];
            *known = trip.max(*known);
        }
    }
    longest
}

/// Routes of all flows.
pub(super) struct Routes {
    pub rows: Vec<Hop>,
    pub row_bits: u32,
    /// First hop of data and of ACKs, by flow.
    pub first: Vec<[Hop; 2]>,
}

impl Routes {
    /// Static routes of every flow, of its data and of its ACKs.
    pub fn shortest(scenario: &Scenario, graph: &Graph) -> Self {
        let mut paths = ShortestPaths::new(graph);
        let mut routes = Vec::with_capacity(scenario.flows.len());
        for flow in scenario.flows.iter() {
            let mut path = |from: usize, to: usize| {
                paths
                    .path(fitting(from), fitting(to))
                    .unwrap_or_else(|| panic!("`{}` has no path", flow.id))
            };
            routes.push([path(flow.from, flow.to), path(flow.to, flow.from)]);
        }
        // A row holds both paths, each with the mark of its end.
        let longest = routes.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let row_bits = (longest + 1).next_power_of_two().trailing_zeros() + 1;
        let half = 1 << (row_bits - 1);
        let mut rows = vec![Hop::DELIVER; routes.len() << row_bits];
        for (row, both) in rows.chunks_exact_mut(2 * half).zip(&routes) {
            for (part, path) in row.chunks_exact_mut(half).zip(both) {
                part[..path.len()].copy_from_slice(path);
            }
        }
        let first = routes.iter().map(|[data, acks]| [data[0], acks[0]]).collect();
        Self { rows, row_bits, first }
    }

    /// Which of the channels can be walked: all packets that leave them go on to channels that no other
    /// channel and no host feeds, and that need no event at the end of a transmission; and they leave as they came,
    /// without a mark and undamaged.
    pub fn walkable(&self, channels: &[Channel]) -> Vec<bool> {
        /// What feeds a channel.
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            Nobody,
            One(u32),
            Several,
        }
        if self.rows.is_empty() {
            return vec![false; channels.len()];
        }
        let mut feeders = vec![Feeder::Nobody; channels.len()];
        let half = 1 << (self.row_bits - 1);
        for path in self.rows.chunks_exact(half) {
            feeders[path[0].channel() as usize] = Feeder::Several;
            for step in path.windows(2).take_while(|step| step[1] != Hop::DELIVER) {
                let from = Feeder::One(step[0].channel());
                let feeder = &mut feeders[step[1].channel() as usize];
                if *feeder == Feeder::Nobody {
                    *feeder = from;
                } else if *feeder != from {
                    *feeder = Feeder::Several;
                }
            }
        }
        let fused = |channel: &Channel| channel.service() == Service::Fused;
        let unchanged = |channel: &Channel| !channel.is_managed() && !channel.corrupts();
        let walkable = channels.iter().map(|channel| fused(channel) && unchanged(channel));
        let mut walkable: Vec<bool> = walkable.collect();
        for path in self.rows.chunks_exact(half) {
            for step in path.windows(2).take_while(|step| step[0] != Hop::DELIVER) {
                let goes_on = step[1] != Hop::DELIVER
                    && fused(&channels[step[1].channel() as usize])
                    && feeders[step[1].channel() as usize] == Feeder::One(step[0].channel());
                walkable[step[0].channel() as usize] &= goes_on;
            }
        }
        walkable
    }

    /// Where all packets go that leave a channel, forward and backward; [`Hop::ROUTED`] where flows part.
    pub fn only_next(&self, channels: usize) -> Vec<[Hop; 2]> {
        let mut next = vec![[None; 2]; channels];
        if self.row_bits > 0 {
            for path in self.rows.chunks_exact(1 << (self.row_bits - 1)) {
                for step in path.windows(2).take_while(|step| step[0] != Hop::DELIVER) {
                    let known =
                        &mut next[step[0].channel() as usize][usize::from(step[0].is_reverse())];
                    *known = match *known {
                        Some(hop) if hop != step[1] => Some(Hop::ROUTED),
                        _ => Some(step[1]),
                    };
                }
            }
        }
        next.into_iter().map(|hops| hops.map(|hop| hop.unwrap_or(Hop::ROUTED))).collect()
    }

    /// With dynamic routing only the hosts' own links are known beforehand.
    pub fn first_hops(scenario: &Scenario, graph: &Graph) -> Self {
        let first = |host: usize| graph.hosts[host].first().map(Attachment::hop);
        let first = scenario
            .flows
            .iter()
            .map(|flow| [flow.from, flow.to].map(|host| first(host).unwrap_or(Hop::NO_ROUTE)));
        Self { rows: Vec::new(), row_bits: 0, first: first.collect() }
    }
}
