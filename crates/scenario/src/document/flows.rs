//! Flows and their transports.

use super::block::{Block, Setting};
use super::families::{self, Below};
use super::memo::Memo;
use super::problems::{Fault, Path};
use super::scalar;
use super::walk::{Layer, Resolver};
use crate::preset;
use crate::start::Start;
use crate::tables::{FLOW, TCP, UDP};
use crate::transfer::{Sizes, Transfer};
use ackclock_net::source;
use ackclock_tcp::cc::{self, Cc, CongestionControl};
use ackclock_tcp::connection;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Param, Value as Number};
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A flow after the walk. What was faulty is missing.
#[derive(Default)]
pub(super) struct FlowPart {
    pub id: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    /// The routers that its data, and its ACKs, are to cross.
    pub routers: [Option<Vec<String>>; 2],
    pub start: Option<Start>,
    /// When it is cut off; none for never.
    pub stop: Option<Time>,
    /// How much to send.
    pub send: Option<Transfer>,
    pub transport: Option<TransportPart>,
}

/// The settings of the transport of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TransportPart {
    Tcp(Arc<Block>),
    Udp(Arc<Block>),
}

impl TransportPart {
    /// The settings under the key of a flow that holds them.
    pub fn named(&self) -> (&'static str, &Arc<Block>) {
        match self {
            Self::Tcp(tcp) => ("tcp", tcp),
            Self::Udp(udp) => ("udp", udp),
        }
    }
}

/// Keys of the paths of data and of ACKs.
pub(super) const ROUTERS: [&str; 2] = ["path", "ack_path"];

/// The list of names under a key.
fn names(
    resolver: &mut Resolver,
    map: &Map<String, Value>,
    path: &Path,
    key: &'static str,
) -> Option<Vec<String>> {
    let value = map.get(key)?;
    let place = path.key(key);
    let Value::Array(values) = value else {
        let fault = scalar::wrong_type(param(key), value).hint("for example `path: [R1, R2]`");
        resolver.problems.add(&place, value, fault);
        return None;
    };
    if key == "ack_path" && map.contains_key("udp") {
        let fault = Fault::new("a source without feedback has no ACKs").hint("leave it out");
        resolver.problems.add(&place, value, fault);
        return None;
    }
    let mut names = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        match scalar::name(value) {
            Ok(name) => names.push(name.to_owned()),
            Err(fault) => resolver.problems.add(&place.index(index), value, fault),
        }
    }
    (names.len() == values.len()).then_some(names)
}

/// Resolves the flow at `path`; `below` are the layers below its `tcp` block. `known` remembers `tcp`
/// blocks of the same layers.
pub(super) fn resolve(
    resolver: &mut Resolver,
    map: &Map<String, Value>,
    path: &Path,
    below: &Below<'_>,
    known: &mut Memo<Block>,
) -> FlowPart {
    let own = [Layer { map, path: path.clone(), reported: false }];
    resolver.check_keys(FLOW, map, path, &own);
    let [id, from, to] = ["id", "from", "to"].map(|name| resolver.text(param(name), &own[0], path));
    let routers = ROUTERS.map(|key| names(resolver, map, path, key));
    let start = start(resolver, &own, path);
    let stop = match resolver.setting(param("stop"), &own, path) {
        Some(Setting::Quantity(time)) => Some(Time::from_ns(time.amount())),
        _ => None,
    };
    let send = match resolver.setting(param("send"), &own, path) {
        Some(Setting::Quantity(amount)) => Some(Transfer::Bytes(amount.amount())),
        Some(Setting::Block(rule)) => {
            let complete = rule.is_complete().then(|| Box::new(Sizes::new(&rule.chosen())));
            complete.map(Transfer::Drawn)
        }
        Some(_) => Some(Transfer::Unlimited),
        None => None,
    };
    if map.contains_key("tcp") && map.contains_key("udp") {
        let fault =
            Fault::new("a flow has one transport: `tcp` or `udp`").hint("leave one of them out");
        resolver.problems.add(&path.key("udp"), &Value::Null, fault);
    }
    let transport = if map.contains_key("udp") {
        let udp = block(resolver, &own, "udp", path)
            .map(|layers| resolver.object(UDP, &layers, &path.key("udp")));
        udp.map(|udp| TransportPart::Udp(udp.into()))
    } else {
        let tcp = known.get(resolver, map, |resolver| tcp(resolver, &own, path, below));
        tcp.map(TransportPart::Tcp)
    };
    let send = match transport.as_ref().and_then(written) {
        Some(total) => written_out(resolver, map, path, send, total),
        None => send,
    };
    FlowPart { id, from, to, routers, start, stop, send, transport }
}

/// The bytes that the source of a transport writes in all, if it says so itself.
fn written(transport: &TransportPart) -> Option<u64> {
    let (TransportPart::Tcp(block) | TransportPart::Udp(block)) = transport;
    source::total(&block.block("source")?.chosen())
}

/// What a flow sends whose source says how much that is.
fn written_out(
    resolver: &mut Resolver,
    map: &Map<String, Value>,
    path: &Path,
    send: Option<Transfer>,
    total: u64,
) -> Option<Transfer> {
    let total_amount = Transfer::Bytes(total);
    if let (Some(value), true) = (map.get("send"), send.is_some_and(|send| send != total_amount)) {
        let all = Quantity::Size(total);
        let fault = Fault::new(format!("the writes of the source add up to {all}"))
            .hint("leave `send` out: the last write ends the flow");
        resolver.problems.add(&path.key("send"), value, fault);
        return None;
    }
    Some(total_amount)
}

/// When a flow starts: at a time, or at one that is drawn for each seed.
fn start(resolver: &mut Resolver, own: &[Layer<'_>], path: &Path) -> Option<Start> {
    match resolver.setting(param("start"), own, path)? {
        Setting::Quantity(time) => Some(Start::At(Time::from_ns(time.amount()))),
        Setting::Block(rule) => {
            let (from, to) = (rule.int("from")?, rule.int("to")?);
            if from < to {
                let [from, to] = [from, to].map(Time::from_ns);
                return Some(Start::Uniform { from, to });
            }
            let [from, to] = [from, to].map(|time| Quantity::Time(time).to_string());
            let fault = Fault::new(format!("`to` ({to}) is not after `from` ({from})"));
            resolver.problems.add(&path.key("start").key("to"), &Value::from(to), fault);
            None
        }
        other => unreachable!("no start: {other:?}"),
    }
}

/// The `tcp` block: the common keys, and those of the family of senders that it or the layers below choose.
fn tcp(
    resolver: &mut Resolver,
    own: &[Layer<'_>],
    path: &Path,
    below: &Below<'_>,
) -> Option<Block> {
    is_given(resolver, own, "tcp", path)?;
    let (given, preset) = resolver.with_preset(param("tcp"), own);
    if given.is_empty() && own[0].map.contains_key("tcp") {
        return None;
    }
    let here = path.key("tcp");
    let mut layers = given.clone();
    layers.extend(below.all.iter().cloned());
    let Some(family) = families::chosen(&layers) else {
        // Without a family nobody knows which of the other keys may stand.
        resolver.resolve(TCP, &layers, &here);
        return None;
    };
    if let Some(preset) = preset.filter(|preset| preset.of_sender()["sender"] != family.name) {
        let name = preset.entry.name;
        let sender = preset.of_sender()["sender"].as_str().unwrap_or_default();
        let fault = Fault::new(format!(
            "preset `{name}` is of the `{sender}` sender, this is `{}`",
            family.name
        ))
        .hint("leave one of the two out");
        resolver.problems.add(&here.key("preset"), &Value::from(name), fault);
    }
    let maps: Vec<_> = given
        .iter()
        .map(|layer| match layer.reported {
            true => families::part(family, layer.map),
            false => families::own(resolver, family, layer.map, &layer.path),
        })
        .collect();
    let own = given.iter().zip(&maps).map(|(layer, map)| Layer { map, ..layer.clone() });
    let mut layers: Vec<Layer<'_>> = own.collect();
    layers.extend(below.of(family));
    let last = preset.or(below.preset).map(|preset| families::part(family, preset.of_receiver()));
    layers.extend(last.iter().map(|map| Layer { map, path: here.clone(), reported: true }));
    layers.push(families::base(family));
    let mut tcp = resolver.resolve(TCP, &layers, &here);
    let settings = resolver.resolve(family.params, &layers, &here);
    if family.params.iter().all(|param| settings.get(param.name).is_some()) {
        resolver.check_clash(family, &settings, &here);
    }
    tcp.append(settings);
    whole_bytes(resolver, &tcp, path);
    extras(resolver, &tcp, path);
    Some(tcp)
}

/// What the congestion control needs must be there: in the family of senders, and marks where it heeds them.
fn extras(resolver: &mut Resolver, tcp: &Block, path: &Path) {
    let (Some(block), Some(sender)) = (tcp.block("cc"), tcp.word("sender")) else { return };
    // Where something is missing, that is reported already.
    let Some(kind) = block.kind().filter(|_| block.is_complete()) else { return };
    let chosen = block.chosen();
    // Parameters that contradict one another make no congestion control; they are reported already, too.
    let check = cc::ENTRIES.iter().find(|entry| entry.name == kind).and_then(|entry| entry.check);
    if check.is_some_and(|check| check(&chosen).is_err()) {
        return;
    }
    let cc = Cc::new(&chosen);
    let fault = if let Some(lack) = connection::gives(sender).lack(cc.needs()) {
        let fault =
            Fault::new(format!("`{kind}` needs {lack}: the {sender} sender cannot give it"));
        let mut others = connection::ENTRIES.iter().map(|family| family.name);
        let able = others.find(|name| connection::gives(name).lack(cc.needs()).is_none());
        fault.maybe_hint(able.map(|name| format!("write `sender: {name}`")))
    } else if cc.heeds_marks() && tcp.flag("ecn") == Some(false) {
        Fault::new(format!("`{kind}` responds to ECN marks, but this flow does not use ECN"))
            .hint("write `ecn: true`")
    } else {
        return;
    };
    resolver.problems.add(&path.key("tcp").key("cc"), &Value::from(kind), fault);
}

/// Windows of whole bytes must be kept in bytes.
fn whole_bytes(resolver: &mut Resolver, tcp: &Block, path: &Path) {
    let whole = tcp.block("cc").is_some_and(|cc| cc.word("arithmetic") == Some("whole"));
    // Only a family that can choose keeps windows in bytes.
    let in_bytes = tcp.word("window_unit") == Some("bytes");
    if whole && !in_bytes {
        let fault = Fault::new("windows in segments cannot be whole bytes")
            .allowed("real")
            .hint("or write `sender: classic` and `window_unit: bytes`");
        let place = path.key("tcp").key("cc").key("arithmetic");
        resolver.problems.add(&place, &Value::from("whole"), fault);
    }
}

/// What the sender of a `tcp` block numbers: bytes or packets.
pub(super) fn numbering(tcp: &Block) -> &'static str {
    ackclock_tcp::connection::numbering(tcp.word("sender").unwrap_or_default()).word()
}

/// A `tcp` block in numbers, with the receiver's window in bytes.
pub(super) fn numbers(tcp: &Block) -> Chosen {
    let mut numbers = tcp.chosen();
    for (name, number) in &mut numbers.values {
        if name == "receive_window_packets" {
            *name = "receive_window_bytes".into();
            if let (Number::Int(amount), Some(segment)) = (&mut *number, tcp.int("segment")) {
                *amount = amount.saturating_mul(segment);
            }
        }
    }
    numbers
}

/// A parameter of flows.
pub(super) fn param(name: &str) -> &'static Param {
    FLOW.iter().find(|param| param.name == name).expect("a parameter of flows")
}

/// The block of a transport as the flow gives it, if it does; none if it is not a mapping.
fn block<'d>(
    resolver: &mut Resolver,
    own: &[Layer<'d>],
    name: &str,
    path: &Path,
) -> Option<Vec<Layer<'d>>> {
    is_given(resolver, own, name, path)?;
    let layers = resolver.inner_layers(param(name), own);
    if own[0].map.contains_key(name) && layers.is_empty() { None } else { Some(layers) }
}

/// Reports a block without a value.
fn is_given(resolver: &mut Resolver, own: &[Layer<'_>], name: &str, path: &Path) -> Option<()> {
    if let Some(value @ Value::Null) = own[0].map.get(name) {
        let fault = scalar::wrong_type(param(name), value).hint(format!("write `{name}: {{}}`"));
        resolver.problems.add(&path.key(name), value, fault);
        return None;
    }
    Some(())
}

/// What a flow with this block is called in tables and plots.
pub(super) fn label(tcp: &Block) -> String {
    let kind = |key: &str| tcp.block(key).and_then(Block::kind).unwrap_or_default();
    let class = tcp.block("cc").and_then(|cc| cc.word("class"));
    preset::label(tcp.word("sender").unwrap_or_default(), kind("recovery"), kind("cc"), class)
}
