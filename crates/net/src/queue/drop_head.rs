//! Drop-head: a packet that arrives at a full queue takes the place of the oldest one.
//!
//! Source: Linux `net/sched/sch_fifo.c`, `pfifo_tail_enqueue` (discipline `pfifo_head_drop`); ns-2.35,
//! `DropTail` with `drop_front_`. The sender learns of the loss earlier than with drop-tail, by the time that the
//! dropped packet need not wait any more.
//!
//! DEVIATION: Linux has a limit in packets only, where one packet makes room for one. With a limit in bytes
//! packets are dropped from the head until the new one fits; one that is larger than the limit is dropped itself.

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "drop-head",
    summary: help("First in, first out; when the queue is full, the oldest packet is dropped."),
    references: &["RFC 7567 section 2.2", "Linux net/sched/sch_fifo.c, pfifo_head_drop"],
    params: &[limit::param("100 packets")],
    label: "drop-head",
    ..Entry::BLANK
};

/// Packets and limit.
#[derive(Debug, Clone)]
pub struct DropHead {
    limit: Limit,
    fifo: Fifo,
}

impl DropHead {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        Self { limit: Limit::new(chosen), fifo: Fifo::default() }
    }
}

impl Store for DropHead {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        while !idle && !self.limit.has_room_in(&self.fifo, held.size()) {
            match self.fifo.pop() {
                Some(oldest) => fates.drop(oldest, drop_reason::QUEUE_FULL),
                None => return fates.drop(held, drop_reason::QUEUE_FULL),
            }
        }
        self.fifo.push(held);
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Option<Held> {
        self.fifo.pop()
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }
}
