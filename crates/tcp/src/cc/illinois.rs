//! TCP-Illinois: losses say whether the window shrinks, delay says by how much, and how fast it grows.
//!
//! Source: Liu, Başar and Srikant, "TCP-Illinois: A loss- and delay-based congestion control algorithm for high-speed
//! networks", Performance Evaluation 65, 2008; Linux, `tcp_illinois.c`. Once per round trip, with the mean wait in
//! queues da (mean less minimum round-trip time) and the greatest one dm:
//!
//! ```text
//! da <= dm / 100         alpha = alpha_max; after a longer wait only from the fifth such round trip on
//! else, x = dm / 100     alpha = alpha_max (dm - x) / (dm - x + (da - x) (alpha_max / alpha_min - 1))
//! da from dm/10 to 8 dm/10      beta goes from beta_min to beta_max in a straight line
//! ```
//!
//! A round trip adds alpha segments, a loss takes beta of the window. Below `window_threshold` segments, and from a
//! timeout until the next round trip, it is Reno. So the window is concave between losses: fast while queues are empty,
//! slow near their end.
//!
//! DEVIATION: windows are real numbers; Linux counts whole segments, and forgets the rest of a step.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Rounds, StateEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "illinois",
    summary: help("Grows faster and is reduced less while the measured delay is small."),
    references: &["Liu, Başar and Srikant 2008", "Linux, `tcp_illinois.c`"],
    params: &[
        Param::new(
            "alpha_min",
            Kind::Real,
            "0.3",
            "Increase per round trip when queues are full, in segments (paper: 0.1).",
        )
        .at_least("0.01")
        .at_most("1"),
        Param::new(
            "alpha_max",
            Kind::Real,
            "10",
            "Increase per round trip when queues are empty, in segments.",
        )
        .at_least("1")
        .at_most("1000"),
        Param::new(
            "beta_min",
            Kind::Real,
            "0.125",
            "Fraction by which a loss reduces the window when queues are short.",
        )
        .at_least("0.01")
        .at_most("0.5"),
        Param::new(
            "beta_max",
            Kind::Real,
            "0.5",
            "Fraction by which a loss reduces the window when queues are full.",
        )
        .at_least("0.01")
        .at_most("0.9"),
        Param::new(
            "window_threshold",
            Kind::Real,
            "15",
            "Window, in segments, below which it behaves as Reno (paper: 10).",
        )
        .at_least("0")
        .at_most("1e6"),
    ],
    label: "Illinois",
    check: Some(betas_in_order),
    ..Entry::BLANK
};

fn betas_in_order(chosen: &Chosen) -> Result<(), Clash> {
    let (least, greatest) = (chosen.real("beta_min"), chosen.real("beta_max"));
    if least <= greatest {
        return Ok(());
    }
    Err(Clash {
        param: "beta_min",
        message: format!("`beta_min` ({least}) is above `beta_max` ({greatest})"),
        hint: Some("a loss takes more of the window when queues are longer".into()),
    })
}

/// Round trips with an empty queue after which the window grows fastest again.
const THETA: u32 = 5;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Illinois {
    alpha_min: f64,
    alpha_max: f64,
    beta_min: f64,
    beta_max: f64,
    window_threshold: f64,
    rounds: Rounds,
    /// Seconds: sum of this round trip's samples, the least and the greatest ever.
    sum: f64,
    samples: u32,
    least: f64,
    greatest: f64,
    alpha: f64,
    beta: f64,
    /// Whether queues were longer than a hundredth since the window last grew fastest.
    waited: bool,
    /// Round trips with shorter ones since then.
    short: u32,
}

impl Illinois {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            alpha_min: chosen.real("alpha_min"),
            alpha_max: chosen.real("alpha_max"),
            beta_min: chosen.real("beta_min"),
            beta_max: chosen.real("beta_max"),
            window_threshold: chosen.real("window_threshold"),
            rounds: Rounds::default(),
            sum: 0.0,
            samples: 0,
            least: f64::INFINITY,
            greatest: 0.0,
            alpha: chosen.real("alpha_max"),
            beta: 0.5,
            waited: false,
            short: 0,
        }
    }

    fn alpha(&mut self, wait: f64, greatest: f64) -> f64 {
        let hundredth = greatest / 100.0;
        if wait > hundredth {
            self.waited = true;
            let (wait, greatest) = (wait - hundredth, greatest - hundredth);
            let steepness = self.alpha_max / self.alpha_min - 1.0;
            return self.alpha_max * greatest / (greatest + wait * steepness);
        }
        if self.waited {
            self.short += 1;
            if self.short < THETA {
                return self.alpha;
            }
            self.short = 0;
            self.waited = false;
        }
        self.alpha_max
    }

    fn beta(&self, wait: f64, greatest: f64) -> f64 {
        let (low, high) = (0.1 * greatest, 0.8 * greatest);
        if wait <= low {
            self.beta_min
        } else if wait >= high {
            self.beta_max
        } else {
            self.beta_min + (self.beta_max - self.beta_min) * (wait - low) / (high - low)
        }
    }

    fn as_reno(&mut self) {
        self.alpha = 1.0;
        self.beta = 0.5;
    }

    /// A round trip has ended.
    fn renew(&mut self, window: &Window) {
        if window.cwnd < self.window_threshold * window.segment {
            self.as_reno();
        } else if self.samples > 0 {
            let wait = self.sum / f64::from(self.samples) - self.least;
            let greatest = self.greatest - self.least;
            self.alpha = self.alpha(wait, greatest);
            self.beta = self.beta(wait, greatest);
        }
        self.sum = 0.0;
        self.samples = 0;
    }
}

impl CongestionControl for Illinois {
    #[inline(never)]
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt.map(Time::as_secs) {
            self.least = self.least.min(rtt);
            self.greatest = self.greatest.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if self.rounds.on_ack(ack) {
            self.renew(window);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            add(window, self.alpha, acked);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd * (1.0 - self.beta))
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.as_reno();
            (self.sum, self.samples) = (0.0, 0);
            (self.waited, self.short) = (false, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn illinois() -> Illinois {
        let values = [
            ("alpha_min", 0.3),
            ("alpha_max", 10.0),
            ("beta_min", 0.125),
            ("beta_max", 0.5),
            ("window_threshold", 15.0),
        ];
        Illinois::new(&Chosen {
            kind: "illinois".into(),
            values: values.map(|(key, value)| (key.into(), Value::Real(value))).to_vec(),
        })
    }

    /// The paper's curves with the constants of Linux, for waits in parts of the longest of 100 ms.
    #[test]
    fn waits_say_how_fast_it_grows_and_how_much_it_is_cut() {
        let table = [
            (0.001, 10.0, 0.125),
            (0.002, 7.54, 0.125),
            (0.005, 4.34, 0.125),
            (0.010, 2.54, 0.125),
            (0.025, 1.13, 0.205),
            (0.045, 0.651, 0.3125),
            (0.050, 0.588, 0.339),
            (0.075, 0.397, 0.473),
            (0.100, 0.300, 0.5),
        ];
        for (wait, alpha, beta) in table {
            let mut cc = illinois();
            let (a, b) = (cc.alpha(wait, 0.1), cc.beta(wait, 0.1));
            assert!((a / alpha - 1.0).abs() < 0.01, "alpha({wait}) = {a}");
            assert!((b - beta).abs() < 0.001, "beta({wait}) = {b}");
        }
    }

    #[test]
    fn five_round_trips_without_a_queue_make_it_fast_again() {
        let mut cc = illinois();
        cc.alpha = cc.alpha(0.05, 0.1);
        let mut seen = Vec::new();
        for _ in 0..6 {
            cc.alpha = cc.alpha(0.0, 0.1);
            seen.push(cc.alpha > 9.9);
        }
        assert_eq!(seen, [false, false, false, false, true, true]);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut cc = illinois();
        let mut window = Window { cwnd: 12.0, ssthresh: 10.0, segment: 1.0 };
        let ack = AckEvent { newly_acked: 1.0, una: 1, nxt: 13, ..AckEvent::default() };
        cc.on_sample(&mut window, &ack);
        assert_eq!((cc.alpha, cc.beta), (1.0, 0.5));
        window.cwnd = 20.0;
        let ack = AckEvent { una: 14, nxt: 30, rtt: Some(Time::from_ms(50)), ..ack };
        cc.on_sample(&mut window, &ack);
        assert_eq!((cc.alpha, cc.beta), (10.0, 0.125));
    }
}
