//! Uniform jitter: up to a spread less or more than the delay of the link.

use super::{Delays, REORDER};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "uniform",
    summary: help("Delays uniformly distributed around the delay of the link."),
    references: &["tc-netem(8)"],
    params: &[
        Param::required("spread", Kind::Time, "Maximum deviation from the delay of the link.")
            .at_most("1 d"),
        REORDER,
    ],
    ..Entry::BLANK
};

/// The spread in ns, and the random stream.
#[derive(Debug, Clone)]
pub(super) struct Uniform(f64, Stream);

impl Uniform {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self(chosen.int("spread_ns") as f64, context.stream)
    }
}

impl Delays for Uniform {
    fn extra_ns(&mut self, _packet: &Packet) -> f64 {
        self.0 * (2.0 * self.1.uniform() - 1.0)
    }
}
