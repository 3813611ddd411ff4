//! Flows and their transports.

use super::problems::{Fault, Path};
use super::scalar;
use super::walk::{Layer, Resolved, Walker};
use crate::tables::{FLOW, TCP, UDP};
use ackclock_units::param::{Kind, Param};
use serde_json::{Map, Value};

/// Resolves the flow at `path`; `tcp_defaults` are the layers below its `tcp` block.
pub(super) fn resolve(
    walker: &mut Walker,
    map: &Map<String, Value>,
    path: &Path,
    tcp_defaults: &[Layer<'_>],
) -> Resolved {
    walker.check_keys(FLOW, map, path);
    let own = [Layer { map, path: path.clone(), told: false }];
    let mut flow = Resolved::with_room(FLOW.len());
    for param in FLOW.iter().filter(|param| !matches!(param.kind, Kind::Object(_))) {
        walker.param(param, &own, path, &mut flow);
    }
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
    } else if let Some(tcp) = transport(walker, &own, "tcp", TCP, path, tcp_defaults) {
        flow.canonical.insert("tcp".into(), Value::Object(tcp.canonical));
        flow.model.insert("tcp".into(), Value::Object(tcp.model));
        flow.model.insert("udp".into(), Value::Null);
    }
    flow
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
    let param = FLOW.iter().find(|param| param.name == name).expect("a parameter of flows");
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
