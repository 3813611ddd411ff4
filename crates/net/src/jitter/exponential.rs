//! Exponential jitter: as if each packet waited somewhere on its way.

use super::{Delays, REORDER};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "exponential",
    summary: help("An exponentially distributed time on top of the delay of the link."),
    references: &[],
    params: &[
        Param::required("mean", Kind::Time, "Mean of the added delay.").at_most("1 d"),
        REORDER,
    ],
    ..Entry::BLANK
};

/// The mean in ns, and the random stream.
#[derive(Debug, Clone)]
pub(super) struct Exponential(f64, Stream);

impl Exponential {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self(chosen.int("mean_ns") as f64, context.stream)
    }
}

impl Delays for Exponential {
    fn extra_ns(&mut self, _packet: &Packet) -> f64 {
        self.0 * self.1.exponential()
    }
}
