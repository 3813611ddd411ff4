//! A connection: the two ends of a reliable flow, of any kind of transport.
//!
//! The network carries two numbers of 32 bits in a packet for the transport; what they mean is settled
//! here. Classic sequence numbers are the low 32 bits, as in TCP, and are extended at the ends.

use crate::cc::Window;
use crate::handshake::{Answer, Message, Rules};
use crate::receiver::{AckOut, Receiver};
use crate::segment::Segment;
use crate::senders::selective::{Ack, Arrivals};
use crate::senders::{classic, selective};
use crate::stats::SenderStats;
use ackclock_units::Time;

/// What an ACK carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFields {
    /// Selective repeat: packet that caused it. Classic: next byte expected, low 32 bits.
    pub seq: u32,
    /// Selective repeat: number of the arrival.
    pub aux: u32,
    /// When the packet was sent that caused it.
    pub stamp: Time,
}

/// What an end sends after a message of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// An ordinary ACK.
    Ack(AckFields),
    /// A message of so many bytes; with it goes the sending time of the one that it answers.
    Message(Message, u16, Time),
}

/// The two ends of a reliable flow.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "connections live in one array")]
pub enum Connection {
    /// Packets, each acknowledged by itself.
    SelectiveRepeat(Box<Selective>),
    /// Bytes, acknowledged cumulatively.
    Classic(Classic),
}

/// The two ends of a flow of packets, each acknowledged by itself.
#[derive(Debug, Clone)]
pub struct Selective {
    /// Sender.
    pub sender: selective::Sender,
    /// What has arrived at the receiver.
    pub arrivals: Arrivals,
    /// ACKs show the receiver as it is when they arrive.
    pub live_view: bool,
    /// Duplicates are acknowledged.
    pub acks_duplicates: bool,
}

/// The two ends of a flow of bytes, acknowledged cumulatively.
///
/// In memory the receiver comes first: what a segment touches there lies together, and so does what an ACK
/// touches at the sender.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Classic {
    receiver: Receiver,
    sender: classic::Sender,
}

const _: () = assert!(std::mem::offset_of!(Classic, sender) == 96);
// No tag comes before the ends.
const _: () = assert!(size_of::<Connection>() == size_of::<Classic>());

impl Classic {
    /// A connection of these two ends.
    pub fn new(sender: classic::Sender, mut receiver: Receiver) -> Self {
        receiver.expect(sender.bytes());
        Self { receiver, sender }
    }
}

/// The 64-bit number nearest to `near` whose low 32 bits are `low`.
#[inline]
fn extend(low: u32, near: u64) -> u64 {
    let offset = low.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(i64::from(offset))
}

impl From<AckOut> for AckFields {
    #[inline]
    fn from(out: AckOut) -> Self {
        Self { seq: out.ack as u32, aux: 0, stamp: out.stamp }
    }
}

impl Connection {
    /// Shares the rules of another connection where they are the same; saves memory, changes nothing else.
    pub fn share_rules(&mut self, other: &Self) {
        if let (Self::Classic(both), Self::Classic(other)) = (self, other) {
            both.sender.share_rules(&other.sender);
        }
    }

    /// A data packet reaches the receiver; the ACK to send at once, if any.
    #[inline]
    pub fn on_data(&mut self, now: Time, seq: u32, payload: u16, stamp: Time) -> Option<AckFields> {
        match self {
            Self::SelectiveRepeat(both) => {
                let Selective { arrivals, acks_duplicates, .. } = &mut **both;
                let new = arrivals.on_data(seq);
                (new || *acks_duplicates).then(|| AckFields { seq, aux: arrivals.count(), stamp })
            }
            Self::Classic(Classic { receiver, .. }) => {
                let seq = extend(seq, receiver.next());
                receiver.on_data(now, seq, payload, stamp).map(AckFields::from)
            }
        }
    }

    /// An ACK reaches the sender; the round-trip time that it measured, if any.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: AckFields) -> Option<Time> {
        match self {
            Self::SelectiveRepeat(both) => {
                let Selective { sender, arrivals, live_view, .. } = &mut **both;
                let number = if *live_view { arrivals.count() } else { ack.aux };
                let view = arrivals.view(number);
                sender.on_ack(now, &Ack { seq: ack.seq, stamp: ack.stamp }, view);
                arrivals.forget_below(sender.base());
                Some(now - ack.stamp)
            }
            Self::Classic(Classic { sender, .. }) => {
                let number = extend(ack.seq, sender.una());
                sender.on_ack(now, number, ack.stamp)
            }
        }
    }

    /// A message of the handshake reaches the receiver; what to send at once, if anything.
    #[cold]
    pub fn on_message(&mut self, message: Message, stamp: Time) -> Option<Reply> {
        let Self::Classic(Classic { sender, receiver }) = self else {
            unreachable!("only the classic sender has a handshake")
        };
        match sender.handshake().answer(message) {
            Answer::Silence => None,
            Answer::PlainAck => Some(Reply::Ack(receiver.on_message(stamp).into())),
            Answer::Message(answer) => {
                Some(Reply::Message(answer, sender.handshake().bytes(answer), stamp))
            }
        }
    }

    /// The receiver's message of the handshake reaches the sender; the round-trip time that it measured,
    /// if any.
    #[cold]
    pub fn on_answer(&mut self, now: Time, stamp: Time) -> Option<Time> {
        let Self::Classic(Classic { sender, .. }) = self else {
            unreachable!("only the classic sender has a handshake")
        };
        sender.establish(now, stamp)
    }

    /// Starts the flow.
    pub fn start(&mut self, now: Time) {
        match self {
            Self::SelectiveRepeat(both) => both.sender.start(now),
            Self::Classic(Classic { sender, .. }) => sender.start(now),
        }
    }

    /// The application writes; `last` if it will write nothing more.
    pub fn write(&mut self, now: Time, bytes: u64, last: bool) {
        match self {
            Self::SelectiveRepeat(both) => both.sender.write(bytes, last),
            Self::Classic(Classic { sender, receiver }) => {
                sender.write(now, bytes, last);
                receiver.expect(sender.bytes());
            }
        }
    }

    /// When to call [`Connection::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Time {
        match self {
            Self::SelectiveRepeat(both) => both.sender.next_timer(),
            Self::Classic(Classic { sender, receiver }) => {
                sender.next_timer().min(receiver.next_timer())
            }
        }
    }

    /// A time that was asked for has come; an ACK that the receiver owes, if any.
    pub fn on_timer(&mut self, now: Time) -> Option<AckFields> {
        match self {
            Self::SelectiveRepeat(both) => {
                both.sender.on_timer(now);
                None
            }
            Self::Classic(Classic { sender, receiver }) => {
                if sender.next_timer() <= now {
                    sender.on_timer(now);
                }
                receiver.on_timer(now).map(AckFields::from)
            }
        }
    }

    /// The next segment to send at this moment, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self {
            Self::SelectiveRepeat(both) => both.sender.poll_transmit(now),
            Self::Classic(Classic { sender, .. }) => sender.poll_transmit(now),
        }
    }

    /// The window.
    #[inline]
    pub fn window(&self) -> &Window {
        match self {
            Self::SelectiveRepeat(both) => both.sender.window(),
            Self::Classic(Classic { sender, .. }) => sender.window(),
        }
    }

    /// Whether the flow is in fast recovery.
    pub fn in_recovery(&self) -> bool {
        match self {
            Self::SelectiveRepeat(both) => both.sender.in_recovery(),
            Self::Classic(Classic { sender, .. }) => sender.in_recovery(),
        }
    }

    /// Whether the sender has all its ACKs.
    #[inline]
    pub fn is_finished(&self) -> bool {
        match self {
            Self::SelectiveRepeat(both) => both.sender.is_finished(),
            Self::Classic(Classic { sender, .. }) => sender.is_finished(),
        }
    }

    /// Whether the receiver has everything in order.
    #[inline]
    pub fn is_delivered(&self) -> bool {
        match self {
            Self::SelectiveRepeat(both) => {
                let Selective { sender, arrivals, .. } = &**both;
                sender.packets() == Some(arrivals.cumulative())
            }
            Self::Classic(both) => both.receiver.is_complete(),
        }
    }

    /// Payload bytes that have arrived in order.
    pub fn bytes_delivered(&self) -> u64 {
        match self {
            Self::SelectiveRepeat(both) => {
                let Selective { sender, arrivals, .. } = &**both;
                let packets = arrivals.cumulative();
                packets.checked_sub(1).map_or(0, |last| {
                    u64::from(last) * u64::from(sender.segment_bytes())
                        + u64::from(sender.payload(last))
                })
            }
            Self::Classic(Classic { receiver, .. }) => receiver.next(),
        }
    }

    /// Payload bytes of a full segment.
    pub fn segment_bytes(&self) -> u16 {
        match self {
            Self::SelectiveRepeat(both) => both.sender.segment_bytes(),
            Self::Classic(Classic { sender, .. }) => sender.segment_bytes(),
        }
    }

    /// What the sender counted.
    pub fn stats(&self) -> &SenderStats {
        match self {
            Self::SelectiveRepeat(both) => both.sender.stats(),
            Self::Classic(Classic { sender, .. }) => sender.stats(),
        }
    }

    /// Segments that reached the receiver without bringing anything new.
    pub fn duplicates(&self) -> u64 {
        match self {
            Self::SelectiveRepeat(both) => both.arrivals.duplicates,
            Self::Classic(Classic { receiver, .. }) => receiver.duplicates,
        }
    }

    /// Segments that reached the receiver ahead of earlier ones, or after later ones.
    pub fn reordered(&self) -> u64 {
        match self {
            Self::SelectiveRepeat(both) => both.arrivals.reordered,
            Self::Classic(Classic { receiver, .. }) => receiver.reordered,
        }
    }

    /// Packets to send in all; none without end.
    pub fn packets(&self) -> Option<u64> {
        match self {
            Self::SelectiveRepeat(both) => both.sender.packets().map(u64::from),
            Self::Classic(Classic { sender, .. }) => {
                sender.bytes().map(|bytes| bytes.div_ceil(u64::from(sender.segment_bytes())))
            }
        }
    }

    /// The present wait of the retransmission timer and when it expires, where the sender has one
    /// timer.
    pub fn rto(&self) -> Option<(Time, Time)> {
        match self {
            Self::SelectiveRepeat(_) => None,
            Self::Classic(Classic { sender, .. }) => Some((sender.rto(), sender.deadline())),
        }
    }
}

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
