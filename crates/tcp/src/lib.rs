//! Senders, receivers, congestion control, loss recovery and retransmission timers, without I/O.
//!
//! Everything here is called with the present time and answers what to send and when to be called
//! again. Invariant: nothing here knows the event queue, links or files.
//!
//! What all families of senders share is here: how the window grows ([`cc`]), how long a sender waits before
//! it gives a packet up ([`rto`]), what passes before the data ([`handshake`]), and the [`receiver`]. How data are
//! numbered, and how losses are found and repaired, is a matter of the family ([`senders`]).

pub mod cc;
pub mod connection;
pub mod data;
pub mod ends;
pub mod handshake;
pub mod journal;
mod ranges;
pub mod receiver;
pub mod rto;
pub mod sack;
pub mod segment;
pub mod senders;
pub mod stats;

pub use connection::Connection;
pub use data::Data;
pub use ends::{Ack, AckFields, Answers, Ends, Numbering, Reply, Word};
pub use handshake::{Handshake, Message};
pub use journal::Journal;
pub use receiver::Receiver;
pub use sack::Note;
pub use segment::{Cause, Flags, Segment};
pub use senders::{Common, classic, modern, selective};
pub use stats::SenderStats;
