//! NewReno: fast recovery that lasts until the whole window is repaired.
//!
//! Source: RFC 6582 section 3.2. An ACK of new data that does not cover everything sent before the loss
//! is *partial*: the next segment is missing too and is sent again at once; the window is deflated by
//! what was acknowledged, less one segment.

use super::options::{AFTER_TIMEOUT, GUARD, LIMITED_TRANSMIT, REPEAT, THRESHOLD, Trigger};
use super::reno::enter;
use super::window::{Cut, LossRecovery, State, Verdict, collapse};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "newreno",
    summary: "Fast recovery that repairs one loss per round trip until the window is whole.",
    references: &["RFC 6582 section 3.2"],
    params: &[
        AFTER_TIMEOUT,
        THRESHOLD,
        GUARD,
        REPEAT,
        LIMITED_TRANSMIT,
        Param::new(
            "exit_window",
            Kind::Choice(&[
                Choice::new(
                    "flight",
                    "min(ssthresh, max(flight, one segment) + one segment) (step 3, option 1)",
                ),
                Choice::new("ssthresh", "ssthresh (option 2): may send a burst"),
            ]),
            "flight",
            "The window when recovery ends.",
        ),
    ],
    defect: false,
};

/// Rules and state.
#[derive(Debug, Clone)]
pub struct NewReno {
    go_back: bool,
    trigger: Trigger,
    exit_to_flight: bool,
    active: bool,
}

impl NewReno {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            trigger: Trigger::new(chosen),
            exit_to_flight: chosen.word("exit_window") == "flight",
            active: false,
        }
    }
}

impl LossRecovery for NewReno {
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
        if self.active {
            state.window.cwnd += state.window.segment;
            return Verdict::default();
        }
        if self.trigger.fires(state) {
            self.active = enter(state, cut);
            return Verdict { resend: true, ..Verdict::default() };
        }
        Verdict { extra_segments: self.trigger.extra_segments(state), ..Verdict::default() }
    }

    #[inline]
    fn on_new_ack(&mut self, state: &mut State, acked: u64) -> Verdict {
        if !self.active {
            return Verdict { may_grow: true, ..Verdict::default() };
        }
        let segment = state.window.segment;
        if state.recover.is_some_and(|recover| state.una < recover) {
            let deflated = state.window.cwnd - state.in_units(acked);
            let back = if acked >= state.mss { segment } else { 0.0 };
            state.window.cwnd = (deflated + back).max(segment);
            return Verdict { resend: true, ..Verdict::default() };
        }
        self.active = false;
        state.window.cwnd = state.window.ssthresh;
        if self.exit_to_flight {
            let flight = state.in_units(state.flight()).max(segment) + segment;
            state.window.cwnd = state.window.cwnd.min(flight);
        }
        Verdict::default()
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        self.active = false;
        collapse(state, self.go_back, cut);
    }

    fn is_active(&self) -> bool {
        self.active
    }
}
