//! Which packets a channel holds.

use super::line::Line;
use super::{Channel, Service};
use crate::packet::Packet;
use crate::queue::Held;
use crate::slots::Slots;

impl Channel {
    /// Packets in the queue and on the wire.
    pub fn held(&self) -> u32 {
        match self.service {
            Service::Walked => self.late,
            _ => self.chain.held() + self.kept() + self.on_line() + self.late,
        }
    }

    /// Packets in the queue.
    pub(super) fn queued(&self) -> u32 {
        self.chain.queued() + self.kept()
    }

    /// Packets on a wire on which they overtake each other.
    fn on_line(&self) -> u32 {
        let line = self.served.as_ref().and_then(|served| served.line.as_ref());
        line.map_or(0, Line::held)
    }

    /// Packets that a discipline keeps.
    fn kept(&self) -> u32 {
        self.managed.as_ref().map_or(0, |managed| managed.waiting)
    }

    /// The packets that wait in the queue; up to date after [`Channel::close`].
    pub(crate) fn waiting_packets(&self, slots: &Slots) -> impl Iterator<Item = Packet> + use<> {
        let kept = self.kept_packets().into_iter().map(|held| held.packet);
        self.waiting(slots).into_iter().map(|entry| entry.packet).chain(kept)
    }

    /// The packets that a discipline keeps.
    pub(super) fn kept_packets(&self) -> Vec<Held> {
        self.managed.as_ref().map_or_else(Vec::new, |managed| managed.discipline.waiting())
    }
}
