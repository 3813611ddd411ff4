//! Additive increase, multiplicative decrease, with free parameters.
//!
//! Source: Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in
//! computer networks", 1989; RFC 5681 section 3.1 for slow start. A loss asks for the window (or the
//! flight size) times `decrease`. With `increase: 1`, `decrease: 0.5` it is Reno.

use super::growth::{COUNTING, Growth, INCREASE, WHOLE};
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "aimd",
    summary: help("Additive increase, multiplicative decrease, with free parameters."),
    references: &[
        "Chiu and Jain 1989",
        "RFC 5681 section 3.1",
        "BYU CS 460 2015, lab on congestion control",
    ],
    params: &[
        INCREASE,
        Param::new("decrease", Kind::Real, "0.5", "Window reduction factor at a loss.")
            .at_least("0")
            .at_most("1"),
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("flight", "of the data in flight (RFC 5681 equation 4)"),
                Choice::new("cwnd", "of the window"),
            ]),
            "flight",
            "What a loss cuts.",
        ),
        COUNTING,
        WHOLE,
    ],
    label: "AIMD",
    ..Entry::BLANK
};

/// Rules and the state of growth.
#[derive(Debug, Clone)]
pub struct Aimd {
    growth: Growth,
    decrease: f64,
    from_flight: bool,
}

impl Aimd {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            growth: Growth::new(chosen),
            decrease: chosen.real("decrease"),
            from_flight: chosen.word("decrease_from") == "flight",
        }
    }
}

impl CongestionControl for Aimd {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.may_grow {
            self.growth.grow(window, ack);
        }
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let from = if self.from_flight { loss.flight } else { window.cwnd };
        Some(self.growth.after_loss(window, from * self.decrease))
    }
}
