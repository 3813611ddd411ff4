//! What happens on links and in routers.

use super::{Boundary, SHARED, World};
use crate::channel::served::Ended;
use crate::channel::{Offer, Service};
use crate::flow::Endpoint;
use crate::hop::Hop;
use crate::packet::{Kind, Packet, Parcel};
use crate::routing::distance_vector::Message;
use crate::routing::graph::Node;
use ackclock_engine::EventQueue;
use ackclock_tcp::{AckFields, Ends};
use ackclock_trace::{DropRow, Moment, Recorder, drop_reason};
use ackclock_units::Time;

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// What happens to channels and flows now that does not come from packets and timers.
    #[cold]
    pub(super) fn change(&mut self) -> Option<(Time, Q::Stamp)> {
        let now = self.now;
        while let Some(change) = self.net.changes.get(self.changed).filter(|c| c.at <= now) {
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
        while let Some(&(_, flow)) = self.net.stops.get(self.cut_off).filter(|(at, _)| *at <= now) {
            if self.boundary.sends(flow) {
                if B::IS_PART && R::ON {
                    self.recorder.at(Moment::new(now, self.sends + 2 + flow, true));
                }
                self.stop_flow(flow);
            }
            self.cut_off += 1;
        }
        if !self.boundary.is_first() {
            // Each part has an event for it.
            self.counters.events -= 1;
        }
        let next = self.net.next_change(self.changed, self.cut_off)?;
        Some((next, self.queue.stamp((next - now).as_secs())))
    }

    pub(super) fn end_transmission(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let channel = &mut self.net.channels[index as usize];
        let ended = channel.end_transmission(self.now, &mut self.slots, &mut self.recorder);
        if channel.has_dropped() {
            self.take_dropped(index);
        }
        match ended {
            Ended::Idle => return None,
            Ended::Next => self.schedule_arrival(index),
            Ended::Before => {}
        }
        let channel = &self.net.channels[index as usize];
        let stamp = self.queue.stamp(channel.serving_s());
        Some((channel.free_at(), stamp))
    }

    /// Served by events: the transmission of a packet has begun, so its arrival is known.
    pub(super) fn schedule_arrival(&mut self, index: u32) {
        let channel = &mut self.net.channels[index as usize];
        if self.boundary.leads_away(index) {
            let (arrival, packet) = channel.take_started(&mut self.slots);
            let id = R::PACKETS.then(|| self.recorder.ids().take_newest(channel.lane()));
            return self.send_away(arrival, index, packet, id);
        }
        let stamp = self.queue.stamp(channel.serving_s() + channel.delay().as_secs());
        channel.push_stamp(stamp.into());
        // Where packets overtake each other an earlier arrival may be in the event queue already.
        if (channel.arm() || channel.overtakes())
            && let Some((time, stamp)) = channel.next_arrival()
        {
            self.queue.push(time, stamp.into(), self.arrivals + index);
        }
    }

    #[inline(always)]
    pub(super) fn arrival(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        if self.boundary.is_extra(index) {
            self.counters.events -= 1;
        }
        if R::PACKETS && self.boundary.shadows(index) {
            return self.arrive_elsewhere(index);
        }
        let channel = &mut self.net.channels[index as usize];
        let packet = channel.deliver(self.now, &mut self.slots, &mut self.recorder);
        let next = channel.next();
        if packet.is_harmed() {
            self.arrive_harmed(index, packet.pack());
        } else {
            self.forward(index, next, packet);
        }
        let (time, stamp) = self.net.channels[index as usize].next_arrival()?;
        Some((time, stamp.into()))
    }

    /// A packet would have come to the end of a channel, or has come there corrupted.
    #[cold]
    #[inline(never)]
    fn arrive_harmed(&mut self, index: u32, parcel: Parcel) {
        let packet = parcel.open();
        if packet.is_lost() {
            return self.lose(self.now, index, packet);
        }
        let next = self.net.channels[index as usize].next();
        let ends_here = if self.dynamic {
            let node = self.net.ends[index as usize][usize::from(packet.is_reverse())];
            matches!(node, Node::Host(_)) || packet.kind() == Kind::Router
        } else {
            let mut packet = packet;
            packet.advance();
            self.next_hop(next, packet) == Hop::DELIVER
        };
        if !ends_here {
            return self.forward(index, next, packet);
        }
        let channel = &mut self.net.channels[index as usize];
        channel.count_corrupted();
        let place = [channel.link(), channel.direction(), drop_reason::CORRUPTED];
        let known = self.known(self.now);
        self.drop_packet(self.now, packet, known, place);
    }

    /// A packet is duplicated before it enters a channel: it enters, and then its copy.
    #[cold]
    #[inline(never)]
    fn offer_twice(&mut self, time: Time, hop: Hop, packet: Packet) {
        self.offer_within(time, hop, packet);
        let mut copy = packet;
        copy.set_copy();
        self.counters.created += 1;
        self.counters.duplicated += 1;
        if self.counters.created >= self.crowd_possible {
            self.look_at_crowd();
        }
        if R::PACKETS {
            self.recorder.ids().create();
        }
        let flow = &mut self.net.flows[packet.flow() as usize];
        if !packet.goes_back() && flow.first[0] == hop {
            flow.extra.add(packet.size());
        }
        match &mut flow.endpoint {
            Endpoint::Udp(udp) => udp.copies += 1,
            Endpoint::Tcp(tcp) if packet.kind() == Kind::Ack => tcp.copy_ack(&mut copy),
            Endpoint::Stopped(_) | Endpoint::Tcp(_) => {}
        }
        self.offer_within(time, hop, copy);
    }

    /// As [`World::offer_at`], called within a walk: what calls itself is not inlined where it counts.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_within(&mut self, time: Time, hop: Hop, packet: Packet) {
        let walked = self.walk(time, hop, packet);
        self.ahead = self.ahead.max(walked);
    }

    /// A packet has come to the end of a channel, whose packets go on to `next`. Two places call it, of which one
    /// counts.
    #[inline(always)]
    pub(super) fn forward(&mut self, index: u32, next: Hop, mut packet: Packet) {
        if self.dynamic {
            self.forward_dynamic(index, packet.pack());
            return;
        }
        packet.advance();
        let hop = self.next_hop(next, packet);
        if hop == Hop::DELIVER {
            self.receive(packet);
        } else {
            self.offer(hop, packet);
        }
    }

    pub(super) fn forward_dynamic(&mut self, index: u32, parcel: Parcel) {
        let packet = parcel.open();
        let node = self.net.ends[index as usize][usize::from(packet.is_reverse())];
        let router = match node {
            Node::Host(_) => return self.receive(packet),
            Node::Router(router) => router,
        };
        if packet.kind() == Kind::Router {
            self.counters.delivered += 1;
            let message = Message { hop: Hop::NO_ROUTE, router: packet.seq, content: packet.aux };
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
        let flow = &self.net.flows[packet.flow() as usize];
        let host = flow.hosts[usize::from(!packet.goes_back())];
        let protocol = self.net.distance_vector.as_ref().expect("dynamic routing");
        match protocol.hop(router, host) {
            Hop::NO_ROUTE => {
                let known = self.known(self.now);
                self.drop_packet(self.now, packet, known, [-1, -1, drop_reason::NO_ROUTE]);
            }
            hop => self.offer(hop, packet),
        }
    }

    /// Puts a packet on a channel now.
    #[inline(always)]
    pub(super) fn offer(&mut self, hop: Hop, packet: Packet) {
        self.offer_at(self.now, hop, packet);
    }

    /// Puts a packet on a channel at `time`, and walks it on as far as channels allow.
    #[inline(always)]
    pub(super) fn offer_at(&mut self, time: Time, hop: Hop, packet: Packet) {
        if SHARED {
            return self.offer_within(time, hop, packet);
        }
        let walked = self.walk(time, hop, packet);
        self.ahead = self.ahead.max(walked);
    }

    /// The same; answers when the packet came to the last channel.
    #[inline(always)]
    fn walk(&mut self, mut time: Time, mut hop: Hop, mut packet: Packet) -> Time {
        loop {
            let index = hop.channel();
            packet.set_reverse(hop.is_reverse());
            let exempt = self.exempt && packet.kind() == Kind::Router;
            let channel = &mut self.net.channels[index as usize];
            match channel.offer(time, packet, exempt, &mut self.slots, &mut self.recorder) {
                Offer::Scheduled(arrival) => {
                    if channel.service() == Service::Walked {
                        if arrival > self.net.end {
                            channel.on_late();
                            return time;
                        }
                        if self.boundary.leads_away(index) {
                            let packet = channel.as_it_entered(packet);
                            let id = R::PACKETS.then(|| self.recorder.ids().present());
                            self.send_away(arrival, index, packet, id);
                            return time;
                        }
                        let next = channel.next();
                        packet.advance();
                        hop = self.next_hop(next, packet);
                        time = arrival;
                        if hop == Hop::DELIVER {
                            match self.receive_ahead(time, packet) {
                                Some((first, answer)) => (hop, packet) = (first, answer),
                                None => return time,
                            }
                        }
                        continue;
                    }
                    let arms = channel.arm();
                    if R::PACKETS && self.boundary.shadows(index) {
                        self.send_shadowed(arrival, index, packet);
                    }
                    if arms {
                        self.queue.push(arrival, Q::Stamp::default(), self.arrivals + index);
                    }
                }
                Offer::LostInTransit(arrival) => {
                    self.lost_in_transit(arrival, index, packet.pack());
                }
                Offer::Started => self.start(index),
                Offer::Waiting => {}
                Offer::Kept { started } => {
                    if started {
                        self.start(index);
                    }
                    self.take_dropped(index);
                }
                Offer::Dropped(reason) => self.refused(time, hop, packet.pack(), reason),
            }
            return time;
        }
    }

    /// A packet takes its time on a channel, and will not come to its far end.
    #[cold]
    #[inline(never)]
    fn lost_in_transit(&mut self, arrival: Time, index: u32, parcel: Parcel) {
        let packet = parcel.open();
        let channel = &mut self.net.channels[index as usize];
        if channel.service() != Service::Walked {
            if channel.arm() {
                self.queue.push(arrival, Q::Stamp::default(), self.arrivals + index);
            }
        } else if arrival > self.net.end {
            channel.on_late();
        } else if self.boundary.leads_away(index) {
            self.send_lost(arrival, index, packet);
        } else {
            self.ahead = self.ahead.max(arrival);
            self.lose(arrival, index, packet);
        }
    }

    /// A channel has dropped a packet that was offered, or wants it twice.
    #[cold]
    #[inline(never)]
    fn refused(&mut self, time: Time, hop: Hop, parcel: Parcel, reason: i32) {
        let packet = parcel.open();
        if reason == Offer::TWICE {
            return self.offer_twice(time, hop, packet);
        }
        if reason == Offer::RESTS {
            let channel = &mut self.net.channels[hop.channel() as usize];
            if channel.awaits_end() {
                let stamp = self.queue.stamp(channel.serving_s());
                self.queue.push(channel.free_at(), stamp, hop.channel());
            }
            return self.take_dropped(hop.channel());
        }
        let channel = &self.net.channels[hop.channel() as usize];
        let (link, direction) = (channel.link(), channel.direction());
        if channel.has_dropped() {
            self.take_dropped(hop.channel());
        }
        self.never_transmitted(hop, packet);
        let known = self.known(time);
        self.drop_packet(time, packet, known, [link, direction, reason]);
    }

    /// Served by events: a transmission has begun on an idle channel.
    #[inline(always)]
    fn start(&mut self, index: u32) {
        self.schedule_arrival(index);
        let channel = &mut self.net.channels[index as usize];
        if channel.awaits_end() {
            let stamp = self.queue.stamp(channel.serving_s());
            self.queue.push(channel.free_at(), stamp, index);
        }
    }

    /// Takes note of the packets that the discipline of a channel has dropped now.
    #[cold]
    fn take_dropped(&mut self, index: u32) {
        let channel = &self.net.channels[index as usize];
        let (link, direction) = (channel.link(), channel.direction());
        while let Some((held, reason)) = self.net.channels[index as usize].take_dropped() {
            let packet = held.packet;
            self.never_transmitted(Hop::new(index, packet.is_reverse()), packet);
            self.drop_packet(self.now, packet, (held.id, held.entered), [link, direction, reason]);
        }
    }

    /// The next hop on a static route: most channels know it without looking up the flow's route.
    #[inline(always)]
    fn next_hop(&self, next: Hop, packet: Packet) -> Hop {
        match next {
            Hop::ROUTED => {
                let row = (packet.flow() as usize) << self.net.row_bits;
                self.net.routes[row + packet.hops()]
            }
            hop => hop,
        }
    }

    /// A packet that the loss model of a channel has chosen would come to the far end.
    #[cold]
    pub(super) fn lose(&mut self, time: Time, index: u32, packet: Packet) {
        let channel = &mut self.net.channels[index as usize];
        channel.count_lost();
        let place = [channel.link(), channel.direction(), drop_reason::LOSS];
        let known = self.known(time);
        self.drop_packet(time, packet, known, place);
    }

    /// A packet is not transmitted over a hop; if that is the first one, it was counted too early.
    #[cold]
    pub(super) fn never_transmitted(&mut self, hop: Hop, packet: Packet) {
        if packet.kind() != Kind::Router && !packet.goes_back() {
            let flow = &mut self.net.flows[packet.flow() as usize];
            if flow.first[0] == hop {
                flow.never_transmitted.add(packet.size());
            }
        }
    }

    /// Number and time of entry of the present packet, which does not wait.
    fn known(&mut self, time: Time) -> (i64, Time) {
        (if R::PACKETS { self.recorder.ids().present() } else { 0 }, time)
    }

    /// A packet of this number, which arrived at the queue at this time, is dropped: codes of link, direction and
    /// reason.
    #[cold]
    pub(super) fn drop_packet(
        &mut self,
        time: Time,
        packet: Packet,
        (id, entered): (i64, Time),
        [link, direction, reason]: [i32; 3],
    ) {
        self.counters.dropped[reason as usize] += 1;
        match packet.kind() {
            Kind::Data | Kind::Handshake if !packet.goes_back() => {
                let flow = &mut self.net.flows[packet.flow() as usize];
                flow.count_drop(link, direction, reason);
                if let Endpoint::Udp(udp) = &mut flow.endpoint
                    && udp.settles(flow.dropped)
                {
                    self.complete_flow();
                }
            }
            Kind::Ack => {
                if let Endpoint::Tcp(tcp) = &mut self.net.flows[packet.flow() as usize].endpoint {
                    let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
                    tcp.connection.on_ack_dropped(ack);
                }
            }
            Kind::Data | Kind::Handshake => {}
            Kind::Router => {
                let protocol = self.net.distance_vector.as_mut().expect("dynamic routing");
                protocol.on_drop(packet.aux);
            }
        }
        if R::PACKETS {
            self.recorder.drop(DropRow {
                time,
                link,
                direction,
                flow: packet.flow_code(),
                kind: packet.kind_code(),
                seq: i64::from(packet.seq),
                bytes: i32::from(packet.size()),
                reason,
                reverse: packet.is_reverse(),
                entered,
                id,
            });
        }
    }

    pub(super) fn router_timer(&mut self, router: usize) -> Option<(Time, Q::Stamp)> {
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

    pub(super) fn send_messages(&mut self) {
        let size = self.net.distance_vector.as_ref().expect("dynamic routing").packet_bytes();
        let mut messages = std::mem::take(&mut self.messages);
        for message in messages.drain(..) {
            let mut packet = Packet::new(Kind::Router, Packet::NO_FLOW, size);
            packet.seq = message.router;
            packet.aux = message.content;
            self.counters.created += 1;
            if R::PACKETS {
                self.recorder.ids().create();
            }
            self.offer(message.hop, packet);
        }
        self.messages = messages;
    }
}
