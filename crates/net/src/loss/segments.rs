//! Chosen segments of flows are lost, on a chosen transmission.
//!
//! Source: the forced drops of the congestion-control labs of Bene (BYU CS 460, 2017), after Fall and
//! Floyd 1996.

use super::{AT, Losses};
use crate::packet::{Kind as PacketKind, Packet};
use crate::script::Context;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use std::collections::BTreeMap;

pub(super) static ENTRY: Entry = Entry {
    name: "segments",
    summary: help(
        "Chosen segments are lost, by their sequence number, on one of their transmissions.",
    ),
    references: &["Fall and Floyd 1996", "BYU CS 460 2017, lab on congestion control"],
    params: &[
        Param::required(
            "numbers",
            Kind::CountList,
            "Sequence numbers, from 0: the first byte with the classic sender, the packet with selective repeat.",
        ),
        Param::new(
            "transmission",
            Kind::Count,
            "1",
            "Which transmission of them is lost, of those that reach the link, counted from 1.",
        )
        .at_least("1"),
        AT,
    ],
    ..Entry::BLANK
};

/// The numbers in ascending order, and how often each was seen, by flow and number.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    numbers: Vec<u64>,
    transmission: u64,
    seen: BTreeMap<(u32, u32), u64>,
}

impl Segments {
    pub(super) fn new(chosen: &Chosen, _context: Context<'_>) -> Self {
        let mut numbers = chosen.list("numbers").to_vec();
        numbers.sort_unstable();
        Self { numbers, transmission: chosen.int("transmission"), seen: BTreeMap::new() }
    }
}

impl Losses for Segments {
    fn loses(&mut self, packet: &Packet) -> bool {
        let chosen = packet.kind() == PacketKind::Data
            && self.numbers.binary_search(&u64::from(packet.seq)).is_ok();
        if !chosen {
            return false;
        }
        let seen = self.seen.entry((packet.flow(), packet.seq)).or_default();
        *seen += 1;
        *seen == self.transmission
    }

    fn passes_by(&mut self, packet: &Packet) {
        self.loses(packet);
    }
}
