//! Tahoe: fast retransmit, then slow start.
//!
//! Source: Jacobson, "Congestion avoidance and control", SIGCOMM 1988; Fall and Floyd, "Simulation-based
//! comparisons of Tahoe, Reno and SACK TCP", 1996, section 2. The third duplicate ACK sends the segment
//! again and sets the window to one segment, like a timeout.

use super::interface::{Cut, LossRecovery, State, Verdict, collapse};
use super::options::{
    COUNT_AFTER_TIMEOUT, GO_BACK_N, GUARD, LIMITED_TRANSMIT, REPEAT, THRESHOLD, Trigger,
};
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "tahoe",
    summary: help("Fast retransmit, then slow start from one segment."),
    references: &["Jacobson 1988", "Fall and Floyd 1996 section 2"],
    params: &[GO_BACK_N, THRESHOLD, GUARD, REPEAT, LIMITED_TRANSMIT, COUNT_AFTER_TIMEOUT],
    label: "Tahoe",
    ..Entry::BLANK
};

/// Rules.
#[derive(Debug, Clone)]
pub struct Tahoe {
    go_back: bool,
    counts_on: bool,
    trigger: Trigger,
}

impl Tahoe {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            counts_on: chosen.word("count_after_timeout") == "on",
            trigger: Trigger::new(chosen),
        }
    }
}

impl LossRecovery for Tahoe {
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
        if !self.trigger.fires(state) {
            let extra_segments = self.trigger.extra_segments(state);
            return Verdict { extra_segments, ..Verdict::default() };
        }
        let duplicates = state.duplicates;
        collapse(state, self.go_back, cut);
        // Later duplicates of the same ACK are counted on.
        state.duplicates = duplicates;
        Verdict { resend: true, ..Verdict::default() }
    }

    #[inline]
    fn on_new_ack(&mut self, _state: &mut State, _acked: u64) -> Verdict {
        Verdict { may_grow: true, ..Verdict::default() }
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        let duplicates = state.duplicates;
        collapse(state, self.go_back, cut);
        if self.counts_on {
            state.duplicates = duplicates;
        }
    }
}
