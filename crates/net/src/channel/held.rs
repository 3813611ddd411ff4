//! Which packets a channel holds.

use super::{Channel, Service};
use crate::packet::Packet;

impl Channel {
    /// Packets in the queue and on the wire.
    pub fn held(&self) -> u32 {
        match self.service {
            Service::Walked => self.late,
            _ => self.tail.wrapping_sub(self.head),
        }
    }

    /// Packets waiting in the queue; up to date after [`Channel::close`].
    pub fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.waiting)
    }

    /// The packet at a place in the queue, from 0.
    pub fn waiting_packet(&self, place: u32) -> Packet {
        self.entry(self.waiting.wrapping_add(place)).packet
    }
}
