//! From a checked scenario to a network before its first event.

mod links;
mod routes;
mod walks;

pub use routes::{Way, longest_route, round_trips, special_paths, ways};

use crate::fitting::fitting;
use crate::model::{Flow as FlowModel, Scenario, Tcp, Transport};
use ackclock_engine::{Stream, Ties};
use ackclock_net::routing::DistanceVector;
use ackclock_net::source::{BULK_NAME, Source, Writer};
use ackclock_net::world::{Network, service_for};
use ackclock_net::{Crowd, Endpoint, Flow, Service, TcpFlow, UdpFlow};
use ackclock_tcp::cc::python::Controller;
use ackclock_tcp::cc::{Cc, CongestionControl};
use ackclock_tcp::rto::Rto;
use ackclock_tcp::{Common, Connection, Data};
use ackclock_units::Time;
use ackclock_units::param::Chosen;
use links::Builder;
use routes::Routes;
use walks::{Reception, walkable};

/// Ways in which the engine saves work without changing results. Tests switch them off one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// Departures are computed when packets enter a queue.
    pub fused: bool,
    /// Event keys are packed into 64 bits.
    pub packed: bool,
    /// Packets go on at once through channels that one channel alone feeds.
    pub walked: bool,
    /// And through receivers whose answers nothing else has a part in.
    pub received: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { fused: true, packed: true, walked: true, received: true }
    }
}

/// Makes the controllers of flows whose congestion control lives outside the engine, by the flow's place.
pub type Controllers<'a> = &'a mut dyn FnMut(usize) -> Option<Box<dyn Controller>>;

/// Builds the network of a scenario.
pub fn compile(scenario: &Scenario, shortcuts: Shortcuts, controllers: Controllers<'_>) -> Network {
    let Built { mut network, walkable } = build(scenario, shortcuts, controllers);
    for (channel, _) in network.channels.iter_mut().zip(walkable).filter(|(_, walks)| *walks) {
        channel.walk();
    }
    network
}

/// A network in which no channel is walked yet.
pub struct Built {
    /// The network.
    pub network: Network,
    /// For each channel, whether it can be walked.
    pub walkable: Vec<bool>,
}

/// Builds the network of a scenario.
pub fn build(scenario: &Scenario, shortcuts: Shortcuts, controllers: Controllers<'_>) -> Built {
    let ties = Ties::new(&scenario.ties);
    let service = if shortcuts.fused { service_for(&ties) } else { Service::Events };
    let builder = Builder::of(scenario, service);
    let Builder { mut channels, ends, graph, mut changes, .. } = builder;
    changes.sort_by_key(|change| change.at);

    let distance_vector = (scenario.routing.kind == "distance-vector")
        .then(|| DistanceVector::new(&scenario.routing, &graph));
    if let Some(protocol) = &distance_vector {
        for channel in &mut channels {
            channel.keep_waits(protocol.samples());
        }
    }
    let routes = match distance_vector {
        None => Routes::shortest(scenario, &graph),
        Some(_) => Routes::first_hops(scenario, &graph),
    };
    for (channel, next) in channels.iter_mut().zip(routes.only_next(ends.len())) {
        channel.set_next(next);
    }
    let mut flows = ackclock_memory::with_capacity(scenario.flows.len());
    flows.extend(scenario.flows.iter().zip(&routes.first).enumerate().map(|(i, (flow, first))| {
        let start = flow.start.time(scenario.seed, &flow.id);
        let endpoint = match &flow.transport {
            Transport::Tcp(tcp) => {
                Endpoint::Tcp(tcp_flow(flow, tcp, scenario.seed, || controllers(i)))
            }
            Transport::Udp { source, ecn } => {
                let writer = writer(flow, source, scenario.seed);
                let writer = writer.expect("a source that waits between packets");
                Endpoint::Udp(Box::new(UdpFlow::new(writer, *ecn)))
            }
        };
        Flow::new(start, *first, [flow.from, flow.to].map(fitting), endpoint)
    }));
    for i in 1..flows.len() {
        let (before, rest) = flows.split_at_mut(i);
        rest[0].share_rules(&before[i - 1]);
    }
    // Walking runs ahead of time, so the end must be known, links must not change meanwhile, and figures must begin at the
    // start. A walked packet may count
    // as gone, and its answer as made, before its time: where there may be too many, the run starts again, with nothing walked.
    let stop = &scenario.stop;
    let watched = Crowd::can_watch(stop.max_packets, flows.len()) && !scenario.has_programs();
    let limited = stop.events.is_some() || scenario.warmup.is_some() || !watched;
    let completes = stop.flows_complete && !scenario.flows.iter().any(FlowModel::is_endless);
    let foreseeable = service == Service::Fused && !completes && !limited;
    let steady = scenario.links.iter().all(|link| link.changes.is_empty());
    let walkable = if shortcuts.walked && foreseeable && steady {
        let receptions = if shortcuts.received && receivers_go_unseen(scenario) {
            let routes = routes.paths().zip(scenario.flows.iter()).zip(&flows);
            routes
                .map(|((paths, model), flow)| Reception::of(model, flow, paths, &channels))
                .collect()
        } else {
            vec![Reception::Awaited; flows.len()]
        };
        walkable(&routes, &channels, &receptions)
    } else {
        vec![false; channels.len()]
    };
    let stops = scenario.flows.iter().zip(0..).filter_map(|(flow, i)| Some((flow.stop?, i)));
    let mut stops: Vec<(Time, u32)> = stops.collect();
    stops.sort_unstable();
    let burst_order = match ties {
        Ties::Random { seed, .. } => Some(Stream::new(seed, "ties/burst")),
        _ => None,
    };
    let network = Network {
        flows,
        channels,
        ends,
        routes: routes.rows,
        row_bits: routes.row_bits,
        distance_vector,
        routers: scenario.routers.len(),
        burst_order,
        changes,
        stops,
        queues_sends: Ties::queues_sends(&scenario.ties),
        stop_when_complete: scenario.stop.flows_complete,
        end: scenario.stop.at_latest,
        most_packets: scenario.stop.max_packets,
    };
    Built { network, walkable }
}

/// Whether nobody sees when packets come to receivers: only senders are recorded, if any, and their records do not end the
/// run.
fn receivers_go_unseen(scenario: &Scenario) -> bool {
    scenario.record.is_of_senders() && scenario.record.limit_bytes.is_none()
}

/// The source of a flow; none for one that writes everything at once.
fn writer(flow: &FlowModel, source: &Chosen, seed: u64) -> Option<Writer> {
    let source = Source::of_flow(source, seed, &flow.id)?;
    Some(Writer::new(source, flow.send.bytes(seed, &flow.id)))
}

/// What the sender of a flow is made from.
pub fn common(flow: &FlowModel, tcp: &Tcp, seed: u64) -> Common {
    let segment = tcp.segment_bytes as f64;
    let mut rto = Rto::new(&tcp.rto);
    rto.draw_phase(|| Stream::new(seed, &format!("rto/{}", flow.id)).uniform());
    let mut cc = Cc::new(&tcp.cc);
    cc.on_flow(fitting(tcp.segment_bytes), &mut || Stream::new(seed, &format!("cc/{}", flow.id)));
    Common {
        segment: fitting(tcp.segment_bytes),
        data: data(flow, tcp, seed),
        initial_window: tcp.initial_window as f64,
        initial_ssthresh: tcp
            .initial_ssthresh
            .map_or(f64::INFINITY, |amount| amount.bytes(segment)),
        cc,
        rto,
    }
}

fn tcp_flow(
    flow: &FlowModel,
    tcp: &Tcp,
    seed: u64,
    controller: impl FnOnce() -> Option<Box<dyn Controller>>,
) -> TcpFlow {
    let mut common = common(flow, tcp, seed);
    if let Some(controller) = controller() {
        common.cc.attach(controller);
    }
    let connection = Connection::new(&tcp.sender, common);
    let writer = writer(flow, &tcp.source, seed);
    TcpFlow::new(connection, fitting(tcp.header_bytes), fitting(tcp.ack_bytes), writer)
}

/// What there is to send.
fn data(flow: &FlowModel, tcp: &Tcp, seed: u64) -> Data {
    let given = tcp.source.kind == BULK_NAME;
    Data {
        given: given.then(|| flow.send.bytes(seed, &flow.id).unwrap_or(u64::MAX)),
        whole_segments: tcp.writes == "whole-segments",
    }
}
