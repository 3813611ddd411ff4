//! Bernoulli loss: each packet is lost with the same probability, whatever became of the others.

use super::{APPLIES_TO, AT, Losses};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "bernoulli",
    summary: help("Each packet is lost with the same probability, independently."),
    references: &[],
    params: &[
        Param::required("p", Kind::Real, "Probability of loss.").at_least("0").at_most("1"),
        AT,
        APPLIES_TO,
    ],
    ..Entry::BLANK
};

/// Probability and random stream.
#[derive(Debug, Clone)]
pub(super) struct Bernoulli {
    p: f64,
    stream: Stream,
}

impl Bernoulli {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self { p: chosen.real("p"), stream: context.stream }
    }
}

impl Losses for Bernoulli {
    fn loses(&mut self, _packet: &Packet) -> bool {
        self.stream.uniform() < self.p
    }
}
