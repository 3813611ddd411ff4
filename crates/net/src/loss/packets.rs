//! Chosen packets of a link are lost: the third, the seventeenth.

use super::{APPLIES_TO, AT, Losses};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "packets",
    summary: help("Chosen packets are lost, by their place in the order of arrival at the link."),
    references: &[],
    params: &[
        Param::required(
            "numbers",
            Kind::CountList,
            "The lost packets, counted from 1; packets dropped by the queue count as well.",
        )
        .at_least("1"),
        AT,
        APPLIES_TO,
    ],
    ..Entry::BLANK
};

/// The numbers in ascending order, and how many packets have come.
#[derive(Debug, Clone)]
pub(super) struct Packets {
    numbers: Vec<u64>,
    seen: u64,
}

impl Packets {
    pub(super) fn new(chosen: &Chosen, _context: Context<'_>) -> Self {
        let mut numbers = chosen.list("numbers").to_vec();
        numbers.sort_unstable();
        Self { numbers, seen: 0 }
    }
}

impl Losses for Packets {
    fn loses(&mut self, _packet: &Packet) -> bool {
        self.seen += 1;
        self.numbers.binary_search(&self.seen).is_ok()
    }

    fn passes_by(&mut self, packet: &Packet) {
        self.loses(packet);
    }
}
