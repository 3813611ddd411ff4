//! Losses are repaired by the retransmission timer alone.
//!
//! Source: the reliable-transport labs of Bene (Zappala, BYU CS 460, 2014 to 2018), and RFC 9293
//! section 3.8.1. Duplicate ACKs are ignored.

use super::interface::{Cut, LossRecovery, State, Verdict, collapse};
use super::options::GO_BACK_N;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "timeout",
    summary: help("Only the retransmission timer repairs losses."),
    references: &["RFC 9293 section 3.8.1", "BYU CS 460, lab on reliable transport"],
    params: &[
        GO_BACK_N,
        Param::new(
            "resends",
            Kind::Choice(&[
                Choice::new(
                    "oldest",
                    "the oldest segment; the others wait for its ACK (RFC 6298 5.4)",
                ),
                Choice::new(
                    "window",
                    "all that the window allows at once (go-back-N of the textbooks)",
                ),
            ]),
            "oldest",
            "What is sent when the timer expires, with `later_data: unsent`.",
        ),
    ],
    label: "timeout only",
    ..Entry::BLANK
};

/// The rules for later data.
#[derive(Debug, Clone)]
pub struct Timeout {
    go_back: bool,
    hold: bool,
}

impl Timeout {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            hold: chosen.word("resends") == "oldest",
        }
    }
}

impl LossRecovery for Timeout {
    fn on_duplicate(&mut self, _state: &mut State, _cut: Cut<'_>) -> Verdict {
        Verdict::default()
    }

    #[inline]
    fn on_new_ack(&mut self, _state: &mut State, _acked: u64) -> Verdict {
        Verdict { may_grow: true, ..Verdict::default() }
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        collapse(state, self.go_back, cut);
        state.hold = self.go_back && self.hold;
    }
}
