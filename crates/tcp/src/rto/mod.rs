//! Retransmission timers: how long a sender waits before it gives a packet up.
//!
//! To add one: a new file with an [`Entry`] and a type with the four methods below, one variant here.

mod fixed;
mod rfc6298;

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};

/// Retransmission timers that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&rfc6298::ENTRY, &fixed::ENTRY];

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

    /// Whether round-trip times are measured by Karn's rule: one segment at a time, never one that was
    /// sent twice. Otherwise every ACK of new data echoes a sending time.
    #[inline]
    pub fn uses_karn(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Rfc6298(rto) => rto.uses_karn(),
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
