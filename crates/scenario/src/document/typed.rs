//! From the values of a document to the typed scenario. They are complete and valid here.

use super::block::{Block, Setting};
use super::families;
use super::flows::{FlowPart, TransportPart, numbers};
use super::links::{LinkPart, Nature};
use crate::model::{
    Amount, Change, Direction, Flow, Link, LinkNature, Node, Record, Scenario, Stop, Tcp, Transport,
};
use crate::record;
use ackclock_net::rate::mean_bps;
use ackclock_net::serial::Rounding;
use ackclock_units::Time;
use ackclock_units::param::Chosen;
use std::collections::HashMap;
use std::sync::Arc;

/// The links of these parts and ends. Natures that were resolved once become one.
pub(super) fn links(parts: &mut [LinkPart], ends: Vec<Option<[Node; 2]>>) -> Vec<Link> {
    let mut natures = Shared::new(nature);
    let one = |(part, ends): (&mut LinkPart, Option<_>)| Link {
        id: part.id.take().expect("a checked link has a name"),
        ends: ends.expect("a checked link has ends"),
        nature: natures.of(&part.nature),
    };
    parts.iter_mut().zip(ends).map(one).collect()
}

/// The flows of these parts and pairs of hosts.
pub(super) fn flows(
    parts: &mut [FlowPart],
    pairs: Vec<Option<(usize, usize)>>,
    routers: Vec<[Option<Box<[usize]>>; 2]>,
) -> Vec<Flow> {
    let mut tcps = Shared::new(tcp);
    let mut sources = Shared::new(|udp| chosen(udp, "source"));
    let one = |((part, pair), routers): ((&mut FlowPart, Option<_>), _)| {
        let (from, to) = pair.expect("a checked flow has hosts");
        Flow {
            id: part.id.take().expect("a checked flow has a name"),
            from,
            to,
            routers,
            start: part.start.expect("a checked flow has a start"),
            stop: part.stop,
            send: part.send.take().expect("a checked flow has an amount"),
            transport: match part.transport.as_ref().expect("a checked flow has a transport") {
                TransportPart::Tcp(resolved) => Transport::Tcp(tcps.of(resolved)),
                TransportPart::Udp(resolved) => Transport::Udp {
                    source: sources.of(resolved),
                    ecn: resolved.flag("ecn").expect("a flag of the model"),
                },
            },
        }
    };
    parts.iter_mut().zip(pairs).zip(routers).map(one).collect()
}

/// One typed value for values that were resolved once.
struct Shared<R, T> {
    make: fn(&R) -> T,
    made: HashMap<*const R, Arc<T>>,
}

impl<R, T> Shared<R, T> {
    fn new(make: fn(&R) -> T) -> Self {
        Self { make, made: HashMap::new() }
    }

    fn of(&mut self, resolved: &Arc<R>) -> Arc<T> {
        let entry = self.made.entry(Arc::as_ptr(resolved));
        Arc::clone(entry.or_insert_with(|| Arc::new((self.make)(resolved))))
    }
}

/// What a link with these values is like.
fn nature(link: &Nature) -> LinkNature {
    let [forward, backward] = [0, 1].map(|side| direction(&link.sides[side]));
    LinkNature {
        half_duplex: text(&link.whole, "duplex") == "half",
        rounding: Rounding::named(&text(&link.whole, "rounding")),
        forward,
        backward,
        changes: link.changes.iter().map(change).collect(),
    }
}

/// A scenario of these lists; `rest` holds all else.
pub(super) fn scenario(
    rest: &Block,
    hosts: Vec<String>,
    routers: Vec<String>,
    links: Vec<Link>,
    flows: Vec<Flow>,
) -> Scenario {
    let stop = block(rest, "stop");
    Scenario {
        name: text(rest, "name"),
        hosts: hosts.into(),
        routers: routers.into(),
        links: links.into(),
        flows: flows.into(),
        routing: chosen(rest, "routing"),
        ties: chosen(rest, "ties"),
        warmup: rest.int("warmup").map(Time::from_ns),
        stop: Stop {
            flows_complete: text(stop, "when") == "flows-complete",
            at_latest: time(stop, "at_latest"),
            events: stop.int("events"),
            max_packets: stop.int("max_packets").unwrap_or(u64::MAX),
        },
        seed: int(rest, "seed"),
        record: record(block(rest, "record")),
    }
}

fn direction(block: &Block) -> Direction {
    let rates = block.block("rate").map(Block::chosen);
    Direction {
        rate_bps: rates.as_ref().map_or_else(|| int(block, "rate"), mean_bps),
        rates,
        delay: time(block, "delay"),
        queue: chosen(block, "queue"),
        loss: chosen(block, "loss"),
        jitter: chosen(block, "jitter"),
        corruption: real(block, "corruption"),
        duplication: real(block, "duplication"),
    }
}

fn change(block: &Block) -> Change {
    let way = text(block, "direction");
    Change {
        at: time(block, "at"),
        forward: way != "backward",
        backward: way != "forward",
        up: block.word("state").map(|state| state == "up"),
        rate_bps: block.int("rate"),
        delay: block.int("delay").map(Time::from_ns),
    }
}

/// The settings of a reliable transport.
fn tcp(tcp: &Block) -> Tcp {
    Tcp {
        sender: sender(tcp),
        segment_bytes: int(tcp, "segment"),
        header_bytes: int(tcp, "header"),
        ack_bytes: int(tcp, "ack"),
        initial_window: int(tcp, "initial_window"),
        initial_ssthresh: amount(tcp.get("initial_ssthresh")),
        cc: chosen(tcp, "cc"),
        rto: chosen(tcp, "rto"),
        source: chosen(tcp, "source"),
        writes: text(tcp, "writes"),
    }
}

/// The family of a `tcp` block, with its keys, which stand beside all others.
fn sender(tcp: &Block) -> Chosen {
    let family = families::family(&text(tcp, "sender"));
    let mut sender = Chosen { kind: family.name.into(), ..numbers(tcp) };
    sender.values.retain(|(key, _)| family.params.iter().any(|param| param.is_named(key)));
    sender
}

/// Segments or bytes; none where there is no limit.
fn amount(setting: Option<&Setting>) -> Option<Amount> {
    match setting {
        Some(Setting::Quantity(size)) => Some(Amount::Bytes(size.amount())),
        Some(Setting::Real(segments)) => Some(Amount::Segments(*segments)),
        _ => None,
    }
}

fn record(tables: &Block) -> Record {
    let mut record = Record::new(|table| record::kept(&text(tables, table)));
    record.limit_bytes = tables.int("limit");
    record
}

fn chosen(block: &Block, name: &str) -> Chosen {
    self::block(block, name).chosen()
}

fn block<'b>(block: &'b Block, name: &str) -> &'b Block {
    block.block(name).unwrap_or_else(|| panic!("`{name}` is not a mapping of the model"))
}

fn text(block: &Block, name: &str) -> String {
    block.word(name).unwrap_or_else(|| panic!("`{name}` is not a text of the model")).to_owned()
}

fn int(block: &Block, name: &str) -> u64 {
    block.int(name).unwrap_or_else(|| panic!("`{name}` is not a whole number of the model"))
}

fn real(block: &Block, name: &str) -> f64 {
    match block.get(name) {
        Some(Setting::Real(value)) => *value,
        _ => panic!("`{name}` is not a number of the model"),
    }
}

fn time(block: &Block, name: &str) -> Time {
    Time::from_ns(int(block, name))
}
