//! Keys of `tcp` that belong to one family of senders.
//!
//! They stand in `tcp` beside the common ones. In a flow's own block only those of its family may stand. The
//! layers below hold keys for several families: those of the flow's family count, and a key that no flow uses is
//! worth a warning.

use super::block::Setting;
use super::flows::{FlowPart, TransportPart};
use super::problems::{Fault, Path, Problems};
use super::scalar;
use super::walk::{Layer, Resolver};
use crate::preset::{self, Preset};
use crate::tables::TCP;
use ackclock_tcp::connection::ENTRIES as FAMILIES;
use ackclock_units::param::{Default, Entry, Kind, Param};
use ackclock_units::spelling::nearest;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The family of this name.
pub(super) fn family(name: &str) -> &'static Entry {
    let found = FAMILIES.iter().find(|family| family.name == name);
    found.expect("the name of a family of senders")
}

/// The parameter that chooses the family.
fn sender() -> &'static Param {
    TCP.iter().find(|param| matches!(param.kind, Kind::Family(_))).expect("a choice of families")
}

/// The family that these layers choose; none if what they say is not a family.
pub(super) fn chosen(layers: &[Layer<'_>]) -> Option<&'static Entry> {
    let param = sender();
    let said = layers.iter().find_map(|layer| layer.map.get(param.name));
    let word = match said {
        None => scalar::default(param)?,
        Some(value) => scalar::read(param, value).ok()?,
    };
    match word {
        Setting::Text(word) => Some(family(&word)),
        _ => None,
    }
}

/// The lowest layer of a family.
pub(super) fn base(family: &Entry) -> Layer<'static> {
    Layer { map: preset::base(family.name), path: Path::default(), reported: true }
}

fn has(table: &[Param], key: &str) -> bool {
    table.iter().any(|param| param.name == key)
}

/// The kinds or words that a parameter of a family can choose from; none where it chooses from no list.
fn kinds(family: &'static Entry, key: &str) -> Option<Vec<&'static str>> {
    family.params.iter().find(|param| param.name == key).and_then(|param| match param.kind {
        Kind::Registered(entries) => Some(entries.iter().map(|entry| entry.name).collect()),
        Kind::Choice(choices) => Some(choices.iter().map(|choice| choice.name).collect()),
        _ => None,
    })
}

/// The kind that a value names.
fn kind_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("kind")?.as_str())
}

/// Another family whose kind a value names, for a parameter that both have.
fn owner_of_kind(own: &'static Entry, key: &str, value: &Value) -> Option<&'static Entry> {
    let kind = kind_of(value)?;
    let knows =
        |family: &'static Entry| kinds(family, key).is_some_and(|kinds| kinds.contains(&kind));
    kinds(own, key)?;
    if knows(own) { None } else { FAMILIES.iter().copied().find(|family| knows(family)) }
}

/// Whether a value of a lower layer counts for this family.
fn counts(own: &'static Entry, key: &str, value: &Value) -> bool {
    has(TCP, key) || (has(own.params, key) && owner_of_kind(own, key, value).is_none())
}

/// What of a lower layer counts for a family. Of the list of a profile the kinds of the family stay.
pub(super) fn part<'m>(
    own: &'static Entry,
    map: &'m Map<String, Value>,
) -> Cow<'m, Map<String, Value>> {
    let fits = |key: &str, value: &Value| match value {
        Value::Array(all) => all.iter().all(|one| counts(own, key, one)),
        one => counts(own, key, one),
    };
    if map.iter().all(|(key, value)| fits(key, value)) {
        return Cow::Borrowed(map);
    }
    let mut part = Map::new();
    for (key, value) in map {
        match value {
            Value::Array(all) => {
                let all: Vec<Value> =
                    all.iter().filter(|one| counts(own, key, one)).cloned().collect();
                if !all.is_empty() {
                    part.insert(key.clone(), Value::Array(all));
                }
            }
            one if counts(own, key, one) => {
                part.insert(key.clone(), one.clone());
            }
            _ => {}
        }
    }
    Cow::Owned(part)
}

/// The layers below the `tcp` blocks of flows, and what of them counts for each family.
pub(super) struct Below<'d> {
    /// All that they say.
    pub all: Vec<Layer<'d>>,
    /// How many of them are the scenario's own.
    own: usize,
    /// The preset that they name.
    pub preset: Option<&'static Preset>,
    parts: Vec<Vec<Cow<'d, Map<String, Value>>>>,
}

impl<'d> Below<'d> {
    /// Reports the faults of the scenario's own defaults, each of them once.
    pub fn new(
        resolver: &mut Resolver,
        all: Vec<Layer<'d>>,
        preset: Option<&'static Preset>,
    ) -> Self {
        let of = |own: &&'static Entry| all.iter().map(|layer| part(own, layer.map)).collect();
        let parts = FAMILIES.iter().map(of).collect();
        let own = all.iter().filter(|layer| !layer.reported).count();
        let mut below = Self { all, own, parts, preset };
        below.check(resolver);
        for layer in &mut below.all {
            layer.reported = true;
        }
        below
    }

    /// What counts for a family.
    pub fn of(&self, own: &'static Entry) -> Vec<Layer<'_>> {
        let index = FAMILIES.iter().position(|family| family.name == own.name);
        let parts = &self.parts[index.expect("a registered family")];
        let both = self.all.iter().zip(parts);
        both.map(|(layer, map)| Layer { map, path: layer.path.clone(), reported: layer.reported })
            .collect()
    }

    fn check(&self, resolver: &mut Resolver) {
        let here = Path::default();
        // What is said of the family itself is reported with the common keys.
        let default = chosen(&self.all).unwrap_or(FAMILIES[0]);
        for layer in self.all.iter().filter(|layer| !layer.reported) {
            for (key, value) in layer.map {
                if !has(TCP, key) && !FAMILIES.iter().any(|family| has(family.params, key)) {
                    unknown_key(resolver, default, key, value, &layer.path);
                }
            }
        }
        let mut common = self.all.clone();
        common.push(base(default));
        resolver.resolve(TCP, &common, &here);
        resolver.resolve(default.params, &self.of(default), &here);
        for other in FAMILIES.iter().filter(|other| other.name != default.name) {
            let mut layers = self.of(other);
            let maps: Vec<Map<String, Value>> = layers
                .iter()
                .map(|layer| {
                    let left = layer.map.iter().filter(|(key, value)| !counts(default, key, value));
                    left.map(|(key, value)| (key.clone(), value.clone())).collect()
                })
                .collect();
            for (layer, map) in layers.iter_mut().zip(&maps) {
                layer.map = map;
            }
            resolver.resolve(other.params, &layers, &here);
        }
    }

    /// Warns of defaults that no flow uses.
    pub fn unused(&self, used: &[&'static Entry], warnings: &mut Problems) {
        for layer in &self.all[..self.own] {
            for (key, value) in layer.map {
                if used.is_empty() || used.iter().any(|family| counts(family, key, value)) {
                    continue;
                }
                let owner = FAMILIES.iter().find(|family| counts(family, key, value));
                let Some(owner) = owner else { continue };
                let fault = Fault::new(format!(
                    "`{key}` has no effect: it belongs to the `{}` sender, which no flow uses",
                    owner.name
                ))
                .hint(format!("write `sender: {}`, or leave it out", owner.name));
                warnings.add(&layer.path.key(key), value, fault);
            }
        }
    }
}

/// The families of flows that were resolved.
pub(super) fn used(flows: &[FlowPart]) -> Vec<&'static Entry> {
    let of = |flow: &FlowPart| match &flow.transport {
        Some(TransportPart::Tcp(tcp)) => tcp.word("sender").map(family),
        _ => None,
    };
    let mut used: Vec<&'static Entry> = flows.iter().filter_map(of).collect();
    used.dedup_by_key(|family| family.name);
    used
}

/// Reports keys of a flow's own `tcp` block that its family does not have, and kinds that it does not know;
/// what is left of the block.
pub(super) fn own<'m>(
    resolver: &mut Resolver,
    own: &'static Entry,
    map: &'m Map<String, Value>,
    path: &Path,
) -> Cow<'m, Map<String, Value>> {
    if map.iter().all(|(key, value)| counts(own, key, value)) {
        return Cow::Borrowed(map);
    }
    let mut left = map.clone();
    left.retain(|key, value| {
        let known = counts(own, key, value);
        if !known {
            report(resolver, own, key, value, path);
        }
        known
    });
    Cow::Owned(left)
}

fn report(resolver: &mut Resolver, own: &'static Entry, key: &str, value: &Value, path: &Path) {
    if let Some(owner) = owner_of_kind(own, key, value) {
        let kind = kind_of(value).unwrap_or_default();
        let names = kinds(own, key).unwrap_or_default();
        let fault = Fault::new(format!("`{kind}` does not fit the {} sender", own.name))
            .allowed(names.join(", "))
            .hint(format!("or write `sender: {}`", owner.name));
        resolver.problems.add(&path.key(key), &Value::from(kind), fault);
        return;
    }
    let mut owners: Vec<&'static Entry> =
        FAMILIES.iter().copied().filter(|family| has(family.params, key)).collect();
    // First the one that knows the word.
    owners.sort_by_key(|family| !counts(family, key, value));
    let [first, ..] = owners.as_slice() else {
        return unknown_key(resolver, own, key, value, path);
    };
    let named: Vec<String> = owners.iter().map(|owner| format!("`{}`", owner.name)).collect();
    let repair = match (own.name, key) {
        ("modern", "recovery") => ": the modern sender recovers by `detect` and `reduce`",
        _ => "",
    };
    let Default::Is(default) = sender().default else { unreachable!("a default family") };
    let fault = Fault::new(format!(
        "`{key}` belongs to the {} sender, this is `{}`{}",
        named.join(" and the "),
        own.name,
        if own.name == default { ", the default" } else { "" }
    ))
    .hint(format!("write `sender: {}`, or leave `{key}` out{repair}", first.name));
    resolver.problems.add(&path.key(key), value, fault);
}

/// Reports a key that no family has.
fn unknown_key(
    resolver: &mut Resolver,
    own: &'static Entry,
    key: &str,
    value: &Value,
    path: &Path,
) {
    let table: Vec<Param> = TCP.iter().chain(own.params).copied().collect();
    let elsewhere = || {
        let all = FAMILIES.iter().flat_map(|family| family.params);
        let meant = nearest(key, all.clone().map(|param| param.name))?;
        let owner = FAMILIES.iter().find(|family| has(family.params, meant))?;
        Some(format!("did you mean `{meant}`, a key of the `{}` sender?", owner.name))
    };
    let hint = super::meant::meant(key, &table).or_else(elsewhere);
    resolver.unknown_key(key, value, path, &table, hint);
}
