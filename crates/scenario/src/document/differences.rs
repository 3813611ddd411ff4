//! What differs between two checked scenarios, as their documents with all defaults filled in spell it.
//!
//! Most links and flows of two large networks are alike. Only those that are not become documents, two at a time.

use super::Checked;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Takes the place of a difference, and what either document has there.
pub type Found<'f> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'f;

impl Checked {
    /// Hands out the values that two documents do not share, in the order of the first. A place is spelled as in an
    /// override; a link or a flow is compared with that of the same id.
    pub fn differences(&self, other: &Self, found: &mut Found<'_>) {
        let (Some((one, mine)), Some((other, theirs))) = (self.writer(), other.writer()) else {
            return;
        };
        let [first, second] = [one.rest_document(mine), other.rest_document(theirs)];
        members("", &first, &second, &mut |key, first, second| match key {
            "links" => {
                let sides = [(one, mine), (other, theirs)].map(|(writer, values)| Side {
                    ids: writer.scenario.links.iter().map(|link| link.id.as_str()).collect(),
                    shared: &values.links,
                    own: Box::new(move |at| {
                        writer.link_head(&writer.scenario.links[at], "between")
                    }),
                    whole: Box::new(move |at| {
                        writer.link_document(&writer.scenario.links[at], &values.links[at])
                    }),
                });
                elements(key, sides, |nature| Arc::as_ptr(nature).cast(), found);
            }
            "flows" => {
                let sides = [(one, mine), (other, theirs)].map(|(writer, values)| Side {
                    ids: writer.scenario.flows.iter().map(|flow| flow.id.as_str()).collect(),
                    shared: &values.flows,
                    own: Box::new(move |at| {
                        writer.flow_without_transport(&writer.scenario.flows[at])
                    }),
                    whole: Box::new(move |at| {
                        writer.flow_document(&writer.scenario.flows[at], &values.flows[at])
                    }),
                });
                elements(key, sides, |transport| Arc::as_ptr(transport.named().1).cast(), found);
            }
            _ => values(key, first, second, found),
        });
    }
}

/// The links or the flows of one of the documents.
struct Side<'s, S> {
    ids: Vec<&'s str>,
    /// What each may have in common with others.
    shared: &'s [S],
    /// What else there is to it.
    own: Box<dyn Fn(usize) -> Map<String, Value> + 's>,
    /// Its document.
    whole: Box<dyn Fn(usize) -> Value + 's>,
}

/// Compares links or flows. What has the same `address` is the same.
fn elements<S: PartialEq>(
    key: &str,
    [one, other]: [Side<'_, S>; 2],
    address: impl Fn(&S) -> *const (),
    found: &mut Found<'_>,
) {
    let places: HashMap<&str, usize> = other.ids.iter().copied().zip(0..).collect();
    let mut alike = HashMap::new();
    for (at, id) in one.ids.iter().enumerate() {
        let place = format!("{key}.{id}");
        let Some(&there) = places.get(id) else {
            found(&place, Some(&(one.whole)(at)), None);
            continue;
        };
        let (mine, theirs) = (&one.shared[at], &other.shared[there]);
        let shared = alike.entry((address(mine), address(theirs)));
        if !*shared.or_insert_with(|| mine == theirs) || (one.own)(at) != (other.own)(there) {
            values(&place, Some(&(one.whole)(at)), Some(&(other.whole)(there)), found);
        }
    }
    let known: HashSet<&str> = one.ids.into_iter().collect();
    for (at, id) in other.ids.iter().enumerate().filter(|(_, id)| !known.contains(*id)) {
        found(&format!("{key}.{id}"), None, Some(&(other.whole)(at)));
    }
}

fn values(place: &str, one: Option<&Value>, other: Option<&Value>, found: &mut Found<'_>) {
    match (one, other) {
        _ if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            members(&format!("{place}."), one, other, &mut |place, one, other| {
                values(place, one, other, found);
            });
        }
        _ => found(place, one, other),
    }
}

fn members(
    above: &str,
    one: &Map<String, Value>,
    other: &Map<String, Value>,
    each: &mut Found<'_>,
) {
    for (key, value) in one {
        each(&format!("{above}{key}"), Some(value), other.get(key));
    }
    for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
        each(&format!("{above}{key}"), None, Some(value));
    }
}
