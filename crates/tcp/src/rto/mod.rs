//! Retransmission timers: how long a sender waits before it gives a packet up.
//!
//! To add one: a new file with an [`Entry`] and a type with the four methods below, one variant here.

mod fixed;
mod rfc6298;

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};

/// Retransmission timers that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&rfc6298::ENTRY, &fixed::ENTRY];

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
}

impl Rto {
    /// The timer that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "fixed" => Self::Fixed(fixed::Fixed::new(chosen)),
            "rfc6298" => Self::Rfc6298(rfc6298::Rfc6298::new(chosen)),
            other => panic!("no retransmission timer is named `{other}`"),
        }
    }

    /// The present wait.
    #[inline]
    pub fn current(&self) -> Time {
        match self {
            Self::Fixed(rto) => rto.current(),
            Self::Rfc6298(rto) => rto.current(),
        }
    }

    /// A round-trip time was measured.
    #[inline]
    pub fn on_sample(&mut self, rtt: Time) {
        match self {
            Self::Fixed(_) => {}
            Self::Rfc6298(rto) => rto.on_sample(rtt),
        }
    }

    /// Which round trips are measured.
    #[inline]
    pub fn sampling(&self) -> Sampling {
        match self {
            Self::Fixed(_) => Sampling::Timestamps,
            Self::Rfc6298(rto) => rto.sampling(),
        }
    }

    /// The round trip that timestamps show; none if their clock is too coarse for it.
    #[inline]
    pub fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        match self {
            Self::Fixed(_) => Some(to - from),
            Self::Rfc6298(rto) => rto.elapsed(from, to),
        }
    }

    /// New data were acknowledged, and the sample, if there is one, was taken.
    #[inline]
    pub fn on_new_ack(&mut self) {
        match self {
            Self::Fixed(_) => {}
            Self::Rfc6298(rto) => rto.on_new_ack(),
        }
    }

    /// The timer expired.
    pub fn on_timeout(&mut self) {
        match self {
            Self::Fixed(_) => {}
            Self::Rfc6298(rto) => rto.on_timeout(),
        }
    }
}
