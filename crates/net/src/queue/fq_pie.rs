//! FQ-PIE: a queue for each flow, served in turn, each with PIE.
//!
//! Source: Linux `net/sched/sch_fq_pie.c`; Ramakrishnan and others, "FQ-PIE queue discipline in the Linux kernel", IEEE LCN
//! 2019. Queues and turns are those of FQ-CoDel (RFC 8290 section 4), and each queue has the rules of [`super::pie`] with its
//! own backlog and wait. Where too much waits in all, the packet that comes is dropped: no queue is searched for.
//!
//! What a queue's PIE has learnt stays when it runs empty, and decays with each update, as it does for a lone PIE.

use super::buckets::{self, Buckets};
use super::limit::{self, Limit};
use super::pie::{self, Control};
use super::turns::{self, Turns};
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help, joined};

pub(super) static ENTRY: Entry = Entry {
    name: "fq-pie",
    summary: help("A queue for each flow, served in turn, each with PIE."),
    references: &["Linux net/sched/sch_fq_pie.c", "RFC 8033", "RFC 8290"],
    params: &joined::<4, 14, 18>(
        [
            // Linux sch_fq_pie.c.
            limit::param("10240 packets"),
            buckets::flows("1024", "Number of queues."),
            turns::QUANTUM,
            buckets::QUEUES,
        ],
        pie::RULES,
    ),
    native: true,
    label: "FQ-PIE",
    check: Some(pie::check),
    ..Entry::BLANK
};

/// A queue's control, made when its first packet comes.
type Lazy = Option<Box<Control>>;

/// Queues, their order, and the limit.
#[derive(Debug, Clone)]
pub struct FqPie {
    limit: Limit,
    buckets: Buckets,
    /// What each queue begins with.
    fresh: Box<Control>,
    turns: Turns<Lazy>,
    stream: Stream,
}

impl FqPie {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            buckets: Buckets::new(chosen, &mut place.stream),
            fresh: Box::new(Control::new(chosen)),
            turns: Turns::new(chosen.int("quantum_bytes")),
            stream: place.stream,
        }
    }
}

impl Store for FqPie {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let fits = idle || self.limit.has_room(self.turns.packets, self.turns.bytes, held.size());
        let index = self.turns.lane_of(&held, &mut self.buckets);
        let lane = &mut self.turns.lanes[index as usize];
        let bytes = lane.fifo.bytes();
        let control = lane.control.get_or_insert_with(|| self.fresh.clone());
        if let Some(held) = control.admit(now, held, fits, bytes, &mut self.stream, fates) {
            self.turns.push(index, held);
        }
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Option<Held> {
        self.turns.dequeue(|lane, _| {
            let control = lane.control.as_mut()?;
            control.dequeue(now, &mut lane.fifo)
        })
    }

    fn waiting(&self) -> Vec<Held> {
        self.turns.waiting()
    }
}
