//! Periodic loss: every n-th packet.

use super::{APPLIES_TO, AT, Losses};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "periodic",
    summary: help("Every n-th packet is lost."),
    references: &["Mathis, Semke, Mahdavi, Ott 1997, section 2 (periodic loss)"],
    params: &[
        Param::required("every", Kind::Count, "Distance between lost packets.").at_least("1"),
        Param::optional(
            "first",
            Kind::Count,
            "every",
            "The first lost packet, counted from 1; the period itself if not given.",
        )
        .at_least("1"),
        AT,
        APPLIES_TO,
    ],
    ..Entry::BLANK
};

/// Period and packets to go.
#[derive(Debug, Clone)]
pub(super) struct Periodic {
    every: u64,
    left: u64,
}

impl Periodic {
    pub(super) fn new(chosen: &Chosen, _context: Context<'_>) -> Self {
        let every = chosen.int("every");
        Self { every, left: chosen.optional_int("first").unwrap_or(every) }
    }
}

impl Losses for Periodic {
    fn loses(&mut self, _packet: &Packet) -> bool {
        self.left -= 1;
        let lost = self.left == 0;
        if lost {
            self.left = self.every;
        }
        lost
    }

    fn passes_by(&mut self, packet: &Packet) {
        self.loses(packet);
    }
}
