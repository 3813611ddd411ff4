//! Writes the short forms of a document out: `topology`, flows with `count`, and what `set` sets then.
//!
//! The rest of the check knows links and flows one by one only, and asks for one at a time, so that there
//! never are thousands of mappings that say the same. [`Origins`] leads its findings back to what the user
//! wrote.

mod set;
pub(super) mod templates;
mod topology;

use super::elements::{Listed, Lists};
use super::origins::Origins;
use super::problems::{Fault, Path};
use super::walk::Resolver;
use crate::tables::MOST_ELEMENTS;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A document without short forms.
pub(super) struct Expanded<'d> {
    pub lists: Lists<'d>,
    pub origins: Rc<Origins>,
    /// Whether the whole network is there: not if a faulty topology could not be written out.
    pub complete: bool,
}

/// Writes out what there is to write out; reports the faults of the short forms themselves.
pub(super) fn expand<'d>(
    resolver: &mut Resolver,
    root: &'d Map<String, Value>,
    listed: BTreeMap<&'static str, Listed<'d>>,
) -> Expanded<'d> {
    let mut lists = Lists::new();
    let mut origins = Origins::default();
    let mut complete = true;
    if root.contains_key("topology") {
        match topology::network(resolver, root) {
            Some(network) => network.put_into(root, &mut lists, &mut origins),
            None => complete = false,
        }
    }
    for (list, Listed { count, get }) in listed {
        lists.entry(list).or_default().add_made(count, get);
    }
    for list in ["hosts", "routers", "links"] {
        if let Some(Value::Array(written)) = root.get(list) {
            lists.entry(list).or_default().add(written);
        }
    }
    if let Some(Value::Array(flows)) = root.get("flows") {
        templates::put_into(resolver, flows, lists.entry("flows").or_default(), &mut origins);
    }
    if let Some(value) = root.get("set") {
        set::apply(resolver, value, &mut lists, &mut origins, complete);
    }
    Expanded { lists, origins: Rc::new(origins), complete }
}

/// Reports that a short form expands to more than fits.
fn too_many(resolver: &mut Resolver, path: &Path, value: &Value, count: usize, what: &str) {
    let fault = Fault::new(format!("{count} {what} are too many"))
        .allowed(format!("at most {MOST_ELEMENTS}"));
    resolver.problems.add(path, value, fault);
}
