//! Monitor intervals, as PCC has them: what became of the packets that were sent at one rate.
//!
//! Source: Dong, Li, Zarchy, Godfrey and Schapira, "PCC: Re-architecting congestion control for consistent high
//! performance", NSDI 2015, section 3; Dong and others, "PCC Vivace", NSDI 2018, section 4. A flow sends at one rate for an interval;
//! a round-trip time later all its packets are acknowledged or lost, and it has a report.
//!
//! DEVIATION: a packet belongs to an interval by when it was sent, which the ACK knows by its round-trip time; a loss
//! belongs to the interval whose packets are being acknowledged when it is noticed, a few packets later.

use super::AckEvent;
use ackclock_units::Time;
use std::collections::VecDeque;

/// What one interval has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Report<P> {
    /// What it was for.
    pub purpose: P,
    /// Megabits a second that were to be sent.
    pub rate: f64,
    /// Part of the packets that were lost.
    pub loss: f64,
    /// Change of the round-trip time, seconds a second: the slope of a straight line through the samples.
    pub gradient: f64,
    /// The application had nothing more to send at some time.
    pub limited: bool,
}

#[derive(Debug, Clone)]
struct Interval<P> {
    purpose: P,
    rate: f64,
    begin: Time,
    /// `NEVER` while it lasts.
    end: Time,
    limited: bool,
}

/// Sums for a straight line through points.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    fn slope(&self) -> f64 {
        let spread = self.n * self.xx - self.x * self.x;
        if spread > 1e-18 { (self.n * self.xy - self.x * self.y) / spread } else { 0.0 }
    }
}

/// The intervals of which not all packets are acknowledged or lost.
#[derive(Debug, Clone)]
pub(super) struct Monitor<P> {
    open: VecDeque<Interval<P>>,
    line: Line,
    /// Segments delivered and lost when the oldest interval's packets began to be acknowledged.
    delivered: u64,
    lost: u64,
}

impl<P: Copy> Monitor<P> {
    pub fn new() -> Self {
        Self { open: VecDeque::with_capacity(8), line: Line::default(), delivered: 0, lost: 0 }
    }

    /// Forgets all intervals.
    pub fn clear(&mut self) {
        self.open.clear();
        self.line = Line::default();
    }

    /// A new interval begins, with this rate; the present one is over.
    pub fn begin(&mut self, now: Time, rate: f64, purpose: P) {
        if let Some(last) = self.open.back_mut() {
            last.end = now;
        }
        self.open.push_back(Interval {
            purpose,
            rate,
            begin: now,
            end: Time::NEVER,
            limited: false,
        });
    }

    /// The application has nothing more to send.
    pub fn limit(&mut self) {
        if let Some(last) = self.open.back_mut() {
            last.limited = true;
        }
    }

    /// An ACK, and what the flow has delivered and lost before it: the report of an interval that it completes. To be
    /// asked until there is none.
    #[inline(never)]
    pub fn on_ack(&mut self, ack: &AckEvent, delivered: u64, lost: u64) -> Option<Report<P>> {
        let sent = ack.now.since(ack.rtt?);
        let first = self.open.front()?;
        if sent < first.end {
            if sent >= first.begin {
                self.line.add(sent.since(first.begin).as_secs(), ack.rtt?.as_secs());
            }
            return None;
        }
        let got = (delivered - self.delivered.min(delivered)) as f64;
        let gone = (lost - self.lost.min(lost)) as f64;
        (self.delivered, self.lost) = (delivered, lost);
        let gradient = std::mem::take(&mut self.line).slope();
        let Interval { purpose, rate, limited, .. } = self.open.pop_front()?;
        let loss = if got + gone > 0.0 { gone / (got + gone) } else { 0.0 };
        Some(Report { purpose, rate, loss, gradient, limited })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_count_for_the_interval_in_which_they_were_sent() {
        let mut monitor = Monitor::new();
        monitor.begin(Time::ZERO, 10.0, 'a');
        monitor.begin(Time::from_ms(100), 20.0, 'b');
        monitor.begin(Time::from_ms(200), 30.0, 'c');
        let mut reports = Vec::new();
        // A packet each millisecond; the path takes 50 ms, and from 100 ms on a tenth of the time more. One of 20 is lost.
        for sent in 0..250u64 {
            let wait = sent.saturating_sub(100) as f64 / 10.0;
            let rtt = Time::from_ns(((50.0 + wait) * 1e6) as u64);
            let ack =
                AckEvent { now: Time::from_ms(sent) + rtt, rtt: Some(rtt), ..AckEvent::default() };
            let lost = sent / 20;
            while let Some(report) = monitor.on_ack(&ack, sent - lost, lost) {
                reports.push(report);
            }
        }
        let [a, b] = reports.as_slice() else { panic!("two are complete: {reports:?}") };
        assert_eq!((a.purpose, a.rate, b.purpose, b.rate), ('a', 10.0, 'b', 20.0));
        assert!(a.gradient.abs() < 1e-9 && (b.gradient - 0.1).abs() < 1e-6, "{reports:?}");
        assert!((a.loss - 0.05).abs() < 1e-9 && (b.loss - 0.05).abs() < 1e-9);
    }
}
