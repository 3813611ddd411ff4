//! How duplicate ACKs inflate the window during fast recovery.
//!
//! Source: RFC 5681 section 3.2, steps 2 to 6. There the window itself is ssthresh and a segment for each
//! duplicate. ns-2.35 (tcp/tcp-reno.cc, `dupwnd_`) keeps the duplicates beside a window that is just the half
//! that the congestion control asked for: neither rounded nor at least two segments, as ssthresh is.

use super::interface::{Cut, State};
use ackclock_units::param::{Choice, Chosen, Kind, Param};

/// Where the inflation is kept.
pub(super) const INFLATION: Param = Param::new(
    "inflation",
    Kind::Choice(&[
        Choice::new("window", "the window is ssthresh, and a segment for each duplicate"),
        Choice::new(
            "apart",
            "the window is that of the congestion control, without rounding or minimum; duplicates \
             are counted separately, and the window continues from there (ns-2)",
        ),
    ]),
    "window",
    "How duplicate ACKs inflate the window during recovery.",
);

/// The rule, and the inflation that is kept apart.
#[derive(Debug, Clone)]
pub(super) struct Inflation {
    pub apart: bool,
    /// Segments beyond the window; zero unless they are kept apart.
    pub segments: u64,
}

impl Inflation {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self { apart: chosen.word("inflation") == "apart", segments: 0 }
    }

    /// Enters fast recovery; false if the congestion control does not react to losses.
    pub(super) fn enter(&mut self, state: &mut State, cut: Cut<'_>) -> bool {
        let target = cut(state);
        state.begin_episode();
        let Some(target) = target else { return false };
        state.cut(target);
        if self.apart {
            // Half of the least window that there is.
            state.window.cwnd = target.max(0.5 * state.window.segment);
            self.segments = u64::from(state.duplicates);
        } else {
            let duplicates = f64::from(state.duplicates) * state.window.segment;
            state.window.cwnd = state.window.ssthresh.max(state.window.segment) + duplicates;
        }
        true
    }

    /// The window without the inflation: what it will be when recovery ends.
    pub(super) fn deflated(&self, state: &State) -> f64 {
        if self.apart { state.window.cwnd } else { state.window.cwnd.min(state.window.ssthresh) }
    }

    /// A further duplicate ACK.
    pub(super) fn grow(&mut self, state: &mut State) {
        if self.apart {
            self.segments += 1;
        } else {
            state.window.cwnd += state.window.segment;
        }
    }

    /// A partial ACK takes back what it acknowledges, less a segment.
    pub(super) fn deflate(&mut self, state: &mut State, acked: u64) {
        let segment = state.window.segment;
        if self.apart {
            let acked = acked / state.rules.mss;
            if self.segments > acked {
                self.segments -= acked.saturating_sub(1);
            } else {
                state.window.cwnd -= (acked - self.segments) as f64 * segment;
                self.segments = 1;
            }
        } else {
            let back = if acked >= state.rules.mss { segment } else { 0.0 };
            state.window.cwnd += back - state.in_units(acked);
        }
        state.window.cwnd = state.window.cwnd.max(segment);
    }

    /// Recovery ends: the window is ssthresh, or stays where it is if the inflation is kept apart. `grows`
    /// says that the ACK lets it grow.
    pub(super) fn end(&mut self, state: &mut State, grows: bool) {
        self.segments = 0;
        if !self.apart {
            state.window.cwnd = state.window.ssthresh.max(state.window.segment);
        } else if !grows {
            // Half a segment would let nothing out any more.
            state.window.cwnd = state.window.cwnd.max(state.window.segment);
        }
    }
}
