//! From links to channels.

use crate::fitting::fitting;
use crate::model::{Change, Direction, Flow, Link, Node as NodeModel, Scenario};
use ackclock_engine::{Stream, Ties};
use ackclock_net::jitter::Jitter;
use ackclock_net::loss::Loss;
use ackclock_net::queue::{Place, Queue};
use ackclock_net::rate::Varying;
use ackclock_net::routing::graph::Node;
use ackclock_net::routing::{Attachment, Graph};
use ackclock_net::script::Context;
use ackclock_net::serial::Serial;
use ackclock_net::{Chance, Channel, ChannelChange, Harm, Service};
use ackclock_trace::direction;
use ackclock_units::Time;
use std::cell::OnceCell;
use std::sync::Arc;

fn node(model: NodeModel) -> Node {
    match model {
        NodeModel::Host(host) => Node::Host(fitting(host)),
        NodeModel::Router(router) => Node::Router(fitting(router)),
    }
}

/// Channels as they are made, link by link.
pub(super) struct Builder<'a> {
    links: &'a [Link],
    flows: &'a [Flow],
    /// Sender and receiver of each flow, once a queue has asked.
    hosts: OnceCell<Arc<[[u32; 2]]>>,
    seed: u64,
    pub channels: Vec<Channel>,
    pub ends: Vec<[Node; 2]>,
    pub graph: Graph,
    service: Service,
    /// The default order of events.
    by_entity: bool,
    /// Rates met so far.
    serials: Vec<Arc<Serial>>,
    pub changes: Vec<ChannelChange>,
}

impl<'a> Builder<'a> {
    /// All links of a scenario.
    pub fn of(scenario: &'a Scenario, service: Service) -> Self {
        let mut builder = Self {
            links: &scenario.links,
            flows: &scenario.flows,
            hosts: OnceCell::new(),
            seed: scenario.seed,
            channels: ackclock_memory::with_capacity(2 * scenario.links.len()),
            ends: Vec::with_capacity(2 * scenario.links.len()),
            graph: Graph::new(scenario.hosts.len(), scenario.routers.len()),
            service,
            by_entity: Ties::new(&scenario.ties) == Ties::Entity,
            serials: Vec::new(),
            changes: Vec::new(),
        };
        for (index, link) in scenario.links.iter().enumerate() {
            builder.add_link(fitting(index), link);
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
        let (seed, whole) = (self.seed, &self.links[link as usize]);
        let stream = |purpose: &str| {
            let direction = direction::NAMES[way as usize];
            Stream::new(seed, &format!("{purpose}/{}/{direction}", whole.id))
        };
        let flows = self.flows;
        let flow = |id: &str| {
            let place = flows.iter().position(|flow| flow.id == id);
            fitting(place.expect("scripts name flows of the scenario"))
        };
        let queue = Queue::new(&model.queue, || Place {
            rate_bps: model.rate_bps,
            delay: model.delay,
            stream: stream("queue"),
            hosts: Arc::clone(self.hosts.get_or_init(|| {
                flows.iter().map(|flow| [fitting(flow.from), fitting(flow.to)]).collect()
            })),
        });
        // Departures or arrivals are unknown beforehand where rate or delay change, or where packets are dropped later.
        let fixed = |change: &Change| change.rate_bps.is_none() && change.delay.is_none();
        let context = |purpose: &str| Context { stream: stream(purpose), flow: &flow };
        let jitter = Jitter::new(&model.jitter, context("jitter"));
        let known = whole.changes.iter().all(fixed) && jitter.is_none() && model.rates.is_none();
        let service = if known && !queue.needs_events() { self.service } else { Service::Events };
        let serial = self.serial(Serial::new(model.rate_bps, whole.rounding));
        let mut channel = Channel::new(serial, model.delay, queue, service, link, way);
        if self.by_entity {
            channel.let_departures_come_first();
        }
        if let Some(rates) = &model.rates {
            channel.set_rates(Varying::new(rates));
        }
        if let Some(jitter) = jitter {
            channel.set_jitter(jitter);
        }
        channel.set_harm(Harm::new(
            Loss::new(&model.loss, context("loss")),
            Chance::new(model.corruption, || stream("corruption")),
            Chance::new(model.duplication, || stream("duplication")),
        ));
        self.channels.push(channel);
        self.ends.push(ends);
        fitting(self.channels.len() - 1)
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
