//! Senders, receivers, congestion control, loss recovery and retransmission timers, without I/O.
//!
//! Everything here is called with the present time and answers what to send and when to be called
//! again. Invariant: nothing here knows the event queue, links or files.
//!
//! Three axes are independent: how the window grows ([`cc`]), how losses are found and repaired
//! ([`recovery`]), and how long the sender waits before it gives a packet up ([`rto`]).

pub mod arrivals;
pub mod cc;
pub mod classic;
pub mod connection;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod send_log;
pub mod sender;
pub mod stats;

pub use arrivals::{Arrivals, View};
pub use classic::{ClassicSender, ClassicSetup, Restart};
pub use connection::{AckFields, Connection};
pub use receiver::Receiver;
pub use sender::{Ack, Cause, Segment, SelectiveRepeat, Setup};
pub use stats::SenderStats;
