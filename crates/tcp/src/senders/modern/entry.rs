//! The modern family, as scenarios name it, with its keys.

use super::receiver;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param};

/// Registry entry.
pub static ENTRY: Entry = Entry {
    name: "modern",
    summary: "TCP as deployed today: SACK, RACK-TLP, PRR, F-RTO and undo, as Linux combines them.",
    references: &["RFC 9293", "RFC 2018", "RFC 8985", "RFC 6937", "RFC 5682", "Linux, tcp_input.c"],
    params: &[
        Param::new(
            "handshake",
            Kind::Registered(crate::handshake::ENTRIES),
            "three-way",
            "What is exchanged before the first data.",
        ),
        Param::new("receiver", Kind::Registered(receiver::ENTRIES), "linux", "When ACKs are sent."),
        Param::optional(
            "receive_window",
            Kind::SizeOrPackets,
            "1 GB",
            "The receiver's window, which limits the data in flight; a packet is a full segment.",
        )
        .at_least("1 B")
        .at_most("1 GB"),
        Param::optional(
            "receive_buffer",
            Kind::Size,
            "unlimited",
            "The receiver's buffer, from which its application reads at the rate `reads`; what is free is its window.",
        )
        .at_least("1 B")
        .at_most("1 GB"),
        Param::optional(
            "reads",
            Kind::Rate,
            "at-once",
            "How fast the receiver's application reads from `receive_buffer`; without, it reads at once.",
        )
        .at_least("1 bps"),
        Param::new(
            "sack",
            Kind::Flag,
            "true",
            "Whether ACKs report what has arrived out of order (RFC 2018); without, repeated ACKs are counted (RFC 6582).",
        ),
        Param::new(
            "timestamps",
            Kind::Flag,
            "true",
            "Whether segments carry timestamps and ACKs echo them (RFC 7323).",
        ),
        Param::new(
            "detect",
            Kind::Choice(&[
                Choice::new("rack", "later segments have arrived, and time has passed (RFC 8985)"),
                Choice::new("dupthresh", "three later segments have arrived (RFC 6675 section 4)"),
            ]),
            "rack",
            "When a segment counts as lost.",
        ),
        Param::new(
            "reduce",
            Kind::Choice(&[
                Choice::new("prr", "in proportion to what is delivered (RFC 6937)"),
                Choice::new("pipe", "at once, to the slow-start threshold (RFC 6675 section 5)"),
                Choice::new("ns-3", "as ns-3.44: in proportion, but what is delivered counts twice"),
            ]),
            "prr",
            "How the window falls in a recovery.",
        ),
        Param::new(
            "tail_loss_probe",
            Kind::Flag,
            "true",
            "Whether a probe is sent before the retransmission timer expires (RFC 8985 section 7).",
        ),
        Param::new(
            "frto",
            Kind::Flag,
            "true",
            "Whether new data after a timeout find out if it was spurious (RFC 5682).",
        ),
        Param::new(
            "undo",
            Kind::Flag,
            "true",
            "Whether a reduction that turns out to be needless is undone, by D-SACK (RFC 3708) and timestamps (RFC 3522).",
        ),
        Param::new(
            "nagle",
            Kind::Flag,
            "true",
            "Whether a small segment waits while an earlier small one is not acknowledged (RFC 896, as Linux does it).",
        ),
        Param::new(
            "idle_restart",
            Kind::Choice(&[
                Choice::new(
                    "decay",
                    "it is halved for each RTO of the pause, down to the initial one (Linux, RFC 2861)",
                ),
                Choice::new("none", "it stays"),
            ]),
            "decay",
            "What a pause does to the window.",
        ),
        Param::new(
            "ecn",
            Kind::Flag,
            "false",
            "Whether new data may be marked instead of dropped (RFC 3168).",
        ),
        Param::new(
            "timers",
            Kind::Choice(&[
                Choice::new("exact", "they expire when they are due"),
                Choice::new(
                    "linux",
                    "they are rounded up as Linux does it with 250 clock ticks a second",
                ),
            ]),
            "exact",
            "How exact the timers are.",
        ),
        Param::new(
            "pacing",
            Kind::Choice(&[
                Choice::new("none", "segments leave as soon as the window lets them"),
                Choice::new(
                    "window",
                    "twice a window a round trip in slow start, 1.2 times after that (Linux with the queue discipline fq)",
                ),
            ]),
            "none",
            "How segments are spread over the round trip where the congestion control sets no pace of its own.",
        ),
        Param::new("pacing_burst", Kind::Count, "1", "Segments that leave together, with pacing.")
            .at_least("1")
            .at_most("64"),
        Param::new(
            "fin",
            Kind::Flag,
            "true",
            "Whether the end of the data is a FIN, which rides on the last segment if that has not left yet.",
        ),
    ],
    check: Some(check),
    label: "modern",
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let given = |name| chosen.optional_int(name).is_some();
    match (given("receive_buffer_bytes"), given("reads_bps")) {
        (true, false) => Err(Clash::without_effect("receive_buffer", "`reads`")),
        (false, true) => Err(Clash::without_effect("reads", "`receive_buffer`")),
        _ => Ok(()),
    }
}
