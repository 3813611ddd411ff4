//! Vegas: keeps between alpha and beta packets of the flow waiting in queues.
//!
//! Source: Brakmo and Peterson, "TCP Vegas: End to end congestion avoidance on a global Internet", IEEE
//! Journal on Selected Areas in Communications 13(8), 1995, sections III-B and III-C. Once per round trip,
//! when a marked segment is acknowledged:
//!
//! ```text
//! expected = window / base_rtt        actual = segments sent since the mark / rtt
//! diff     = (expected - actual) base_rtt
//! slow start: every other round trip each ACK adds a segment; it ends when diff > gamma
//! afterwards: diff < alpha: a segment more;  diff > beta: a segment less;  else the window stays
//! ```
//!
//! A loss costs a quarter of the window, or half if the same segment was lost again; a timeout half.
//! When segments are overdue is a matter of `recovery: vegas`; other recoveries may be used as well. While
//! one of them does not let the window grow, nothing is compared, and a new round trip begins after it.
//!
//! The rules of ns-2.35 are options: `window: flight`, `rtt: mean`, `compare: rounded`,
//! `base_rtt: lone`, `exit: eighth`, `step: spread`, `growth: used`,
//! `first_window: one`, `loss: whole-segments`, `counting: acks`.

use super::growth::{COUNTING, Counting};
use super::{AckEvent, CongestionControl, LossEvent, Signal, Window};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "vegas",
    summary: help(
        "Delay-based: keeps between alpha and beta packets of the flow waiting in queues.",
    ),
    references: &["Brakmo and Peterson 1995", "ns-2.35 and Linux (tcp_vegas) for the options"],
    params: &[
        Param::new("alpha", Kind::Real, "1", "Queued packets below which the window grows.")
            .at_least("0")
            .at_most("1e6"),
        Param::new("beta", Kind::Real, "3", "Queued packets above which the window shrinks.")
            .at_least("0")
            .at_most("1e6"),
        Param::new("gamma", Kind::Real, "1", "Queued packets above which slow start ends.")
            .at_least("0")
            .at_most("1e6"),
        Param::new(
            "window",
            Kind::Choice(&[
                Choice::new("cwnd", "the congestion window, as in the paper"),
                Choice::new("flight", "the data in flight and the next segment, as in ns-2"),
            ]),
            "cwnd",
            "Window used for the expected rate.",
        ),
        Param::new(
            "actual",
            Kind::Choice(&[
                Choice::new("sent", "segments sent since the mark, as in the paper and in ns-2"),
                Choice::new(
                    "window",
                    "the window, as in Linux, because delayed ACKs make the segment count uneven",
                ),
            ]),
            "sent",
            "What is counted for the actual rate.",
        ),
        Param::new(
            "rtt",
            Kind::Choice(&[
                Choice::new("marked", "of the marked segment, as in the paper"),
                Choice::new("mean", "mean of the samples since the mark, without its own (ns-2)"),
                Choice::new(
                    "least",
                    "least sample since the mark, as in Linux: delayed ACKs and bursts count less",
                ),
            ]),
            "marked",
            "Round-trip time used for the actual rate.",
        ),
        Param::new(
            "compare",
            Kind::Choice(&[
                Choice::new("exact", "as a real number"),
                Choice::new("rounded", "to the nearest whole number of packets, as in ns-2"),
            ]),
            "exact",
            "How diff is compared with alpha, beta and gamma.",
        ),
        Param::new(
            "base_rtt",
            Kind::Choice(&[
                Choice::new("least", "the minimum RTT ever measured, as in the paper"),
                Choice::new(
                    "data",
                    "the same without the handshake, whose packets are small, as in Linux",
                ),
                Choice::new(
                    "lone",
                    "also that of a round trip in which at most one segment was sent, as in ns-2",
                ),
            ]),
            "least",
            "How the base RTT is determined.",
        ),
        Param::new(
            "exit",
            Kind::Choice(&[
                Choice::new("keep", "the window stays as it is, as in the paper"),
                Choice::new("eighth", "less an eighth, as in ns-2"),
                Choice::new("actual", "at most what the actual rate needs, and one, as in Linux"),
            ]),
            "keep",
            "The window when slow start ends.",
        ),
        Param::new(
            "step",
            Kind::Choice(&[
                Choice::new("at-once", "with the ACK of the marked segment"),
                Choice::new("spread", "1/cwnd with each ACK of the round trip that follows (ns-2)"),
            ]),
            "at-once",
            "When the window grows by a segment, after slow start.",
        ),
        Param::new(
            "growth",
            Kind::Choice(&[
                Choice::new("any", "whether the flow uses its window or not"),
                Choice::new("used", "only while less than two segments of it are unused (ns-2)"),
            ]),
            "any",
            "When the window may grow.",
        ),
        Param::new(
            "first_window",
            Kind::Choice(&[
                Choice::new("initial", "the initial window, as soon as the handshake is over"),
                Choice::defect(
                    "one",
                    "one segment until the first data are acknowledged, after a handshake or a first segment \
                     in its place (ns-2)",
                ),
            ]),
            "initial",
            "The window with which the data begin.",
        ),
        Param::new(
            "loss",
            Kind::Choice(&[
                Choice::new("quarter", "three quarters; half if the segment was sent repeatedly"),
                Choice::new(
                    "whole-segments",
                    "the same in whole segments, of the receiver's window if that is less; two if there were \
                     three or fewer, as in ns-2",
                ),
            ]),
            "quarter",
            "Window reduction factor at a loss.",
        ),
        COUNTING,
    ],
    label: "Vegas",
    check: Some(alpha_below_beta),
    ..Entry::BLANK
};

fn alpha_below_beta(chosen: &Chosen) -> Result<(), Clash> {
    let (alpha, beta) = (chosen.real("alpha"), chosen.real("beta"));
    if alpha <= beta {
        return Ok(());
    }
    Err(Clash {
        param: "alpha",
        message: format!("`alpha` ({alpha}) is above `beta` ({beta})"),
        hint: Some(
            "the window would grow and shrink in turn; `alpha` and `beta` may be equal".into(),
        ),
    })
}

/// The least window, segments.
const LEAST: f64 = 2.0;

/// Errors of sums of segments, as real numbers, are less than this.
const TINY: f64 = 1e-6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RttOf {
    Marked,
    Mean,
    Least,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Keep,
    Eighth,
    Actual,
}

#[derive(Debug, Clone)]
struct Rules {
    alpha: f64,
    beta: f64,
    gamma: f64,
    window_is_flight: bool,
    actual_is_window: bool,
    rtt: RttOf,
    rounded: bool,
    lone_resets_base: bool,
    handshake_counts: bool,
    exit: Exit,
    spread: bool,
    only_used: bool,
    begins_with_one: bool,
    whole_segments: bool,
    counting: Counting,
}

/// What has happened since the mark.
#[derive(Debug, Clone)]
struct Round {
    since: Time,
    /// Data in flight when the next segment was marked, in the window's unit.
    ahead: f64,
    /// Data acknowledged since then.
    acked: f64,
    rtt_sum: f64,
    samples: u32,
    least: Time,
}

impl Round {
    fn new(since: Time, ahead: f64) -> Self {
        Self { since, ahead, acked: 0.0, rtt_sum: 0.0, samples: 0, least: Time::NEVER }
    }

    fn add(&mut self, rtt: Time) {
        self.rtt_sum += rtt.as_ns() as f64;
        self.samples += 1;
        self.least = self.least.min(rtt);
    }
}

/// Rules and state.
#[derive(Debug, Clone)]
pub struct Vegas {
    rules: Rules,
    /// Nanoseconds; infinite before the first sample.
    base_rtt: f64,
    round: Option<Round>,
    /// In slow start: whether the window grows in this round trip.
    growing: bool,
    /// The initial window, while it waits for the first data to be acknowledged.
    waiting: Option<f64>,
    /// What one segment's ACK adds in this round trip, segments.
    increment: f64,
}

impl Vegas {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            rules: Rules {
                alpha: chosen.real("alpha"),
                beta: chosen.real("beta"),
                gamma: chosen.real("gamma"),
                window_is_flight: chosen.word("window") == "flight",
                actual_is_window: chosen.word("actual") == "window",
                rtt: match chosen.word("rtt") {
                    "mean" => RttOf::Mean,
                    "least" => RttOf::Least,
                    _ => RttOf::Marked,
                },
                rounded: chosen.word("compare") == "rounded",
                lone_resets_base: chosen.word("base_rtt") == "lone",
                handshake_counts: chosen.word("base_rtt") != "data",
                exit: match chosen.word("exit") {
                    "eighth" => Exit::Eighth,
                    "actual" => Exit::Actual,
                    _ => Exit::Keep,
                },
                spread: chosen.word("step") == "spread",
                only_used: chosen.word("growth") == "used",
                begins_with_one: chosen.word("first_window") == "one",
                whole_segments: chosen.word("loss") == "whole-segments",
                counting: Counting::new(chosen),
            },
            base_rtt: f64::INFINITY,
            round: None,
            growing: chosen.word("first_window") == "one",
            waiting: None,
            increment: 0.0,
        }
    }

    /// Compares the rates and decides on the round trip that follows.
    fn decide(&mut self, window: &mut Window, ack: &AckEvent, round: &Round) {
        let Some(rtt) = self.rtt_of(round, ack) else { return };
        let segment = window.segment;
        let sent = (round.acked + ack.flight - round.ahead) / segment;
        if rtt < self.base_rtt || (self.rules.lone_resets_base && sent <= 1.0 + TINY) {
            self.base_rtt = rtt;
        }
        let of = if self.rules.window_is_flight { ack.flight + segment } else { window.cwnd };
        let of = of / segment;
        let actual = if self.rules.actual_is_window { of } else { sent } / rtt;
        let mut diff = (of / self.base_rtt - actual) * self.base_rtt;
        if self.rules.rounded {
            diff = (diff + 0.5).trunc();
        }
        self.increment = 0.0;
        if window.in_slow_start() {
            self.growing = !self.growing;
            if !self.growing {
                return;
            }
            if diff > self.rules.gamma {
                window.ssthresh = LEAST * segment;
                window.cwnd = self.exit_window(window, actual * segment);
            } else {
                self.increment = 1.0;
            }
        } else if diff > self.rules.beta {
            window.cwnd = (window.cwnd - segment).max(LEAST * segment);
        } else if diff < self.rules.alpha {
            if self.rules.spread {
                self.increment = segment / window.cwnd;
            } else if self.may_grow(window, ack) {
                window.cwnd += segment;
            }
        }
    }

    fn exit_window(&self, window: &Window, actual: f64) -> f64 {
        let left = match self.rules.exit {
            Exit::Keep => window.cwnd,
            Exit::Eighth => window.cwnd - window.cwnd / 8.0,
            Exit::Actual => window.cwnd.min(actual * self.base_rtt + window.segment),
        };
        left.max(LEAST * window.segment)
    }

    /// The round-trip time taken for the whole round trip, nanoseconds.
    fn rtt_of(&self, round: &Round, ack: &AckEvent) -> Option<f64> {
        let marked = ack.rtt.map(|rtt| rtt.as_ns() as f64);
        let chosen = match self.rules.rtt {
            RttOf::Marked => marked,
            RttOf::Mean if round.samples > 0 => Some(round.rtt_sum / f64::from(round.samples)),
            RttOf::Least => {
                let least = ack.rtt.map_or(round.least, |rtt| rtt.min(round.least));
                (least < Time::NEVER).then(|| least.as_ns() as f64)
            }
            RttOf::Mean => None,
        };
        let whole = || (ack.now - round.since).as_ns() as f64;
        chosen.or_else(|| Some(whole())).filter(|rtt| *rtt > 0.0)
    }

    fn may_grow(&self, window: &Window, ack: &AckEvent) -> bool {
        let unused = window.cwnd - (ack.flight + window.segment);
        !self.rules.only_used || unused <= 2.0 * window.segment
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.newly_acked == 0.0 {
            return;
        }
        // ns-2 lets its window wait for the ACK after that of the first segment alone, and does not count
        // the round trip of the first one twice.
        let opens = self.round.is_none() && self.rules.begins_with_one;
        if !opens && let Some(initial) = self.waiting.take() {
            window.cwnd = initial;
        } else if ack.newly_acked > window.segment {
            self.waiting = None;
        }
        if !ack.may_grow {
            self.round = Some(Round::new(ack.now, ack.flight));
            self.increment = 0.0;
            return;
        }
        // The first round trip is that of the initial window: what this ACK acknowledges was sent first.
        let mut round = self.round.take().unwrap_or_else(|| {
            Round::new(
                ack.rtt.map_or(ack.now, |rtt| Time::from_ns(ack.now.as_ns() - rtt.as_ns())),
                0.0,
            )
        });
        round.acked += ack.newly_acked;
        let mut round = if round.acked > round.ahead + TINY * window.segment {
            self.decide(window, ack, &round);
            Round::new(ack.now, ack.flight)
        } else {
            round
        };
        if self.increment == 1.0 && !window.in_slow_start() {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.may_grow(window, ack) {
            window.cwnd += self.increment * self.rules.counting.of(ack, window.segment);
        }
        if let Some(rtt) = ack.rtt.filter(|_| !opens) {
            round.add(rtt);
            self.base_rtt = self.base_rtt.min(rtt.as_ns() as f64);
        }
        self.round = Some(round);
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let segment = window.segment;
        let keep = match loss.signal {
            Signal::Gap | Signal::Ecn if loss.transmissions <= 1 => 0.75,
            _ => 0.5,
        };
        if !self.rules.whole_segments {
            return Some(window.cwnd * keep);
        }
        let usable = window.cwnd.min(loss.limit);
        let segments = (usable / segment).floor();
        let left = match loss.signal {
            Signal::Timeout => (usable / segment / 2.0).floor(),
            _ if segments <= 3.0 => 2.0,
            Signal::Gap if loss.transmissions > 1 => (segments / 2.0).floor(),
            _ => segments - (segments / 4.0).floor(),
        };
        Some(left * segment)
    }

    fn on_start(&mut self, window: &mut Window) {
        if self.rules.begins_with_one {
            self.waiting = Some(window.cwnd);
            window.cwnd = window.segment;
        }
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        if self.rules.handshake_counts {
            self.base_rtt = rtt.as_ns() as f64;
        }
        self.round = Some(Round::new(now, 0.0));
        self.growing = false;
        self.on_start(window);
    }

    fn needs_send_times(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
