//! Constant rate: one packet after the other at equal distances.

use crate::serial::Serial;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "cbr",
    summary: "Packets of one size at a constant rate.",
    references: &[],
    params: &[
        Param::required("rate", Kind::Rate, "Rate, all bytes of the packets counted.")
            .at_least("1 bps")
            .at_most("100 Tbps"),
        Param::new("packet", Kind::Size, "1500 B", "Bytes of a packet on the wire.")
            .at_least("1 B")
            .at_most("65535 B"),
    ],
    defect: false,
};

/// Rate and size; the fraction of a nanosecond is carried over.
#[derive(Debug, Clone)]
pub struct Cbr {
    serial: Serial,
    carry: u64,
    packet: u16,
}

impl Cbr {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            serial: Serial::new(chosen.int("rate_bps")),
            carry: 0,
            packet: chosen.int("packet_bytes") as u16,
        }
    }

    #[inline]
    pub(super) fn emit(&mut self) -> (u16, Time) {
        let (span, carry) = self.serial.time(self.packet, self.carry);
        self.carry = carry;
        (self.packet, Time::from_ns(span))
    }
}
