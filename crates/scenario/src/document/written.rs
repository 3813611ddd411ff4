//! A checked scenario as a document: in the grammar of scenarios with all defaults filled in, or as numbers.
//!
//! Both are made when somebody asks for them. The document of a large network goes out as text, piece by piece.

use super::Checked;
use super::block::{self, Block};
use super::flows::{FlowPart, ROUTERS, TransportPart, label, numbering, numbers};
use super::links::{LinkPart, Nature};
use crate::compile::{Way, special_paths};
use crate::model::{Flow, Link, Scenario};
use crate::spaced;
use crate::start::Start;
use ackclock_units::Time;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The values of a document that has no faults: what the numbers of its scenario were made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub rest: Block,
    pub links: Vec<Arc<Nature>>,
    pub flows: Vec<TransportPart>,
}

impl Values {
    pub fn new(rest: Block, links: Vec<LinkPart>, flows: Vec<FlowPart>) -> Self {
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
        let links = links.map(|(link, nature)| writer.link_document(link, nature));
        let flows = writer.scenario.flows.iter().zip(&values.flows);
        let flows = flows.map(|(flow, transport)| writer.flow_document(flow, transport));
        Some(Value::Object(writer.put_together(
            values.rest.document(),
            links.collect(),
            flows.collect(),
        )))
    }

    /// The same as text with keys in the order of their letters, which goes to `pieces` bit by bit: of a large
    /// network there is no need to have all at once.
    pub fn canonical_text(&self, pieces: &mut dyn FnMut(&[u8])) {
        let Some((writer, values)) = self.writer() else { return };
        let mut all = values.rest.document();
        for key in ["hosts", "routers", "links", "flows", "seed"] {
            all.insert(key.into(), Value::Null);
        }
        all.values_mut().for_each(Value::sort_all_objects);
        all.sort_keys();
        let scenario = writer.scenario;
        let mut out = Pieces { text: b"{".to_vec(), pieces };
        for (place, (key, value)) in all.iter().enumerate() {
            out.part(place > 0);
            spaced::append_key(&mut out.text, key);
            match (key.as_str(), value) {
                ("hosts", _) => {
                    out.list(&*scenario.hosts, |text, name| spaced::append_text(text, name))
                }
                ("routers", _) => {
                    out.list(&*scenario.routers, |text, name| spaced::append_text(text, name))
                }
                ("links", _) => {
                    let mut known = HashMap::new();
                    out.list(scenario.links.iter().zip(&values.links), |text, (link, nature)| {
                        let shared = known
                            .entry(Arc::as_ptr(nature))
                            .or_insert_with(|| written(writer.nature_document(nature)));
                        object(text, writer.link_head(link, "between"), shared);
                    });
                }
                ("flows", _) => {
                    let mut known = HashMap::new();
                    out.list(
                        scenario.flows.iter().zip(&values.flows),
                        |text, (flow, transport)| {
                            let (name, block) = transport.named();
                            let shared = known.entry(Arc::as_ptr(block)).or_insert_with(|| {
                                let transport = Value::Object(block.document());
                                written(Map::from_iter([(name.to_owned(), transport)]))
                            });
                            object(text, writer.flow_without_transport(flow), shared);
                        },
                    );
                }
                ("seed", _) => spaced::append(&mut out.text, &scenario.seed.into()),
                (_, Value::Array(items)) => out.list(items, spaced::append),
                _ => spaced::append(&mut out.text, value),
            }
        }
        out.text.push(b'}');
        (out.pieces)(&out.text);
    }

    /// The scenario as numbers, with units in the names (`delay_ns`), if nothing is wrong.
    pub fn model(&self) -> Option<Value> {
        let (writer, values) = self.writer()?;
        let joined = |(own, shared): (Map<String, Value>, Map<String, Value>)| {
            Value::Object(own.into_iter().chain(shared).collect())
        };
        let links = writer.scenario.links.iter().zip(&values.links);
        let links = links.map(|(link, nature)| {
            joined((writer.link_head(link, "ends"), writer.nature_model(link, nature)))
        });
        let flows = writer.scenario.flows.iter().zip(&values.flows).zip(paths(writer.scenario));
        let flows = flows.map(|((flow, transport), paths)| {
            joined((writer.flow_model(flow, paths), transport_model(transport)))
        });
        Some(Value::Object(writer.put_together(head(values), links.collect(), flows.collect())))
    }

    /// The same as text, which goes to `pieces` bit by bit. What links or flows have in common stands once, in
    /// lists of its own (`natures`, `transports`); each has the number of its entry there in the place of it.
    pub fn model_text(&self, pieces: &mut dyn FnMut(&[u8])) {
        let Some((writer, values)) = self.writer() else { return };
        let scenario = writer.scenario;
        let all = writer.put_together(head(values), Value::Null, Value::Null);
        let mut out = Pieces { text: b"{".to_vec(), pieces };
        for (key, value) in &all {
            if !["links", "flows"].contains(&key.as_str()) {
                spaced::append_key(&mut out.text, key);
                spaced::append(&mut out.text, value);
                out.text.extend_from_slice(b", ");
            }
        }
        let mut natures = Shared::default();
        spaced::append_key(&mut out.text, "links");
        out.list(scenario.links.iter().zip(&values.links), |text, (link, nature)| {
            let same = (Arc::as_ptr(nature), link.forward.rate_bps, link.backward.rate_bps);
            let like = natures.number(same, || writer.nature_model(link, nature));
            let mut own = writer.link_head(link, "ends");
            own.insert("like".into(), like.into());
            spaced::append(text, &Value::Object(own));
        });
        let mut transports = Shared::default();
        out.text.extend_from_slice(b", ");
        spaced::append_key(&mut out.text, "flows");
        let flows = scenario.flows.iter().zip(&values.flows).zip(paths(scenario));
        out.list(flows, |text, ((flow, transport), paths)| {
            let same = Arc::as_ptr(transport.named().1);
            let like = transports.number(same, || transport_model(transport));
            let mut own = writer.flow_model(flow, paths);
            own.insert("like".into(), like.into());
            spaced::append(text, &Value::Object(own));
        });
        for (key, shared) in [("natures", natures.entries), ("transports", transports.entries)] {
            out.text.extend_from_slice(b", ");
            spaced::append_key(&mut out.text, key);
            spaced::append(&mut out.text, &shared.into());
        }
        out.text.push(b'}');
        (out.pieces)(&out.text);
    }

    /// The part of the model that is no longer for a larger network: all but nodes, links and flows.
    pub fn head(&self) -> Option<Value> {
        Some(Value::Object(head(self.writer()?.1)))
    }

    pub(super) fn writer(&self) -> Option<(Writer<'_>, &Values)> {
        Some((Writer { scenario: self.scenario.as_ref()? }, self.values.as_deref()?))
    }
}

/// Text on its way out.
struct Pieces<'p> {
    text: Vec<u8>,
    pieces: &'p mut dyn FnMut(&[u8]),
}

impl Pieces<'_> {
    /// Bytes that go out together.
    const PIECE: usize = 1 << 20;

    /// Begins a member of the whole, or an element of a list of it.
    fn part(&mut self, is_next: bool) {
        if self.text.len() >= Self::PIECE {
            (self.pieces)(&self.text);
            self.text.clear();
        }
        self.text.extend_from_slice(if is_next { b", " } else { b"" });
    }

    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.text.push(b'[');
        for (place, item) in items.into_iter().enumerate() {
            self.part(place > 0);
            write(&mut self.text, item);
        }
        self.text.push(b']');
    }
}

/// Members of an object as text.
type Written = Vec<(String, Vec<u8>)>;

fn written(members: Map<String, Value>) -> Written {
    let members = members.into_iter().map(|(key, mut value)| {
        value.sort_all_objects();
        let mut text = Vec::new();
        spaced::append_key(&mut text, &key);
        spaced::append(&mut text, &value);
        (key, text)
    });
    members.collect()
}

/// Appends an object: what is its own, then what it shares with others.
fn object(text: &mut Vec<u8>, own: Map<String, Value>, shared: &Written) {
    let own = written(own);
    let mut all: Vec<&(String, Vec<u8>)> = own.iter().chain(shared).collect();
    all.sort_unstable_by_key(|(key, _)| key);
    text.push(b'{');
    for (place, (_, member)) in all.into_iter().enumerate() {
        text.extend_from_slice(if place > 0 { b", " } else { b"" });
        text.extend_from_slice(member);
    }
    text.push(b'}');
}

fn head(values: &Values) -> Map<String, Value> {
    let mut rest = values.rest.model();
    if let Some(Value::Object(record)) = rest.get_mut("record") {
        record.shift_remove("kind");
    }
    rest
}

/// The ways of each flow, where they need not be the first of the shortest paths.
fn paths(scenario: &Scenario) -> impl Iterator<Item = Option<[Way; 2]>> {
    special_paths(scenario).into_iter().map(Some).chain(std::iter::repeat_with(|| None))
}

/// What several elements have in common, each once.
struct Shared<K> {
    numbers: HashMap<K, usize>,
    entries: Vec<Value>,
}

impl<K> Default for Shared<K> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), entries: Vec::new() }
    }
}

impl<K: Eq + Hash> Shared<K> {
    fn number(&mut self, key: K, make: impl FnOnce() -> Map<String, Value>) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.entries.push(Value::Object(make()));
            self.entries.len() - 1
        })
    }
}

fn transport_model(transport: &TransportPart) -> Map<String, Value> {
    let (label, tcp, udp) = match transport {
        TransportPart::Tcp(tcp) => {
            let mut model = block::object(numbers(tcp));
            model.insert("numbering".into(), numbering(tcp).into());
            (label(tcp).into(), Value::Object(model), Value::Null)
        }
        TransportPart::Udp(udp) => {
            let kind = udp.block("source").and_then(Block::kind).unwrap_or_default();
            (format!("UDP {kind}").into(), Value::Null, Value::Object(udp.model()))
        }
    };
    Map::from_iter([("label".to_owned(), label), ("tcp".to_owned(), tcp), ("udp".to_owned(), udp)])
}

#[derive(Clone, Copy)]
pub(super) struct Writer<'s> {
    pub scenario: &'s Scenario,
}

/// Whether a value that is read over another one takes something from it: a parameter that it does not give itself.
fn lets_through(value: &Value, below: &Value) -> bool {
    let (Value::Object(value), Value::Object(below)) = (value, below) else { return false };
    value.get("kind") == below.get("kind")
        && below
            .iter()
            .any(|(key, below)| value.get(key).is_none_or(|own| lets_through(own, below)))
}

impl Writer<'_> {
    /// The document without what its links and its flows are.
    pub fn rest_document(&self, values: &Values) -> Map<String, Value> {
        self.put_together(values.rest.document(), Value::Null, Value::Null)
    }

    fn put_together(
        &self,
        mut all: Map<String, Value>,
        links: Value,
        flows: Value,
    ) -> Map<String, Value> {
        all.insert("hosts".into(), self.scenario.hosts.to_vec().into());
        all.insert("routers".into(), self.scenario.routers.to_vec().into());
        all.insert("links".into(), links);
        all.insert("flows".into(), flows);
        all.insert("seed".into(), self.scenario.seed.into());
        all
    }

    pub fn link_document(&self, link: &Link, nature: &Nature) -> Value {
        let mut map = self.link_head(link, "between");
        map.extend(self.nature_document(nature));
        Value::Object(map)
    }

    fn nature_document(&self, nature: &Nature) -> Map<String, Value> {
        let mut map = Map::new();
        let [mut both, mut backward] = [0, 1].map(|side| nature.sides[side].document());
        backward.retain(|key, value| both.get(key) != Some(value));
        let mut forward = Map::new();
        for (key, value) in &backward {
            if both.get(key).is_some_and(|below| lets_through(value, below)) {
                forward.extend(both.shift_remove_entry(key));
            }
        }
        map.extend(both);
        map.extend(nature.whole.document());
        for (side, own) in [("forward", forward), ("backward", backward)] {
            if !own.is_empty() {
                map.insert(side.into(), Value::Object(own));
            }
        }
        if !nature.changes.is_empty() {
            let changes = nature.changes.iter().map(|change| Value::Object(change.document()));
            map.insert("changes".into(), changes.collect());
        }
        map
    }

    fn nature_model(&self, link: &Link, nature: &Nature) -> Map<String, Value> {
        let mut map = nature.whole.model();
        let changes = nature.changes.iter().map(|change| Value::Object(change.model()));
        map.insert("changes".into(), changes.collect());
        let ways = [("forward", &link.forward), ("backward", &link.backward)];
        for ((side, way), block) in ways.into_iter().zip(&nature.sides) {
            let mut model = block.model();
            // Of a rate that changes by a rule there is a mean, too.
            model.insert("rate_bps".into(), way.rate_bps.into());
            map.insert(side.into(), Value::Object(model));
        }
        map
    }

    pub fn link_head(&self, link: &Link, ends: &str) -> Map<String, Value> {
        let nodes = link.ends.map(|node| self.scenario.node_name(node).to_owned());
        Map::from_iter([
            ("id".to_owned(), link.id.as_str().into()),
            (ends.to_owned(), nodes.to_vec().into()),
        ])
    }

    pub fn flow_document(&self, flow: &Flow, transport: &TransportPart) -> Value {
        let mut map = self.flow_without_transport(flow);
        let (name, block) = transport.named();
        map.insert(name.into(), Value::Object(block.document()));
        Value::Object(map)
    }

    pub fn flow_without_transport(&self, flow: &Flow) -> Map<String, Value> {
        let time = |time: Time| Quantity::Time(time.as_ns()).to_string();
        let start: Value = match flow.start {
            Start::At(at) => time(at).into(),
            Start::Uniform { from, to } => {
                json!({ "kind": "uniform", "from": time(from), "to": time(to) })
            }
        };
        let mut map = self.flow_head(flow);
        for (key, routers) in ROUTERS.into_iter().zip(&flow.routers) {
            if let Some(routers) = routers {
                let names = routers.iter().map(|router| self.scenario.routers[*router].as_str());
                map.insert(key.into(), names.collect());
            }
        }
        map.insert("start".into(), start);
        if let Some(stop) = flow.stop {
            map.insert("stop".into(), time(stop).into());
        }
        map.insert("send".into(), flow.send.document());
        map
    }

    fn flow_model(&self, flow: &Flow, ways: Option<[Way; 2]>) -> Map<String, Value> {
        let draw = match flow.start {
            Start::At(_) => Value::Null,
            Start::Uniform { from, to } => {
                json!({ "kind": "uniform", "from_ns": from.as_ns(), "to_ns": to.as_ns() })
            }
        };
        let mut map = self.flow_head(flow);
        map.insert("start_ns".into(), flow.start.time(self.scenario.seed, &flow.id).as_ns().into());
        map.insert("stop_ns".into(), flow.stop.map(Time::as_ns).into());
        map.insert("send_bytes".into(), flow.send.bytes(self.scenario.seed, &flow.id).into());
        map.insert("start_draw".into(), draw);
        // Only where it is not the first of the shortest paths: index of the link, and 1 for backward.
        for (key, way) in ["data_path", "ack_path"].into_iter().zip(ways.into_iter().flatten()) {
            map.insert(
                key.into(),
                way.into_iter().map(|(link, back)| json!([link, back])).collect(),
            );
        }
        map
    }

    fn flow_head(&self, flow: &Flow) -> Map<String, Value> {
        Map::from_iter([
            ("id".to_owned(), flow.id.as_str().into()),
            ("from".to_owned(), self.scenario.hosts[flow.from].as_str().into()),
            ("to".to_owned(), self.scenario.hosts[flow.to].as_str().into()),
        ])
    }
}
