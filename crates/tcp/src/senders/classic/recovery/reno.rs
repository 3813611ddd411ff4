//! Reno: fast retransmit and fast recovery.
//!
//! Source: RFC 5681 section 3.2. The third duplicate ACK sends the segment again, halves the window and
//! inflates it by the three segments that have left the network; each further duplicate ACK inflates it
//! by one. The first ACK of new data deflates it and ends the recovery, even if more is missing.

use super::inflation::{INFLATION, Inflation};
use super::interface::{Cut, LossRecovery, State, Verdict, collapse};
use super::options::{
    AFTER_TIMEOUT, COUNT_AFTER_TIMEOUT, GROW_ON_EXIT, GUARD, LIMITED_TRANSMIT, REPEAT, THRESHOLD,
    Trigger,
};
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "reno",
    summary: help("Fast retransmit and fast recovery; the first new ACK ends it."),
    references: &["RFC 5681 section 3.2", "Fall and Floyd 1996 section 3"],
    params: &[
        AFTER_TIMEOUT,
        THRESHOLD,
        GUARD,
        REPEAT,
        LIMITED_TRANSMIT,
        COUNT_AFTER_TIMEOUT,
        INFLATION,
        GROW_ON_EXIT,
    ],
    label: "Reno",
    ..Entry::BLANK
};

/// Rules and state.
#[derive(Debug, Clone)]
pub struct Reno {
    go_back: bool,
    counts_on: bool,
    trigger: Trigger,
    inflation: Inflation,
    grow_on_exit: bool,
    active: bool,
}

impl Reno {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            counts_on: chosen.word("count_after_timeout") == "on",
            trigger: Trigger::new(chosen),
            inflation: Inflation::new(chosen),
            grow_on_exit: chosen.flag("grow_on_exit"),
            active: false,
        }
    }
}

impl LossRecovery for Reno {
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
        if self.trigger.fires(state) {
            self.active = self.inflation.enter(state, cut);
            let extra_segments = self.inflation.segments;
            return Verdict { resend: true, extra_segments, ..Verdict::default() };
        }
        if self.active {
            self.inflation.grow(state);
            let extra_segments = self.inflation.segments;
            return Verdict { extra_segments, ..Verdict::default() };
        }
        Verdict { extra_segments: self.trigger.extra_segments(state), ..Verdict::default() }
    }

    #[inline]
    fn on_new_ack(&mut self, state: &mut State, _acked: u64) -> Verdict {
        if !self.active {
            return Verdict { may_grow: true, ..Verdict::default() };
        }
        self.active = false;
        self.inflation.end(state, self.grow_on_exit);
        Verdict { may_grow: self.grow_on_exit, ..Verdict::default() }
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        self.active = false;
        let duplicates = state.duplicates;
        self.inflation.segments = 0;
        collapse(state, self.go_back, cut);
        if self.counts_on {
            state.duplicates = duplicates;
        }
    }

    fn deflated(&self, state: &State) -> f64 {
        self.inflation.deflated(state)
    }

    fn is_active(&self) -> bool {
        self.active
    }
}
