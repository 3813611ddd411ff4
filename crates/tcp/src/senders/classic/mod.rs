//! The classic family: byte sequence numbers, cumulative ACKs.

mod ends;
mod entry;
pub mod recovery;
pub mod rtt_history;
pub mod rules;
pub mod send_times;
pub mod sender;
pub mod setup;
pub mod timer_rules;

pub use ends::Classic;
pub use entry::ENTRY;
pub use recovery::Recovery;
pub use rules::SenderRules;
pub use sender::Sender;
pub use setup::Setup;
pub use timer_rules::{Restart, TimerRules};

use crate::cc::Extras;
use crate::ends::Numbering;

/// What sequence numbers count.
pub const NUMBERING: Numbering = Numbering::Bytes;

/// What it gives congestion controls beyond what all families give.
pub const GIVES: Extras = Extras::NONE;

/// Whether its senders write down what sets their window, and report their state.
pub const KEEPS_JOURNAL: bool = false;
