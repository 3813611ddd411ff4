//! Links that change in the course of a run.

use ackclock_sim::{Output, Simulation, check};
use serde_json::{Value, json};

/// A constant-rate source of 1 Mbps for 4 s over one link of 10 Mbps and 10 ms with these changes.
fn run(changes: &Value) -> Output {
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms",
            "queue": {"kind": "droptail", "limit": "unlimited"}, "changes": changes,
        }],
        "flows": [{
            "id": "F", "from": "A", "to": "B",
            "udp": {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1250 B"}},
        }],
        "stop": {"when": "time", "at_latest": "4 s"},
    });
    let checked = check(&document);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let mut simulation = Simulation::new(checked.scenario.unwrap());
    while !simulation.advance(1000) {}
    simulation.finish()
}

fn link(output: &Output) -> &Value {
    &output.summary["links"]["L"]["forward"]
}

#[test]
fn a_link_that_is_down_takes_nothing_and_keeps_what_it_has() {
    // A packet every 10 ms, at 0, 10, ...: those of [1 s, 2 s) meet a link that is down. The one of 1 s
    // comes before the change of that moment, the one of 2 s before the link is up again.
    let output = run(&json!([{"at": "1 s", "state": "down"}, {"at": "2 s", "state": "up"}]));
    assert_eq!(output.summary["packets_dropped"]["link-down"], 100);
    assert_eq!(link(&output)["drops"]["link-down"], 100);
    // Sent at 0 to 3.98 s, less those dropped, have arrived by 4 s: 11 ms of way each.
    assert_eq!(output.summary["flows"]["F"]["bytes_delivered"], (399 - 100) * 1250);
}

#[test]
fn a_lower_rate_makes_packets_wait_and_a_higher_one_drains_them() {
    // From 1 s on a packet takes 20 ms instead of 1 ms and every 10 ms one comes; from 2 s on 1 ms again.
    let output = run(&json!([{"at": "1 s", "rate": "500 kbps"}, {"at": "2 s", "rate": "10 Mbps"}]));
    let most = link(&output)["queue_packets"]["max"].as_u64().unwrap();
    assert!((49..=51).contains(&most), "{most} packets waiting");
    assert_eq!(output.summary["packets_dropped"]["queue-full"], 0);
    // 1 ms for each of 100 packets, 1 s of full use, then the 50 that waited and all that come.
    let utilization = link(&output)["utilization"].as_f64().unwrap();
    let busy = 0.1 + 1.0 + 0.05 + 0.2;
    assert!((utilization * 4.0 - busy).abs() < 0.02, "busy for {} s", utilization * 4.0);
}

#[test]
fn a_shorter_delay_does_not_let_packets_overtake() {
    let output = run(&json!([{"at": "1 s", "delay": "500 ms"}, {"at": "2 s", "delay": "1 ms"}]));
    let packets = output.tables.iter().find(|(name, _)| *name == "packets").unwrap();
    let column = |name: &str| {
        let (_, column) = packets.1.iter().find(|(n, _)| *n == name).unwrap();
        match column {
            ackclock_trace::Column::F64(values) => values.clone(),
            ackclock_trace::Column::I64(values) => values.iter().map(|v| *v as f64).collect(),
            ackclock_trace::Column::I32(values) => values.iter().map(|v| f64::from(*v)).collect(),
            ackclock_trace::Column::Bool(_) => panic!("no number"),
        }
    };
    let (time, event, seq) = (column("time_s"), column("event"), column("seq"));
    let arrived: Vec<(f64, f64)> =
        (0..time.len()).filter(|&i| event[i] == 1.0).map(|i| (seq[i], time[i])).collect();
    assert!(arrived.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
    // Packet 150, sent at 1.5 s, takes 1 ms and 500 ms; packet 200, sent at 2 s just before the change,
    // leaves 1 ms later with the short delay, yet not before packet 199 of 1.99 s has arrived.
    let at = |seq: f64| arrived.iter().find(|(s, _)| *s == seq).unwrap().1;
    assert!((at(150.0) - 2.001).abs() < 1e-9);
    assert!((at(200.0) - at(199.0)).abs() < 0.5);
    assert!((at(350.0) - 3.502).abs() < 1e-9);
}

#[test]
fn faults_of_changes_are_told() {
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms", "duplex": "half",
            "changes": [{"at": "1 s"}, {"at": "2 s", "direction": "forward", "rate": "fast"}, 7],
        }],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB"}],
    });
    let messages: Vec<String> =
        check(&document).problems.iter().map(|p| format!("{}: {}", p.place(), p.message)).collect();
    assert!(
        messages.iter().any(|t| t.starts_with("links.0.changes.0: nothing changes")),
        "{messages:?}"
    );
    assert!(messages.iter().any(|t| t.starts_with("links.0.changes.1.direction:")), "{messages:?}");
    assert!(messages.iter().any(|t| t.starts_with("links.0.changes.1.rate:")), "{messages:?}");
    assert!(messages.iter().any(|t| t.starts_with("links.0.changes.2: a mapping")), "{messages:?}");
}

#[test]
fn a_transmission_keeps_the_rate_at_which_it_began() {
    // One packet of 1500 B at 100 bps takes 120 s, whatever the rate becomes meanwhile.
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": "100 bps", "delay": "1 ms",
            "changes": [{"at": "1 ms", "rate": "1 Mbps"}, {"at": "2 ms", "rate": "2 Mbps"}],
        }],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "10 KB", "tcp": "fast"}],
        "stop": {"at_latest": "10 s"},
    });
    let run = |seconds: &str| {
        let mut document = document.clone();
        document["stop"]["at_latest"] = seconds.into();
        let mut simulation = Simulation::new(check(&document).scenario.unwrap());
        while !simulation.advance(1000) {}
        simulation.finish()
    };
    assert_eq!(link(&run("10 s"))["utilization"], 1.0);
    // Afterwards the copies that piled up leave at 2 Mbps: a link is never busier than time.
    let utilization = link(&run("122 s"))["utilization"].as_f64().unwrap();
    assert!((120.0 / 122.0..=1.0).contains(&utilization), "{utilization}");
}
