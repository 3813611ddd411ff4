//! A part of a network that one thread runs, and what passes between parts.
//!
//! Each part has a copy of the whole network, in which only its own nodes come to life: a channel is served by the part of
//! the node that sends into it, the packets that arrive at its far end are events of the part of that node. A packet that
//! enters a channel between parts goes into the mail with the time at which it will arrive, which is known by then; until
//! then the other part has to run on without it. So parts can run side by side for as long as the shortest such journey
//! takes, and nothing that one does concerns another within that span (conservative synchronization: Chandy and Misra
//! 1979, Bryant 1977; in windows of time: Nicol 1993).
//!
//! Events come in the order (time, entity), which does not depend on how they come into being. Simultaneous events of two
//! parts touch nothing in common. So each node sees what it sees when one thread runs all, bit by bit.

use super::{Boundary, Network, World};
use crate::flow::{Endpoint, Flow, Stopped};
use crate::packet::{Kind, Packet};
use ackclock_engine::{EndingQueue, EventQueue};
use ackclock_tcp::{AckFields, Connection, Ends, Note, Word};
use ackclock_trace::{Moment, Recorder};
use ackclock_units::Time;
use std::sync::Arc;

/// How a network is divided.
#[derive(Debug, Clone)]
pub struct Division {
    /// How many parts.
    pub parts: usize,
    /// Parts of the nodes at both ends of each channel. Those of a half-duplex link are one.
    pub channels: Vec<[u16; 2]>,
    /// Parts of sender and receiver of each flow.
    pub flows: Vec<[u16; 2]>,
    /// Channels whose arrivals would be no events if one thread ran the whole network.
    pub extra: Vec<bool>,
    /// The least time from when a flow sends to when an answer can come; zero for flows that may be over before.
    pub trips: Vec<Time>,
}

/// What goes from one part to another.
#[derive(Debug, Default)]
pub struct Mail {
    packets: Vec<Crossing>,
    notes: Vec<Note>,
    /// Numbers of the packets, if they are recorded.
    ids: Vec<i64>,
    words: Vec<(Time, u32, Word)>,
}

/// A packet that will reach the far end of a channel.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    arrival: Time,
    packet: Packet,
    channel: u32,
    /// It carries the next note.
    noted: bool,
}

impl Mail {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.words.is_empty()
    }

    /// When the first packet in it arrives of those that arrive then or later.
    pub fn earliest_from(&self, bound: Time) -> Time {
        let arrivals = self.packets.iter().map(|crossing| crossing.arrival);
        arrivals.filter(|arrival| *arrival >= bound).min().unwrap_or(Time::NEVER)
    }

    /// Takes what is in another one.
    pub fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        self.packets.append(&mut other.packets);
        self.notes.append(&mut other.notes);
        self.ids.append(&mut other.ids);
        self.words.append(&mut other.words);
    }
}

/// One part, and its mail to each of the others.
#[derive(Debug)]
pub struct Part {
    own: u16,
    /// Packets are recorded.
    shadows: bool,
    pub(super) division: Arc<Division>,
    mail: Vec<Mail>,
    /// Words from moments that are still to come here.
    words: Vec<(Time, u32, Word)>,
    /// The first flow that may have data which were never sent.
    unsent: usize,
}

impl Part {
    /// The part of this number, whose packets are recorded or not.
    pub fn new(own: u16, division: Arc<Division>, shadows: bool) -> Self {
        let mail = (0..division.parts).map(|_| Mail::default()).collect();
        Self { own, shadows, division, mail, words: Vec::new(), unsent: 0 }
    }
}

impl Boundary for Part {
    const IS_PART: bool = true;

    #[inline(always)]
    fn shadows(&self, channel: u32) -> bool {
        let [from, to] = self.division.channels[channel as usize];
        self.shadows && from == self.own && to != self.own
    }

    #[inline(always)]
    fn leads_away(&self, channel: u32) -> bool {
        let [from, to] = self.division.channels[channel as usize];
        from != to
    }

    #[inline(always)]
    fn sends(&self, flow: u32) -> bool {
        self.division.flows[flow as usize][0] == self.own
    }

    fn is_first(&self) -> bool {
        self.own == 0
    }

    #[inline(always)]
    fn is_extra(&self, channel: u32) -> bool {
        self.division.extra[channel as usize]
    }

    #[inline]
    fn send(
        &mut self,
        arrival: Time,
        channel: u32,
        packet: Packet,
        note: Option<Note>,
        id: Option<i64>,
    ) {
        let [_, to] = self.division.channels[channel as usize];
        let mail = &mut self.mail[usize::from(to)];
        mail.packets.push(Crossing { arrival, packet, channel, noted: note.is_some() });
        mail.notes.extend(note);
        mail.ids.extend(id);
    }

    fn send_word(&mut self, now: Time, flow: u32, word: impl FnOnce() -> Word) {
        let [from, to] = self.division.flows[flow as usize];
        if from != to {
            self.mail[usize::from(to)].words.push((now, flow, word()));
        }
    }
}

impl<Q: EventQueue, R: Recorder> World<Q, R, Part> {
    /// Sets a part of a network in motion.
    pub fn of_part(mut net: Network, queue: Q, recorder: R, part: Part) -> Self {
        debug_assert!(net.distance_vector.is_none());
        // Only all parts together know when all flows are complete.
        net.stop_when_complete = false;
        // Only all parts together know how many packets there are.
        net.most_packets = u64::MAX;
        for (flow, [from, _]) in net.flows.iter_mut().zip(&part.division.flows) {
            if *from != part.own {
                flow.leave_sending_to_another();
            }
        }
        for (channel, [from, to]) in net.channels.iter_mut().zip(&part.division.channels) {
            if from != to && *from == part.own {
                channel.lead_away(part.shadows);
            }
        }
        Self::within(net, queue, recorder, part)
    }

    /// When something happens next.
    pub fn next_event(&mut self) -> Time {
        self.queue.peek().map_or(Time::NEVER, |(time, _)| time)
    }

    /// Handles all events before this time.
    pub fn run_before(&mut self, bound: Time) {
        self.run_until(bound - Time::from_ns(1), u64::MAX);
    }

    /// The latest moment to which a packet was walked.
    pub fn ahead(&self) -> Time {
        self.ahead
    }

    /// What has to go to another part.
    pub fn mail_to(&mut self, part: usize) -> &mut Mail {
        &mut self.boundary.mail[part]
    }

    /// For how long the run cannot be over by completion of all flows: a flow that sends here has data which it never
    /// sent, and answers take that long, at least as long as `least`. Zero if there is no such flow.
    pub fn lasts(&mut self, least: Time) -> Time {
        let Part { unsent, division, own, .. } = &mut self.boundary;
        while let Some(flow) = self.net.flows.get(*unsent) {
            let trip = division.trips[*unsent];
            let sends = division.flows[*unsent][0] == *own;
            if sends && trip >= least && trip > Time::ZERO && flow.has_unsent() {
                return trip;
            }
            *unsent += 1;
        }
        Time::ZERO
    }

    /// The place of the next event among those of all parts, and its time.
    pub fn next_moment(&mut self) -> Option<(Moment, Time)> {
        let (time, entity) = self.queue.peek()?;
        Some((self.moment(time, entity), time))
    }

    /// Handles the next event.
    pub fn run_next(&mut self) {
        self.run_until(self.net.end, 1);
    }

    /// The last moment at which anything happened here.
    pub fn last_change(&self) -> Time {
        self.last_change
    }

    /// The run was over at this moment.
    pub fn stop_at(&mut self, now: Time) {
        self.now = now;
    }

    /// What senders elsewhere have let their receivers here know, in moments that are over.
    #[cold]
    fn hear_words(&mut self, clock: Time) {
        let mut words = std::mem::take(&mut self.boundary.words);
        for (_, flow, word) in words.extract_if(.., |(at, ..)| *at < clock) {
            if let Endpoint::Tcp(tcp) = &mut self.net.flows[flow as usize].endpoint {
                tcp.connection.on_word(word);
            }
        }
        self.boundary.words = words;
    }

    /// Takes what has come from another part out of its mail. All events before `clock` are handled here.
    pub fn receive_mail(&mut self, mail: &mut Mail, clock: Time) {
        self.boundary.words.append(&mut mail.words);
        if !self.boundary.words.is_empty() {
            self.hear_words(clock);
        }
        let mut notes = mail.notes.drain(..);
        let mut ids = mail.ids.drain(..);
        for Crossing { arrival, mut packet, channel, noted } in mail.packets.drain(..) {
            if noted
                && let Some(note) = notes.next()
                && let Some(connection) = connection(&mut self.net.flows[packet.flow() as usize])
            {
                packet.aux = connection.keep_note(note);
            }
            let place = &mut self.net.channels[channel as usize];
            place.put_on_far_end(arrival, packet, &mut self.slots);
            if let Some(id) = ids.next() {
                self.recorder.ids().start_kept(place.lane(), id);
            }
            if place.arm() {
                self.queue.push(arrival, Q::Stamp::default(), self.arrivals + channel);
            }
        }
    }
}

impl<R: Recorder> World<EndingQueue, R, Part> {
    /// Whether something would happen after the end of the run.
    pub fn has_later_events(&self) -> bool {
        self.queue.has_later_events()
    }
}

fn connection(flow: &mut Flow) -> Option<&mut Connection> {
    match &mut flow.endpoint {
        Endpoint::Tcp(tcp) => Some(&mut tcp.connection),
        Endpoint::Stopped(Stopped { tcp, .. }) => Some(&mut tcp.connection),
        Endpoint::Udp(_) => None,
    }
}

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// A packet will reach the far end of a channel, in another part.
    #[inline(always)]
    pub(super) fn send_away(
        &mut self,
        arrival: Time,
        channel: u32,
        packet: Packet,
        id: Option<i64>,
    ) {
        let mut note = None;
        if packet.kind() == Kind::Ack && packet.aux != 0 {
            let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
            let connection = connection(&mut self.net.flows[packet.flow() as usize]);
            note = connection.and_then(|connection| connection.take_note(ack));
        }
        self.boundary.send(arrival, channel, packet, note, id);
    }

    /// The rows that come belong to this event. Where it is one of two parts, those of the sending end of a channel come
    /// first, and those of the receiver of a flow.
    #[inline(always)]
    pub(super) fn begin_rows(&mut self, time: Time, entity: u32) {
        let moment = self.moment(time, entity);
        self.recorder.at(moment);
    }

    #[inline(always)]
    fn moment(&self, time: Time, entity: u32) -> Moment {
        let first = if entity < self.arrivals {
            false
        } else if entity < self.routers {
            self.boundary.shadows(entity - self.arrivals)
        } else {
            entity >= self.flows && entity < self.sends && !self.boundary.sends(entity - self.flows)
        };
        Moment::new(time, entity, first)
    }

    /// The same for a packet that is followed to its far end here, too.
    #[cold]
    #[inline(never)]
    pub(super) fn send_shadowed(&mut self, arrival: Time, channel: u32, packet: Packet) {
        let packet = self.net.channels[channel as usize].as_it_entered(packet);
        let id = self.recorder.ids().present();
        self.send_away(arrival, channel, packet, Some(id));
    }

    /// The same for a packet that is lost on its way there.
    #[cold]
    #[inline(never)]
    pub(super) fn send_lost(&mut self, arrival: Time, channel: u32, packet: Packet) {
        let packet = self.net.channels[channel as usize].as_it_entered(packet);
        self.send_away(arrival, channel, packet, None);
    }

    /// A packet that is followed in the part that sent it has arrived in another one.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_elsewhere(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let channel = &mut self.net.channels[index as usize];
        let packet = channel.deliver(self.now, &mut self.slots, &mut self.recorder);
        if packet.is_lost() {
            self.lose(self.now, index, packet);
        } else {
            self.counters.events -= 1;
        }
        let (time, stamp) = self.net.channels[index as usize].next_arrival()?;
        Some((time, stamp.into()))
    }

    /// The receiver of a flow may have to know what its sender knows now.
    #[inline(always)]
    pub(super) fn pass_word_on(&mut self, index: u32) {
        if let Endpoint::Tcp(tcp) = &self.net.flows[index as usize].endpoint {
            self.boundary.send_word(self.now, index, || tcp.connection.word());
        }
    }

    /// The timer of a receiver whose sender belongs to another part.
    #[cold]
    #[inline(never)]
    pub(super) fn receiver_timer(&mut self, index: u32) -> Option<(Time, Q::Stamp)> {
        let now = self.now;
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &mut flow.endpoint else { return None };
        if tcp.connection.receiver_timer() <= now
            && let Some(ack) = tcp.connection.on_receiver_timer(now)
        {
            let ack = tcp.packet_of(index, ack);
            self.send(ack.pack());
        }
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &flow.endpoint else { return None };
        let due = tcp.connection.receiver_timer();
        flow.armed = due;
        (due != Time::NEVER).then(|| (due, self.queue.stamp(0.0)))
    }
}
