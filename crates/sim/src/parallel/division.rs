//! Whether a scenario can be run in parts, and in which.

use super::partition::{Graph, Tie};
use crate::model::{Flow, Link, Node, Scenario, Transport};
use crate::outlook::packets_of_flows;
use crate::transfer::Transfer;
use ackclock_engine::{EndingQueue, PackedQueue, Ties};
use ackclock_net::{Division, Endpoint, Network};
use ackclock_tcp::Ends;
use ackclock_trace::{Moment, direction};
use ackclock_units::Time;

/// Why one thread runs the whole network.
pub type Undivided = String;

/// Refuses scenarios whose parts would have to know of each other at every moment.
pub(super) fn check(scenario: &Scenario) -> Result<(), Undivided> {
    let stop = &scenario.stop;
    let reason = if Ties::new(&scenario.ties) != Ties::Entity {
        format!(
            "with `ties: {}` simultaneous events come in an order of the whole network",
            scenario.ties.kind
        )
    } else if scenario.routing.kind == "distance-vector" {
        "with `routing: distance-vector` routers share what they know".to_owned()
    } else if stop.flows_complete && scenario.flows.iter().any(is_limited_udp) {
        "the run ends when the last flow is complete, and UDP flows are when each packet has arrived or was dropped, \
         wherever that is; `stop.when: time` lets it be divided"
            .to_owned()
    } else if scenario.warmup.is_some() {
        "figures count from the end of the warm-up on, when all of the network is looked at"
            .to_owned()
    } else if stop.events.is_some() {
        "the number of events is limited".to_owned()
    } else if stop.at_latest > EndingQueue::LATEST_END {
        format!("the run is longer than {:.1} hours", EndingQueue::LATEST_END.as_secs() / 3600.0)
    } else if scenario.has_programs() {
        "programs in Python run in one thread".to_owned()
    } else {
        return Ok(());
    };
    Err(reason)
}

/// Whether the last packet of a flow without feedback completes it.
fn is_limited_udp(flow: &Flow) -> bool {
    let udp = matches!(flow.transport, Transport::Udp { .. });
    udp && !flow.is_endless()
}

/// A network divided.
pub(super) struct Cut {
    pub division: Division,
    /// What enters a channel between parts arrives that much later at least.
    pub lookahead: Time,
}

/// What a sender does for an ACK, and a receiver for a segment, as multiples of what a router does for a packet.
const WORK_OF_ACK: f64 = 2.5;
const WORK_OF_SEGMENT: f64 = 1.0;

/// Divides a network into at most so many parts.
pub(super) fn cut(
    scenario: &Scenario,
    network: &Network,
    walkable: &[bool],
    parts: usize,
) -> Result<Cut, Undivided> {
    let channels = &network.channels;
    let flows = network.flows.len();
    let entities = 2 * channels.len() + network.routers + flows + 2;
    let recorded = !scenario.record.is_off();
    if entities > PackedQueue::ENTITIES || recorded && entities + flows > Moment::ENTITIES {
        return Err("the network has too many links and flows".to_owned());
    }
    let hosts = scenario.hosts.len();
    let place = |node: Node| match node {
        Node::Host(host) => host,
        Node::Router(router) => hosts + router,
    };
    let link = |channel: usize| &scenario.links[channels[channel].link() as usize];
    // From the node that sends into a channel to the one at its far end.
    let ends = |channel: usize| {
        let [a, b] = link(channel).ends.map(place);
        if channels[channel].direction() == direction::BACKWARD { [b, a] } else { [a, b] }
    };
    let journey = |channel: usize| match link(channel) {
        link if link.half_duplex => Time::ZERO,
        link => least_delay(link, channels[channel].least_journey()),
    };

    let mut work = vec![0.0; hosts + scenario.routers.len()];
    let mut packets = vec![0.0; channels.len()];
    let mut trips = vec![Time::ZERO; network.flows.len()];
    for (flow, sent) in packets_of_flows(scenario, network).into_iter().enumerate() {
        for (path, sent) in network.path_channels(flow).unwrap_or_default().iter().zip(sent) {
            for channel in path {
                packets[*channel] += sent;
                trips[flow] += journey(*channel);
                work[ends(*channel)[1]] += sent;
            }
        }
        let [from, to] = [scenario.flows[flow].from, scenario.flows[flow].to];
        work[from] += sent[1] * WORK_OF_ACK;
        work[to] += sent[0] * WORK_OF_SEGMENT;
    }
    // Where packets are recorded, what a walked channel leads to writes rows in the event of the first one.
    let follows = |channel: usize| walkable[channel] && !scenario.record.is_of_senders();
    let tie = |channel: usize| Tie {
        nodes: ends(channel),
        packets: packets[channel],
        journey_ns: if follows(channel) { 0 } else { journey(channel).as_ns() },
    };
    let mut ties: Vec<Tie> = (0..channels.len()).map(tie).collect();
    for (place, (model, flow)) in scenario.flows.iter().zip(&network.flows).enumerate() {
        let parts = match &flow.endpoint {
            Endpoint::Tcp(tcp) => tcp.connection.can_part(model.send != Transfer::Unlimited),
            _ => true,
        };
        if model.stop.is_some() {
            trips[place] = Time::ZERO;
        }
        if !parts || model.stop.is_some() {
            ties.push(Tie { nodes: [model.from, model.to], packets: 0.0, journey_ns: 0 });
        }
    }
    let home = homes(scenario, place);
    let of_nodes = Graph { work, ties, home }.divide(parts);
    let count = of_nodes.iter().map(|part| usize::from(*part) + 1).max().unwrap_or(0);
    if count < 2 {
        return Err("its nodes cannot be divided: links without delay, half-duplex links, links with jitter, and flows \
                    whose ends share what they know keep their nodes together"
            .to_owned());
    }
    let parts_of = |channel: usize| ends(channel).map(|node| of_nodes[node]);
    let of_channels: Vec<[u16; 2]> = (0..channels.len()).map(parts_of).collect();
    let is_cut = |channel: &usize| of_channels[*channel][0] != of_channels[*channel][1];
    let lookahead = (0..channels.len()).filter(is_cut).map(journey).min();
    // Parts without a link between them never wait for each other.
    let lookahead = lookahead.unwrap_or(scenario.stop.at_latest).max(Time::from_ns(1));
    let flows = scenario.flows.iter().map(|flow| [flow.from, flow.to].map(|host| of_nodes[host]));
    let extra = (0..channels.len()).map(|channel| walkable[channel] && is_cut(&channel)).collect();
    let flows = flows.collect();
    let division = Division { parts: count, channels: of_channels, flows, extra, trips };
    Ok(Cut { division, lookahead })
}

/// The same where the delay of a link becomes shorter in the course of the run.
fn least_delay(link: &Link, journey: Time) -> Time {
    link.changes.iter().filter_map(|change| change.delay).fold(journey, Time::min)
}

/// The router of each host that has no other neighbour, by the places of nodes.
fn homes(scenario: &Scenario, place: impl Fn(Node) -> usize) -> Vec<Option<usize>> {
    let hosts = scenario.hosts.len();
    let mut homes = vec![None; hosts + scenario.routers.len()];
    let mut several = vec![false; hosts];
    for link in &*scenario.links {
        let [a, b] = link.ends.map(&place);
        for (host, other) in [(a, b), (b, a)] {
            if host < hosts {
                several[host] |= homes[host].is_some_and(|home| home != other) || other < hosts;
                homes[host] = Some(other);
            }
        }
    }
    for (home, several) in homes.iter_mut().zip(several) {
        if several {
            *home = None;
        }
    }
    homes
}
