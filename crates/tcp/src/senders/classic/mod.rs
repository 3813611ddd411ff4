//! The classic family: byte sequence numbers, cumulative ACKs.

pub mod recovery;
pub mod rtt_history;
pub mod rules;
pub mod send_times;
pub mod sender;
pub mod setup;
pub mod timer_rules;

pub use recovery::Recovery;
pub use rules::SenderRules;
pub use sender::Sender;
pub use setup::Setup;
pub use timer_rules::{Restart, TimerRules};
