//! One end of a connection, driven by hand: a script is the other end, and the clock.
//!
//! What is injected reaches this end at once, and what it sends is taken from a list, each packet with the time at
//! which it left. Numbers count from the first byte of data, in both directions, and a FIN takes one.

use super::receiver::{AckOut, Arrival, Receiver};
use super::sender::{Info, Sender};
use crate::ends::extend;
use crate::handshake::Message;
use crate::sack::Note;
use crate::segment::{Cause, Flags, Segment};
use ackclock_units::Time;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It asks for a connection, or takes one.
    Syn,
    /// Data, an ACK, a FIN or a probe.
    Plain,
}

/// A packet that was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packet {
    /// When it left.
    pub time: Time,
    /// What it is.
    pub form: Form,
    /// First byte; a probe of the window is below what was acknowledged.
    pub seq: i64,
    /// Payload bytes.
    pub payload: u64,
    /// What it says besides.
    pub flags: Flags,
    /// It echoes a mark.
    pub ece: bool,
    /// Next byte expected.
    pub ack: u64,
    /// What has arrived beyond, and the window.
    pub note: Option<Note>,
    /// Sending time that it echoes.
    pub echo: Time,
}

/// A packet that is injected.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Injected {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub payload: u64,
    /// What it says besides.
    pub flags: Flags,
    /// What it acknowledges; none without ACK.
    pub ack: Option<u64>,
    /// The window in bytes, and blocks.
    pub note: Note,
    /// It echoes a mark.
    pub ece: bool,
    /// Sending time that it echoes.
    pub echo: Time,
    /// Its own sending time.
    pub stamp: Time,
}

/// One end of a connection.
#[derive(Debug, Clone)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    sent: Vec<Packet>,
    /// An ACK that is due; whatever leaves first carries it.
    owed: Option<AckOut>,
    /// The local queue takes no packets.
    refuses: bool,
}

impl Endpoint {
    pub(super) fn new(sender: Sender, receiver: Receiver) -> Self {
        Self { sender, receiver, sent: Vec::new(), owed: None, refuses: false }
    }

    /// The handshake begins: its first message of this end leaves.
    pub fn open(&mut self, now: Time) {
        self.sender.start(now);
        self.send(now);
    }

    /// The handshake is over. `stamp` is when the message was sent that was answered; `window` the other end's.
    pub fn establish(&mut self, now: Time, stamp: Time, window: u64) {
        self.sender.set_receive_window(window);
        if let Some(established) = self.sender.establish(now, stamp) {
            self.receiver.on_established(established.path);
        }
        self.send(now);
    }

    /// The application writes; nothing is joined to what it wrote if it `ends` a record. With `more` to come, less
    /// than a segment waits until the next call, an ACK or the timer (`MSG_MORE`).
    pub fn write(&mut self, now: Time, bytes: u64, ends: bool, more: bool) {
        let corked = self.sender.set_cork(true);
        self.sender.set_cork(corked || more);
        self.sender.write(now, bytes, false);
        if ends {
            self.sender.end_record();
        }
        self.send(now);
        self.sender.set_cork(corked);
    }

    /// The application closes: a FIN follows its data.
    pub fn close(&mut self, now: Time) {
        self.sender.close(now);
        self.send(now);
    }

    /// Small segments wait no longer, or may wait.
    pub fn set_nagle(&mut self, now: Time, waits: bool) {
        self.sender.set_nagle(waits);
        // What was held back leaves once.
        let corked = self.sender.set_cork(false);
        self.send(now);
        self.sender.set_cork(corked);
    }

    /// Small segments wait for more whatever happens (`TCP_CORK`), or no longer.
    pub fn set_cork(&mut self, now: Time, corked: bool) {
        self.sender.set_cork(corked);
        self.send(now);
    }

    /// From now on the local queue refuses every packet, or takes them again.
    pub fn refuse(&mut self, refuses: bool) {
        self.refuses = refuses;
    }

    /// A packet arrives. One without ACK, or one that acknowledges what was never sent, counts for nothing (RFC 9293
    /// section 3.10.7.4; Linux answers neither).
    pub fn inject(&mut self, now: Time, packet: &Injected) {
        if packet.ack.is_none_or(|ack| ack > self.sender.nxt()) {
            return;
        }
        let has_data = packet.payload > 0 || packet.flags.has(Flags::FIN);
        if let Some(ack) = packet.ack
            && !(has_data && self.receiver.outdates(packet.stamp))
        {
            self.sender.on_ack(now, ack, Some(&packet.note), packet.echo, packet.ece);
        }
        if has_data {
            let arrival = Arrival {
                seq: packet.seq,
                payload: packet.payload.min(u64::from(u16::MAX)) as u16,
                flags: packet.flags,
                stamp: packet.stamp,
            };
            self.receiver.set_lingers(!self.sender.has_closed());
            let owed = self.receiver.on_data(now, &arrival);
            self.owe(owed);
        }
        self.send(now);
        self.acknowledge(now);
    }

    /// When something happens by itself.
    pub fn next_timer(&self) -> Time {
        let sender = if self.refuses { Time::NEVER } else { self.sender.next_timer() };
        // Timers run on while nothing may leave.
        sender.min(self.sender.next_timeout()).min(self.receiver.next_timer())
    }

    /// The time has come that was asked for.
    pub fn on_timer(&mut self, now: Time) {
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now);
        }
        self.send(now);
        if self.receiver.next_timer() <= now {
            let owed = self.receiver.on_timer(now);
            self.owe(owed);
            self.acknowledge(now);
        }
    }

    /// What was sent since it was asked last.
    pub fn take(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.sent)
    }

    /// The state of the sender.
    pub fn info(&self) -> Info {
        self.sender.info()
    }

    /// Whether what the sender counts agrees with what it knows of each segment.
    pub fn is_consistent(&self) -> bool {
        self.sender.is_consistent()
    }

    /// Bytes of data that have arrived in order, a FIN included.
    pub fn received(&self) -> u64 {
        self.receiver.next()
    }

    fn send(&mut self, now: Time) {
        while !self.refuses
            && let Some(segment) = self.sender.poll_transmit(now)
        {
            self.send_segment(now, segment);
        }
    }

    fn send_segment(&mut self, now: Time, segment: Segment) {
        let una = self.sender.una();
        let mut packet = self.plain(now);
        packet.seq = extend(segment.seq, una) as i64;
        packet.payload = u64::from(segment.payload);
        packet.flags = segment.flags.of_packet();
        if let Cause::Handshake(message) = segment.cause {
            packet.payload = 0;
            match message {
                Message::Syn | Message::SynAck => packet.form = Form::Syn,
                Message::Ack => packet.seq = self.sender.info().bytes_acked as i64,
                Message::Fin => {
                    packet.flags = packet.flags.with(Flags::FIN);
                    packet.seq = self.sender.bytes().unwrap_or(una) as i64;
                }
                Message::Probe => packet.seq = una as i64 - 1,
            }
        }
        self.sent.push(packet);
    }

    /// A packet without data; whatever leaves carries an ACK.
    fn plain(&mut self, now: Time) -> Packet {
        let out = self.owed.take().unwrap_or_else(|| self.receiver.acknowledge());
        Packet {
            time: now,
            form: Form::Plain,
            seq: 0,
            payload: 0,
            flags: Flags::NONE,
            ece: out.ece,
            ack: out.ack,
            note: self.receiver.notes.take(out.aux),
            echo: out.stamp,
        }
    }

    /// An ACK is due, or none; one that was due before and never left is forgotten.
    fn owe(&mut self, owed: Option<AckOut>) {
        if let Some(before) = std::mem::replace(&mut self.owed, owed) {
            self.receiver.notes.take(before.aux);
        }
    }

    fn acknowledge(&mut self, now: Time) {
        if self.owed.is_some() && !self.refuses {
            let mut packet = self.plain(now);
            packet.seq = self.sender.nxt() as i64;
            self.sent.push(packet);
        }
    }
}
