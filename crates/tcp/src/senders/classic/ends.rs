//! The two ends of a flow of bytes, acknowledged cumulatively.
//!
//! Packets carry the low 32 bits of sequence numbers, as in TCP; they are extended at the ends.

use super::{Sender, Setup};
use crate::cc::Window;
use crate::ends::{Ack, AckFields, Answers, Ends, Reply, Word, extend, of_bytes, of_sender};
use crate::handshake::{Answer, Message, Rules};
use crate::receiver::{AckOut, Receiver};
use crate::segment::{Flags, Segment};
use crate::senders::Common;
use crate::stats::SenderStats;
use ackclock_units::Time;
use ackclock_units::param::Chosen;

/// Both ends.
///
/// In memory the receiver comes first: what a segment touches there lies together, and so does what an ACK
/// touches at the sender.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Classic {
    receiver: Receiver,
    sender: Sender,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Classic, sender) == 96);

impl Classic {
    /// The ends that a scenario chose.
    pub fn new(chosen: &Chosen, common: Common) -> Self {
        let receiver = Receiver::new(chosen.inner("receiver"));
        Self::of(Sender::new(Setup::new(chosen, common)), receiver)
    }

    /// A connection of these two ends.
    pub fn of(sender: Sender, mut receiver: Receiver) -> Self {
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
}

impl From<AckOut> for Ack {
    #[inline]
    fn from(out: AckOut) -> Self {
        let fields = AckFields { seq: out.ack as u32, aux: 0, stamp: out.stamp };
        Self { fields, ece: out.ece }
    }
}

impl Ends for Classic {
    of_sender!();
    of_bytes!();

    #[inline(always)]
    fn on_data(
        &mut self,
        now: Time,
        seq: u32,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<Ack> {
        if flags.concern_ecn() {
            self.receiver.on_ecn(flags.has(Flags::MARKED), flags.has(Flags::REDUCED));
        }
        let seq = extend(seq, self.receiver.next());
        self.receiver.on_data(now, seq, payload, stamp, flags).map(Ack::from)
    }

    #[inline(always)]
    fn on_ack(&mut self, now: Time, ack: AckFields, ece: bool) -> Option<Time> {
        let number = extend(ack.seq, self.sender.una());
        self.sender.on_ack(now, number, ack.stamp, ece)
    }

    #[cold]
    fn on_message(&mut self, _now: Time, message: Message, stamp: Time) -> Option<Reply> {
        let handshake = self.sender.handshake();
        match handshake.answer(message) {
            Answer::Silence => None,
            Answer::PlainAck => Some(Reply::Ack(self.receiver.on_message(stamp).into())),
            Answer::Message(answer) => Some(Reply::Message(answer, handshake.bytes(answer), stamp)),
        }
    }

    #[cold]
    fn on_answer(&mut self, now: Time, stamp: Time) -> Option<Time> {
        self.sender.establish(now, stamp)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }

    fn answers(&self) -> Answers {
        if self.receiver.never_waits() { Answers::AtOnce } else { Answers::InTime }
    }

    fn on_receiver_timer(&mut self, now: Time) -> Option<Ack> {
        self.receiver.on_timer(now).map(Ack::from)
    }

    #[inline(always)]
    fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.sender.poll_transmit(now)
    }

    fn bytes_delivered(&self) -> u64 {
        self.receiver.next()
    }

    fn rto(&self) -> Option<(Time, Time)> {
        Some((self.sender.rto(), self.sender.deadline()))
    }

    fn can_part(&self, _finite: bool) -> bool {
        true
    }

    fn word(&self) -> Word {
        Word { total: self.sender.bytes(), rtt: None }
    }

    fn on_word(&mut self, word: Word) {
        self.receiver.expect(word.total);
    }
}
