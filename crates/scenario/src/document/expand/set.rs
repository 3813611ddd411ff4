//! Values of single links and flows, applied after short forms are expanded.

use super::super::block::Setting;
use super::super::elements::{Elements, Lists};
use super::super::names::listed;
use super::super::origins::{Origins, SetValue};
use super::super::problems::{Fault, Path, Step};
use super::super::scalar;
use super::super::walk::{Layer, Resolver};
use crate::tables::SET;
use ackclock_units::param::Param;
use ackclock_units::spelling::nearest;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

const FORM: &str =
    "links.ID.KEY or flows.ID.KEY, with more keys for what is inside; `*` for all IDs";

/// Applies the list `set` in its order.
pub(super) fn apply(
    resolver: &mut Resolver,
    value: &Value,
    lists: &mut Lists<'_>,
    origins: &mut Origins,
    complete: bool,
) {
    let place = Path::default().key("set");
    let Value::Array(entries) = value else {
        let fault = scalar::wrong_type(super::super::param("set"), value)
            .hint("for example `set: [{path: flows.F3.tcp.cc, value: reno}]`");
        resolver.problems.add(&place, value, fault);
        return;
    };
    let mut ids = Ids::default();
    for (index, entry) in entries.iter().enumerate() {
        let here = place.index(index);
        let Value::Object(map) = entry else {
            let message = format!("a mapping is needed, not {}", scalar::found(entry));
            resolver.problems.add(&here, entry, Fault::new(message).allowed("path, value"));
            continue;
        };
        let layer = [Layer { map, path: here.clone(), reported: false }];
        resolver.check_keys(SET, map, &here, &layer);
        let path = resolver.setting(param("path"), &layer, &here);
        let Some(value) = map.get("value") else {
            resolver.missing(param("value"), &here);
            continue;
        };
        let Some(Setting::Text(path)) = path else { continue };
        if let Err(fault) = one(&path, value, index, lists, &mut ids, origins)
            // Without the topology nobody knows what there would be.
            && (complete || !path.starts_with("links."))
        {
            resolver.problems.add(&here.key("path"), &Value::from(path), fault);
        }
    }
}

fn param(name: &str) -> &'static Param {
    SET.iter().find(|param| param.name == name).expect("a parameter of set values")
}

/// The elements of both lists by id: many entries find theirs without a walk through all.
type Ids = BTreeMap<&'static str, HashMap<String, usize>>;

/// Sets one value in one or all elements of a list.
fn one(
    path: &str,
    value: &Value,
    index: usize,
    lists: &mut Lists<'_>,
    ids: &mut Ids,
    origins: &mut Origins,
) -> Result<(), Fault> {
    let steps: Vec<&str> = path.split('.').map(str::trim).collect();
    let (list, element, inside) = match steps.as_slice() {
        ["links", element, inside @ ..] if !inside.is_empty() => ("links", *element, inside),
        ["flows", element, inside @ ..] if !inside.is_empty() => ("flows", *element, inside),
        _ => return Err(Fault::new("this is not a value of a link or flow").allowed(FORM)),
    };
    if inside.iter().any(|step| step.is_empty()) {
        return Err(Fault::new("a path is keys, ids or indexes with dots between").allowed(FORM));
    }
    let Some(elements) = lists.get_mut(list) else {
        return Err(Fault::new(format!("there are no {list}")));
    };
    let places = find(elements, ids, element, list)?;
    if inside[0] == "id" {
        ids.remove(list);
    }
    for at in places {
        let mut done = Vec::new();
        put(elements.change(at), inside, value, &mut done)?;
        origins.set.push(SetValue { list, element: at, inside: done, index });
    }
    Ok(())
}

/// The indexes of the elements that a step means.
fn find(
    elements: &Elements<'_>,
    ids: &mut Ids,
    step: &str,
    list: &'static str,
) -> Result<Vec<usize>, Fault> {
    if step == "*" {
        return Ok((0..elements.len()).collect());
    }
    let id = |index: usize| Some(elements.get(index).get("id")?.as_str()?.to_owned());
    let known = ids.entry(list).or_insert_with(|| {
        // The first of several counts, so it is put in last.
        (0..elements.len()).rev().filter_map(|index| Some((id(index)?, index))).collect()
    });
    let numbered = || step.parse().ok().filter(|index| *index < elements.len());
    known.get(step).copied().or_else(numbered).map(|index| vec![index]).ok_or_else(|| {
        let ids: Vec<String> = (0..elements.len()).filter_map(id).collect();
        let near = nearest(step, ids.iter().map(String::as_str));
        Fault::new(format!("there is no `{}` in `{list}`", scalar::brief(step)))
            .allowed(listed(ids.iter()))
            .maybe_hint(near.map(|name| format!("did you mean `{name}`?")))
    })
}

/// Puts a value into an element, and notes the steps as the document spells them.
fn put(
    inner: &mut Value,
    steps: &[&str],
    value: &Value,
    done: &mut Vec<Step>,
) -> Result<(), Fault> {
    let [step, rest @ ..] = steps else {
        *inner = value.clone();
        return Ok(());
    };
    match inner {
        Value::Null => *inner = Value::Object(Map::new()),
        // A word with a parameter is a mapping with a kind; that of `tcp` is a preset.
        Value::String(word) => {
            let is_tcp = matches!(done.last(), Some(Step::Key(key)) if key == "tcp");
            let key = if is_tcp { "preset" } else { "kind" };
            let word = std::mem::take(word);
            *inner = Value::Object(Map::from_iter([(key.to_owned(), word.into())]));
        }
        _ => {}
    }
    match inner {
        Value::Object(map) => {
            let key = step.replace('-', "_");
            done.push(Step::Key(key.clone()));
            put(map.entry(key).or_insert(Value::Null), rest, value, done)
        }
        Value::Array(values) => {
            let most = values.len();
            let found =
                step.parse().ok().and_then(|index: usize| Some((index, values.get_mut(index)?)));
            let Some((index, inner)) = found else {
                return Err(Fault::new(format!("`{step}` is not a place in a list of {most}")));
            };
            done.push(Step::Index(index));
            put(inner, rest, value, done)
        }
        other => {
            let message = format!("nothing can be set in {}", scalar::found(other));
            Err(Fault::new(message))
        }
    }
}
