//! From a checked scenario to a network before its first event.

use crate::model::{
    Change, Direction, Flow as FlowModel, Link, Node as NodeModel, Scenario, Tcp, Transport,
};
use ackclock_engine::{Stream, Ties};
use ackclock_net::channel::ROUTED;
use ackclock_net::loss::Loss;
use ackclock_net::queue::Queue;
use ackclock_net::routing::graph::Node;
use ackclock_net::routing::shortest_path::ShortestPaths;
use ackclock_net::routing::{Attachment, DistanceVector, Graph};
use ackclock_net::serial::Serial;
use ackclock_net::source::{BULK_NAME, Source, Writer};
use ackclock_net::world::{DELIVER, Network, service_for};
use ackclock_net::{Channel, ChannelChange, Endpoint, Flow, Service, TcpFlow, UdpFlow};
use ackclock_tcp::cc::Cc;
use ackclock_tcp::recovery::Classic;
use ackclock_tcp::recovery::selective_repeat::Recovery;
use ackclock_tcp::rto::Rto;
use ackclock_tcp::{
    Arrivals, Classic as Ends, ClassicSender, ClassicSetup, Connection, Data, Handshake, Receiver,
    Restart, Selective, SelectiveRepeat, Setup, TimerRules,
};
use ackclock_trace::direction;
use ackclock_units::Time;
use ackclock_units::param::Chosen;
use std::sync::Arc;

/// Ways in which the engine saves work without changing results. Tests switch them off one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// Departures are computed when packets enter a queue.
    pub fused: bool,
    /// Event keys are packed into 64 bits.
    pub packed: bool,
    /// Packets go on at once through channels that one channel alone feeds.
    pub walked: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { fused: true, packed: true, walked: true }
    }
}

/// Builds the network of a scenario.
pub fn compile(scenario: &Scenario, shortcuts: Shortcuts) -> Network {
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
    // Walking runs ahead of time, so the end must be known and links must not change meanwhile.
    let stop = &scenario.stop;
    let foreseeable = service == Service::Fused && !stop.flows_complete && stop.events.is_none();
    let steady = scenario.links.iter().all(|link| link.changes.is_empty());
    if shortcuts.walked && foreseeable && steady {
        for (channel, walks) in channels.iter_mut().zip(routes.walkable(ends.len())) {
            if walks {
                channel.walk();
            }
        }
    }
    let flows = scenario.flows.iter().zip(&routes.first).map(|(flow, first)| {
        let start = flow.start.time(scenario.seed, &flow.id);
        let endpoint = match &flow.transport {
            Transport::Tcp(tcp) => Endpoint::Tcp(tcp_flow(flow, tcp, scenario.seed)),
            Transport::Udp { source } => {
                let writer = writer(flow, source, scenario.seed);
                let writer = writer.expect("a source that waits between packets");
                Endpoint::Udp(Box::new(UdpFlow::new(writer)))
            }
        };
        Flow::new(start, *first, [flow.from as u32, flow.to as u32], endpoint)
    });
    let mut flows: Vec<Flow> = flows.collect();
    for i in 1..flows.len() {
        let (before, rest) = flows.split_at_mut(i);
        rest[0].share_rules(&before[i - 1]);
    }
    let burst_order = match ties {
        Ties::Random { seed, .. } => Some(Stream::new(seed, "ties/burst")),
        _ => None,
    };
    Network {
        flows,
        channels,
        ends,
        routes: routes.rows,
        row_bits: routes.row_bits,
        distance_vector,
        routers: scenario.routers.len(),
        burst_order,
        changes,
        queues_sends: Ties::queues_sends(&scenario.ties),
        stop_when_complete: scenario.stop.flows_complete,
        end: scenario.stop.at_latest,
    }
}

/// The source of a flow; none for one that writes everything at once.
fn writer(flow: &FlowModel, source: &Chosen, seed: u64) -> Option<Writer> {
    Source::new(source, seed, &flow.id).map(|source| Writer::new(source, flow.send_bytes))
}

fn tcp_flow(flow: &FlowModel, tcp: &Tcp, seed: u64) -> TcpFlow {
    let connection = match tcp.sender.as_str() {
        "selective-repeat" => selective_repeat(flow, tcp),
        "classic" => classic(flow, tcp, seed),
        other => panic!("no sender is named `{other}`"),
    };
    let writer = writer(flow, &tcp.source, seed);
    TcpFlow::new(connection, tcp.header_bytes as u16, tcp.ack_bytes as u16, writer)
}

/// What there is to send.
fn data(flow: &FlowModel, tcp: &Tcp) -> Data {
    let given = tcp.source.kind == BULK_NAME;
    Data {
        given: given.then(|| flow.send_bytes.unwrap_or(u64::MAX)),
        whole_segments: tcp.writes == "whole-segments",
    }
}

fn classic(flow: &FlowModel, tcp: &Tcp, seed: u64) -> Connection {
    let segment = tcp.segment_bytes as f64;
    let receive_window = tcp.receive_window_bytes.unwrap_or(u64::MAX);
    let mut initial_ssthresh =
        tcp.initial_ssthresh.map_or(f64::INFINITY, |amount| amount.bytes(segment));
    if tcp.initial_ssthresh_limit == "receive-window" {
        initial_ssthresh = initial_ssthresh.min(receive_window as f64);
    }
    let mut rto = Rto::new(&tcp.rto);
    rto.draw_phase(|| Stream::new(seed, &format!("rto/{}", flow.id)).uniform());
    let sender = ClassicSender::new(ClassicSetup {
        segment: tcp.segment_bytes as u16,
        data: data(flow, tcp),
        nagle: tcp.nagle,
        restarts_idle: tcp.idle_restart == "rto",
        grows_used: tcp.unused_window == "stays",
        initial_window: tcp.initial_window as f64,
        initial_ssthresh,
        receive_window,
        window_in_segments: tcp.window_unit == "segments",
        fills_window: tcp.framing == "fill",
        ssthresh_floor: tcp.ssthresh_floor,
        whole_ssthresh: tcp.ssthresh_rounding == "whole-segments",
        idle_timer: tcp.idle_restart == "timer",
        ignores_zero_ack: tcp.zero_ack == "ignored",
        timer: TimerRules {
            restart: Restart::new(&tcp.timer_restart),
            backs_off_at_start: tcp.timer_backoff == "at-start",
        },
        send_delay: tcp.send_delay,
        flight_to_highest: tcp.flight == "highest",
        handshake: Handshake::new(&tcp.handshake),
        cc: Cc::new(&tcp.cc),
        recovery: Classic::new(&tcp.recovery),
        rto,
    });
    Connection::Classic(Ends::new(sender, Receiver::new(&tcp.receiver)))
}

fn selective_repeat(flow: &FlowModel, tcp: &Tcp) -> Connection {
    let segment = tcp.segment_bytes as f64;
    let sender = SelectiveRepeat::new(Setup {
        segment: tcp.segment_bytes as u16,
        data: data(flow, tcp),
        initial_window: tcp.initial_window as f64,
        initial_ssthresh: tcp
            .initial_ssthresh
            .map_or(f64::INFINITY, |amount| amount.bytes(segment) / segment),
        cc: Cc::new(&tcp.cc),
        recovery: Recovery::new(&tcp.recovery),
        rto: Rto::new(&tcp.rto),
    });
    Connection::SelectiveRepeat(Box::new(Selective {
        sender,
        arrivals: Arrivals::new(),
        live_view: tcp.ack_view == "live",
        acks_duplicates: tcp.ack_duplicates == "always",
    }))
}

const fn node(model: NodeModel) -> Node {
    match model {
        NodeModel::Host(host) => Node::Host(host as u32),
        NodeModel::Router(router) => Node::Router(router as u32),
    }
}

struct Builder<'a> {
    links: &'a [Link],
    seed: u64,
    channels: Vec<Channel>,
    ends: Vec<[Node; 2]>,
    graph: Graph,
    service: Service,
    /// Rates met so far.
    serials: Vec<Arc<Serial>>,
    changes: Vec<ChannelChange>,
}

impl<'a> Builder<'a> {
    /// All links of a scenario.
    fn of(scenario: &'a Scenario, service: Service) -> Self {
        let mut builder = Self {
            links: &scenario.links,
            seed: scenario.seed,
            channels: Vec::new(),
            ends: Vec::new(),
            graph: Graph::new(scenario.hosts.len(), scenario.routers.len()),
            service,
            serials: Vec::new(),
            changes: Vec::new(),
        };
        for (index, link) in scenario.links.iter().enumerate() {
            builder.add_link(index as i32, link);
        }
        builder
    }

    fn add_link(&mut self, index: i32, link: &Link) {
        let [a, b] = [node(link.ends[0]), node(link.ends[1])];
        if link.half_duplex {
            let channel = self.add_channel(index, direction::BOTH, &link.forward, [b, a]);
            self.attach(a, b, channel, false, link.forward.delay);
            self.attach(b, a, channel, true, link.forward.delay);
            self.add_changes(link, [Some(channel), None]);
        } else {
            let there = self.add_channel(index, direction::FORWARD, &link.forward, [b, b]);
            let back = self.add_channel(index, direction::BACKWARD, &link.backward, [a, a]);
            self.attach(a, b, there, false, link.forward.delay);
            self.attach(b, a, back, false, link.backward.delay);
            self.add_changes(link, [Some(there), Some(back)]);
        }
    }

    /// What happens to the channels of a link; the one of a half-duplex link counts as forward.
    fn add_changes(&mut self, link: &Link, [there, back]: [Option<u32>; 2]) {
        for change in &link.changes {
            let wanted = [there.filter(|_| change.forward), back.filter(|_| change.backward)];
            self.changes.extend(wanted.into_iter().flatten().map(|channel| ChannelChange {
                at: change.at,
                channel,
                up: change.up,
                rate_bps: change.rate_bps,
                delay: change.delay,
            }));
        }
    }

    fn add_channel(&mut self, link: i32, way: i32, model: &Direction, ends: [Node; 2]) -> u32 {
        let queue = Queue::new(&model.queue);
        // Departures cannot be told beforehand where rate or delay will change.
        let fixed = |change: &Change| change.rate_bps.is_none() && change.delay.is_none();
        let known = self.links[link as usize].changes.iter().all(fixed);
        let service = if known { self.service } else { Service::Events };
        let serial = self.serial(Serial::new(model.rate_bps, self.links[link as usize].rounding));
        let mut channel = Channel::new(serial, model.delay, queue, service, link, way);
        let id = &self.links[link as usize].id;
        let name = format!("loss/{id}/{}", direction::NAMES[way as usize]);
        channel.set_loss(Loss::new(&model.loss, Stream::new(self.seed, &name)));
        self.channels.push(channel);
        self.ends.push(ends);
        self.channels.len() as u32 - 1
    }

    /// One copy for channels of the same rate, if it was met lately.
    fn serial(&mut self, serial: Serial) -> Arc<Serial> {
        let lately = self.serials.iter().rev().take(16);
        if let Some(known) = lately.into_iter().find(|known| ***known == serial) {
            return Arc::clone(known);
        }
        let serial = Arc::new(serial);
        self.serials.push(Arc::clone(&serial));
        serial
    }

    fn attach(&mut self, from: Node, to: Node, channel: u32, reverse: bool, delay: Time) {
        self.graph.add(from, Attachment { channel, reverse, to, delay });
    }
}

/// Links on the longest static route of a scenario.
pub fn longest_route(scenario: &Scenario) -> usize {
    let builder = Builder::of(scenario, Service::Fused);
    let mut paths = ShortestPaths::new(&builder.graph);
    let both = |flow: &FlowModel| [(flow.from, flow.to), (flow.to, flow.from)];
    let routes = scenario.flows.iter().flat_map(both);
    routes
        .filter_map(|(from, to)| paths.path(from as u32, to as u32))
        .map(|path| path.len())
        .max()
        .unwrap_or(0)
}

/// Ways of all flows.
struct Routes {
    rows: Vec<u32>,
    row_bits: u32,
    /// First way of data and of ACKs, by flow.
    first: Vec<[u32; 2]>,
}

impl Routes {
    /// Static routes, both ways of every flow.
    fn shortest(scenario: &Scenario, graph: &Graph) -> Self {
        let mut paths = ShortestPaths::new(graph);
        let mut ways = Vec::with_capacity(scenario.flows.len());
        for flow in &scenario.flows {
            let mut path = |from: usize, to: usize| {
                paths
                    .path(from as u32, to as u32)
                    .unwrap_or_else(|| panic!("`{}` has no path", flow.id))
            };
            ways.push([path(flow.from, flow.to), path(flow.to, flow.from)]);
        }
        // A row holds both paths, each with the mark of its end.
        let longest = ways.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let row_bits = (longest + 1).next_power_of_two().trailing_zeros() + 1;
        let half = 1 << (row_bits - 1);
        let mut rows = vec![DELIVER; ways.len() << row_bits];
        for (row, both) in rows.chunks_exact_mut(2 * half).zip(&ways) {
            for (part, path) in row.chunks_exact_mut(half).zip(both) {
                part[..path.len()].copy_from_slice(path);
            }
        }
        let first = ways.iter().map(|[data, acks]| [data[0], acks[0]]).collect();
        Self { rows, row_bits, first }
    }

    /// Which of the channels can be walked: all packets that leave them go on to channels that no other
    /// channel and no host feeds.
    fn walkable(&self, channels: usize) -> Vec<bool> {
        /// What feeds a channel.
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            Nobody,
            One(u32),
            Several,
        }
        if self.rows.is_empty() {
            return vec![false; channels];
        }
        let mut feeders = vec![Feeder::Nobody; channels];
        let half = 1 << (self.row_bits - 1);
        for path in self.rows.chunks_exact(half) {
            feeders[(path[0] >> 1) as usize] = Feeder::Several;
            for step in path.windows(2).take_while(|step| step[1] != DELIVER) {
                let from = Feeder::One(step[0] >> 1);
                let feeder = &mut feeders[(step[1] >> 1) as usize];
                if *feeder == Feeder::Nobody {
                    *feeder = from;
                } else if *feeder != from {
                    *feeder = Feeder::Several;
                }
            }
        }
        let mut walkable = vec![true; channels];
        for path in self.rows.chunks_exact(half) {
            for step in path.windows(2).take_while(|step| step[0] != DELIVER) {
                let goes_on = step[1] != DELIVER
                    && feeders[(step[1] >> 1) as usize] == Feeder::One(step[0] >> 1);
                walkable[(step[0] >> 1) as usize] &= goes_on;
            }
        }
        walkable
    }

    /// Where all packets go that leave a channel, forward and backward; `ROUTED` where flows part.
    fn only_next(&self, channels: usize) -> Vec<[u32; 2]> {
        let mut next = vec![[None; 2]; channels];
        if self.row_bits > 0 {
            for path in self.rows.chunks_exact(1 << (self.row_bits - 1)) {
                for step in path.windows(2).take_while(|step| step[0] != DELIVER) {
                    let known = &mut next[(step[0] >> 1) as usize][(step[0] & 1) as usize];
                    *known = match *known {
                        Some(way) if way != step[1] => Some(ROUTED),
                        _ => Some(step[1]),
                    };
                }
            }
        }
        next.into_iter().map(|ways| ways.map(|way| way.unwrap_or(ROUTED))).collect()
    }

    /// With dynamic routing only the hosts' own links are known beforehand.
    fn first_hops(scenario: &Scenario, graph: &Graph) -> Self {
        let first = scenario.flows.iter().map(|flow| {
            [flow.from, flow.to].map(|host| graph.hosts[host].first().map_or(0, Attachment::code))
        });
        Self { rows: Vec::new(), row_bits: 0, first: first.collect() }
    }
}
