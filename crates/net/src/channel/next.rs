//! Where packets go at the end of a channel.

use super::Channel;
use crate::hop::Hop;
use crate::packet::Packet;
use crate::slots::Slots;
use ackclock_memory as memory;
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

    /// What an arrival begins with will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        memory::prefetch(self, 0..1);
    }

    /// The same of a packet that enters; of a discipline or a model of losses, nothing.
    #[inline(always)]
    pub(crate) fn prefetch_for_entry(&self) {
        memory::prefetch(self, 0..2);
    }

    /// The packet after the one that arrives next will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_second(&self, slots: &Slots) {
        self.chain.prefetch_second(slots);
    }

    /// The packet that arrives next, or any other one.
    #[inline(always)]
    pub(crate) fn front_packet(&self) -> Packet {
        self.chain.front_packet()
    }

    /// Where all packets go from here, or [`Hop::ROUTED`].
    #[inline]
    pub fn next(&self) -> Hop {
        self.next
    }
}
