//! Additive increase, additive decrease.
//!
//! Source: Chiu and Jain 1989, who show that it does not converge to fair shares; BYU CS 460, lab on
//! congestion control, 2015: "decrease the threshold by subtracting one MSS". A loss asks for the window
//! (or the present threshold) less `subtract` segments.

use super::growth::{COUNTING, Growth, INCREASE, WHOLE};
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "aiad",
    summary: help("Additive increase, additive decrease: does not converge to fair shares."),
    references: &["Chiu and Jain 1989", "BYU CS 460 2015, lab on congestion control"],
    params: &[
        INCREASE,
        Param::new("subtract", Kind::Real, "1", "Segments subtracted at a loss.")
            .at_least("0")
            .at_most("1e6"),
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("cwnd", "of the window"),
                Choice::new(
                    "ssthresh",
                    "of ssthresh, however small the window is (the Bene lab); of the window while ssthresh is \
                     unlimited",
                ),
            ]),
            "cwnd",
            "What a loss cuts.",
        ),
        COUNTING,
        WHOLE,
    ],
    label: "AIAD",
    ..Entry::BLANK
};

/// Rules and the state of growth.
#[derive(Debug, Clone)]
pub struct Aiad {
    growth: Growth,
    subtract: f64,
    from_ssthresh: bool,
}

impl Aiad {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            growth: Growth::new(chosen),
            subtract: chosen.real("subtract"),
            from_ssthresh: chosen.word("decrease_from") == "ssthresh",
        }
    }
}

impl CongestionControl for Aiad {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.may_grow {
            self.growth.grow(window, ack);
        }
    }

    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        let has_threshold = window.ssthresh.is_finite();
        let from = if self.from_ssthresh && has_threshold { window.ssthresh } else { window.cwnd };
        Some(self.growth.after_loss(window, from - self.subtract * window.segment))
    }
}
