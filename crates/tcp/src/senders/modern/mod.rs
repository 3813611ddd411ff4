//! The modern family: TCP as deployed today.
//!
//! Source: Linux 6.x, `tcp_input.c`, `tcp_output.c`, `tcp_timer.c`, `tcp_recovery.c`, `tcp_rate.c`, and the standards
//! that they implement: RFC 9293, 2018, 2883, 8985 (RACK-TLP), 6937 (PRR), 5682 (F-RTO), 3522 and 3708 (undo),
//! 3168 (ECN). Windows count whole segments.

mod endpoint;
mod ends;
mod entry;
mod rack;
mod rate;
pub mod receiver;
mod scoreboard;
mod sender;
mod stamps;
mod ticks;

pub use endpoint::{Endpoint, Form, Injected, Packet};
pub use ends::Modern;
pub use entry::ENTRY;
pub use sender::Info;

use crate::cc::Extras;
use crate::ends::Numbering;

/// What sequence numbers count.
pub const NUMBERING: Numbering = Numbering::Bytes;

/// What congestion controls get from it.
pub const GIVES: Extras = Extras::ALL;

/// Whether its senders write down what sets their window, and report their state.
pub const KEEPS_JOURNAL: bool = true;
