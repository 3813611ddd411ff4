//! Settings that are right by themselves and have no effect in this network: warnings about what the user wrote.
//!
//! What profiles, presets and tables say is not the user's, and a value that says the same is not worth a warning.
//! Where a value is written for several flows or links, it has no effect only if it has none on any of them. A route
//! that is not known before the run may lead anywhere.

mod changes;
mod losses;
mod marks;
mod senders;

use super::elements::Lists;
use super::problems::{Fault, Path, Problems};
use super::written::Values;
use crate::compile::{Way, ways};
use crate::model::Scenario;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Adds the warnings about a scenario without faults; `root` and `lists` are its document, short forms written out.
pub(super) fn check(
    scenario: &Scenario,
    values: &Values,
    document: Document<'_>,
    warnings: &mut Problems,
) {
    let routes = Routes { scenario, known: OnceCell::new() };
    let mut findings = Findings { document, found: Vec::new(), places: HashMap::new(), warnings };
    senders::check(values, &mut findings);
    marks::check(scenario, &routes, &mut findings);
    losses::check(scenario, &routes, &mut findings);
    changes::check(scenario, &mut findings);
    findings.report();
}

/// What the user wrote.
#[derive(Clone, Copy)]
pub(super) struct Document<'d> {
    pub root: &'d Map<String, Value>,
    pub lists: &'d Lists<'d>,
}

/// The keys of the two directions of a link.
const SIDES: [&str; 2] = ["forward", "backward"];

impl Document<'_> {
    /// Where a value inside of a flow's `tcp` or `udp` is written, and the value; none if it is not the user's.
    fn of_flow(self, flow: usize, keys: &[&str]) -> Option<Written> {
        let element = self.lists.get("flows")?.get(flow);
        let own = (Some(&*element), Path::default().key("flows").index(flow));
        [own, self.defaults()].into_iter().find_map(|layer| written(layer, keys))
    }

    /// The same of one direction of a link, inside of a model of this kind.
    fn of_side(self, place: Place, kind: &str, keys: [&str; 2]) -> Option<Written> {
        let element = self.lists.get("links")?.get(place.0);
        let (link, (defaults, path)) =
            (Path::default().key("links").index(place.0), self.defaults());
        let side = SIDES[place.1];
        let layers = [
            (element.get(side), link.key(side)),
            (Some(&*element), link),
            (defaults.and_then(|defaults| defaults.get("link")), path.key("link")),
        ];
        let same = |layer: &Option<&Value>| {
            let said = layer.and_then(|layer| layer.get(keys[0])?.get("kind"));
            said.is_none_or(|said| said == kind)
        };
        let mut layers = layers.into_iter().filter(|(layer, _)| same(layer));
        layers.find_map(|layer| written(layer, &keys))
    }

    fn defaults(&self) -> (Option<&Value>, Path) {
        (self.root.get("defaults"), Path::default().key("defaults"))
    }
}

/// A value that the user wrote, and its place.
type Written = (Path, Value);

fn written((layer, path): (Option<&Value>, Path), keys: &[&str]) -> Option<Written> {
    let value = keys.iter().try_fold(layer?, |value, key| value.get(key))?;
    Some((keys.iter().fold(path, |path, key| path.key(key)), value.clone()))
}

/// A link by its index, and 1 for its backward direction. A half-duplex link has one direction.
type Place = (usize, usize);

/// What was found out about places of the document.
struct Findings<'d, 'p> {
    document: Document<'d>,
    found: Vec<Finding>,
    /// Findings by their places as the user wrote them.
    places: HashMap<String, usize>,
    warnings: &'p mut Problems,
}

/// A value at a place, and why it has no effect; without a reason where it has one somewhere.
struct Finding {
    path: Path,
    value: Value,
    why: Option<Fault>,
}

impl Findings<'_, '_> {
    /// Takes in that a written value has no effect on one more flow or link, or, without a reason, that it has one.
    fn note(&mut self, (path, value): Written, why: Option<Fault>) {
        let place = self.warnings.place(&path);
        match self.places.get(&place) {
            Some(&known) if why.is_none() => self.found[known].why = None,
            Some(_) => {}
            None => {
                self.places.insert(place, self.found.len());
                self.found.push(Finding { path, value, why });
            }
        }
    }

    fn report(self) {
        for Finding { path, value, why } in self.found {
            if let Some(why) = why {
                self.warnings.add(&path, &value, why);
            }
        }
    }
}

/// That a value has no effect, and why.
fn none(key: &str, why: &str) -> Fault {
    Fault::new(format!("`{key}` has no effect: {why}"))
}

/// The ways of all flows, found when somebody asks.
struct Routes<'s> {
    scenario: &'s Scenario,
    known: OnceCell<Vec<[Way; 2]>>,
}

impl Routes<'_> {
    /// Whether the ways of packets are known before the run.
    fn are_known(&self) -> bool {
        self.scenario.routing.kind == "shortest-path"
    }

    /// The places that the data of a flow cross (0), or its ACKs (1).
    fn of(&self, flow: usize, way: usize) -> impl Iterator<Item = Place> {
        let known = self.known.get_or_init(|| ways(self.scenario));
        known[flow][way].iter().map(|&(link, back)| {
            let shared = self.scenario.links[link].half_duplex;
            (link, if shared { 0 } else { usize::from(back) })
        })
    }
}
