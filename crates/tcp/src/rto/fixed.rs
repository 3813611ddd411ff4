//! A retransmission timer that is always the same.

use super::Timer;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "fixed",
    summary: help("The same timeout for every packet, without backoff."),
    references: &["Bhasin, Luo, Su, Yang 2015, section 2.5.2 (0.5 s)"],
    params: &[Param::new("timeout", Kind::Time, "1 s", "The wait.").at_least("1 us")],
    ..Entry::BLANK
};

/// The wait.
#[derive(Debug, Clone)]
pub struct Fixed(Time);

impl Fixed {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self(Time::from_ns(chosen.int("timeout_ns")))
    }
}

impl Timer for Fixed {
    #[inline]
    fn calm(&self) -> Time {
        self.0
    }

    #[inline]
    fn on_sample(&mut self, _now: Time, _rtt: Time) -> Time {
        self.0
    }

    fn on_timeout(&mut self, wait: Time) -> Time {
        wait
    }
}
