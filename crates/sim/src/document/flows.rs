//! Flows and their transports.

use super::block::{Block, Setting};
use super::memo::Memo;
use super::problems::{Fault, Path};
use super::scalar;
use super::walk::{Layer, Walker};
use crate::start::Start;
use crate::tables::{FLOW, TCP, UDP};
use ackclock_units::Time;
use ackclock_units::param::Param;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// A flow after the walk. What was faulty is missing.
#[derive(Default)]
pub(super) struct FlowPart {
    pub id: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub start: Option<Start>,
    /// Bytes to send, or none for no end.
    pub send: Option<Option<u64>>,
    pub transport: Option<TransportPart>,
}

/// The settings of the transport of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TransportPart {
    Tcp(Arc<Block>),
    Udp(Arc<Block>),
}

/// Resolves the flow at `path`; `tcp_defaults` are the layers below its `tcp` block. `known` remembers
/// `tcp` blocks of the same layers.
pub(super) fn resolve(
    walker: &mut Walker,
    map: &Map<String, Value>,
    path: &Path,
    tcp_defaults: &[Layer<'_>],
    known: &mut Memo<Block>,
) -> FlowPart {
    walker.check_keys(FLOW, map, path);
    let own = Layer { map, path: path.clone(), told: false };
    let [id, from, to] = ["id", "from", "to"].map(|name| walker.text(param(name), &own, path));
    let own = [own];
    let start = start(walker, &own, path);
    let send = match walker.setting(param("send"), &own, path) {
        Some(Setting::Quantity(amount)) => Some(Some(amount.amount())),
        Some(_) => Some(None),
        None => None,
    };
    if map.contains_key("tcp") && map.contains_key("udp") {
        let fault =
            Fault::new("a flow has one transport: `tcp` or `udp`").hint("leave one of them out");
        walker.problems.add(&path.key("udp"), &Value::Null, fault);
    }
    let transport = if map.contains_key("udp") {
        let udp = transport(walker, &own, "udp", UDP, path, &[]);
        udp.map(|udp| TransportPart::Udp(udp.into()))
    } else {
        let tcp = known.get(walker, map, |walker| tcp(walker, &own, path, tcp_defaults));
        tcp.map(TransportPart::Tcp)
    };
    FlowPart { id, from, to, start, send, transport }
}

/// When a flow starts: at a time, or at one that is drawn for each seed.
fn start(walker: &mut Walker, own: &[Layer<'_>], path: &Path) -> Option<Start> {
    match walker.setting(param("start"), own, path)? {
        Setting::Quantity(time) => Some(Start::At(Time::from_ns(time.amount()))),
        Setting::Block(rule) => {
            let (from, to) = (rule.int("from")?, rule.int("to")?);
            if from < to {
                let [from, to] = [from, to].map(Time::from_ns);
                return Some(Start::Uniform { from, to });
            }
            let [from, to] = [from, to].map(|time| Quantity::Time(time).to_string());
            let fault = Fault::new(format!("`to` ({to}) is not after `from` ({from})"));
            walker.problems.add(&path.key("start").key("to"), &Value::from(to), fault);
            None
        }
        other => unreachable!("no start: {other:?}"),
    }
}

/// The `tcp` block. Its recovery has a default for each kind of sender, and must fit the sender.
fn tcp(
    walker: &mut Walker,
    own: &[Layer<'_>],
    path: &Path,
    defaults: &[Layer<'_>],
) -> Option<Block> {
    let said =
        |map: &Map<String, Value>| map.get("sender").and_then(Value::as_str) == Some("classic");
    let given = own[0].map.get("tcp").and_then(Value::as_object);
    let speaks = |map: &&Map<String, Value>| map.contains_key("sender");
    let classic =
        given.into_iter().chain(defaults.iter().map(|l| l.map)).find(speaks).is_some_and(said);
    let mut layers = defaults.to_vec();
    if classic {
        layers.push(Layer { map: &CLASSIC, path: path.clone(), told: true });
    }
    let tcp = transport(walker, own, "tcp", TCP, path, &layers)?;
    if let Some(kind) = tcp.word("recovery")
        && (kind == "selective-repeat") == classic
    {
        let sender = if classic { "classic" } else { "selective-repeat" };
        let fits = ackclock_tcp::senders::RECOVERIES
            .iter()
            .map(|entry| entry.name)
            .filter(|name| (*name == "selective-repeat") != classic)
            .collect::<Vec<_>>();
        let other = if classic { "selective-repeat" } else { "classic" };
        let fault = Fault::new(format!("`{kind}` does not fit the {sender} sender"))
            .allowed(fits.join(", "))
            .hint(format!("or write `sender: {other}`"));
        let place = path.key("tcp").key("recovery");
        walker.problems.add(&place, &Value::from(kind), fault);
    }
    whole_bytes(walker, &tcp, classic, path);
    Some(tcp)
}

/// Windows of whole bytes must be kept in bytes.
fn whole_bytes(walker: &mut Walker, tcp: &Block, classic: bool, path: &Path) {
    let whole = tcp.block("cc").is_some_and(|cc| cc.word("arithmetic") == Some("whole"));
    let in_bytes = classic && tcp.word("window_unit") == Some("bytes");
    if whole && !in_bytes {
        let fault = Fault::new("windows in segments cannot be whole bytes")
            .allowed("real")
            .hint("or write `sender: classic` and `window_unit: bytes`");
        let place = path.key("tcp").key("cc").key("arithmetic");
        walker.problems.add(&place, &Value::from("whole"), fault);
    }
}

/// The receiver's window in bytes, where it is limited.
pub(super) fn receive_window(tcp: &Block) -> Option<u64> {
    let amount = tcp.int("receive_window")?;
    match tcp.get("receive_window") {
        Some(Setting::Quantity(Quantity::Packets(_))) => {
            tcp.int("segment").map(|segment| segment.saturating_mul(amount))
        }
        _ => Some(amount),
    }
}

/// What the classic sender has that says nothing else.
static CLASSIC: LazyLock<Map<String, Value>> =
    LazyLock::new(|| Map::from_iter([("recovery".to_owned(), Value::from("newreno"))]));

/// A parameter of flows.
pub(super) fn param(name: &str) -> &'static Param {
    FLOW.iter().find(|param| param.name == name).expect("a parameter of flows")
}

/// The block of a transport, from the flow's own and the layers below; none if it is no mapping.
fn transport(
    walker: &mut Walker,
    own: &[Layer<'_>],
    name: &str,
    table: &'static [Param],
    path: &Path,
    defaults: &[Layer<'_>],
) -> Option<Block> {
    let param = param(name);
    let given = own[0].map.get(name);
    if let Some(value @ Value::Null) = given {
        let fault = scalar::wrong_type(param, value).hint(format!("write `{name}: {{}}`"));
        walker.problems.add(&path.key(name), value, fault);
        return None;
    }
    let mut layers = walker.inner_layers(param, own);
    if given.is_some() && layers.is_empty() {
        return None;
    }
    layers.extend(defaults.iter().cloned());
    Some(walker.object(table, &layers, &path.key(name)))
}
