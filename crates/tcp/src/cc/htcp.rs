//! H-TCP: the window grows the faster, the longer ago the last congestion was.
//!
//! Source: Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
//! draft-leith-tcp-htcp-06; Linux, `tcp_htcp.c`, whose rules these are where the two differ. With D seconds since the
//! last congestion, and least and greatest round-trip times:
//!
//! ```text
//! f     = 1 for D <= 1, else 1 + 10 (D - 1) + ((D - 1) / 2)²      rtt_scaling: times min_rtt / 100 ms, 0.1 to 2
//! beta  = min_rtt / max_rtt, from 0.5 to 0.8;  0.5 if the throughput before congestion has changed by a fifth
//! alpha = 2 (1 - beta) f segments per round trip                    a loss leaves beta of the window
//! ```
//!
//! The factor 2 (1 - beta) makes flows whose cuts differ grow accordingly, so that they share alike. Congestion is a
//! reaction to a loss, a mark or a timeout, and lasts until the sender has repaired it. After each, max_rtt comes 5 %
//! nearer to min_rtt; a sample raises it by at most 20 ms.
//!
//! DEVIATION: windows and times are real numbers, and alpha follows with each ACK. Linux counts whole segments,
//! ticks and whole seconds' parts of f, and renews alpha when the window has grown by a segment.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, StateEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "htcp",
    summary: help(
        "Growth accelerates with the time since the last congestion; reductions adapt to the queue.",
    ),
    references: &["Leith and Shorten 2004", "draft-leith-tcp-htcp-06", "Linux, `tcp_htcp.c`"],
    params: &[
        Param::new(
            "rtt_scaling",
            Kind::Flag,
            "true",
            "Whether growth is proportional to the RTT, so that flows with different RTTs share equally.",
        ),
        Param::new(
            "adaptive_decrease",
            Kind::Flag,
            "true",
            "Whether a loss leaves up to 0.8 of the window, instead of half, when queues are short.",
        ),
    ],
    label: "H-TCP",
    ..Entry::BLANK
};

/// Time after congestion in which the window grows as Reno's.
const LOW_SPEED: f64 = 1.0;
/// Window reduction factor at a loss.
const LEAST_BETA: f64 = 0.5;
const GREATEST_BETA: f64 = 0.8;
/// A sample of the round-trip time raises the greatest one by at most this.
const RISE: Time = Time::from_ms(20);
/// Round-trip times of less say nothing about queues.
const SHORT: Time = Time::from_ms(10);

/// What congestion changes, and a false alarm gives back.
#[derive(Debug, Clone, Copy)]
struct Memory {
    congestion: Time,
    max_rtt: Time,
    /// Greatest throughput before the last congestion, segments per second.
    peak_before: f64,
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Htcp {
    rtt_scaling: bool,
    adaptive_decrease: bool,
    now: Memory,
    before: Memory,
    min_rtt: Time,
    beta: f64,
    /// Whether the last cut was allowed to adapt.
    adapts: bool,
    /// Whether the sender is at work on the last congestion.
    repairing: bool,
    /// Data acknowledged since `since`, in the window's unit.
    acked: f64,
    since: Time,
    /// Throughput, smoothed, and its greatest value since the last congestion; segments per second.
    throughput: f64,
    peak: f64,
}

impl Htcp {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let fresh = Memory { congestion: Time::ZERO, max_rtt: Time::ZERO, peak_before: 0.0 };
        Self {
            rtt_scaling: chosen.flag("rtt_scaling"),
            adaptive_decrease: chosen.flag("adaptive_decrease"),
            now: fresh,
            before: fresh,
            min_rtt: Time::NEVER,
            beta: LEAST_BETA,
            adapts: false,
            repairing: false,
            acked: 0.0,
            since: Time::ZERO,
            throughput: 0.0,
            peak: 0.0,
        }
    }

    /// Segments that a round trip adds.
    fn alpha(&self, now: Time) -> f64 {
        let over = (now - self.now.congestion).as_secs() - LOW_SPEED;
        let mut factor = if over <= 0.0 { 1.0 } else { 1.0 + 10.0 * over + over * over / 4.0 };
        if self.rtt_scaling && self.min_rtt != Time::NEVER {
            factor *= (self.min_rtt.as_secs() / 0.1).clamp(0.1, 2.0);
        }
        2.0 * (1.0 - self.beta) * factor
    }

    fn measure_rtt(&mut self, rtt: Time, open: bool) {
        self.min_rtt = self.min_rtt.min(rtt);
        if open {
            let max = self.now.max_rtt.max(self.min_rtt);
            self.now.max_rtt = if rtt <= max + RISE { max.max(rtt) } else { max };
        }
    }

    /// The throughput over a round trip at least, in which about a window arrived.
    fn measure_throughput(&mut self, window: &Window, now: Time) {
        let span = now - self.since;
        let enough = self.acked >= window.cwnd - window.segment * self.alpha(now).max(1.0);
        if !enough || self.min_rtt == Time::NEVER || span < self.min_rtt {
            return;
        }
        let present = self.acked / window.segment / span.as_secs();
        if now - self.now.congestion <= self.min_rtt.times(3) {
            self.throughput = present;
            self.peak = present;
        } else {
            self.throughput = (3.0 * self.throughput + present) / 4.0;
            self.peak = self.peak.max(self.throughput);
        }
        self.acked = 0.0;
        self.since = now;
    }

    /// What this congestion leaves of the window.
    fn adapt(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.now.peak_before, self.peak);
        let steady = (0.8 * before..=1.2 * before).contains(&self.peak);
        let may = self.adaptive_decrease && steady;
        let ratio = self.min_rtt.as_secs() / self.now.max_rtt.as_secs();
        // The first steady one after a change still takes half.
        self.beta = if may && self.adapts && self.min_rtt > SHORT && ratio.is_finite() {
            ratio.clamp(LEAST_BETA, GREATEST_BETA)
        } else {
            LEAST_BETA
        };
        self.adapts = may;
        self.beta
    }
}

impl CongestionControl for Htcp {
    #[inline(never)]
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent) {
        let state = ack.sender.state();
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt, state == CongestionState::Open);
        }
        if state > CongestionState::Disorder {
            self.acked = 0.0;
            self.since = ack.now;
        } else {
            self.acked += ack.newly_acked;
            self.measure_throughput(window, ack.now);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            add(window, self.alpha(ack.now), acked);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        self.before = self.now;
        let left = window.cwnd * self.adapt();
        let (min, max) = (self.min_rtt, self.now.max_rtt);
        if min < max {
            self.now.max_rtt = min + Time::from_ns((max - min).as_ns() * 95 / 100);
        }
        self.now.congestion = loss.now;
        self.repairing = true;
        Some(left)
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Open && std::mem::take(&mut self.repairing) {
            self.now.congestion = change.now;
        }
    }

    fn on_undo(&mut self, window: &mut Window, before: f64) {
        window.cwnd = window.cwnd.max(before);
        if std::mem::take(&mut self.repairing) {
            self.now = self.before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::*;
    use ackclock_units::param::Value;

    fn htcp(rtt_scaling: bool) -> Htcp {
        Htcp::new(&Chosen {
            kind: "htcp".into(),
            values: vec![
                ("rtt_scaling".into(), Value::Flag(rtt_scaling)),
                ("adaptive_decrease".into(), Value::Flag(true)),
            ],
        })
    }

    fn loss(seconds: u64) -> LossEvent {
        LossEvent {
            now: Time::from_secs(seconds),
            signal: Signal::Gap,
            flight: 100.0,
            limit: f64::INFINITY,
            transmissions: 1,
        }
    }

    #[test]
    fn growth_follows_the_time_since_congestion() {
        let mut cc = htcp(false);
        let at = |cc: &Htcp| [1, 2, 3, 5, 10].map(|s| cc.alpha(Time::from_secs(s)));
        assert_eq!(at(&cc), [1.0, 11.25, 22.0, 45.0, 111.25]);
        // What cuts less grows less: 2 (1 - 0.8).
        cc.beta = 0.8;
        assert!(at(&cc).iter().zip([0.4, 4.5, 8.8, 18.0, 44.5]).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn growth_scales_with_the_round_trip_time_within_limits() {
        for (ms, factor) in [(50, 0.5), (5, 0.1), (400, 2.0)] {
            let mut cc = htcp(true);
            cc.measure_rtt(Time::from_ms(ms), true);
            assert!((cc.alpha(Time::from_secs(3)) - 22.0 * factor).abs() < 1e-9);
        }
    }

    /// Least 80 ms, greatest 100 ms (later 99 and less), the same throughput each time.
    #[test]
    fn a_cut_empties_the_queue_from_the_second_steady_congestion_on() {
        let mut cc = htcp(false);
        cc.measure_rtt(Time::from_ms(80), true);
        cc.measure_rtt(Time::from_ms(100), true);
        cc.peak = 1000.0;
        let window = Window { cwnd: 100.0, ssthresh: 10.0, segment: 1.0 };
        assert_eq!(cc.on_loss(&window, &loss(1)), Some(50.0));
        assert_eq!(cc.on_loss(&window, &loss(2)), Some(50.0));
        // 100, 99 and 98.05 ms after two losses.
        let left = cc.on_loss(&window, &loss(3)).unwrap();
        assert!((left - 100.0 * 80.0 / 98.05).abs() < 20.0 && left == 80.0, "{left}");
        cc.peak = 1300.0;
        assert_eq!(cc.on_loss(&window, &loss(4)), Some(50.0));
    }

    #[test]
    fn a_false_alarm_changes_nothing() {
        let mut cc = htcp(false);
        let mut window = Window { cwnd: 50.0, ssthresh: 10.0, segment: 1.0 };
        let before = cc.alpha(Time::from_secs(6));
        cc.on_loss(&window, &loss(5));
        assert_eq!(cc.alpha(Time::from_secs(6)), 1.0);
        cc.on_undo(&mut window, 100.0);
        assert_eq!((cc.alpha(Time::from_secs(6)), window.cwnd), (before, 100.0));
    }
}
