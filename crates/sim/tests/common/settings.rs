//! Settings made from the tables of parameters: every one of them, and random ones.
//!
//! What is registered, whatever it is, gets into the tests of the engine without being named there.

use ackclock_engine::Stream;
use ackclock_units::param::{Default, Entry, Kind, Param};
use ackclock_units::quantity::{self, Dimension, Quantity};
use serde_json::{Map, Value, json};

/// All values of a parameter that a test of single settings takes: each choice, each registered thing with
/// its defaults and with each of its own parameters changed, both bounds, the word for none.
pub fn variants(param: &Param) -> Vec<Value> {
    let mut all = match param.kind {
        Kind::Choice(choices) => choices.iter().map(|choice| Value::from(choice.name)).collect(),
        Kind::Family(entries) | Kind::Preset(entries) => {
            entries.iter().map(|entry| Value::from(entry.name)).collect()
        }
        Kind::Flag => vec![json!(true), json!(false)],
        Kind::Registered(entries) | Kind::TimeOr(entries) | Kind::RateOr(entries) => {
            entries.iter().flat_map(|entry| of_entry(entry)).collect()
        }
        Kind::Object(table) => of_table(&required(table), table),
        Kind::ObjectList(table) => {
            of_table(&required(table), table).into_iter().map(|value| json!([value])).collect()
        }
        Kind::CountList => vec![json!([]), json!([1]), json!([2, 3, 5, 8])],
        Kind::Rows(table) => {
            of_table(&row(table, 0), table).into_iter().map(|value| json!([value])).collect()
        }
        Kind::FlowRef => vec![json!("F1")],
        Kind::RouterRefs => vec![json!([]), json!(["R1", "R2"]), json!(["R2"])],
        Kind::Buffer => vec![json!("30 ms"), json!("0.5 BDP")],
        _ => Vec::new(),
    };
    all.extend([param.min, param.max].into_iter().flatten().map(|bound| spelled(param, bound)));
    all.extend(param.word.map(Value::from));
    all
}

/// A registered thing with its defaults, then with each of its parameters changed.
fn of_entry(entry: &Entry) -> Vec<Value> {
    let mut base = required(entry.params);
    base.insert("kind".into(), entry.name.into());
    of_table(&base, entry.params)
}

/// A mapping as it is, then with each of its parameters changed.
fn of_table(base: &Map<String, Value>, table: &[Param]) -> Vec<Value> {
    let mut all = vec![Value::Object(base.clone())];
    for param in table {
        for value in variants(param) {
            let mut changed = base.clone();
            changed.insert(param.name.into(), value);
            all.push(Value::Object(changed));
        }
    }
    all
}

/// The parameters that must be given.
pub fn required(table: &[Param]) -> Map<String, Value> {
    let needed = table.iter().filter(|param| param.default == Default::Required);
    needed.map(|param| (param.name.to_owned(), example(param))).collect()
}

/// A row of a list: what must be given, and the first list of numbers. Rows with a time come in order.
fn row(table: &[Param], number: usize) -> Map<String, Value> {
    let mut all = required(table);
    if let Some(at) = all.get_mut("at") {
        *at = format!("{} ms", 70 * number).into();
    }
    if let Some(param) = table.iter().find(|param| matches!(param.kind, Kind::CountList)) {
        all.insert(param.name.into(), example(param));
    }
    all
}

/// A value that suits most parameters of a kind.
fn example(param: &Param) -> Value {
    match param.kind {
        Kind::Registered(entries) => of_entry(entries[0]).remove(0),
        Kind::Object(table) => Value::Object(required(table)),
        Kind::Rows(table) => json!([row(table, 0)]),
        Kind::Choice(choices) => choices[0].name.into(),
        Kind::Time | Kind::TimeOr(_) => json!("50 ms"),
        Kind::Rate | Kind::RateOr(_) => json!("1 Mbps"),
        Kind::Size => json!("1000 B"),
        Kind::SizeOrPackets | Kind::Buffer => json!("20 packets"),
        Kind::Count => json!(4),
        Kind::CountList => json!([3, 7]),
        Kind::Real | Kind::SegmentsOrSize => json!(0.5),
        Kind::Flag => json!(true),
        Kind::Text => json!("a text"),
        other => panic!("no example of `{}`, {other:?}", param.name),
    }
}

/// A number of a table as a document spells it: with its unit a text, else a number.
fn spelled(param: &Param, text: &str) -> Value {
    match param.kind {
        Kind::CountList => json!([text.parse::<u64>().expect("a whole number")]),
        Kind::Count | Kind::Real | Kind::SegmentsOrSize => text
            .parse::<u64>()
            .map(Value::from)
            .or_else(|_| text.parse::<f64>().map(Value::from))
            .unwrap_or_else(|_| Value::from(text)),
        _ => text.into(),
    }
}

/// A random value of a parameter that is near its default; none to leave it out.
pub fn random(param: &Param, draw: &mut Stream) -> Option<Value> {
    if param.default != Default::Required && draw.uniform() < 0.5 {
        return None;
    }
    if let Some(word) = param.word
        && draw.uniform() < 0.1
    {
        return Some(word.into());
    }
    Some(match param.kind {
        Kind::Choice(choices) => choices[draw.below(choices.len())].name.into(),
        Kind::Family(entries) | Kind::Preset(entries) => {
            entries[draw.below(entries.len())].name.into()
        }
        Kind::Flag => (draw.uniform() < 0.5).into(),
        Kind::Text if param.default == Default::Required => "a text".into(),
        Kind::Registered(entries) => random_entry(entries[draw.below(entries.len())], draw),
        Kind::Object(table) => Value::Object(random_table(table, draw)),
        Kind::Rows(table) => {
            let mut random_row = |number| {
                let mut all = random_table(table, draw);
                all.extend(row(table, number));
                Value::Object(all)
            };
            json!([random_row(0), random_row(1)])
        }
        Kind::CountList => (0..draw.below(10)).map(|_| Value::from(1 + draw.below(200))).collect(),
        Kind::Time
        | Kind::TimeOr(_)
        | Kind::Rate
        | Kind::RateOr(_)
        | Kind::Size
        | Kind::SizeOrPackets
        | Kind::Buffer
        | Kind::Count
        | Kind::Real
        | Kind::SegmentsOrSize => random_number(param, draw),
        _ => return None,
    })
}

/// A registered thing with random parameters.
pub fn random_entry(entry: &Entry, draw: &mut Stream) -> Value {
    let mut all = random_table(entry.params, draw);
    all.insert("kind".into(), entry.name.into());
    Value::Object(all)
}

/// Random values of a table.
pub fn random_table(table: &[Param], draw: &mut Stream) -> Map<String, Value> {
    let values =
        table.iter().filter_map(|param| Some((param.name.to_owned(), random(param, draw)?)));
    values.collect()
}

/// A quarter of the default to four times as much, within the bounds.
fn random_number(param: &Param, draw: &mut Stream) -> Value {
    let usual = match param.default {
        Default::Is(text) => spelled(param, text),
        _ => example(param),
    };
    let factor = [0.25, 0.5, 1.0, 2.0, 4.0][draw.below(5)];
    let bound = |bound: Option<&'static str>, none: f64| bound.map_or(none, |text| number(text).0);
    let within = |value: f64| value.clamp(bound(param.min, 0.0), bound(param.max, f64::INFINITY));
    match &usual {
        Value::String(text) => {
            let (value, quantity) = number(text);
            let value = within(value * factor) as u64;
            match quantity {
                Some(Quantity::Rate(_)) => Quantity::Rate(value).to_string().into(),
                Some(Quantity::Size(_)) => Quantity::Size(value).to_string().into(),
                Some(Quantity::Packets(_)) => Quantity::Packets(value).to_string().into(),
                Some(Quantity::Time(_)) => Quantity::Time(value).to_string().into(),
                Some(Quantity::Products(_)) => Quantity::Products(value).to_string().into(),
                None => usual,
            }
        }
        Value::Number(value) => {
            // What does not happen by default happens sometimes.
            let usual = match (value.as_f64().expect("a number"), param.max) {
                (0.0, Some(max)) if matches!(param.kind, Kind::Real) => number(max).0 / 50.0,
                (usual, _) => usual,
            };
            let value = within(usual * factor);
            match param.kind {
                Kind::Count => (value as u64).into(),
                _ => value.into(),
            }
        }
        _ => usual,
    }
}

/// A number of a table, with what it measures.
fn number(text: &str) -> (f64, Option<Quantity>) {
    let all = [Dimension::Rate, Dimension::Size, Dimension::Packets, Dimension::Time];
    match quantity::parse(text, &all) {
        Ok(quantity) => match quantity {
            Quantity::Rate(value)
            | Quantity::Size(value)
            | Quantity::Packets(value)
            | Quantity::Products(value)
            | Quantity::Time(value) => (value as f64, Some(quantity)),
        },
        Err(_) => (text.parse().unwrap_or(0.0), None),
    }
}
