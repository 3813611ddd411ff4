//! Traffic sources without feedback.
//!
//! To add one: a new file with an [`Entry`] and a type with `emit`, one variant here.

mod cbr;

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};

/// Sources that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&cbr::ENTRY];

/// A source.
#[derive(Debug, Clone)]
pub enum Source {
    /// Constant rate.
    Cbr(cbr::Cbr),
}

impl Source {
    /// The source that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "cbr" => Self::Cbr(cbr::Cbr::new(chosen)),
            other => panic!("no source is named `{other}`"),
        }
    }

    /// Size of the packet that is due now, and the time to the next one.
    #[inline]
    pub fn emit(&mut self) -> (u16, Time) {
        match self {
            Self::Cbr(source) => source.emit(),
        }
    }
}
