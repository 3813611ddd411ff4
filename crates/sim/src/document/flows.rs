//! Flows and their transports.

use super::families::{self, Below};
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

/// Resolves the flow at `path`; `below` are the layers below its `tcp` block, and `seed` is
/// that of the run, for a start that is drawn. `known` remembers `tcp` blocks of the same layers.
pub(super) fn resolve(
    walker: &mut Walker,
    map: &Map<String, Value>,
    path: &Path,
    below: &Below<'_>,
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
        if let Some(layers) = block(walker, &own, "udp", path) {
            let udp = walker.object(UDP, &layers, &path.key("udp"));
            flow.canonical.insert("udp".into(), Value::Object(udp.canonical));
            flow.model.insert("tcp".into(), Value::Null);
            flow.model.insert("udp".into(), Value::Object(udp.model));
        }
    } else if let Some(tcp) = known.get(walker, map, |w| tcp(w, &own, path, below)) {
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

/// The `tcp` block: the common keys, and those of the family of senders that it or the layers below choose.
fn tcp(walker: &mut Walker, own: &[Layer<'_>], path: &Path, below: &Below<'_>) -> Option<Resolved> {
    let given = block(walker, own, "tcp", path)?;
    let here = path.key("tcp");
    let mut layers = given.clone();
    layers.extend(below.all.iter().cloned());
    let Some(family) = families::chosen(&layers) else {
        // Without a family nobody knows which of the other keys may stand.
        walker.resolve(TCP, &layers, &here);
        return None;
    };
    let maps: Vec<_> = given
        .iter()
        .map(|layer| (families::own(walker, family, layer.map, &layer.path), &layer.path))
        .collect();
    let mut layers: Vec<Layer<'_>> =
        maps.iter().map(|(map, path)| Layer { map, path: (*path).clone(), told: false }).collect();
    layers.extend(below.of(family));
    let mut tcp = walker.resolve(TCP, &layers, &here);
    let keys = walker.resolve(family.params, &layers, &here);
    let numbering = ackclock_tcp::connection::numbering(family.name);
    tcp.model.insert("numbering".into(), numbering.word().into());
    tcp.canonical.extend(keys.canonical);
    tcp.model.extend(keys.model);
    count_in_bytes(&mut tcp.model);
    whole_bytes(walker, &tcp.model, path);
    Some(tcp)
}

/// Windows of whole bytes must be kept in bytes.
fn whole_bytes(walker: &mut Walker, tcp: &Map<String, Value>, path: &Path) {
    let whole = tcp.get("cc").is_some_and(|cc| cc["arithmetic"] == "whole");
    let in_bytes =
        tcp["numbering"] == "bytes" && tcp.get("window_unit").is_none_or(|unit| unit == "bytes");
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
    if let Some(segments) = model.remove("receive_window_packets") {
        let whole = |value: Option<&Value>| value.and_then(Value::as_u64);
        let bytes = whole(Some(&segments))
            .zip(whole(model.get("segment_bytes")))
            .map(|(segments, bytes)| segments.saturating_mul(bytes));
        model.insert("receive_window_bytes".into(), Value::from(bytes));
    }
}

/// A parameter of flows.
pub(super) fn param(name: &str) -> &'static Param {
    FLOW.iter().find(|param| param.name == name).expect("a parameter of flows")
}

/// The block of a transport as the flow gives it, if it does; none if it is not a mapping.
fn block<'d>(
    walker: &mut Walker,
    own: &[Layer<'d>],
    name: &str,
    path: &Path,
) -> Option<Vec<Layer<'d>>> {
    let param = param(name);
    let given = own[0].map.get(name);
    if let Some(value @ Value::Null) = given {
        let fault = scalar::wrong_type(param, value).hint(format!("write `{name}: {{}}`"));
        walker.problems.add(&path.key(name), value, fault);
        return None;
    }
    let layers = walker.inner_layers(param, own);
    if given.is_some() && layers.is_empty() { None } else { Some(layers) }
}
