//! Channels that lead from one part of a network to another ([`Part`](crate::world::Part)).
//!
//! The part of the sending node has the queue and the transmitter. It hands a packet over when its arrival is known: as it
//! enters, or, served by events, as its transmission begins. The other part has the wire.

use super::{Channel, Service};
use crate::packet::Packet;
use crate::slots::{Entry, Slots};
use ackclock_units::Time;

impl Channel {
    /// Packets go to another part; the channel must be empty. Fused, the chain holds only what waits, as in a walked one,
    /// unless it `shadows` what is on the wire.
    pub(crate) fn lead_away(&mut self, shadows: bool) {
        if self.managed.is_some() {
            self.harm.get_or_insert_default();
        }
        if self.service == Service::Fused && !shadows {
            self.walk();
        }
    }

    /// A packet that has entered now, as it will arrive: with a mark, damaged, or as it came.
    #[inline]
    pub(crate) fn as_it_entered(&self, packet: Packet) -> Packet {
        self.harm.as_ref().map_or(packet, |harm| harm.entered)
    }

    /// Served by events: takes the packet whose transmission has begun, and when it arrives.
    pub(crate) fn take_started(&mut self, slots: &mut Slots) -> (Time, Packet) {
        debug_assert!(self.chain.held() == self.chain.queued() + 1);
        let arrival = self.chain.front().time;
        (arrival, self.chain.pop(slots))
    }

    /// A packet comes from another part, and will arrive then.
    pub(crate) fn put_on_far_end(&mut self, arrival: Time, packet: Packet, slots: &mut Slots) {
        debug_assert!(self.service != Service::Walked);
        self.chain.push(Entry { time: arrival, packet }, false, slots);
    }

    /// Adds what the part of the far end knows.
    pub(crate) fn add_far_end(&mut self, far: &Self) {
        self.stats.lost += far.stats.lost;
        self.stats.drops_corrupted += far.stats.drops_corrupted;
        if self.service != Service::Fused {
            self.late += far.chain.held();
        }
    }

    /// The least time from when a packet enters, or begins to be transmitted, to its arrival.
    pub fn least_journey(&self) -> Time {
        let served = self.served.as_ref();
        if served.is_some_and(|served| served.jitter.is_some()) {
            return Time::ZERO;
        }
        if served.is_some() {
            return self.delay;
        }
        // With fractions carried over a transmission may seem shorter.
        self.delay + Time::from_ns(self.serial.time(1, 0).0.saturating_sub(1))
    }
}
