//! Step marking: drop-tail that marks the packets which find so many waiting.
//!
//! Source: RFC 8257 section 3.1; Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1 (1). The
//! present queue counts, not an average, and it is compared when a packet comes.
//!
//! DEVIATION: in the paper a packet is marked if more than K are waiting, here if at least `mark_from` are, so that
//! `mark_from` is K + 1. The packet in transmission and the one that comes do not count.

use super::limit::{self, Limit};
use super::{Arrival, OnArrival, Place, Verdict};
use ackclock_trace::drop_reason;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "threshold",
    summary: help("Drop-tail with step marking: ECN-capable packets are marked above a queue threshold (DCTCP)."),
    references: &["RFC 8257 section 3.1", "Alizadeh et al. 2010"],
    label: "step marking",
    params: &[
        limit::param("100 packets"),
        Param::required(
            "mark_from",
            Kind::SizeOrPackets,
            "ECN-capable packets that find at least this much waiting are marked; others are only dropped when the queue is full.",
        )
        .at_least("1 packet")
        .that_marks(),
    ],
    ..Entry::BLANK
};

/// Limit and threshold.
#[derive(Debug, Clone)]
pub struct Threshold {
    limit: Limit,
    mark_from: Limit,
}

impl Threshold {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        Self { limit: Limit::new(chosen), mark_from: Limit::named(chosen, "mark_from") }
    }
}

impl OnArrival for Threshold {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict {
        // A packet that finds the link idle need not wait, so there is nothing to report.
        if arrival.idle_since.is_some() {
            return Verdict::Take;
        }
        let (packets, bytes) = (arrival.packets, arrival.bytes);
        if !self.limit.has_room(packets, bytes, u64::from(arrival.packet.size())) {
            Verdict::Drop(drop_reason::QUEUE_FULL)
        } else if arrival.packet.is_ecn_capable() && self.mark_from.is_reached(packets, bytes) {
            Verdict::Mark(drop_reason::THRESHOLD)
        } else {
            Verdict::Take
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, Kind as PacketKind, Packet};
    use ackclock_units::Time;
    use ackclock_units::param::Value;

    fn threshold(limit: &str, from: &str, most: u64, least: u64) -> Threshold {
        let values = [(limit, most), (from, least)];
        let values = values.map(|(name, value)| (name.into(), Value::Int(value))).into();
        let chosen = Chosen { kind: "threshold".into(), values };
        Threshold { limit: Limit::new(&chosen), mark_from: Limit::named(&chosen, "mark_from") }
    }

    fn ask(queue: &mut Threshold, ecn: Ecn, packets: u32, busy: bool) -> Verdict {
        let mut packet = Packet::new(PacketKind::Data, 0, 1000);
        packet.set_ecn(ecn);
        queue.admit(&Arrival {
            now: Time::ZERO,
            packet: &packet,
            packets,
            bytes: 1000 * u64::from(packets),
            idle_since: (!busy).then_some(Time::ZERO),
        })
    }

    #[test]
    fn packets_are_marked_from_the_threshold_to_the_limit() {
        let mark = Verdict::Mark(drop_reason::THRESHOLD);
        let full = Verdict::Drop(drop_reason::QUEUE_FULL);
        for mut queue in [
            threshold("limit_packets", "mark_from_packets", 5, 3),
            threshold("limit_bytes", "mark_from_bytes", 5000, 3000),
        ] {
            let verdicts = [0, 2, 3, 4, 5].map(|packets| ask(&mut queue, Ecn::Ect0, packets, true));
            assert_eq!(verdicts, [Verdict::Take, Verdict::Take, mark, mark, full]);
            // Others are taken as long as there is room.
            assert_eq!(ask(&mut queue, Ecn::NotEct, 4, true), Verdict::Take);
            assert_eq!(ask(&mut queue, Ecn::NotEct, 5, true), full);
            assert_eq!(ask(&mut queue, Ecn::Ect0, 0, false), Verdict::Take);
        }
        // Without waiting room only an idle link takes a packet.
        let mut none = threshold("limit_packets", "mark_from_packets", 0, 1);
        assert_eq!(ask(&mut none, Ecn::Ect0, 0, true), full);
        assert_eq!(ask(&mut none, Ecn::Ect0, 0, false), Verdict::Take);
    }
}
