//! The classic family, as scenarios name it, with its keys.

use super::recovery;
use ackclock_units::param::{Choice, Entry, Kind, Param, help};

/// Registry entry.
pub static ENTRY: Entry = Entry {
    name: "classic",
    summary: help("Byte sequence numbers, cumulative ACKs, one timer per flow."),
    references: &["RFC 9293", "RFC 5681", "RFC 6298"],
    params: &[
        Param::new(
            "recovery",
            Kind::Registered(recovery::ENTRIES),
            "newreno",
            "Loss recovery: when a segment counts as lost, and how the window reacts.",
        ),
        Param::new(
            "handshake",
            Kind::Registered(crate::handshake::ENTRIES),
            "none",
            "Packets exchanged before the first data.",
        ),
        Param::new(
            "receiver",
            Kind::Registered(crate::receiver::ENTRIES),
            "immediate",
            "When ACKs are sent.",
        ),
        Param::optional(
            "receive_window",
            Kind::SizeOrPackets,
            "unlimited",
            "Receive window, which limits the data in flight; a packet is a full segment. \
             Real hosts have a limit (Linux: 6 MiB, as in profile `realistic`).",
        )
        .at_least("1 B"),
        Param::new(
            "window_unit",
            Kind::Choice(&[
                Choice::new("bytes", "bytes and fractions of them (RFC 5681)"),
                Choice::new("segments", "segments and fractions of them (ns-2, Linux)"),
            ]),
            "bytes",
            "Unit of windows.",
        ),
        Param::new(
            "ecn",
            Kind::Flag,
            "false",
            "ECN: whether new data may be marked instead of dropped, and echoed marks reduce the window (RFC 3168).",
        ),
        Param::new(
            "framing",
            Kind::Choice(&[
                Choice::new("full", "only full segments are sent, except the last one"),
                Choice::new("fill", "a segment may be cut to fit the window"),
            ]),
            "full",
            "How data are divided into segments.",
        ),
        Param::new(
            "ssthresh_floor",
            Kind::Real,
            "2",
            "Minimum slow-start threshold after a loss, in segments (RFC 5681 equation 4).",
        )
        .at_least("0")
        .at_most("1e6"),
        Param::new(
            "ssthresh_rounding",
            Kind::Choice(&[
                Choice::new("exact", "as computed by the congestion control"),
                Choice::new("whole-segments", "rounded down to whole segments (ns-2)"),
            ]),
            "exact",
            "Rounding of the slow-start threshold after a loss.",
        ),
        Param::new(
            "initial_ssthresh_limit",
            Kind::Choice(&[
                Choice::new("none", "`initial_ssthresh` alone"),
                Choice::new("receive-window", "the receiver's window, too (ns-2)"),
            ]),
            "none",
            "Upper limit of the initial slow-start threshold.",
        ),
        Param::new(
            "zero_ack",
            Kind::Choice(&[
                Choice::new("counts", "duplicates of the first ACK count like any others"),
                Choice::new(
                    "ignored",
                    "they are ignored, so a loss of the first segment is repaired by a timeout only (Bene)",
                ),
            ]),
            "counts",
            "Effect of duplicate ACKs that carry acknowledgment number 0.",
        ),
        Param::new(
            "timer_restart",
            Kind::Choice(&[
                Choice::new("on-ack", "by each ACK of new data (RFC 6298 5.3)"),
                Choice::new(
                    "on-ack-always",
                    "the same, even if no data are outstanding, as long as there are data to send (ns-3.24)",
                ),
                Choice::new("on-ack-and-repair", "the same, and each fast retransmit (ns-2)"),
                Choice::defect("on-ack-old-rto", "the same, with the RTO before the ACK's sample"),
                Choice::defect(
                    "on-send",
                    "such an ACK stops the timer until a segment is sent: a lost last segment then has no timer",
                ),
            ]),
            "on-ack",
            "When the retransmission timer is restarted.",
        ),
        Param::new(
            "timer_backoff",
            Kind::Choice(&[
                Choice::new("at-expiry", "when the timer expires (RFC 6298 5.5)"),
                Choice::defect(
                    "at-start",
                    "whenever a segment starts the timer, so the first RTO is doubled, too (ns-3.24)",
                ),
            ]),
            "at-expiry",
            "When the RTO is doubled.",
        ),
        Param::new(
            "send_delay",
            Kind::Time,
            "0 s",
            "Delay from an ACK to the new data that it releases; 1 ns in ns-3.",
        )
        .at_most("1 s"),
        Param::new(
            "flight",
            Kind::Choice(&[
                Choice::new(
                    "window",
                    "up to the next byte to send, without data to be retransmitted; at a timeout during fast \
                     recovery at most the window without its inflation, as in ns-2: duplicate ACKs release new \
                     data for as long as a hole lasts, and most of these have arrived",
                ),
                Choice::new(
                    "next",
                    "the same without that bound: all that is not acknowledged (RFC 5681, literally)",
                ),
                Choice::new("highest", "up to the highest byte ever sent, in any case (ns-3.24)"),
            ]),
            "window",
            "Which flight size a loss halves.",
        ),
        Param::new(
            "nagle",
            Kind::Flag,
            "false",
            "Nagle's algorithm: a small segment waits until all earlier data are acknowledged, unless it is the last (RFC 1122 4.2.3.4).",
        ),
        Param::new(
            "idle_restart",
            Kind::Choice(&[
                Choice::new("none", "it keeps its window (ns-3)"),
                Choice::new(
                    "rto",
                    "after an RTO without sending the window is at most the initial one (RFC 5681 4.1)",
                ),
                Choice::new(
                    "timer",
                    "the retransmission timer keeps running; when it expires, the window falls to one segment (ns-2)",
                ),
            ]),
            "none",
            "What happens to the window after an idle period.",
        ),
        Param::new(
            "unused_window",
            Kind::Choice(&[
                Choice::new("grows", "it grows as if it were full (ns-2, ns-3.24)"),
                Choice::new(
                    "stays",
                    "ACKs of data sent while cwnd was not full do not grow it (in the spirit of RFC 7661)",
                ),
            ]),
            "grows",
            "Whether cwnd grows while the flow is application-limited.",
        ),
    ],
    label: "classic",
    ..Entry::BLANK
};
