//! Traffic sources: what an application writes, and when.
//!
//! A write is a packet over UDP; over TCP it adds to the data that the sender may send. To add a source:
//! a new file with an [`Entry`](ackclock_units::param::Entry) and a type that implements [`Writes`], and one line in
//! [`registry!`] below.

mod bulk;
mod cbr;
mod on_off;
mod pace;
pub mod period;
mod schedule;
mod writer;

pub use writer::Writer;

use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Kind, Param, Value};
use ackclock_units::registry;
use bulk::ENTRY as BULK;

/// The source that writes everything at once and so is nothing to wait for.
pub const BULK_NAME: &str = "bulk";

const RATE: Param = Param::required("rate", Kind::Rate, "Rate of the written data.")
    .at_least("1 bps")
    .at_most("100 Tbps");
const WRITE: Param = Param::new(
    "write",
    Kind::Size,
    "1500 B",
    "Bytes of each write; over UDP a packet on the wire, at most 65535 B.",
)
.at_least("1 B")
.at_most("1000000000 B");

/// A source that waits between its writes.
pub trait Writes {
    /// Starts it; answers when to call [`Writes::write`] first.
    fn start(&mut self, now: Time) -> Time {
        now
    }

    /// Bytes that are written now, which may be none, and when to call again.
    fn write(&mut self, now: Time) -> (u32, Time);

    /// Whether the next write is one that a script starts at a time of its own, planned before the run.
    fn is_planned(&self) -> bool {
        false
    }
}

/// Named random streams of a flow.
type Streams<'a> = &'a dyn Fn(&str) -> Stream;

registry! {
    /// Any source that waits between its writes.
    pub enum Source: Writes [streams: Streams<'_>], a "source" beside BULK {
        Cbr: cbr as cbr::Cbr,
        OnOff: on_off as Box<on_off::OnOff>,
        Schedule: schedule as schedule::Schedule,
    }
    fn start(&mut self, now: Time) -> Time;
    fn write(&mut self, now: Time) -> (u32, Time);
    fn is_planned(&self) -> bool;
}

/// The sizes of the writes of a source, as far as they are known beforehand.
pub fn write_sizes(chosen: &Chosen) -> Vec<u64> {
    match chosen.find("writes") {
        Some(Value::Rows(rows)) => rows.iter().map(|row| row.int("size_bytes")).collect(),
        _ => chosen.optional_int("write_bytes").into_iter().collect(),
    }
}

/// The bytes that a source writes in all, if it says so itself.
pub fn total(chosen: &Chosen) -> Option<u64> {
    let schedules = matches!(chosen.find("writes"), Some(Value::Rows(_)));
    schedules.then(|| write_sizes(chosen).iter().sum())
}

impl Source {
    /// The source that a scenario chose for a flow; none if everything is written at once.
    pub fn of_flow(chosen: &Chosen, seed: u64, flow: &str) -> Option<Self> {
        let streams = |purpose: &str| Stream::new(seed, &format!("source/{flow}/{purpose}"));
        (chosen.kind != BULK_NAME).then(|| Self::new(chosen, &streams))
    }
}
