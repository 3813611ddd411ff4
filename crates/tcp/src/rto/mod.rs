//! Retransmission timers: how long a sender waits before it gives a packet up.
//!
//! To add one: a new file with an [`Entry`] and a type with the four methods below, one variant here.

mod fixed;
mod rfc6298;
mod ticks;

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};

/// Retransmission timers that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&rfc6298::ENTRY, &fixed::ENTRY, &ticks::ENTRY];

/// Which round trips are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Every ACK of new data echoes a sending time.
    Timestamps,
    /// One segment at a time, never one that was sent twice.
    Karn,
    /// What the list of sent segments says, by timestamps.
    Listed,
}

/// A retransmission timer.
///
/// What each ACK asks for stands in fields: a match costs as much as the answer.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Rto {
    /// The present wait.
    current: Time,
    sampling: Sampling,
    /// Timestamps are exact.
    exact: bool,
    /// An ACK of new data ends the back-off, with a sample or without.
    ends_on_ack: bool,
    rule: Rule,
}

/// How the wait is worked out.
#[derive(Debug, Clone)]
enum Rule {
    /// The same wait for every packet.
    Fixed(fixed::Fixed),
    /// Follows the round-trip time.
    Rfc6298(rfc6298::Rfc6298),
    /// Follows the round-trip time, counted in ticks of a clock.
    Ticks(Box<ticks::Ticks>),
}

impl Rto {
    /// The timer that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        let rule = match chosen.kind.as_str() {
            "fixed" => Rule::Fixed(fixed::Fixed::new(chosen)),
            "rfc6298" => Rule::Rfc6298(rfc6298::Rfc6298::new(chosen)),
            "ticks" => Rule::Ticks(Box::new(ticks::Ticks::new(chosen))),
            other => panic!("no retransmission timer is named `{other}`"),
        };
        let (sampling, exact, ends_on_ack) = match &rule {
            Rule::Fixed(_) => (Sampling::Timestamps, true, false),
            Rule::Rfc6298(rto) => {
                (rfc6298::sampling(chosen), rto.is_exact(), rfc6298::ends_on_ack(chosen))
            }
            Rule::Ticks(_) => (Sampling::Karn, true, false),
        };
        let current = match &rule {
            Rule::Fixed(rto) => rto.current(),
            Rule::Rfc6298(rto) => rto.calm(),
            Rule::Ticks(rto) => rto.current(),
        };
        Self { current, sampling, exact, ends_on_ack, rule }
    }

    /// Shares the rules of another timer if they are the same.
    pub fn share_rules(&mut self, other: &Self) {
        if let (Rule::Rfc6298(rto), Rule::Rfc6298(other)) = (&mut self.rule, &other.rule) {
            rto.share_rules(other);
        }
    }

    /// The present wait.
    #[inline]
    pub fn current(&self) -> Time {
        self.current
    }

    /// A round-trip time was measured that ends now.
    #[inline]
    pub fn on_sample(&mut self, now: Time, rtt: Time) {
        self.current = match &mut self.rule {
            Rule::Rfc6298(rto) => rto.on_sample(rtt),
            Rule::Fixed(rto) => rto.current(),
            Rule::Ticks(rto) => {
                rto.on_sample(now, rtt);
                rto.current()
            }
        };
    }

    /// Which round trips are measured.
    #[inline]
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The round trip that timestamps show; none if their clock is too coarse for it.
    #[inline]
    pub fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        match &self.rule {
            Rule::Rfc6298(rto) if !self.exact => rto.elapsed(from, to),
            _ => Some(to - from),
        }
    }

    /// Whether a fast retransmit ends the measurement that is going on, whatever is sent again.
    pub fn drops_timed(&self) -> bool {
        matches!(self.rule, Rule::Ticks(_))
    }

    /// Where the ticks begin, if that is left open: a fraction of a tick from 0 to 1.
    pub fn draw_phase(&mut self, draw: impl FnOnce() -> f64) {
        if let Rule::Ticks(rto) = &mut self.rule {
            rto.draw_phase(draw);
        }
    }

    /// New data were acknowledged, and the sample, if there is one, was taken.
    #[inline]
    pub fn on_new_ack(&mut self) {
        if self.ends_on_ack
            && let Rule::Rfc6298(rto) = &self.rule
        {
            self.current = rto.calm();
        }
    }

    /// The timer expired.
    pub fn on_timeout(&mut self) {
        self.current = match &mut self.rule {
            Rule::Fixed(rto) => rto.current(),
            Rule::Rfc6298(rto) => rto.on_timeout(self.current),
            Rule::Ticks(rto) => {
                rto.on_timeout();
                rto.current()
            }
        };
    }
}
