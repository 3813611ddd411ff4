//! Scripts: what happens to chosen packets of flows, by their place in the order in which they come to a link.

use crate::packet::{Kind as PacketKind, Packet};
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Clash, Kind, Param};
use std::collections::BTreeMap;

/// What a model of a link may know beyond its parameters.
pub struct Context<'a> {
    /// Its random stream.
    pub stream: Stream,
    /// The number of a flow by its name.
    pub flow: &'a dyn Fn(&str) -> u32,
}

/// The columns of a script that choose packets.
pub(crate) const FLOW: Param = Param::optional(
    "flow",
    Kind::FlowRef,
    "",
    "The flow whose packets are counted; without it each flow is counted by itself.",
);
pub(crate) const DATA: Param = Param::optional(
    "data",
    Kind::CountList,
    "",
    "Data packets that reach the link, counted from 1, retransmissions included.",
)
.at_least("1");
pub(crate) const RETRANSMISSIONS: Param = Param::optional(
    "retransmissions",
    Kind::CountList,
    "",
    "The same of retransmissions alone, as the sender knows them.",
)
.at_least("1");
pub(crate) const ACKS: Param = Param::optional(
    "acks",
    Kind::CountList,
    "",
    "ACKs without data, counted from 1; handshake messages do not count.",
)
.at_least("1");

/// Columns of numbers.
const NUMBERS: [&str; 3] = ["data", "retransmissions", "acks"];

/// A script without packets would do nothing.
pub(crate) fn check(chosen: &Chosen, rows: &'static str) -> Result<(), Clash> {
    let rows_of = chosen.rows(rows);
    let idle = |row: &Chosen| NUMBERS.iter().all(|name| row.optional_list(name).is_empty());
    if rows_of.is_empty() || rows_of.iter().any(idle) {
        return Err(Clash {
            param: rows,
            message: "a row chooses no packet".into(),
            hint: Some(format!("for example `{rows}: [{{flow: F1, data: [6, 7]}}]`")),
        });
    }
    Ok(())
}

/// What happens to packets that one row of a script chooses.
#[derive(Debug, Clone)]
struct Row<T> {
    flow: Option<u32>,
    /// By [`NUMBERS`], in ascending order.
    numbers: [Vec<u64>; 3],
    what: T,
}

/// A script at work: its rows, and what has come so far.
#[derive(Debug, Clone)]
pub(crate) struct Script<T> {
    rows: Vec<Row<T>>,
    /// Packets by [`NUMBERS`] of each flow.
    seen: BTreeMap<u32, [u64; 3]>,
}

impl<T: Copy> Script<T> {
    /// The script of these rows; `what` says what happens to the packets of one.
    pub fn new(rows: &[Chosen], context: &Context<'_>, what: impl Fn(&Chosen) -> T) -> Self {
        let row = |row: &Chosen| Row {
            flow: row.optional_word("flow").map(context.flow),
            numbers: NUMBERS.map(|name| {
                let mut numbers = row.optional_list(name).to_vec();
                numbers.sort_unstable();
                numbers
            }),
            what: what(row),
        };
        Self { rows: rows.iter().map(row).collect(), seen: BTreeMap::new() }
    }

    /// A packet comes: what the rows that choose it say.
    pub fn next(&mut self, packet: &Packet) -> impl Iterator<Item = T> {
        let own = match packet.kind() {
            PacketKind::Data => [true, packet.is_retransmission(), false],
            PacketKind::Ack => [false, false, true],
            PacketKind::Router | PacketKind::Handshake => [false; 3],
        };
        let flow = packet.flow();
        let mut places = [0; 3];
        if own.contains(&true) {
            let seen = self.seen.entry(flow).or_default();
            for (seen, own) in seen.iter_mut().zip(own) {
                *seen += u64::from(own);
            }
            places = *seen;
        }
        let chosen = move |row: &&Row<T>| {
            let mut lists = row.numbers.iter().zip(own).zip(places);
            row.flow.is_none_or(|wanted| wanted == flow)
                && lists.any(|((list, own), place)| own && list.binary_search(&place).is_ok())
        };
        self.rows.iter().filter(chosen).map(|row| row.what)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ackclock_units::param::Value;

    /// A row as the model holds it.
    pub(crate) fn row(flow: Option<&str>, numbers: [&[u64]; 3]) -> Chosen {
        let flow = flow.map_or(Value::Null, |flow| Value::Word(flow.into()));
        let lists = NUMBERS.iter().zip(numbers).map(|(name, list)| {
            let list = if list.is_empty() { Value::Null } else { Value::List(list.to_vec()) };
            ((*name).to_owned(), list)
        });
        let flow = [("flow".to_owned(), flow)];
        Chosen { kind: String::new(), values: flow.into_iter().chain(lists).collect() }
    }

    /// The flow of this number after the letter.
    pub(crate) fn numbered(name: &str) -> u32 {
        name[1..].parse().expect("a number")
    }

    pub(crate) fn data(flow: u32, again: bool) -> Packet {
        let mut packet = Packet::new(PacketKind::Data, flow, 1500);
        if again {
            packet.set_retransmission();
        }
        packet
    }

    #[test]
    fn packets_are_counted_by_flow_and_kind() {
        let rows = [row(Some("F1"), [&[2], &[2], &[]]), row(None, [&[], &[], &[1]])];
        let context = Context { stream: Stream::new(1, "test"), flow: &numbered };
        let mut script = Script::new(&rows, &context, |_| ());
        let mut chooses = |packet: &Packet| script.next(packet).count();
        let ack = |flow| Packet::new(PacketKind::Ack, flow, 40);
        // Another flow, and messages of the handshake, do not count.
        assert_eq!(chooses(&data(0, false)), 0);
        assert_eq!(chooses(&Packet::new(PacketKind::Handshake, 1, 40)), 0);
        assert_eq!(chooses(&data(1, false)), 0);
        // The second data packet is the first retransmission.
        assert_eq!(chooses(&data(1, true)), 1);
        assert_eq!(chooses(&data(1, false)), 0);
        assert_eq!(chooses(&data(1, true)), 1);
        assert_eq!(chooses(&data(1, true)), 0);
        // Without a flow each one is counted by itself.
        assert_eq!([0, 0, 1, 1].map(|flow| chooses(&ack(flow))), [1, 0, 1, 0]);
    }

    #[test]
    fn a_row_without_packets_is_refused() {
        let chosen = |rows| Chosen {
            kind: "script".into(),
            values: vec![("drop".into(), Value::Rows(rows))],
        };
        assert!(check(&chosen(vec![row(None, [&[3], &[], &[]])]), "drop").is_ok());
        assert!(check(&chosen(vec![row(None, [&[], &[], &[]])]), "drop").is_err());
        assert!(check(&chosen(vec![]), "drop").is_err());
    }
}
