//! The two ends of a reliable flow, of whatever family: what the network calls.
//!
//! A packet carries two numbers of 32 bits for the transport; each family settles what they mean.

use crate::cc::Window;
use crate::handshake::Message;
use crate::journal::Journal;
use crate::sack::Note;
use crate::segment::{Flags, Segment};
use crate::senders::modern::Info;
use crate::stats::SenderStats;
use ackclock_units::Time;

/// What an ACK carries.
///
/// `aux` has room for what only some ACKs say: 0 for nothing, else 1 and the number of a note that is kept at the
/// connection until the ACK arrives or is dropped: see [`crate::sack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFields {
    /// Selective repeat: packet that caused it. Classic: next byte expected, low 32 bits.
    pub seq: u32,
    /// Selective repeat: number of the arrival. Classic: zero. Modern: a note.
    pub aux: u32,
    /// When the packet was sent that caused it.
    pub stamp: Time,
}

/// An ACK to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// What it carries.
    pub fields: AckFields,
    /// It echoes a mark (ECE).
    pub ece: bool,
}

/// What an end sends after a message of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// An ordinary ACK.
    Ack(Ack),
    /// A message of this many bytes; with it goes the sending time of the one that it answers.
    Message(Message, u16, Time),
}

/// The 64-bit number nearest to `near` whose low 32 bits are `low`.
#[inline]
pub(crate) fn extend(low: u32, near: u64) -> u64 {
    let offset = low.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(i64::from(offset))
}

/// What sequence numbers of a family count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// Bytes, as in TCP.
    Bytes,
    /// Whole packets.
    Packets,
}

impl Numbering {
    /// The word of the numeric model.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Packets => "packets",
        }
    }
}

/// What a sender lets its receiver know without a packet, as programs on two hosts would not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Word {
    /// Bytes of data in all, once that is known.
    pub total: Option<u64>,
    /// The round-trip time that the handshake has measured.
    pub rtt: Option<Time>,
}

/// What the answers of a receiver follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// From what arrives, each at once.
    AtOnce,
    /// From what arrives, and from a timer of its own.
    InTime,
    /// Also from what its sender and its application do meanwhile.
    Entangled,
}

/// The two ends of a reliable flow.
pub trait Ends {
    /// A data packet reaches the receiver (classic: `seq` is its first byte, low 32 bits); the ACK to send at once, if any.
    fn on_data(
        &mut self,
        now: Time,
        seq: u32,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<Ack>;

    /// An ACK reaches the sender, with the echo of a mark or without; the round-trip time that it measured, if
    /// any.
    fn on_ack(&mut self, now: Time, ack: AckFields, ece: bool) -> Option<Time>;

    /// A message of the handshake reaches the receiver; what to send at once, if anything.
    fn on_message(&mut self, _now: Time, _message: Message, _stamp: Time) -> Option<Reply> {
        unreachable!("this family of senders has no handshake")
    }

    /// The receiver's message of the handshake reaches the sender; the round-trip time that it measured,
    /// if any.
    fn on_answer(&mut self, _now: Time, _stamp: Time) -> Option<Time> {
        unreachable!("this family of senders has no handshake")
    }

    /// Starts the flow.
    fn start(&mut self, now: Time);

    /// The application writes; `last` if it will write nothing more.
    fn write(&mut self, now: Time, bytes: u64, last: bool);

    /// What a segment uses at the receiver will be read soon. Families that lie where the flow lies have nothing to prefetch.
    #[inline(always)]
    fn prefetch_receiver(&self) {}

    /// What an ACK uses at the sender will be read soon.
    #[inline(always)]
    fn prefetch_sender(&self) {}

    /// When to call [`Ends::on_timer`].
    fn next_timer(&self) -> Time;

    /// A time that was asked for has come; an ACK that the receiver owes, if any.
    fn on_timer(&mut self, now: Time) -> Option<Ack>;

    /// What the receiver's answers follow from; asked before the start.
    fn answers(&self) -> Answers {
        Answers::Entangled
    }

    /// When the receiver's own timer expires, where its answers follow from one.
    fn receiver_timer(&self) -> Time {
        Time::NEVER
    }

    /// It expires: the ACK that the receiver owes, if any.
    fn on_receiver_timer(&mut self, _now: Time) -> Option<Ack> {
        None
    }

    /// The next segment to send at this moment, if any.
    fn poll_transmit(&mut self, now: Time) -> Option<Segment>;

    /// The window.
    fn window(&self) -> &Window;

    /// The window that is reported, without the inflation of a recovery; at least a segment.
    fn reported_cwnd(&self) -> f64;

    /// An ACK was dropped on its way: what it carried beyond its numbers is free.
    fn on_ack_dropped(&mut self, _ack: AckFields) {}

    /// An ACK was duplicated on its way: the fields of the copy.
    fn duplicate_ack(&mut self, ack: AckFields) -> AckFields {
        ack
    }

    /// The sender has all its ACKs.
    fn finish(&mut self, now: Time);

    /// Whether the flow is in fast recovery.
    fn in_recovery(&self) -> bool;

    /// Whether the sender has all its ACKs.
    fn is_finished(&self) -> bool;

    /// Whether there are data that were never sent, or will be: the sender cannot have all its ACKs before they have made
    /// a round trip.
    fn has_unsent(&self) -> bool;

    /// Whether the receiver has everything in order.
    fn is_delivered(&self) -> bool;

    /// Payload bytes that have arrived in order.
    fn bytes_delivered(&self) -> u64;

    /// Payload bytes of a full segment.
    fn segment_bytes(&self) -> u16;

    /// What the sender counted.
    fn stats(&self) -> &SenderStats;

    /// The same, to set a mark.
    fn stats_mut(&mut self) -> &mut SenderStats;

    /// Data segments that reached the receiver without bringing anything new.
    fn duplicates(&self) -> u64;

    /// Of these, those that the sender had sent before.
    fn spurious(&self) -> u64;

    /// New segments that reached the receiver after one with a higher number.
    fn reordered(&self) -> u64;

    /// Number of window reductions by ECN.
    fn ecn_reductions(&self) -> u64 {
        0
    }

    /// Packets to send in all; none without end.
    fn packets(&self) -> Option<u64>;

    /// The present wait of the retransmission timer and when it expires, where the sender has one
    /// timer.
    fn rto(&self) -> Option<(Time, Time)> {
        None
    }

    /// From now on the sender is recorded; called before the start.
    fn watch(&mut self) {}

    /// What a sender that is recorded has written down, where it does so.
    fn journal(&mut self) -> Option<&mut Journal> {
        None
    }

    /// The state of the sender, where it can say it.
    fn info(&self) -> Option<Info> {
        None
    }

    /// What an ACK on its way carries beyond its number.
    fn note(&self, _ack: AckFields) -> Option<&Note> {
        None
    }

    /// Whether all that one end learns of the other comes with packets, or with [`Ends::word`]. Then the ends can be in
    /// two copies of a connection, of which each uses its half. `finite` if the data have an end.
    fn can_part(&self, _finite: bool) -> bool {
        false
    }

    /// What the sender lets its receiver know without a packet; does not change while the flow has nothing to say.
    fn word(&self) -> Word {
        Word::default()
    }

    /// The receiver gets the sender's word, before any packet that left later.
    fn on_word(&mut self, _word: Word) {}

    /// An ACK goes on to another copy of the connection: its note, if it carries one, is not kept here any longer.
    fn take_note(&mut self, _ack: AckFields) -> Option<Note> {
        None
    }

    /// An ACK comes from another copy of the connection with a note: what it carries here.
    fn keep_note(&mut self, _note: Note) -> u32 {
        unreachable!("this family of senders has no notes")
    }
}

/// What of [`Ends`] is the sender's alone, and called the same there.
macro_rules! of_sender {
    () => {
        fn start(&mut self, now: Time) {
            self.sender.start(now);
        }

        #[inline]
        fn window(&self) -> &Window {
            self.sender.window()
        }

        #[inline]
        fn reported_cwnd(&self) -> f64 {
            self.sender.reported_cwnd()
        }

        fn finish(&mut self, now: Time) {
            self.sender.finish(now);
        }

        fn in_recovery(&self) -> bool {
            self.sender.in_recovery()
        }

        fn has_unsent(&self) -> bool {
            self.sender.has_unsent()
        }

        #[inline]
        fn is_finished(&self) -> bool {
            self.sender.is_finished()
        }

        fn segment_bytes(&self) -> u16 {
            self.sender.segment_bytes()
        }

        fn stats(&self) -> &SenderStats {
            self.sender.stats()
        }

        fn stats_mut(&mut self) -> &mut SenderStats {
            self.sender.stats_mut()
        }
    };
}
pub(crate) use of_sender;

/// What ends have in common that send bytes: a `sender`, and a `receiver` with a timer of its own.
macro_rules! of_bytes {
    () => {
        fn write(&mut self, now: Time, bytes: u64, last: bool) {
            self.sender.write(now, bytes, last);
            self.receiver.expect(self.sender.bytes());
        }

        fn on_timer(&mut self, now: Time) -> Option<Ack> {
            if self.sender.next_timer() <= now {
                self.sender.on_timer(now);
            }
            self.on_receiver_timer(now)
        }

        #[inline]
        fn receiver_timer(&self) -> Time {
            self.receiver.next_timer()
        }

        #[inline]
        fn is_delivered(&self) -> bool {
            self.receiver.is_complete()
        }

        fn duplicates(&self) -> u64 {
            self.receiver.duplicates
        }

        fn spurious(&self) -> u64 {
            self.receiver.spurious.into()
        }

        fn reordered(&self) -> u64 {
            self.receiver.reordered.into()
        }

        fn ecn_reductions(&self) -> u64 {
            self.sender.ecn_reductions()
        }

        fn packets(&self) -> Option<u64> {
            self.sender.bytes().map(|bytes| bytes.div_ceil(u64::from(self.sender.segment_bytes())))
        }
    };
}
pub(crate) use of_bytes;

#[cfg(test)]
mod tests {
    use super::extend;

    #[test]
    fn sequence_numbers_wrap() {
        let near = (1 << 32) - 10;
        assert_eq!(extend(5, near), (1 << 32) + 5);
        assert_eq!(extend((near - 100) as u32, near), near - 100);
        assert_eq!(extend(7, 0), 7);
        assert_eq!(extend(0xFFFF_FFF0, 1 << 33), (1 << 33) - 16);
    }
}
