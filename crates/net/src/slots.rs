//! Where packets stand while they wait or travel: short chunks of one array that all channels share.
//!
//! Each channel holds a chain of chunks, from the packet that will arrive next to the free slot where the
//! next packet will be put. The chunk given back last is handed out first, so that memory in use is memory
//! in the cache; rings of one channel each would take several times as much, and touch all of it in turn.

use crate::packet::{Kind, Packet};
use ackclock_memory as memory;
use ackclock_units::Time;

/// Slots in a chunk, which are two cache lines.
const CHUNK: u32 = 4;

/// A packet in a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// When it arrives at the far end. Served by events: while it waits, when it entered.
    pub time: Time,
    pub packet: Packet,
}

impl Entry {
    /// Stands where there is no packet.
    pub const BLANK: Self =
        Self { time: Time::ZERO, packet: Packet::new(Kind::Data, Packet::NO_FLOW, 0) };
}

/// An entry that lies in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot(Entry);

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot>() == 32);

/// The slots of all channels of a network.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// First slot of the chunk after each one, in its channel or in the chain of free ones.
    after: Vec<u32>,
    /// First slot of the first free chunk, or `NONE`.
    free: u32,
}

/// Ends the chain of free chunks.
const NONE: u32 = u32::MAX;

impl Slots {
    /// No slots yet, and room for so many chunks.
    pub fn with_room_for(chunks: usize) -> Self {
        let slots = memory::with_capacity(chunks * CHUNK as usize);
        Self { slots, after: Vec::with_capacity(chunks), free: NONE }
    }

    /// The first slot of a chunk that nobody holds.
    #[inline]
    pub fn chunk(&mut self) -> u32 {
        let first = self.free;
        if first == NONE {
            return self.grow();
        }
        self.free = self.after[(first / CHUNK) as usize];
        first
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let first = self.slots.len() as u32;
        if self.slots.len() == self.slots.capacity() {
            // By a quarter: twice as much would be most of the memory of a large network.
            let more = (self.after.len() / 4).max(16);
            self.slots = memory::with_room(std::mem::take(&mut self.slots), more * CHUNK as usize);
            self.after.reserve_exact(more);
        }
        self.slots.extend([Slot(Entry::BLANK); CHUNK as usize]);
        self.after.push(0);
        first
    }

    #[inline]
    pub fn get(&self, slot: u32) -> &Entry {
        &self.slots[slot as usize].0
    }

    /// A slot will be read soon, if there is such a one.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32) {
        if let Some(slot) = self.slots.get(slot as usize) {
            memory::prefetch(slot, 0..1);
        }
    }

    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Entry {
        &mut self.slots[slot as usize].0
    }

    /// The slot after one that is taken.
    #[inline]
    pub fn next(&self, slot: u32) -> u32 {
        if slot % CHUNK == CHUNK - 1 { self.after[(slot / CHUNK) as usize] } else { slot + 1 }
    }

    /// The entries of so many slots of a channel, from a slot on.
    pub fn chain(&self, first: u32, count: u32) -> impl Iterator<Item = &Entry> {
        let slots = std::iter::successors(Some(first), |slot| Some(self.next(*slot)));
        slots.take(count as usize).map(|slot| self.get(slot))
    }

    /// Fills the last slot of a channel; answers the free one after it.
    #[inline(always)]
    pub fn put(&mut self, slot: u32, entry: Entry) -> u32 {
        *self.get_mut(slot) = entry;
        if slot % CHUNK < CHUNK - 1 {
            return slot + 1;
        }
        let first = self.chunk();
        self.after[(slot / CHUNK) as usize] = first;
        first
    }

    /// Gives the first slot of a channel back; answers the one after it.
    #[inline]
    pub fn take(&mut self, slot: u32) -> u32 {
        if slot % CHUNK < CHUNK - 1 {
            return slot + 1;
        }
        let after = &mut self.after[(slot / CHUNK) as usize];
        let next = std::mem::replace(after, self.free);
        self.free = slot - (CHUNK - 1);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> Entry {
        let packet = Packet::new(Kind::Data, 0, 1);
        Entry { time: Time::from_ns(number), packet }
    }

    #[test]
    fn channels_keep_their_packets_apart_and_share_what_is_free() {
        let mut slots = Slots::with_room_for(0);
        // Head and tail of three channels.
        let mut ends: [(u32, u32); 3] = std::array::from_fn(|_| {
            let first = slots.chunk();
            (first, first)
        });
        let mut held = [const { std::collections::VecDeque::new() }; 3];
        for step in 0..10_000u64 {
            let channel = (step.wrapping_mul(0x9E37_79B9) >> 7) as usize % 3;
            let (head, tail) = &mut ends[channel];
            let fills = held[channel].is_empty() || (step / 50) % 2 == 0;
            if fills {
                *tail = slots.put(*tail, entry(step));
                held[channel].push_back(step);
            } else {
                assert_eq!(slots.get(*head).time.as_ns(), held[channel].pop_front().unwrap());
                *head = slots.take(*head);
            }
            let chain = slots.chain(*head, held[channel].len() as u32);
            let numbers: Vec<u64> = chain.map(|entry| entry.time.as_ns()).collect();
            assert_eq!(held[channel], numbers);
        }
        // What the fullest moment needed, not what passed through.
        let chunks = slots.slots.len() / CHUNK as usize;
        assert!(chunks < 60, "{chunks} chunks");
    }
}
