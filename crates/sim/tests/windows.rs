//! Windows: never below one segment, and their means never beyond their greatest value.

use crate::documents;

use ackclock_sim::Output;
use ackclock_trace::{Column, cc_state};
use documents::run;
use serde_json::{Value, json};

const SEGMENT: f64 = 1460.0;
const CLASSIC: [&str; 5] = ["timeout", "tahoe", "reno", "newreno", "vegas"];

/// Algorithms that leave little of the window where they can.
fn harsh() -> [Value; 7] {
    [
        json!("reno"),
        json!("vegas"),
        json!("fixed"),
        json!({"kind": "fast", "alpha": 0.1}),
        json!({"kind": "aimd", "decrease": 0, "increase": 0}),
        json!({"kind": "aiad", "subtract": 20}),
        json!({"kind": "aiad", "subtract": 1e6, "decrease_from": "ssthresh"}),
    ]
}

/// One flow over a link that loses and drops packets.
fn lossy(tcp: &Value) -> Output {
    run(&json!({
        "hosts": ["A", "B"],
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms",
            "loss": {"kind": "periodic", "every": 15}, "queue": {"limit": "20 packets"},
        }],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "200 KB", "tcp": tcp}],
        "stop": {"at_latest": "60 s"},
        "record": {"kind": "none", "cwnd": "changes"},
    }))
}

fn column<'a>(output: &'a Output, name: &str) -> &'a Column {
    let (_, columns) = output.tables.iter().find(|(table, _)| *table == "cwnd").expect("recorded");
    &columns.iter().find(|(column, _)| *column == name).expect("a column").1
}

fn reals<'a>(output: &'a Output, name: &str) -> &'a [f64] {
    let Column::F64(values) = column(output, name) else { panic!("{name} has no real numbers") };
    values
}

fn least_window(output: &Output) -> f64 {
    reals(output, "cwnd_bytes").iter().copied().fold(f64::INFINITY, f64::min)
}

fn check(tcp: &Value) {
    let output = lossy(tcp);
    assert!(least_window(&output) >= SEGMENT, "{tcp}: {}", least_window(&output));
    let window = &output.summary["flows"]["F"]["cwnd_bytes"];
    within(window);
    assert!(window["mean"].as_f64() >= Some(SEGMENT), "{tcp}: {window}");
}

/// The mean is not beyond the greatest value.
fn within(figures: &Value) {
    let figure = |name: &str| figures[name].as_f64().expect("a number");
    assert!(figure("mean") <= figure("max"), "{figures}");
}

#[test]
fn no_window_is_below_a_segment() {
    for cc in harsh() {
        check(&json!({"cc": cc, "segment": "1460 B"}));
        let timeout = json!({"kind": "selective-repeat", "timeout_floor": "none"});
        let selective = "selective-repeat";
        check(&json!({"sender": selective, "cc": cc, "segment": "1460 B"}));
        check(&json!({"sender": selective, "cc": cc, "segment": "1460 B", "recovery": timeout}));
        for recovery in CLASSIC {
            let classic = |recovery: Value, floor: u64| {
                check(&json!({
                    "sender": "classic", "segment": "1460 B", "cc": cc, "recovery": recovery,
                    "ssthresh_floor": floor,
                }));
            };
            classic(json!(recovery), 2);
            classic(json!(recovery), 0);
            match recovery {
                "reno" | "newreno" => {
                    classic(json!({"kind": recovery, "inflation": "apart"}), 0);
                }
                "vegas" => {
                    let rules = json!({"kind": recovery, "deflation": "many", "log": "ring"});
                    classic(rules, 0);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_window_that_is_reported_has_no_inflation() {
    // Slow start overshoots a buffer of 50 packets: each duplicate adds a segment during recovery.
    for recovery in ["reno", "newreno"] {
        let output = run(&json!({
            "hosts": ["A", "B"],
            "links": [{
                "id": "L", "between": ["A", "B"], "rate": "20 Mbps", "delay": "20 ms",
                "queue": {"limit": "50 packets"},
            }],
            "flows": [{"id": "F", "from": "A", "to": "B", "send": "2 MB",
                "tcp": {"sender": "classic", "recovery": recovery}}],
            "stop": {"at_latest": "60 s"},
            "record": {"kind": "none", "cwnd": "changes"},
        }));
        let (windows, thresholds) =
            (reals(&output, "cwnd_bytes"), reals(&output, "ssthresh_bytes"));
        let states = column(&output, "state");
        let Column::I32(states) = states else { panic!("{states:?}") };
        let mut recovering = 0;
        for ((state, window), threshold) in states.iter().zip(windows).zip(thresholds) {
            if *state == cc_state::RECOVERY {
                recovering += 1;
                assert_eq!(window, threshold, "{recovery}");
            }
        }
        assert!(recovering > 0, "{recovery}");
    }
}

#[test]
fn the_mean_counts_until_the_last_ack_and_is_none_without_a_start() {
    let output = run(&json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 kbps", "delay": "2 s"}],
        "flows": [
            {"id": "F", "from": "A", "to": "B", "send": "4 KB"},
            {"id": "G", "from": "A", "to": "B"},
            {"id": "late", "from": "A", "to": "B", "start": "200 s"},
        ],
        "stop": {"when": "time", "at_latest": "100 s"},
        "record": "none",
    }));
    let flows = &output.summary["flows"];
    for flow in ["F", "G"] {
        within(&flows[flow]["cwnd_bytes"]);
    }
    assert!(flows["late"]["cwnd_bytes"].is_null());
    within(&output.summary["links"]["L"]["forward"]["queueing_delay_s"]);
}
