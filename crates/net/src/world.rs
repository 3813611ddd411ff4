//! The network in motion: its state, its event loop, its fingerprint.

mod ahead;
mod boundary;
mod crowd;
mod hosts;
mod joined;
mod links;
mod mark;
mod network;
mod part;
mod prefetch;
mod stop;

pub use boundary::{Boundary, Whole};
pub use crowd::Crowd;
pub use mark::Mark;
pub use network::{ChannelChange, Counters, Network};
pub use part::{Division, Mail, Part};

use crate::channel::Service;
use crate::flow::{Endpoint, Stopped};
use crate::hop::Hop;
use crate::packet::Packet;
use crate::queue::Decides;
use crate::routing::distance_vector::{DistanceVector, Message};
use crate::slots::Slots;
use ackclock_engine::EventQueue;
use ackclock_trace::{Digest, Moment, Recorder, drop_reason};
use ackclock_units::Time;
use hosts::Leaving;
use std::collections::VecDeque;

/// Each kind of queue and recorder makes another copy of all that handles events. Where the program has to be downloaded,
/// one serves all; the results are the same.
pub const FEW_COPIES: bool = cfg!(target_family = "wasm");

/// In each of these, each place of a walk, a receiver or a sender makes a copy of it. One serves all also where compiling
/// takes longer than running: in builds for tests.
const SHARED: bool = FEW_COPIES || cfg!(debug_assertions);

/// A network in motion, with its event queue and its recorder; or the part of one that a thread runs.
#[derive(Debug)]
pub struct World<Q: EventQueue, R, B = Whole> {
    now: Time,
    queue: Q,
    recorder: R,
    net: Network,
    /// The packets in all channels.
    slots: Slots,
    counters: Counters,
    /// Flows that are not complete.
    active: usize,
    /// All flows are complete, and the run ends there.
    stopped: bool,
    /// No event is left.
    idle: bool,
    /// More packets are in the network than the scenario allows.
    crowded: bool,
    /// Packets made when there may be too many in the network.
    crowd_possible: u64,
    /// Where channels are walked: how many there are at most. They may be too many, which only a world in which nothing is
    /// walked can know.
    crowd: Option<Crowd>,
    doubtful: bool,
    /// Channels whose packets arrive soon, and for which the first step was taken last, or the first two.
    foreseen: [u32; 2],
    /// Events that this call of [`World::run`] may still handle.
    budget: u64,
    /// The last moment at which anything happened.
    last_change: Time,
    /// First entity of arrivals, of routers, of flows, and the one of packets being sent. Ends of
    /// transmissions come first.
    arrivals: u32,
    routers: u32,
    flows: u32,
    sends: u32,
    /// Routing is dynamic; routers' packets are always taken.
    dynamic: bool,
    exempt: bool,
    /// Changes of channels that have happened, and flows that were cut off.
    changed: usize,
    cut_off: usize,
    /// Packets that hosts send at this moment, where they are events of their own.
    outbox: VecDeque<(Hop, Packet)>,
    /// Latest moment to which a packet was walked.
    ahead: Time,
    /// Timers of flows and their next writes, each with when it was set, for orders in which that counts.
    timers: Vec<[(Time, Q::Stamp); 2]>,
    /// Room for messages and bursts, kept between events.
    messages: Vec<Message>,
    burst: Vec<Leaving>,
    /// Where figures begin, if that is not the start.
    mark: Option<Box<Mark>>,
    boundary: B,
}

impl<Q: EventQueue, R: Recorder> World<Q, R> {
    /// Sets a network in motion.
    pub fn new(net: Network, queue: Q, recorder: R) -> Self {
        Self::within(net, queue, recorder, Whole)
    }
}

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// Sets what lies within a boundary in motion.
    fn within(mut net: Network, mut queue: Q, recorder: R, boundary: B) -> Self {
        let chains = net.channels.iter().filter(|channel| !channel.has_backlog::<R>()).count();
        let mut slots = Slots::with_room_for(chains);
        for channel in &mut net.channels {
            channel.open::<R>(&mut slots);
        }
        let walks = net.channels.iter().any(|channel| channel.service() == Service::Walked);
        let channels = net.channels.len() as u32;
        let routers = 2 * channels;
        let flows = routers + net.routers as u32;
        let sends = flows + net.flows.len() as u32;
        if let Some(protocol) = &net.distance_vector {
            for router in 0..net.routers {
                let due = protocol.next_timer(router);
                let stamp = queue.stamp(due.as_secs());
                queue.push(due, stamp, routers + router as u32);
            }
        }
        for (i, flow) in net.flows.iter().enumerate() {
            if !boundary.sends(i as u32) {
                continue;
            }
            let stamp = queue.stamp(flow.start.as_secs());
            queue.push(flow.start, stamp, flows + i as u32);
        }
        if let Some(first) = net.next_change(0, 0) {
            let stamp = queue.stamp(first.as_secs());
            queue.push(first, stamp, sends + 1);
        }
        let timers = if queue.stamps_timers() { net.flows.len() } else { 0 };
        let timers = vec![[(Time::NEVER, Q::Stamp::default()); 2]; timers];
        Self {
            now: Time::ZERO,
            queue,
            recorder,
            active: net.flows.len(),
            stopped: net.stop_when_complete && net.flows.is_empty(),
            idle: false,
            crowded: false,
            crowd_possible: if walks {
                Crowd::step(net.most_packets)
            } else {
                net.most_packets.saturating_add(1)
            },
            crowd: walks.then(Crowd::default),
            doubtful: false,
            foreseen: [u32::MAX; 2],
            budget: 0,
            last_change: Time::ZERO,
            changed: 0,
            cut_off: 0,
            outbox: VecDeque::new(),
            dynamic: net.distance_vector.is_some(),
            exempt: net.distance_vector.as_ref().is_some_and(DistanceVector::is_exempt),
            ahead: Time::ZERO,
            net,
            slots,
            counters: Counters::default(),
            arrivals: channels,
            routers,
            flows,
            sends,
            timers,
            messages: Vec::new(),
            burst: Vec::new(),
            mark: None,
            boundary,
        }
    }

    /// Present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Flows that are not complete.
    pub fn active_flows(&self) -> usize {
        self.active
    }

    /// What was counted.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        &self.net
    }

    /// Hands in what decides where disciplines of queues live outside the engine, by link and direction.
    pub fn attach(&mut self, decides: &mut dyn FnMut(i32, i32) -> Option<Box<dyn Decides>>) {
        for channel in &mut self.net.channels {
            channel.attach(decides);
        }
    }

    /// Whether packets are ahead of their time on some channels.
    pub fn walks(&self) -> bool {
        self.crowd.is_some()
    }

    /// Whether no event is left.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// Whether the scenario ends here because all flows are complete.
    pub fn is_complete(&self) -> bool {
        self.stopped
    }

    /// Whether the run ends here because too many packets are in the network.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Whether too many packets may be in the network, or when the last event was decides where the run ends: only a world
    /// in which nothing is walked knows.
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Looks at how many packets are in the network, or about to enter it, and ends the run if they are too
    /// many. They can't be before as many more are made as there is room for, so that is when to look again.
    #[cold]
    fn look_at_crowd(&mut self) {
        let created = self.counters.created;
        if let Some(crowd) = &mut self.crowd {
            crowd.look(self.now, self.ahead, self.counters.gone());
            match crowd.enough_until(created, self.net.most_packets) {
                Some(next) => self.crowd_possible = next,
                None => (self.doubtful, self.crowd_possible, self.budget) = (true, u64::MAX, 0),
            }
            return;
        }
        let held = created - self.counters.gone();
        match self.net.most_packets.checked_sub(held) {
            Some(room) => self.crowd_possible = created + room + 1,
            None => (self.crowded, self.stopped) = (true, true),
        }
    }

    /// Runs until the end of the scenario, or for at most `budget` events; one that sends very many packets
    /// counts as many. True if the end is reached.
    pub fn run(&mut self, budget: u64) -> bool {
        self.run_until(self.net.end, budget)
    }

    /// Runs until then, or for at most `budget` events; true if that is reached, or the run is over before.
    pub fn run_until(&mut self, end: Time, budget: u64) -> bool {
        self.budget = budget;
        while self.budget > 0 {
            self.budget -= 1;
            if self.stopped {
                return true;
            }
            let Some((time, entity)) = self.queue.peek() else {
                if self.net.stop_when_complete && self.walks() && !self.doubtful {
                    // Over with its last event, which was handled ahead of its time.
                    self.doubtful = true;
                    return false;
                }
                self.idle = true;
                // A timer that was put off leaves an event at which nothing happens.
                self.now = if self.net.stop_when_complete { self.last_change } else { end };
                return true;
            };
            if time > end {
                self.now = end;
                return true;
            }
            debug_assert!(time >= self.now, "time goes back");
            self.now = time;
            self.counters.events += 1;
            if entity < self.flows {
                self.last_change = time;
            }
            self.queue.hold();
            if self.queue.foresees() {
                self.prefetch();
            }
            if B::IS_PART && R::ON {
                self.begin_rows(time, entity);
            }
            match self.handle(entity) {
                Some((next, stamp)) => self.queue.replace_top(next, stamp, entity),
                None => self.queue.pop(),
            }
        }
        false
    }

    /// Goes on to the latest moment to which a packet was walked, for at most `budget` events: what links have
    /// counted holds for no moment before. That may be far ahead, where a walked channel has a long queue. True
    /// if it is reached.
    pub fn catch_up(&mut self, budget: u64) -> bool {
        self.ahead <= self.now || self.run_until(self.ahead, budget)
    }

    /// Ends the run wherever it is: the counters of all links are brought to the present moment, or to
    /// the latest one to which a packet was walked.
    pub fn close(&mut self) {
        while !self.catch_up(u64::MAX) {}
        for index in 0..self.net.channels.len() {
            if B::IS_PART && R::ON {
                self.recorder.at(Moment::at_end(index as u32));
            }
            let channel = &mut self.net.channels[index];
            let mark = self.mark.as_mut().map(|mark| &mut mark.channels[index]);
            channel.close(self.now, &mut self.slots, &mut self.recorder, mark);
            let waiting: Vec<Packet> = channel.waiting_packets(&self.slots).collect();
            for packet in waiting {
                let hop = Hop::new(index as u32, packet.is_reverse());
                self.never_transmitted(hop, packet);
            }
        }
        for (hop, packet) in std::mem::take(&mut self.outbox) {
            self.never_transmitted(hop, packet);
        }
    }

    /// The recorder.
    pub fn recorder(&mut self) -> &mut R {
        &mut self.recorder
    }

    /// The network and the recorder, after the run.
    pub fn into_parts(self) -> (Network, R) {
        (self.net, self.recorder)
    }

    /// Fingerprint of the run so far: every ACK and window of every flow, every count of every link.
    /// Complete after [`World::close`].
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        digest.add(self.now.as_ns());
        for flow in &self.net.flows {
            digest.add(flow.dropped);
            match &flow.endpoint {
                Endpoint::Tcp(tcp) => tcp.add_to(&mut digest),
                Endpoint::Stopped(Stopped { tcp, .. }) => tcp.add_to(&mut digest),
                Endpoint::Udp(udp) => {
                    digest.add(u64::from(udp.sent));
                    digest.add(udp.received);
                    digest.add(udp.last_arrival.unwrap_or(Time::NEVER).as_ns());
                }
            }
        }
        for (index, channel) in self.net.channels.iter().enumerate() {
            let stats = channel.stats();
            let (packets_max, wait_max) = self.extremes(index);
            for value in [
                stats.packets,
                stats.bytes,
                stats.unfinished_ns,
                stats.drops,
                stats.losses,
                stats.wait_ns as u64,
                u64::from(packets_max),
                wait_max.as_ns(),
            ] {
                digest.add(value);
            }
            if channel.tells_fates() {
                for code in 0..=drop_reason::OVERLIMIT {
                    let chosen = code == drop_reason::LOSS;
                    digest.add(if chosen { stats.losses } else { channel.dropped(code) });
                }
                digest.add(channel.marked());
            }
        }
        digest.add(self.net.distance_vector.as_ref().map_or(0, DistanceVector::changes));
        digest.value()
    }

    /// Handles the event of an entity; its next event, if it has one.
    #[inline(always)]
    fn handle(&mut self, entity: u32) -> Option<(Time, Q::Stamp)> {
        if entity < self.arrivals {
            self.end_transmission(entity)
        } else if entity < self.routers {
            self.arrival(entity - self.arrivals)
        } else if entity < self.flows {
            self.router_timer((entity - self.routers) as usize)
        } else if entity < self.sends {
            self.flow_timer(entity - self.flows)
        } else if entity == self.sends {
            self.send_queued();
            None
        } else {
            self.change()
        }
    }
}

/// How channels have to be served so that simultaneous events come in this order.
pub fn service_for(ties: &ackclock_engine::Ties) -> Service {
    match ties {
        ackclock_engine::Ties::Entity => Service::Fused,
        _ => Service::Events,
    }
}
