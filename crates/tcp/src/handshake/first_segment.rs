//! A first segment without payload takes the place of the handshake.
//!
//! Source: ns-2.35, one-way TCP agents with `syn_` and `delay_growth_` (tcp/tcp.cc): packet 0 is as long as
//! the headers, and its ACK is like any other. The window is one segment until then; afterwards it is
//! the initial window, or one segment if packet 0 was lost (`bugfix_ss_`, RFC 5681 section 3.1). Packet 0 is
//! timed and sent again like data.

use super::{Answer, Message, Rules};
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "first-segment",
    summary: help("A first segment without payload and its ACK; the data follow."),
    references: &["ns-2.35, one-way TCP agents (`syn_`)", "RFC 5681 section 3.1"],
    params: &[Param::new("size", Kind::Size, "40 B", "The first segment on the wire.")
        .at_least("1 B")
        .at_most("65535 B")],
    ..Entry::BLANK
};

/// Length of the first segment.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstSegment {
    bytes: u16,
}

impl FirstSegment {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self { bytes: chosen.int("size_bytes") as u16 }
    }
}

impl Rules for FirstSegment {
    fn happens(&self) -> bool {
        true
    }

    fn bytes(&self, _message: Message) -> u16 {
        self.bytes
    }

    fn answer(&self, message: Message) -> Answer {
        debug_assert!(message == Message::Syn);
        Answer::PlainAck
    }

    fn loss_counts(&self) -> bool {
        true
    }
}
