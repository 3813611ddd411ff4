//! The selective-repeat family, as scenarios name it, with its keys.

use super::recovery;
use ackclock_units::param::{Choice, Entry, Kind, Param, help};

/// Registry entry.
pub static ENTRY: Entry = Entry {
    name: "selective-repeat",
    summary: help("Numbered packets, ACKs that list what has arrived, one timer per packet."),
    references: &["Bhasin, Luo, Su, Yang 2015, section 2.5"],
    params: &[
        Param::new(
            "recovery",
            Kind::Registered(recovery::ENTRIES),
            "selective-repeat",
            "Loss recovery: when a packet counts as lost, and how the window reacts.",
        ),
        Param::new(
            "ack_view",
            Kind::Choice(&[
                Choice::new("snapshot", "the state when the ACK was sent"),
                Choice::defect("live", "the state when the ACK arrives"),
            ]),
            "snapshot",
            "Which receiver state an ACK reports.",
        ),
        Param::new(
            "ack_duplicates",
            Kind::Choice(&[
                Choice::new("always", "every arrival is acknowledged"),
                Choice::defect(
                    "never",
                    "duplicates are not acknowledged: one lost ACK can block a flow for ever",
                ),
            ]),
            "always",
            "Whether duplicates are acknowledged.",
        ),
    ],
    label: "selective",
    ..Entry::BLANK
};
