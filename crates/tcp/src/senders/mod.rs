//! Families of senders, each with its own kind of receiver.

pub mod classic;
pub mod selective;

use ackclock_units::param::Entry;

/// Loss recoveries of all families.
pub static RECOVERIES: &[&Entry] = &[
    selective::recovery::ENTRIES[0],
    classic::recovery::ENTRIES[0],
    classic::recovery::ENTRIES[1],
    classic::recovery::ENTRIES[2],
    classic::recovery::ENTRIES[3],
    classic::recovery::ENTRIES[4],
];
