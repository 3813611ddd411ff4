//! Handshakes: what passes between the two ends before the first byte of data.
//!
//! A handshake is a list of rules; the classic sender carries them out. It sends [`Message::Syn`], keeps its
//! data back, sends the message again when the timer expires, and is established when the receiver's
//! answer comes. To add one: a new file with an [`Entry`](ackclock_units::param::Entry) and a type that implements [`Rules`], and one line in
//! [`registry!`] below.

mod first_segment;
mod none;
mod three_way;

use ackclock_units::{Time, registry};

/// A message without data: of a handshake, or the end; the code is what a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// From the sender: asks for a connection.
    Syn = 1,
    /// From the receiver: takes it.
    SynAck = 2,
    /// From the sender: has seen that.
    Ack = 3,
    /// From the sender: the end of its data, after the last of them has left.
    Fin = 4,
    /// From the sender: asks whether the receiver's window has opened (RFC 9293 section 3.8.6.1).
    Probe = 5,
}

impl Message {
    /// The message with this code.
    pub fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Syn,
            2 => Self::SynAck,
            3 => Self::Ack,
            4 => Self::Fin,
            5 => Self::Probe,
            other => unreachable!("no message of a handshake has the code {other}"),
        }
    }
}

/// What the receiver does with a message of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Silence,
    /// An ordinary ACK.
    PlainAck,
    /// Another message.
    Message(Message),
}

/// The rules of a handshake.
pub trait Rules {
    /// Whether there is a handshake at all.
    fn happens(&self) -> bool;

    /// Bytes of a message on the wire.
    fn bytes(&self, message: Message) -> u16;

    /// What the receiver does with a message of the sender.
    fn answer(&self, message: Message) -> Answer;

    /// What the sender sends as soon as it is established, before any data.
    fn confirmation(&self) -> Option<Message> {
        None
    }

    /// How long the sender waits for an answer, before the `tries`-th repetition (from 0); none if its
    /// retransmission timer says that.
    fn wait(&self, _tries: u32) -> Option<Time> {
        None
    }

    /// How often the first message is retransmitted at most; then the flow gives up.
    fn repetitions(&self) -> u32 {
        u32::MAX
    }

    /// Whether the loss of a message is a loss like any other: it cuts the window, and the first window
    /// of data is one segment.
    fn loss_counts(&self) -> bool;
}

registry! {
    /// Any registered handshake.
    #[derive(PartialEq)]
    pub enum Handshake: Rules, a "handshake" {
        None: none as none::None,
        FirstSegment: first_segment as first_segment::FirstSegment,
        ThreeWay: three_way as three_way::ThreeWay,
    }
    fn happens(&self) -> bool;
    fn bytes(&self, message: Message) -> u16;
    fn answer(&self, message: Message) -> Answer;
    fn confirmation(&self) -> Option<Message>;
    fn wait(&self, tries: u32) -> Option<Time>;
    fn repetitions(&self) -> u32;
    fn loss_counts(&self) -> bool;
}
