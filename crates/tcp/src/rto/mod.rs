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
#[derive(Debug, Clone)]
pub enum Rto {
    /// The same wait for every packet.
    Fixed(fixed::Fixed),
    /// Follows the round-trip time.
    Rfc6298(rfc6298::Rfc6298),
    /// Follows the round-trip time, counted in ticks of a clock.
    Ticks(ticks::Ticks),
}

impl Rto {
    /// The timer that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "fixed" => Self::Fixed(fixed::Fixed::new(chosen)),
            "rfc6298" => Self::Rfc6298(rfc6298::Rfc6298::new(chosen)),
            "ticks" => Self::Ticks(ticks::Ticks::new(chosen)),
            other => panic!("no retransmission timer is named `{other}`"),
        }
    }

    /// The present wait.
    #[inline]
    pub fn current(&self) -> Time {
        match self {
            Self::Fixed(rto) => rto.current(),
            Self::Rfc6298(rto) => rto.current(),
            Self::Ticks(rto) => rto.current(),
        }
    }

    /// A round-trip time was measured that ends now.
    #[inline]
    pub fn on_sample(&mut self, now: Time, rtt: Time) {
        match self {
            Self::Fixed(_) => {}
            Self::Rfc6298(rto) => rto.on_sample(rtt),
            Self::Ticks(rto) => rto.on_sample(now, rtt),
        }
    }

    /// Which round trips are measured.
    #[inline]
    pub fn sampling(&self) -> Sampling {
        match self {
            Self::Fixed(_) => Sampling::Timestamps,
            Self::Rfc6298(rto) => rto.sampling(),
            Self::Ticks(_) => Sampling::Karn,
        }
    }

    /// The round trip that timestamps show; none if their clock is too coarse for it.
    #[inline]
    pub fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        match self {
            Self::Fixed(_) | Self::Ticks(_) => Some(to - from),
            Self::Rfc6298(rto) => rto.elapsed(from, to),
        }
    }

    /// Whether a fast retransmit ends the measurement that is going on, whatever is sent again.
    pub fn drops_timed(&self) -> bool {
        matches!(self, Self::Ticks(_))
    }

    /// Where the ticks begin, if that is left open: a fraction of a tick from 0 to 1.
    pub fn draw_phase(&mut self, draw: impl FnOnce() -> f64) {
        if let Self::Ticks(rto) = self {
            rto.draw_phase(draw);
        }
    }

    /// New data were acknowledged, and the sample, if there is one, was taken.
    #[inline]
    pub fn on_new_ack(&mut self) {
        match self {
            Self::Fixed(_) | Self::Ticks(_) => {}
            Self::Rfc6298(rto) => rto.on_new_ack(),
        }
    }

    /// The timer expired.
    pub fn on_timeout(&mut self) {
        match self {
            Self::Fixed(_) => {}
            Self::Rfc6298(rto) => rto.on_timeout(),
            Self::Ticks(rto) => rto.on_timeout(),
        }
    }
}
