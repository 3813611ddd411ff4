//! Jitter by script: chosen packets of flows are held, and others overtake them.

use super::Delays;
use crate::packet::Packet;
use crate::script::{self, ACKS, Context, DATA, FLOW, RETRANSMISSIONS, Script as Rows};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "script",
    summary: help(
        "Chosen packets of flows are held for a time after their transmission, so that others overtake them.",
    ),
    references: &[],
    params: &[Param::required(
        "hold",
        Kind::Rows(&[
            FLOW,
            DATA,
            RETRANSMISSIONS,
            ACKS,
            Param::required("by", Kind::Time, "Added delay.").at_most("1 d"),
        ]),
        "The held packets, by their place in the order of arrival at the link; packets that the queue drops count as well.",
    )],
    check: Some(|chosen| script::check(chosen, "hold")),
    ..Entry::BLANK
};

/// The script at work.
#[derive(Debug, Clone)]
pub(super) struct Script {
    rows: Rows<Time>,
    /// Packets to be held, by what distinguishes them, from their arrival to their transmission.
    waiting: Vec<((u32, u32, Time), f64)>,
}

fn name(packet: &Packet) -> (u32, u32, Time) {
    (packet.flow(), packet.seq, packet.stamp)
}

impl Script {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        let by = |row: &Chosen| Time::from_ns(row.int("by_ns"));
        Self { rows: Rows::new(chosen.rows("hold"), &context, by), waiting: Vec::new() }
    }
}

impl Delays for Script {
    fn comes(&mut self, packet: &Packet) {
        let extra: f64 = self.rows.next(packet).map(|by| by.as_ns() as f64).sum();
        if extra > 0.0 {
            self.waiting.push((name(packet), extra));
        }
    }

    fn extra_ns(&mut self, packet: &Packet) -> f64 {
        let own = self.waiting.iter().position(|(held, _)| *held == name(packet));
        own.map_or(0.0, |place| self.waiting.remove(place).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::tests::{data, numbered, row};
    use ackclock_engine::Stream;
    use ackclock_units::param::Value;

    #[test]
    fn places_are_counted_at_arrival() {
        let mut hold = row(Some("F1"), [&[2], &[], &[]]);
        hold.values.push(("by_ns".into(), Value::Int(7)));
        let values = vec![("hold".into(), Value::Rows(vec![hold]))];
        let chosen = Chosen { kind: "script".into(), values };
        let context = Context { stream: Stream::new(1, "test"), flow: &numbered };
        let mut script = Script::new(&chosen, context);
        let packets: Vec<Packet> = (0..4)
            .map(|seq| {
                let mut packet = data(1, false);
                packet.seq = seq;
                packet
            })
            .collect();
        // The first is dropped by the queue, the second is the second all the same.
        packets.iter().for_each(|packet| script.comes(packet));
        let extra: Vec<f64> = packets[1..].iter().map(|packet| script.extra_ns(packet)).collect();
        assert_eq!(extra, [7.0, 0.0, 0.0]);
        assert!(script.waiting.is_empty());
    }
}
