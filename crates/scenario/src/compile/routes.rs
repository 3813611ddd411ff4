//! Routes of flows, and what they say about channels.

use super::links::Builder;
use crate::fitting::fitting;
use crate::model::{Flow as FlowModel, Scenario};
use ackclock_engine::Stream;
use ackclock_net::routing::ecmp;
use ackclock_net::routing::shortest_path::ShortestPaths;
use ackclock_net::routing::{Attachment, Graph};
use ackclock_net::{Hop, Service};
use ackclock_trace::direction;
use ackclock_units::Time;

/// Links on the longest static route of a scenario.
pub fn longest_route(scenario: &Scenario) -> usize {
    let builder = Builder::of(scenario, Service::Fused);
    let routes = static_paths(scenario, &builder.graph);
    routes.iter().flatten().map(Vec::len).max().unwrap_or(0)
}

/// For each link and direction, the longest round trip of the flows whose data or ACKs cross it by static routes:
/// propagation both ways, without transmission and queueing. A half-duplex link has it in its first place.
pub fn round_trips(scenario: &Scenario) -> Vec<[Time; 2]> {
    let builder = Builder::of(scenario, Service::Fused);
    let mut longest = vec![[Time::ZERO; 2]; scenario.links.len()];
    for ways in static_paths(scenario, &builder.graph) {
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

/// A way over links: the index of each, and 1 for the direction from its second node to its first.
pub type Way = Vec<(usize, u8)>;

/// The ways of data and of ACKs of each flow, where they need not be the first of the shortest paths; else nothing.
pub fn special_paths(scenario: &Scenario) -> Vec<[Way; 2]> {
    let explicit = scenario.flows.iter().any(|flow| flow.routers.iter().any(Option::is_some));
    if !explicit && scenario.routing.kind != ecmp::NAME {
        return Vec::new();
    }
    ways(scenario)
}

/// The ways of data and of ACKs of each flow by static routes.
pub fn ways(scenario: &Scenario) -> Vec<[Way; 2]> {
    let builder = Builder::of(scenario, Service::Fused);
    let step = |hop: &Hop| {
        let channel = &builder.channels[hop.channel() as usize];
        let back = channel.direction() == direction::BACKWARD || hop.is_reverse();
        (fitting::<_, usize>(channel.link()), u8::from(back))
    };
    let paths = static_paths(scenario, &builder.graph).into_iter();
    paths.map(|both| both.map(|path| path.iter().map(step).collect())).collect()
}

/// The paths of each flow's data and of its ACKs; empty where there is none.
fn static_paths(scenario: &Scenario, graph: &Graph) -> Vec<[Vec<Hop>; 2]> {
    let mut paths = ShortestPaths::new(graph);
    let seed = (scenario.routing.kind == ecmp::NAME)
        .then(|| scenario.routing.optional_int("seed").unwrap_or(scenario.seed));
    let mut path = |flow: &FlowModel, way: usize| {
        let ends = if way == 0 { [flow.from, flow.to] } else { [flow.to, flow.from] };
        let [from, to] = ends.map(fitting);
        if let Some(routers) = &flow.routers[way] {
            let routers: Vec<u32> = routers.iter().map(|router| fitting(*router)).collect();
            return paths.over(from, &routers, to);
        }
        let Some(seed) = seed else { return paths.path(from, to) };
        let name = || format!("ecmp/{}/{}", flow.id, ["data", "acks"][way]);
        let mut hash = None;
        paths.path_by(from, to, |ways| {
            hash.get_or_insert_with(|| Stream::new(seed, &name())).below(ways)
        })
    };
    let flows = scenario.flows.iter();
    flows.map(|flow| [0, 1].map(|way| path(flow, way).unwrap_or_default())).collect()
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
        let routes = static_paths(scenario, graph);
        for (flow, both) in scenario.flows.iter().zip(&routes) {
            assert!(both.iter().all(|path| !path.is_empty()), "`{}` has no path", flow.id);
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

    /// The paths of each flow's data and of its ACKs, each with its end; none where routing is dynamic.
    pub fn paths(&self) -> impl Iterator<Item = [&[Hop]; 2]> {
        let half = 1 << self.row_bits.saturating_sub(1);
        self.rows.chunks_exact(2 * half).map(move |row| {
            let (there, back) = row.split_at(half);
            [there, back].map(|path| {
                let end = path.iter().position(|hop| *hop == Hop::DELIVER);
                &path[..end.map_or(path.len(), |end| end + 1)]
            })
        })
    }

    /// Where all packets go that leave a channel; [`Hop::ROUTED`] where flows part, and on half-duplex links.
    pub fn only_next(&self, channels: usize) -> Vec<Hop> {
        let mut next = vec![None; channels];
        if self.row_bits > 0 {
            for path in self.rows.chunks_exact(1 << (self.row_bits - 1)) {
                for step in path.windows(2).take_while(|step| step[0] != Hop::DELIVER) {
                    let known = &mut next[step[0].channel() as usize];
                    *known = match *known {
                        Some(hop) if hop != step[1] => Some(Hop::ROUTED),
                        _ => Some(step[1]),
                    };
                }
            }
        }
        next.into_iter().map(|hop| hop.unwrap_or(Hop::ROUTED)).collect()
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
