//! The two ends of a modern flow.
//!
//! Packets carry the low 32 bits of sequence numbers, as in TCP; they are extended at the ends. What an ACK carries
//! besides is kept here while it is on its way.

use super::endpoint::Endpoint;
use super::receiver::{AckOut, Arrival, Buffer, Receiver};
use super::sender::{Info, Sender};
use crate::cc::{CongestionControl, Window};
use crate::ends::{Ack, AckFields, Answers, Ends, Reply, Word, extend, of_bytes, of_sender};
use crate::handshake::{Answer, Message, Rules};
use crate::journal::Journal;
use crate::sack::{self, Note};
use crate::segment::{Flags, Segment};
use crate::senders::Common;
use crate::stats::SenderStats;
use ackclock_memory as memory;
use ackclock_units::Time;
use ackclock_units::param::Chosen;
use std::ops::Range;

/// Cache lines that a segment uses of the receiver, and an ACK of the sender.
const RECEIVER: Range<usize> = 0..2;
const SENDER: Range<usize> = 0..16;

/// Both ends; the receiver comes first, as a segment touches nothing else.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Modern {
    receiver: Receiver,
    sender: Sender,
}

impl Modern {
    /// The ends that a scenario chose.
    pub fn new(chosen: &Chosen, common: Common) -> Self {
        let exact_ecn = common.cc.exact_ecn();
        let timestamps = chosen.flag("timestamps");
        let blocks = sack::most_blocks(chosen.flag("sack"), timestamps);
        let mut receiver =
            Receiver::new(chosen.inner("receiver"), common.segment, exact_ecn, blocks, timestamps);
        let segment = u64::from(common.segment);
        let mut sender = Sender::new(chosen, common);
        if let Some(size) = chosen.optional_int("receive_buffer_bytes") {
            sender.set_receive_window(size.min(sender.info().receive_window));
            // A buffer that is read at once is a window of its size.
            if let Some(rate) = chosen.optional_int("reads_bps") {
                receiver.set_buffer(Buffer::new(size, rate, segment));
            }
        }
        receiver.expect(sender.bytes());
        Self { receiver, sender }
    }

    /// Shares the rules of another connection where they are the same.
    pub(crate) fn share_rules(&mut self, other: &Self) {
        self.sender.share_rules(&other.sender);
    }

    /// Takes the receiver of another copy.
    pub(crate) fn join(&mut self, other: Self) {
        self.receiver = other.receiver;
    }

    /// Data reach the receiver that [`Receiver::on_next`] is not for.
    #[inline(never)]
    fn on_other_data(
        &mut self,
        now: Time,
        seq: u32,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<AckOut> {
        let seq = extend(seq, self.receiver.next());
        self.receiver.on_data(now, &Arrival { seq, payload, stamp, flags })
    }

    /// One end alone, which plays both parts: it sends and receives.
    pub fn into_endpoint(self) -> Endpoint {
        Endpoint::new(self.sender, self.receiver)
    }
}

impl From<AckOut> for Ack {
    #[inline]
    fn from(out: AckOut) -> Self {
        let fields = AckFields { seq: out.ack as u32, aux: out.aux, stamp: out.stamp };
        Self { fields, ece: out.ece }
    }
}

impl Ends for Modern {
    of_sender!();
    of_bytes!();

    #[inline(always)]
    fn prefetch_receiver(&self) {
        memory::prefetch(&self.receiver, RECEIVER);
    }

    #[inline(always)]
    fn prefetch_sender(&self) {
        memory::prefetch(&self.sender, SENDER);
    }

    #[inline(never)]
    fn on_data(
        &mut self,
        now: Time,
        seq: u32,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<Ack> {
        let out = match self.receiver.on_next(now, seq, payload, stamp, flags) {
            Some(out) => out,
            None => self.on_other_data(now, seq, payload, stamp, flags)?,
        };
        Some(out.into())
    }

    #[inline(never)]
    fn on_ack(&mut self, now: Time, ack: AckFields, ece: bool) -> Option<Time> {
        let number = extend(ack.seq, self.sender.una());
        let note = self.receiver.notes.get(ack.aux);
        let rtt = self.sender.on_ack(now, number, note, ack.stamp, ece);
        self.receiver.notes.release(ack.aux);
        rtt
    }

    fn on_ack_dropped(&mut self, ack: AckFields) {
        self.receiver.notes.release(ack.aux);
    }

    fn duplicate_ack(&mut self, ack: AckFields) -> AckFields {
        match self.receiver.notes.get(ack.aux).copied() {
            None => ack,
            Some(note) => AckFields { aux: self.receiver.notes.keep(note), ..ack },
        }
    }

    #[cold]
    fn on_message(&mut self, now: Time, message: Message, stamp: Time) -> Option<Reply> {
        if message == Message::Fin {
            let seq = self.receiver.expected()?;
            let flags = Flags::PUSH.with(Flags::FIN);
            let arrival = Arrival { seq, payload: 0, stamp, flags };
            let out = self.receiver.on_data(now, &arrival)?;
            return Some(Reply::Ack(out.into()));
        }
        if message == Message::Probe {
            let out = self.receiver.on_message(now, stamp);
            return Some(Reply::Ack(out.into()));
        }
        let handshake = self.sender.handshake();
        match handshake.answer(message) {
            Answer::Silence => None,
            Answer::PlainAck => {
                let out = self.receiver.on_message(now, stamp);
                Some(Reply::Ack(out.into()))
            }
            Answer::Message(answer) => {
                let echo = *self.receiver.asked.get_or_insert(stamp);
                Some(Reply::Message(answer, handshake.bytes(answer), echo))
            }
        }
    }

    #[cold]
    fn on_answer(&mut self, now: Time, stamp: Time) -> Option<Time> {
        let established = self.sender.establish(now, stamp)?;
        self.receiver.on_established(established.path);
        established.sample
    }

    #[inline(always)]
    fn next_timer(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }

    fn answers(&self) -> Answers {
        match self.receiver.never_waits() {
            // A FIN is answered by the application, too.
            _ if self.sender.ends_with_fin() => Answers::Entangled,
            None => Answers::Entangled,
            Some(true) => Answers::AtOnce,
            Some(false) => Answers::InTime,
        }
    }

    fn on_receiver_timer(&mut self, now: Time) -> Option<Ack> {
        let out = self.receiver.on_timer(now)?;
        Some(out.into())
    }

    #[inline(never)]
    fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.sender.poll_transmit(now)
    }

    fn bytes_delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    fn rto(&self) -> Option<(Time, Time)> {
        Some(self.sender.timer())
    }

    fn watch(&mut self) {
        self.sender.watch();
    }

    fn journal(&mut self) -> Option<&mut Journal> {
        self.sender.journal()
    }

    fn info(&self) -> Option<Info> {
        Some(self.sender.info())
    }

    fn note(&self, ack: AckFields) -> Option<&Note> {
        self.receiver.notes.get(ack.aux)
    }

    fn can_part(&self, finite: bool) -> bool {
        // The second ACK of a FIN without data leaves with the flow's next event, which may be the sender's. Where all data
        // are there from the start, the FIN goes with the last of them.
        let bare_fin = finite && self.sender.sends_fin() && self.sender.bytes().is_none();
        !self.receiver.keeps_buffer() && !bare_fin
    }

    fn word(&self) -> Word {
        Word { total: self.sender.bytes(), rtt: self.receiver.handshake_rtt() }
    }

    fn on_word(&mut self, word: Word) {
        self.receiver.expect(word.total);
        if let Some(rtt) = word.rtt {
            self.receiver.on_established(rtt);
        }
    }

    fn take_note(&mut self, ack: AckFields) -> Option<Note> {
        self.receiver.notes.take(ack.aux)
    }

    fn keep_note(&mut self, note: Note) -> u32 {
        self.receiver.notes.keep(note)
    }
}
