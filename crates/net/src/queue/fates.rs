//! Packets in the hands of a discipline, and what becomes of them.

use crate::packet::{Ecn, Packet};
use ackclock_units::Time;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// The packet.
    pub packet: Packet,
    /// When it came.
    pub entered: Time,
    /// Its number in the record tables; meaningless where nothing is recorded.
    pub id: i64,
}

impl Held {
    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.packet.size())
    }

    /// How long it has waited.
    pub fn sojourn(&self, now: Time) -> Time {
        now.since(self.entered)
    }
}

/// The packets that a discipline dropped and marked at one moment, each with the code of the reason.
#[derive(Debug, Clone, Default)]
pub struct Fates {
    /// Dropped, and not yet taken by the world: thousands at once where a discipline cleans up a long queue.
    pub dropped: VecDeque<(Held, i32)>,
    /// Marked; they go on.
    pub marked: Vec<(Held, i32)>,
}

impl Fates {
    /// Whether nothing was dropped or marked.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked.is_empty()
    }

    /// Drops a packet.
    pub fn drop(&mut self, held: Held, reason: i32) {
        self.dropped.push_back((held, reason));
    }

    /// Marks a packet if marks are used and it is ECN-capable, else drops it; returns it if it continues.
    pub fn mark_or_drop(&mut self, held: Held, marks: bool, reason: i32) -> Option<Held> {
        if marks && held.packet.is_ecn_capable() {
            return Some(self.mark(held, reason));
        }
        self.drop(held, reason);
        None
    }

    /// Marks an ECN-capable packet.
    pub fn mark(&mut self, mut held: Held, reason: i32) -> Held {
        debug_assert!(held.packet.is_ecn_capable());
        held.packet.set_ecn(Ecn::Ce);
        self.marked.push((held, reason));
        held
    }
}
