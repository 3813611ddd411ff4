//! LEDBAT: uses what others leave, by keeping the wait in queues at a target.
//!
//! Source: Shalunov, Hazel, Iyengar and Kuehlewind, "Low Extra Delay Background Transport (LEDBAT)", RFC 6817 sections
//! 2.4 and 2.5. The wait is the least of the newest samples less the least of the last minutes:
//!
//! ```text
//! off  = (target - wait) / target
//! cwnd += gain · off · acknowledged · segment / cwnd        at most the data in flight and one segment, at least two segments
//! ```
//!
//! A loss takes half, at most once per round trip. A flow that begins while another keeps the wait at the target takes that for
//! the empty path, and starves the other (the latecomer's advantage): that is the standard's, not a fault.
//!
//! DEVIATION: delays are round-trip times, as in most implementations within TCP; the standard measures one way, so that
//! queues of ACKs do not count.
//! DEVIATION: slow start up to ssthresh, which the standard leaves open; it ends when the wait is above three quarters of the target,
//! as LEDBAT++ has it.

use super::growth::climb;
use super::{AckEvent, CongestionControl, LossEvent, Window};
use crate::journal::Rule;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "ledbat",
    summary: help(
        "For background transfers: keeps the queueing delay at a target, and yields to buffer-filling flows.",
    ),
    references: &["RFC 6817"],
    params: &[
        Param::new(
            "target",
            Kind::Time,
            "100 ms",
            "Target queueing delay (RFC 6817 allows at most 100 ms).",
        )
        .at_least("1 ms")
        .at_most("10 s"),
        Param::new(
            "gain",
            Kind::Real,
            "1",
            "Increase per round trip with empty queues, in segments.",
        )
        .at_least("0.001")
        .at_most("1"),
        Param::new(
            "minutes",
            Kind::Count,
            "10",
            "Minutes over which the minimum delay counts as the base delay.",
        )
        .at_least("1")
        .at_most("10"),
        Param::new(
            "samples",
            Kind::Count,
            "4",
            "Number of recent samples whose minimum is the current delay.",
        )
        .at_least("1")
        .at_most("8"),
    ],
    label: "LEDBAT",
    ..Entry::BLANK
};

/// Least window, segments.
const LEAST: f64 = 2.0;
const MINUTE: Time = Time::from_secs(60);
/// Part of the target at which slow start ends.
const EXIT: f64 = 0.75;

/// Least delays of minutes, and the newest samples.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    minutes: usize,
    samples: usize,
    /// Minimum delay of each of the last minutes, the newest first, and which minute that is.
    history: [Time; 10],
    minute: u64,
    /// The newest samples.
    newest: [Time; 8],
    taken: usize,
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Ledbat {
    target: f64,
    gain: f64,
    delays: Delays,
    /// Data in flight before the present ACK, in the window's unit.
    flight: f64,
}

impl Delays {
    /// So many minutes and samples count.
    pub fn new(minutes: usize, samples: usize) -> Self {
        Self {
            minutes,
            samples,
            history: [Time::NEVER; 10],
            minute: 0,
            newest: [Time::NEVER; 8],
            taken: 0,
        }
    }

    /// A sample.
    pub fn add(&mut self, now: Time, rtt: Time) {
        let minute = now.as_ns() / MINUTE.as_ns();
        let passed = (minute - self.minute).min(self.minutes as u64) as usize;
        self.minute = minute;
        self.history.rotate_right(passed);
        self.history[..passed].fill(Time::NEVER);
        self.history[0] = self.history[0].min(rtt);
        self.newest[self.taken % self.samples] = rtt;
        self.taken += 1;
    }

    /// Seconds of the empty path, and those that the flow's packets wait; none before the first sample.
    pub fn base_and_wait(&self) -> Option<(f64, f64)> {
        let base = *self.history[..self.minutes].iter().min()?;
        let present = *self.newest[..self.samples].iter().min()?;
        (base != Time::NEVER).then(|| (base.as_secs(), present.since(base).as_secs()))
    }
}

impl Ledbat {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            target: Time::from_ns(chosen.int("target_ns")).as_secs(),
            gain: chosen.real("gain"),
            delays: Delays::new(chosen.int("minutes") as usize, chosen.int("samples") as usize),
            flight: 0.0,
        }
    }
}

impl CongestionControl for Ledbat {
    #[inline(never)]
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
        self.flight = ack.flight + ack.newly_acked;
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some((_, wait)) = self.delays.base_and_wait() else { return };
        if window.in_slow_start() {
            if wait <= EXIT * self.target {
                climb(window, ack);
                return;
            }
            window.ssthresh = window.cwnd;
        }
        let off = (self.target - wait) / self.target;
        let step = self.gain * off * ack.newly_acked * window.segment / window.cwnd;
        if off > 0.0 && !ack.may_grow {
            return;
        }
        let most = (self.flight + window.segment).max(LEAST * window.segment);
        window.cwnd = (window.cwnd + step).min(most.max(window.cwnd)).max(LEAST * window.segment);
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some((window.cwnd / 2.0).max(LEAST * window.segment))
    }

    fn phase(&self) -> Option<Rule> {
        Some(Rule::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledbat(minutes: usize) -> Ledbat {
        Ledbat { target: 0.1, gain: 1.0, delays: Delays::new(minutes, 4), flight: 0.0 }
    }

    fn ack(cc: &mut Ledbat, window: &mut Window, seconds: u64, rtt_ms: u64) {
        let event = AckEvent {
            now: Time::from_secs(seconds),
            rtt: Some(Time::from_ms(rtt_ms)),
            newly_acked: 1.0,
            flight: window.cwnd - 1.0,
            ..AckEvent::default()
        };
        cc.on_sample(window, &event);
        cc.on_ack(window, &event);
    }

    #[test]
    fn the_window_goes_to_where_the_wait_is_the_target() {
        let mut cc = ledbat(10);
        let mut window = Window { cwnd: 50.0, ssthresh: 10.0, segment: 1.0 };
        ack(&mut cc, &mut window, 1, 50);
        assert_eq!(window.cwnd, 50.02);
        // The least of four samples: 50, 100, 100, 100, then 100.
        for _ in 0..3 {
            ack(&mut cc, &mut window, 1, 100);
        }
        let before = window.cwnd;
        ack(&mut cc, &mut window, 1, 100);
        assert!((window.cwnd - before - 0.5 / before).abs() < 1e-12);
        // Three times the target: two segments less a round trip.
        for _ in 0..3 {
            ack(&mut cc, &mut window, 1, 350);
        }
        let before = window.cwnd;
        ack(&mut cc, &mut window, 1, 350);
        assert!((window.cwnd - before + 2.0 / before).abs() < 1e-12);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut cc = ledbat(2);
        for (seconds, rtt, base) in [(1, 50, 50), (61, 70, 50), (121, 70, 70), (400, 90, 90)] {
            cc.delays.add(Time::from_secs(seconds), Time::from_ms(rtt));
            let least = cc.delays.history[..2].iter().min().unwrap();
            assert_eq!(*least, Time::from_ms(base), "at {seconds} s");
        }
    }

    #[test]
    fn slow_start_ends_before_the_target() {
        let mut cc = ledbat(10);
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY, segment: 1.0 };
        ack(&mut cc, &mut window, 1, 50);
        assert_eq!(window.cwnd, 11.0);
        for _ in 0..4 {
            ack(&mut cc, &mut window, 1, 130);
        }
        assert!(window.ssthresh.is_finite());
    }
}
