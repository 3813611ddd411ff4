//! Traffic sources: what an application writes, and when.
//!
//! A write is a packet over UDP; over TCP it adds to the data that the sender may send. To add a source:
//! a new file with an [`Entry`] and a type with `start` and `write`, one variant here.

mod bulk;
mod cbr;
mod on_off;
mod pace;
pub mod period;
mod writer;

pub use writer::Writer;

use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param};

/// Sources that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&bulk::ENTRY, &cbr::ENTRY, &on_off::ENTRY];

/// The source that writes everything at once and so is nothing to wait for.
pub const BULK_NAME: &str = "bulk";

const RATE: Param = Param::required("rate", Kind::Rate, "Rate of the bytes that are written.")
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
#[derive(Debug, Clone)]
pub enum Source {
    /// Constant rate.
    Cbr(cbr::Cbr),
    /// Constant rate with pauses.
    OnOff(Box<on_off::OnOff>),
}

impl Source {
    /// The source that a scenario chose for a flow; none if everything is written at once.
    pub fn new(chosen: &Chosen, seed: u64, flow: &str) -> Option<Self> {
        let stream = |purpose: &str| Stream::new(seed, &format!("source/{flow}/{purpose}"));
        match chosen.kind.as_str() {
            BULK_NAME => None,
            "cbr" => Some(Self::Cbr(cbr::Cbr::new(chosen, &stream))),
            "on-off" => Some(Self::OnOff(Box::new(on_off::OnOff::new(chosen, &stream)))),
            other => panic!("no source is named `{other}`"),
        }
    }

    /// Starts it; answers when to call [`Source::write`] first.
    fn start(&mut self, now: Time) -> Time {
        match self {
            Self::Cbr(_) => now,
            Self::OnOff(source) => source.start(now),
        }
    }

    /// Bytes that are written now, which may be none, and when to call again.
    #[inline]
    fn write(&mut self, now: Time) -> (u32, Time) {
        match self {
            Self::Cbr(source) => source.write(now),
            Self::OnOff(source) => source.write(now),
        }
    }
}
