//! Slow start and additive increase, as several algorithms share them.

use super::{AckEvent, Window};
use ackclock_units::param::{Choice, Chosen, Kind, Param};

/// Segments that additive increase adds per round trip.
pub(super) const INCREASE: Param =
    Param::new("increase", Kind::Real, "1", "Segments added per round trip after slow start.")
        .at_least("0")
        .at_most("1000");

/// How ACKs are counted.
pub(super) const COUNTING: Param = Param::new(
    "counting",
    Kind::Choice(&[
        Choice::new("capped-bytes", "by new bytes, at most one segment an ACK (RFC 5681 3.1)"),
        Choice::new(
            "bytes",
            "by all new bytes, also after slow start (RFC 3465 without its limit; Linux, the 2015 Bene lab)",
        ),
        Choice::new("acks", "each ACK counts as one segment, as in ns-2"),
    ]),
    "capped-bytes",
    "How much one ACK counts.",
);

/// Whether the window is kept in whole segments.
pub(super) const WHOLE: Param = Param::new(
    "whole_segments",
    Kind::Flag,
    "false",
    "Whether the window grows and shrinks by whole segments, the rest kept apart (2017 Bene lab).",
);

/// The choice of [`COUNTING`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    CappedBytes,
    Bytes,
    Acks,
}

impl Counting {
    pub(super) fn new(chosen: &Chosen) -> Self {
        match chosen.word("counting") {
            "bytes" => Self::Bytes,
            "acks" => Self::Acks,
            _ => Self::CappedBytes,
        }
    }

    /// What an ACK counts, in the window's unit.
    #[inline]
    pub(super) fn of(self, ack: &AckEvent, segment: f64) -> f64 {
        match self {
            Self::CappedBytes => ack.newly_acked.min(segment),
            Self::Bytes => ack.newly_acked,
            Self::Acks => segment,
        }
    }
}

/// Rules, and what is kept apart of the window.
#[derive(Debug, Clone)]
pub(super) struct Growth {
    increase: f64,
    counting: Counting,
    whole: bool,
    rest: f64,
}

impl Growth {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            increase: chosen.real("increase"),
            counting: Counting::new(chosen),
            whole: chosen.flag("whole_segments"),
            rest: 0.0,
        }
    }

    /// Slow start below ssthresh, additive increase above it (RFC 5681 equation 3 for one segment).
    #[inline]
    pub(super) fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let segment = window.segment;
        let counted = self.counting.of(ack, segment);
        if window.in_slow_start() {
            window.cwnd += counted;
            return;
        }
        let step = self.increase * segment * counted / window.cwnd;
        if self.whole {
            self.rest += step;
            if self.rest >= segment {
                self.rest -= segment;
                window.cwnd += segment;
            }
        } else {
            window.cwnd += step;
        }
    }

    /// What a loss leaves of a window: rounded down to whole segments where they are kept.
    pub(super) fn after_loss(&mut self, window: &Window, target: f64) -> f64 {
        self.rest = 0.0;
        if self.whole { (target / window.segment).floor() * window.segment } else { target }
    }
}
