//! Copa: sends at a rate that is inverse to the measured wait, and so keeps few packets in the queue.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical delay-based congestion control for the Internet", NSDI 2018; where it
//! leaves things open, the authors' implementation (genericCC) and that of mvfst. With the minimum round-trip time of ten
//! seconds and the "standing" one, the least of half a smoothed round-trip time:
//!
//! ```text
//! wait d = standing - min          target rate = 1 / (delta d) packets per second         rate = cwnd / standing
//! rate <= target: cwnd grows by v / (delta cwnd) for each acknowledged packet; else it shrinks by that
//! pace = 2 cwnd / standing
//! ```
//!
//! It begins with slow start until the rate is above the target. The velocity v is 1; when the window has gone the same
//! way for three round trips v doubles in each further one, no faster than slow start; at a turn it is 1 again. In theory
//! a flow keeps 1/delta packets waiting, N flows N/delta, and rates are alike whatever the round-trip times.
//!
//! Where the queue has not been nearly empty (a tenth of its greatest wait) for five round trips, something else fills
//! it: `competitive` then lets 1/delta grow by 1 a round trip and halves it at a loss, as Reno does with its window, down to the
//! default. Otherwise losses do not count; after a timeout the flow starts anew from two segments.
//!
//! DEVIATION: `competitive` is off, as in mvfst. A flow's own swing is four or five packets, and a tenth of that less than what a
//! link that is never idle shows, so that flows of Copa alone take each other for something else at times.
//! DEVIATION: least and greatest of recent samples are those of an estimator in constant room, as in mvfst; they
//! can be a little older than a sliding window would have them.
//! DEVIATION: a round trip is what is counted by sequence numbers, not a span of time.

use super::max_filter::MaxFilter;
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Rounds, StateEvent, Window};
use crate::journal::Rule;
use ackclock_math::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "copa",
    summary: help(
        "Delay-based: targets a rate inversely proportional to the queueing delay; can compete with buffer-filling flows.",
    ),
    references: &[
        "Arun and Balakrishnan 2018",
        "mvfst and genericCC for what the paper leaves open",
    ],
    params: &[
        Param::new(
            "delta",
            Kind::Real,
            "0.5",
            "Inverse of the number of packets that a flow keeps queued.",
        )
        .at_least("0.001")
        .at_most("10"),
        Param::new(
            "competitive",
            Kind::Flag,
            "false",
            "Whether it becomes as aggressive as Reno while other flows keep the queue from emptying.",
        ),
        Param::new("min_rtt_window", Kind::Time, "10 s", "How long a minimum RTT is valid.")
            .at_least("100 ms"),
    ],
    label: "Copa",
    ..Entry::BLANK
};

/// The greatest round-trip time is that of so many round trips; without an empty queue for `BUSY` something fills it.
const GREATEST_ROUNDS: u64 = 4;
const BUSY: u64 = 5;
/// A queue is nearly empty where the wait is at most this part of the greatest.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips in one direction after which the velocity doubles.
const STEADY: u32 = 3;
/// Least window, segments.
const LEAST: f64 = 2.0;
/// Until a round-trip time is known it is taken for this (as Linux does for BBR).
const UNKNOWN: Time = Time::from_ms(1);

/// The least of recent times.
#[derive(Debug, Clone, Copy, Default)]
struct MinFilter(MaxFilter);

impl MinFilter {
    fn add(&mut self, window: Time, now: Time, rtt: Time) {
        self.0.add(window.as_ns(), now.as_ns(), u64::MAX - rtt.as_ns());
    }

    fn get(&self) -> Time {
        Time::from_ns(u64::MAX - self.0.get())
    }
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Copa {
    default_delta: f64,
    competitive: bool,
    min_rtt_window: Time,
    /// Bits of a full segment's payload.
    bits: f64,
    delta: f64,
    least: MinFilter,
    standing: MinFilter,
    greatest: MaxFilter,
    rounds: Rounds,
    /// Last round trip with a nearly empty queue.
    empty_in: u64,
    slow_start: bool,
    velocity: f64,
    grows: bool,
    /// Round trips in this direction, and the window when the present one began.
    steady: u32,
    cwnd_before: f64,
    /// Whether the flow lost something in this round trip.
    lost: bool,
    pacing_rate: u64,
}

impl Copa {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self::of(chosen.real("delta"), chosen.flag("competitive"), chosen.int("min_rtt_window_ns"))
    }

    fn of(delta: f64, competitive: bool, min_rtt_window: u64) -> Self {
        Self {
            default_delta: delta,
            competitive,
            min_rtt_window: Time::from_ns(min_rtt_window),
            bits: 0.0,
            delta,
            least: MinFilter::default(),
            standing: MinFilter::default(),
            greatest: MaxFilter::default(),
            rounds: Rounds::default(),
            empty_in: 0,
            slow_start: true,
            velocity: 1.0,
            grows: true,
            steady: 0,
            cwnd_before: 0.0,
            lost: false,
            pacing_rate: 0,
        }
    }

    fn pace(&mut self, segments: f64, rtt: Time) {
        self.pacing_rate = (2.0 * segments * self.bits / rtt.as_secs().max(1e-9)) as u64;
    }

    /// A sample; the standing wait in seconds after it.
    fn measure(&mut self, ack: &AckEvent, rtt: Time) -> f64 {
        let srtt = ack.sender.srtt().unwrap_or(rtt);
        self.least.add(self.min_rtt_window, ack.now, rtt);
        self.standing.add(Time::from_ns(srtt.as_ns() / 2), ack.now, rtt);
        self.greatest.add(GREATEST_ROUNDS * srtt.as_ns(), ack.now.as_ns(), rtt.as_ns());
        let wait = self.standing.get().since(self.least.get()).as_secs();
        let longest = Time::from_ns(self.greatest.get()).since(self.least.get()).as_secs();
        if wait <= NEARLY_EMPTY * longest {
            self.empty_in = self.rounds.count;
        }
        wait
    }

    /// A round trip has ended: which way the window went in it, and what fills the queue.
    fn turn(&mut self, segments: f64) {
        let grows = segments > self.cwnd_before;
        self.cwnd_before = segments;
        if grows == self.grows {
            self.steady += 1;
            if self.steady >= STEADY {
                self.velocity *= 2.0;
            }
        } else {
            self.grows = grows;
            self.steady = 0;
            self.velocity = 1.0;
        }
        let fills = self.competitive && self.rounds.count > self.empty_in + BUSY;
        if !fills {
            self.delta = self.default_delta;
        } else if !std::mem::take(&mut self.lost) {
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
        }
        // No faster than slow start, which doubles the window.
        while self.velocity > 1.0 && self.velocity > segments * self.delta {
            self.velocity /= 2.0;
        }
    }
}

impl CongestionControl for Copa {
    fn on_flow(&mut self, segment: u16, _stream: &mut dyn FnMut() -> Stream) {
        self.bits = 8.0 * f64::from(segment);
    }

    fn on_start(&mut self, window: &mut Window) {
        self.pace(window.cwnd / window.segment, UNKNOWN);
    }

    fn on_established(&mut self, window: &mut Window, _now: Time, rtt: Time) {
        self.pace(window.cwnd / window.segment, rtt);
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let wait = self.measure(ack, rtt);
        let standing = self.standing.get();
        let acked = ack.newly_acked / window.segment;
        let mut segments = window.cwnd / window.segment;
        // cwnd / standing <= 1 / (delta wait)
        let up = segments * self.delta * wait <= standing.as_secs();
        if up != self.grows && self.velocity > 1.0 {
            (self.velocity, self.steady) = (1.0, 0);
        }
        if self.slow_start && !up {
            self.slow_start = false;
            // What slow start has put into the queue says nothing about others.
            self.empty_in = self.rounds.count;
        }
        let may_grow = !ack.is_app_limited(window);
        let step = self.velocity * acked / (self.delta * segments);
        match (up, self.slow_start) {
            (true, true) if may_grow => segments += acked,
            (true, false) if may_grow => segments += step,
            (true, _) => {}
            (false, _) => segments = (segments - step).max(LEAST),
        }
        window.cwnd = segments * window.segment;
        if self.rounds.on_ack(ack) && !self.slow_start {
            self.turn(segments);
        }
        self.pace(segments, standing);
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        if self.delta < self.default_delta {
            self.delta = (2.0 * self.delta).min(self.default_delta);
        }
        self.lost = true;
        Some(window.cwnd)
    }

    fn on_state(&mut self, window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            window.cwnd = LEAST * window.segment;
            self.slow_start = true;
            (self.velocity, self.steady, self.delta) = (1.0, 0, self.default_delta);
        }
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate)
    }

    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        (!self.slow_start).then_some(Rule::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::*;

    /// Windows after ACKs of one segment each, a millisecond apart, with these round-trip times.
    fn windows(cc: &mut Copa, window: &mut Window, second: u64, rtts: &[u64]) -> Vec<f64> {
        let mut una = 0;
        let mut now = Time::from_secs(second);
        let acks = rtts.iter().map(|ms| {
            una += 1;
            now += Time::from_ms(1);
            let ack = AckEvent {
                now,
                rtt: Some(Time::from_ms(*ms)),
                newly_acked: 1.0,
                una,
                nxt: una + window.cwnd as u64,
                ..AckEvent::default()
            };
            cc.on_ack(window, &ack);
            window.cwnd
        });
        acks.collect()
    }

    #[test]
    fn it_leaves_slow_start_where_the_rate_is_above_the_target() {
        let mut cc = Copa::of(0.5, true, 10_000_000_000);
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY, segment: 1.0 };
        // 21 segments in 50 ms against 1 / (0.5 · 0) and then 1 / (0.5 · 10 ms): 420 against 200 a second.
        assert_eq!(windows(&mut cc, &mut window, 1, &[50, 50]), [21.0, 22.0]);
        let next = windows(&mut cc, &mut window, 2, &[60]);
        assert!((next[0] - (22.0 - 1.0 / 11.0)).abs() < 1e-9, "{next:?}");
        assert!(!cc.slow_start);
    }

    #[test]
    fn velocity_doubles_after_three_round_trips_in_one_direction() {
        let mut cc = Copa::of(0.5, false, 10_000_000_000);
        cc.cwnd_before = 100.0;
        let seen: Vec<f64> = (1..=5)
            .map(|round| {
                cc.turn(100.0 + f64::from(round));
                cc.velocity
            })
            .collect();
        assert_eq!(seen, [1.0, 1.0, 2.0, 4.0, 8.0]);
        cc.turn(90.0);
        assert_eq!((cc.velocity, cc.grows), (1.0, false));
    }

    #[test]
    fn a_queue_that_is_never_empty_makes_it_aggressive_and_losses_less() {
        let mut cc = Copa::of(0.5, true, 10_000_000_000);
        cc.rounds.count = 10;
        cc.turn(50.0);
        cc.turn(51.0);
        assert_eq!(cc.delta, 0.25);
        let loss = LossEvent {
            now: Time::from_secs(2),
            signal: Signal::Gap,
            flight: 50.0,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        let window = Window { cwnd: 50.0, ssthresh: 10.0, segment: 1.0 };
        assert_eq!(cc.on_loss(&window, &loss), Some(50.0));
        assert_eq!(cc.delta, 0.5);
        cc.turn(52.0);
        assert_eq!(cc.delta, 0.5);
        cc.turn(53.0);
        assert!(cc.delta < 0.5);
        cc.empty_in = 10;
        cc.turn(54.0);
        assert_eq!(cc.delta, 0.5);
    }
}
