//! Random drop: when the queue is full, a packet chosen at random is dropped.
//!
//! Source: Mankin, "Random Drop Congestion Control", SIGCOMM 1990; RFC 1254, "Gateway Congestion Control Survey";
//! ns-2.35, RED with `drop_rand_`. Each of the packets that wait and the one that arrives is as likely as any other,
//! so a flow loses in proportion to the room that it takes. Where drop-tail makes the timing of arrivals decide who
//! loses (Floyd, Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992), chance does here.
//!
//! With a limit in bytes packets are dropped until the one that arrives fits, or is chosen itself.

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "random-drop",
    summary: help(
        "First in, first out; when the queue is full, a packet chosen at random is dropped.",
    ),
    references: &["Mankin 1990", "RFC 1254", "Floyd, Jacobson 1992"],
    params: &[limit::param("100 packets")],
    label: "random drop",
    ..Entry::BLANK
};

/// Packets, limit and the stream that chooses.
#[derive(Debug, Clone)]
pub struct RandomDrop {
    limit: Limit,
    fifo: Fifo,
    stream: Stream,
}

impl RandomDrop {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        Self { limit: Limit::new(chosen), fifo: Fifo::default(), stream: place.stream }
    }
}

impl Store for RandomDrop {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        while !idle && !self.limit.has_room_in(&self.fifo, held.size()) {
            // The one beyond those that wait is the one that arrives.
            let victim = self.stream.below(self.fifo.packets() as usize + 1);
            match self.fifo.remove(victim) {
                Some(waiting) => fates.drop(waiting, drop_reason::QUEUE_FULL),
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
