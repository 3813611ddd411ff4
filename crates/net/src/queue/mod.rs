//! Queue disciplines: which packets a link takes.
//!
//! To add one that decides on arrival: a new file with an [`Entry`] and a type with `admit`, one
//! variant here.

mod droptail;

use ackclock_units::param::{Chosen, Entry};

/// Queue disciplines that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&droptail::ENTRY];

/// What a link holds when a packet arrives.
#[derive(Debug, Clone, Copy)]
pub struct Occupancy {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
    /// Size of the packet in transmission, if there is one.
    pub in_service: Option<u16>,
}

/// A queue discipline.
#[derive(Debug, Clone)]
pub enum Queue {
    /// Takes what fits.
    DropTail(droptail::DropTail),
}

impl Queue {
    /// The discipline that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "droptail" => Self::DropTail(droptail::DropTail::new(chosen)),
            other => panic!("no queue is named `{other}`"),
        }
    }

    /// Whether any packet is taken that meets an idle transmitter and nothing waiting.
    pub fn takes_when_idle(&self) -> bool {
        match self {
            Self::DropTail(queue) => queue.takes_when_idle(),
        }
    }

    /// Whether a packet of this size is taken.
    #[inline]
    pub fn admit(&self, held: Occupancy, size: u16) -> bool {
        match self {
            Self::DropTail(queue) => queue.admit(held, size),
        }
    }
}
