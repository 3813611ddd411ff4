//! Queue disciplines: which packets a link takes, marks and drops, and which one it sends next.
//!
//! There are three kinds:
//!
//! - **Drop-tail** is part of every channel and costs next to nothing.
//! - Disciplines that **decide on arrival** alone ([`OnArrival`]: RED, step marking) see the queue as a packet finds it. The
//!   channel keeps the packets, first in, first out, and needs no event at the end of a transmission.
//! - Disciplines that **keep the packets** themselves ([`Store`]: all others) are asked when a packet comes and
//!   again when the transmitter is free. Their channels are served by events.
//!
//! To add one that keeps the packets: a file with an `ENTRY` and a type that implements [`Store`], and a line in
//! [`registry!`] below.

mod adaptive;
mod blue;
mod bucket;
mod buckets;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod cake;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod cobalt;
mod codel;
mod control;
mod drop_head;
mod droptail;
mod drr;
mod dualpi2;
mod fates;
mod fifo;
mod fq_codel;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod fq_pie;
mod gate;
mod limit;
mod pi;
mod pie;
mod policer;
mod priority;
mod python;
mod random_drop;
mod red;
mod sfq;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod shaper;
mod tbf;
mod threshold;
mod turns;

pub use droptail::{DropTail, Occupancy};
pub use fates::{Fates, Held};
pub use gate::Gate;
pub use python::{Decides, Fate, Found};

use crate::packet::Packet;
use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Param, Value};
use ackclock_units::registry;
use blue::ENTRY as BLUE;
use droptail::ENTRY as DROP_TAIL;
use fifo::Fifo;
use policer::ENTRY as POLICER;
use red::ENTRY as RED;
use std::sync::Arc;
use threshold::ENTRY as THRESHOLD;

/// The place of a queue: what a discipline may know beyond its parameters.
#[derive(Debug)]
pub struct Place {
    /// Bits per second of the wire behind it.
    pub rate_bps: u64,
    /// Propagation delay of that wire.
    pub delay: Time,
    /// The random stream of this queue.
    pub stream: Stream,
    /// Sender and receiver of each flow.
    pub hosts: Arc<[[u32; 2]]>,
}

/// A packet that arrives at a queue, and the queue as it finds it.
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
    /// Shows what it computes, each by the code of `aqm_variable`.
    fn state(&self, _show: &mut dyn FnMut(i32, f64)) {}
}

/// Keeps the packets that wait.
pub trait Store {
    /// A packet comes. It, or others in its place, may be marked or dropped. `idle`: nothing waits and nothing
    /// is transmitted, so it need not wait.
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates);
    /// The transmitter is free: the packet to send. Those that it meets on the way may be marked or dropped.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held>;
    /// Where packets wait, but none may leave yet: when the first one may. Asked after a packet was asked for in vain.
    fn ready_at(&self) -> Option<Time> {
        None
    }
    /// The rate of the wire has changed.
    fn set_rate(&mut self, _rate_bps: u64) {}
    /// Shows what it computes, each by the code of `aqm_variable`.
    fn state(&self, _show: &mut dyn FnMut(i32, f64)) {}
    /// The packets that wait, for the end of a run.
    fn waiting(&self) -> Vec<Held>;
}

registry! {
    /// A discipline that keeps the packets.
    #[allow(clippy::large_enum_variant, reason = "one a channel, in a box")]
    pub enum Keeper: Store [place: Place], a "queue" beside DROP_TAIL, RED, THRESHOLD, POLICER, BLUE {
        DropHead: drop_head as drop_head::DropHead,
        RandomDrop: random_drop as random_drop::RandomDrop,
        CoDel: codel as codel::CoDel,
        Pie: pie as pie::Pie,
        DualPi2: dualpi2 as dualpi2::DualPi2,
        Drr: drr as drr::Drr,
        Sfq: sfq as sfq::Sfq,
        Priority: priority as priority::Priority,
        Tbf: tbf as tbf::Tbf,
        FqCoDel: fq_codel as fq_codel::FqCoDel,
        #[cfg(not(target_family = "wasm"))]
        Cobalt: cobalt as cobalt::Cobalt,
        #[cfg(not(target_family = "wasm"))]
        FqPie: fq_pie as fq_pie::FqPie,
        #[cfg(not(target_family = "wasm"))]
        Cake: cake as Box<cake::Cake>,
        Foreign: python as python::Foreign,
    }
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates);
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held>;
    fn ready_at(&self) -> Option<Time>;
    fn set_rate(&mut self, rate_bps: u64);
    fn state(&self, show: &mut dyn FnMut(i32, f64));
    fn waiting(&self) -> Vec<Held>;
}

/// A discipline beside drop-tail.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "one a channel, in a box")]
pub enum Discipline {
    /// Decides on arrival.
    OnArrival(Gate),
    /// Keeps the packets itself.
    Store(Keeper),
}

impl Discipline {
    /// Whether it lives outside the engine.
    pub fn is_foreign(&self) -> bool {
        matches!(self, Self::Store(Keeper::Foreign(_)))
    }

    /// Hands in what decides where a discipline lives outside the engine; nothing is asked for otherwise.
    pub fn attach(&mut self, decides: impl FnOnce() -> Option<Box<dyn Decides>>) {
        if let Self::Store(Keeper::Foreign(foreign)) = self
            && let Some(decides) = decides()
        {
            foreign.attach(decides);
        }
    }

    /// The packets that it keeps.
    pub fn waiting(&self) -> Vec<Held> {
        match self {
            Self::OnArrival(_) => Vec::new(),
            Self::Store(store) => store.waiting(),
        }
    }

    /// Shows what it computes, each by the code of `aqm_variable`.
    pub fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        match self {
            Self::OnArrival(gate) => gate.state(show),
            Self::Store(store) => store.state(show),
        }
    }

    /// The rate of the wire has changed.
    pub fn set_rate(&mut self, rate_bps: u64) {
        match self {
            Self::OnArrival(gate) => gate.set_rate(rate_bps),
            Self::Store(store) => store.set_rate(rate_bps),
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
    /// The discipline that a scenario chose.
    pub fn new(chosen: &Chosen, place: impl FnOnce() -> Place) -> Self {
        if chosen.kind == DROP_TAIL.name {
            return Self::DropTail(DropTail::new(chosen));
        }
        Self::Managed(Box::new(if Gate::has(&chosen.kind) {
            Discipline::OnArrival(Gate::new(chosen, place()))
        } else {
            Discipline::Store(Keeper::new(chosen, place()))
        }))
    }

    /// Whether a packet of this size is taken when nothing waits and nothing is transmitted.
    pub fn takes_when_empty(chosen: &Chosen, size: u16) -> bool {
        let empty = Occupancy { packets: 0, bytes: 0, in_service: None };
        chosen.kind != DROP_TAIL.name || DropTail::new(chosen).admit(empty, size)
    }

    /// The parameters by which the discipline that a scenario chose marks packets; none at all if it marks nothing. Some
    /// disciplines mark without such a parameter.
    pub fn marks(chosen: &Chosen) -> Option<Vec<&'static str>> {
        let entry = ENTRIES.iter().find(|entry| entry.name == chosen.kind)?;
        let is_set = |param: &Param| {
            let (_, value) = chosen.values.iter().find(|(name, _)| param.is_named(name))?;
            (![Value::Null, Value::Flag(false)].contains(value)).then_some(param.name)
        };
        let set: Vec<_> =
            entry.params.iter().filter(|param| param.marks).filter_map(is_set).collect();
        (entry.marks || !set.is_empty()).then_some(set)
    }

    /// Whether the discipline of this name keeps the packets and may drop one that it has taken.
    pub fn keeps_packets(kind: &str) -> bool {
        kind != DROP_TAIL.name && !Gate::has(kind)
    }

    /// Whether the channel has to be served by events.
    pub fn needs_events(&self) -> bool {
        matches!(self, Self::Managed(discipline) if matches!(**discipline, Discipline::Store(_)))
    }
}

#[cfg(test)]
mod tests;
