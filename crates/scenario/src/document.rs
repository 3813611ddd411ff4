//! Scenario documents: checked against the tables, resolved, turned into numbers.
//!
//! [`check`] reports everything that is wrong with a document at once. A document without problems becomes the
//! typed [`Scenario`] that the simulator runs; links and flows that are alike share their settings. As a
//! document in which every default is filled in, or as numbers in JSON, it is written when somebody asks
//! ([`Checked::canonical`], [`Checked::model`]).
//!
//! What an object says itself wins over the scenario's `defaults`, which win over the profile, which
//! wins over the tables. Mappings are merged key by key. Where a registered thing (`cc`, `queue`, ...)
//! is chosen, only layers that speak about the same kind count.

mod block;
mod buffers;
mod differences;
mod elements;
mod expand;
mod families;
mod fit;
mod flows;
mod identity;
mod limits;
mod links;
mod meant;
mod memo;
mod names;
mod network;
mod normal;
mod origins;
mod paths;
mod problems;
pub(crate) mod scalar;
mod typed;
mod walk;
mod without_effect;
mod written;

pub use crate::registry::registry;
pub use crate::schema::schema;
pub use elements::Listed;
pub use identity::identity;
pub use normal::MOST_LEVELS;
pub use problems::{Problem, Step};

use crate::compile::longest_route;
use crate::model::{Node, Scenario};
use crate::preset::Preset;
use crate::profile;
use crate::record::{MOST_FLOWS_RECORDED, OF_LARGE, SAMPLES, fitting_interval};
use crate::tables::{DEFAULTS, LINK_DEFAULTS, MOST_ELEMENTS, SCENARIO};
use ackclock_units::param::{Kind, Param};
use ackclock_units::quantity::Quantity;
use block::{Block, Setting};
use elements::{Elements, Lists};
use expand::{Expanded, templates};
use families::Below;
use flows::FlowPart;
use limits::Parts;
use links::LinkPart;
use memo::Memo;
use names::Names;
use network::Network;
use problems::{Fault, Path, Problems};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use walk::{Layer, Resolver};
use without_effect::Document;
use written::Values;

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Everything that is wrong; empty for a document that can be run.
    pub problems: Vec<Problem>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Problem>,
    /// The scenario, if nothing is wrong.
    pub scenario: Option<Scenario>,
    /// Its values as the document spells them.
    values: Option<Arc<Values>>,
}

impl Checked {
    fn failed(problems: Problems, warnings: Problems) -> Self {
        Self {
            problems: problems.finish(),
            warnings: warnings.finish(),
            scenario: None,
            values: None,
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
    walk(problems, root, BTreeMap::new())
}

/// The lists of a scenario that may be long; all else in a document is short.
pub const LISTS: [&str; 4] = ["hosts", "routers", "links", "flows"];

/// Checks a document of which some of [`LISTS`] are handed over element by element, and `root` is the rest. All
/// keys are spelled with underscores.
pub fn check_listed(
    mut root: Map<String, Value>,
    mut listed: BTreeMap<&'static str, Listed<'_>>,
) -> Checked {
    // Flows that are written out from a short form refer to it.
    if listed.get("flows").is_some_and(|flows| flows.iter().any(|flow| templates::is_short(&flow)))
    {
        let flows =
            listed.remove("flows").into_iter().flat_map(|flows| flows.iter().collect::<Vec<_>>());
        root.insert("flows".to_owned(), flows.collect());
    }
    walk(Problems::default(), &root, listed)
}

fn walk<'d>(
    problems: Problems,
    root: &'d Map<String, Value>,
    listed: BTreeMap<&'static str, Listed<'d>>,
) -> Checked {
    let mut resolver = Resolver { problems, partial: false };
    let expanded = expand::expand(&mut resolver, root, listed);
    resolver.problems.written_out(Rc::clone(&expanded.origins));
    let walked = resolve(&mut resolver, root, &expanded);
    finish(resolver.problems, root, walked, &expanded)
}

/// The parts of a document that was walked.
struct Walked {
    rest: Block,
    /// None when the list could not be read: then nothing is said about who uses its names.
    hosts: Option<Vec<String>>,
    routers: Option<Vec<String>>,
    links: Vec<LinkPart>,
    flows: Vec<FlowPart>,
    /// Warnings of defaults that no flow uses.
    unused: Problems,
}

/// Resolves a document whose short forms are written out.
fn resolve(resolver: &mut Resolver, root: &Map<String, Value>, expanded: &Expanded<'_>) -> Walked {
    let here = Path::default();
    resolver.check_keys(SCENARIO, root, &here, &[]);
    let own = Layer { map: root, path: here.clone(), reported: false };
    let mut head = Block::default();
    resolver.param(param("profile"), std::slice::from_ref(&own), &here, &mut head);
    let profile = head.word("profile").and_then(profile::document);
    let profile = profile.and_then(Value::as_object).map(|map| Layer {
        map,
        path: here.clone(),
        reported: true,
    });
    let layers: Vec<Layer<'_>> = std::iter::once(own.clone()).chain(profile).collect();
    let flows = expanded.lists.get("flows").map_or(0, Elements::len);
    let large = (flows > MOST_FLOWS_RECORDED).then(|| Layer {
        map: &OF_LARGE,
        path: here.clone(),
        reported: true,
    });
    let of_record: Vec<Layer<'_>> = layers.iter().cloned().chain(large).collect();

    // Defaults are never complete.
    resolver.partial = true;
    let (mut link_defaults, _) = defaults(resolver, &layers, "link");
    resolver.object(LINK_DEFAULTS, &link_defaults, &Path::default());
    for layer in &mut link_defaults {
        layer.reported = true;
    }
    let (tcp_defaults, preset) = defaults(resolver, &layers, "tcp");
    let tcp_defaults = Below::new(resolver, tcp_defaults, preset);
    resolver.partial = false;
    let mut rest = Block::default();
    for param in SCENARIO {
        match param.kind {
            _ if matches!(param.name, "defaults" | "topology" | "set") => {}
            Kind::NameList | Kind::ObjectList(_) => rest.put(param, Setting::List),
            _ if param.name == "profile" => rest.append(std::mem::take(&mut head)),
            _ if param.name == "name" => {
                resolver.param(param, &layers, &here, &mut rest);
                check_name(resolver, root);
            }
            _ if param.name == "record" => resolver.param(param, &of_record, &here, &mut rest),
            _ => resolver.param(param, &layers, &here, &mut rest),
        }
    }
    // Without an end that can be read the document is faulty.
    let span_ns = rest.block("stop").and_then(|stop| stop.int("at_latest")).unwrap_or_default();
    let links = expanded.lists.get("links").map_or(0, Elements::len);
    let interval = fitting_interval(span_ns, (flows + links) as u64);
    let every = format!("every {}", Quantity::Time(interval));
    rest.replace_words("record", SAMPLES, &every);
    let Expanded { lists, complete, .. } = expanded;
    if *complete {
        let has = |key: &str| root.contains_key(key) || lists.contains_key(key);
        for key in ["hosts", "links"].into_iter().filter(|key| !has(key)) {
            resolver.missing(param(key), &here);
        }
    }
    let hosts = name_list(resolver, root, lists, "hosts").filter(|_| *complete);
    let routers = match root.get("routers") {
        None if !lists.contains_key("routers") => Some(Vec::new()),
        _ => name_list(resolver, root, lists, "routers"),
    };
    let routers = routers.filter(|_| *complete);
    let mut known = Memo::new(|key| key != "id" && key != "between");
    let links = objects(resolver, root, lists, "links", |resolver, map, path| {
        links::resolve(resolver, map, path, &link_defaults, &mut known)
    });
    let mut known = Memo::new(|key| key == "tcp");
    let flows = objects(resolver, root, lists, "flows", |resolver, map, path| {
        flows::resolve(resolver, map, path, &tcp_defaults, &mut known)
    });
    let mut unused = Problems::default();
    tcp_defaults.unused(&families::used(&flows), &mut unused);
    Walked { rest, hosts, routers, links, flows, unused }
}

fn param(name: &str) -> &'static Param {
    SCENARIO.iter().find(|param| param.name == name).expect("a parameter of scenarios")
}

/// The layers that hold defaults for links, or for the `tcp` blocks of flows; those of the scenario come first.
/// And the preset that they name.
fn defaults<'d>(
    resolver: &mut Resolver,
    layers: &[Layer<'d>],
    name: &str,
) -> (Vec<Layer<'d>>, Option<&'static Preset>) {
    let block = DEFAULTS.iter().find(|param| param.name == name).expect("a block of defaults");
    let [own, profile @ ..] = layers else { return (Vec::new(), None) };
    // Both blocks are looked up in the same mapping: its own faults are reported with the first.
    let first = name == DEFAULTS[0].name;
    let own = Layer { reported: !first, ..own.clone() };
    let mut all = resolver.inner_layers(param("defaults"), std::slice::from_ref(&own));
    for layer in &mut all {
        if first {
            resolver.check_keys(DEFAULTS, layer.map, &layer.path, &[]);
        }
        layer.reported = false;
    }
    let (mut all, preset) = resolver.with_preset(block, &all);
    all.extend(resolver.inner_layers(block, profile));
    (all, preset)
}

/// The name of a scenario becomes a folder.
fn check_name(resolver: &mut Resolver, root: &Map<String, Value>) {
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
        resolver.problems.add(&Path::default().key("name"), value, fault);
    }
}

fn name_list(
    resolver: &mut Resolver,
    root: &Map<String, Value>,
    lists: &Lists<'_>,
    key: &'static str,
) -> Option<Vec<String>> {
    let path = Path::default().key(key);
    let values = list(resolver, root, lists, key)?;
    let mut names = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        match scalar::name(&value) {
            Ok(name) => names.push(name.to_owned()),
            Err(fault) => {
                resolver.problems.add(&path.index(index), &value, fault);
                // It stays known, so that its fault is reported once and not wherever it is used.
                names.push(value.as_str().unwrap_or_default().to_owned());
            }
        }
    }
    Some(names)
}

fn objects<T: Default>(
    resolver: &mut Resolver,
    root: &Map<String, Value>,
    lists: &Lists<'_>,
    key: &'static str,
    mut resolve: impl FnMut(&mut Resolver, &Map<String, Value>, &Path) -> T,
) -> Vec<T> {
    let path = Path::default().key(key);
    let Some(values) = list(resolver, root, lists, key) else { return Vec::new() };
    let mut resolved = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        if resolver.problems.is_full() {
            break;
        }
        let path = path.index(index);
        match &*value {
            Value::Object(map) => resolved.push(resolve(resolver, map, &path)),
            other => {
                let fault =
                    Fault::new(format!("a mapping is needed, not {}", scalar::found(other)));
                resolver.problems.add(&path, other, fault);
                resolved.push(T::default());
            }
        }
    }
    resolved
}

/// The list under a key; reports a missing one, another type, and an empty or endless one.
fn list<'e, 'd>(
    resolver: &mut Resolver,
    root: &Map<String, Value>,
    lists: &'e Lists<'d>,
    key: &'static str,
) -> Option<&'e Elements<'d>> {
    let here = Path::default();
    let param = param(key);
    let fault = match (lists.get(key), root.get(key)) {
        (None, None) => {
            if param.default == ackclock_units::param::Default::Required {
                resolver.missing(param, &here);
            }
            return None;
        }
        (None, Some(other)) => scalar::wrong_type(param, other),
        (Some(elements), _) if elements.len() == 0 && key != "routers" => {
            Fault::new(format!("a scenario without {key} has nothing to simulate"))
        }
        (Some(elements), _) if elements.len() > MOST_ELEMENTS => {
            Fault::new(format!("{} {key} are too many", elements.len()))
                .allowed(format!("at most {MOST_ELEMENTS}"))
        }
        (Some(elements), _) => return Some(elements),
    };
    resolver.problems.add(&here.key(key), root.get(key).unwrap_or(&Value::Null), fault);
    None
}

/// Checks what concerns several parts at once, and puts the parts together.
fn finish(
    mut problems: Problems,
    root: &Map<String, Value>,
    walked: Walked,
    expanded: &Expanded<'_>,
) -> Checked {
    let Walked { rest, hosts, routers, mut links, mut flows, unused } = walked;
    let all_known = hosts.is_some() && routers.is_some();
    let (hosts, routers) = (hosts.unwrap_or_default(), routers.unwrap_or_default());
    let Expanded { lists, origins, .. } = expanded;
    let mut warnings = unused;
    warnings.written_out(Rc::clone(origins));

    let says_what = match root.get("record") {
        Some(Value::Object(record)) => record.contains_key("kind"),
        other => other.is_some(),
    };
    if flows.len() > MOST_FLOWS_RECORDED && !says_what {
        let interval =
            rest.block("record").and_then(|record| record.word("cwnd")).unwrap_or_default();
        let fault = Fault::new(format!("samples of {} flows are recorded, {interval}", flows.len())).hint(
            "`record: sampled` says that it is meant, `record: all` records every packet, `record: none` nothing",
        );
        warnings.add(&Path::default().key("record"), &Value::Null, fault);
    }

    let names = Names::new(&hosts, &routers, origins.nodes, &mut problems);
    names::check_ids("links", links.iter().map(|link| link.id.as_ref()), &mut problems);
    names::check_ids("flows", flows.iter().map(|flow| flow.id.as_ref()), &mut problems);
    names::check_flows_of_links(&links, &flows, &mut problems);
    let place = Path::default().key("links");
    let ends = links.iter().enumerate().map(|(index, link)| {
        let between = link.between.as_ref().filter(|_| all_known)?;
        names.ends(between, &place.index(index), &mut problems)
    });
    let ends: Vec<Option<[Node; 2]>> = ends.collect();
    let place = Path::default().key("flows");
    let pairs = flows.iter().enumerate().filter(|_| all_known).map(|(index, flow)| {
        let star = |key: &str| origins.star(index, key);
        names.hosts_of(flow, &place.index(index), star, &mut problems)
    });
    let pairs: Vec<Option<(usize, usize)>> = pairs.collect();
    let network = Network::new(hosts.len(), routers.len(), ends.iter().copied(), |_| true);
    let dynamic = rest.word("routing") == Some("distance-vector");
    let ways = paths::resolve(&flows, &names, &ends, &pairs, dynamic, &mut problems);
    let parts = Parts {
        root,
        rest: &rest,
        names: &names,
        flows: &flows,
        ends: &ends,
        pairs: &pairs,
        network: &network,
    };
    limits::check(&parts, &mut problems, &mut warnings);
    if !problems.is_empty() {
        return Checked::failed(problems, warnings);
    }
    let typed_links = typed::links(&mut links, ends);
    let typed_flows = typed::flows(&mut flows, pairs, ways);
    let mut scenario = typed::scenario(&rest, hosts, routers, typed_links, typed_flows);
    buffers::resolve(&mut scenario, &mut problems);
    let values = Values::new(rest, links, flows);
    fit::check(&scenario, &network, &mut problems, &mut warnings);
    // Only a network of many routers can have so long a route.
    let most = ackclock_net::Packet::MOST_HOPS;
    if problems.is_empty() && scenario.routers.len() >= most && longest_route(&scenario) > most {
        let fault = Fault::new("a route of a flow has too many links")
            .allowed(format!("at most {most} links on a route"));
        problems.add(&Path::default().key("links"), &Value::Null, fault);
    }
    if !problems.is_empty() {
        return Checked::failed(problems, warnings);
    }
    without_effect::check(&scenario, &values, Document { root, lists }, &mut warnings);
    Checked {
        problems: Vec::new(),
        warnings: warnings.finish(),
        scenario: Some(scenario),
        values: Some(Arc::new(values)),
    }
}

#[cfg(test)]
mod tests;
