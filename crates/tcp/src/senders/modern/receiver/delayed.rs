//! Delayed ACKs: after some segments, or after a while.
//!
//! Source: RFC 5681 section 4.2, RFC 9293 section 3.8.6.3. What arrives out of order, or fills a gap, is
//! acknowledged at once.

use super::Policy;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "delayed",
    summary: help("An ACK after `count` segments, or after `delay`."),
    references: &["RFC 5681 section 4.2"],
    params: &[
        Param::new("count", Kind::Count, "2", "Full segments after which an ACK is sent.")
            .at_least("1")
            .at_most("1000"),
        Param::new(
            "delay",
            Kind::Time,
            "40 ms",
            "Longest queueing delay of an ACK; at most 500 ms in RFC 5681.",
        )
        .at_least("1 us"),
    ],
    ..Entry::BLANK
};

pub(super) fn new(chosen: &Chosen) -> Policy {
    let count = chosen.int("count") as u32;
    let delay = Time::from_ns(chosen.int("delay_ns"));
    Policy { count, delay, quick: 0, adapts: false, compresses: None }
}
