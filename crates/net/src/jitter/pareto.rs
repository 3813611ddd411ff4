//! Pareto jitter: most packets are hardly late, a few very much.
//!
//! DEVIATION: the table of netem called `pareto` is shifted so that its mean is that of the delay; here all of the
//! law, which has no negative values, comes on top.

use super::{Delays, REORDER};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "pareto",
    summary: help("A Pareto distributed time on top of the delay of the link: a few packets are very late."),
    references: &["tc-netem(8)"],
    params: &[
        Param::required("mean", Kind::Time, "Mean of the added delay.").at_most("1 d"),
        Param::new(
            "shape",
            Kind::Real,
            "3",
            "Shape; at most 2: infinite variance. The minimum added delay is mean (shape - 1) / shape.",
        )
        .at_least("1.01")
        .at_most("100"),
        REORDER,
    ],
    ..Entry::BLANK
};

/// The least value in ns, the shape, and the random stream.
#[derive(Debug, Clone)]
pub(super) struct Pareto(f64, f64, Stream);

impl Pareto {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        let shape = chosen.real("shape");
        Self(chosen.int("mean_ns") as f64 * (shape - 1.0) / shape, shape, context.stream)
    }
}

impl Delays for Pareto {
    fn extra_ns(&mut self, _packet: &Packet) -> f64 {
        self.0 * self.2.pareto(self.1)
    }
}
