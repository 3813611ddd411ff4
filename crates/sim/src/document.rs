//! Scenario documents: checked against the tables, resolved, turned into numbers.
//!
//! [`check`] tells everything that is wrong with a document at once. A document without problems is
//! given back three times: as the typed [`Scenario`] that the simulator runs, as a document in which
//! every default is filled in (`canonical`), and as numbers in JSON (`model`).
//!
//! What an object says itself wins over the scenario's `defaults`, which win over the profile, which
//! wins over the tables. Mappings are merged key by key. Where a registered thing (`cc`, `queue`, ...)
//! is chosen, only layers that speak about the same kind count.

mod expand;
mod families;
mod fit;
mod flows;
mod identity;
mod limits;
mod links;
mod memo;
mod names;
mod network;
mod normal;
mod origins;
mod problems;
pub(crate) mod scalar;
mod typed;
mod walk;

pub use crate::registry::registry;
pub use crate::schema::schema;
pub use identity::identity;
pub use problems::{Problem, Step};

use crate::compile::longest_route;
use crate::model::{Node, Scenario};
use crate::profile;
use crate::tables::{DEFAULTS, LINK_DEFAULTS, MOST_ELEMENTS, SCENARIO};
use ackclock_units::param::{Kind, Param};
use expand::Expanded;
use families::Below;
use limits::Parts;
use memo::Memo;
use names::Names;
use network::Network;
use origins::Origins;
use problems::{Fault, Path, Problems};
use serde_json::{Map, Value};
use std::rc::Rc;
use walk::{Layer, Resolved, Walker};

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Everything that is wrong; empty for a document that can be run.
    pub problems: Vec<Problem>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Problem>,
    /// The scenario, if nothing is wrong.
    pub scenario: Option<Scenario>,
    /// The document with all defaults filled in, if nothing is wrong. Checking it gives itself.
    pub canonical: Option<Value>,
    /// The scenario as numbers, if nothing is wrong.
    pub model: Option<Value>,
}

impl Checked {
    /// The result as a JSON object: `errors`, `warnings`, `scenario` (the resolved document), `model`.
    pub fn into_json(self) -> Value {
        let told =
            |problems: &[Problem]| -> Value { problems.iter().map(Problem::to_json).collect() };
        // Not `json!`, which would copy the documents.
        Value::Object(Map::from_iter([
            ("errors".to_owned(), told(&self.problems)),
            ("warnings".to_owned(), told(&self.warnings)),
            ("scenario".to_owned(), self.canonical.unwrap_or_default()),
            ("model".to_owned(), self.model.unwrap_or_default()),
        ]))
    }

    fn failed(problems: Problems, warnings: Problems) -> Self {
        Self {
            problems: problems.finish(),
            warnings: warnings.finish(),
            scenario: None,
            canonical: None,
            model: None,
        }
    }
}

/// Checks a document given as JSON text.
pub fn check_text(text: &str) -> Checked {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fault = if text.trim().is_empty() {
        Fault::new("the document is empty")
    } else {
        match serde_json::from_str(text) {
            Ok(document) => return check(&document),
            Err(error) => Fault::new(format!("not JSON: {error}")),
        }
    };
    let mut problems = Problems::default();
    problems.add(&Path::default(), &Value::Null, fault);
    Checked::failed(problems, Problems::default())
}

/// Checks a document.
pub fn check(document: &Value) -> Checked {
    let mut problems = Problems::default();
    let document = normal::normalised(document, &mut problems);
    let Value::Object(root) = document.as_ref() else {
        if problems.is_empty() {
            let fault = Fault::new(format!(
                "a scenario is a mapping of keys to values, not {}",
                scalar::found(&document)
            ));
            problems.add(&Path::default(), &document, fault.hint("begin with `hosts: [A, B]`"));
        }
        return Checked::failed(problems, Problems::default());
    };
    let mut walker = Walker { problems, partial: false };
    let Expanded { root, origins, complete } = expand::expand(&mut walker, root);
    walker.problems.written_out(Rc::clone(&origins));
    let resolved = resolve(&mut walker, &root, complete);
    finish(walker.problems, &root, resolved, &origins)
}

/// The parts of a document that was walked.
struct Walked {
    rest: Resolved,
    /// None when the list could not be read: then nothing is said about who uses its names.
    hosts: Option<Vec<String>>,
    routers: Option<Vec<String>>,
    links: Vec<Resolved>,
    flows: Vec<Resolved>,
    /// Warnings of defaults that no flow uses.
    unused: Problems,
}

/// Resolves a document without short forms; `complete` if the whole network is there.
fn resolve(walker: &mut Walker, root: &Map<String, Value>, complete: bool) -> Walked {
    let here = Path::default();
    walker.check_keys(SCENARIO, root, &here);
    let own = Layer { map: root, path: here.clone(), told: false };
    let mut head = Resolved::default();
    walker.param(param("profile"), std::slice::from_ref(&own), &here, &mut head);
    let profile = head.model.get("profile").and_then(Value::as_str).and_then(profile::document);
    let profile =
        profile.and_then(Value::as_object).map(|map| Layer { map, path: here.clone(), told: true });
    let layers: Vec<Layer<'_>> = std::iter::once(own.clone()).chain(profile).collect();

    // Defaults are never complete.
    walker.partial = true;
    let mut link_defaults = defaults(walker, &layers, "link");
    walker.object(LINK_DEFAULTS, &link_defaults, &Path::default());
    for layer in &mut link_defaults {
        layer.told = true;
    }
    let tcp_defaults = defaults(walker, &layers, "tcp");
    let tcp_defaults = Below::new(walker, tcp_defaults);
    walker.partial = false;
    let mut rest = Resolved::default();
    for param in SCENARIO {
        match param.kind {
            _ if matches!(param.name, "defaults" | "topology" | "set") => {}
            Kind::NameList | Kind::ObjectList(_) => {
                // Keeps the place of the lists, which are put in last.
                rest.canonical.insert(param.name.into(), Value::Null);
                rest.model.insert(param.name.into(), Value::Null);
            }
            _ if param.name == "profile" => {
                rest.canonical.append(&mut head.canonical);
                rest.model.append(&mut head.model);
            }
            _ if param.name == "name" => {
                walker.param(param, &layers, &here, &mut rest);
                check_name(walker, root);
            }
            _ => walker.param(param, &layers, &here, &mut rest),
        }
    }
    if let Some(Value::Object(record)) = rest.model.get_mut("record") {
        record.shift_remove("kind");
    }
    let seed = rest.model.get("seed").and_then(Value::as_u64).unwrap_or_default();
    if complete {
        for key in ["hosts", "links"].into_iter().filter(|key| !root.contains_key(*key)) {
            walker.missing(param(key), &here);
        }
    }
    let hosts = name_list(walker, root, "hosts").filter(|_| complete);
    let routers = match root.get("routers") {
        None => Some(Vec::new()),
        Some(_) => name_list(walker, root, "routers"),
    };
    let routers = routers.filter(|_| complete);
    let mut known = Memo::new(|key| key != "id" && key != "between");
    let links = objects(walker, root, "links", |walker, map, path| {
        links::resolve(walker, map, path, &link_defaults, &mut known)
    });
    let mut known = Memo::new(|key| key == "tcp");
    let flows = objects(walker, root, "flows", |walker, map, path| {
        flows::resolve(walker, map, path, &tcp_defaults, seed, &mut known)
    });
    let mut unused = Problems::default();
    tcp_defaults.unused(&families::used(&flows), &mut unused);
    Walked { rest, hosts, routers, links, flows, unused }
}

fn param(name: &str) -> &'static Param {
    SCENARIO.iter().find(|param| param.name == name).expect("a parameter of scenarios")
}

/// The layers that hold defaults for links, or for the `tcp` blocks of flows; those of the scenario come first.
fn defaults<'d>(walker: &mut Walker, layers: &[Layer<'d>], name: &str) -> Vec<Layer<'d>> {
    let block = DEFAULTS.iter().find(|param| param.name == name).expect("a block of defaults");
    let [own, profile @ ..] = layers else { return Vec::new() };
    // Both blocks are looked up in the same mapping: its own faults are told with the first.
    let first = name == DEFAULTS[0].name;
    let own = Layer { told: !first, ..own.clone() };
    let mut all = walker.inner_layers(param("defaults"), std::slice::from_ref(&own));
    for layer in &mut all {
        if first {
            walker.check_keys(DEFAULTS, layer.map, &layer.path);
        }
        layer.told = false;
    }
    let mut all = walker.inner_layers(block, &all);
    all.extend(walker.inner_layers(block, profile));
    all
}

/// The name of a scenario becomes a folder.
fn check_name(walker: &mut Walker, root: &Map<String, Value>) {
    let Some(value @ Value::String(name)) = root.get("name") else { return };
    let name = name.trim();
    let good = !name.is_empty()
        && name.len() <= 200
        && name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c))
        && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    if !good {
        let fault = Fault::new("this cannot be the name of a scenario")
            .allowed("letters, digits, `-`, `_`, `.`, with `/` between topics")
            .hint("a `title` may hold any text");
        walker.problems.add(&Path::default().key("name"), value, fault);
    }
}

fn name_list(walker: &mut Walker, root: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    let path = Path::default().key(key);
    let values = list(walker, root, key)?;
    let mut names = Vec::new();
    for (index, value) in values.iter().enumerate() {
        match scalar::name(value) {
            Ok(name) => names.push(name.to_owned()),
            Err(fault) => {
                walker.problems.add(&path.index(index), value, fault);
                // It stays known, so that its fault is told once and not wherever it is used.
                names.push(value.as_str().unwrap_or_default().to_owned());
            }
        }
    }
    Some(names)
}

fn objects(
    walker: &mut Walker,
    root: &Map<String, Value>,
    key: &str,
    mut resolve: impl FnMut(&mut Walker, &Map<String, Value>, &Path) -> Resolved,
) -> Vec<Resolved> {
    let path = Path::default().key(key);
    let Some(values) = list(walker, root, key) else { return Vec::new() };
    let mut resolved = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        if walker.problems.is_full() {
            break;
        }
        let path = path.index(index);
        match value {
            Value::Object(map) => resolved.push(resolve(walker, map, &path)),
            other => {
                let fault =
                    Fault::new(format!("a mapping is needed, not {}", scalar::found(other)));
                walker.problems.add(&path, other, fault);
                resolved.push(Resolved::default());
            }
        }
    }
    resolved
}

/// The list under a key; tells a missing one, another type, and an empty or endless one.
fn list<'d>(walker: &mut Walker, root: &'d Map<String, Value>, key: &str) -> Option<&'d [Value]> {
    let here = Path::default();
    let param = param(key);
    let fault = match root.get(key) {
        None => {
            if param.default == ackclock_units::param::Default::Required {
                walker.missing(param, &here);
            }
            return None;
        }
        Some(Value::Array(values)) if values.is_empty() && key != "routers" => {
            Fault::new(format!("a scenario without {key} has nothing to simulate"))
        }
        Some(Value::Array(values)) if values.len() > MOST_ELEMENTS => {
            Fault::new(format!("{} {key} are too many", values.len()))
                .allowed(format!("at most {MOST_ELEMENTS}"))
        }
        Some(Value::Array(values)) => return Some(values),
        Some(other) => scalar::wrong_type(param, other),
    };
    walker.problems.add(&here.key(key), &root[key], fault);
    None
}

/// Checks what concerns several parts at once, and puts the parts together.
fn finish(
    mut problems: Problems,
    root: &Map<String, Value>,
    walked: Walked,
    origins: &Rc<Origins>,
) -> Checked {
    let Walked { mut rest, hosts, routers, links, flows, unused } = walked;
    let all_known = hosts.is_some() && routers.is_some();
    let (hosts, routers) = (hosts.unwrap_or_default(), routers.unwrap_or_default());
    let mut warnings = unused;
    warnings.written_out(Rc::clone(origins));
    let both = |one: Resolved| (one.canonical, one.model);
    let (link_documents, links): (Vec<_>, Vec<_>) = links.into_iter().map(both).unzip();
    let (flow_documents, flows): (Vec<_>, Vec<_>) = flows.into_iter().map(both).unzip();

    let names = Names::new(&hosts, &routers, origins.nodes, &mut problems);
    names::check_ids("links", &links, &mut problems);
    names::check_ids("flows", &flows, &mut problems);
    let place = |list: &str, index: usize| Path::default().key(list).index(index);
    let ends: Vec<Option<[Node; 2]>> = links
        .iter()
        .enumerate()
        .map(|(index, link)| match all_known {
            true => names.ends(link, &place("links", index), &mut problems),
            false => None,
        })
        .collect();
    let pairs: Vec<Option<(usize, usize)>> = flows
        .iter()
        .enumerate()
        .map(|(index, flow)| match all_known {
            true => {
                let star = |key: &str| origins.star(index, key);
                names.hosts_of(flow, &place("flows", index), star, &mut problems)
            }
            false => None,
        })
        .collect();
    let parts = Parts {
        root,
        model: &rest.model,
        names: &names,
        links: &links,
        flows: &flows,
        ends: &ends,
        pairs: &pairs,
        network: Network::new(hosts.len(), routers.len(), &ends, |_| true),
    };
    limits::check(&parts, &mut problems, &mut warnings);
    if problems.is_empty() {
        fit::check(&parts, &mut problems, &mut warnings);
    }
    if !problems.is_empty() {
        return Checked::failed(problems, warnings);
    }

    let objects =
        |all: Vec<Map<String, Value>>| -> Value { all.into_iter().map(Value::Object).collect() };
    rest.canonical.insert("hosts".into(), hosts.clone().into());
    rest.canonical.insert("routers".into(), routers.clone().into());
    rest.canonical.insert("links".into(), objects(link_documents));
    rest.canonical.insert("flows".into(), objects(flow_documents));
    let ends: Vec<[Node; 2]> = ends.into_iter().flatten().collect();
    let pairs: Vec<(usize, usize)> = pairs.into_iter().flatten().collect();
    rest.model.insert("hosts".into(), hosts.into());
    rest.model.insert("routers".into(), routers.into());
    rest.model.insert("links".into(), objects(links));
    rest.model.insert("flows".into(), objects(flows));
    let scenario = typed::scenario(&rest.model, &ends, &pairs);
    // Only a network of many routers can have so long a route.
    let most = ackclock_net::Packet::MOST_HOPS;
    if scenario.routers.len() >= most && longest_route(&scenario) > most {
        let fault = Fault::new("a route of a flow has too many links")
            .allowed(format!("at most {most} links on a route"));
        problems.add(&Path::default().key("links"), &Value::Null, fault);
        return Checked::failed(problems, warnings);
    }
    Checked {
        problems: Vec::new(),
        warnings: warnings.finish(),
        scenario: Some(scenario),
        canonical: Some(Value::Object(rest.canonical)),
        model: Some(Value::Object(rest.model)),
    }
}

#[cfg(test)]
mod tests;
