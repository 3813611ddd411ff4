//! Short forms run as what they stand for.

use ackclock_sim::model::Scenario;
use ackclock_sim::{Simulation, check};
use serde_json::{Value, json};

/// A dumbbell whose flows start when `start` says.
fn dumbbell(start: Value) -> Value {
    json!({
        "topology": {
            "kind": "dumbbell",
            "leaves": 3,
            "access": {"rate": "100 Mbps", "delay": ["1 ms", "2 ms"]},
            "bottleneck": {"rate": "10 Mbps", "delay": "10 ms", "queue": {"limit": "50 packets"}},
            "egress": {"delay": "3 ms"}
        },
        "flows": [{"id": "F", "count": 3, "from": "S*", "to": "D*", "send": "200 kB", "start": start}],
        "seed": 7
    })
}

fn summary(scenario: Scenario) -> Value {
    let mut run = Simulation::new(scenario);
    assert!(run.advance(u64::MAX));
    run.finish().summary
}

fn digest(document: &Value) -> Value {
    summary(check(document).scenario.expect("a scenario"))["digest"].clone()
}

/// The links and flows of a document, written out one by one.
fn written_out(document: &Value) -> Value {
    check(document).canonical().expect("a document without problems has a canonical form")
}

#[test]
fn a_short_form_runs_as_its_long_form() {
    for start in [json!("0 s"), json!({"kind": "uniform", "to": "100 ms"})] {
        let document = dumbbell(start);
        let long = written_out(&document);
        assert_eq!(long["links"].as_array().map(Vec::len), Some(7));
        assert_eq!(digest(&long), digest(&document));
    }
}

#[test]
fn each_seed_has_its_own_drawn_starts() {
    let document = dumbbell(json!({"kind": "uniform", "to": "100 ms"}));
    let scenario = check(&document).scenario.unwrap();
    let runs = [7, 8, 9].map(|seed| summary(Scenario { seed, ..scenario.clone() }));
    let finish = |run: usize| runs[run]["flows"].as_object().unwrap()["F1"]["finish_s"].clone();
    assert!(finish(0) != finish(1) && finish(1) != finish(2));
    for (run, seed) in runs.iter().zip([7, 8, 9]) {
        let mut other = document.clone();
        other["seed"] = json!(seed);
        assert_eq!(digest(&other), run["digest"], "seed {seed}");
    }
}

#[test]
fn buffers_in_products_are_bytes_in_the_summary() {
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L1", "between": ["A", "B"], "rate": "10 Mbps", "delay": "29 ms", "queue": {"limit": "2 BDP"}}],
        "flows": [{"id": "F1", "from": "A", "to": "B", "send": "10 kB"}],
    });
    let summary = summary(check(&document).scenario.unwrap());
    let limit = &summary["links"]["L1"]["forward"]["queue_limit"];
    assert_eq!(*limit, json!({"packets": null, "bytes": 145_000}));
}
