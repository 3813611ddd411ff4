//! Marks from the queue to the window and back: RFC 3168 on a whole network.

use ackclock_sim::{Simulation, check};
use serde_json::{Value, json};

/// Four flows of this sender over a RED queue that marks, for twenty seconds; the summary.
fn summary(tcp: &Value) -> Value {
    let access = json!({"rate": "100 Mbps", "delay": "2 ms"});
    let document = json!({
        "topology": {"kind": "dumbbell", "leaves": 4, "access": access,
            "bottleneck": {"rate": "10 Mbps", "delay": "10 ms",
                "queue": {"kind": "red", "limit": "200 packets", "min": "15 packets", "max": "100 packets",
                    "max_p": 0.1, "ecn": true}}},
        "flows": [{"id": "F", "count": 4, "from": "S*", "to": "D*", "tcp": tcp}],
        "stop": {"when": "time", "at_latest": "20 s"},
        "record": "none",
    });
    let checked = check(&document);
    assert_eq!(checked.problems, [], "{document}");
    let mut simulation = Simulation::new(checked.scenario.unwrap());
    while !simulation.advance(u64::MAX) {}
    simulation.finish().summary
}

fn sum(summary: &Value, key: &str) -> u64 {
    let flows = summary["flows"].as_object().unwrap().values();
    flows.map(|flow| flow[key].as_u64().unwrap()).sum()
}

#[test]
fn flows_that_understand_marks_share_a_link_without_losing_a_packet() {
    let capable = summary(&json!({"sender": "classic", "ecn": true, "initial_ssthresh": 20}));
    assert_eq!((sum(&capable, "segments_dropped"), sum(&capable, "retransmissions")), (0, 0));
    let cuts = sum(&capable, "ecn_reductions");
    assert!(cuts > 20, "{cuts}");
    // The same network drops where the others do not understand marks, and the link stays as busy.
    let plain = summary(&json!({"sender": "classic", "initial_ssthresh": 20}));
    assert_eq!(sum(&plain, "ecn_reductions"), 0);
    assert!(sum(&plain, "segments_dropped") > 20, "{plain}");
    let [capable, plain] = [&capable, &plain].map(|s| sum(s, "bytes_delivered") as f64);
    assert!((0.97..1.1).contains(&(capable / plain)), "{capable} and {plain}");
    assert!(capable * 8.0 / 20.0 > 9.0e6 * 0.97 * 0.9, "{capable}");
}
