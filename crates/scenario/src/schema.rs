//! JSON Schema of scenario files, for completion and checks in editors.
//!
//! The schema accepts every document that [`crate::check`] accepts. It cannot say everything that the
//! check says (names, ranges of quantities, paths), so the check has the last word.

use crate::document::scalar::{dimensions, range};
use crate::record::RECORD;
use crate::registry::{BLOCKS, REGISTRIES, family_of_entry, name_of, same_table, value_of};
use crate::tables;
use ackclock_units::param::{Default, Entry, Kind, Param};
use ackclock_units::quantity;
use serde_json::{Map, Value, json};

/// The schema, draft 7. Whatever is needed at several places stands once, under `definitions`.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for (name, kind) in QUANTITIES {
        definitions.insert((*name).into(), json!({ "type": "string", "pattern": pattern(*kind) }));
    }
    definitions
        .insert("name".into(), json!({ "type": "string", "minLength": 1, "maxLength": 100 }));
    for (registry, entries) in REGISTRIES.iter().copied().chain([("record", RECORD)]) {
        for entry in entries {
            definitions.insert(place_of(registry, entry), mapping(registry, entry));
        }
    }
    for (name, summary, params) in BLOCKS.iter().filter(|(name, ..)| *name != "scenario") {
        definitions.insert((*name).into(), object(name, params, summary));
    }
    let each = definitions.get_mut("link-of-shape").and_then(|block| block.get_mut("properties"));
    allow_lists(each.and_then(Value::as_object_mut).expect("a block has properties"));

    let mut root = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Ackclock scenario",
    });
    let mut body = object("", tables::SCENARIO, "A network experiment for Ackclock.");
    let body = body.as_object_mut().expect("an object has an object as its schema");
    root.as_object_mut().expect("an object").append(body);
    root["anyOf"] = json!([{ "required": ["hosts", "links"] }, { "required": ["topology"] }]);
    root["definitions"] = Value::Object(definitions);
    root
}

/// Kinds of quantities that have a definition of their own.
const QUANTITIES: &[(&str, Kind)] = &[
    ("time", Kind::Time),
    ("rate", Kind::Rate),
    ("size", Kind::Size),
    ("size-or-packets", Kind::SizeOrPackets),
    ("buffer", Kind::Buffer),
];

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{definition}") })
}

/// A quantity of a kind, by reference.
fn quantity_of(kind: Kind) -> Value {
    let same = |(_, other): &&(&str, Kind)| dimensions(*other) == dimensions(kind);
    let (name, _) = QUANTITIES.iter().find(same).expect("a kind with a unit");
    reference(name)
}

/// The block that is defined by this name; the scenario itself if that is empty.
fn object(place: &str, params: &[Param], summary: &str) -> Value {
    let mut required = Vec::new();
    for param in params {
        // What `defaults` can give need not stand in the object.
        let elsewhere = tables::LINK_DEFAULTS.iter().any(|other| other.name == param.name);
        if param.default == Default::Required && !elsewhere {
            required.push(param.name);
        }
    }
    json!({
        "description": summary,
        "type": "object",
        "properties": properties(place, params),
        "required": required,
        "additionalProperties": false,
    })
}

/// The parameters, those with an underscore under their hyphenated names, too; and what may stand beside them.
fn properties(place: &str, params: &[Param]) -> Map<String, Value> {
    let mut properties = Map::new();
    for param in params {
        properties.insert(param.name.into(), property(param));
    }
    let families = params.iter().find_map(|param| match param.kind {
        Kind::Family(entries) => Some((param.name, entries)),
        _ => None,
    });
    if let Some((registry, entries)) = families {
        properties.extend(any(registry, entries));
    }
    let here = if place.is_empty() { "#" } else { &format!("#/definitions/{place}") };
    for key in properties.keys().filter(|key| key.contains('_')).cloned().collect::<Vec<_>>() {
        let same = json!({ "$ref": format!("{here}/properties/{key}") });
        properties.insert(key.replace('_', "-"), same);
    }
    properties
}

/// Parameters of any entry of a registry, by reference.
fn any(registry: &str, entries: &[&Entry]) -> Map<String, Value> {
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    for entry in entries {
        for param in entry.params {
            let place =
                reference(&format!("{}/properties/{}", place_of(registry, entry), param.name));
            match all.iter_mut().find(|(name, _)| *name == param.name) {
                Some((_, known)) => known.push(place),
                None => all.push((param.name, vec![place])),
            }
        }
    }
    let one = |(name, mut places): (&str, Vec<Value>)| {
        let place = if places.len() == 1 { places.remove(0) } else { any_of(places.into_iter()) };
        (name.to_owned(), place)
    };
    all.into_iter().map(one).collect()
}

fn property(param: &Param) -> Value {
    let mut schema = value(param);
    if let Some(inner) = value_of(param) {
        schema = json!({ "anyOf": [value(inner), schema] });
    }
    if let Some(word) = param.word {
        schema = json!({ "anyOf": [schema, { "const": word }] });
    }
    if schema.get("$ref").is_some() {
        // Nothing counts beside a reference.
        schema = json!({ "allOf": [schema] });
    }
    let mut description = param.summary.to_owned();
    if let Some(range) = range(param) {
        description.push_str(&format!(" Range: {range}."));
    }
    schema["description"] = json!(description);
    if let Some(default) = default(param) {
        schema["default"] = default;
    }
    schema
}

fn default(param: &Param) -> Option<Value> {
    match param.default {
        Default::Required => None,
        Default::Absent => param.word.map(Value::from),
        Default::Is(text) => match param.kind {
            Kind::Count | Kind::Real | Kind::Flag => serde_json::from_str(text).ok(),
            _ => Some(Value::from(text)),
        },
    }
}

fn value(param: &Param) -> Value {
    let bounded = |kind: &str| {
        let mut schema = json!({ "type": kind });
        for (key, bound) in [("minimum", param.min), ("maximum", param.max)] {
            if let Some(bound) = bound.and_then(|bound| serde_json::from_str::<Value>(bound).ok()) {
                schema[key] = bound;
            }
        }
        schema
    };
    match param.kind {
        Kind::Time | Kind::Rate | Kind::Size | Kind::SizeOrPackets | Kind::Buffer => {
            quantity_of(param.kind)
        }
        Kind::SegmentsOrSize => any_of([bounded("number"), quantity_of(param.kind)].into_iter()),
        Kind::Count => {
            let mut schema = bounded("integer");
            if schema.get("minimum").is_none() {
                schema["minimum"] = json!(0);
            }
            schema
        }
        Kind::CountList => {
            let least: u64 = param.min.and_then(|min| min.parse().ok()).unwrap_or(0);
            json!({ "type": "array", "items": { "type": "integer", "minimum": least } })
        }
        Kind::Real => bounded("number"),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Choice(choices) => {
            any_of(choices.iter().map(|choice| word(choice.name, choice.summary)))
        }
        Kind::Sampling(choices) => {
            let words = choices.iter().map(|choice| word(choice.name, choice.summary));
            let every = format!(r"^\s*(min-max\s+)?every\s+{}$", quantity_pattern(Kind::Time));
            any_of(words.chain([json!({ "type": "string", "pattern": every })]))
        }
        Kind::Family(entries) | Kind::Preset(entries) => {
            any_of(entries.iter().map(|one| word(one.name, one.summary)))
        }
        Kind::Registered(entries) => registered(entries),
        Kind::RateOr(entries) | Kind::SizeOr(entries) => {
            any_of([quantity_of(param.kind), registered(entries)].into_iter())
        }
        Kind::TimeOr(entries) => {
            let one = || any_of([quantity_of(param.kind), registered(entries)].into_iter());
            any_of([one(), json!({ "type": "array", "items": one() })].into_iter())
        }
        Kind::Object(params) if param.name == "tcp" => {
            any_of([block(params), reference("tcp/properties/preset")].into_iter())
        }
        Kind::Object(params) | Kind::ObjectEach(params) => block(params),
        Kind::ObjectList(params) => {
            json!({ "type": "array", "items": block(params), "minItems": 1 })
        }
        Kind::Rows(params) => {
            let values = params.iter().map(value).collect::<Vec<_>>();
            let row = json!({ "type": "array", "items": any_of(values.into_iter()), "maxItems": params.len() });
            let rows = any_of([object("", params, ""), row].into_iter());
            json!({ "type": "array", "items": rows })
        }
        Kind::NameList => json!({ "type": "array", "items": name(), "uniqueItems": true }),
        Kind::NodePair => json!({ "type": "array", "items": name(), "minItems": 2, "maxItems": 2 }),
        Kind::RouterRefs => json!({ "type": "array", "items": name() }),
        Kind::HostRef | Kind::FlowRef | Kind::Name => name(),
        Kind::Any => json!({}),
    }
}

/// Lets each value also be a list of such values.
fn allow_lists(properties: &mut Map<String, Value>) {
    for (key, property) in properties.iter_mut().filter(|(_, one)| one.get("$ref").is_none()) {
        let property = property.as_object_mut().expect("an object");
        let description = property.shift_remove("description").unwrap_or_default();
        let one = Value::Object(std::mem::take(property));
        let same = reference(&format!("link-of-shape/properties/{key}/anyOf/0"));
        let list = json!({ "type": "array", "items": same, "minItems": 1 });
        *property = Map::from_iter([
            ("anyOf".to_owned(), json!([one, list])),
            ("description".to_owned(), description),
        ]);
    }
}

/// A block by reference, or as it is if it has no name.
fn block(params: &'static [Param]) -> Value {
    match BLOCKS.iter().find(|(_, _, known)| same_table(known, params)) {
        Some((name, _, _)) => reference(name),
        None => object("", params, ""),
    }
}

fn name() -> Value {
    reference("name")
}

fn word(word: &str, summary: &str) -> Value {
    json!({ "const": word, "description": summary })
}

fn any_of(schemas: impl Iterator<Item = Value>) -> Value {
    json!({ "anyOf": schemas.collect::<Vec<_>>() })
}

/// A word, a mapping with `kind`, or a mapping with parameters of a kind that is chosen elsewhere.
fn registered(entries: &'static [&'static Entry]) -> Value {
    let registry = name_of(entries).unwrap_or("record");
    let words = entries.iter().map(|entry| word(entry.name, entry.summary));
    let mappings = entries.iter().map(|entry| reference(&place_of(registry, entry)));
    let without = json!({
        "description": "Parameters of the kind that the defaults choose.",
        "type": "object",
        "properties": any(registry, entries),
        "additionalProperties": false,
    });
    any_of(words.chain(mappings).chain((!all_empty(entries)).then_some(without)))
}

/// Where the definition of an entry stands: by its name, and where two families of senders have entries of one name,
/// by their family, too.
fn place_of(registry: &str, entry: &Entry) -> String {
    match family_of_entry(registry, entry) {
        Some(family) => format!("{registry}.{family}.{}", entry.name),
        None => format!("{registry}.{}", entry.name),
    }
}

/// A mapping with the kind and its parameters.
fn mapping(registry: &str, entry: &Entry) -> Value {
    let mut known = properties(&place_of(registry, entry), entry.params);
    known.insert("kind".into(), json!({ "const": entry.name }));
    known.extend(in_files(registry, entry));
    json!({
        "description": entry.summary,
        "type": "object",
        "properties": known,
        "required": ["kind"],
        "additionalProperties": false,
    })
}

/// Keys that scenario files have besides, in place of what is read before the simulator sees a document.
fn in_files(registry: &str, entry: &Entry) -> Map<String, Value> {
    let mut keys = Map::new();
    if matches!((registry, entry.name), ("rate", "table" | "mahimahi") | ("cc", "python")) {
        let summary = "A file with the content, relative to the scenario file.";
        keys.insert("file".into(), json!({ "type": "string", "description": summary }));
    }
    if (registry, entry.name) == ("cc", "python") {
        let summary = "Parameters of the class.";
        keys.insert(
            "parameters".into(),
            json!({ "type": ["object", "string"], "description": summary }),
        );
    }
    keys
}

fn all_empty(entries: &[&Entry]) -> bool {
    entries.iter().all(|entry| entry.params.is_empty())
}

/// A regular expression for quantities of a kind.
fn pattern(kind: Kind) -> String {
    format!(r"^\s*{}$", quantity_pattern(kind))
}

fn quantity_pattern(kind: Kind) -> String {
    let units: Vec<&str> =
        dimensions(kind).iter().flat_map(|dimension| quantity::unit_names(*dimension)).collect();
    let number = r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?";
    format!(r"{number}\s*({})\s*", units.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_everything() {
        let schema = schema();
        assert_eq!(schema["required"], json!(["flows"]));
        assert_eq!(schema["anyOf"][0]["required"], json!(["hosts", "links"]));
        let tcp = &schema["definitions"]["tcp"]["properties"];
        assert_eq!(tcp["initial_window"]["minimum"], json!(1));
        let same = "#/definitions/tcp/properties/initial_window";
        assert_eq!(tcp["initial-window"]["$ref"], same);
        assert_eq!(tcp["framing"]["$ref"], "#/definitions/sender.classic/properties/framing");
        // Both families have it.
        assert_eq!(tcp["nagle"]["anyOf"].as_array().unwrap().len(), 2);
        assert_eq!(tcp["recovery"]["anyOf"].as_array().unwrap().len(), 2);
        assert_eq!(tcp["cc"]["anyOf"][0]["const"], "reno");
        assert_eq!(schema["definitions"]["link"]["required"], json!(["id", "between"]));
        let delay = &schema["definitions"]["link"]["properties"]["delay"];
        assert_eq!(delay["allOf"][0]["$ref"], "#/definitions/time");
        assert!(schema["definitions"]["time"]["pattern"].as_str().unwrap().contains("|ms|"));
    }

    #[test]
    fn everything_stands_once() {
        let entries: usize = REGISTRIES.iter().map(|(_, entries)| entries.len()).sum();
        let each = schema().to_string().len() / entries;
        assert!(each < 2_450, "{each} bytes for each of {entries} entries");
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(reference)) = map.get("$ref") {
                        found.push(reference.clone());
                    }
                    map.values().for_each(|inner| references(inner, found));
                }
                Value::Array(values) => values.iter().for_each(|inner| references(inner, found)),
                _ => {}
            }
        }
        let schema = schema();
        let mut found = Vec::new();
        references(&schema, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(schema.pointer(pointer).is_some(), "{reference}");
        }
    }
}
