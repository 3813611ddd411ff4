//! How much may wait.

use super::Fifo;
use ackclock_units::param::{Chosen, Kind, Param};

/// The parameter of the limit. The packet in transmission does not count, and the last place may be filled.
pub(super) const fn param(default: &'static str) -> Param {
    let summary = "Buffer size in packets or bytes, as a time at the link's rate, or as a multiple of the bandwidth-delay product; the packet in transmission does not count.";
    Param::new("limit", Kind::Buffer, default, summary).or_word("unlimited")
}

/// A limit in bytes or packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    most: u64,
    in_bytes: bool,
}

impl Limit {
    pub fn new(chosen: &Chosen) -> Self {
        Self::named(chosen, "limit")
    }

    /// The limit that a parameter of another name holds.
    pub fn named(chosen: &Chosen, name: &str) -> Self {
        let [bytes, packets] =
            ["bytes", "packets"].map(|unit| chosen.optional_int(&format!("{name}_{unit}")));
        Self { most: bytes.or(packets).unwrap_or(u64::MAX), in_bytes: bytes.is_some() }
    }

    /// Whether so many wait, or more.
    pub fn is_reached(&self, packets: u32, bytes: u64) -> bool {
        if self.in_bytes { bytes >= self.most } else { u64::from(packets) >= self.most }
    }

    /// Whether one more packet of this size may wait beside so many.
    pub fn has_room(&self, packets: u32, bytes: u64, size: u64) -> bool {
        self.holds(packets + 1, bytes + size)
    }

    /// The same for a queue.
    pub fn has_room_in(&self, fifo: &Fifo, size: u64) -> bool {
        self.has_room(fifo.packets(), fifo.bytes(), size)
    }

    /// Whether so many may wait.
    pub fn holds(&self, packets: u32, bytes: u64) -> bool {
        if self.in_bytes { bytes <= self.most } else { u64::from(packets) <= self.most }
    }
}
