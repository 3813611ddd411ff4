//! FAST TCP: keeps a chosen number of packets queued in the network.
//!
//! Source: Wei, Jin, Low, Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance",
//! IEEE/ACM Transactions on Networking 14(6), 2006, equation (6):
//!
//! ```text
//! w := min(2 w, (1 - gamma) w + gamma (base_rtt / rtt * w + alpha))
//! ```
//!
//! In equilibrium w (1 - base_rtt / rtt) = alpha: the flow has alpha packets waiting in queues.
//! `base_rtt` is the minimum round-trip time ever seen, `rtt` an average of recent ones.
//!
//! Two clocks: once per round-trip time (the paper), or a fixed period (the Caltech simulator, 50 ms).
//! Two averages: exponential with weight min(3 / w, 1/4) per sample (the paper, section III-B), or the
//! plain mean of the last samples (the Caltech simulator, 40).
//!
//! DEVIATION: the 2006 implementation updates every other round trip and uses the window of one
//! round trip ago; here each update uses the present window. FAST's multiplicative-increase start-up
//! and its loss response (it halves) are left out, as in the Caltech simulator: a loss does not change
//! the window.

use super::{AckEvent, CongestionControl, LossEvent, Window};
use crate::journal::Rule;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

/// Defaults of what counts with another setting only.
const PERIOD_NS: u64 = 50_000_000;
const SAMPLES: u64 = 40;

pub(super) static ENTRY: Entry = Entry {
    name: "fast",
    summary: help("Delay-based: keeps alpha packets of the flow waiting in queues."),
    references: &["Wei, Jin, Low, Hegde 2006, equation (6)", "Jin, Wei, Low 2004"],
    params: &[
        Param::new("alpha", Kind::Real, "20", "Packets that the flow keeps queued in the network.")
            .at_least("0.1")
            .at_most("1e6"),
        Param::new("gamma", Kind::Real, "0.5", "Weight of the new window in an update, (0, 1].")
            .at_least("0.001")
            .at_most("1"),
        Param::new(
            "update",
            Kind::Choice(&[
                Choice::new("rtt", "once per round-trip time, as in the paper"),
                Choice::new("period", "at a fixed period, as in the Caltech simulator"),
            ]),
            "rtt",
            "When the window is updated.",
        ),
        Param::new("period", Kind::Time, "50 ms", "Period of updates, with `update: period`.")
            .at_least("1 us"),
        Param::new(
            "averaging",
            Kind::Choice(&[
                Choice::new("ewma", "exponential, weight min(3/cwnd, 1/4), as in the paper"),
                Choice::new(
                    "samples",
                    "plain mean of the last samples, as in the Caltech simulator",
                ),
            ]),
            "ewma",
            "How recent round-trip times are averaged.",
        ),
        Param::new("samples", Kind::Count, "40", "Samples of the mean, with `averaging: samples`.")
            .at_least("1")
            .at_most("100000"),
    ],
    label: "FAST",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    if chosen.word("update") != "period" && chosen.int("period_ns") != PERIOD_NS {
        return Err(Clash::without_effect("period", "`update: period`"));
    }
    if chosen.word("averaging") != "samples" && chosen.int("samples") != SAMPLES {
        return Err(Clash::without_effect("samples", "`averaging: samples`"));
    }
    Ok(())
}

/// State of one flow.
#[derive(Debug, Clone)]
pub struct Fast {
    alpha: f64,
    gamma: f64,
    clock: Clock,
    average: Average,
    base_rtt: Time,
}

#[derive(Debug, Clone)]
enum Clock {
    PerRtt { next: Time },
    Period(Time),
}

#[derive(Debug, Clone)]
enum Average {
    Ewma {
        /// Nanoseconds; 0 before the first sample.
        rtt: f64,
    },
    Samples {
        /// The last samples in nanoseconds, oldest at `oldest` once the list is full.
        last: Vec<u64>,
        oldest: usize,
        size: usize,
        sum: u64,
    },
}

impl Average {
    fn add(&mut self, sample: Time, window: &Window) {
        match self {
            Self::Ewma { rtt } => {
                let sample = sample.as_ns() as f64;
                if *rtt == 0.0 {
                    *rtt = sample;
                } else {
                    let weight = (3.0 * window.segment / window.cwnd).min(0.25);
                    *rtt += weight * (sample - *rtt);
                }
            }
            Self::Samples { last, oldest, size, sum } => {
                *sum += sample.as_ns();
                if last.len() < *size {
                    last.push(sample.as_ns());
                } else {
                    *sum -= std::mem::replace(&mut last[*oldest], sample.as_ns());
                    *oldest += 1;
                    if *oldest == *size {
                        *oldest = 0;
                    }
                }
            }
        }
    }

    /// Nanoseconds, once there is a sample.
    fn get(&self) -> f64 {
        match self {
            Self::Ewma { rtt } => *rtt,
            Self::Samples { last, sum, .. } => *sum as f64 / last.len() as f64,
        }
    }
}

impl Fast {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let size = chosen.int("samples") as usize;
        Self {
            alpha: chosen.real("alpha"),
            gamma: chosen.real("gamma"),
            clock: match chosen.word("update") {
                "period" => Clock::Period(Time::from_ns(chosen.int("period_ns"))),
                _ => Clock::PerRtt { next: Time::ZERO },
            },
            average: match chosen.word("averaging") {
                "samples" => {
                    Average::Samples { last: Vec::with_capacity(size), oldest: 0, size, sum: 0 }
                }
                _ => Average::Ewma { rtt: 0.0 },
            },
            base_rtt: Time::NEVER,
        }
    }

    /// Equation (6) of the paper.
    fn update(&self, window: &mut Window) {
        let ratio = self.base_rtt.as_ns() as f64 / self.average.get();
        let target = ratio * window.cwnd + self.alpha * window.segment;
        let mixed = (1.0 - self.gamma) * window.cwnd + self.gamma * target;
        // With alpha near 0 the window would fall below the segment without which nothing is measured.
        window.cwnd = mixed.min(2.0 * window.cwnd).max(window.segment);
    }
}

impl CongestionControl for Fast {
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        self.base_rtt = ack.base_rtt;
        if let Some(rtt) = ack.rtt {
            self.average.add(rtt, window);
            if let Clock::PerRtt { next } = &mut self.clock
                && ack.now >= *next
            {
                *next = ack.now + Time::from_ns(self.average.get() as u64);
                self.update(window);
            }
        }
    }

    fn on_loss(&mut self, _window: &Window, _loss: &LossEvent) -> Option<f64> {
        None
    }

    fn tick_period(&self) -> Option<Time> {
        match self.clock {
            Clock::Period(period) => Some(period),
            Clock::PerRtt { .. } => None,
        }
    }

    fn on_tick(&mut self, window: &mut Window) {
        // The sender may have measured a handshake, but no data yet.
        if self.average.get() > 0.0 {
            self.update(window);
        }
    }
    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        Some(Rule::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn fast(averaging: &str) -> Fast {
        Fast::new(&Chosen {
            kind: "fast".into(),
            values: vec![
                ("alpha".into(), Value::Real(50.0)),
                ("gamma".into(), Value::Real(0.5)),
                ("update".into(), Value::Word("period".into())),
                ("period_ns".into(), Value::Int(50_000_000)),
                ("averaging".into(), Value::Word(averaging.into())),
                ("samples".into(), Value::Int(2)),
            ],
        })
    }

    fn ack(rtt_ms: u64) -> AckEvent<'static> {
        AckEvent {
            now: Time::ZERO,
            rtt: Some(Time::from_ms(rtt_ms)),
            base_rtt: Time::from_ms(20),
            newly_acked: 1.0,
            flight: 1.0,
            may_grow: false,
            ..AckEvent::default()
        }
    }

    #[test]
    fn doubles_at_most_and_rests_where_alpha_packets_are_queued() {
        let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY, segment: 1.0 };
        let mut cc = fast("samples");
        cc.on_ack(&mut window, &ack(20));
        cc.on_tick(&mut window);
        assert_eq!(window.cwnd, 2.0);
        // 75 packets at three times the base RTT: 50 of them are queued.
        window.cwnd = 75.0;
        cc.on_ack(&mut window, &ack(60));
        cc.on_ack(&mut window, &ack(60));
        cc.on_tick(&mut window);
        assert!((window.cwnd - 75.0).abs() < 1e-12);
    }

    #[test]
    fn the_mean_forgets_old_samples_and_the_ewma_follows_slowly() {
        let mut window = Window { cwnd: 30.0, ssthresh: f64::INFINITY, segment: 1.0 };
        let mut mean = fast("samples");
        let mut ewma = fast("ewma");
        for rtt in [20, 40, 60] {
            mean.on_ack(&mut window, &ack(rtt));
            ewma.on_ack(&mut window, &ack(rtt));
        }
        assert_eq!(mean.average.get(), 50e6);
        // Weight 3/30: 20, then 22, then 25.8 ms.
        assert!((ewma.average.get() - 25.8e6).abs() < 1.0);
    }
}
