//! FQ-CoDel: a queue for each flow, served in turn, each with CoDel.
//!
//! Source: RFC 8290; Linux `net/sched/sch_fq_codel.c`. A packet goes into the queue that the hash of its flow
//! says. Queues take turns of `quantum` bytes; one that was empty gets its first turn before those that keep a
//! backlog, but one that comes back within the round does not. Where too much waits in all, the queue with most
//! bytes loses packets from its head, of several that of the first bucket (`fq_codel_drop`).
//!
//! Both directions of a flow have the same hash, as in Linux. What a queue's CoDel has learnt stays when it runs
//! empty, for whichever flow comes next.
//!
//! DEVIATION: with `queues: by-flow` the first of equally long queues would always be that of the same flow; there the one
//! whose turn comes first loses packets.
//! DEVIATION: RFC 8290 and Linux limit the memory of packets, too (32 MB); here packets and bytes on the wire are
//! all there is.

use super::buckets::{self, Buckets};
use super::control::{self, Control, Rules};
use super::limit::{self, Limit};
use super::turns::{self, Turns};
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "fq-codel",
    summary: help("One queue per flow, served in turn, each with CoDel."),
    references: &["RFC 8290", "Linux net/sched/sch_fq_codel.c"],
    params: &[
        // RFC 8290 section 5.2.
        limit::param("10240 packets"),
        buckets::flows("1024", "Number of queues (RFC 8290 section 5.2.4)."),
        turns::QUANTUM,
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

/// Queues, their order, and limits.
#[derive(Debug, Clone)]
pub struct FqCoDel {
    limit: Limit,
    rules: Rules,
    batch: u32,
    buckets: Buckets,
    whole_backlog: bool,
    turns: Turns<Control>,
}

impl FqCoDel {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            rules: Rules::new(chosen),
            batch: chosen.int("batch") as u32,
            buckets: Buckets::new(chosen, &mut place.stream),
            whole_backlog: chosen.word("backlog") == "all",
            turns: Turns::new(chosen.int("quantum_bytes")),
        }
    }

    /// Drops packets of the longest queue from its head: half of its bytes, but no more than a batch.
    fn drop_from_longest(&mut self, fates: &mut Fates) {
        let batch = self.batch;
        self.turns.shorten(&self.buckets, |lane| {
            let enough = lane.fifo.bytes() / 2;
            let (mut dropped, mut bytes) = (0, 0);
            while let Some(held) = lane.fifo.pop() {
                dropped += 1;
                bytes += held.size();
                fates.drop(held, drop_reason::OVERLIMIT);
                if dropped >= batch || bytes >= enough {
                    break;
                }
            }
            lane.control.add(dropped);
        });
    }
}

impl Store for FqCoDel {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let index = self.turns.lane_of(&held, &mut self.buckets);
        self.turns.push(index, held);
        // Once is enough for a limit in packets; half of the longest queue may have fewer bytes than the packet that came.
        while !idle && !self.limit.holds(self.turns.packets, self.turns.bytes) {
            self.drop_from_longest(fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        let (rules, whole) = (&self.rules, self.whole_backlog);
        self.turns.dequeue(|lane, others| {
            let beside = if whole { others } else { 0 };
            lane.control.dequeue(now, rules, &mut lane.fifo, beside, fates)
        })
    }

    fn waiting(&self) -> Vec<Held> {
        self.turns.waiting()
    }
}
