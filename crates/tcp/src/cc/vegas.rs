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
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "vegas",
    summary: "Delay-based: keeps between alpha and beta packets of the flow waiting in queues.",
    references: &["Brakmo and Peterson 1995", "ns-2.35 and Linux (tcp_vegas) for the options"],
    params: &[
        Param::new("alpha", Kind::Real, "1", "Packets in queues below which the window grows.")
            .at_least("0")
            .at_most("1e6"),
        Param::new("beta", Kind::Real, "3", "Packets in queues above which it shrinks.")
            .at_least("0")
            .at_most("1e6"),
        Param::new("gamma", Kind::Real, "1", "Packets in queues above which slow start ends.")
            .at_least("0")
            .at_most("1e6"),
        Param::new(
            "window",
            Kind::Choice(&[
                Choice::new("cwnd", "the congestion window, as in the paper"),
                Choice::new("flight", "the data in flight and the next segment, as in ns-2"),
            ]),
            "cwnd",
            "The window of the expected rate.",
        ),
        Param::new(
            "actual",
            Kind::Choice(&[
                Choice::new("sent", "segments sent since the mark, as in the paper and in ns-2"),
                Choice::new(
                    "window",
                    "the window, as in Linux: delayed ACKs make the count of segments uneven",
                ),
            ]),
            "sent",
            "What the actual rate counts.",
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
            "The round-trip time of the actual rate.",
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
                Choice::new("least", "the least round-trip time ever seen, as in the paper"),
                Choice::new(
                    "lone",
                    "also that of a round trip in which at most one segment was sent, as in ns-2",
                ),
            ]),
            "least",
            "What counts as the round-trip time of the empty path.",
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
                    "one segment until the first data are acknowledged, after a handshake (ns-2)",
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
                    "the same in whole segments, two if there were three or fewer, as in ns-2",
                ),
            ]),
            "quarter",
            "What a loss leaves of the window.",
        ),
        COUNTING,
    ],
    ..Entry::BLANK
};

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
            growing: false,
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

    /// The round-trip time that stands for the round trip, nanoseconds.
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
        if let Some(initial) = self.waiting.take() {
            window.cwnd = initial;
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
        if let Some(rtt) = ack.rtt {
            round.add(rtt);
            self.base_rtt = self.base_rtt.min(rtt.as_ns() as f64);
        }
        self.round = Some(round);
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let segment = window.segment;
        let keep = match loss.signal {
            Signal::Gap if loss.transmissions <= 1 => 0.75,
            _ => 0.5,
        };
        if !self.rules.whole_segments {
            return Some(window.cwnd * keep);
        }
        let segments = (window.cwnd / segment).floor();
        let left = match loss.signal {
            Signal::Timeout => (window.cwnd / segment / 2.0).floor(),
            Signal::Gap if segments <= 3.0 => 2.0,
            Signal::Gap if loss.transmissions > 1 => (segments / 2.0).floor(),
            Signal::Gap => segments - (segments / 4.0).floor(),
        };
        Some(left * segment)
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        self.base_rtt = rtt.as_ns() as f64;
        self.round = Some(Round::new(now, 0.0));
        if self.rules.begins_with_one {
            self.waiting = Some(window.cwnd);
            window.cwnd = window.segment;
        }
    }

    fn needs_send_times(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    /// Vegas with the rules of the paper, but for these.
    fn vegas(other: &[(&str, &str)]) -> Vegas {
        let words = [
            ("window", "cwnd"),
            ("actual", "sent"),
            ("rtt", "marked"),
            ("compare", "exact"),
            ("base_rtt", "least"),
            ("exit", "keep"),
            ("step", "at-once"),
            ("growth", "any"),
            ("first_window", "initial"),
            ("loss", "quarter"),
            ("counting", "capped-bytes"),
        ];
        let mut values: Vec<(String, Value)> = [("alpha", 1.0), ("beta", 3.0), ("gamma", 1.0)]
            .map(|(name, value)| (name.into(), Value::Real(value)))
            .into();
        for (name, default) in words {
            let given = other.iter().find(|(other, _)| *other == name);
            let word = given.map_or(default, |(_, value)| value);
            values.push((name.into(), Value::Word(word.into())));
        }
        Vegas::new(&Chosen { kind: "vegas".into(), values })
    }

    /// A flow with windows in segments whose round trips do not overlap: all of a window is sent at once,
    /// and its ACKs come together.
    struct Rounds {
        cc: Vegas,
        window: Window,
        now: Time,
    }

    impl Rounds {
        fn new(cc: Vegas, cwnd: f64, ssthresh: f64) -> Self {
            Self { cc, window: Window { cwnd, ssthresh, segment: 1.0 }, now: Time::ZERO }
        }

        /// The round-trip times of the next window, one ACK each.
        fn round(&mut self, rtt_ms: u64) -> f64 {
            self.now += Time::from_ms(rtt_ms);
            let sent = self.window.cwnd.floor();
            let before = self.window.cwnd;
            for left in (0..sent as u32).rev() {
                // Each ACK lets one segment out, and one more for each by which the window grew.
                let answered = sent - 1.0 - f64::from(left);
                let grown = self.window.cwnd.floor() - before.floor();
                self.cc.on_ack(
                    &mut self.window,
                    &AckEvent {
                        now: self.now,
                        rtt: Some(Time::from_ms(rtt_ms)),
                        base_rtt: Time::ZERO,
                        newly_acked: 1.0,
                        flight: f64::from(left) + answered + grown,
                        may_grow: true,
                    },
                );
            }
            self.window.cwnd
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_and_ends_above_gamma() {
        let mut flow = Rounds::new(vegas(&[]), 2.0, f64::INFINITY);
        let seen: Vec<f64> = (0..6).map(|_| flow.round(100)).collect();
        assert_eq!(seen, [4.0, 4.0, 8.0, 8.0, 16.0, 16.0]);
        // 16 segments at 108 ms: 16 - 16 100/108 = 1.19 of them wait.
        assert_eq!(flow.round(108), 16.0);
        assert!(!flow.window.in_slow_start());
    }

    #[test]
    fn what_slow_start_leaves_is_an_option() {
        for (exit, left) in [("keep", 16.0), ("eighth", 14.0), ("actual", 12.8 + 1.0)] {
            let mut flow = Rounds::new(vegas(&[("exit", exit)]), 16.0, f64::INFINITY);
            flow.cc.base_rtt = 100e6;
            flow.round(125);
            assert!((flow.window.cwnd - left).abs() < 1e-9, "{exit}: {}", flow.window.cwnd);
        }
    }

    #[test]
    fn afterwards_it_keeps_between_alpha_and_beta_packets_waiting() {
        // 20 segments: diff = 20 (1 - 100 / rtt).
        for (rtt, compare, after) in [
            (105, "exact", 21.0),   // 0.95
            (106, "exact", 20.0),   // 1.13
            (117, "exact", 20.0),   // 2.91
            (118, "exact", 19.0),   // 3.05
            (105, "rounded", 20.0), // 1
            (121, "rounded", 20.0), // 3.47 counts as 3
            (122, "rounded", 19.0), // 3.61 counts as 4
        ] {
            let mut flow = Rounds::new(vegas(&[("compare", compare)]), 20.0, 2.0);
            flow.cc.base_rtt = 100e6;
            assert_eq!(flow.round(rtt), after, "{rtt} ms, {compare}");
        }
    }

    #[test]
    fn the_step_may_be_spread_over_the_round_trip_that_follows() {
        let mut flow = Rounds::new(vegas(&[("step", "spread")]), 10.0, 2.0);
        flow.round(100);
        assert!((flow.window.cwnd - 11.0).abs() < 1e-9, "{}", flow.window.cwnd);
    }

    #[test]
    fn a_round_trip_without_leave_to_grow_is_not_compared() {
        let mut flow = Rounds::new(vegas(&[]), 10.0, 2.0);
        let ack = |now, newly_acked, may_grow| AckEvent {
            now: Time::from_ms(now),
            rtt: Some(Time::from_ms(100)),
            base_rtt: Time::ZERO,
            newly_acked,
            flight: 10.0 - newly_acked,
            may_grow,
        };
        flow.cc.on_ack(&mut flow.window, &ack(100, 10.0, false));
        flow.cc.on_ack(&mut flow.window, &ack(150, 5.0, false));
        // Five segments were in flight when the recovery ended: the sixth is the marked one.
        flow.cc.on_ack(&mut flow.window, &ack(200, 5.0, true));
        assert_eq!(flow.window.cwnd, 10.0);
        flow.cc.on_ack(&mut flow.window, &ack(250, 5.0, true));
        assert_eq!(flow.window.cwnd, 11.0);
    }

    #[test]
    fn a_lone_segment_sets_the_base_anew_if_asked_to() {
        let lone = AckEvent {
            now: Time::from_ms(500),
            rtt: Some(Time::from_ms(200)),
            base_rtt: Time::ZERO,
            newly_acked: 1.0,
            flight: 0.0,
            may_grow: true,
        };
        for (rule, base) in [("least", 100e6), ("lone", 200e6)] {
            let mut flow = Rounds::new(vegas(&[("base_rtt", rule)]), 2.0, 2.0);
            flow.cc.base_rtt = 100e6;
            flow.cc.on_ack(&mut flow.window, &lone);
            assert_eq!(flow.cc.base_rtt, base);
        }
    }

    #[test]
    fn after_a_handshake_the_first_window_may_be_one_segment() {
        for (first, window, grown) in [("initial", 4.0, 8.0), ("one", 1.0, 5.0)] {
            let rules = [("first_window", first), ("window", "flight")];
            let mut flow = Rounds::new(vegas(&rules), 4.0, f64::INFINITY);
            flow.cc.on_established(&mut flow.window, Time::ZERO, Time::from_ms(90));
            assert_eq!(flow.cc.base_rtt, 90e6);
            assert_eq!(flow.window.cwnd, window, "{first}");
            // 4 - 4 90/100 = 0.4 packets wait, or 0.1: less than gamma, so the window grows by each ACK.
            assert_eq!(flow.round(100), grown, "{first}");
        }
    }

    #[test]
    fn a_loss_costs_a_quarter_and_a_repeated_one_half() {
        let cut = |loss: &str, cwnd, signal, transmissions| {
            let window = Window { cwnd, ssthresh: 2.0, segment: 1.0 };
            let event = LossEvent {
                now: Time::ZERO,
                signal,
                flight: cwnd,
                limit: f64::INFINITY,
                transmissions,
            };
            vegas(&[("loss", loss)]).on_loss(&window, &event).unwrap()
        };
        assert_eq!(cut("quarter", 10.5, Signal::Gap, 1), 7.875);
        assert_eq!(cut("quarter", 10.5, Signal::Gap, 2), 5.25);
        assert_eq!(cut("quarter", 10.5, Signal::Timeout, 1), 5.25);
        // 10 - floor(10 / 4), floor(10 / 2), floor(10.5 / 2), and two of three.
        assert_eq!(cut("whole-segments", 10.5, Signal::Gap, 1), 8.0);
        assert_eq!(cut("whole-segments", 10.5, Signal::Gap, 2), 5.0);
        assert_eq!(cut("whole-segments", 10.5, Signal::Timeout, 1), 5.0);
        assert_eq!(cut("whole-segments", 3.9, Signal::Gap, 1), 2.0);
    }
}
