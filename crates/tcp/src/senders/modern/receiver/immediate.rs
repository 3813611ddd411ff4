//! Each segment is acknowledged at once.

use super::Policy;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "immediate",
    summary: help("An ACK for each segment, at once."),
    references: &["RFC 2018", "RFC 2883"],
    ..Entry::BLANK
};

pub(super) fn new(_chosen: &Chosen) -> Policy {
    Policy { count: 0, delay: Time::ZERO, quick: 0, adapts: false, compresses: None }
}
