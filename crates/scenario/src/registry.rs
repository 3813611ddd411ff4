//! Everything that a scenario can name, described for help and reference pages.

use crate::document::scalar::dimensions;
use crate::preset::{Preset, linux_cc};
use crate::profile::PROFILES;
use crate::record;
use crate::tables;
use ackclock_units::param::{Choice, Default, Entry, Kind, Param};
use ackclock_units::quantity::Dimension;
use serde_json::{Map, Value, json};

/// The registries by name. Those of loss recoveries, one a family of senders, have one name.
pub(crate) static REGISTRIES: &[(&str, &[&Entry])] = &[
    ("preset", crate::preset::ENTRIES),
    ("sender", ackclock_tcp::connection::ENTRIES),
    ("cc", ackclock_tcp::cc::ENTRIES),
    ("recovery", ackclock_tcp::selective::recovery::ENTRIES),
    ("recovery", ackclock_tcp::classic::recovery::ENTRIES),
    ("rto", ackclock_tcp::rto::ENTRIES),
    ("queue", ackclock_net::queue::ENTRIES),
    ("routing", ackclock_net::routing::ENTRIES),
    ("rate", ackclock_net::rate::ENTRIES),
    ("loss", ackclock_net::loss::ENTRIES),
    ("jitter", ackclock_net::jitter::ENTRIES),
    ("receiver", ackclock_tcp::receiver::ENTRIES),
    ("receiver", ackclock_tcp::modern::receiver::ENTRIES),
    ("source", ackclock_net::source::ENTRIES),
    ("period", ackclock_net::source::period::ENTRIES),
    ("handshake", ackclock_tcp::handshake::ENTRIES),
    ("ties", ackclock_engine::ties::ENTRIES),
    ("topology", crate::shape::ENTRIES),
    ("start", crate::start::ENTRIES),
    ("send", crate::transfer::ENTRIES),
    ("pattern", crate::pattern::ENTRIES),
];

/// The mappings of a document: name, meaning, table.
pub(crate) static BLOCKS: &[(&str, &str, &[Param])] = &[
    ("scenario", "The whole document.", tables::SCENARIO),
    ("defaults", "Defaults of a scenario for its links and flows.", tables::DEFAULTS),
    ("link", "A link between two nodes.", tables::LINK),
    ("link-defaults", "What a scenario can say for all its links.", tables::LINK_DEFAULTS),
    (
        "link-of-shape",
        "What a short form of a network says about its links; each value may be a list, one a link.",
        tables::LINK_OF_SHAPE,
    ),
    ("direction", "One direction of a full-duplex link.", tables::DIRECTION),
    ("change", "Something that happens to a link at a time.", tables::CHANGE),
    ("flow", "A flow from host to host.", tables::FLOW),
    ("set", "A value of a single link or flow.", tables::SET),
    ("tcp", "Reliable transport with congestion control.", tables::TCP),
    ("udp", "A source without feedback.", tables::UDP),
    ("stop", "When a run ends.", tables::STOP),
];

/// Whether two tables are the same one. (Their addresses need not be: the compiler may copy constants.)
pub(crate) fn same_table(a: &[Param], b: &[Param]) -> bool {
    let texts = |table: &[Param]| table.iter().map(|p| (p.name, p.summary)).collect::<Vec<_>>();
    texts(a) == texts(b)
}

/// The name of the registry that has these entries.
pub(crate) fn name_of(entries: &[&Entry]) -> Option<&'static str> {
    REGISTRIES.iter().find(|(_, known)| same_entries(known, entries)).map(|(name, _)| *name)
}

fn same_entries(a: &[&Entry], b: &[&Entry]) -> bool {
    let texts = |all: &[&Entry]| all.iter().map(|e| (e.name, e.summary)).collect::<Vec<_>>();
    texts(a) == texts(b)
}

/// All registries, profiles and blocks as a JSON object of lists.
///
/// An entry has `name`, `label`, `summary`, `references`, `params`, `defect`, `sender` if it belongs to one family
/// of senders, and `defaults`: what a preset sets, or what a congestion control has with the modern sender; a parameter has `name`, `kind`,
/// `unit` (the usual one, or null), `default` (as text; null if a value must be given), `min`, `max`,
/// `summary`, and `choices` (null where any value of the kind may stand).
pub fn registry() -> Value {
    let mut all = Map::new();
    for (name, entries) in REGISTRIES {
        let known = all.entry(*name).or_insert_with(|| json!([]));
        let known = known.as_array_mut().expect("a list of entries");
        known.extend(entries.iter().map(|entry| {
            let mut described = described(entry);
            if let Some(preset) = Preset::named(entry.name).filter(|_| *name == "preset") {
                let all = preset.of_sender().iter().chain(preset.of_receiver());
                described["defaults"] =
                    all.map(|(key, value)| (key.clone(), value.clone())).collect();
            }
            if let Some(settings) =
                linux_cc().into_iter().find(|cc| *name == "cc" && cc["kind"] == entry.name)
            {
                described["defaults"] = settings;
            }
            if let Some(family) = family_of(entries) {
                described["sender"] = family.into();
            }
            described
        }));
    }
    let profiles = PROFILES.iter().map(|profile| {
        let mut entry = described(&profile.entry);
        entry["defaults"] = crate::profile::document(profile.entry.name).cloned().into();
        entry
    });
    all.insert("profile".into(), profiles.collect());
    let blocks = BLOCKS.iter().chain([&record::BLOCK]).map(|(name, summary, params)| {
        let params: Vec<Value> = params.iter().map(param).collect();
        json!({
            "name": name, "summary": summary, "references": [], "params": params, "defect": false,
        })
    });
    all.insert("block".into(), blocks.collect());
    Value::Object(all)
}

fn described(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "references": entry.references,
        "params": entry.params.iter().map(param).collect::<Vec<_>>(),
        "defect": entry.defect,
        "label": entry.label(),
        "state": entry.state,
    })
}

/// The family of senders to which a registry belongs, if one alone has it.
fn family_of(entries: &'static [&'static Entry]) -> Option<&'static str> {
    let has = |family: &&&Entry| {
        family.params.iter().any(|param| match param.kind {
            Kind::Registered(known) => same_entries(known, entries),
            _ => false,
        })
    };
    let mut families = ackclock_tcp::connection::ENTRIES.iter().filter(has);
    // What only one family has is its own only if it has a name that others use, too.
    let own = families.next().filter(|_| families.next().is_none())?;
    let name = name_of(entries)?;
    (REGISTRIES.iter().filter(|(other, _)| *other == name).count() > 1).then_some(own.name)
}

/// The family of senders of an entry, where another one of the same registry's name has an entry of this name.
pub(crate) fn family_of_entry(registry: &str, entry: &Entry) -> Option<&'static str> {
    let named = |(name, _): &&(&str, &'static [&'static Entry])| *name == registry;
    let has = |entries: &[&Entry]| entries.iter().any(|other| other.name == entry.name);
    let mut all = REGISTRIES.iter().filter(named).filter(|(_, entries)| has(entries));
    if all.clone().count() < 2 {
        return None;
    }
    let own = |entries: &[&Entry]| entries.iter().any(|other| std::ptr::eq(*other, entry));
    family_of(all.find(|(_, entries)| own(entries)).expect("an entry of the registry").1)
}

fn param(param: &Param) -> Value {
    let default = match param.default {
        Default::Required => None,
        Default::Absent => Some(param.word.unwrap_or("none")),
        Default::Is(text) => Some(text),
    };
    json!({
        "name": param.name,
        "kind": match value_of(param) {
            Some(inner) => format!("{} or mapping", kind_name(inner.kind)),
            None => kind_name(param.kind).to_owned(),
        },
        "unit": unit(param.kind),
        "default": default,
        "min": param.min,
        "max": param.max,
        "summary": param.summary,
        "choices": choices(param.kind),
    })
}

/// The parameter whose bare value may stand for a registered thing.
pub(crate) fn value_of(param: &Param) -> Option<&'static Param> {
    let (kind, inner) = param.value_of?;
    let Kind::Registered(entries) = param.kind else { return None };
    let entry = entries.iter().find(|entry| entry.name == kind)?;
    entry.params.iter().find(|param| param.name == inner)
}

fn choices(kind: Kind) -> Option<Vec<Value>> {
    let one = |name: &str, summary: &str, defect: bool| json!({ "name": name, "summary": summary, "defect": defect });
    match kind {
        Kind::Choice(choices) | Kind::Sampling(choices) => {
            let described = |choice: &Choice| one(choice.name, choice.summary, choice.defect);
            Some(choices.iter().map(described).collect())
        }
        Kind::Rows(params) => {
            Some(params.iter().map(|param| one(param.name, param.summary, false)).collect())
        }
        Kind::Registered(entries)
        | Kind::TimeOr(entries)
        | Kind::RateOr(entries)
        | Kind::SizeOr(entries)
        | Kind::Family(entries)
        | Kind::Preset(entries) => {
            Some(entries.iter().map(|e| one(e.name, e.summary, e.defect)).collect())
        }
        _ => None,
    }
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Time => "time",
        Kind::Rate => "rate",
        Kind::Size => "size",
        Kind::SizeOrPackets => "size or packets",
        Kind::Buffer => "size, packets, time or BDP",
        Kind::SegmentsOrSize => "segments or size",
        Kind::Count => "whole number",
        Kind::CountList => "list of whole numbers",
        Kind::Real => "number",
        Kind::Flag => "flag",
        Kind::Text => "text",
        Kind::Choice(_) | Kind::Family(_) | Kind::Preset(_) => "word",
        Kind::Sampling(_) => "word or every time",
        Kind::Registered(_) => "word or mapping",
        Kind::TimeOr(_) => "time, or word or mapping",
        Kind::RateOr(_) => "rate, or mapping",
        Kind::SizeOr(_) => "size, or word or mapping",
        Kind::Object(_) => "mapping",
        Kind::ObjectEach(_) => "mapping of values or lists",
        Kind::ObjectList(_) => "list of mappings",
        Kind::Rows(_) => "list of rows",
        Kind::NameList => "list of names",
        Kind::NodePair => "two names",
        Kind::RouterRefs => "list of names",
        Kind::HostRef => "name of a host",
        Kind::FlowRef => "name of a flow",
        Kind::Name => "name",
        Kind::Any => "any value",
    }
}

fn unit(kind: Kind) -> Option<&'static str> {
    match dimensions(kind) {
        [Dimension::Time] => Some("ms"),
        [Dimension::Rate] => Some("Mbps"),
        [Dimension::Size] => Some("KiB"),
        [Dimension::Size, Dimension::Packets, ..] => Some("KiB or packets"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_registered_is_described() {
        let registry = registry();
        for (name, _) in REGISTRIES {
            let same = REGISTRIES.iter().filter(|(other, _)| other == name);
            let entries: usize = same.map(|(_, entries)| entries.len()).sum();
            assert_eq!(registry[*name].as_array().unwrap().len(), entries);
        }
        assert_eq!(registry["recovery"][0]["sender"], "selective-repeat");
        assert_eq!(registry["recovery"][1]["sender"], "classic");
        assert_eq!(registry["receiver"][0]["sender"], "classic");
        let fast = registry["cc"].as_array().unwrap().iter().find(|e| e["name"] == "fast").unwrap();
        let period = fast["params"].as_array().unwrap().iter().find(|p| p["name"] == "period");
        assert_eq!(
            period.unwrap(),
            &json!({
                "name": "period",
                "kind": "time",
                "unit": "ms",
                "default": "50 ms",
                "min": "1 us",
                "max": "36500 d",
                "summary": "Period of updates, with `update: period`.",
                "choices": null,
            })
        );
        assert_eq!(registry["profile"][0]["name"], "caltech2015");
        let blocks = registry["block"].as_array().unwrap();
        let tcp = blocks.iter().find(|block| block["name"] == "tcp").unwrap();
        let cc = tcp["params"].as_array().unwrap().iter().find(|p| p["name"] == "cc").unwrap();
        assert_eq!(cc["choices"][0]["name"], "reno");
    }

    #[test]
    fn every_registry_of_the_tables_has_a_name() {
        for (_, _, params) in BLOCKS {
            for param in *params {
                if let Kind::Registered(entries)
                | Kind::TimeOr(entries)
                | Kind::RateOr(entries)
                | Kind::SizeOr(entries)
                | Kind::Family(entries) = param.kind
                {
                    assert!(name_of(entries).is_some() || param.name == "record", "{}", param.name);
                }
            }
        }
    }
}
