//! Senders, receivers, congestion control, loss recovery and retransmission timers, without I/O.
//!
//! Everything here is called with the present time and answers what to send and when to be called
//! again. Invariant: nothing here knows the event queue, links or files.
//!
//! Four axes are independent: how the window grows ([`cc`]), how losses are found and repaired
//! ([`recovery`]), how long the sender waits before it gives a packet up ([`rto`]), and what passes before the
//! data ([`handshake`]).

pub mod cc;
pub mod connection;
pub mod data;
pub mod handshake;
pub mod receiver;
pub mod rto;
pub mod segment;
pub mod senders;
pub mod stats;

pub use connection::{AckFields, Classic, Connection, Reply, Selective};
pub use data::Data;
pub use handshake::{Handshake, Message};
pub use receiver::Receiver;
pub use segment::{Cause, Segment};
pub use senders::{classic, selective};
pub use stats::SenderStats;
