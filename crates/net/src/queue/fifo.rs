//! Packets first in, first out, with their bytes.

use super::Held;
use std::collections::VecDeque;

/// Packets that wait, first in, first out.
#[derive(Debug, Clone, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Held>,
    bytes: u64,
}

impl Fifo {
    pub fn push(&mut self, held: Held) {
        self.bytes += held.size();
        self.packets.push_back(held);
    }

    pub fn pop(&mut self) -> Option<Held> {
        let held = self.packets.pop_front()?;
        self.bytes -= held.size();
        Some(held)
    }

    /// Takes out the packet at this place, 0 for the oldest; none if so many do not wait.
    pub fn remove(&mut self, place: usize) -> Option<Held> {
        let held = self.packets.remove(place)?;
        self.bytes -= held.size();
        Some(held)
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn packets(&self) -> u32 {
        self.packets.len() as u32
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn iter(&self) -> impl Iterator<Item = Held> + '_ {
        self.packets.iter().copied()
    }
}
