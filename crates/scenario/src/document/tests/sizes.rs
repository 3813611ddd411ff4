//! Sizes of transfers that are drawn, and what is reported about faulty distributions.

use super::shapes::{canonical, problems};
use super::*;

/// Three flows with this amount to send.
fn with(send: Value) -> Value {
    json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms"}],
        "flows": [{"id": "F", "count": 3, "from": "A", "to": "B", "send": send}],
    })
}

#[test]
fn sizes_are_drawn_for_each_flow_and_the_rule_stays() {
    for (rule, full) in [
        (
            json!({"kind": "exponential", "mean": "30 kB"}),
            json!({"kind": "exponential", "mean": "30 kB"}),
        ),
        (
            json!({"kind": "pareto", "mean": "30 kB"}),
            json!({"kind": "pareto", "mean": "30 kB", "shape": 1.2, "largest": "1 GB"}),
        ),
        (
            json!({"kind": "empirical", "points": [["1 kB", 0], ["9 kB", 0.5], ["1 MB", 1]]}),
            json!({"kind": "empirical", "points": [{"size": "1 kB", "share": 0.0},
                {"size": "9 kB", "share": 0.5}, {"size": "1 MB", "share": 1.0}]}),
        ),
        (json!("web-search"), json!({"kind": "web-search"})),
    ] {
        let document = with(rule);
        let sizes = |document: &Value| {
            let model = model(document);
            (0..3).map(|i| model["flows"][i]["send_bytes"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let drawn = sizes(&document);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2], "{drawn:?}");
        let resolved = canonical(&document);
        assert_eq!(resolved["flows"][0]["send"], full);
        assert_eq!(canonical(&resolved), resolved);
        assert_eq!(sizes(&resolved), drawn);
        let mut other = document.clone();
        other["seed"] = json!(2);
        assert_ne!(sizes(&other), drawn);
    }
}

#[test]
fn sizes_that_no_distribution_has() {
    let hint = "for example `points: [[1 kB, 0], [10 kB, 0.5], [1 MB, 1]]`";
    for (rule, expected) in [
        (
            json!({"kind": "pareto"}),
            "flows.0.send.mean: `mean` is missing | Mean size, were there no largest one.".into(),
        ),
        (
            json!({"kind": "paretto", "mean": "1 kB"}),
            "flows.0.send.kind: unknown send `paretto` | did you mean `pareto`?".into(),
        ),
        (
            json!({"kind": "pareto", "mean": "60 kB", "largest": "9 kB"}),
            "flows.0.send.largest: no size is below 10 kB, by `mean` and `shape`".into(),
        ),
        (
            json!({"kind": "empirical", "points": []}),
            format!("flows.0.send.points: there are no points | {hint}"),
        ),
        (
            json!({"kind": "empirical", "points": [["1 kB", 0.5]]}),
            format!("flows.0.send.points: the last share is 0.5, not 1 | {hint}"),
        ),
        (
            json!({"kind": "empirical", "points": [["2 kB", 0.5], ["1 kB", 1]]}),
            format!("flows.0.send.points: point 2 is below the one before it | {hint}"),
        ),
    ] {
        assert_eq!(problems(&with(rule)), [expected]);
    }
}
