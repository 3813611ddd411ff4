//! NewReno: fast recovery that lasts until the whole window is repaired.
//!
//! Source: RFC 6582 section 3.2. An ACK of new data that does not cover everything sent before the loss
//! is *partial*: the next segment is missing too and is retransmitted at once; the window is deflated by
//! what was acknowledged, less one segment.

use super::inflation::{INFLATION, Inflation};
use super::interface::{Cut, LossRecovery, State, Verdict, collapse};
use super::options::{
    AFTER_TIMEOUT, GROW_ON_EXIT, GUARD, LIMITED_TRANSMIT, REPAIRED, REPEAT, THRESHOLD, Trigger,
};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "newreno",
    summary: help("Fast recovery that repairs one loss per round trip until the window is whole."),
    references: &["RFC 6582 section 3.2"],
    params: &[
        AFTER_TIMEOUT,
        THRESHOLD,
        GUARD,
        REPEAT,
        LIMITED_TRANSMIT,
        REPAIRED,
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
            "The window when recovery ends, unless inflation is kept separate.",
        ),
        INFLATION,
        GROW_ON_EXIT,
        Param::new(
            "partial_timer",
            Kind::Choice(&[
                Choice::new(
                    "first",
                    "only the first one of a recovery (RFC 6582 section 3.2, impatient): after many losses the timer \
                     ends the recovery",
                ),
                Choice::new(
                    "each",
                    "every partial ACK (slow but steady, as in Linux and ns-3): one loss is repaired per \
                     round trip, however many there are",
                ),
            ]),
            "first",
            "Which partial ACKs restart the retransmission timer (RFC 6582 section 4).",
        ),
        Param::optional(
            "burst",
            Kind::Count,
            "unlimited",
            "Maximum number of new segments that an ACK may release during recovery (ns-2: 2).",
        )
        .at_least("1"),
    ],
    label: "NewReno",
    ..Entry::BLANK
};

/// Rules and state.
#[derive(Debug, Clone)]
pub struct NewReno {
    go_back: bool,
    trigger: Trigger,
    inflation: Inflation,
    exit_to_flight: bool,
    grow_on_exit: bool,
    first_partial_only: bool,
    repairs_twice: bool,
    /// Most segments that an ACK may release during recovery, beside the one that is retransmitted.
    burst: Option<u32>,
    /// A partial ACK has come in this recovery.
    partial: bool,
    active: bool,
}

impl NewReno {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            trigger: Trigger::new(chosen),
            inflation: Inflation::new(chosen),
            exit_to_flight: chosen.word("exit_window") == "flight",
            grow_on_exit: chosen.flag("grow_on_exit"),
            first_partial_only: chosen.word("partial_timer") == "first",
            repairs_twice: chosen.word("repaired") == "unsent",
            burst: chosen.optional_int("burst").map(|segments| segments as u32),
            partial: false,
            active: false,
        }
    }
}

impl LossRecovery for NewReno {
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
        if self.active {
            self.inflation.grow(state);
            return Verdict {
                extra_segments: self.inflation.segments,
                burst: self.burst,
                ..Verdict::default()
            };
        }
        if self.trigger.fires(state) {
            self.active = self.inflation.enter(state, cut);
            self.partial = false;
            return Verdict {
                resend: true,
                extra_segments: self.inflation.segments,
                burst: self.burst,
                ..Verdict::default()
            };
        }
        Verdict { extra_segments: self.trigger.extra_segments(state), ..Verdict::default() }
    }

    #[inline(always)]
    fn on_new_ack(&mut self, state: &mut State, acked: u64) -> Verdict {
        if !self.active {
            return Verdict { may_grow: true, ..Verdict::default() };
        }
        if state.recover.is_some_and(|recover| state.una < recover) {
            self.inflation.deflate(state, acked);
            let keeps_timer = self.first_partial_only && std::mem::replace(&mut self.partial, true);
            return Verdict {
                resend: true,
                extra_segments: self.inflation.segments,
                burst: self.burst,
                keeps_timer,
                ..Verdict::default()
            };
        }
        self.active = false;
        self.inflation.end(state, self.grow_on_exit);
        if self.exit_to_flight && !self.inflation.apart {
            let segment = state.window.segment;
            let flight = state.in_units(state.flight()).max(segment) + segment;
            state.window.cwnd = state.window.cwnd.min(flight);
        }
        Verdict { may_grow: self.grow_on_exit, ..Verdict::default() }
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        self.active = false;
        self.inflation.segments = 0;
        collapse(state, self.go_back, cut);
    }

    fn repairs_twice(&self) -> bool {
        self.repairs_twice
    }

    fn deflated(&self, state: &State) -> f64 {
        self.inflation.deflated(state)
    }

    fn is_active(&self) -> bool {
        self.active
    }
}
