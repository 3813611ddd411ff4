//! FQ-CoDel: a queue for each flow, served in turn, each with CoDel.
//!
//! Source: RFC 8290; Linux `net/sched/sch_fq_codel.c`. A packet goes into the queue that the hash of its flow
//! says. Queues take turns of `quantum` bytes; one that was empty gets its first turn before those that keep a
//! backlog, but one that comes back within the round does not. Where too much waits in all, the queue with most
//! bytes loses packets from its head.
//!
//! Both directions of a flow have the same hash, as in Linux. What a queue's CoDel has learnt stays when it runs
//! empty, for whichever flow comes next.
//!
//! DEVIATION: RFC 8290 and Linux limit the memory of packets, too (32 MB); here packets and bytes on the wire are
//! all there is.

use super::buckets::{self, Buckets};
use super::control::{self, Control, Rules};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};
use std::collections::VecDeque;

pub(super) static ENTRY: Entry = Entry {
    name: "fq-codel",
    summary: "One queue per flow, served in turn, each with CoDel.",
    references: &["RFC 8290", "Linux net/sched/sch_fq_codel.c"],
    params: &[
        // RFC 8290 section 5.2.
        limit::param("10240 packets"),
        buckets::flows("1024", "Number of queues (RFC 8290 section 5.2.4)."),
        Param::new(
            "quantum",
            Kind::Size,
            "1514 B",
            "Bytes per turn (RFC 8290 section 5.2.3: 300 B at low rates).",
        )
        .at_least("1 B")
        .at_most("1000000 B"),
        buckets::QUEUES,
        Param::new(
            "batch",
            Kind::Count,
            "64",
            "Maximum packets dropped at once when over the limit (RFC 8290 section 5.2.2).",
        )
        .at_least("1")
        .at_most("10000"),
        Param::new(
            "backlog",
            Kind::Choice(&[
                Choice::new("queue", "that of the flow's queue (RFC 8290)"),
                Choice::new("all", "that of all queues together (Linux)"),
            ]),
            "queue",
            "Which backlog must exceed `mtu` for CoDel to drop.",
        ),
        control::TARGET,
        control::INTERVAL,
        control::MTU,
        control::ecn("true"),
        control::CE_THRESHOLD,
        control::SQUARE_ROOT,
        control::ABOVE,
        control::AFTER_MARK,
    ],
    label: "FQ-CoDel",
    check: Some(control::check),
    ..Entry::BLANK
};

/// A queue of one flow, or of several that share it.
#[derive(Debug, Clone, Default)]
struct Lane {
    fifo: Fifo,
    control: Control,
    /// Bytes that it may still send in this turn; below zero where the last packet was longer.
    deficit: i64,
    /// It is on one of the two lists.
    listed: bool,
}

/// Queues, their order, and limits.
#[derive(Debug, Clone)]
pub struct FqCoDel {
    limit: Limit,
    rules: Rules,
    quantum: i64,
    batch: u32,
    buckets: Buckets,
    whole_backlog: bool,
    lanes: Vec<Lane>,
    fresh: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u32,
    bytes: u64,
}

impl FqCoDel {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            rules: Rules::new(chosen),
            quantum: chosen.int("quantum_bytes") as i64,
            batch: chosen.int("batch") as u32,
            buckets: Buckets::new(chosen, &mut place.stream),
            whole_backlog: chosen.word("backlog") == "all",
            lanes: Vec::new(),
            fresh: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Drops packets of the longest queue from its head: half of its bytes, but no more than a batch.
    fn drop_from_longest(&mut self, fates: &mut Fates) {
        let longest = self.lanes.iter_mut().max_by_key(|lane| lane.fifo.bytes());
        let Some(lane) = longest else { return };
        let enough = lane.fifo.bytes() / 2;
        let (mut dropped, mut bytes) = (0, 0);
        while let Some(held) = lane.fifo.pop() {
            dropped += 1;
            bytes += held.size();
            fates.drop(held, drop_reason::OVERLIMIT);
            if dropped >= self.batch || bytes >= enough {
                break;
            }
        }
        lane.control.add(dropped);
        self.packets -= dropped;
        self.bytes -= bytes;
    }
}

impl Store for FqCoDel {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let fits = idle || self.limit.has_room(self.packets, self.bytes, held.size());
        let index = self.buckets.lane_of(held.packet.flow(), &mut self.lanes);
        let lane = &mut self.lanes[index as usize];
        lane.fifo.push(held);
        if !lane.listed {
            lane.listed = true;
            lane.deficit = self.quantum;
            self.fresh.push_back(index);
        }
        self.packets += 1;
        self.bytes += held.size();
        if !fits {
            self.drop_from_longest(fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
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
            let beside = if self.whole_backlog { self.bytes - before.1 } else { 0 };
            let held = lane.control.dequeue(now, &self.rules, &mut lane.fifo, beside, fates);
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

    fn waiting(&self) -> Vec<Held> {
        self.lanes.iter().flat_map(|lane| lane.fifo.iter()).collect()
    }
}
