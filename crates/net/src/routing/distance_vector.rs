//! Distance-vector routing by measured delay.
//!
//! Source: Bhasin, Luo, Su, Yang, "Configurable Network Simulation for TCP Reno and FAST Flows",
//! Caltech 2015, section 2.4, and their program. All routers start an update at the same moments, one
//! period apart. In an update a router measures the cost of its own links, propagation delay plus mean
//! wait of the packets that left the queue lately, and sends its neighbours its distances to all hosts.
//! Whoever hears something that changes a distance of its own informs its neighbours in turn.
//!
//! While the routers are talking, packets follow the table of the previous update. The new one is used
//! `settling` after the start of the update. Ties between ways go to the earlier link of the file.
//!
//! Distances of neighbours are kept from update to update. There is no split horizon, no poisoned
//! reverse and no limit to counting to infinity. Routers do not notice links that are down.

use super::graph::{Graph, Node};
use crate::channel::Channel;
use crate::hop::Hop;
use ackclock_trace::{Recorder, RouteRow};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "distance-vector",
    summary: help(
        "Dynamic: routers exchange distances; the cost of a link is propagation plus recent queueing delay.",
    ),
    references: &["Bhasin, Luo, Su, Yang 2015, section 2.4", "Bellman 1958", "RFC 1058"],
    params: &[
        Param::new("period", Kind::Time, "5 s", "Time between updates.").at_least("1 ms"),
        Param::new("settling", Kind::Time, "150 ms", "Age at which a new routing table is used."),
        Param::new("packet", Kind::Size, "64 B", "Bytes of a router's packet on the wire.")
            .at_least("1 B")
            .at_most("65535 B"),
        Param::new(
            "samples",
            Kind::Count,
            "30",
            "Packets over which the queueing delay is averaged.",
        )
        .at_least("1")
        .at_most("100000"),
        Param::new(
            "min_samples",
            Kind::Count,
            "10",
            "With fewer samples the queueing delay counts as zero.",
        )
        .at_least("1")
        .at_most("100000"),
        Param::new("max_age", Kind::Time, "1 s", "Older packets do not count."),
        Param::new(
            "fallback",
            Kind::Choice(&[
                Choice::new("any", "the new table is used early for a host that the old one lacks"),
                Choice::defect(
                    "stable-only",
                    "only if the old table is empty: packets are lost because there is no route",
                ),
            ]),
            "any",
            "What happens before the new table has settled.",
        ),
        Param::new(
            "control",
            Kind::Choice(&[
                Choice::new("queued", "routers' packets need room in the queue like all others"),
                Choice::new(
                    "exempt",
                    "routers' packets are always accepted, as in the Caltech simulator",
                ),
            ]),
            "queued",
            "Whether queues can drop routers' packets.",
        ),
    ],
    ..Entry::BLANK
};

/// A router's packet that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Where it goes.
    pub hop: Hop,
    /// Router that sends it.
    pub router: u32,
    /// Where its content is kept.
    pub content: u32,
}

#[derive(Debug, Clone)]
struct Neighbour {
    router: usize,
    hop: Hop,
}

/// Distances in nanoseconds; [`FAR`] for a host that cannot be reached.
type Distances = Vec<u64>;
const FAR: u64 = u64::MAX;

#[derive(Debug, Clone)]
struct Router {
    neighbours: Vec<Neighbour>,
    /// (host, hop) of hosts on a link of this router.
    hosts: Vec<(usize, Hop)>,
    /// Measured costs of the links to neighbours, then to hosts.
    neighbour_costs: Vec<u64>,
    host_costs: Vec<u64>,
    /// What each neighbouring router said last.
    heard: Vec<Option<Distances>>,
    own: Distances,
    fresh: Vec<Hop>,
    stable: Vec<Hop>,
    updated: Time,
    settled: bool,
    next_update: Time,
}

/// State of the protocol in all routers.
#[derive(Debug, Clone)]
pub struct DistanceVector {
    routers: Vec<Router>,
    hosts: usize,
    /// Way in use, by router and host.
    active: Vec<Hop>,
    /// Contents of messages under way.
    contents: Vec<Distances>,
    free: Vec<u32>,
    period: Time,
    settling: Time,
    packet: u16,
    samples: usize,
    min_samples: usize,
    max_age: Time,
    fallback_any: bool,
    exempt: bool,
    changes: u64,
}

impl DistanceVector {
    /// The protocol on this network, before its first update at time zero.
    pub fn new(chosen: &Chosen, graph: &Graph) -> Self {
        let hosts = graph.hosts.len();
        let routers = graph
            .routers
            .iter()
            .map(|attachments| {
                let mut neighbours = Vec::new();
                let mut attached = Vec::new();
                for attachment in attachments {
                    let hop = attachment.hop();
                    match attachment.to {
                        Node::Router(router) => {
                            neighbours.push(Neighbour { router: router as usize, hop })
                        }
                        Node::Host(host) => attached.push((host as usize, hop)),
                    }
                }
                Router {
                    neighbour_costs: vec![0; neighbours.len()],
                    host_costs: vec![0; attached.len()],
                    neighbours,
                    hosts: attached,
                    heard: vec![None; graph.routers.len()],
                    own: vec![FAR; hosts],
                    fresh: vec![Hop::NO_ROUTE; hosts],
                    stable: vec![Hop::NO_ROUTE; hosts],
                    updated: Time::ZERO,
                    settled: false,
                    next_update: Time::ZERO,
                }
            })
            .collect::<Vec<_>>();
        Self {
            active: vec![Hop::NO_ROUTE; hosts * routers.len()],
            routers,
            hosts,
            contents: Vec::new(),
            free: Vec::new(),
            period: Time::from_ns(chosen.int("period_ns")),
            settling: Time::from_ns(chosen.int("settling_ns")),
            packet: chosen.int("packet_bytes") as u16,
            samples: chosen.int("samples") as usize,
            min_samples: chosen.int("min_samples") as usize,
            max_age: Time::from_ns(chosen.int("max_age_ns")),
            fallback_any: chosen.word("fallback") == "any",
            exempt: chosen.word("control") == "exempt",
            changes: 0,
        }
    }

    /// Packets over which channels have to remember waits.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Size of a router's packet.
    pub fn packet_bytes(&self) -> u16 {
        self.packet
    }

    /// Whether routers' packets are taken by full queues.
    pub fn is_exempt(&self) -> bool {
        self.exempt
    }

    /// Number of changes of next hops so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The next hop to a host, or [`Hop::NO_ROUTE`].
    #[inline]
    pub fn hop(&self, router: u32, host: u32) -> Hop {
        self.active[router as usize * self.hosts + host as usize]
    }

    /// When this router wants to be called.
    pub fn next_timer(&self, router: usize) -> Time {
        let state = &self.routers[router];
        if state.settled || state.next_update == Time::ZERO {
            return state.next_update;
        }
        state.next_update.min(state.updated + self.settling)
    }

    /// The time that a router asked for has come.
    pub fn on_timer<R: Recorder>(
        &mut self,
        now: Time,
        router: usize,
        channels: &[Channel],
        out: &mut Vec<Message>,
        recorder: &mut R,
    ) {
        let state = &mut self.routers[router];
        if now < state.next_update {
            state.settled = true;
            self.refresh(now, router, channels, recorder);
            return;
        }
        state.next_update = now + self.period;
        state.updated = now;
        state.settled = self.settling == Time::ZERO;
        state.stable = std::mem::replace(&mut state.fresh, vec![Hop::NO_ROUTE; self.hosts]);
        let cost = |hop: Hop| {
            let channel = &channels[hop.channel() as usize];
            (channel.delay() + channel.mean_wait(now, self.max_age, self.min_samples)).as_ns()
        };
        state.neighbour_costs = state.neighbours.iter().map(|n| cost(n.hop)).collect();
        state.host_costs = state.hosts.iter().map(|&(_, hop)| cost(hop)).collect();
        self.recompute(router);
        self.refresh(now, router, channels, recorder);
        self.broadcast(router, out);
    }

    /// A router's packet arrives at `router`.
    pub fn on_message<R: Recorder>(
        &mut self,
        now: Time,
        router: usize,
        message: Message,
        channels: &[Channel],
        out: &mut Vec<Message>,
        recorder: &mut R,
    ) {
        let distances = self.take(message.content);
        self.routers[router].heard[message.router as usize] = Some(distances);
        let before = self.routers[router].own.clone();
        self.recompute(router);
        self.refresh(now, router, channels, recorder);
        if self.routers[router].own != before {
            self.broadcast(router, out);
        }
    }

    /// A router's packet was dropped.
    pub fn on_drop(&mut self, content: u32) {
        self.take(content);
    }

    fn take(&mut self, content: u32) -> Distances {
        self.free.push(content);
        std::mem::take(&mut self.contents[content as usize])
    }

    /// Bellman's equation for one router.
    fn recompute(&mut self, router: usize) {
        let state = &mut self.routers[router];
        for host in 0..self.hosts {
            let direct = state.hosts.iter().zip(&state.host_costs);
            let direct =
                direct.filter(|((h, _), _)| *h == host).map(|((_, hop), &cost)| (cost, *hop));
            let mut best = (FAR, Hop::NO_ROUTE);
            for (cost, hop) in direct {
                if cost < best.0 {
                    best = (cost, hop);
                }
            }
            if best.1 == Hop::NO_ROUTE {
                for (neighbour, &cost) in state.neighbours.iter().zip(&state.neighbour_costs) {
                    if let Some(heard) = &state.heard[neighbour.router] {
                        let total = heard[host].saturating_add(cost);
                        if total < best.0 {
                            best = (total, neighbour.hop);
                        }
                    }
                }
            }
            state.own[host] = best.0;
            state.fresh[host] = best.1;
        }
    }

    /// Puts the tables in force, and notes what changes.
    fn refresh<R: Recorder>(
        &mut self,
        now: Time,
        router: usize,
        channels: &[Channel],
        recorder: &mut R,
    ) {
        let state = &self.routers[router];
        let empty = state.stable.iter().all(|&hop| hop == Hop::NO_ROUTE);
        for host in 0..self.hosts {
            let (fresh, stable) = (state.fresh[host], state.stable[host]);
            let early = empty || (self.fallback_any && stable == Hop::NO_ROUTE);
            let hop =
                if fresh != Hop::NO_ROUTE && (state.settled || early) { fresh } else { stable };
            let active = &mut self.active[router * self.hosts + host];
            if *active == hop {
                continue;
            }
            let previous = std::mem::replace(active, hop);
            self.changes += 1;
            if R::PACKETS {
                let link =
                    |hop: Hop| channels.get(hop.channel() as usize).map_or(-1, Channel::link);
                recorder.route(RouteRow {
                    time: now,
                    router: router as i32,
                    host: host as i32,
                    link: link(hop),
                    previous_link: link(previous),
                    cost: Time::from_ns(state.own[host]).as_secs(),
                });
            }
        }
    }

    /// Sends the own distances to all neighbours.
    fn broadcast(&mut self, router: usize, out: &mut Vec<Message>) {
        let Self { routers, contents, free, .. } = self;
        let state = &routers[router];
        for neighbour in &state.neighbours {
            let content = match free.pop() {
                Some(content) => content,
                None => {
                    contents.push(Distances::new());
                    contents.len() as u32 - 1
                }
            };
            contents[content as usize].clone_from(&state.own);
            out.push(Message { hop: neighbour.hop, router: router as u32, content });
        }
    }
}
