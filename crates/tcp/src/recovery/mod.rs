//! Loss recovery: when a packet counts as lost, and what the window does while it is repaired.

pub mod selective_repeat;

use ackclock_units::param::Entry;

/// Loss recoveries that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&selective_repeat::ENTRY];
