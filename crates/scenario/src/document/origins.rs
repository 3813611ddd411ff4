//! Where the parts of a document come from whose short forms were written out.
//!
//! Checks speak about the document as it is written out (`links.7.rate`); a user wants to know the
//! place in the file (`topology.access.rate`).

use super::problems::Step;
use std::rc::Rc;

/// The origins of all elements of the lists. By default everything stands where it was written.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Hosts and routers of the topology, which come before the written ones.
    pub nodes: [usize; 2],
    /// Links of the topology, which come before the written ones: their block, and their place in it.
    pub links: Vec<(Rc<LinkBlock>, usize)>,
    /// Where flows come from, one entry for each that was written; empty if all are as they were written.
    pub flows: Vec<FlowOrigin>,
    /// Values that were set last, in order.
    pub set: Vec<SetValue>,
}

/// What the links of one block of a topology have in common.
#[derive(Debug, Default)]
pub(super) struct LinkBlock {
    /// Names of the blocks; the first that says something wins.
    pub names: &'static [&'static str],
    /// Where the values come from: key, block, and the number of values if it is a list.
    pub keys: Vec<(String, &'static str, Option<usize>)>,
}

/// Where flows come from.
#[derive(Debug, Clone)]
pub(super) struct FlowOrigin {
    /// Index of the first of them.
    pub first: usize,
    /// Index of the written flow.
    pub written: usize,
    /// The short form, if it makes several.
    pub template: Option<Rc<Template>>,
}

/// A flow with `count`.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub count: usize,
    /// Names with an asterisk, by key.
    pub starred: Vec<(&'static str, String)>,
    /// Whether each flow has a start of its own.
    pub lists_starts: bool,
}

/// A value of one element that `set` has set.
#[derive(Debug)]
pub(super) struct SetValue {
    /// `links` or `flows`.
    pub list: &'static str,
    /// Index of the element in the list as it is written out.
    pub element: usize,
    /// What leads to the value inside of the element.
    pub inside: Vec<Step>,
    /// Index in `set`.
    pub index: usize,
}

/// A place in the document as the user wrote it.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    pub steps: Vec<Step>,
    /// Whether several elements come from there, so that one fault shows many times.
    pub shared: bool,
}

impl Origins {
    /// The place that was written for a place in the document as it is written out.
    pub fn of(&self, steps: Vec<Step>) -> Place {
        let (list, element, rest) = match steps.as_slice() {
            [Step::Key(list), Step::Index(element), rest @ ..] => (list.as_str(), *element, rest),
            [Step::Key(list)] if list == "links" && !self.links.is_empty() => {
                return Place { steps: topology(&[]), shared: false };
            }
            _ => return Place { steps, shared: false },
        };
        let set = self.set.iter().rev().find(|set| {
            set.list == list && set.element == element && rest.starts_with(&set.inside)
        });
        if let Some(set) = set {
            let mut place = vec![key("set"), Step::Index(set.index), key("value")];
            place.extend_from_slice(&rest[set.inside.len()..]);
            return Place { steps: place, shared: true };
        }
        match list {
            "hosts" => self.node(0, element, &steps),
            "routers" => self.node(1, element, &steps),
            "links" => match self.links.get(element) {
                Some((block, place)) => Place { steps: block.of(*place, rest), shared: true },
                None => written("links", element - self.links.len(), rest, false),
            },
            "flows" => match self.flow(element) {
                Some(FlowOrigin { first, written: index, template }) => {
                    let mut place = written("flows", *index, rest, template.is_some());
                    let own_start = template.as_ref().is_some_and(|t| t.lists_starts);
                    if own_start && rest.first() == Some(&key("start")) {
                        place.steps.insert(3, Step::Index(element - first));
                    }
                    place
                }
                None => Place { steps, shared: false },
            },
            _ => Place { steps, shared: false },
        }
    }

    /// What the asterisk in a name of a flow stands for, if there is one.
    pub fn star(&self, flow: usize, name: &str) -> Option<String> {
        let template = self.flow(flow)?.template.as_ref()?;
        let (_, written) = template.starred.iter().find(|(key, _)| *key == name)?;
        Some(format!("`*` in `{written}` is the number of the flow, 1 to {}", template.count))
    }

    fn flow(&self, flow: usize) -> Option<&FlowOrigin> {
        let next = self.flows.partition_point(|origin| origin.first <= flow);
        self.flows.get(next.checked_sub(1)?)
    }

    fn node(&self, kind: usize, element: usize, steps: &[Step]) -> Place {
        match element.checked_sub(self.nodes[kind]) {
            None => Place { steps: topology(&[]), shared: false },
            Some(index) => {
                let mut steps = steps.to_vec();
                steps[1] = Step::Index(index);
                Place { steps, shared: false }
            }
        }
    }
}

impl LinkBlock {
    fn of(&self, place: usize, rest: &[Step]) -> Vec<Step> {
        let (Some(own), Some(last)) = (self.names.first(), self.names.last()) else {
            return topology(&[]);
        };
        let Some(Step::Key(first)) = rest.first() else { return topology(&[key(own)]) };
        match self.keys.iter().find(|(name, ..)| name == first) {
            Some((name, block, values)) => {
                let mut steps = topology(&[key(block), key(name)]);
                steps.extend(values.map(|values| Step::Index(place % values)));
                steps.extend_from_slice(&rest[1..]);
                steps
            }
            // Names and ends are made by the topology.
            None if first == "id" || first == "between" => topology(&[key(own)]),
            // What is missing is best said where all the others take it from.
            None => topology(&[&[key(last)], rest].concat()),
        }
    }
}

fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

fn topology(inside: &[Step]) -> Vec<Step> {
    std::iter::once(key("topology")).chain(inside.iter().cloned()).collect()
}

fn written(list: &str, index: usize, rest: &[Step], shared: bool) -> Place {
    let mut steps = vec![key(list), Step::Index(index)];
    steps.extend_from_slice(rest);
    Place { steps, shared }
}
