//! Flows and their transports.

use super::memo::Memo;
use super::problems::{Fault, Path};
use super::scalar;
use super::walk::{Layer, Resolved, Walker};
use crate::start::Start;
use crate::tables::{FLOW, TCP, UDP};
use ackclock_units::Time;
use ackclock_units::param::{Kind, Param};
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Resolves the flow at `path`; `tcp_defaults` are the layers below its `tcp` block, and `seed` is
/// that of the run, for a start that is drawn. `known` remembers `tcp` blocks of the same layers.
pub(super) fn resolve(
    walker: &mut Walker,
    map: &Map<String, Value>,
    path: &Path,
    tcp_defaults: &[Layer<'_>],
    seed: u64,
    known: &mut Memo,
) -> Resolved {
    walker.check_keys(FLOW, map, path);
    let own = [Layer { map, path: path.clone(), told: false }];
    let mut flow = Resolved::with_room(FLOW.len());
    let is_own = |param: &&Param| param.name != "count" && !matches!(param.kind, Kind::Object(_));
    for param in FLOW.iter().filter(is_own) {
        walker.param(param, &own, path, &mut flow);
    }
    start(walker, &mut flow.model, path, seed);
    if map.contains_key("tcp") && map.contains_key("udp") {
        let fault =
            Fault::new("a flow has one transport: `tcp` or `udp`").hint("leave one of them out");
        walker.problems.add(&path.key("udp"), &Value::Null, fault);
    }
    if map.contains_key("udp") {
        if let Some(udp) = transport(walker, &own, "udp", UDP, path, &[]) {
            flow.canonical.insert("udp".into(), Value::Object(udp.canonical));
            flow.model.insert("tcp".into(), Value::Null);
            flow.model.insert("udp".into(), Value::Object(udp.model));
        }
    } else if let Some(tcp) = known.get(walker, map, |w| tcp(w, &own, path, tcp_defaults)) {
        flow.canonical.insert("tcp".into(), Value::Object(tcp.canonical));
        flow.model.insert("tcp".into(), Value::Object(tcp.model));
        flow.model.insert("udp".into(), Value::Null);
    }
    flow
}

/// Draws a start that is drawn. The resolved document keeps the rule, so that each seed has its own.
fn start(walker: &mut Walker, model: &mut Map<String, Value>, path: &Path, seed: u64) {
    let Some(rule) = model.shift_remove("start") else {
        model.insert("start_draw".into(), Value::Null);
        return;
    };
    let int = |key: &str| rule.get(key).and_then(Value::as_u64).map(Time::from_ns);
    let (Some(from), Some(to)) = (int("from_ns"), int("to_ns")) else { return };
    if from >= to {
        let [from, to] = [from, to].map(|time| Quantity::Time(time.as_ns()).to_string());
        let fault = Fault::new(format!("`to` ({to}) is not after `from` ({from})"));
        walker.problems.add(&path.key("start").key("to"), &Value::from(to), fault);
        return;
    }
    let id = model.get("id").and_then(Value::as_str).unwrap_or_default();
    let drawn = Start::Uniform { from, to }.time(seed, id);
    model.insert("start_ns".into(), drawn.as_ns().into());
    model.insert("start_draw".into(), rule);
}

/// The `tcp` block. Its recovery has a default for each kind of sender, and must fit the sender.
fn tcp(
    walker: &mut Walker,
    own: &[Layer<'_>],
    path: &Path,
    defaults: &[Layer<'_>],
) -> Option<Resolved> {
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
    let mut tcp = transport(walker, own, "tcp", TCP, path, &layers)?;
    count_in_bytes(&mut tcp.model);
    let kind = tcp.model.get("recovery").and_then(|recovery| recovery.get("kind"));
    if let Some(Value::String(kind)) = kind
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
        walker.problems.add(&place, &Value::from(kind.clone()), fault);
    }
    whole_bytes(walker, &tcp.model, classic, path);
    Some(tcp)
}

/// Windows of whole bytes must be kept in bytes.
fn whole_bytes(walker: &mut Walker, tcp: &Map<String, Value>, classic: bool, path: &Path) {
    let whole = tcp.get("cc").is_some_and(|cc| cc["arithmetic"] == "whole");
    let in_bytes = classic && tcp.get("window_unit").is_some_and(|unit| unit == "bytes");
    if whole && !in_bytes {
        let fault = Fault::new("windows in segments cannot be whole bytes")
            .allowed("real")
            .hint("or write `sender: classic` and `window_unit: bytes`");
        let place = path.key("tcp").key("cc").key("arithmetic");
        walker.problems.add(&place, &Value::from("whole"), fault);
    }
}

/// The receiver's window in bytes, where it was given in segments.
fn count_in_bytes(model: &mut Map<String, Value>) {
    let segments = model.remove("receive_window_packets");
    if !model.contains_key("receive_window_bytes") {
        let whole = |value: Option<&Value>| value.and_then(Value::as_u64);
        let bytes = whole(segments.as_ref())
            .zip(whole(model.get("segment_bytes")))
            .map(|(segments, bytes)| segments.saturating_mul(bytes));
        model.insert("receive_window_bytes".into(), Value::from(bytes));
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
) -> Option<Resolved> {
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
