//! No handshake: a flow starts established.
//!
//! Source: none; what simulators do that leave connections out, as those of Caltech and Bene.

use super::{Answer, Message, Rules};
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "none",
    summary: help("A flow starts established."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};

/// Nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct None;

impl None {
    pub(super) fn new(_chosen: &Chosen) -> Self {
        Self
    }
}

impl Rules for None {
    fn happens(&self) -> bool {
        false
    }

    fn bytes(&self, _message: Message) -> u16 {
        0
    }

    fn answer(&self, _message: Message) -> Answer {
        Answer::Silence
    }

    fn loss_counts(&self) -> bool {
        false
    }
}
