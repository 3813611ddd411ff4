//! Queues of flows that take turns, new ones first, as FQ-CoDel and FQ-PIE have them. (Those of CAKE have turns that depend on
//! their hosts, and are remembered for a while.)
//!
//! Source: RFC 8290 section 4. Queues take turns of `quantum` bytes; one that was empty gets its first turn before those that
//! keep a backlog, but one that comes back within the round does not.

use super::Held;
use super::buckets::Buckets;
use super::fifo::Fifo;
use ackclock_units::param::{Kind, Param};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// How much a queue sends in a turn.
pub(super) const QUANTUM: Param = Param::new(
    "quantum",
    Kind::Size,
    "1514 B",
    "Bytes per turn (RFC 8290 section 5.2.3: 300 B at low rates).",
)
.at_least("1 B")
.at_most("1000000 B");

/// A queue of one flow, or of several that share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane<C> {
    pub fifo: Fifo,
    pub control: C,
    /// Bytes that it may still send in this turn; below zero where the last packet was longer.
    pub deficit: i64,
    /// It is on one of the two lists.
    listed: bool,
}

/// The queues, and their order.
#[derive(Debug, Clone)]
pub(super) struct Turns<C> {
    quantum: i64,
    pub lanes: Vec<Lane<C>>,
    fresh: VecDeque<u32>,
    old: VecDeque<u32>,
    pub packets: u32,
    pub bytes: u64,
}

/// The queue with most bytes; of equally long ones the first in this order, that of their turns.
pub(super) fn first_longest<'q>(
    by_turn: impl DoubleEndedIterator<Item = &'q u32>,
    bytes: impl Fn(u32) -> u64,
) -> Option<u32> {
    // Of equal ones the last is the greatest, so in reverse.
    by_turn.rev().copied().max_by_key(|index| bytes(*index))
}

impl<C: Default> Turns<C> {
    pub fn new(quantum: u64) -> Self {
        Self {
            quantum: quantum as i64,
            lanes: Vec::new(),
            fresh: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// The queue of a packet's flow.
    pub fn lane_of(&mut self, held: &Held, buckets: &mut Buckets) -> u32 {
        buckets.lane_of(held.packet.flow(), &mut self.lanes)
    }

    /// Puts a packet into this queue.
    pub fn push(&mut self, index: u32, held: Held) {
        self.packets += 1;
        self.bytes += held.size();
        let lane = &mut self.lanes[index as usize];
        lane.fifo.push(held);
        if !lane.listed {
            lane.listed = true;
            lane.deficit = self.quantum;
            self.fresh.push_back(index);
        }
    }

    /// The queue with most bytes, which loses packets by `take`. Of several that of the first bucket, as Linux searches for it;
    /// by number this would always be the first flow, so there it is the one whose turn comes first.
    pub fn shorten(&mut self, buckets: &Buckets, take: impl FnOnce(&mut Lane<C>)) {
        let by_turn = self.fresh.iter().chain(&self.old).copied().zip(0_u32..);
        let longest = by_turn.max_by_key(|(index, turn)| {
            let bytes = self.lanes[*index as usize].fifo.bytes();
            (bytes, Reverse(buckets.hashed(*index).unwrap_or(*turn)))
        });
        let Some((index, _)) = longest else { return };
        let lane = &mut self.lanes[index as usize];
        let before = (lane.fifo.packets(), lane.fifo.bytes());
        take(lane);
        self.packets -= before.0 - lane.fifo.packets();
        self.bytes -= before.1 - lane.fifo.bytes();
    }

    /// The next packet; `take` takes it out of a queue beside so many bytes of others, and may drop some.
    #[inline]
    pub fn dequeue(
        &mut self,
        mut take: impl FnMut(&mut Lane<C>, u64) -> Option<Held>,
    ) -> Option<Held> {
        loop {
            let from_fresh = !self.fresh.is_empty();
            let list = if from_fresh { &mut self.fresh } else { &mut self.old };
            let index = *list.front()?;
            let lane = &mut self.lanes[index as usize];
            if lane.deficit <= 0 {
                lane.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = (lane.fifo.packets(), lane.fifo.bytes());
            let held = take(lane, self.bytes - before.1);
            self.packets -= before.0 - lane.fifo.packets();
            self.bytes -= before.1 - lane.fifo.bytes();
            if let Some(held) = held {
                lane.deficit -= held.size() as i64;
                return Some(held);
            }
            // A pass through the old ones keeps a flow from staying new by pausing.
            list.pop_front();
            if from_fresh && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                lane.listed = false;
            }
        }
    }

    pub fn waiting(&self) -> Vec<Held> {
        self.lanes.iter().flat_map(|lane| lane.fifo.iter()).collect()
    }
}
