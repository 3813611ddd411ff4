//! TCP-LP: Reno that makes way as soon as others make the queue longer.
//!
//! Source: Kuzmanovic and Knightly, "TCP-LP: Low-priority service via end-point congestion control", IEEE/ACM Transactions on
//! Networking 14(4), 2006; Linux, `tcp_lp.c`. With the least, the greatest and the smoothed delay (weight 1/8):
//!
//! ```text
//! congestion nears:   smoothed > least + 0.15 (greatest - least)
//! the first time:     half the window, and nothing is added for the inference time, three round trips
//! within that time:   a window of one segment
//! ```
//!
//! All else is Reno. After each such cut least and greatest delay are taken anew, from the smoothed one and twice that, as
//! in Linux.
//!
//! DEVIATION: delays are round-trip times; the paper and Linux measure one way by timestamps, so that queues of ACKs
//! do not count.
//! DEVIATION: an ACK that leaves nothing in flight may have been delayed by the receiver, so that its delay does not count;
//! else a window of one segment would take the receiver's timer for congestion for ever.
//! DEVIATION: half the window is the slow-start threshold from then on (RFC 5681). Linux leaves the threshold alone, so that a flow that
//! has not lost anything yet doubles its window after each cut, and hardly uses a link that nobody else uses.
//! DEVIATION: Linux takes for the inference time three times what its clock says since the echoed timestamp; here it is the
//! last round-trip time.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "lp",
    summary: help("TCP-LP: Reno that makes way as soon as others make the queue longer."),
    references: &["Kuzmanovic and Knightly 2006", "Linux, `tcp_lp.c`"],
    params: &[
        Param::new(
            "threshold",
            Kind::Real,
            "0.15",
            "Part of the greatest wait from which on congestion is near.",
        )
        .at_least("0")
        .at_most("1"),
        Param::new(
            "inference",
            Kind::Real,
            "3",
            "Round trips after a cut in which nothing is added, and another takes all.",
        )
        .at_least("0")
        .at_most("1000"),
    ],
    native: true,
    label: "TCP-LP",
    ..Entry::BLANK
};

/// Least slow-start threshold, segments.
const LEAST: f64 = 2.0;
/// Weight of a sample in the smoothed delay.
const GAIN: f64 = 1.0 / 8.0;

/// Options and state of one flow. Delays are seconds.
#[derive(Debug, Clone)]
pub struct Lp {
    threshold: f64,
    inference: f64,
    least: f64,
    greatest: f64,
    /// The greatest so far; one sample alone does not make `greatest`.
    reserve: f64,
    smoothed: f64,
    /// Until when nothing is added.
    infers_until: Time,
}

impl Lp {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self::of(chosen.real("threshold"), chosen.real("inference"))
    }

    fn of(threshold: f64, inference: f64) -> Self {
        Self {
            threshold,
            inference,
            least: f64::INFINITY,
            greatest: 0.0,
            reserve: 0.0,
            smoothed: 0.0,
            infers_until: Time::ZERO,
        }
    }

    fn measure(&mut self, delay: f64) {
        self.least = self.least.min(delay);
        if delay > self.greatest {
            if delay > self.reserve {
                self.greatest = if self.reserve == 0.0 { delay } else { self.reserve };
                self.reserve = delay;
            } else {
                self.greatest = delay;
            }
        }
        self.smoothed = if self.smoothed == 0.0 {
            delay
        } else {
            self.smoothed + GAIN * (delay - self.smoothed)
        };
    }

    fn is_near_congestion(&self) -> bool {
        self.smoothed > self.least + self.threshold * (self.greatest - self.least)
    }
}

impl CongestionControl for Lp {
    #[inline(never)]
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rtt) = ack.rtt.filter(|_| ack.flight > 0.0) else { return };
        self.measure(rtt.as_secs());
        if !self.is_near_congestion() {
            return;
        }
        self.least = self.smoothed;
        (self.greatest, self.reserve) = (2.0 * self.smoothed, 2.0 * self.smoothed);
        let infers = ack.now < self.infers_until;
        let half = window.cwnd / 2.0;
        if !infers {
            window.ssthresh = window.ssthresh.min(half.max(LEAST * window.segment));
        }
        window.cwnd = if infers { window.segment } else { half.max(window.segment) };
        let wait = (self.inference * rtt.as_ns() as f64) as u64;
        self.infers_until = ack.now + Time::from_ns(wait);
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.now < self.infers_until {
            return;
        }
        let acked = climb(window, ack);
        if acked > 0.0 {
            add(window, 1.0, acked);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(cc: &mut Lp, window: &mut Window, at_ms: u64, rtt_ms: u64) {
        let ack = AckEvent {
            now: Time::from_ms(at_ms),
            rtt: Some(Time::from_ms(rtt_ms)),
            newly_acked: 1.0,
            flight: window.cwnd - 1.0,
            ..AckEvent::default()
        };
        cc.on_sample(window, &ack);
        cc.on_ack(window, &ack);
    }

    #[test]
    fn the_greatest_delay_needs_a_second_sample() {
        let mut cc = Lp::of(0.15, 3.0);
        for (delay, greatest) in [(1.0, 1.0), (2.0, 1.0), (1.5, 1.5), (5.0, 2.0), (3.0, 3.0)] {
            cc.measure(delay);
            assert_eq!(cc.greatest, greatest);
        }
        assert_eq!((cc.least, cc.reserve), (1.0, 5.0));
    }

    #[test]
    fn it_halves_once_and_then_has_a_segment() {
        let mut cc = Lp::of(0.15, 3.0);
        let mut window = Window { cwnd: 40.0, ssthresh: 10.0, segment: 1.0 };
        for at in 0..20 {
            ack(&mut cc, &mut window, at, 100);
        }
        let grown = window.cwnd;
        assert!((grown - 40.5).abs() < 0.01, "{grown}");
        (cc.least, cc.greatest, cc.reserve) = (0.1, 0.2, 0.2);
        // The smoothed delay comes to 112.5 ms, then to 122 ms: above 115 ms.
        ack(&mut cc, &mut window, 1000, 200);
        assert!(window.cwnd > grown);
        ack(&mut cc, &mut window, 1010, 188);
        assert!((window.cwnd - grown / 2.0).abs() < 0.02, "{}", window.cwnd);
        // Nothing is added for three round trips of 188 ms.
        let half = window.cwnd;
        ack(&mut cc, &mut window, 1500, 120);
        assert_eq!(window.cwnd, half);
        // Near congestion again within that time, by delays that are measured anew.
        (cc.least, cc.greatest) = (0.1, 0.11);
        ack(&mut cc, &mut window, 1510, 120);
        assert_eq!(window.cwnd, 1.0);
    }
}
