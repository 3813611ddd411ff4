mod bad;
mod buffers;
mod differences;
mod families;
mod fit;
mod layers;
mod random;
mod resolved;
mod scripts;
mod shapes;
mod shared;
mod sizes;
mod sources;
mod without_effect;

use super::*;
use serde_json::json;

/// A small document with a bit of everything.
fn valid() -> Value {
    json!({
        "name": "tests/valid",
        "hosts": ["H1", "H2", "H3"],
        "routers": ["R1", "R2"],
        "links": [
            {"id": "L1", "between": ["H1", "R1"], "rate": "10 Mbps", "delay": "1 ms"},
            {
                "id": "L2", "between": ["R1", "R2"], "rate": "2 Mibps", "delay": "10 ms",
                "queue": {"kind": "droptail", "limit": "64 KiB"},
                "backward": {"rate": "1 Mbps", "queue": {"limit": "20 packets"}}
            },
            {"id": "L3", "between": ["R2", "H2"], "rate": "10 Mbps", "delay": "1 ms", "duplex": "half"},
            {"id": "L4", "between": ["R2", "H3"], "rate": "1 GB/s", "delay": "0 s"}
        ],
        "flows": [
            {"id": "F1", "from": "H1", "to": "H2", "start": "0.5 s", "send": "1 MB"},
            {
                "id": "F2", "from": "H2", "to": "H1", "send": "0.5 MiB",
                "tcp": {"cc": {"kind": "fast", "alpha": 8, "update": "period"}, "rto": "fixed"}
            },
            {
                "id": "F3", "from": "H1", "to": "H3",
                "udp": {"source": {"kind": "cbr", "rate": "100 kbps", "write": "200 B"}}
            }
        ],
        "stop": {"at-latest": "62 s"}
    })
}

/// `valid` with the value at `pointer` replaced, or added.
fn with(pointer: &str, value: Value) -> Value {
    let mut document = valid();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match document.pointer_mut(parent).expect("the parent exists") {
        Value::Object(map) => {
            map.insert(key.into(), value);
        }
        Value::Array(values) => match key.parse::<usize>() {
            Ok(index) if index < values.len() => values[index] = value,
            _ => values.push(value),
        },
        other => panic!("{parent} is {other}"),
    }
    document
}

/// `valid` without the value at `pointer`.
fn without(pointer: &str) -> Value {
    let mut document = valid();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match document.pointer_mut(parent).expect("the parent exists") {
        Value::Object(map) => {
            map.remove(key).expect("a key");
        }
        Value::Array(values) => {
            values.remove(key.parse().expect("an index"));
        }
        other => panic!("{parent} is {other}"),
    }
    document
}

/// `place: message | hint` of all problems.
fn messages(problems: &[Problem]) -> Vec<String> {
    let one = |problem: &Problem| {
        let hint = problem.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{}: {}{hint}", problem.place(), problem.message)
    };
    problems.iter().map(one).collect()
}

fn warnings(document: &Value) -> Vec<String> {
    let checked = check(document);
    assert_eq!(messages(&checked.problems), [] as [&str; 0]);
    messages(&checked.warnings)
}

fn model(document: &Value) -> Value {
    let checked = check(document);
    assert_eq!(messages(&checked.problems), Vec::<String>::new());
    checked.model().expect("a document without problems has a model")
}
