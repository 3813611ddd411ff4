//! JSON Schema of scenario files, for completion and checks in editors.
//!
//! The schema accepts every document that [`crate::check`] accepts. It cannot say everything that the
//! check says (names, ranges of quantities, paths), so the check has the last word.

use crate::document::scalar::{dimensions, range};
use crate::registry::{BLOCKS, value_of};
use crate::tables;
use ackclock_units::param::{Default, Entry, Kind, Param};
use ackclock_units::quantity;
use serde_json::{Map, Value, json};

/// The schema, draft 7.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for (name, summary, params) in BLOCKS {
        if *name != "scenario" {
            definitions.insert((*name).into(), object(params, summary));
        }
    }
    let mut root = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Ackclock scenario",
    });
    let mut body = object(tables::SCENARIO, "A network experiment for Ackclock.");
    let body = body.as_object_mut().expect("an object has an object as its schema");
    root.as_object_mut().expect("an object").append(body);
    root["anyOf"] = json!([{ "required": ["hosts", "links"] }, { "required": ["topology"] }]);
    root["definitions"] = Value::Object(definitions);
    root
}

fn object(params: &[Param], summary: &str) -> Value {
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
        "properties": properties(params),
        "required": required,
        "additionalProperties": false,
    })
}

/// The parameters, those with an underscore under their hyphenated names, too.
fn properties(params: &[Param]) -> Map<String, Value> {
    let mut properties = Map::new();
    for param in params {
        properties.insert(param.name.into(), property(param));
    }
    for param in params.iter().filter(|param| param.name.contains('_')) {
        let mut other = property(param);
        other["description"] = json!(format!("The same as `{}`.", param.name));
        properties.insert(param.name.replace('_', "-"), other);
    }
    properties
}

fn property(param: &Param) -> Value {
    let mut schema = value(param);
    if let Some(inner) = value_of(param) {
        schema = json!({ "anyOf": [value(inner), schema] });
    }
    if let Some(word) = param.word {
        schema = json!({ "anyOf": [schema, { "const": word }] });
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
        Kind::Time | Kind::Rate | Kind::Size | Kind::SizeOrPackets => {
            json!({ "type": "string", "pattern": pattern(param.kind) })
        }
        Kind::SegmentsOrSize => {
            let size = json!({ "type": "string", "pattern": pattern(param.kind) });
            any_of([bounded("number"), size].into_iter())
        }
        Kind::Count => {
            let mut schema = bounded("integer");
            if schema.get("minimum").is_none() {
                schema["minimum"] = json!(0);
            }
            schema
        }
        Kind::CountList => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } })
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
        Kind::Registered(entries) => registered(entries),
        Kind::TimeOr(entries) => {
            let time = json!({ "type": "string", "pattern": pattern(param.kind) });
            let one = any_of([time, registered(entries)].into_iter());
            any_of([one.clone(), json!({ "type": "array", "items": one })].into_iter())
        }
        Kind::Object(params) => block(params),
        Kind::ObjectEach(params) => each(params),
        Kind::ObjectList(params) => {
            json!({ "type": "array", "items": block(params), "minItems": 1 })
        }
        Kind::NameList => json!({ "type": "array", "items": name(), "uniqueItems": true }),
        Kind::NodePair => json!({ "type": "array", "items": name(), "minItems": 2, "maxItems": 2 }),
        Kind::HostRef | Kind::Name => name(),
        Kind::Any => json!({}),
    }
}

/// A block in which each value may be a list of such values.
fn each(params: &'static [Param]) -> Value {
    let mut schema = object(params, "");
    let properties = schema["properties"].as_object_mut().expect("an object");
    for (_, property) in properties {
        let property = property.as_object_mut().expect("an object");
        let description = property.shift_remove("description").unwrap_or_default();
        let one = Value::Object(property.clone());
        let list = json!({ "type": "array", "items": one, "minItems": 1 });
        *property = Map::from_iter([
            ("anyOf".to_owned(), json!([one, list])),
            ("description".to_owned(), description),
        ]);
    }
    schema
}

/// A block by reference, or as it is if it has no name.
fn block(params: &'static [Param]) -> Value {
    match BLOCKS.iter().find(|(_, _, known)| std::ptr::eq(*known, params)) {
        Some((name, _, _)) => json!({ "allOf": [{ "$ref": format!("#/definitions/{name}") }] }),
        None => object(params, ""),
    }
}

fn name() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 100 })
}

fn word(word: &str, summary: &str) -> Value {
    json!({ "const": word, "description": summary })
}

fn any_of(schemas: impl Iterator<Item = Value>) -> Value {
    json!({ "anyOf": schemas.collect::<Vec<_>>() })
}

/// A word, a mapping with `kind`, or a mapping with parameters of a kind that is chosen elsewhere.
fn registered(entries: &[&Entry]) -> Value {
    let words = entries.iter().map(|entry| word(entry.name, entry.summary));
    let mappings = entries.iter().map(|entry| {
        let mut schema = json!({
            "description": entry.summary,
            "type": "object",
            "properties": { "kind": { "const": entry.name } },
            "required": ["kind"],
            "additionalProperties": false,
        });
        let known = schema["properties"].as_object_mut().expect("an object");
        known.extend(properties(entry.params));
        schema
    });
    let mut all = Map::new();
    for entry in entries {
        all.extend(properties(entry.params));
    }
    let without = json!({
        "description": "Parameters of the kind that the defaults choose.",
        "type": "object",
        "properties": all,
        "additionalProperties": false,
    });
    any_of(words.chain(mappings).chain((!all_empty(entries)).then_some(without)))
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
        assert_eq!(tcp["initial-window"]["description"], "The same as `initial_window`.");
        assert_eq!(tcp["cc"]["anyOf"][0]["const"], "reno");
        assert_eq!(schema["definitions"]["link"]["required"], json!(["id", "between"]));
        let delay = &schema["definitions"]["link"]["properties"]["delay"];
        assert!(delay["pattern"].as_str().unwrap().contains("|ms|"));
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
