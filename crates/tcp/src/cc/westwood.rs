//! Westwood+: a loss cuts the window to what the measured rate needs with an empty queue.
//!
//! Source: Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: Bandwidth estimation for enhanced transport over
//! wireless links", MobiCom 2001; Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno,
//! and Vegas TCP congestion control", ACM CCR 34(2), 2004; Linux, `tcp_westwood.c`, for interval and filter. Growth is
//! Reno's. At the first ACK after an interval of the longer of the last round-trip time and 50 ms:
//!
//! ```text
//! sample = acknowledged in the interval / its length
//! slow  := 7/8 slow + 1/8 sample          rate := 7/8 rate + 1/8 slow          (both the first sample at first)
//! a loss asks for rate · min_rtt
//! ```
//!
//! So losses that no queue has caused cut the window little, and the queue that a loss leaves is empty. After a
//! timeout the minimum round-trip time is measured anew.
//!
//! DEVIATION: Linux halves the window during recovery, and sets rate · min_rtt at its end; here it is what the loss asks
//! for, as in the papers, but no more than the window.
//! DEVIATION: what duplicate ACKs say counts with the ACK of new data that follows.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, LossEvent, Signal, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "westwood",
    summary: help(
        "Westwood+: at a loss, the window is set to the measured rate times the minimum RTT; for wireless links.",
    ),
    references: &["Mascolo and others 2001", "Grieco and Mascolo 2004", "Linux, `tcp_westwood.c`"],
    params: &[Param::new(
        "interval",
        Kind::Time,
        "50 ms",
        "Minimum time over which a rate sample is taken.",
    )
    .at_least("1 ms")
    .at_most("10 s")],
    label: "Westwood+",
    ..Entry::BLANK
};

/// Weight of what was before in both filters.
const KEPT: f64 = 7.0 / 8.0;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Westwood {
    least_interval: Time,
    /// Begin of this interval; none before the first ACK.
    since: Option<Time>,
    /// Data acknowledged in it, in the window's unit.
    acked: f64,
    /// The filters' values, in the window's unit a second.
    slow: f64,
    rate: f64,
    rtt: Time,
    min_rtt: Time,
}

impl Westwood {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            least_interval: Time::from_ns(chosen.int("interval_ns")),
            since: None,
            acked: 0.0,
            slow: 0.0,
            rate: 0.0,
            rtt: Time::ZERO,
            min_rtt: Time::NEVER,
        }
    }

    /// An interval that is over becomes a sample, before the ACK that ends it counts.
    fn measure(&mut self, now: Time) {
        let since = *self.since.get_or_insert(now);
        let length = now - since;
        if length <= self.rtt.max(self.least_interval) {
            return;
        }
        let sample = self.acked / length.as_secs();
        if self.rate == 0.0 && self.slow == 0.0 {
            (self.slow, self.rate) = (sample, sample);
        } else {
            self.slow = KEPT * self.slow + (1.0 - KEPT) * sample;
            self.rate = KEPT * self.rate + (1.0 - KEPT) * self.slow;
        }
        self.acked = 0.0;
        self.since = Some(now);
    }
}

impl CongestionControl for Westwood {
    fn on_established(&mut self, _window: &mut Window, now: Time, rtt: Time) {
        self.since = Some(now);
        self.rtt = rtt;
    }

    #[inline(never)]
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.min_rtt = self.min_rtt.min(rtt);
        }
        self.measure(ack.now);
        self.acked += ack.newly_acked;
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            add(window, 1.0, acked);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let measured = self.rate > 0.0 && self.min_rtt != Time::NEVER;
        let left = if measured { self.rate * self.min_rtt.as_secs() } else { window.cwnd / 2.0 };
        if loss.signal == Signal::Timeout {
            self.min_rtt = Time::NEVER;
        }
        Some(left.min(window.cwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn westwood() -> Westwood {
        Westwood {
            least_interval: Time::from_ms(50),
            since: None,
            acked: 0.0,
            slow: 0.0,
            rate: 0.0,
            rtt: Time::ZERO,
            min_rtt: Time::NEVER,
        }
    }

    /// A segment each millisecond, round trips of 40 ms and a queue of 60 ms more later on.
    #[test]
    fn a_loss_leaves_the_measured_rate_times_the_least_round_trip_time() {
        let mut cc = westwood();
        let mut window = Window { cwnd: 100.0, ssthresh: 10.0, segment: 1.0 };
        for ms in 0..2000 {
            let rtt = Some(Time::from_ms(if ms < 100 { 40 } else { 100 }));
            let ack =
                AckEvent { now: Time::from_ms(ms), newly_acked: 1.0, rtt, ..AckEvent::default() };
            cc.on_sample(&mut window, &ack);
        }
        let mut loss = LossEvent {
            now: Time::from_secs(2),
            signal: Signal::Gap,
            flight: 100.0,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        let left = cc.on_loss(&window, &loss).unwrap();
        assert!((left - 40.0).abs() < 0.5, "{left}");
        window.cwnd = 20.0;
        assert_eq!(cc.on_loss(&window, &loss), Some(20.0));
        // After a timeout the least is forgotten, and until the next sample half is taken.
        loss.signal = Signal::Timeout;
        cc.on_loss(&window, &loss);
        assert_eq!(cc.on_loss(&window, &loss), Some(10.0));
    }

    #[test]
    fn the_filter_follows_in_two_steps() {
        let mut cc = westwood();
        cc.since = Some(Time::ZERO);
        cc.acked = 64.0;
        cc.measure(Time::from_ns(62_500_000));
        assert_eq!((cc.slow, cc.rate), (1024.0, 1024.0));
        // An interval of nothing.
        cc.measure(Time::from_ns(125_000_000));
        assert_eq!((cc.slow, cc.rate), (896.0, 1008.0));
    }
}
