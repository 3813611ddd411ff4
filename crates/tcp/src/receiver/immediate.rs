//! Every segment is acknowledged immediately.
//!
//! Source: RFC 5681 section 4.2, which allows it and recommends delayed ACKs.

use super::{BUFFER, Policy, keeps_segments};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "immediate",
    summary: help("Every segment is acknowledged immediately."),
    references: &["RFC 5681 section 4.2 (allowed, not recommended)"],
    params: &[BUFFER],
    ..Entry::BLANK
};

pub(super) fn new(chosen: &Chosen) -> Policy {
    Policy {
        count: 1,
        delay: Time::ZERO,
        first_at_once: false,
        newest_waits: false,
        echoes_latest: false,
        keeps_segments: keeps_segments(chosen),
    }
}
