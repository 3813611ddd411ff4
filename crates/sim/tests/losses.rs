//! Chosen losses beside a queue that drops.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod documents;

use ackclock_trace::{Column, drop_reason};
use documents::run;
use serde_json::{Value, json};

/// Numbers and reasons of the data that a link with room for ten packets dropped.
fn drops(loss: &Value) -> Vec<(i64, i32)> {
    let output = run(&json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "5 Mbps", "delay": "20 ms",
            "queue": {"limit": "10 packets"}, "forward": {"loss": loss}}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "300 KB",
            "tcp": {"sender": "classic", "segment": "1000 B", "recovery": "reno"}}],
        "record": {"kind": "none", "drops": "changes"},
    }));
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "drops").expect("recorded");
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::I64(numbers), Column::I32(reasons)) = (column("seq"), column("reason")) else {
        panic!("columns of another type")
    };
    numbers.iter().copied().zip(reasons.iter().copied()).collect()
}

#[test]
fn a_transmission_that_the_queue_drops_counts() {
    let first = drops(&json!("none"))[0];
    assert_eq!(first.1, drop_reason::QUEUE_FULL);
    let again = json!({"kind": "segments", "numbers": [first.0], "transmission": 2});
    let found: Vec<(i64, i32)> =
        drops(&again).into_iter().filter(|(number, _)| *number == first.0).collect();
    assert_eq!(found[..2], [first, (first.0, drop_reason::LOSS)]);
}

#[test]
fn packets_that_the_queue_drops_count() {
    let all = drops(&json!("none"));
    // The chosen loss is the one that the queue makes anyway.
    let drops_there = |place: &i32| drops(&json!({"kind": "packets", "numbers": [place]}));
    assert!((1..100).any(|place| drops_there(&place) == all));
}
