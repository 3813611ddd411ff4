//! What PIE and DualPI2 have in common: a proportional-integral controller, updated at fixed times.
//!
//! Source: RFC 8033 section 4.2; RFC 9332 appendix A.

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Kind, Param};

/// Weight of the distance to the target.
pub(super) const fn alpha(default: &'static str) -> Param {
    let summary = "Weight of the deviation from the target, per second.";
    Param::new("alpha", Kind::Real, default, summary).at_least("0").at_most("1000")
}

/// Weight of the change of the wait.
pub(super) const fn beta(default: &'static str) -> Param {
    let summary = "Weight of the change in delay, per second.";
    Param::new("beta", Kind::Real, default, summary).at_least("0").at_most("1000")
}

/// Waits are in seconds.
#[derive(Debug, Clone)]
pub(super) struct Pi {
    pub target: f64,
    pub update: Time,
    pub alpha: f64,
    pub beta: f64,
    /// The probability.
    pub p: f64,
    /// Wait at the last update.
    pub delay_old: f64,
    /// When the next update is due.
    pub next: Time,
}

impl Pi {
    pub fn new(chosen: &Chosen) -> Self {
        let time = |name: &str| Time::from_ns(chosen.int(name));
        let update = time("update_ns");
        Self {
            target: time("target_ns").as_secs(),
            update,
            alpha: chosen.real("alpha"),
            beta: chosen.real("beta"),
            p: 0.0,
            delay_old: 0.0,
            next: update,
        }
    }

    /// By how much this wait changes the probability.
    pub fn step(&self, delay: f64) -> f64 {
        self.alpha * (delay - self.target) + self.beta * (delay - self.delay_old)
    }

    /// An update has been made, with this wait.
    pub fn updated(&mut self, delay: f64) {
        self.delay_old = delay;
        self.next += self.update;
    }

    /// The updates that are due change nothing.
    pub fn skip(&mut self, now: Time) {
        self.next = self.next.stepped_past(now, self.update);
    }
}
