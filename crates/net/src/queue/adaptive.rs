//! Adaptive RED: the largest probability follows the average queue.
//!
//! Source: Floyd, Gummadi, Shenker, "Adaptive RED", 2001: every `interval` at the next arrival, steps up by addition
//! and down by a factor that keep the average in the middle fifth between `min` and `max`. Feng and others, "A
//! Self-Configuring RED Gateway", INFOCOM 1999: a factor each time that the average leaves the span between them.

use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Kind, Param};

pub(super) const RULE: Param = Param::new(
    "adaptive",
    Kind::Choice(&[
        Choice::new("none", "`max_p` stays"),
        Choice::new(
            "floyd",
            "it is adapted at intervals (Floyd, Gummadi, Shenker 2001; ns-2, ns-3)",
        ),
        Choice::new("feng", "it changes by a factor when the average leaves the span (Feng 1999)"),
    ]),
    "none",
    "Whether `max_p` follows the average.",
);
pub(super) const INTERVAL: Param = Param::new(
    "adapt_interval",
    Kind::Time,
    "500 ms",
    "With `adaptive: floyd`: time between adaptations.",
)
.at_least("1 us")
.at_most("1 d");
pub(super) const LEAST: Param =
    Param::new("least_max_p", Kind::Real, "0.01", "With `adaptive`: least value of `max_p`.")
        .at_least("0")
        .at_most("1");
pub(super) const MOST: Param =
    Param::new("most_max_p", Kind::Real, "0.5", "With `adaptive`: greatest value of `max_p`.")
        .at_least("0")
        .at_most("1");

/// Settings that need another one.
pub(super) fn check(chosen: &Chosen) -> Result<(), Clash> {
    let changed = [
        ("adapt_interval", chosen.int("adapt_interval_ns") != 500_000_000),
        ("least_max_p", chosen.real("least_max_p") != 0.01),
        ("most_max_p", chosen.real("most_max_p") != 0.5),
    ];
    let rule = chosen.word("adaptive");
    for (param, _) in changed.into_iter().filter(|(_, changed)| *changed) {
        if rule == "none" || (rule == "feng" && param == "adapt_interval") {
            return Err(Clash::without_effect(param, "adaptive: floyd"));
        }
    }
    Ok(())
}

/// Feng: factors below `min` and above `max` (ns-2, ns-3).
const FENG_DOWN: f64 = 3.0;
const FENG_UP: f64 = 2.0;
/// Floyd: factor downwards, and greatest step upwards.
const FLOYD_DOWN: f64 = 0.9;
const FLOYD_UP: f64 = 0.01;

/// Parameters and state.
#[derive(Debug, Clone)]
pub(super) struct Adaptation {
    feng: bool,
    interval: Time,
    least: f64,
    most: f64,
    /// Floyd: when `max_p` was adapted last.
    last: Time,
    /// Feng: on which side of the span the average was last: -1, 0 or 1.
    side: i8,
}

impl Adaptation {
    pub fn new(chosen: &Chosen) -> Option<Self> {
        (chosen.word("adaptive") != "none").then(|| Self {
            feng: chosen.word("adaptive") == "feng",
            interval: Time::from_ns(chosen.int("adapt_interval_ns")),
            least: chosen.real("least_max_p"),
            most: chosen.real("most_max_p"),
            last: Time::ZERO,
            side: 0,
        })
    }

    /// The next `max_p`.
    pub fn adapt(&mut self, now: Time, average: f64, [min, max]: [f64; 2], max_p: f64) -> f64 {
        if self.feng {
            let side = i8::from(average > max) - i8::from(average < min);
            let crossed = side != 0 && side != self.side;
            self.side = side;
            return match side {
                -1 if crossed => (max_p / FENG_DOWN).max(self.least),
                1 if crossed => (max_p * FENG_UP).min(self.most),
                _ => max_p,
            };
        }
        if now < self.last + self.interval {
            return max_p;
        }
        self.last = now;
        let part = 0.4 * (max - min);
        if average < min + part && max_p > self.least {
            max_p * FLOYD_DOWN
        } else if average > max - part && max_p < self.most {
            max_p + FLOYD_UP.min(max_p / 4.0)
        } else {
            max_p
        }
    }
}
