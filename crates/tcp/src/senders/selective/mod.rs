//! The selective-repeat family: numbered packets, ACKs that list what has arrived.

pub mod arrivals;
mod ends;
mod entry;
pub mod recovery;
pub mod sender;

pub use arrivals::{Arrivals, View};
pub use ends::SelectiveRepeat;
pub use entry::ENTRY;
pub use recovery::Recovery;
pub use sender::{Answer, Sender, Setup};

use crate::cc::Extras;
use crate::ends::Numbering;

/// What sequence numbers count.
pub const NUMBERING: Numbering = Numbering::Packets;

/// What it gives congestion controls beyond what all families give.
pub const GIVES: Extras = Extras::NONE;

/// Whether its senders write down what sets their window, and report their state.
pub const KEEPS_JOURNAL: bool = false;
