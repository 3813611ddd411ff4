//! Which packets a channel holds.

use super::{Channel, Service};
use crate::packet::Packet;
use crate::slots::Slots;

impl Channel {
    /// Packets in the queue and on the wire.
    pub fn held(&self) -> u32 {
        match self.service {
            Service::Walked => self.late,
            _ => self.chain.held(),
        }
    }

    /// The packets that wait in the queue; up to date after [`Channel::close`].
    pub(crate) fn waiting_packets(&self, slots: &Slots) -> impl Iterator<Item = Packet> {
        self.chain.waiting(slots).map(|entry| entry.packet)
    }
}
