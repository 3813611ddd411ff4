//! Deficit round robin: each flow sends the same number of bytes in a round, whatever the sizes of its packets.
//!
//! Source: Shreedhar, Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995, with McKenney's buffer
//! stealing. When its turn comes, a flow may send `quantum` more bytes than it had left; what its next packet
//! is too long for is kept for the next round, unless the flow has nothing left to send.
//!
//! Of equally long queues the one whose turn comes first is taken from, as in ns-2 (`getMaxflow`); the paper leaves it open.
//!
//! DEVIATION: ns-2 takes packets from the head of the longest queue where too much waits; here, as in the paper, it is the tail.

use super::buckets::{self, Buckets};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::turns::first_longest;
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use std::collections::VecDeque;

pub(super) static ENTRY: Entry = Entry {
    name: "drr",
    summary: help(
        "Deficit round robin: one queue per flow; each sends the same number of bytes per round.",
    ),
    references: &["Shreedhar, Varghese 1995", "Linux net/sched/sch_drr.c"],
    params: &[
        limit::param("1000 packets"),
        buckets::flows("1024", "Number of queues."),
        buckets::QUEUES,
        Param::new("quantum", Kind::Size, "1500 B", "Bytes per flow and round.")
            .at_least("64 B")
            .at_most("1000000 B"),
    ],
    label: "DRR",
    ..Entry::BLANK
};

/// A queue of one flow, or of several that share it.
#[derive(Debug, Clone, Default)]
struct Lane {
    fifo: Fifo,
    deficit: u64,
}

/// Queues and their round.
#[derive(Debug, Clone)]
pub struct Drr {
    limit: Limit,
    quantum: u64,
    buckets: Buckets,
    lanes: Vec<Lane>,
    /// Lanes with packets; the first has its turn, and has got its quantum if `turn` says so.
    round: VecDeque<u32>,
    turn: bool,
    packets: u32,
    bytes: u64,
}

impl Drr {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            quantum: chosen.int("quantum_bytes"),
            buckets: Buckets::new(chosen, &mut place.stream),
            lanes: Vec::new(),
            round: VecDeque::new(),
            turn: false,
            packets: 0,
            bytes: 0,
        }
    }

    /// The lane whose turn it is ends it; it waits for the next one, or has nothing left.
    fn end_turn(&mut self) {
        self.turn = false;
        if let Some(index) = self.round.pop_front() {
            let lane = &mut self.lanes[index as usize];
            if lane.fifo.is_empty() {
                lane.deficit = 0;
            } else {
                self.round.push_back(index);
            }
        }
    }

    /// Takes the last packet out of the longest queue.
    fn steal(&mut self, fates: &mut Fates) {
        let longest =
            first_longest(self.round.iter(), |index| self.lanes[index as usize].fifo.bytes());
        let Some(index) = longest else { return };
        let lane = &mut self.lanes[index as usize];
        let Some(held) = lane.fifo.remove(lane.fifo.packets().saturating_sub(1) as usize) else {
            return;
        };
        self.packets -= 1;
        self.bytes -= held.size();
        let emptied = lane.fifo.is_empty();
        fates.drop(held, drop_reason::OVERLIMIT);
        if emptied {
            lane.deficit = 0;
            self.turn &= self.round.front() != Some(&index);
            self.round.retain(|active| *active != index);
        }
    }
}

impl Store for Drr {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let index = self.buckets.lane_of(held.packet.flow(), &mut self.lanes);
        let lane = &mut self.lanes[index as usize];
        if lane.fifo.is_empty() {
            self.round.push_back(index);
        }
        lane.fifo.push(held);
        self.packets += 1;
        self.bytes += held.size();
        while !idle && !self.limit.holds(self.packets, self.bytes) {
            self.steal(fates);
        }
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Option<Held> {
        loop {
            let index = *self.round.front()?;
            let lane = &mut self.lanes[index as usize];
            if !self.turn {
                lane.deficit += self.quantum;
                self.turn = true;
            }
            let first = lane.fifo.iter().next()?;
            if first.size() > lane.deficit {
                self.end_turn();
                continue;
            }
            lane.fifo.pop();
            lane.deficit -= first.size();
            self.packets -= 1;
            self.bytes -= first.size();
            if lane.fifo.is_empty() {
                self.end_turn();
            }
            return Some(first);
        }
    }

    fn waiting(&self) -> Vec<Held> {
        self.lanes.iter().flat_map(|lane| lane.fifo.iter()).collect()
    }
}
