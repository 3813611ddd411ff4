//! Flows from their short form: `count`, and destinations and starts that depend on the number of the flow.

use super::super::block::Setting;
use super::super::elements::Elements;
use super::super::flows::{ROUTERS, param};
use super::super::origins::{FlowOrigin, Origins, Template};
use super::super::problems::{Fault, Path};
use super::super::scalar;
use super::super::walk::{Layer, Resolver};
use super::too_many;
use crate::fitting::fitting;
use crate::pattern::Pattern;
use crate::start::SPREAD;
use crate::tables::MOST_ELEMENTS;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};
use std::rc::Rc;

/// Keys in which an asterisk is the number of the flow.
const STARRED: [&str; 3] = ["id", "from", "to"];

/// When the flows of one template start.
enum Starts<'d> {
    /// As it is written, or not said.
    Same(Option<&'d Value>),
    /// A list with one a flow.
    Listed(&'d [Value]),
    /// Evenly over a span, nanoseconds.
    Spread { from: u64, over: u64 },
}

/// Whether there is something to write out.
pub(in super::super) fn is_short(flow: &Value) -> bool {
    let short = |flow: &Map<String, Value>| {
        flow.contains_key("count") || flow.contains_key("pattern") || is_spread(flow)
    };
    flow.as_object().is_some_and(short)
}

fn is_spread(flow: &Map<String, Value>) -> bool {
    match flow.get("start") {
        Some(Value::Object(start)) => start.get("kind").is_some_and(|kind| kind == SPREAD.name),
        Some(Value::String(word)) => word == SPREAD.name,
        _ => false,
    }
}

/// Adds all flows one by one.
pub(super) fn put_into<'d>(
    resolver: &mut Resolver,
    flows: &'d [Value],
    all: &mut Elements<'d>,
    origins: &mut Origins,
) {
    if !flows.iter().any(is_short) {
        return all.add(flows);
    }
    for (written, flow) in flows.iter().enumerate() {
        let path = Path::default().key("flows").index(written);
        let first = all.len();
        let template = match flow {
            Value::Object(map) if is_short(flow) => {
                let room = MOST_ELEMENTS.saturating_sub(first);
                let (template, starts, pattern) = read(resolver, map, &path, room);
                let template = template.map(Rc::new);
                let own = template.clone();
                let count = template.as_ref().map_or(1, |template| template.count);
                all.add_made(count, move |index| {
                    Value::Object(one(map, own.as_deref(), &starts, &pattern, index + 1))
                });
                template
            }
            _ => {
                all.add(std::slice::from_ref(flow));
                None
            }
        };
        origins.flows.push(FlowOrigin { first, written, template });
    }
}

/// What a short form says; there is no template without `count`.
fn read<'d>(
    resolver: &mut Resolver,
    map: &'d Map<String, Value>,
    path: &Path,
    room: usize,
) -> (Option<Template>, Starts<'d>, Pattern) {
    let count = map.get("count").map(|value| match scalar::read(param("count"), value) {
        Ok(Setting::Count(count)) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if count > room {
                let all = count.saturating_add(MOST_ELEMENTS - room);
                too_many(resolver, &path.key("count"), value, all, "flows");
            }
            // The rest is checked with one of them.
            (count, if count > room { 1 } else { count })
        }
        Ok(_) => (1, 1),
        Err(fault) => {
            resolver.problems.add(&path.key("count"), value, fault);
            (1, 1)
        }
    });
    let starts = starts(resolver, map, path, count.map(|(asked, _)| asked));
    let pattern = pattern(resolver, map, path, count.map(|(_, count)| count));
    let template = count.map(|(_, count)| Template {
        count,
        starred: STARRED
            .iter()
            .filter_map(|key| Some((*key, map.get(*key)?.as_str()?.to_owned())))
            .filter(|(_, name)| name.contains('*'))
            .collect(),
        lists_starts: matches!(starts, Starts::Listed(_)),
    });
    (template, starts, pattern)
}

/// Which number the asterisk in `to` is.
fn pattern(
    resolver: &mut Resolver,
    map: &Map<String, Value>,
    path: &Path,
    count: Option<usize>,
) -> Pattern {
    let Some(value) = map.get("pattern") else { return Pattern::Pairs };
    let fault = match (count, map.get("to")) {
        (None, _) => Some("a pattern needs several flows: `count` is missing"),
        (_, Some(Value::String(to))) if !to.contains('*') => {
            Some("a pattern says which number `*` in `to` is, and there is none")
        }
        (Some(1), _) if map["count"] == 1 => Some("one flow makes no pattern"),
        _ => None,
    };
    if let Some(message) = fault {
        let hint = "for example `{id: F, count: 16, from: H*, to: H*, pattern: permutation}`";
        resolver.problems.add(&path.key("pattern"), value, Fault::new(message).hint(hint));
        return Pattern::Pairs;
    }
    let own = Layer { map, path: path.clone(), reported: false };
    let read = resolver.setting(param("pattern"), std::slice::from_ref(&own), path);
    // Too many flows, or a faulty number of them, were reported and count as one.
    match (read, count) {
        (Some(Setting::Block(chosen)), Some(count @ 2..)) if chosen.is_complete() => {
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
            Pattern::of(&chosen.chosen(), id, count)
        }
        _ => Pattern::Pairs,
    }
}

fn starts<'d>(
    resolver: &mut Resolver,
    map: &'d Map<String, Value>,
    path: &Path,
    count: Option<usize>,
) -> Starts<'d> {
    let value = map.get("start");
    match (value, count) {
        (Some(Value::Array(starts)), Some(count)) => {
            if starts.len() == count {
                return Starts::Listed(starts);
            }
            let [values, flows] = [(starts.len(), "start"), (count, "flow")]
                .map(|(n, what)| format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
            let fault = Fault::new(format!("{values} for {flows}"))
                .allowed("a time, a list with one start a flow, or a mapping with `kind`")
                .hint("evenly: `{kind: spread, over: 1 s}`; drawn: `{kind: uniform, to: 1 s}`");
            resolver.problems.add(&path.key("start"), &map["start"], fault);
            Starts::Same(None)
        }
        _ if is_spread(map) => {
            let own = Layer { map, path: path.clone(), reported: false };
            let read = resolver.setting(param("start"), std::slice::from_ref(&own), path);
            let int = |key: &str| match &read {
                Some(Setting::Block(rule)) => rule.int(key),
                _ => None,
            };
            match (int("from"), int("over")) {
                (Some(from), Some(over)) => Starts::Spread { from, over },
                // Reported above.
                _ => Starts::Same(None),
            }
        }
        _ => Starts::Same(value),
    }
}

/// The flow of this number, from 1.
fn one(
    map: &Map<String, Value>,
    template: Option<&Template>,
    starts: &Starts<'_>,
    pattern: &Pattern,
    number: usize,
) -> Map<String, Value> {
    let mut flow = Map::with_capacity(map.len());
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("count" | "pattern", _) => continue,
            ("start", _) => match starts {
                Starts::Same(None) => continue,
                Starts::Same(Some(value)) => (*value).clone(),
                Starts::Listed(values) => values[number - 1].clone(),
                Starts::Spread { from, over } => {
                    let of = template.map_or(1, |template| template.count) as u128;
                    let after = u128::from(*over) * (number as u128 - 1) / of;
                    Quantity::Time(from + fitting::<_, u64>(after)).to_string().into()
                }
            },
            ("id", Value::String(id)) if template.is_some() && !id.contains('*') => {
                format!("{id}{number}").into()
            }
            (key, Value::String(name)) if template.is_some() && STARRED.contains(&key) => {
                let number = if key == "to" { pattern.to(number) } else { number };
                name.replace('*', &number.to_string()).into()
            }
            (key, Value::Array(routers)) if template.is_some() && ROUTERS.contains(&key) => {
                let numbered = |name: &Value| match name {
                    Value::String(name) => name.replace('*', &number.to_string()).into(),
                    other => other.clone(),
                };
                routers.iter().map(numbered).collect()
            }
            _ => value.clone(),
        };
        flow.insert(key.clone(), value);
    }
    flow
}
