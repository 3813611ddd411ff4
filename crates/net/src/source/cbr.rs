//! Constant rate: one write after the other at equal distances.
//!
//! Source: the same as Application/Traffic/CBR of ns-2 (The ns Manual, chapter on applications): the first
//! write comes at once. Its `random_ 1` is `jitter: 0.5`, and keeps flows from marching in step (Floyd,
//! Jacobson 1992).

use super::pace::Pace;
use super::{RATE, Streams, WRITE, Writes};
use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "cbr",
    summary: help("Writes of one size at a constant rate, starting immediately."),
    references: &[
        "The ns Manual, chapter on applications (Application/Traffic/CBR)",
        "Floyd, Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, 1992 (jitter)",
    ],
    params: &[
        RATE,
        WRITE,
        Param::new(
            "jitter",
            Kind::Real,
            "0",
            "Relative jitter: each interval is drawn uniformly within this fraction around the exact one; 0.5 is ns-2's `random_`.",
        )
        .at_least("0")
        .at_most("1"),
    ],
    ..Entry::BLANK
};

/// Rate and size.
#[derive(Debug, Clone)]
pub struct Cbr {
    pace: Pace,
    jitter: Option<Box<(f64, Stream)>>,
}

impl Cbr {
    pub(super) fn new(chosen: &Chosen, streams: Streams<'_>) -> Self {
        let jitter = chosen.real("jitter");
        let jitter = (jitter > 0.0).then(|| Box::new((jitter, streams("jitter"))));
        Self { pace: Pace::new(chosen), jitter }
    }

    #[cold]
    fn jittered(&mut self, gap: Time) -> Time {
        let Some(jitter) = &mut self.jitter else { return gap };
        let (share, stream) = &mut **jitter;
        let factor = 1.0 + *share * (2.0 * stream.uniform() - 1.0);
        Time::from_ns((gap.as_ns() as f64 * factor) as u64)
    }
}

impl Writes for Cbr {
    #[inline]
    fn write(&mut self, now: Time) -> (u32, Time) {
        let gap = self.pace.next();
        let gap = if self.jitter.is_some() { self.jittered(gap) } else { gap };
        (self.pace.bytes, now + gap)
    }
}
