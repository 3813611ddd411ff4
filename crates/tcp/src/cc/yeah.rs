//! YeAH: grows as Scalable TCP while queues are short, as Reno while they are not, and empties a queue of its own.
//!
//! Source: Baiocchi, Castellani and Vacirca, "YeAH-TCP: Yet another highspeed TCP", PFLDnet 2007; Linux, `tcp_yeah.c`, for
//! the order of things. As Vegas it estimates once a round trip how many of its segments wait, from the minimum round-trip time of
//! that round trip and the least one ever:
//!
//! ```text
//! q = cwnd (rtt - base_rtt) / rtt
//! q > 80 or rtt - base_rtt > base_rtt / 8:   slow: grows as Reno;      else fast: as Scalable
//! q > 80:   cwnd := max(cwnd - min(q, cwnd / 2), reno),  ssthresh := cwnd
//! a loss takes, after fewer than 16 slow round trips in a row, max(min(q, cwnd / 2), cwnd / 8), else half
//! ```
//!
//! `reno` is the window that a flow of Reno would have by now: half the window when slow round trips begin, one segment
//! more in each; it halves at a loss, and is forgotten after 50 fast round trips. So the flow leaves the queue to nobody
//! but those as greedy as itself.
//!
//! DEVIATION: windows are real numbers; Linux counts whole segments.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Rounds, StateEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "yeah",
    summary: help("Scalable TCP while queues are short, Reno while they are not; empties a queue of its own."),
    references: &["Baiocchi, Castellani and Vacirca 2007", "Linux, `tcp_yeah.c`"],
    params: &[
        Param::new(
            "queue",
            Kind::Real,
            "80",
            "Packets of the flow in queues above which it takes them out (Q_max).",
        )
        .at_least("0")
        .at_most("1e6"),
        Param::new(
            "delay",
            Kind::Real,
            "0.125",
            "Queueing delay, as a fraction of the minimum RTT, above which it grows as Reno (1/phi).",
        )
        .at_least("0")
        .at_most("100"),
        Param::new("decrease", Kind::Real, "0.125", "The least that a loss takes of the window.")
            .at_least("0")
            .at_most("0.5"),
        Param::new(
            "rounds",
            Kind::Count,
            "16",
            "Slow round trips in a row from which on a loss takes half (rho).",
        )
        .at_most("1000000"),
    ],
    native: true,
    label: "YeAH",
    ..Entry::BLANK
};

/// Samples below which a round trip decides nothing.
const FEW: u32 = 3;
/// Fast round trips after which other flows are forgotten.
const ZETA: u32 = 50;
/// Growth of a large window by each segment acknowledged (Scalable TCP).
const SCALABLE: f64 = 0.01;
/// Least window of a flow of Reno, segments.
const LEAST: f64 = 2.0;

/// Options and state of one flow. Windows are segments, times seconds.
#[derive(Debug, Clone)]
pub struct Yeah {
    queue: f64,
    delay: f64,
    decrease: f64,
    slow_rounds: u32,
    rounds: Rounds,
    base: f64,
    least: f64,
    samples: u32,
    /// What waited at the end of the last round trip.
    last: f64,
    /// Slow round trips in a row; 0 in fast ones.
    slow: u32,
    fast: u32,
    reno: f64,
}

impl Yeah {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let [queue, delay, decrease] = ["queue", "delay", "decrease"].map(|name| chosen.real(name));
        Self::of(queue, delay, decrease, chosen.int("rounds") as u32)
    }

    fn of(queue: f64, delay: f64, decrease: f64, slow_rounds: u32) -> Self {
        Self {
            queue,
            delay,
            decrease,
            slow_rounds,
            rounds: Rounds::default(),
            base: f64::INFINITY,
            least: f64::INFINITY,
            samples: 0,
            last: 0.0,
            slow: 0,
            fast: 0,
            reno: LEAST,
        }
    }

    /// A round trip has ended.
    fn decide(&mut self, window: &mut Window) {
        let (rtt, samples) = (self.least, self.samples);
        (self.least, self.samples) = (f64::INFINITY, 0);
        if samples < FEW {
            return;
        }
        let segments = window.cwnd / window.segment;
        let waits = segments * (rtt - self.base) / rtt;
        self.last = waits;
        if waits <= self.queue && rtt - self.base <= self.base * self.delay {
            self.slow = 0;
            self.fast += 1;
            if self.fast > ZETA {
                (self.fast, self.reno) = (0, LEAST);
            }
            return;
        }
        if waits > self.queue && segments > self.reno {
            let left = (segments - waits.min(segments / 2.0)).max(self.reno);
            window.cwnd = left * window.segment;
            window.ssthresh = window.cwnd;
        }
        self.reno = if self.reno > LEAST {
            self.reno + 1.0
        } else {
            (window.cwnd / window.segment / 2.0).max(LEAST)
        };
        self.slow = self.slow.saturating_add(1);
    }
}

impl CongestionControl for Yeah {
    #[inline(never)]
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt.map(Time::as_secs) {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if !ack.may_grow {
            return;
        }
        let acked = climb(window, ack);
        if acked > 0.0 {
            if self.slow > 0 {
                add(window, 1.0, acked);
            } else {
                let reno = window.segment / window.cwnd;
                window.cwnd += window.segment * acked * SCALABLE.max(reno);
            }
        }
        if self.rounds.on_ack(ack) {
            self.decide(window);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        self.fast = 0;
        self.reno = (self.reno / 2.0).max(LEAST);
        let half = window.cwnd / 2.0;
        let cut = if self.slow < self.slow_rounds {
            (self.last * window.segment).min(half).max(window.cwnd * self.decrease)
        } else {
            half
        };
        Some(window.cwnd - cut)
    }

    /// What recoveries measure decides nothing.
    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Open {
            self.rounds.restart(change.nxt);
            (self.least, self.samples) = (f64::INFINITY, 0);
        }
    }

    fn on_idle(&mut self, _window: &mut Window, _now: Time) {
        self.base = f64::INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::*;

    fn yeah() -> Yeah {
        Yeah { base: 0.1, ..Yeah::of(80.0, 0.125, 0.125, 16) }
    }

    /// A round trip in which the minimum round-trip time is so many milliseconds.
    fn round(cc: &mut Yeah, window: &mut Window, rtt_ms: f64) {
        (cc.least, cc.samples) = (rtt_ms / 1e3, 3);
        cc.decide(window);
    }

    fn loss(cc: &mut Yeah, window: &Window) -> f64 {
        let loss = LossEvent {
            now: Time::ZERO,
            signal: Signal::Gap,
            flight: window.cwnd,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        cc.on_loss(window, &loss).unwrap()
    }

    #[test]
    fn a_long_queue_is_taken_out_down_to_renos_window() {
        let mut cc = yeah();
        let mut window = Window { cwnd: 1000.0, ssthresh: 500.0, segment: 1.0 };
        // A tenth of 1000 waits at 111 ms: more than 80, less than an eighth of the path's time.
        round(&mut cc, &mut window, 1000.0 / 9.0);
        assert!((window.cwnd - 900.0).abs() < 1e-9 && window.ssthresh == window.cwnd);
        assert!((cc.reno - 450.0).abs() < 1e-9 && cc.slow == 1);
        // Half at most, and never below what Reno would have.
        round(&mut cc, &mut window, 1000.0);
        assert!((window.cwnd - 450.0).abs() < 1e-9);
        // By now that is 451 segments: nothing is left to take.
        round(&mut cc, &mut window, 1000.0);
        assert!((window.cwnd - 450.0).abs() < 1e-9 && (cc.reno - 452.0).abs() < 1e-9);
        // A wait of an eighth makes it slow, without a cut where few wait.
        let mut cc = yeah();
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0, segment: 1.0 };
        round(&mut cc, &mut window, 120.0);
        assert_eq!((window.cwnd, cc.slow, cc.reno), (100.0, 1, 50.0));
        round(&mut cc, &mut window, 101.0);
        assert_eq!((cc.slow, cc.reno), (0, 50.0));
    }

    #[test]
    fn a_loss_takes_the_queue_an_eighth_or_half() {
        let mut window = Window { cwnd: 160.0, ssthresh: 100.0, segment: 1.0 };
        let mut cc = yeah();
        assert_eq!(loss(&mut cc, &window), 140.0);
        // 40 of 160 wait.
        round(&mut cc, &mut window, 400.0 / 3.0);
        assert!((loss(&mut cc, &window) - 120.0).abs() < 1e-9);
        assert_eq!(cc.reno, 40.0);
        for _ in 0..15 {
            round(&mut cc, &mut window, 400.0 / 3.0);
        }
        assert_eq!((cc.slow, loss(&mut cc, &window)), (16, 80.0));
    }

    #[test]
    fn fast_round_trips_are_those_of_scalable_tcp() {
        let mut cc = yeah();
        let ack = AckEvent { newly_acked: 1.0, ..AckEvent::default() };
        for (slow, cwnd, step) in [(0, 400.0, 0.01), (0, 50.0, 0.02), (1, 400.0, 0.0025)] {
            cc.slow = slow;
            let mut window = Window { cwnd, ssthresh: 10.0, segment: 1.0 };
            cc.on_ack(&mut window, &ack);
            assert!((window.cwnd - cwnd - step).abs() < 1e-9, "{cwnd}: {}", window.cwnd);
        }
    }
}
