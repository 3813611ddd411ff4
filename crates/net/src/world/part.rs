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
use ackclock_engine::EventQueue;
use ackclock_tcp::{AckFields, Connection, Ends, Note, Word};
use ackclock_trace::Recorder;
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
}

/// What goes from one part to another.
#[derive(Debug, Default)]
pub struct Mail {
    packets: Vec<Crossing>,
    notes: Vec<Note>,
    words: Vec<(u32, Word)>,
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

    /// When the first packet in it arrives.
    pub fn earliest(&self) -> Time {
        self.packets.iter().map(|crossing| crossing.arrival).min().unwrap_or(Time::NEVER)
    }
}

/// One part, and its mail to each of the others.
#[derive(Debug)]
pub struct Part {
    own: u16,
    pub(super) division: Arc<Division>,
    mail: Vec<Mail>,
}

impl Part {
    /// The part of this number.
    pub fn new(own: u16, division: Arc<Division>) -> Self {
        let mail = (0..division.parts).map(|_| Mail::default()).collect();
        Self { own, division, mail }
    }
}

impl Boundary for Part {
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
    fn send(&mut self, arrival: Time, channel: u32, packet: Packet, note: Option<Note>) {
        let [_, to] = self.division.channels[channel as usize];
        let mail = &mut self.mail[usize::from(to)];
        mail.packets.push(Crossing { arrival, packet, channel, noted: note.is_some() });
        mail.notes.extend(note);
    }

    fn tell(&mut self, flow: u32, word: impl FnOnce() -> Word) {
        let [from, to] = self.division.flows[flow as usize];
        if from != to {
            self.mail[usize::from(to)].words.push((flow, word()));
        }
    }
}

impl<Q: EventQueue, R: Recorder> World<Q, R, Part> {
    /// Sets a part of a network in motion.
    pub fn of_part(mut net: Network, queue: Q, recorder: R, part: Part) -> Self {
        debug_assert!(!net.stop_when_complete && net.distance_vector.is_none());
        // Only all parts together know how many packets there are.
        net.most_packets = u64::MAX;
        for (flow, [from, _]) in net.flows.iter_mut().zip(&part.division.flows) {
            if *from != part.own {
                flow.leave_sending_to_another();
            }
        }
        for (channel, [from, to]) in net.channels.iter_mut().zip(&part.division.channels) {
            if from != to && *from == part.own {
                channel.lead_away();
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

    /// Takes what has come from another part out of its mail.
    pub fn receive_mail(&mut self, mail: &mut Mail) {
        for (flow, word) in mail.words.drain(..) {
            if let Endpoint::Tcp(tcp) = &mut self.net.flows[flow as usize].endpoint {
                tcp.connection.on_word(word);
            }
        }
        let mut notes = mail.notes.drain(..);
        for Crossing { arrival, mut packet, channel, noted } in mail.packets.drain(..) {
            if noted
                && let Some(note) = notes.next()
                && let Some(connection) = connection(&mut self.net.flows[packet.flow() as usize])
            {
                packet.aux = connection.keep_note(note);
            }
            let place = &mut self.net.channels[channel as usize];
            place.put_on_far_end(arrival, packet, &mut self.slots);
            if place.arm() {
                self.queue.push(arrival, Q::Stamp::default(), self.arrivals + channel);
            }
        }
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
    pub(super) fn send_away(&mut self, arrival: Time, channel: u32, packet: Packet) {
        let mut note = None;
        if packet.kind() == Kind::Ack && packet.aux != 0 {
            let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
            let connection = connection(&mut self.net.flows[packet.flow() as usize]);
            note = connection.and_then(|connection| connection.take_note(ack));
        }
        self.boundary.send(arrival, channel, packet, note);
    }

    /// The receiver of a flow may have to know what its sender knows now.
    #[inline(always)]
    pub(super) fn pass_word_on(&mut self, index: u32) {
        if let Endpoint::Tcp(tcp) = &self.net.flows[index as usize].endpoint {
            self.boundary.tell(index, || tcp.connection.word());
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
            self.send(ack);
        }
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &flow.endpoint else { return None };
        let due = tcp.connection.receiver_timer();
        flow.armed = due;
        (due != Time::NEVER).then(|| (due, self.queue.stamp(0.0)))
    }
}
