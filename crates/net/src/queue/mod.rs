//! Queue disciplines: which packets a link takes, marks and drops, and which one it sends next.
//!
//! There are three kinds:
//!
//! - **Drop-tail** is part of every channel and costs next to nothing.
//! - Disciplines that **decide on arrival** alone ([`OnArrival`]: RED) see the queue as a packet finds it. The
//!   channel keeps the packets, first in, first out, and needs no event at the end of a transmission.
//! - Disciplines that **keep the packets** themselves ([`Store`]: all others) are asked when a packet comes and
//!   again when the transmitter is free. Their channels are served by events.
//!
//! To add one: a file with an [`Entry`] and a type that implements one of the traits, and a line in
//! `disciplines!` below.

mod adaptive;
mod codel;
mod control;
mod drop_head;
mod droptail;
mod fates;
mod fifo;
mod fq_codel;
mod limit;
mod pie;
mod red;

pub use droptail::{DropTail, Occupancy};
pub use fates::{Fates, Held};

use crate::packet::Packet;
use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};
use fifo::Fifo;

/// The place of a queue: what a discipline may know beyond its parameters.
#[derive(Debug)]
pub struct Place {
    /// Bits per second of the wire behind it.
    pub rate_bps: u64,
    /// Propagation delay of that wire.
    pub delay: Time,
    /// The random stream of this queue.
    pub stream: Stream,
}

/// A packet that comes to a queue, and the queue as it finds it.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// Packets waiting, without it and without the one in transmission.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Since when nothing waits and nothing is transmitted; none while the link is busy.
    pub idle_since: Option<Time>,
}

/// What becomes of a packet that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken.
    Take,
    /// It is taken with the mark for congestion experienced; it is ECN-capable.
    Mark(i32),
    /// It is dropped, for the reason of this code.
    Drop(i32),
}

/// Decides on arrival alone.
pub trait OnArrival {
    /// What becomes of a packet that arrives.
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict;
    /// The rate of the wire has changed.
    fn set_rate(&mut self, _rate_bps: u64) {}
}

/// Keeps the packets that wait.
pub trait Store {
    /// A packet comes. It, or others in its place, may be marked or dropped. `idle`: nothing waits and nothing
    /// is transmitted, so it need not wait.
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates);
    /// The transmitter is free: the packet to send. Those that it meets on the way may be marked or dropped.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held>;
    /// The packets that wait, for the end of a run.
    fn waiting(&self) -> Vec<Held>;
}

/// Queue disciplines beside drop-tail: `on_arrival` and `store`, each `Variant: module as type`.
macro_rules! disciplines {
    (
        on_arrival { $($early:ident: $early_module:ident as $early_type:ty),+ $(,)? }
        store { $($store:ident: $module:ident as $type:ty),+ $(,)? }
    ) => {
        /// Queue disciplines that a scenario can name.
        pub static ENTRIES: &[&Entry] = &[
            &droptail::ENTRY, $(&$early_module::ENTRY,)+ $(&$module::ENTRY,)+
        ];

        /// A discipline that decides on arrival.
        #[derive(Debug, Clone)]
        pub enum Gate {
            $(#[allow(missing_docs, reason = "the type says it")] $early($early_type),)+
        }

        impl OnArrival for Gate {
            fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict {
                match self { $(Self::$early(gate) => gate.admit(arrival),)+ }
            }
            fn set_rate(&mut self, rate_bps: u64) {
                match self { $(Self::$early(gate) => gate.set_rate(rate_bps),)+ }
            }
        }

        /// A discipline that keeps the packets.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "one a channel, in a box")]
        pub enum Keeper {
            $(#[allow(missing_docs, reason = "the type says it")] $store($type),)+
        }

        impl Store for Keeper {
            fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
                match self { $(Self::$store(store) => store.enqueue(now, held, idle, fates),)+ }
            }
            fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
                match self { $(Self::$store(store) => store.dequeue(now, fates),)+ }
            }
            fn waiting(&self) -> Vec<Held> {
                match self { $(Self::$store(store) => store.waiting(),)+ }
            }
        }

        impl Queue {
            /// The discipline that a scenario chose.
            pub fn new(chosen: &Chosen, place: impl FnOnce() -> Place) -> Self {
                let kind = chosen.kind.as_str();
                if kind == droptail::ENTRY.name {
                    return Self::DropTail(DropTail::new(chosen));
                }
                $(if kind == $early_module::ENTRY.name {
                    let gate = Gate::$early(<$early_type>::new(chosen, place()));
                    return Self::Managed(Box::new(Discipline::OnArrival(gate)));
                })+
                $(if kind == $module::ENTRY.name {
                    let store = Keeper::$store(<$type>::new(chosen, place()));
                    return Self::Managed(Box::new(Discipline::Store(store)));
                })+
                panic!("no queue is named `{kind}`")
            }
        }
    };
}

disciplines! {
    on_arrival {
        Red: red as red::Red,
    }
    store {
        DropHead: drop_head as drop_head::DropHead,
        CoDel: codel as codel::CoDel,
        Pie: pie as pie::Pie,
        FqCoDel: fq_codel as fq_codel::FqCoDel,
    }
}

/// A discipline beside drop-tail.
#[derive(Debug, Clone)]
pub enum Discipline {
    /// Decides on arrival.
    OnArrival(Gate),
    /// Keeps the packets itself.
    Store(Keeper),
}

impl Discipline {
    /// The packets that it keeps.
    pub fn waiting(&self) -> Vec<Held> {
        match self {
            Self::OnArrival(_) => Vec::new(),
            Self::Store(store) => store.waiting(),
        }
    }

    /// The rate of the wire has changed.
    pub fn set_rate(&mut self, rate_bps: u64) {
        if let Self::OnArrival(gate) = self {
            gate.set_rate(rate_bps);
        }
    }
}

/// The queue of a channel.
#[derive(Debug, Clone)]
pub enum Queue {
    /// Takes what fits.
    DropTail(DropTail),
    /// Another discipline.
    Managed(Box<Discipline>),
}

impl Queue {
    /// Whether a packet of this size is taken when nothing waits and nothing is transmitted.
    pub fn takes_when_empty(chosen: &Chosen, size: u16) -> bool {
        let empty = Occupancy { packets: 0, bytes: 0, in_service: None };
        chosen.kind != droptail::ENTRY.name || DropTail::new(chosen).admit(empty, size)
    }

    /// Whether the channel has to be served by events.
    pub fn needs_events(&self) -> bool {
        matches!(self, Self::Managed(discipline) if matches!(**discipline, Discipline::Store(_)))
    }
}
