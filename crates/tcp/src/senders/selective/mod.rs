//! The selective-repeat family: numbered packets, ACKs that list what has arrived.

pub mod arrivals;
pub mod recovery;
pub mod sender;

pub use arrivals::{Arrivals, View};
pub use recovery::Recovery;
pub use sender::{Ack, Sender, Setup};
