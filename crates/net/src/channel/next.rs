//! Where packets go at the end of a channel.

use super::Channel;
use crate::hop::Hop;
use ackclock_units::Time;

impl Channel {
    /// Sets where all packets go from here; [`Hop::ROUTED`] where that depends on the flow or the direction.
    pub fn set_next(&mut self, next: Hop) {
        self.next = next;
    }

    /// Whether a packet that enters reaches the far end later than it enters, be it ever so short.
    pub fn takes_time(&self) -> bool {
        self.delay > Time::ZERO || self.serial.time(1, 0).0 > 0
    }

    /// Where all packets go from here, or [`Hop::ROUTED`].
    #[inline]
    pub fn next(&self) -> Hop {
        self.next
    }
}
