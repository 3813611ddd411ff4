//! Traffic sources in whole runs: what is written, what is sent, what arrives.

use ackclock_sim::{Output, Simulation, check};
use ackclock_trace::Column;
use serde_json::{Value, json};

/// A flow over a fast link without losses, for ten seconds.
fn scenario(flow: Value) -> Value {
    let mut all = json!({"id": "F1", "from": "A", "to": "B"});
    all.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
    json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L1", "between": ["A", "B"], "rate": "100 Mbps", "delay": "5 ms"}],
        "flows": [all],
        "stop": {"when": "time", "at_latest": "10 s"},
    })
}

fn run(document: &Value) -> Output {
    let checked = check(document);
    assert_eq!(checked.problems, [], "{document}");
    let mut simulation = Simulation::new(checked.scenario.unwrap());
    while !simulation.advance(10_000) {}
    simulation.finish()
}

/// When the host at the start of the flow sent its packets, ns, and their bytes.
fn sent(flow: Value) -> Vec<(u64, i32)> {
    let output = run(&scenario(flow));
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "packets").unwrap();
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::F64(times), Column::I32(hosts), Column::I32(events), Column::I32(bytes)) =
        (column("time_s"), column("host"), column("event"), column("bytes"))
    else {
        panic!("columns of another type")
    };
    (0..times.len())
        .filter(|&row| hosts[row] == 0 && events[row] == 0)
        .map(|row| ((times[row] * 1e9).round() as u64, bytes[row]))
        .collect()
}

/// The same in multiples of 3.36 ms, the time of 210 bytes at 0.5 Mbps, after `from` ns.
fn distances(times: &[(u64, i32)], from: u64) -> Vec<f64> {
    times.iter().map(|(time, _)| (time - from) as f64 / 3_360_000.0).collect()
}

/// ns-2.35: a CBR source of 0.5 Mb/s, started at 0 and 0.1 s and stopped 50 ms later each time, over UDP.
#[test]
fn a_source_that_is_started_and_stopped_is_that_of_ns_2() {
    let source = json!({"kind": "on-off", "rate": "500 kbps", "write": "210 B", "on": "50 ms",
        "off": "50 ms", "remainder": "restart"});
    let times = sent(json!({"udp": {"source": source}}));
    let writes: Vec<f64> = (0..15).map(f64::from).collect();
    assert_eq!(distances(&times[..15], 0), writes);
    assert_eq!(distances(&times[15..30], 100_000_000), writes);
    assert!(times.iter().all(|(_, bytes)| *bytes == 210));
}

/// ns-2.35: Application/Traffic/Pareto of 0.5 Mb/s with `burst_time_ 20ms`, `idle_time_ 30ms`, and a shape
/// so large that all lengths are the mean: six packets from 33.36, 83.52, 133.68 ms on.
#[test]
fn bursts_of_whole_writes_are_those_of_ns_2() {
    let period = |mean: &str| json!({"kind": "fixed", "mean": mean});
    let source = json!({"kind": "on-off", "rate": "500 kbps", "write": "210 B",
        "on": period("20 ms"), "off": period("30 ms"), "first": "off", "write_at": "end",
        "remainder": "whole-writes"});
    let times = sent(json!({"udp": {"source": source}}));
    let writes: Vec<f64> = (0..6).map(f64::from).collect();
    for (burst, from) in [33_360_000, 83_520_000, 133_680_000].into_iter().enumerate() {
        assert_eq!(distances(&times[6 * burst..6 * burst + 6], from), writes);
    }
}

/// The rules of a cut distance between writes: 10 ms at 80 kbps and 100 B, in on-periods of 25 ms.
#[test]
fn cut_distances_are_carried_or_forgotten() {
    let times = |write_at: &str, remainder: &str| -> Vec<u64> {
        let source = json!({"kind": "on-off", "rate": "80 kbps", "write": "100 B", "on": "25 ms",
            "off": "75 ms", "write_at": write_at, "remainder": remainder});
        let times = sent(json!({"udp": {"source": source}}));
        times.iter().map(|(time, _)| time / 1_000_000).take_while(|ms| *ms < 300).collect()
    };
    assert_eq!(times("start", "carry"), [0, 10, 20, 105, 115, 200, 210, 220]);
    assert_eq!(times("start", "restart"), [0, 10, 20, 100, 110, 120, 200, 210, 220]);
    assert_eq!(times("end", "carry"), [10, 20, 105, 115, 125, 210, 220]);
    assert_eq!(times("end", "restart"), [10, 20, 110, 120, 210, 220]);
    // Three writes, for 2.5 distances are rounded up, and they take 30 ms.
    assert_eq!(times("start", "whole-writes"), [0, 10, 20, 105, 115, 125, 210, 220, 230]);
}

/// On-periods too short for a write add up, and a pause without end is none.
#[test]
fn short_periods_add_up() {
    let source = json!({"kind": "on-off", "rate": "80 kbps", "write": "100 B", "on": "1 us",
        "off": "1 us", "write_at": "end"});
    let times = sent(json!({"udp": {"source": source}}));
    // Every 10 ms on, so every 20 ms of all: the last moment of the 10 ms is on.
    assert_eq!(times[..2], [(19_999_000, 100), (39_999_000, 100)]);
    assert_eq!(times.len(), 500);
}

/// The long run: a third of 1 Mbps, whatever the laws of the lengths, within five standard errors.
#[test]
fn the_mean_rate_is_the_share_of_on_periods() {
    let rate = |on: Value, off: Value, remainder: &str| {
        let source = json!({"kind": "on-off", "rate": "1 Mbps", "write": "125 B", "on": on, "off": off,
            "remainder": remainder});
        let mut document = scenario(json!({"udp": {"source": source}}));
        document["stop"]["at_latest"] = json!("20000 s");
        document["record"] = json!("none");
        let output = run(&document);
        output.summary["flows"]["F1"]["bytes_written"].as_f64().unwrap() * 8.0 / 20_000.0
    };
    let fixed = rate(json!("50 ms"), json!("100 ms"), "carry");
    assert!((fixed - 1e6 / 3.0).abs() < 100.0, "{fixed}");
    let law = |kind: &str, mean: &str, shape: f64| match kind {
        "pareto" => json!({"kind": kind, "mean": mean, "shape": shape}),
        _ => json!({"kind": kind, "mean": mean}),
    };
    // 133 000 cycles; the share varies from cycle to cycle by less than one mean cycle.
    let sigma = 1e6 / 3.0 / f64::sqrt(133_000.0);
    let exponential =
        rate(law("exponential", "50 ms", 0.0), law("exponential", "100 ms", 0.0), "carry");
    assert!((exponential - 1e6 / 3.0).abs() < 5.0 * sigma, "{exponential}");
    let pareto = rate(law("pareto", "50 ms", 3.0), law("pareto", "100 ms", 3.0), "carry");
    assert!((pareto - 1e6 / 3.0).abs() < 5.0 * sigma, "{pareto}");
}

#[test]
fn random_sources_repeat_themselves_and_mind_nobody_else() {
    let law = json!({"kind": "exponential", "mean": "50 ms"});
    let source = json!({"kind": "on-off", "rate": "1 Mbps", "on": law, "off": law});
    let alone = scenario(json!({"udp": {"source": source}}));
    let first = run(&alone);
    assert_eq!(run(&alone).summary, first.summary);
    let mut other = alone.clone();
    other["seed"] = json!(2);
    assert_ne!(run(&other).summary["digest"], first.summary["digest"]);
    let mut both = alone;
    let second = json!({"id": "F0", "from": "B", "to": "A", "udp": {"source": source}});
    both["flows"].as_array_mut().unwrap().insert(0, second);
    let both = run(&both).summary;
    assert_eq!(both["flows"]["F1"], first.summary["flows"]["F1"]);
    assert_ne!(both["flows"]["F0"]["bytes_written"], both["flows"]["F1"]["bytes_written"]);
}

/// A 210-byte write: a small segment, or a whole one as in ns-2.
#[test]
fn writes_over_tcp_are_a_stream_or_whole_segments() {
    let flow = |writes: &str| {
        json!({"tcp": {"sender": "classic", "segment": "1000 B", "writes": writes,
            "source": {"kind": "cbr", "rate": "500 kbps", "write": "210 B"}}})
    };
    let stream = sent(flow("bytes"));
    // The window has room for each.
    assert!(stream.iter().all(|(_, bytes)| *bytes == 250));
    assert_eq!(stream[..3].iter().map(|x| x.0).collect::<Vec<_>>(), [0, 3_360_000, 6_720_000]);
    let whole = sent(flow("whole-segments"));
    assert_eq!(whole.len(), stream.len());
    assert!(whole.iter().all(|(_, bytes)| *bytes == 1040));
}

/// Nagle: while a segment is out, writes gather; in a round trip of 10 ms two or three.
#[test]
fn nagle_gathers_small_writes() {
    let bytes = |send: &str| -> Vec<i32> {
        let flow = json!({"send": send, "tcp": {"sender": "classic", "segment": "1000 B", "nagle": true,
            "source": {"kind": "cbr", "rate": "500 kbps", "write": "210 B"}}});
        sent(flow).iter().map(|(_, bytes)| bytes - 40).collect()
    };
    // The ACK of the first is there after 10.0264 ms.
    assert_eq!(bytes("100 kB")[..4], [210, 420, 630, 630]);
    // The last one waits for nothing.
    assert_eq!(bytes("420 B"), [210, 210]);
}

/// With selective repeat packets leave when they are full.
#[test]
fn selective_repeat_fills_its_packets() {
    let flow = json!({"send": "2500 B", "tcp": {"sender": "selective-repeat", "segment": "1000 B",
        "source": {"kind": "cbr", "rate": "80 kbps", "write": "500 B"}}});
    let packets: Vec<(u64, i32)> =
        sent(flow).into_iter().map(|(time, bytes)| (time / 1_000_000, bytes - 40)).collect();
    assert_eq!(packets, [(50, 1000), (150, 1000), (200, 500)]);
}

/// A flow with an amount is complete when all was written and has arrived, with any sender.
#[test]
fn a_flow_ends_with_its_last_write() {
    for sender in ["modern", "classic", "selective-repeat"] {
        let flow = json!({"send": "10 kB", "tcp": {"sender": sender,
            "source": {"kind": "cbr", "rate": "80 kbps", "write": "300 B"}}});
        let mut document = scenario(flow);
        document["stop"]["when"] = json!("flows-complete");
        let summary = run(&document).summary;
        let flow = &summary["flows"]["F1"];
        assert_eq!(summary["stop_reason"], "flows-complete", "{sender}");
        for key in ["bytes_offered", "bytes_written", "bytes_delivered"] {
            assert_eq!(flow[key], 10_000, "{sender} {key}");
        }
        // 33 distances of 30 ms, and the way of the last segment.
        let finish = flow["finish_s"].as_f64().unwrap();
        assert!((0.995..0.9965).contains(&finish), "{sender}: {finish}");
    }
}

/// Two bursts of 30 segments a second apart, with an initial window of two: after the pause the second
/// one starts with the whole window, or again with two segments.
#[test]
fn an_idle_flow_keeps_its_window_or_starts_again() {
    let burst = |idle_restart: &str| {
        let flow = json!({"tcp": {"sender": "classic", "segment": "1000 B", "initial_window": 2,
            "idle_restart": idle_restart, "rto": {"kind": "rfc6298", "min": "200 ms"},
            "source": {"kind": "cbr", "rate": "240 kbps", "write": "30 kB"}}});
        sent(flow).iter().filter(|(time, _)| *time == 1_000_000_000).count()
    };
    assert_eq!(burst("none"), 30);
    assert_eq!(burst("rto"), 2);
}

/// By default a run ends when all flows are complete: over UDP when the last packet has arrived, or was dropped.
#[test]
fn datagrams_that_are_on_the_way_keep_the_run_going() {
    let document = |limit: u64| {
        json!({
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "50 ms",
                "queue": {"limit": format!("{limit} packets")}}],
            "flows": [{"id": "F", "from": "A", "to": "B", "send": "15 KB",
                "udp": {"source": {"kind": "cbr", "rate": "10 Mbps", "write": "1500 B"}}}],
            "stop": {"at_latest": "10 s"},
        })
    };
    // Ten packets of 12 ms each; with room for two, the first three of them arrive, and those that come as the
    // first one leaves.
    let all = run(&document(100)).summary;
    assert_eq!(all["flows"]["F"]["bytes_delivered"], 15_000);
    assert_eq!(all["flows"]["F"]["finish_s"], 0.17);
    assert_eq!((&all["end_s"], &all["finished"]), (&json!(0.17), &json!(true)));
    let some = run(&document(2)).summary;
    let dropped = some["flows"]["F"]["segments_dropped"].as_u64().unwrap();
    assert!(dropped > 0);
    assert_eq!(some["flows"]["F"]["bytes_delivered"], 1500 * (10 - dropped));
    assert_eq!(some["stop_reason"], "flows-complete");
}

/// ns-2 plans when a script starts a source: of those that start together the earlier flow of the file comes first,
/// whichever wrote last before.
#[test]
fn on_periods_that_begin_together_come_in_the_order_of_the_flows() {
    let flow = |id: &str, write: &str| {
        json!({"id": id, "from": "A", "to": "B", "udp": {"source": {
            "kind": "on-off", "rate": "1 Mbps", "write": write, "on": "50 ms", "off": "50 ms",
            "remainder": "restart",
        }}})
    };
    for clock in ["exact", "double"] {
        let mut document = scenario(json!({}));
        // The last writes of an on-period are after 48 and after 44.8 ms.
        document["flows"] = json!([flow("first", "1000 B"), flow("second", "1400 B")]);
        document["ties"] = json!({"kind": "first-come", "clock": clock});
        document["stop"] = json!({"when": "time", "at_latest": "950 ms"});
        let output = run(&document);
        let (_, columns) = output.tables.iter().find(|(name, _)| *name == "packets").unwrap();
        let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
        let (Column::F64(times), Column::I32(flows), Column::I32(events)) =
            (column("time_s"), column("flow"), column("event"))
        else {
            panic!("columns of another type")
        };
        for period in 0..10 {
            let begin = f64::from(period) / 10.0;
            let order: Vec<i32> = (0..times.len())
                .filter(|&row| events[row] == 0 && (times[row] - begin).abs() < 1e-9)
                .map(|row| flows[row])
                .collect();
            assert_eq!(order, [0, 1], "{clock}, at {begin}");
        }
    }
}
