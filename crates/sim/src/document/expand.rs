//! Writes the short forms of a document out: `topology`, flows with `count`, and what `set` sets then.
//!
//! The rest of the check knows links and flows one by one only. [`Origins`] leads its findings back to
//! what the user wrote.

mod set;
mod templates;
mod topology;

use super::origins::Origins;
use super::problems::{Fault, Path};
use super::walk::Walker;
use crate::tables::MOST_ELEMENTS;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// A document without short forms.
pub(super) struct Expanded<'d> {
    pub root: Cow<'d, Map<String, Value>>,
    pub origins: Rc<Origins>,
    /// Whether the whole network is there: not if a faulty topology could not be written out.
    pub complete: bool,
}

/// Writes out what there is to write out; tells the faults of the short forms themselves.
pub(super) fn expand<'d>(walker: &mut Walker, root: &'d Map<String, Value>) -> Expanded<'d> {
    let flows = root.get("flows").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_templates = flows.iter().any(templates::is_short);
    if !has_templates && !root.contains_key("topology") && !root.contains_key("set") {
        let origins = Rc::new(Origins::default());
        return Expanded { root: Cow::Borrowed(root), origins, complete: true };
    }
    let mut origins = Origins::default();
    let mut complete = true;
    let mut out = root.clone();
    out.shift_remove("set");
    if out.shift_remove("topology").is_some() {
        match topology::network(walker, root) {
            Some(network) => network.put_before(&mut out, &mut origins),
            None => complete = false,
        }
    }
    if has_templates {
        out.insert("flows".into(), templates::written_out(walker, flows, &mut origins));
    }
    if let Some(value) = root.get("set") {
        set::apply(walker, value, &mut out, &mut origins, complete);
    }
    Expanded { root: Cow::Owned(out), origins: Rc::new(origins), complete }
}

/// Tells that a short form stands for more than fits.
fn too_many(walker: &mut Walker, path: &Path, value: &Value, count: usize, what: &str) {
    let fault = Fault::new(format!("{count} {what} are too many"))
        .allowed(format!("at most {MOST_ELEMENTS}"));
    walker.problems.add(path, value, fault);
}
