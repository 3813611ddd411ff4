//! Stochastic fairness queueing: flows share queues by a hash, which changes from time to time, and the queues take turns.
//!
//! Source: McKenney, "Stochastic Fairness Queuing", INFOCOM 1990; Linux `net/sched/sch_sfq.c`. A queue sends until it has
//! used up its quantum; one that has become busy goes behind the others. Where too many packets wait, the longest queue
//! loses its last one. Of equally long ones it is, as in Linux (`sfq_drop`), the one that came to this length last, or the one
//! whose turn is next where none has more than one packet.
//!
//! DEVIATION: Linux counts the quantum in units of 8 bytes, and holds at most 128 queues that are busy; here it is
//! bytes, and every bucket may have a queue. RED within queues is not modelled.

use super::buckets::{self, Buckets};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use std::collections::VecDeque;

pub(super) static ENTRY: Entry = Entry {
    name: "sfq",
    summary: help(
        "Stochastic fairness queueing: flows are hashed to queues, which are served in turn.",
    ),
    references: &["McKenney 1990", "Linux net/sched/sch_sfq.c"],
    params: &[
        // Linux sch_sfq.c.
        limit::param("127 packets"),
        Param::new("depth", Kind::Count, "127", "Maximum packets per queue.")
            .at_least("1")
            .at_most("1000000"),
        buckets::flows("1024", "Number of queues."),
        buckets::QUEUES,
        Param::new("quantum", Kind::Size, "1514 B", "Bytes per turn.")
            .at_least("64 B")
            .at_most("1000000 B"),
        Param::optional(
            "perturb",
            Kind::Time,
            "none",
            "Time between changes of the hash; waiting packets move to their new queues, and are dropped beyond `depth`.",
        )
        .at_least("1 ms"),
    ],
    label: "SFQ",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), ackclock_units::param::Clash> {
    let by_number = chosen.word("queues") == "by-flow";
    if by_number && chosen.optional_int("perturb_ns").is_some() {
        return Err(ackclock_units::param::Clash::without_effect("perturb", "queues: hashed"));
    }
    Ok(())
}

/// A queue of the flows of one bucket.
#[derive(Debug, Clone, Default)]
struct Lane {
    fifo: Fifo,
    /// Bytes that it may still send in this turn.
    left: i64,
    /// Number of the change of any queue that made it as long as it is.
    changed: u64,
}

impl Lane {
    /// The queue is longer or shorter than it was: the next one of so many changes.
    fn note_change(&mut self, changes: &mut u64) {
        *changes += 1;
        self.changed = *changes;
    }
}

/// Queues and their ring.
#[derive(Debug, Clone)]
pub struct Sfq {
    limit: Limit,
    depth: u32,
    quantum: i64,
    buckets: Buckets,
    lanes: Vec<Lane>,
    ring: VecDeque<u32>,
    /// Changes of the length of any queue.
    changes: u64,
    packets: u32,
    bytes: u64,
    perturb: Option<Time>,
    next: Time,
    stream: Stream,
}

impl Sfq {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        let perturb = chosen.optional_int("perturb_ns").map(Time::from_ns);
        Self {
            limit: Limit::new(chosen),
            depth: chosen.int("depth") as u32,
            quantum: chosen.int("quantum_bytes") as i64,
            buckets: Buckets::new(chosen, &mut place.stream),
            lanes: Vec::new(),
            ring: VecDeque::new(),
            changes: 0,
            packets: 0,
            bytes: 0,
            perturb,
            next: perturb.unwrap_or(Time::NEVER),
            stream: place.stream,
        }
    }

    /// Changes the hash where it is time; packets keep their order within a flow. Those for which their new queue has no room
    /// are dropped, as in Linux (`sfq_rehash`).
    fn catch_up(&mut self, now: Time, fates: &mut Fates) {
        let Some(period) = self.perturb.filter(|_| now >= self.next) else { return };
        self.next = self.next.stepped_past(now, period);
        self.buckets.perturb(&mut self.stream);
        let ring = std::mem::take(&mut self.ring);
        let mut lanes = std::mem::take(&mut self.lanes);
        for index in ring {
            while let Some(held) = lanes[index as usize].fifo.pop() {
                let index = self.buckets.lane_of(held.packet.flow(), &mut self.lanes);
                if self.is_full(index) {
                    self.packets -= 1;
                    self.bytes -= held.size();
                    fates.drop(held, drop_reason::QUEUE_FULL);
                } else {
                    self.put(index, held);
                }
            }
        }
    }

    fn is_full(&self, index: u32) -> bool {
        self.lanes[index as usize].fifo.packets() >= self.depth
    }

    fn put(&mut self, index: u32, held: Held) {
        let lane = &mut self.lanes[index as usize];
        if lane.fifo.is_empty() {
            lane.left = self.quantum;
            self.ring.push_back(index);
        }
        lane.fifo.push(held);
        lane.note_change(&mut self.changes);
    }

    /// The longest queue in packets loses its last one.
    fn drop_from_longest(&mut self, fates: &mut Fates) {
        let longest = self.ring.iter().copied().max_by_key(|index| {
            let lane = &self.lanes[*index as usize];
            (lane.fifo.packets(), lane.changed)
        });
        let Some(mut index) = longest else { return };
        if self.lanes[index as usize].fifo.packets() == 1
            && let Some(next) = self.ring.pop_front()
        {
            index = next;
        }
        let lane = &mut self.lanes[index as usize];
        let last = lane.fifo.packets().saturating_sub(1);
        let Some(held) = lane.fifo.remove(last as usize) else { return };
        lane.note_change(&mut self.changes);
        self.packets -= 1;
        self.bytes -= held.size();
        fates.drop(held, drop_reason::OVERLIMIT);
    }
}

impl Store for Sfq {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        self.catch_up(now, fates);
        let index = self.buckets.lane_of(held.packet.flow(), &mut self.lanes);
        if !idle && self.is_full(index) {
            return fates.drop(held, drop_reason::QUEUE_FULL);
        }
        self.put(index, held);
        self.packets += 1;
        self.bytes += held.size();
        while !idle && !self.limit.holds(self.packets, self.bytes) {
            self.drop_from_longest(fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        self.catch_up(now, fates);
        loop {
            let index = *self.ring.front()?;
            let lane = &mut self.lanes[index as usize];
            if lane.left <= 0 {
                lane.left += self.quantum;
                self.ring.rotate_left(1);
                continue;
            }
            let held = lane.fifo.pop()?;
            lane.left -= held.size() as i64;
            lane.note_change(&mut self.changes);
            if lane.fifo.is_empty() {
                self.ring.pop_front();
            }
            self.packets -= 1;
            self.bytes -= held.size();
            return Some(held);
        }
    }

    fn waiting(&self) -> Vec<Held> {
        self.lanes.iter().flat_map(|lane| lane.fifo.iter()).collect()
    }
}
