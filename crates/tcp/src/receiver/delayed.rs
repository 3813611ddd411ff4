//! Delayed ACKs: every second segment is acknowledged, or the first one after a time.
//!
//! Source: RFC 5681 section 4.2, RFC 1122 section 4.2.3.2.

use super::{BUFFER, Policy, keeps_segments};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "delayed",
    summary: help(
        "Every second segment is acknowledged, or after a timeout; out-of-order segments immediately.",
    ),
    references: &["RFC 5681 section 4.2", "RFC 1122 section 4.2.3.2"],
    params: &[
        Param::new("count", Kind::Count, "2", "Segments after which an ACK is due.")
            .at_least("1")
            .at_most("65535"),
        Param::new(
            "delay",
            Kind::Time,
            "200 ms",
            "Maximum delay of an ACK (at most 500 ms by the RFC).",
        ),
        Param::new(
            "first_ack",
            Kind::Choice(&[
                Choice::new("counted", "like any other: its ACK waits for the second segment"),
                Choice::new("at-once", "immediately (ns-3.24)"),
            ]),
            "counted",
            "How the first segment of a flow is acknowledged.",
        ),
        Param::new(
            "echo",
            Kind::Choice(&[
                Choice::new(
                    "first",
                    "that of the first segment not yet acknowledged (RFC 7323 section 4.3)",
                ),
                Choice::defect(
                    "latest",
                    "that of the segment that arrived last: the delay of the ACK is not measured (ns-3.24)",
                ),
            ]),
            "first",
            "Which sending time an ACK of several segments echoes.",
        ),
        Param::new(
            "duplicates",
            Kind::Choice(&[
                Choice::new("at-once", "immediately"),
                Choice::new(
                    "newest-waits",
                    "except a copy of the last in-order segment, whose ACK is delayed (ns-2)",
                ),
            ]),
            "at-once",
            "When duplicate segments are acknowledged.",
        ),
        BUFFER,
    ],
    ..Entry::BLANK
};

pub(super) fn new(chosen: &Chosen) -> Policy {
    Policy {
        count: chosen.int("count") as u16,
        delay: Time::from_ns(chosen.int("delay_ns")),
        first_at_once: chosen.word("first_ack") == "at-once",
        newest_waits: chosen.word("duplicates") == "newest-waits",
        echoes_latest: chosen.word("echo") == "latest",
        keeps_segments: keeps_segments(chosen),
    }
}
