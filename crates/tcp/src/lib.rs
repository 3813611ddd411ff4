//! Senders, receivers, congestion control, loss recovery and retransmission timers, without I/O.
//!
//! Everything here is called with the present time and answers what to send and when to be called
//! again. Invariant: nothing here knows the event queue, links or files.
//!
//! Four axes are independent: how the window grows ([`cc`]), how losses are found and repaired
//! ([`recovery`]), how long the sender waits before it gives a packet up ([`rto`]), and what passes before the
//! data ([`handshake`]).

pub mod arrivals;
pub mod cc;
pub mod classic;
pub mod connection;
pub mod data;
pub mod handshake;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod rules;
pub mod send_log;
pub mod sender;
pub mod sent_list;
pub mod setup;
pub mod stats;
pub mod timer;

pub use arrivals::{Arrivals, View};
pub use classic::ClassicSender;
pub use connection::{AckFields, Classic, Connection, Reply, Selective};
pub use data::Data;
pub use handshake::{Handshake, Message};
pub use receiver::Receiver;
pub use rules::SenderRules;
pub use sender::{Ack, Cause, Segment, SelectiveRepeat, Setup};
pub use setup::ClassicSetup;
pub use stats::SenderStats;
pub use timer::{Restart, TimerRules};
