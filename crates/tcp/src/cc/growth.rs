//! Slow start and additive increase, as several algorithms share them.

use super::{AckEvent, Signal, Window};
use ackclock_units::param::{Choice, Chosen, Kind, Param, Value};

/// Segments that additive increase adds per round trip.
pub(super) const INCREASE: Param =
    Param::new("increase", Kind::Real, "1", "Segments added per round trip after slow start.")
        .at_least("0")
        .at_most("1000");

/// How ACKs are counted.
pub(super) const COUNTING: Param = Param::new(
    "counting",
    Kind::Choice(&[
        Choice::new(
            "capped-bytes",
            "newly acknowledged bytes, at most one segment per ACK (RFC 5681 3.1)",
        ),
        Choice::new(
            "bytes",
            "all newly acknowledged bytes, also after slow start (RFC 3465 without its limit; Linux, the 2015 Bene lab)",
        ),
        Choice::new("acks", "each ACK counts as one segment, as in ns-2"),
    ]),
    "capped-bytes",
    "How much an ACK counts for window growth.",
);

/// Whether the window is kept in whole segments.
pub(super) const WHOLE: Param = Param::new(
    "whole_segments",
    Kind::Flag,
    "false",
    "Whether the window changes by whole segments, with the remainder accumulated (2017 Bene lab).",
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

/// What a mark leaves, where that differs from a loss.
pub(super) const ECN_DECREASE: Param = Param::optional(
    "ecn_decrease",
    Kind::Real,
    "as-loss",
    "Factor of the window reduction after an ECN mark; `as-loss` to treat marks like losses. \
     RFC 8511 (ABE) uses 0.8 for Reno and suggests 0.85 for CUBIC.",
)
.at_least("0")
.at_most("1");

/// The choice of [`ECN_DECREASE`], in thousand-millionths so that it takes four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EcnDecrease(u32);

impl EcnDecrease {
    const AS_LOSS: Self = Self(u32::MAX);

    pub(super) fn new(chosen: &Chosen) -> Self {
        match chosen.find("ecn_decrease") {
            None | Some(Value::Null) => Self::AS_LOSS,
            Some(_) => Self((chosen.real("ecn_decrease") * 1e9).round() as u32),
        }
    }

    pub(super) fn is_own(self) -> bool {
        self != Self::AS_LOSS
    }

    /// What of a window is left after this signal, if a loss leaves `after_loss` of it.
    pub(super) fn left(self, signal: Signal, after_loss: f64) -> f64 {
        if signal == Signal::Ecn && self.is_own() { f64::from(self.0) / 1e9 } else { after_loss }
    }
}

/// Segments that were acknowledged and have not made the window grow yet, in arithmetic of whole segments
/// (Linux, `tcp_slow_start`, `tcp_cong_avoid_ai` and its `snd_cwnd_cnt`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Credit(u32);

impl Credit {
    /// Slow start, up to the threshold; the segments that are left over.
    #[inline]
    pub(super) fn slow_start(window: &mut Window, acked: u32) -> u32 {
        let before = window.cwnd;
        window.cwnd = (before + f64::from(acked)).min(window.ssthresh);
        acked - (window.cwnd - before) as u32
    }

    /// A segment more for each `every` segments acknowledged.
    #[inline]
    pub(super) fn grow(&mut self, window: &mut Window, every: u32, acked: u32) {
        // What was saved for a slower growth counts for one segment at most.
        if self.0 >= every {
            self.0 = 0;
            window.cwnd += 1.0;
        }
        self.0 += acked;
        if self.0 >= every {
            window.cwnd += f64::from(self.0 / every);
            self.0 %= every;
        }
    }

    /// The window is cut.
    pub(super) fn forget(&mut self) {
        self.0 = 0;
    }
}

/// Slow start where all that is acknowledged counts, up to the threshold; what is left of it for congestion
/// avoidance, in segments. Nothing if the window may not grow.
#[inline]
pub(super) fn climb(window: &mut Window, ack: &AckEvent) -> f64 {
    if !ack.may_grow {
        return 0.0;
    }
    let mut counted = ack.newly_acked;
    if window.in_slow_start() {
        let step = counted.min(window.ssthresh - window.cwnd);
        window.cwnd += step;
        counted -= step;
    }
    counted / window.segment
}

/// Congestion avoidance by so many segments for each window of data, of which these segments are a part.
#[inline]
pub(super) fn add(window: &mut Window, increase: f64, acked: f64) {
    window.cwnd += window.segment * window.segment * increase * acked / window.cwnd;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_come_when_as_many_are_acknowledged() {
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0, segment: 1.0 };
        let mut credit = Credit::default();
        for _ in 0..4 {
            credit.grow(&mut window, 10, 2);
        }
        assert_eq!((window.cwnd, credit), (10.0, Credit(8)));
        // An ACK of many segments brings several; the rest stays.
        credit.grow(&mut window, 10, 15);
        assert_eq!((window.cwnd, credit), (12.0, Credit(3)));
        // What was saved for a slower growth makes one segment, not three.
        credit = Credit(9);
        credit.grow(&mut window, 3, 1);
        assert_eq!((window.cwnd, credit), (13.0, Credit(1)));
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_gives_back_the_rest() {
        let mut window = Window { cwnd: 9.0, ssthresh: 11.0, segment: 1.0 };
        assert_eq!((Credit::slow_start(&mut window, 5), window.cwnd), (3, 11.0));
        window.ssthresh = f64::INFINITY;
        assert_eq!((Credit::slow_start(&mut window, 5), window.cwnd), (0, 16.0));
    }
}
