//! The packets that a channel holds, in the order in which they arrive at the far end.
//!
//! ```text
//!   front, then from head ... waiting ... to tail
//!            on the wire       in the queue    free
//! ```
//!
//! The first packet stands in the chain itself, where an arrival finds it without a detour; the others stand in
//! slots. While all packets wait, the first of the waiting ones is the front.

use crate::packet::Packet;
use crate::slots::{Entry, Slots};

/// The packets that a channel holds.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Chain {
    /// The packet that arrives next, if there is one.
    front: Entry,
    /// Slots of the packet after it, of the first one waiting where some wait and some do not, and of the
    /// next one to come.
    head: u32,
    waiting: u32,
    tail: u32,
    /// Packets in the queue and on the wire, and those of them in the queue.
    held: u32,
    queued: u32,
}

impl Chain {
    pub fn new() -> Self {
        Self { front: Entry::BLANK, head: 0, waiting: 0, tail: 0, held: 0, queued: 0 }
    }

    /// Gives an empty chain its first slots.
    pub fn open(&mut self, slots: &mut Slots) {
        self.head = slots.chunk();
        self.tail = self.head;
    }

    /// Packets in the queue and on the wire.
    #[inline]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Packets in the queue.
    #[inline]
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// The packet that arrives next; only while there is one.
    #[inline]
    pub fn front(&self) -> &Entry {
        debug_assert!(self.held > 0);
        &self.front
    }

    /// The packet that stood in front last, even if there is none now.
    #[inline(always)]
    pub fn front_packet(&self) -> Packet {
        self.front.packet
    }

    /// The packet that follows the front will be read soon.
    #[inline(always)]
    pub fn prefetch_second(&self, slots: &Slots) {
        slots.prefetch(self.head);
    }

    /// Puts a packet at the end, on the wire or into the queue.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry, waits: bool, slots: &mut Slots) {
        if self.held == 0 {
            self.front = entry;
        } else {
            let slot = self.tail;
            if waits && self.queued == 0 {
                self.waiting = slot;
            }
            self.tail = slots.put(slot, entry);
        }
        self.held += 1;
        self.queued += u32::from(waits);
    }

    /// The first packet in the queue; only while there is one.
    #[inline]
    pub fn first_waiting<'a>(&'a mut self, slots: &'a mut Slots) -> &'a mut Entry {
        debug_assert!(self.queued > 0);
        if self.queued == self.held { &mut self.front } else { slots.get_mut(self.waiting) }
    }

    /// The first packet in the queue goes onto the wire.
    #[inline]
    pub fn start_first(&mut self, slots: &Slots) {
        self.waiting = if self.queued == self.held { self.head } else { slots.next(self.waiting) };
        self.queued -= 1;
    }

    /// All packets wait: the first of them is gone.
    #[inline]
    pub fn drop_first(&mut self, slots: &mut Slots) {
        debug_assert!(self.queued == self.held);
        self.queued -= 1;
        self.pop(slots);
    }

    /// The packet arrives that is first on the wire.
    #[inline]
    pub fn pop(&mut self, slots: &mut Slots) -> Packet {
        let packet = self.front.packet;
        self.held -= 1;
        if self.held > 0 {
            self.front = *slots.get(self.head);
            self.head = slots.take(self.head);
        }
        packet
    }

    /// So many packets wait, and are kept elsewhere.
    #[inline]
    pub fn count_waiting(&mut self, packets: usize) {
        (self.held, self.queued) = (packets as u32, packets as u32);
    }

    /// The packets in the queue, first to last.
    pub fn waiting(&self, slots: &Slots) -> impl Iterator<Item = Entry> {
        let all = self.queued == self.held && self.held > 0;
        let front = all.then_some(self.front);
        let first = if all { self.head } else { self.waiting };
        let others = slots.chain(first, self.queued - u32::from(all));
        front.into_iter().chain(others.copied())
    }
}
