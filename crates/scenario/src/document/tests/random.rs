//! Random damage never panics, and whatever is accepted resolves to itself.

use super::*;
use proptest::prelude::*;

fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[-+]?[0-9]{0,20}\\.?[0-9]{0,3}(e[0-9]{1,4})? ?(bps|Mbps|ms|s|B|KiB|packets|Mb|)"
            .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        prop::sample::select(vec![
            "H1",
            "R1",
            "L1",
            "F1",
            "reno",
            "fast",
            "fixed",
            "droptail",
            "red",
            "half",
            "unlimited",
            "all",
            "none",
            "caltech2015",
            "time",
            "kind",
            "10 ms",
            "1 Gbps",
            "1 B",
            "1 packet",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "id",
            "kind",
            "rate",
            "delay",
            "queue",
            "limit",
            "forward",
            "backward",
            "tcp",
            "udp",
            "cc",
            "alpha",
            "at-latest",
            "at_latest",
            "rto",
            "min",
            "max",
            "source",
            "profile",
            "link",
            "defaults",
            "record",
            "cwnd",
            "admission",
            "duplex",
            "send",
            "segment",
            "header",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
}

/// The places of a document, as pointers to what holds them and the last step.
fn places(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let pointer = format!("{pointer}/{key}");
                places(inner, &pointer, found);
                found.push(pointer);
            }
        }
        Value::Array(values) => {
            for (index, inner) in values.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                places(inner, &pointer, found);
                found.push(pointer);
            }
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Replace(Value),
    Remove,
    Add(String, Value),
    Repeat,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => junk().prop_map(Damage::Replace),
        2 => Just(Damage::Remove),
        2 => (key(), junk()).prop_map(|(key, value)| Damage::Add(key, value)),
        1 => Just(Damage::Repeat),
    ]
}

fn damaged(mut document: Value, damages: Vec<(prop::sample::Index, Damage)>) -> Value {
    for (place, damage) in damages {
        let mut all = Vec::new();
        places(&document, "", &mut all);
        if all.is_empty() {
            break;
        }
        let pointer = place.get(&all).clone();
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let old = document.pointer(&pointer).cloned();
        let parent = document.pointer_mut(parent);
        match (damage, parent) {
            (Damage::Replace(value), _) => {
                if let Some(slot) = document.pointer_mut(&pointer) {
                    *slot = value;
                }
            }
            (Damage::Remove, Some(Value::Object(map))) => {
                map.remove(last);
            }
            (Damage::Remove, Some(Value::Array(values))) => {
                values.remove(last.parse().unwrap());
            }
            (Damage::Add(key, value), _) => {
                if let Some(Value::Object(map)) = document.pointer_mut(&pointer) {
                    map.insert(key, value);
                }
            }
            (Damage::Repeat, Some(Value::Array(values))) => values.extend(old),
            _ => {}
        }
    }
    document
}

fn holds(document: &Value) {
    let checked = check(document);
    assert_eq!(checked.problems.is_empty(), checked.scenario.is_some());
    assert_eq!(checked.problems.is_empty(), checked.model().is_some());
    let Some(canonical) = checked.canonical() else { return };
    let again = check(&canonical);
    assert_eq!(messages(&again.problems), Vec::<String>::new(), "{canonical}");
    assert_eq!(again, checked);
}

proptest! {
    #[test]
    fn damaged_documents_do_not_panic(
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..6)
    ) {
        holds(&damaged(valid(), damages.clone()));
        let mut profiled = valid();
        profiled["profile"] = json!("caltech2015");
        profiled["routing"] = json!("shortest-path");
        holds(&damaged(profiled, damages));
    }

    #[test]
    fn junk_does_not_panic(document in junk()) {
        holds(&document);
    }

    #[test]
    fn random_words_for_words_resolve_to_themselves(
        cc in prop::sample::select(vec!["reno", "fast", "fixed"]),
        rto in prop::sample::select(vec!["fixed", "rfc6298"]),
        routing in prop::sample::select(vec!["shortest-path", "distance-vector"]),
        profiled in any::<bool>(),
        rate in 1_u64..100_000_000_000_000,
        limit in 1500_u64..10_000_000_000,
        delay in 1_u64..86_400_000_000_000,
        ssthresh in prop::option::of(1.0..1e6_f64),
    ) {
        let mut document = valid();
        if profiled {
            document["profile"] = json!("caltech2015");
            document["links"][1].as_object_mut().unwrap().remove("backward");
        }
        document["links"][1]["rate"] = json!(format!("{rate} bps"));
        document["links"][1]["delay"] = json!(format!("{delay} ns"));
        document["links"][1]["queue"]["limit"] = json!(format!("{limit} B"));
        document["flows"][0]["tcp"] = json!({"cc": cc, "rto": rto});
        if let Some(ssthresh) = ssthresh {
            document["flows"][0]["tcp"]["initial_ssthresh"] = json!(ssthresh);
        }
        document["routing"] = json!(routing);
        holds(&document);
        let checked = check(&document);
        prop_assert_eq!(messages(&checked.problems), Vec::<String>::new());
        let model = checked.model().unwrap();
        prop_assert_eq!(&model["links"][1]["forward"]["rate_bps"], &json!(rate));
        prop_assert_eq!(&model["links"][1]["forward"]["delay_ns"], &json!(delay));
    }
}
