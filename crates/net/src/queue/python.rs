//! A discipline that lives outside the engine, such as a class in Python: it decides, the engine keeps the packets.
//!
//! As with `cc: python`, whoever makes a run hands in an object for each queue that asks for one ([`Foreign::attach`]).

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use std::fmt::Debug;

pub(super) static ENTRY: Entry = Entry {
    name: "python",
    summary: help("A discipline of your own, written in Python; first in, first out."),
    marks: true,
    references: &["docs/python-queues.md"],
    params: &[
        limit::param("1000 packets"),
        Param::required("class", Kind::Text, "Name of the class."),
        Param::required(
            "source",
            Kind::Text,
            "Source code of the program; `file: PATH` in a scenario file is replaced by it.",
        ),
        Param::new("origin", Kind::Text, "queue.py", "Name of the program in messages."),
        Param::new(
            "parameters",
            Kind::Text,
            "{}",
            "Parameters of the class; written as a mapping.",
        ),
    ],
    label: "Python",
    ..Entry::BLANK
};

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Take,
    /// It goes on with a mark if it is ECN-capable, and is dropped otherwise.
    Mark,
    /// It is dropped.
    Drop,
    /// It is dropped for lack of room.
    Full,
}

/// A queue as a packet finds it.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Now.
    pub now: Time,
    /// Packets that wait, without this one and the one in transmission.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Whether nothing waits and nothing is transmitted.
    pub idle: bool,
}

/// What a run hands in for a queue.
pub trait Decides: Debug + Send + Sync {
    /// What becomes of a packet that comes.
    fn on_enqueue(&mut self, held: &Held, found: Found) -> Fate;

    /// What becomes of a packet that is about to be sent.
    fn on_dequeue(&mut self, held: &Held, found: Found) -> Fate;
}

/// Packets and limit, and who decides once a run has handed it in.
#[derive(Debug)]
pub struct Foreign {
    limit: Limit,
    fifo: Fifo,
    decides: Option<Box<dyn Decides>>,
}

/// A copy waits for an object of its own.
impl Clone for Foreign {
    fn clone(&self) -> Self {
        Self { limit: self.limit, fifo: self.fifo.clone(), decides: None }
    }
}

impl Foreign {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        Self { limit: Limit::new(chosen), fifo: Fifo::default(), decides: None }
    }

    /// From now on this object decides.
    pub fn attach(&mut self, decides: Box<dyn Decides>) {
        self.decides = Some(decides);
    }

    fn found(&self, now: Time, idle: bool) -> Found {
        Found { now, packets: self.fifo.packets(), bytes: self.fifo.bytes(), idle }
    }
}

impl Store for Foreign {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let found = self.found(now, idle);
        let fate = match &mut self.decides {
            _ if !idle && !self.limit.has_room_in(&self.fifo, held.size()) => Fate::Full,
            Some(decides) => decides.on_enqueue(&held, found),
            None => Fate::Take,
        };
        match fate {
            Fate::Take => self.fifo.push(held),
            Fate::Mark => {
                if let Some(held) = fates.mark_or_drop(held, true, drop_reason::THRESHOLD) {
                    self.fifo.push(held);
                }
            }
            Fate::Drop => fates.drop(held, drop_reason::EARLY),
            Fate::Full => fates.drop(held, drop_reason::QUEUE_FULL),
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        loop {
            let held = self.fifo.pop()?;
            let found = self.found(now, false);
            let fate = match &mut self.decides {
                Some(decides) => decides.on_dequeue(&held, found),
                None => Fate::Take,
            };
            match fate {
                Fate::Take => return Some(held),
                Fate::Mark => {
                    if let Some(held) = fates.mark_or_drop(held, true, drop_reason::CODEL) {
                        return Some(held);
                    }
                }
                Fate::Drop | Fate::Full => fates.drop(held, drop_reason::CODEL),
            }
        }
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }
}
