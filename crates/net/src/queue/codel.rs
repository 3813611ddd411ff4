//! CoDel: drops by the time that packets spend in the queue.
//!
//! Source: RFC 8289; Nichols, Jacobson, "Controlling Queue Delay", ACM Queue 2012. The rules themselves stand in
//! `control.rs`, since FQ-CoDel has them, too.

use super::control::{self, Control, Rules};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "codel",
    summary: help(
        "Drops from the head when the queueing delay has been above a target for an interval.",
    ),
    references: &["RFC 8289", "Nichols, Jacobson 2012", "Linux include/net/codel_impl.h"],
    params: &[
        // Linux sch_codel.c.
        limit::param("1000 packets"),
        control::TARGET,
        control::INTERVAL,
        control::MTU,
        control::ecn("false"),
        control::CE_THRESHOLD,
        control::SQUARE_ROOT,
        control::ABOVE,
        control::AFTER_MARK,
    ],
    state: &["dropping", "count"],
    label: "CoDel",
    check: Some(control::check),
    ..Entry::BLANK
};

/// Packets, limit and state.
#[derive(Debug, Clone)]
pub struct CoDel {
    limit: Limit,
    rules: Rules,
    control: Control,
    fifo: Fifo,
}

impl CoDel {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            rules: Rules::new(chosen),
            control: Control::default(),
            fifo: Fifo::default(),
        }
    }
}

impl Store for CoDel {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        if idle || self.limit.has_room_in(&self.fifo, held.size()) {
            self.fifo.push(held);
        } else {
            fates.drop(held, drop_reason::QUEUE_FULL);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        self.control.dequeue(now, &self.rules, &mut self.fifo, 0, fates)
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        self.control.state(show);
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }
}
