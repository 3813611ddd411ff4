//! What happens in hosts: packets come, timers expire, packets go.

use super::{Boundary, SHARED, World};
use crate::flow::{Endpoint, Stopped};
use crate::hop::Hop;
use crate::packet::{Kind, Packet, Parcel};
use crate::recorded::header_row;
use ackclock_engine::EventQueue;
use ackclock_tcp::{AckFields, Cause, Ends, Flags, Message, Segment};
use ackclock_trace::{
    Costly, EventRow, PacketRow, Recorder, RttRow, flow_event, packet_event, rto_event,
};
use ackclock_units::Time;

/// A segment that leaves its sender, the bytes that go with it, and its first hop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    segment: Segment,
    header: u16,
    first: Hop,
}

/// Packets that a flow sends in one event.
const MOST_AT_ONCE: usize = 1000;

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// A packet has come to its destination.
    #[inline(always)]
    pub(super) fn receive(&mut self, packet: Packet) {
        if SHARED { self.receive_apart(packet) } else { self.receive_here(packet) }
    }

    #[inline(never)]
    fn receive_apart(&mut self, packet: Packet) {
        self.receive_here(packet);
    }

    #[inline(always)]
    fn receive_here(&mut self, packet: Packet) {
        self.counters.delivered += 1;
        if R::PACKETS {
            let receiver = usize::from(!packet.goes_back());
            self.record_packet(&packet, receiver, packet_event::RECEIVED);
        }
        match packet.kind() {
            Kind::Data => self.receive_data(packet),
            Kind::Ack => self.receive_ack(packet),
            Kind::Handshake => self.receive_message(packet.pack()),
            Kind::Router => unreachable!("routers' packets do not reach hosts"),
        }
    }

    #[inline(always)]
    pub(super) fn record_packet(&mut self, packet: &Packet, end: usize, event: i32) {
        let host = self.net.flows[packet.flow() as usize].hosts[end];
        let id = self.recorder.ids().present();
        self.recorder.packet(PacketRow {
            time: self.now,
            host: host as i32,
            flow: packet.flow() as i32,
            event: event as i8,
            kind: packet.kind_code() as i8,
            seq: packet.seq,
            bytes: packet.size(),
            retransmission: packet.is_retransmission(),
            stamp: packet.stamp,
            id,
        });
    }

    #[inline(always)]
    fn record_header(&mut self, packet: &Packet) {
        // Without flags only an ACK says more, in a note that its sender has kept.
        if packet.kind() != Kind::Ack && !packet.has_flags() {
            return;
        }
        let connection = match &self.net.flows[packet.flow() as usize].endpoint {
            Endpoint::Tcp(tcp) => Some(&tcp.connection),
            Endpoint::Stopped(Stopped { tcp, .. }) => Some(&tcp.connection),
            Endpoint::Udp(_) => None,
        };
        let id = self.recorder.ids().present();
        if let Some(row) = header_row(self.now, id, packet, connection) {
            self.recorder.header(row);
        }
    }

    pub(super) fn record_event(&mut self, flow: u32, event: i32, seq: impl Into<i64>) {
        if R::PACKETS {
            let seq = seq.into();
            self.recorder.event(EventRow { time: self.now, flow: flow as i32, event, seq });
        }
    }

    #[inline(always)]
    pub(super) fn receive_data(&mut self, packet: Packet) {
        let now = self.now;
        let flow = &mut self.net.flows[packet.flow() as usize];
        let tcp = match &mut flow.endpoint {
            Endpoint::Tcp(tcp) => tcp,
            Endpoint::Stopped(_) => return self.receive_late(packet.pack()),
            Endpoint::Udp(udp) => {
                if udp.accept(now, packet, flow.dropped) {
                    self.complete_flow();
                }
                return;
            }
        };
        let finish = tcp.finish;
        let answer = tcp.accept(now, packet);
        let owes = answer.is_some() && tcp.connection.receiver_timer() < Time::NEVER;
        if R::PACKETS && tcp.finish != finish {
            self.record_event(packet.flow(), flow_event::FINISH, packet.seq);
        }
        match answer {
            Some(ack) => {
                self.send(ack.pack());
                // It may owe another one, at once or later: for this segment, or a FIN of its own.
                if owes {
                    self.wake(packet.flow());
                }
            }
            // The receiver may wait for a second segment.
            None => self.wake(packet.flow()),
        }
    }

    /// A message of a handshake has come.
    #[cold]
    fn receive_message(&mut self, parcel: Parcel) {
        let packet = parcel.open();
        let index = packet.flow();
        let flow = &mut self.net.flows[index as usize];
        let tcp = match &mut flow.endpoint {
            Endpoint::Tcp(tcp) => tcp,
            // Cut off before its connection was open: neither end answers any more.
            Endpoint::Stopped(_) => return,
            Endpoint::Udp(_) => unreachable!("only reliable flows have a handshake"),
        };
        if packet.goes_back() {
            let rtt = tcp.connection.on_answer(self.now, packet.stamp);
            self.pass_word_on(index);
            self.after_ack(index, packet.seq, rtt);
            return;
        }
        let answer = tcp.accept_message(self.now, parcel);
        let owes = tcp.connection.receiver_timer() < Time::NEVER;
        if let Some(answer) = answer {
            self.send(answer);
        }
        // It may owe another ACK: a FIN that comes by itself is answered by one of its own.
        if owes {
            self.wake(index);
        }
    }

    #[cold]
    fn send_message(&mut self, flow: u32, message: Message, bytes: u16) {
        self.net.flows[flow as usize].extra.add(bytes);
        if R::PACKETS
            && message == Message::Syn
            && let Endpoint::Tcp(tcp) = &self.net.flows[flow as usize].endpoint
            && tcp.connection.stats().timeouts > 0
        {
            self.record_event(flow, flow_event::TIMEOUT, -1);
        }
        self.send(Packet::of_handshake(flow, message, bytes, self.now).pack());
    }

    pub(super) fn complete_flow(&mut self) {
        self.active -= 1;
        self.stopped = self.net.stop_when_complete && self.active == 0;
        debug_assert!(!self.stopped || !self.walks(), "packets are ahead of the end");
    }

    /// A host sends a packet.
    #[inline(never)]
    pub(super) fn send(&mut self, parcel: Parcel) {
        let packet = parcel.open();
        let from = usize::from(packet.goes_back());
        self.send_over(self.net.flows[packet.flow() as usize].first[from], packet);
    }

    /// The same where its first hop is known.
    #[inline(always)]
    fn send_over(&mut self, hop: Hop, mut packet: Packet) {
        self.counters.created += 1;
        if self.counters.created >= self.crowd_possible {
            self.look_at_crowd();
        }
        let from = usize::from(packet.goes_back());
        packet.set_hops(if from == 1 { self.net.way_back() } else { 0 });
        if R::PACKETS {
            self.recorder.ids().create();
            self.record_packet(&packet, from, packet_event::SENT);
            self.record_header(&packet);
        }
        if self.net.queues_sends {
            let stamp = self.queue.stamp(0.0);
            self.queue.push(self.now, stamp, self.sends);
            self.outbox.push_back((hop, packet));
            if R::PACKETS {
                self.recorder.ids().hold();
            }
            self.counters.waiting_to_enter += 1;
        } else {
            self.offer(hop, packet);
        }
    }

    /// A packet that a host sends enters its link.
    pub(super) fn send_queued(&mut self) {
        let (hop, packet) = self.outbox.pop_front().expect("a packet for each event");
        if R::PACKETS {
            self.recorder.ids().release();
        }
        self.counters.waiting_to_enter -= 1;
        self.offer(hop, packet);
    }

    #[inline(always)]
    pub(super) fn receive_ack(&mut self, packet: Packet) {
        let now = self.now;
        let flow = &mut self.net.flows[packet.flow() as usize];
        let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
        let tcp = match &mut flow.endpoint {
            Endpoint::Tcp(tcp) => tcp,
            Endpoint::Stopped(Stopped { tcp, .. }) => return tcp.connection.on_ack_dropped(ack),
            Endpoint::Udp(_) => unreachable!("an ACK without a sender"),
        };
        let rtt = tcp.connection.on_ack(now, ack, packet.is_ece());
        self.after_ack(packet.flow(), packet.seq, rtt);
    }

    /// What an ACK that the sender has handled brings about.
    #[inline(always)]
    fn after_ack(&mut self, index: u32, seq: u32, rtt: Option<Time>) {
        let now = self.now;
        let Endpoint::Tcp(tcp) = &mut self.net.flows[index as usize].endpoint else { return };
        tcp.digest.add(now.as_ns());
        tcp.digest.add(u64::from(seq));
        tcp.digest.add(tcp.connection.window().cwnd.to_bits());
        if R::ON {
            if let Some(rtt) = rtt {
                self.recorder.rtt(RttRow { time: now, flow: index as i32, rtt });
                tcp.record_rto(now, index, rto_event::SAMPLE, Some(rtt), &mut self.recorder);
            }
            tcp.record_window(now, index, &mut self.recorder);
            tcp.record_journal(now, index, &mut self.recorder);
        }
        if tcp.connection.is_finished() && tcp.finish_ack.is_none() {
            tcp.finish_ack = Some(now);
            tcp.connection.finish(now);
            self.complete_flow();
            self.record_event(index, flow_event::FINISH_ACK, seq);
        }
        self.transmit(index);
        self.wake(index);
    }

    /// Sends what the sender wants to send now, at most [`MOST_AT_ONCE`] packets of it.
    #[inline(always)]
    pub(super) fn transmit(&mut self, index: u32) {
        if SHARED { self.transmit_apart(index) } else { self.transmit_here(index) }
    }

    #[inline(never)]
    fn transmit_apart(&mut self, index: u32) {
        self.transmit_here(index);
    }

    #[inline(always)]
    fn transmit_here(&mut self, index: u32) {
        if self.net.burst_order.is_some() {
            self.transmit_shuffled(index);
        } else {
            let mut sent = 0;
            while let Some(leaving) = self.poll(index) {
                self.send_segment(index, leaving);
                if leaving.segment.flags.has(Flags::LAST) {
                    break;
                }
                sent += 1;
                if sent == MOST_AT_ONCE {
                    self.pause(index);
                    break;
                }
            }
        }
        if R::ON
            && let Endpoint::Tcp(tcp) = &mut self.net.flows[index as usize].endpoint
        {
            tcp.record_timer(self.now, index, &mut self.recorder);
            tcp.record_journal(self.now, index, &mut self.recorder);
            tcp.record_info(self.now, index, &mut self.recorder);
        }
    }

    /// The same, with the packets of this moment in random order.
    pub(super) fn transmit_shuffled(&mut self, index: u32) {
        let mut burst = std::mem::take(&mut self.burst);
        while burst.len() < MOST_AT_ONCE
            && let Some(leaving) = self.poll(index)
        {
            burst.push(leaving);
        }
        if burst.len() == MOST_AT_ONCE {
            self.pause(index);
        }
        if let Some(order) = &mut self.net.burst_order {
            order.shuffle(&mut burst);
        }
        for leaving in burst.drain(..) {
            self.send_segment(index, leaving);
        }
        self.burst = burst;
    }

    /// A flow has sent much in one event: it goes on in another one at the same moment, so that the caller
    /// of [`World::run`] can look at the clock, and at the memory, meanwhile.
    #[cold]
    fn pause(&mut self, index: u32) {
        self.net.flows[index as usize].paused = true;
        self.budget = self.budget.saturating_sub(MOST_AT_ONCE as u64);
    }

    #[inline(always)]
    pub(super) fn poll(&mut self, index: u32) -> Option<Leaving> {
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &mut flow.endpoint else { return None };
        let segment = tcp.connection.poll_transmit(self.now)?;
        Some(Leaving { segment, header: tcp.header, first: flow.first[0] })
    }

    #[inline(always)]
    pub(super) fn send_segment(&mut self, index: u32, leaving: Leaving) {
        let Leaving { segment, header, first } = leaving;
        if let Cause::Handshake(message) = segment.cause {
            // A FIN and a probe of the window are data packets without data.
            let bytes = match message {
                Message::Fin | Message::Probe => header,
                _ => segment.payload,
            };
            return self.send_message(index, message, bytes);
        }
        let mut packet = Packet::new(Kind::Data, index, segment.payload + header);
        packet.stamp = self.now;
        packet.seq = segment.seq;
        packet.add_flags(segment.flags.of_packet());
        if segment.cause != Cause::New {
            packet.set_retransmission();
            let event = match segment.cause {
                Cause::Timeout => flow_event::TIMEOUT,
                Cause::FastRetransmit => flow_event::FAST_RETRANSMIT,
                Cause::Probe => flow_event::PROBE,
                Cause::GapRetransmit | Cause::New | Cause::Handshake(_) => {
                    flow_event::GAP_RETRANSMIT
                }
            };
            self.record_event(index, event, segment.seq);
        }
        self.send_over(first, packet);
    }

    /// Sees to it that the flow's timer is in the event queue.
    #[inline(always)]
    pub(super) fn wake(&mut self, index: u32) {
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &flow.endpoint else { return };
        // A timer that has become shorter may already be over. The entry is never later than the next
        // write, which changes in timers only.
        let timer = if self.boundary.sends(index) {
            tcp.connection.next_timer()
        } else {
            tcp.connection.receiver_timer()
        };
        let due = if flow.paused { self.now } else { timer.max(self.now) };
        if due < flow.armed {
            flow.armed = due;
            let stamp = self.timer_stamp(index, due);
            self.queue.push(due, stamp, self.flows + index);
        } else if self.queue.stamps_timers() {
            self.timer_stamp(index, due);
        }
    }

    /// The stamp of a flow's timer. It counts when a timer was set, also one that was put off and that
    /// enters the event queue only later.
    #[inline]
    pub(super) fn timer_stamp(&mut self, index: u32, due: Time) -> Q::Stamp {
        if !Q::ORDERS {
            return self.queue.stamp(0.0);
        }
        let flow = &self.net.flows[index as usize];
        let is_write = due != Time::NEVER && due == flow.next_write();
        let planned = is_write && flow.write_is_planned();
        if !self.queue.stamps_timers() {
            return if planned {
                self.queue.stamp_planned(due, index)
            } else {
                self.queue.stamp(0.0)
            };
        }
        let [timer, write] = &mut self.timers[index as usize];
        let (set, stamp) = if is_write { write } else { timer };
        if *set != due {
            *set = due;
            if planned {
                *stamp = self.queue.stamp_planned(due, index);
                return *stamp;
            }
            let wait = if due == Time::NEVER { 0.0 } else { (due - self.now).as_secs() };
            *stamp = self.queue.stamp(wait);
        }
        *stamp
    }

    pub(super) fn flow_timer(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let now = self.now;
        let flow = &mut self.net.flows[index as usize];
        if flow.armed != now {
            return None;
        }
        if !self.boundary.sends(index) {
            return self.receiver_timer(index);
        }
        flow.armed = Time::NEVER;
        let starts = !std::mem::replace(&mut flow.started, true);
        let goes_on = std::mem::replace(&mut flow.paused, false);
        if let Endpoint::Tcp(tcp) = &flow.endpoint
            && !starts
        {
            let due = tcp.next_timer();
            if due > now && goes_on {
                self.transmit(index);
                return self.rearm(index);
            }
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
                let owed = if starts {
                    if R::ON && self.recorder.keeps(Costly::Journals) {
                        tcp.watch();
                    }
                    tcp.start(now);
                    None
                } else {
                    tcp.connection.on_timer(now)
                };
                let owed = owed.map(|ack| tcp.packet_of(index, ack));
                tcp.write(now);
                if R::ON && tcp.connection.stats().timeouts > timeouts {
                    tcp.record_rto(now, index, rto_event::EXPIRY, None, &mut self.recorder);
                }
                if R::ON {
                    tcp.record_window(now, index, &mut self.recorder);
                    tcp.record_journal(now, index, &mut self.recorder);
                }
                if starts {
                    self.record_event(index, flow_event::START, 0);
                }
                if let Some(ack) = owed {
                    self.send(ack.pack());
                }
                self.pass_word_on(index);
                self.transmit(index);
            }
            Endpoint::Udp(udp) => {
                if starts {
                    udp.writer.start(now);
                }
                self.send_datagram(index);
            }
            Endpoint::Stopped(_) => unreachable!("it has no timers"),
        }
        self.rearm(index)
    }

    /// The next event of a flow's timer after one of it.
    #[inline(always)]
    fn rearm(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let flow = &mut self.net.flows[index as usize];
        let write = flow.next_write();
        let due = match &flow.endpoint {
            _ if flow.paused => self.now,
            Endpoint::Tcp(tcp) => tcp.connection.next_timer().min(write),
            Endpoint::Udp(_) | Endpoint::Stopped(_) => write,
        };
        flow.armed = due;
        if self.queue.stamps_timers() && write != Time::NEVER {
            // It counts from now on, also while another timer is earlier.
            self.timer_stamp(index, write);
        }
        if due == Time::NEVER { None } else { Some((due, self.timer_stamp(index, due))) }
    }

    #[inline]
    pub(super) fn send_datagram(&mut self, index: u32) {
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Udp(udp) = &mut flow.endpoint else { return };
        let size = udp.writer.write(self.now);
        if size == 0 {
            return;
        }
        let mut packet = Packet::new(Kind::Data, index, size as u16);
        packet.stamp = self.now;
        packet.seq = udp.sent;
        packet.set_ecn(udp.ecn);
        udp.sent += 1;
        udp.bytes_sent += u64::from(size);
        let first = flow.first[0];
        self.send_over(first, packet);
    }
}
