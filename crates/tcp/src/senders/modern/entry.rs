//! The modern family, as scenarios name it, with its keys.

use super::receiver;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

/// Registry entry.
pub static ENTRY: Entry = Entry {
    name: "modern",
    summary: help("TCP as deployed today: SACK, RACK-TLP, PRR, F-RTO and undo, as Linux combines them."),
    references: &["RFC 9293", "RFC 2018", "RFC 8985", "RFC 9937", "RFC 5682", "Linux, tcp_input.c"],
    params: &[
        Param::new(
            "handshake",
            Kind::Registered(crate::handshake::ENTRIES),
            "three-way",
            "Packets exchanged before the first data.",
        ),
        Param::new("receiver", Kind::Registered(receiver::ENTRIES), "linux", "When ACKs are sent."),
        Param::optional(
            "receive_window",
            Kind::SizeOrPackets,
            "1 GB",
            "Receive window, which limits the data in flight; a packet is a full segment.",
        )
        .at_least("1 B")
        .at_most("1 GB"),
        Param::optional(
            "receive_buffer",
            Kind::Size,
            "unlimited",
            "The receiver's buffer, from which its application reads at the rate `reads`; the free space is the receive window.",
        )
        .at_least("1 B")
        .at_most("1 GB"),
        Param::optional(
            "reads",
            Kind::Rate,
            "at-once",
            "Rate at which the receiving application reads from `receive_buffer`; by default it reads immediately.",
        )
        .at_least("1 bps"),
        Param::new(
            "sack",
            Kind::Flag,
            "true",
            "Selective acknowledgments (RFC 2018); without them, duplicate ACKs are counted (RFC 6582).",
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
                Choice::new("rack", "by time: later segments have been delivered, and the reordering window has passed (RFC 8985)"),
                Choice::new("dupthresh", "three later segments have arrived (RFC 6675 section 4)"),
            ]),
            "rack",
            "When a segment counts as lost.",
        ),
        Param::new(
            "reduce",
            Kind::Choice(&[
                Choice::new("prr", "in proportion to delivered data (PRR, RFC 9937)"),
                Choice::new("pipe", "at once, to the slow-start threshold (RFC 6675 section 5)"),
                Choice::new("ns-3", "as in ns-3.44: in proportion, but delivered data count twice"),
            ]),
            "prr",
            "How the window is reduced during recovery.",
        ),
        Param::new(
            "tail_loss_probe",
            Kind::Flag,
            "true",
            "Tail loss probe: whether a probe is sent before the retransmission timer expires (RFC 8985 section 7).",
        ),
        Param::new(
            "frto",
            Kind::Flag,
            "true",
            "F-RTO: whether new data are sent after a timeout to detect if it was spurious (RFC 5682).",
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
            "Nagle's algorithm: a small segment waits while an earlier small one is unacknowledged (RFC 896, as in Linux).",
        ),
        Param::new(
            "idle_restart",
            Kind::Choice(&[
                Choice::new(
                    "decay",
                    "it is halved for each RTO of idle time, down to the initial window (Linux, RFC 2861)",
                ),
                Choice::new("none", "it stays"),
            ]),
            "decay",
            "What happens to the window after an idle period.",
        ),
        Param::new(
            "ecn",
            Kind::Flag,
            "false",
            "ECN: whether new data may be marked instead of dropped (RFC 3168).",
        ),
        Param::new(
            "timers",
            Kind::Choice(&[
                Choice::new("exact", "they expire exactly when due"),
                Choice::new(
                    "linux",
                    "they are rounded up as in Linux with 250 clock ticks per second",
                ),
            ]),
            "exact",
            "Resolution of the timers.",
        ),
        Param::new(
            "pacing",
            Kind::Choice(&[
                Choice::new("none", "segments are sent as soon as the window allows"),
                Choice::new(
                    "window",
                    "at twice the window per round trip in slow start, 1.2 times the window afterwards (Linux with the fq qdisc)",
                ),
            ]),
            "none",
            "Pacing, unless the congestion control sets a pacing rate.",
        ),
        Param::new("pacing_burst", Kind::Count, "1", "Segments per burst, with pacing.")
            .at_least("1")
            .at_most("64"),
        Param::new(
            "fin",
            Kind::Flag,
            "true",
            "Whether the sender ends the data with a FIN, on the last segment if that has not been sent yet.",
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
