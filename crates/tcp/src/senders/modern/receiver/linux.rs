//! The ACKs of Linux: at once at the start and after pauses, then for every second segment, with a delay that
//! adapts.
//!
//! Source: Linux, `tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_measure_rcv_mss`,
//! `tcp_cleanup_rbuf`. While its window still grows, Linux acknowledges each segment in order; how long that lasts
//! depends on the buffers, so it is a number of segments here (`quick_acks`).
//!
//! DEVIATION: the delayed-ACK timer is exact, not rounded up to clock ticks of 4 ms. The receiver knows the round-trip
//! time of the sender's handshake. The application reads at once.

use super::Policy;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "linux",
    summary: help("As in Linux: quick ACKs at first and after idle periods, then every second segment, with an adaptive delay."),
    references: &["Linux, tcp_input.c: __tcp_ack_snd_check", "RFC 5681 section 4.2"],
    params: &[
        Param::new(
            "quick_acks",
            Kind::Count,
            "1465",
            "Segments acknowledged immediately at the start, while the window grows; 1465 with buffers of 16 MiB.",
        )
        .at_most("1000000000"),
        Param::new(
            "compression",
            Kind::Time,
            "1 ms",
            "ACK compression: maximum delay of ACKs of out-of-order data after the first three; 0 s to disable.",
        )
        .at_most("100 ms"),
    ],
    ..Entry::BLANK
};

pub(super) fn new(chosen: &Chosen) -> Policy {
    let compression = Time::from_ns(chosen.int("compression_ns"));
    Policy {
        count: 2,
        delay: Time::from_ms(40),
        quick: chosen.int("quick_acks") as u32,
        adapts: true,
        compresses: (compression > Time::ZERO).then_some((44, compression)),
    }
}
