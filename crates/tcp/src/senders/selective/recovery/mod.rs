//! Loss recovery of the selective-repeat sender. There is one, with options.

pub mod selective_repeat;

pub use selective_repeat::Recovery;

use ackclock_units::param::Entry;

/// Loss recoveries that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&selective_repeat::ENTRY];
