//! A window that never changes.
//!
//! Source: the classic sliding window of reliable-transport labs; the Caltech simulator calls it
//! "dummy". Not modelled: anything else.

use super::{AckEvent, CongestionControl, LossEvent, Window};
use crate::journal::Rule;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "fixed",
    summary: help("A window that never changes."),
    references: &["Bhasin, Luo, Su, Yang 2015, section 2.5 (the dummy flow of their test files)"],
    params: &[Param::new("window", Kind::Count, "1", "Window, segments.")
        .at_least("1")
        .at_most("1000000")],
    label: "fixed window",
    ..Entry::BLANK
};

/// State: the wanted window in segments.
#[derive(Debug, Clone)]
pub struct Fixed {
    segments: f64,
}

impl Fixed {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self { segments: chosen.int("window") as f64 }
    }
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, window: &mut Window, _ack: &AckEvent) {
        window.cwnd = self.segments * window.segment;
    }

    fn on_loss(&mut self, _window: &Window, _loss: &LossEvent) -> Option<f64> {
        None
    }

    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        Some(Rule::Own)
    }
}
