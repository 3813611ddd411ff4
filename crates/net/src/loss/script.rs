//! Losses by script: chosen packets of flows, by their place in the order in which they come to the link.
//!
//! What the emulators of congestion-control tests do: the n-th data packet, the n-th retransmission, the n-th ACK.

use super::{AT, Losses};
use crate::packet::Packet;
use crate::script::{self, ACKS, Context, DATA, FLOW, RETRANSMISSIONS, Script as Rows};
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "script",
    summary: help(
        "Chosen packets of flows are lost, by their place in the order of arrival at the link.",
    ),
    references: &["Fall and Floyd 1996"],
    params: &[
        Param::required(
            "drop",
            Kind::Rows(&[FLOW, DATA, RETRANSMISSIONS, ACKS]),
            "The lost packets, one row per flow; packets dropped by the queue count as well.",
        ),
        AT,
    ],
    check: Some(|chosen| script::check(chosen, "drop")),
    ..Entry::BLANK
};

/// The script at work.
#[derive(Debug, Clone)]
pub(super) struct Script(Rows<()>);

impl Script {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self(Rows::new(chosen.rows("drop"), &context, |_| ()))
    }
}

impl Losses for Script {
    fn loses(&mut self, packet: &Packet) -> bool {
        self.0.next(packet).next().is_some()
    }

    fn passes_by(&mut self, packet: &Packet) {
        self.loses(packet);
    }
}
