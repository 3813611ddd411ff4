//! Normal jitter: a bell around the delay of the link.

use super::{Delays, REORDER};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "normal",
    summary: help("Normally distributed delays around the delay of the link, none below zero."),
    references: &["tc-netem(8)", "Marsaglia, Bray 1964"],
    params: &[
        Param::required("deviation", Kind::Time, "Standard deviation.").at_most("1 d"),
        REORDER,
    ],
    ..Entry::BLANK
};

/// The deviation in ns, and the random stream.
#[derive(Debug, Clone)]
pub(super) struct Normal(f64, Stream);

impl Normal {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self(chosen.int("deviation_ns") as f64, context.stream)
    }
}

impl Delays for Normal {
    fn extra_ns(&mut self, _packet: &Packet) -> f64 {
        self.0 * self.1.normal()
    }
}
