//! What differs between two documents.

use super::*;

/// The differences of two documents: the place, and what either has there.
fn differences(one: &Value, other: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let [one, other] = [check(one), check(other)];
    assert!(one.scenario.is_some() && other.scenario.is_some());
    one.differences(&other, &mut |place, one, other| all.push(json!([place, one, other])));
    all
}

#[test]
fn a_document_is_the_same_as_itself_however_it_is_spelled() {
    let long = check(&valid()).canonical().unwrap();
    assert_eq!(differences(&valid(), &long), Vec::<Value>::new());
}

#[test]
fn each_value_that_differs_is_named() {
    let none = Value::Null;
    for (pointer, value, expected) in [
        ("/seed", json!(2), json!([["seed", 1, 2]])),
        ("/links/3/rate", json!("1 Gbps"), json!([["links.L4.rate", "8 Gbps", "1 Gbps"]])),
        (
            "/links/0/between",
            json!(["R1", "H1"]),
            json!([["links.L1.between", ["H1", "R1"], ["R1", "H1"]]]),
        ),
        ("/flows/0/start", json!("0 s"), json!([["flows.F1.start", "500 ms", "0 s"]])),
        ("/flows/0/stop", json!("9 s"), json!([["flows.F1.stop", none, "9 s"]])),
        (
            "/flows/1/tcp/rto",
            json!({"kind": "fixed", "timeout": "2 s"}),
            json!([["flows.F2.tcp.rto.timeout", "1 s", "2 s"]]),
        ),
    ] {
        let changed = with(pointer, value);
        let found = differences(&valid(), &changed);
        assert_eq!(json!(found), expected);
        let turned: Vec<Value> = found.iter().map(|one| json!([one[0], one[2], one[1]])).collect();
        assert_eq!(differences(&changed, &valid()), turned);
    }
}

#[test]
fn elements_are_compared_by_their_ids() {
    let mut turned = valid();
    turned["flows"].as_array_mut().unwrap().reverse();
    assert_eq!(differences(&valid(), &turned), Vec::<Value>::new());
    let fewer = without("/flows/1");
    let whole = check(&valid()).canonical().unwrap()["flows"][1].clone();
    assert_eq!(differences(&valid(), &fewer), [json!(["flows.F2", whole, null])]);
    assert_eq!(differences(&fewer, &valid()), [json!(["flows.F2", null, whole])]);
}

#[test]
fn what_two_networks_share_is_compared_once_and_found_in_each() {
    let document = |delay: &str| {
        json!({
            "topology": {
                "kind": "dumbbell", "leaves": 20,
                "access": {"rate": "1 Gbps", "delay": ["1 ms", delay]},
                "bottleneck": {"rate": "1 Gbps", "delay": "10 ms"},
                "egress": {"rate": "1 Gbps", "delay": "1 us"}
            },
            "flows": [{"id": "F", "count": 20, "from": "S*", "to": "D*", "send": "1 MB"}]
        })
    };
    let expected: Vec<Value> =
        (1..=10).map(|i| json!([format!("links.access{}.delay", 2 * i), "2 ms", "3 ms"])).collect();
    assert_eq!(differences(&document("2 ms"), &document("3 ms")), expected);
}
