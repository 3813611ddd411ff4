//! Drop-tail: a packet that does not fit is dropped.
//!
//! Simulators disagree on what counts and on the last place, so both are options. By default the
//! packet in transmission has left the queue, and a packet is taken if it fits exactly. A packet that
//! meets an idle link needs no place by the default rule, so a limit of 0 means "no waiting room".

use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "droptail",
    summary: help("First in, first out; a packet that does not fit is dropped."),
    references: &["RFC 7567 section 2"],
    params: &[
        Param::new("limit", Kind::Buffer, "100 packets", "Buffer size in packets or bytes, as a time at the link's rate, or as a multiple of the bandwidth-delay product.")
            .or_word("unlimited"),
        Param::new(
            "counts",
            Kind::Choice(&[
                Choice::new("waiting", "packets waiting"),
                Choice::new("waiting-and-in-service", "the packet in transmission, too"),
            ]),
            "waiting",
            "Which packets count.",
        ),
        Param::new(
            "admission",
            Kind::Choice(&[
                Choice::new("fits", "accepted if it fits, even exactly"),
                Choice::new(
                    "strict",
                    "accepted only if some room remains (ns-2, ns-3.24, the Caltech simulator)",
                ),
            ]),
            "fits",
            "Whether a packet may fill the queue exactly.",
        ),
    ],
    ..Entry::BLANK
};

/// What a link holds when a packet arrives.
#[derive(Debug, Clone, Copy)]
pub struct Occupancy {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
    /// Size of the packet in transmission, if there is one.
    pub in_service: Option<u16>,
}

/// Limit and rules.
#[derive(Debug, Clone)]
pub struct DropTail {
    limit: u64,
    in_bytes: bool,
    counts_in_service: bool,
    strict: bool,
}

impl DropTail {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let bytes = chosen.optional_int("limit_bytes");
        let packets = chosen.optional_int("limit_packets");
        Self {
            limit: bytes.or(packets).unwrap_or(u64::MAX),
            in_bytes: bytes.is_some(),
            counts_in_service: chosen.word("counts") == "waiting-and-in-service",
            strict: chosen.word("admission") == "strict",
        }
    }

    /// Takes everything.
    pub const UNLIMITED: Self =
        Self { limit: u64::MAX, in_bytes: false, counts_in_service: false, strict: false };

    /// Whether any packet is taken that meets an idle transmitter and nothing waiting.
    pub fn takes_when_idle(&self) -> bool {
        !self.strict
    }

    /// Whether a packet of this size is taken.
    #[inline]
    pub fn admit(&self, held: Occupancy, size: u16) -> bool {
        if !self.strict && held.packets == 0 && held.in_service.is_none() {
            return true;
        }
        let serving = if self.counts_in_service { held.in_service } else { None };
        let needed = if self.in_bytes {
            held.bytes + u64::from(serving.unwrap_or(0)) + u64::from(size)
        } else {
            u64::from(held.packets) + u64::from(serving.is_some()) + 1
        };
        if self.strict { needed < self.limit } else { needed <= self.limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(packets: u32, serving: bool) -> Occupancy {
        Occupancy { packets, bytes: u64::from(packets) * 1000, in_service: serving.then_some(1000) }
    }

    #[test]
    fn the_last_place_depends_on_the_rule() {
        let queue = |limit, in_bytes, counts_in_service, strict| DropTail {
            limit,
            in_bytes,
            counts_in_service,
            strict,
        };
        // Ten places: the tenth waiting packet fits, unless room must be left over.
        assert!(queue(10, false, false, false).admit(held(9, true), 1000));
        assert!(!queue(10, false, false, false).admit(held(10, true), 1000));
        assert!(!queue(10, false, false, true).admit(held(9, true), 1000));
        assert!(queue(10_000, true, false, false).admit(held(9, true), 1000));
        assert!(!queue(10_000, true, false, true).admit(held(9, true), 1000));
        // With the one in transmission counted there is one place fewer.
        assert!(!queue(10, false, true, false).admit(held(9, true), 1000));
        assert!(!queue(10_000, true, true, false).admit(held(9, true), 1000));
        assert!(queue(10_000, true, true, false).admit(held(9, false), 1000));
        // No waiting room: only an idle link takes a packet.
        assert!(queue(0, false, false, false).admit(held(0, false), 1000));
        assert!(!queue(0, false, false, false).admit(held(0, true), 1000));
        assert!(!queue(0, false, false, true).admit(held(0, false), 1000));
    }
}
