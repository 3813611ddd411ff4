//! Names: unique where they are given, known where they are used.

use super::flows::FlowPart;
use super::links::{LinkPart, Nature};
use super::problems::{Fault, Path, Problems};
use super::scalar::brief;
use crate::model::Node;
use ackclock_units::spelling::nearest;
use serde_json::Value;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// More known names than these are not listed in a message.
const MOST_LISTED: usize = 20;

/// So many names in all are compared with misspelled ones: it takes about a microsecond each.
const MOST_GUESSES: usize = 1_000_000;

/// All nodes by name.
#[derive(Debug, Default)]
pub(super) struct Names<'d> {
    nodes: HashMap<&'d str, Node>,
    hosts: &'d [String],
    routers: &'d [String],
    /// So many names may still be compared with misspelled ones.
    guesses: Cell<usize>,
}

impl<'d> Names<'d> {
    /// Collects the names; reports duplicates. This many hosts and routers at the start
    /// of the lists are `made` by the topology.
    pub fn new(
        hosts: &'d [String],
        routers: &'d [String],
        made: [usize; 2],
        problems: &mut Problems,
    ) -> Self {
        let mut nodes = HashMap::new();
        let all_hosts = hosts.iter().enumerate().map(|(i, name)| ("hosts", i, name, Node::Host(i)));
        let all_routers =
            routers.iter().enumerate().map(|(i, name)| ("routers", i, name, Node::Router(i)));
        for (list, index, name, node) in all_hosts.chain(all_routers) {
            if name.is_empty() {
                continue;
            }
            let Some(first) = nodes.insert(name.as_str(), node) else { continue };
            let message = match (first, node) {
                (Node::Host(first), _) if first < made[0] => {
                    format!("`{name}` is a host of `topology` already")
                }
                (Node::Router(first), _) if first < made[1] => {
                    format!("`{name}` is a router of `topology` already")
                }
                (Node::Host(_), Node::Router(_)) => format!("`{name}` is a host already"),
                _ => format!("`{name}` occurs here twice"),
            };
            let path = Path::default().key(list).index(index);
            let value = Value::from(name.as_str());
            problems.add(
                &path,
                &value,
                Fault::new(message).hint("each node has a name of its own"),
            );
            nodes.insert(name, first);
        }
        Self { nodes, hosts, routers, guesses: Cell::new(MOST_GUESSES) }
    }

    /// Names of the hosts.
    pub fn hosts(&self) -> &'d [String] {
        self.hosts
    }

    /// The name of a node.
    pub fn of(&self, node: Node) -> &'d str {
        match node {
            Node::Host(index) => &self.hosts[index],
            Node::Router(index) => &self.routers[index],
        }
    }

    /// The two nodes of a link; reports unknown names, and links from a node to itself.
    pub fn ends(
        &self,
        between: &[String; 2],
        link: &Path,
        problems: &mut Problems,
    ) -> Option<[Node; 2]> {
        let [one, other] = [0, 1].map(|index| {
            let name = &between[index];
            let found = self.nodes.get(name.as_str()).copied();
            if found.is_none() {
                let all = self.hosts.iter().chain(self.routers);
                let path = link.key("between").index(index);
                problems.add_made(&path, &name.as_str().into(), || {
                    self.unknown("host or router", name, all)
                });
            }
            found
        });
        let ends = [one?, other?];
        if ends[0] == ends[1] {
            let message = format!("a link leads from `{}` to itself", self.of(ends[0]));
            problems.add(&link.key("between"), &between.to_vec().into(), Fault::new(message));
            return None;
        }
        Some(ends)
    }

    fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n String> + Clone,
    ) -> Fault {
        let guesses = self.guesses.get();
        self.guesses.set(guesses.saturating_sub(known.clone().count()));
        let near = nearest(name, known.clone().take(guesses).map(String::as_str));
        Fault::new(format!("unknown {what} `{}`", brief(name)))
            .allowed(listed(known))
            .maybe_hint(near.map(|name| format!("did you mean `{name}`?")))
    }

    /// The routers of these names; reports names that are none, and those that come twice.
    pub fn routers_of(
        &self,
        names: &[String],
        path: &Path,
        problems: &mut Problems,
    ) -> Option<Vec<usize>> {
        let mut routers = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let fault = match self.nodes.get(name.as_str()) {
                Some(Node::Router(router)) if !routers.contains(router) => {
                    routers.push(*router);
                    continue;
                }
                Some(Node::Router(_)) => {
                    Fault::new(format!("`{name}` occurs here twice")).hint("a path has no loops")
                }
                Some(Node::Host(_)) => {
                    Fault::new(format!("`{name}` is a host; a path names routers only"))
                        .allowed(listed(self.routers.iter()))
                }
                None => self.unknown("router", name, self.routers.iter()),
            };
            problems.add(&path.index(index), &name.as_str().into(), fault);
        }
        (routers.len() == names.len()).then_some(routers)
    }

    /// The two hosts of a flow; reports names that are not hosts, and flows from a host to itself.
    /// `star` explains an asterisk in the name under a key.
    pub fn hosts_of(
        &self,
        flow: &FlowPart,
        path: &Path,
        star: impl Fn(&str) -> Option<String>,
        problems: &mut Problems,
    ) -> Option<(usize, usize)> {
        let mut host = |key: &str, name: Option<&String>| {
            let name = name?;
            let found = self.nodes.get(name.as_str());
            if let Some(Node::Host(index)) = found {
                return Some(*index);
            }
            problems.add_made(&path.key(key), &name.as_str().into(), || {
                let fault = match found {
                    Some(_) => {
                        Fault::new(format!("`{name}` is a router; flows run from host to host"))
                            .allowed(listed(self.hosts.iter()))
                    }
                    None => self.unknown("host", name, self.hosts.iter()),
                };
                match star(key) {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                }
            });
            None
        };
        let (from, to) = (host("from", flow.from.as_ref()), host("to", flow.to.as_ref()));
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("a flow from `{}` to itself", self.hosts[from]);
            problems.add(&path.key("to"), &self.hosts[to].as_str().into(), Fault::new(message));
            return None;
        }
        Some((from, to))
    }
}

/// Reports names of flows in the settings of links that no flow has.
pub(super) fn check_flows_of_links(
    links: &[LinkPart],
    flows: &[FlowPart],
    problems: &mut Problems,
) {
    let mut known: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<*const Nature> = HashSet::new();
    for (index, link) in links.iter().enumerate() {
        // What is said of many links is looked at once.
        if !seen.insert(Arc::as_ptr(&link.nature)) {
            continue;
        }
        let path = Path::default().key("links").index(index);
        let [forward, backward] = &link.nature.sides;
        let mut found = Vec::new();
        forward.flow_names(&path, &mut found);
        if backward != forward {
            backward.flow_names(&path.key("backward"), &mut found);
        }
        if !found.is_empty() && known.is_empty() {
            known = flows.iter().filter_map(|flow| flow.id.as_deref()).collect();
        }
        for (path, name) in found.into_iter().filter(|(_, name)| !known.contains(name)) {
            let ids = || flows.iter().filter_map(|flow| flow.id.as_ref());
            problems.add_made(&path, &name.into(), || {
                let near = nearest(name, ids().take(MOST_GUESSES).map(String::as_str));
                Fault::new(format!("unknown flow `{}`", brief(name)))
                    .allowed(listed(ids()))
                    .maybe_hint(near.map(|name| format!("did you mean `{name}`?")))
            });
        }
    }
}

/// Reports ids that occur twice in a list.
pub(super) fn check_ids<'p>(
    list: &str,
    ids: impl Iterator<Item = Option<&'p String>>,
    problems: &mut Problems,
) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (index, id) in ids.enumerate() {
        let Some(id) = id else { continue };
        match first.get(id.as_str()) {
            None => {
                first.insert(id, index);
            }
            Some(earlier) => {
                let all = Path::default().key(list);
                let fault = Fault::new(format!("duplicate id `{id}`"))
                    .hint(format!("`{}` has it already", problems.place(&all.index(*earlier))));
                let path = all.index(index).key("id");
                problems.add(&path, &Value::from(id.as_str()), fault);
            }
        }
    }
}

/// Names in a row, cut where nobody would read on.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names = names.map(String::as_str).filter(|name| !name.is_empty());
    let names: Vec<&str> = names.take(MOST_LISTED + 1).collect();
    match names.get(..MOST_LISTED) {
        Some(shown) if names.len() > MOST_LISTED => format!("{}, ...", shown.join(", ")),
        _ if names.is_empty() => "there are none".into(),
        _ => names.join(", "),
    }
}
