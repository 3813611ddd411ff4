//! The network in motion.

use crate::channel::{Channel, Offer, Service};
use crate::flow::{Endpoint, Flow};
use crate::packet::{Kind, Packet};
use crate::routing::distance_vector::{DistanceVector, Message, NO_ROUTE};
use crate::routing::graph::Node;
use ackclock_engine::{EventQueue, Stream};
use ackclock_tcp::{AckFields, Cause, Segment};
use ackclock_trace::{
    Digest, DropRow, EventRow, PacketRow, Recorder, RttRow, drop_reason, flow_event, packet_event,
    rto_event,
};
use ackclock_units::Time;
use std::collections::VecDeque;

/// Marks the end of a route.
pub const DELIVER: u32 = u32::MAX;

/// Something that happens to a channel at a time.
#[derive(Debug, Clone, Copy)]
pub struct ChannelChange {
    /// When.
    pub at: Time,
    /// The channel.
    pub channel: u32,
    /// Whether it takes packets from now on.
    pub up: Option<bool>,
    /// Rate from now on.
    pub rate_bps: Option<u64>,
    /// Propagation delay from now on.
    pub delay: Option<Time>,
}

/// A network before its first event.
#[derive(Debug)]
pub struct Network {
    /// Transmitters.
    pub channels: Vec<Channel>,
    /// Node at the far end of each channel, forward and backward.
    pub ends: Vec<[Node; 2]>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Static routes: ways by flow and hop, data in the first half of a flow's row, ACKs in the second.
    pub routes: Vec<u32>,
    /// Binary logarithm of the length of a row.
    pub row_bits: u32,
    /// Dynamic routing, if there is any.
    pub distance_vector: Option<DistanceVector>,
    /// Number of routers.
    pub routers: usize,
    /// Random order of the packets of a burst, if the scenario asks for it.
    pub burst_order: Option<Stream>,
    /// Packets that hosts send enter their links by events of their own.
    pub queues_sends: bool,
    /// What happens to channels, in order of time.
    pub changes: Vec<ChannelChange>,
    /// End when all flows are complete, or when nothing can happen any more.
    pub stop_when_complete: bool,
    /// End at this time in any case.
    pub end: Time,
}

/// What is counted over the whole network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets made by hosts and routers.
    pub created: u64,
    /// Packets that reached their destination.
    pub delivered: u64,
    /// Packets dropped for want of room.
    pub dropped_full: u64,
    /// Packets dropped for want of a route.
    pub dropped_no_route: u64,
    /// Packets that loss models took.
    pub lost: u64,
    /// Packets that came to links that were down.
    pub dropped_down: u64,
    /// Packets that hosts have sent and that enter their links by events still to come.
    pub waiting_to_enter: u64,
}

/// A network in motion, with its event queue and its recorder.
#[derive(Debug)]
pub struct World<Q: EventQueue, R> {
    now: Time,
    queue: Q,
    recorder: R,
    net: Network,
    counters: Counters,
    /// Flows that are not complete.
    active: usize,
    /// All flows are complete, and the run ends there.
    stopped: bool,
    /// No event is left.
    idle: bool,
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
    /// Changes of channels that have happened.
    changed: usize,
    /// Packets that hosts send at this moment, where they are events of their own.
    outbox: VecDeque<(u32, Packet)>,
    /// Latest moment to which a packet was walked.
    ahead: Time,
    /// Timers of flows and when they were set, for orders in which that counts.
    timers: Vec<(Time, Q::Stamp)>,
    /// Room for messages and bursts, kept between events.
    messages: Vec<Message>,
    burst: Vec<Segment>,
}

impl<Q: EventQueue, R: Recorder> World<Q, R> {
    /// Sets a network in motion.
    pub fn new(net: Network, mut queue: Q, recorder: R) -> Self {
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
            let stamp = queue.stamp(flow.start.as_secs());
            queue.push(flow.start, stamp, flows + i as u32);
        }
        if let Some(first) = net.changes.first() {
            let stamp = queue.stamp(first.at.as_secs());
            queue.push(first.at, stamp, sends + 1);
        }
        let timers = if Q::STAMPS_TIMERS { net.flows.len() } else { 0 };
        let timers = vec![(Time::NEVER, Q::Stamp::default()); timers];
        Self {
            now: Time::ZERO,
            queue,
            recorder,
            active: net.flows.len(),
            stopped: net.stop_when_complete && net.flows.is_empty(),
            idle: false,
            last_change: Time::ZERO,
            changed: 0,
            outbox: VecDeque::new(),
            dynamic: net.distance_vector.is_some(),
            exempt: net.distance_vector.as_ref().is_some_and(DistanceVector::is_exempt),
            ahead: Time::ZERO,
            net,
            counters: Counters::default(),
            arrivals: channels,
            routers,
            flows,
            sends,
            timers,
            messages: Vec::new(),
            burst: Vec::new(),
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

    /// Whether no event is left.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// Whether the scenario ends here because all flows are complete.
    pub fn is_complete(&self) -> bool {
        self.stopped
    }

    /// Runs until the end of the scenario, or for at most `budget` events. True if the end is reached.
    pub fn run(&mut self, budget: u64) -> bool {
        self.run_until(self.net.end, budget)
    }

    fn run_until(&mut self, end: Time, budget: u64) -> bool {
        for _ in 0..budget {
            if self.stopped {
                return true;
            }
            let Some((time, entity)) = self.queue.peek() else {
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
            match self.handle(entity) {
                Some((next, stamp)) => self.queue.replace_top(next, stamp, entity),
                None => self.queue.pop(),
            }
        }
        false
    }

    /// Ends the run wherever it is: the counters of all links are brought to the present moment, or to
    /// the latest one to which a packet was walked.
    pub fn close(&mut self) {
        if self.ahead > self.now {
            self.run_until(self.ahead, u64::MAX);
        }
        for channel in &mut self.net.channels {
            channel.close(self.now, &mut self.recorder);
        }
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
                Endpoint::Tcp(tcp) => {
                    let stats = tcp.connection.stats();
                    for value in [
                        tcp.digest.value(),
                        stats.segments_sent,
                        stats.retransmissions,
                        stats.timeouts,
                        tcp.connection.bytes_delivered(),
                        tcp.finish.unwrap_or(Time::NEVER).as_ns(),
                    ] {
                        digest.add(value);
                    }
                }
                Endpoint::Udp(udp) => {
                    digest.add(u64::from(udp.sent));
                    digest.add(udp.received);
                    digest.add(udp.last_arrival.unwrap_or(Time::NEVER).as_ns());
                }
            }
        }
        for channel in &self.net.channels {
            let stats = channel.stats();
            for value in [
                stats.packets,
                stats.bytes,
                stats.unfinished_ns,
                stats.drops,
                stats.losses,
                stats.wait_ns as u64,
                u64::from(stats.packets_max),
                stats.wait_max.as_ns(),
            ] {
                digest.add(value);
            }
        }
        digest.add(self.net.distance_vector.as_ref().map_or(0, DistanceVector::changes));
        digest.value()
    }

    /// Handles the event of an entity; its next event, if it has one.
    #[inline]
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
            self.change_channels()
        }
    }

    /// What happens to channels now.
    #[cold]
    fn change_channels(&mut self) -> Option<(Time, Q::Stamp)> {
        while let Some(change) = self.net.changes.get(self.changed) {
            if change.at > self.now {
                let stamp = self.queue.stamp((change.at - self.now).as_secs());
                return Some((change.at, stamp));
            }
            let channel = &mut self.net.channels[change.channel as usize];
            if let Some(up) = change.up {
                channel.set_up(up);
            }
            if let Some(rate) = change.rate_bps {
                channel.set_rate(rate);
            }
            if let Some(delay) = change.delay {
                channel.set_delay(delay);
            }
            self.changed += 1;
        }
        None
    }

    fn end_transmission(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let channel = &mut self.net.channels[index as usize];
        if !channel.end_transmission(self.now, &mut self.recorder) {
            return None;
        }
        self.schedule_arrival(index);
        let channel = &self.net.channels[index as usize];
        let stamp = self.queue.stamp(channel.serving_s());
        Some((channel.free_at(), stamp))
    }

    /// Served by events: the transmission of a packet has begun, so its arrival is known.
    fn schedule_arrival(&mut self, index: u32) {
        let channel = &mut self.net.channels[index as usize];
        let stamp = self.queue.stamp(channel.serving_s() + channel.delay().as_secs());
        channel.push_stamp(stamp.into());
        if channel.arm() {
            let (time, stamp) = channel.next_arrival().expect("a packet is on the wire");
            self.queue.push(time, stamp.into(), self.arrivals + index);
        }
    }

    #[inline]
    fn arrival(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let channel = &mut self.net.channels[index as usize];
        let packet = channel.deliver(self.now, &mut self.recorder);
        if packet.is_lost() {
            self.lose(self.now, index, &packet);
        } else {
            self.forward(index, packet);
        }
        let (time, stamp) = self.net.channels[index as usize].next_arrival()?;
        Some((time, stamp.into()))
    }

    /// A packet has come to the end of a channel.
    #[inline]
    fn forward(&mut self, index: u32, mut packet: Packet) {
        if self.dynamic {
            self.forward_dynamic(index, packet);
            return;
        }
        packet.hop += 1;
        let way = self.next_way(&packet);
        if way == DELIVER {
            self.receive(packet);
        } else {
            self.offer(way, packet);
        }
    }

    fn forward_dynamic(&mut self, index: u32, packet: Packet) {
        let node = self.net.ends[index as usize][usize::from(packet.is_reverse())];
        let router = match node {
            Node::Host(_) => return self.receive(packet),
            Node::Router(router) => router,
        };
        if packet.kind() == Kind::Router {
            self.counters.delivered += 1;
            let message = Message { way: 0, router: packet.seq, content: packet.aux };
            let protocol = self.net.distance_vector.as_mut().expect("dynamic routing");
            protocol.on_message(
                self.now,
                router as usize,
                message,
                &self.net.channels,
                &mut self.messages,
                &mut self.recorder,
            );
            self.send_messages();
            return;
        }
        let flow = &self.net.flows[packet.flow as usize];
        let host = flow.hosts[usize::from(packet.kind() == Kind::Data)];
        let protocol = self.net.distance_vector.as_ref().expect("dynamic routing");
        match protocol.way(router, host) {
            NO_ROUTE => {
                self.counters.dropped_no_route += 1;
                self.drop_packet(self.now, &packet, -1, -1, drop_reason::NO_ROUTE);
            }
            way => self.offer(way, packet),
        }
    }

    /// Puts a packet on a channel now.
    #[inline]
    fn offer(&mut self, way: u32, packet: Packet) {
        self.offer_at(self.now, way, packet);
    }

    /// Puts a packet on a channel at `time`, and walks it on as far as channels allow.
    fn offer_at(&mut self, mut time: Time, mut way: u32, mut packet: Packet) {
        loop {
            let index = way >> 1;
            packet.set_reverse(way & 1 == 1);
            let exempt = self.exempt && packet.kind() == Kind::Router;
            let channel = &mut self.net.channels[index as usize];
            match channel.offer(time, packet, exempt, &mut self.recorder) {
                Offer::Scheduled(arrival) => {
                    if channel.service() == Service::Walked {
                        if arrival > self.net.end {
                            channel.on_late();
                            return;
                        }
                        self.ahead = self.ahead.max(arrival);
                        packet.hop += 1;
                        way = self.next_way(&packet);
                        time = arrival;
                        continue;
                    }
                    if channel.arm() {
                        self.queue.push(arrival, Q::Stamp::default(), self.arrivals + index);
                    }
                }
                Offer::Doomed(arrival) => {
                    if channel.service() != Service::Walked {
                        if channel.arm() {
                            self.queue.push(arrival, Q::Stamp::default(), self.arrivals + index);
                        }
                    } else if arrival > self.net.end {
                        channel.on_late();
                    } else {
                        self.ahead = self.ahead.max(arrival);
                        self.lose(arrival, index, &packet);
                    }
                }
                Offer::Started => {
                    self.schedule_arrival(index);
                    let channel = &self.net.channels[index as usize];
                    let stamp = self.queue.stamp(channel.serving_s());
                    self.queue.push(channel.free_at(), stamp, index);
                }
                Offer::Waiting => {}
                Offer::Down => {
                    let (link, direction) = (channel.link(), channel.direction());
                    self.counters.dropped_down += 1;
                    self.drop_packet(time, &packet, link, direction, drop_reason::LINK_DOWN);
                }
                Offer::Lost => self.lose(time, index, &packet),
                Offer::Dropped => {
                    let (link, direction) = (channel.link(), channel.direction());
                    self.counters.dropped_full += 1;
                    self.drop_packet(time, &packet, link, direction, drop_reason::QUEUE_FULL);
                }
            }
            return;
        }
    }

    /// The next way on a static route.
    #[inline]
    fn next_way(&self, packet: &Packet) -> u32 {
        let row = (packet.flow as usize) << self.net.row_bits;
        self.net.routes[row + packet.hop as usize]
    }

    /// The loss model of a channel takes a packet.
    #[cold]
    fn lose(&mut self, time: Time, index: u32, packet: &Packet) {
        let channel = &self.net.channels[index as usize];
        let (link, direction) = (channel.link(), channel.direction());
        self.counters.lost += 1;
        self.drop_packet(time, packet, link, direction, drop_reason::LOSS);
    }

    #[cold]
    fn drop_packet(&mut self, time: Time, packet: &Packet, link: i32, direction: i32, reason: i32) {
        match packet.kind() {
            Kind::Data => self.net.flows[packet.flow as usize].dropped += 1,
            Kind::Ack => {}
            Kind::Router => {
                let protocol = self.net.distance_vector.as_mut().expect("dynamic routing");
                protocol.on_drop(packet.aux);
            }
        }
        if R::ON {
            self.recorder.drop(DropRow {
                time,
                link,
                direction,
                flow: packet.flow_code(),
                kind: packet.kind().code(),
                seq: i64::from(packet.seq),
                bytes: i32::from(packet.size),
                reason,
            });
        }
    }

    fn router_timer(&mut self, router: usize) -> Option<(Time, Q::Stamp)> {
        let protocol = self.net.distance_vector.as_mut().expect("dynamic routing");
        protocol.on_timer(
            self.now,
            router,
            &self.net.channels,
            &mut self.messages,
            &mut self.recorder,
        );
        let next = protocol.next_timer(router);
        self.send_messages();
        Some((next, self.queue.stamp((next - self.now).as_secs())))
    }

    fn send_messages(&mut self) {
        let size = self.net.distance_vector.as_ref().expect("dynamic routing").packet_bytes();
        let mut messages = std::mem::take(&mut self.messages);
        for message in messages.drain(..) {
            let mut packet = Packet::new(Kind::Router, Packet::NO_FLOW, size);
            packet.seq = message.router;
            packet.aux = message.content;
            self.counters.created += 1;
            self.offer(message.way, packet);
        }
        self.messages = messages;
    }

    /// A packet has come to its destination.
    #[inline]
    fn receive(&mut self, packet: Packet) {
        self.counters.delivered += 1;
        if R::ON {
            let receiver = usize::from(packet.kind() == Kind::Data);
            self.record_packet(&packet, receiver, packet_event::RECEIVED);
        }
        match packet.kind() {
            Kind::Data => self.receive_data(packet),
            Kind::Ack => self.receive_ack(packet),
            Kind::Router => unreachable!("routers' packets do not reach hosts"),
        }
    }

    fn record_packet(&mut self, packet: &Packet, end: usize, event: i32) {
        let host = self.net.flows[packet.flow as usize].hosts[end];
        self.recorder.packet(PacketRow {
            time: self.now,
            host: host as i32,
            flow: packet.flow as i32,
            event,
            kind: packet.kind().code(),
            seq: i64::from(packet.seq),
            bytes: i32::from(packet.size),
            retransmission: packet.is_retransmission(),
        });
    }

    fn record_event(&mut self, flow: u32, event: i32, seq: u32) {
        if R::ON {
            let seq = i64::from(seq);
            self.recorder.event(EventRow { time: self.now, flow: flow as i32, event, seq });
        }
    }

    #[inline]
    fn receive_data(&mut self, packet: Packet) {
        let now = self.now;
        let flow = &mut self.net.flows[packet.flow as usize];
        let tcp = match &mut flow.endpoint {
            Endpoint::Tcp(tcp) => tcp,
            Endpoint::Udp(udp) => {
                udp.received += 1;
                udp.bytes_received += u64::from(packet.size);
                udp.last_arrival = Some(now);
                return;
            }
        };
        let payload = packet.size - tcp.header;
        let ack = tcp.connection.on_data(now, packet.seq, payload, packet.stamp);
        if tcp.finish.is_none() && tcp.connection.is_delivered() {
            tcp.finish = Some(now);
            self.record_event(packet.flow, flow_event::FINISH, packet.seq);
        }
        match ack {
            Some(ack) => self.send_ack(packet.flow, ack),
            // The receiver may wait for a second segment.
            None => self.wake(packet.flow),
        }
    }

    #[inline]
    fn send_ack(&mut self, flow: u32, fields: AckFields) {
        let Endpoint::Tcp(tcp) = &self.net.flows[flow as usize].endpoint else { return };
        let mut ack = Packet::new(Kind::Ack, flow, tcp.ack_bytes);
        ack.stamp = fields.stamp;
        ack.seq = fields.seq;
        ack.aux = fields.aux;
        self.send(ack);
    }

    fn complete_flow(&mut self) {
        self.active -= 1;
        self.stopped = self.net.stop_when_complete && self.active == 0;
    }

    /// A host sends a packet.
    #[inline]
    fn send(&mut self, mut packet: Packet) {
        self.counters.created += 1;
        let from = usize::from(packet.kind() == Kind::Ack);
        packet.hop = (from << (self.net.row_bits.saturating_sub(1))) as u8;
        if R::ON {
            self.record_packet(&packet, from, packet_event::SENT);
        }
        let way = self.net.flows[packet.flow as usize].first[from];
        if self.net.queues_sends {
            let stamp = self.queue.stamp(0.0);
            self.queue.push(self.now, stamp, self.sends);
            self.outbox.push_back((way, packet));
            self.counters.waiting_to_enter += 1;
        } else {
            self.offer(way, packet);
        }
    }

    /// A packet that a host sends enters its link.
    fn send_queued(&mut self) {
        let (way, packet) = self.outbox.pop_front().expect("a packet for each event");
        self.counters.waiting_to_enter -= 1;
        self.offer(way, packet);
    }

    #[inline]
    fn receive_ack(&mut self, packet: Packet) {
        let now = self.now;
        let flow = &mut self.net.flows[packet.flow as usize];
        let Endpoint::Tcp(tcp) = &mut flow.endpoint else {
            unreachable!("an ACK without a sender")
        };
        let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
        let rtt = tcp.connection.on_ack(now, ack);
        tcp.digest.add(now.as_ns());
        tcp.digest.add(u64::from(packet.seq));
        tcp.digest.add(tcp.connection.window().cwnd.to_bits());
        if R::ON {
            if let Some(rtt) = rtt {
                self.recorder.rtt(RttRow { time: now, flow: packet.flow as i32, rtt });
                tcp.record_rto(now, packet.flow, rto_event::SAMPLE, Some(rtt), &mut self.recorder);
            }
            tcp.record_window(now, packet.flow, &mut self.recorder);
        }
        if tcp.connection.is_finished() && tcp.finish_ack.is_none() {
            tcp.finish_ack = Some(now);
            self.complete_flow();
            self.record_event(packet.flow, flow_event::FINISH_ACK, packet.seq);
        }
        self.transmit(packet.flow);
        self.wake(packet.flow);
    }

    /// Sends what the sender wants to send now.
    #[inline]
    fn transmit(&mut self, index: u32) {
        if self.net.burst_order.is_some() {
            self.transmit_shuffled(index);
        } else {
            while let Some(segment) = self.poll(index) {
                self.send_segment(index, segment);
            }
        }
        if R::ON
            && let Endpoint::Tcp(tcp) = &mut self.net.flows[index as usize].endpoint
        {
            tcp.record_timer(self.now, index, &mut self.recorder);
        }
    }

    /// The same, with the packets of this moment in random order.
    fn transmit_shuffled(&mut self, index: u32) {
        let mut burst = std::mem::take(&mut self.burst);
        while let Some(segment) = self.poll(index) {
            burst.push(segment);
        }
        if let Some(order) = &mut self.net.burst_order {
            order.shuffle(&mut burst);
        }
        for segment in burst.drain(..) {
            self.send_segment(index, segment);
        }
        self.burst = burst;
    }

    #[inline]
    fn poll(&mut self, index: u32) -> Option<Segment> {
        match &mut self.net.flows[index as usize].endpoint {
            Endpoint::Tcp(tcp) => tcp.connection.poll_transmit(self.now),
            Endpoint::Udp(_) => None,
        }
    }

    #[inline]
    fn send_segment(&mut self, index: u32, segment: Segment) {
        let Endpoint::Tcp(tcp) = &self.net.flows[index as usize].endpoint else { return };
        let mut packet = Packet::new(Kind::Data, index, segment.payload + tcp.header);
        packet.stamp = self.now;
        packet.seq = segment.seq;
        if segment.cause != Cause::New {
            packet.set_retransmission();
            let event = match segment.cause {
                Cause::Timeout => flow_event::TIMEOUT,
                Cause::FastRetransmit => flow_event::FAST_RETRANSMIT,
                Cause::GapRetransmit | Cause::New => flow_event::GAP_RETRANSMIT,
            };
            self.record_event(index, event, segment.seq);
        }
        self.send(packet);
    }

    /// Sees to it that the flow's timer is in the event queue.
    #[inline]
    fn wake(&mut self, index: u32) {
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &flow.endpoint else { return };
        // A timer that has become shorter may already be over.
        let due = tcp.connection.next_timer().max(self.now);
        if due < flow.armed {
            flow.armed = due;
            let stamp = self.timer_stamp(index, due);
            self.queue.push(due, stamp, self.flows + index);
        } else if Q::STAMPS_TIMERS {
            self.timer_stamp(index, due);
        }
    }

    /// The stamp of a flow's timer. It counts when a timer was set, also one that was put off and that
    /// enters the event queue only later.
    #[inline]
    fn timer_stamp(&mut self, index: u32, due: Time) -> Q::Stamp {
        if !Q::STAMPS_TIMERS {
            return self.queue.stamp(0.0);
        }
        let (set, stamp) = &mut self.timers[index as usize];
        if *set != due {
            *set = due;
            let wait = if due == Time::NEVER { 0.0 } else { (due - self.now).as_secs() };
            *stamp = self.queue.stamp(wait);
        }
        *stamp
    }

    fn flow_timer(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let now = self.now;
        let flow = &mut self.net.flows[index as usize];
        if flow.armed != now {
            return None;
        }
        flow.armed = Time::NEVER;
        let starts = !std::mem::replace(&mut flow.started, true);
        if let Endpoint::Tcp(tcp) = &flow.endpoint
            && !starts
        {
            let due = tcp.connection.next_timer();
            if due > now {
                // The timer was put off.
                flow.armed = due;
                return (due != Time::NEVER).then(|| (due, self.timer_stamp(index, due)));
            }
        }
        self.last_change = now;
        match &mut flow.endpoint {
            Endpoint::Tcp(tcp) => {
                let timeouts = tcp.connection.stats().timeouts;
                let ack = if starts {
                    tcp.connection.start(now);
                    None
                } else {
                    tcp.connection.on_timer(now)
                };
                if R::ON && tcp.connection.stats().timeouts > timeouts {
                    tcp.record_rto(now, index, rto_event::EXPIRY, None, &mut self.recorder);
                }
                if R::ON {
                    tcp.record_window(now, index, &mut self.recorder);
                }
                if starts {
                    self.record_event(index, flow_event::START, 0);
                }
                if let Some(ack) = ack {
                    self.send_ack(index, ack);
                }
                self.transmit(index);
            }
            Endpoint::Udp(_) => self.send_datagram(index),
        }
        let flow = &mut self.net.flows[index as usize];
        let due = match &flow.endpoint {
            Endpoint::Tcp(tcp) => tcp.connection.next_timer(),
            Endpoint::Udp(udp) => udp.next,
        };
        flow.armed = due;
        if due == Time::NEVER { None } else { Some((due, self.timer_stamp(index, due))) }
    }

    #[inline]
    fn send_datagram(&mut self, index: u32) {
        let Endpoint::Udp(udp) = &mut self.net.flows[index as usize].endpoint else { return };
        let (mut size, gap) = udp.source.emit();
        udp.next = self.now + gap;
        if let Some(remaining) = &mut udp.remaining {
            size = u64::from(size).min(*remaining) as u16;
            *remaining -= u64::from(size);
        }
        let complete = udp.is_finished();
        if complete {
            udp.next = Time::NEVER;
        }
        let mut packet = Packet::new(Kind::Data, index, size);
        packet.stamp = self.now;
        packet.seq = udp.sent;
        udp.sent += 1;
        udp.bytes_sent += u64::from(size);
        self.send(packet);
        if complete {
            self.complete_flow();
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
