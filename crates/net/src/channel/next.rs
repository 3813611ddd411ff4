//! Where packets go at the end of a channel.

use super::Channel;
use crate::hop::Hop;
use crate::slots::Slots;
use ackclock_units::Time;
use std::hint::black_box;

impl Channel {
    /// Sets where all packets go from here; [`Hop::ROUTED`] where that depends on the flow or the direction.
    pub fn set_next(&mut self, next: Hop) {
        self.next = next;
    }

    /// Whether a packet that enters reaches the far end later than it enters, be it ever so short.
    pub fn takes_time(&self) -> bool {
        self.delay > Time::ZERO || self.serial.time(1, 0).0 > 0
    }

    /// Reads what an arrival begins with.
    #[inline(always)]
    pub(crate) fn read_ahead(&self) {
        black_box(self.chain.held());
    }

    /// Reads the packet after the one that arrives next.
    #[inline(always)]
    pub(crate) fn read_packet_ahead(&self, slots: &Slots) {
        black_box(self.chain.time_of_second(slots));
    }

    /// Where all packets go from here, or [`Hop::ROUTED`].
    #[inline]
    pub fn next(&self) -> Hop {
        self.next
    }
}
