//! A checked scenario as a document: in the grammar of scenarios with all defaults filled in, or as numbers.
//!
//! Both are made when somebody asks for them.

use super::Checked;
use super::flows::{FlowPart, TransportPart};
use super::links::LinkPart;
use super::walk::Resolved;
use crate::model::{Flow, Link, Scenario};
use crate::start::Start;
use ackclock_units::Time;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The values of a document that has no faults: what the numbers of its scenario were made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    rest: Resolved,
    links: Vec<Arc<Resolved>>,
    flows: Vec<TransportPart>,
}

impl Values {
    pub fn new(rest: Resolved, links: Vec<LinkPart>, flows: Vec<FlowPart>) -> Self {
        Self {
            rest,
            links: links.into_iter().map(|link| link.nature).collect(),
            flows: flows.into_iter().filter_map(|flow| flow.transport).collect(),
        }
    }
}

impl Checked {
    /// The document with all defaults filled in, if nothing is wrong. Checking it gives the same.
    pub fn canonical(&self) -> Option<Value> {
        let (writer, values) = self.writer()?;
        let links = writer.scenario.links.iter().zip(&values.links);
        let links = links.map(|(link, nature)| writer.link_document(link, &nature.canonical));
        let flows = writer.scenario.flows.iter().zip(&values.flows);
        let flows = flows.map(|(flow, transport)| writer.flow_document(flow, transport));
        Some(writer.put_together(&values.rest.canonical, links.collect(), flows.collect()))
    }

    /// The scenario as numbers, with units in the names (`delay_ns`), if nothing is wrong.
    pub fn model(&self) -> Option<Value> {
        let (writer, values) = self.writer()?;
        let links = writer.scenario.links.iter().zip(&values.links);
        let links = links.map(|(link, nature)| writer.link_model(link, &nature.model));
        let flows = writer.scenario.flows.iter().zip(&values.flows);
        let flows = flows.map(|(flow, transport)| writer.flow_model(flow, transport));
        Some(writer.put_together(&values.rest.model, links.collect(), flows.collect()))
    }

    fn writer(&self) -> Option<(Writer<'_>, &Values)> {
        Some((Writer { scenario: self.scenario.as_ref()? }, self.values.as_deref()?))
    }
}

struct Writer<'s> {
    scenario: &'s Scenario,
}

impl Writer<'_> {
    fn put_together(&self, rest: &Map<String, Value>, links: Value, flows: Value) -> Value {
        let mut all = rest.clone();
        all.insert("hosts".into(), self.scenario.hosts.to_vec().into());
        all.insert("routers".into(), self.scenario.routers.to_vec().into());
        all.insert("links".into(), links);
        all.insert("flows".into(), flows);
        all.insert("seed".into(), self.scenario.seed.into());
        Value::Object(all)
    }

    fn link_document(&self, link: &Link, nature: &Map<String, Value>) -> Value {
        let mut map = self.link_head(link, "between");
        map.extend(nature.clone());
        Value::Object(map)
    }

    fn link_model(&self, link: &Link, nature: &Map<String, Value>) -> Value {
        let mut map = self.link_head(link, "ends");
        map.extend(nature.clone());
        Value::Object(map)
    }

    fn link_head(&self, link: &Link, ends: &str) -> Map<String, Value> {
        let nodes = link.ends.map(|node| self.scenario.node_name(node).to_owned());
        Map::from_iter([
            ("id".to_owned(), link.id.as_str().into()),
            (ends.to_owned(), nodes.to_vec().into()),
        ])
    }

    fn flow_document(&self, flow: &Flow, transport: &TransportPart) -> Value {
        let time = |time: Time| Quantity::Time(time.as_ns()).to_string();
        let start: Value = match flow.start {
            Start::At(at) => time(at).into(),
            Start::Uniform { from, to } => {
                json!({ "kind": "uniform", "from": time(from), "to": time(to) })
            }
        };
        let send = match flow.send_bytes {
            Some(bytes) => Quantity::Size(bytes).to_string(),
            None => "unlimited".to_owned(),
        };
        let mut map = self.flow_head(flow);
        map.insert("start".into(), start);
        map.insert("send".into(), send.into());
        let (name, transport) = match transport {
            TransportPart::Tcp(tcp) => ("tcp", tcp),
            TransportPart::Udp(udp) => ("udp", udp),
        };
        map.insert(name.into(), Value::Object(transport.canonical.clone()));
        Value::Object(map)
    }

    fn flow_model(&self, flow: &Flow, transport: &TransportPart) -> Value {
        let draw = match flow.start {
            Start::At(_) => Value::Null,
            Start::Uniform { from, to } => {
                json!({ "kind": "uniform", "from_ns": from.as_ns(), "to_ns": to.as_ns() })
            }
        };
        let mut map = self.flow_head(flow);
        map.insert("start_ns".into(), flow.start.time(self.scenario.seed, &flow.id).as_ns().into());
        map.insert("send_bytes".into(), flow.send_bytes.into());
        map.insert("start_draw".into(), draw);
        let (name, transport) = match transport {
            TransportPart::Tcp(tcp) => ("tcp", tcp),
            TransportPart::Udp(udp) => ("udp", udp),
        };
        for each in ["tcp", "udp"] {
            let value =
                if each == name { Value::Object(transport.model.clone()) } else { Value::Null };
            map.insert(each.into(), value);
        }
        Value::Object(map)
    }

    fn flow_head(&self, flow: &Flow) -> Map<String, Value> {
        Map::from_iter([
            ("id".to_owned(), flow.id.as_str().into()),
            ("from".to_owned(), self.scenario.hosts[flow.from].as_str().into()),
            ("to".to_owned(), self.scenario.hosts[flow.to].as_str().into()),
        ])
    }
}
