//! Walks a document along the tables: finds each value in the first layer that has it, and reads it.

use super::block::{Block, Setting};
use super::meant::{did_you_mean, similar, space_missing, synonym, unknown_word, usual_word};
use super::problems::{Fault, Path, Problems};
use super::scalar;
use crate::preset::{self, Preset};
use ackclock_units::param::{Default, Entry, Kind, Param};
use serde_json::{Map, Value};

/// A mapping that values may come from: the object itself, the scenario's defaults, the profile.
#[derive(Debug, Clone)]
pub(super) struct Layer<'d> {
    pub map: &'d Map<String, Value>,
    pub path: Path,
    /// Its faults were reported when the layer itself was checked.
    pub reported: bool,
}

/// What a layer says about a registered thing.
struct Selection<'d> {
    kind: &'static Entry,
    params: Option<Layer<'d>>,
    /// The other kinds that a profile has defaults for.
    others: &'d [Value],
}

/// The state of a walk.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    pub problems: Problems,
    /// Whether required values may be missing: defaults are never complete.
    pub partial: bool,
}

impl Resolver {
    /// Resolves an object, and reports keys that its table does not have.
    pub fn object(&mut self, table: &'static [Param], layers: &[Layer<'_>], here: &Path) -> Block {
        for layer in layers.iter().filter(|layer| !layer.reported) {
            self.check_keys(table, layer.map, &layer.path, layers);
        }
        self.resolve(table, layers, here)
    }

    /// Resolves the parameters of a table.
    pub fn resolve(&mut self, table: &'static [Param], layers: &[Layer<'_>], here: &Path) -> Block {
        let mut block = Block::default();
        for param in table {
            self.param(param, layers, here, &mut block);
        }
        block
    }

    /// Resolves one parameter of a block.
    pub fn param(
        &mut self,
        param: &'static Param,
        layers: &[Layer<'_>],
        here: &Path,
        block: &mut Block,
    ) {
        if let Some(setting) = self.setting(param, layers, here) {
            block.put(param, setting);
        }
    }

    /// The value of one parameter, or none if it is faulty.
    pub fn setting(
        &mut self,
        param: &'static Param,
        layers: &[Layer<'_>],
        here: &Path,
    ) -> Option<Setting> {
        match param.kind {
            Kind::Registered(entries) if param.value_of.is_some() => {
                let maps: Vec<_> = layers.iter().map(|layer| spelled_out(param, layer)).collect();
                let spelled = layers.iter().zip(&maps).map(|(layer, map)| Layer {
                    map: map.as_ref().unwrap_or(layer.map),
                    ..layer.clone()
                });
                let spelled: Vec<Layer<'_>> = spelled.collect();
                self.registered(param, entries, &spelled, here).map(Setting::Block)
            }
            Kind::Registered(entries) => {
                self.registered(param, entries, layers, here).map(Setting::Block)
            }
            Kind::TimeOr(entries) | Kind::RateOr(entries) | Kind::SizeOr(entries)
                if names_rule(param, entries, layers) =>
            {
                // A quantity in a lower layer says nothing about the rule.
                let rules =
                    |layer: &&Layer<'_>| names_rule(param, entries, std::slice::from_ref(*layer));
                let layers: Vec<Layer<'_>> = layers.iter().filter(rules).cloned().collect();
                self.registered(param, entries, &layers, here).map(Setting::Block)
            }
            Kind::Rows(table) => self.rows(param, table, layers, here).map(Setting::Rows),
            // What it stands for is a layer of its own.
            Kind::Preset(_) => None,
            Kind::Object(table) => {
                let inner = self.inner_layers(param, layers);
                Some(Setting::Block(self.object(table, &inner, &here.key(param.name))))
            }
            _ => {
                let found = layers.iter().find(|layer| layer.map.contains_key(param.name));
                let Some(layer) = found else {
                    let default = scalar::default(param);
                    if default.is_none() {
                        self.missing(param, here);
                    }
                    return default;
                };
                match scalar::read(param, &layer.map[param.name]) {
                    Ok(setting) => Some(setting),
                    Err(fault) => {
                        self.fault(layer, param.name, fault);
                        None
                    }
                }
            }
        }
    }

    /// The rows of a list, of the first layer that has it.
    fn rows(
        &mut self,
        param: &'static Param,
        table: &'static [Param],
        layers: &[Layer<'_>],
        here: &Path,
    ) -> Option<Vec<Block>> {
        let Some(layer) = layers.iter().find(|layer| layer.map.contains_key(param.name)) else {
            self.missing(param, here);
            return None;
        };
        let Value::Array(items) = &layer.map[param.name] else {
            let fault = scalar::wrong_type(param, &layer.map[param.name]);
            self.fault(layer, param.name, fault);
            return None;
        };
        let place = layer.path.key(param.name);
        let mut rows = Vec::with_capacity(items.len());
        let mut complete = true;
        for (index, item) in items.iter().enumerate() {
            if self.problems.is_full() {
                break;
            }
            let path = place.index(index);
            let in_order;
            let map = match item {
                Value::Object(map) => map,
                Value::Array(values) if values.len() <= table.len() => {
                    let names = table.iter().map(|param| param.name.to_owned());
                    in_order = names.zip(values.iter().cloned()).collect();
                    &in_order
                }
                other => {
                    let names: Vec<&str> = table.iter().map(|param| param.name).collect();
                    let fault =
                        Fault::new(format!("a row is needed, not {}", scalar::found(other)))
                            .allowed(format!(
                                "a mapping with {0}, or a list of at most {1} values: {0}",
                                names.join(", "),
                                names.len()
                            ));
                    if !layer.reported {
                        self.problems.add(&path, other, fault);
                    }
                    complete = false;
                    continue;
                }
            };
            let layer = Layer { map, path: path.clone(), reported: layer.reported };
            let row = self.object(table, &[layer], &path);
            complete &= table.iter().all(|param| row.get(param.name).is_some());
            rows.push(row);
        }
        complete.then_some(rows)
    }

    /// The value of a name or another text of an object's own.
    pub fn text(&mut self, param: &'static Param, own: &Layer<'_>, here: &Path) -> Option<String> {
        match self.setting(param, std::slice::from_ref(own), here)? {
            Setting::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The mappings that the layers hold under the name of a parameter.
    pub fn inner_layers<'d>(&mut self, param: &Param, layers: &[Layer<'d>]) -> Vec<Layer<'d>> {
        let mut inner = Vec::new();
        for layer in layers {
            match layer.map.get(param.name) {
                None => {}
                Some(Value::Object(map)) => inner.push(Layer {
                    map,
                    path: layer.path.key(param.name),
                    reported: layer.reported,
                }),
                Some(other) => self.fault(layer, param.name, scalar::wrong_type(param, other)),
            }
        }
        inner
    }

    /// The mappings that the layers hold under the name of a parameter, each followed by what the preset says that it
    /// names; and the first of these presets. A word in place of a mapping is the name of a preset.
    pub fn with_preset<'d>(
        &mut self,
        param: &Param,
        layers: &[Layer<'d>],
    ) -> (Vec<Layer<'d>>, Option<&'static Preset>) {
        let Kind::Object(table) = param.kind else { unreachable!("another kind") };
        let Some(key) = table.iter().find(|param| matches!(param.kind, Kind::Preset(_))) else {
            return (self.inner_layers(param, layers), None);
        };
        let mut inner = Vec::new();
        let mut first = None;
        for layer in layers {
            let word = match layer.map.get(param.name) {
                Some(word @ Value::String(_)) => Some((layer.clone(), param.name, word)),
                _ => {
                    let own = self.inner_layers(param, std::slice::from_ref(layer));
                    inner.extend(own.iter().cloned());
                    own.into_iter().next().and_then(|own| {
                        let word = own.map.get(key.name)?;
                        Some((own, key.name, word))
                    })
                }
            };
            let Some((place, name, word)) = word else { continue };
            let preset = match word {
                Value::String(word) => Preset::named(word).ok_or_else(|| unknown_preset(word)),
                other => Err(scalar::wrong_type(key, other)),
            };
            match preset {
                Ok(preset) => {
                    let path = layer.path.key(param.name);
                    inner.push(Layer { map: preset.of_sender(), path, reported: true });
                    first = first.or(Some(preset));
                }
                Err(fault) => self.fault(&place, name, fault),
            }
        }
        (inner, first)
    }

    /// Reports that a parameter is missing.
    pub fn missing(&mut self, param: &Param, here: &Path) {
        if !self.partial {
            let fault = Fault::new(format!("`{}` is missing", param.name))
                .allowed(scalar::allowed(param))
                .hint(param.summary);
            self.problems.add(&here.key(param.name), &Value::Null, fault);
        }
    }

    /// Reports keys that a table does not have. Values come from these `layers`; none where this is not known.
    pub fn check_keys(
        &mut self,
        table: &[Param],
        map: &Map<String, Value>,
        path: &Path,
        layers: &[Layer<'_>],
    ) {
        for (key, value) in map {
            if !table.iter().any(|param| param.name == key) {
                let hint = self.meant(key, table, layers);
                self.unknown_key(key, value, path, table, hint);
            }
        }
    }

    /// What an unknown key was probably meant to be; if nothing that begins like it, the one required key
    /// that is missing.
    fn meant(&self, key: &str, table: &[Param], layers: &[Layer<'_>]) -> Option<String> {
        let is_missing = |param: &&Param| {
            matches!(param.default, Default::Required)
                && !layers.iter().any(|layer| layer.map.contains_key(param.name))
        };
        let mut missing = table.iter().filter(is_missing).map(|param| param.name);
        let only = missing.next().filter(|_| missing.next().is_none());
        let only = only.filter(|_| !layers.is_empty() && !self.partial);
        synonym(key, table)
            .or_else(|| {
                similar(key, table)
                    .filter(|name| only.is_none() || name.chars().next() == key.chars().next())
            })
            .or(only)
            .map(did_you_mean)
    }

    pub fn unknown_key(
        &mut self,
        key: &str,
        value: &Value,
        path: &Path,
        table: &[Param],
        hint: Option<String>,
    ) {
        let names: Vec<&str> = table.iter().map(|param| param.name).collect();
        // `{rate: 5 Mbps, delay: 10,5 ms}`
        let comma = || {
            let starts = key.starts_with(|c: char| c.is_ascii_digit()) && value.is_null();
            starts.then(|| "decimals follow a point, not a comma: `10.5 ms`".to_owned())
        };
        let hint = comma().or_else(|| space_missing(key)).or(hint);
        let fault = Fault::new(format!("unknown key `{}`", scalar::brief(key)))
            .allowed(if names.is_empty() { "no keys".to_owned() } else { names.join(", ") })
            .maybe_hint(hint);
        self.problems.add(&path.key(key), value, fault);
    }

    fn fault(&mut self, layer: &Layer<'_>, key: &str, fault: Fault) {
        // A default can be right for the family it was checked for, and out of bounds for that of a flow.
        if !layer.reported || self.problems.is_empty() {
            self.problems.add(&layer.path.key(key), &layer.map[key], fault);
        }
    }

    /// Resolves a registered thing: its kind, and the parameters of that kind.
    ///
    /// Layers that speak about another kind than the chosen one do not count.
    fn registered(
        &mut self,
        param: &'static Param,
        entries: &'static [&'static Entry],
        layers: &[Layer<'_>],
        here: &Path,
    ) -> Option<Block> {
        let mut inherited = match param.default {
            Default::Is(word) => entries.iter().copied().find(|entry| entry.name == word),
            Default::Required | Default::Absent => None,
        };
        let mut said: Vec<Selection<'_>> = Vec::new();
        let mut faulty = false;
        for layer in layers.iter().rev() {
            let Some(value) = layer.map.get(param.name) else { continue };
            match self.selection(param, entries, layer, value, inherited) {
                Some(one) => {
                    inherited = Some(one.kind);
                    said.push(one);
                    faulty = false;
                }
                None => faulty = true,
            }
        }
        if faulty {
            return None;
        }
        let Some(chosen) = inherited else {
            self.missing(param, here);
            return None;
        };
        let mut applied: Vec<Layer<'_>> = Vec::new();
        for one in said.into_iter().rev() {
            if one.kind.name == chosen.name {
                applied.extend(one.params);
            }
            let other = one.others.iter().find(|other| other["kind"] == chosen.name);
            if let Some(Value::Object(map)) = other {
                applied.push(Layer { map, path: Path::default(), reported: true });
            }
        }
        for layer in applied.iter().filter(|layer| !layer.reported) {
            self.check_params(chosen, entries, layer, &applied);
        }
        let mut block = Block::of(chosen);
        let here = here.key(param.name);
        for param in chosen.params {
            self.param(param, &applied, &here, &mut block);
        }
        self.check_together(chosen, &block, &here);
        Some(block)
    }

    /// Reports parameters of an entry that do not fit together. Where one is missing something else is wrong.
    fn check_together(&mut self, entry: &'static Entry, block: &Block, here: &Path) {
        if block.is_complete() && !self.partial {
            self.check_clash(entry, block, here);
        }
    }

    /// The same where all parameters that count are known to be there.
    pub fn check_clash(&mut self, entry: &'static Entry, block: &Block, here: &Path) {
        if let Some(Err(clash)) = entry.check.map(|check| check(&block.chosen())) {
            let fault = Fault::new(clash.message).maybe_hint(clash.hint);
            let param = entry.params.iter().find(|param| param.name == clash.param);
            let value =
                param.zip(block.get(clash.param)).map(|(param, value)| value.spelled(param));
            self.problems.add(&here.key(clash.param), &value.unwrap_or_default(), fault);
        }
    }

    /// The kind that a layer chooses, with its parameters where it gives any; reports what is wrong with
    /// the choice, and unknown parameters.
    pub fn chosen<'d>(
        &mut self,
        param: &'static Param,
        layer: &Layer<'d>,
    ) -> Option<(&'static Entry, Option<Layer<'d>>)> {
        let Kind::Registered(entries) = param.kind else { panic!("{} has no kinds", param.name) };
        let said = self.selection(param, entries, layer, layer.map.get(param.name)?, None)?;
        if let Some(params) = &said.params {
            self.check_params(said.kind, entries, params, &[]);
        }
        Some((said.kind, said.params))
    }

    /// What a layer says about a registered thing; none if that is faulty.
    fn selection<'d>(
        &mut self,
        param: &Param,
        entries: &'static [&'static Entry],
        layer: &Layer<'d>,
        value: &'d Value,
        inherited: Option<&'static Entry>,
    ) -> Option<Selection<'d>> {
        let here = || entries.iter().copied().filter(|entry| entry.is_here());
        let find = |word: &str| here().find(|entry| entry.name == word);
        let unknown = |word: &str| {
            if entries.iter().any(|entry| entry.name == word) {
                let message = format!("`{word}` is not in the engine for browsers");
                return Fault::new(message).hint("Ackclock on your machine has it");
            }
            let preset = if param.name == "cc" { preset::hint(word) } else { None };
            unknown_word(param.name, word, here().map(|entry| entry.name), preset)
        };
        let path = layer.path.key(param.name);
        match value {
            Value::String(word) => match find(word) {
                Some(kind) => Some(Selection { kind, params: None, others: &[] }),
                None => {
                    self.fault(layer, param.name, unknown(word));
                    None
                }
            },
            Value::Object(map) => {
                let inner = Layer { map, path, reported: layer.reported };
                let kind = match map.get("kind") {
                    None => match inherited {
                        Some(kind) => kind,
                        None => {
                            if !layer.reported {
                                let names: Vec<_> =
                                    entries.iter().map(|entry| entry.name).collect();
                                let fault =
                                    Fault::new("`kind` is missing").allowed(names.join(", "));
                                self.problems.add(&inner.path.key("kind"), &Value::Null, fault);
                            }
                            return None;
                        }
                    },
                    Some(Value::String(word)) => match find(word) {
                        Some(kind) => kind,
                        None => {
                            self.fault(&inner, "kind", unknown(word));
                            return None;
                        }
                    },
                    Some(other) => {
                        let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
                        let message = format!("a word is needed, not {}", scalar::found(other));
                        self.fault(&inner, "kind", Fault::new(message).allowed(names.join(", ")));
                        return None;
                    }
                };
                Some(Selection { kind, params: Some(inner), others: &[] })
            }
            // The list of a profile: the first is the default kind.
            Value::Array(all) if layer.reported && !all.is_empty() => {
                let kind = all[0]["kind"].as_str().and_then(find)?;
                let params = all[0].as_object().map(|map| Layer { map, path, reported: true });
                Some(Selection { kind, params, others: &all[1..] })
            }
            Value::Null => {
                let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
                let fault =
                    Fault::new(format!("`{}` has no value", param.name)).allowed(names.join(", "));
                self.fault(layer, param.name, fault);
                None
            }
            other => {
                let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
                let text = other.to_string();
                let hint = usual_word(&text, &names)
                    .map(did_you_mean)
                    .or_else(|| scalar::value_alone(&text, &names));
                let fault =
                    scalar::wrong_type(param, other).allowed(names.join(", ")).maybe_hint(hint);
                self.fault(layer, param.name, fault);
                None
            }
        }
    }

    /// Reports parameters that the chosen kind does not have.
    fn check_params(
        &mut self,
        chosen: &'static Entry,
        entries: &'static [&'static Entry],
        layer: &Layer<'_>,
        layers: &[Layer<'_>],
    ) {
        let has = |entry: &Entry, key: &str| entry.params.iter().any(|param| param.name == key);
        for (key, value) in layer.map {
            if key == "kind" || has(chosen, key) {
                continue;
            }
            let hint = match entries.iter().find(|entry| has(entry, key)) {
                Some(owner) => {
                    Some(format!("`{key}` belongs to `{}`, this is `{}`", owner.name, chosen.name))
                }
                None if entries.iter().any(|entry| entry.name == key) => {
                    Some(format!("write `kind: {key}`, with its settings beside it"))
                }
                None => self.meant(key, chosen.params, layers),
            };
            self.unknown_key(key, value, &layer.path, chosen.params, hint);
        }
    }
}

fn unknown_preset(word: &str) -> Fault {
    let is_cc = ackclock_tcp::cc::ENTRIES.iter().any(|entry| entry.name == word);
    let cc = is_cc.then(|| format!("did you mean `{{cc: {word}}}`?"));
    unknown_word("preset", word, preset::ENTRIES.iter().map(|e| e.name), preset::hint(word).or(cc))
}

/// Whether a rule stands where a time or a rate could stand.
fn names_rule(param: &Param, entries: &[&Entry], layers: &[Layer<'_>]) -> bool {
    match layers.iter().find_map(|layer| layer.map.get(param.name)) {
        Some(Value::Object(_)) => true,
        Some(Value::String(word)) => entries.iter().any(|entry| entry.name == word),
        _ => false,
    }
}

/// A layer in which a bare quantity stands for a registered thing, with that quantity as the value of
/// its parameter. None where the layer says something else.
fn spelled_out(param: &Param, layer: &Layer<'_>) -> Option<Map<String, Value>> {
    let (kind, inner) = param.value_of?;
    let value = layer.map.get(param.name)?;
    let is_quantity = match value {
        Value::Number(_) => true,
        Value::String(text) => text.trim_start().starts_with(|c: char| !c.is_alphabetic()),
        _ => false,
    };
    let mapping = || serde_json::json!({ "kind": kind, inner: value });
    is_quantity.then(|| Map::from_iter([(param.name.to_owned(), mapping())]))
}
