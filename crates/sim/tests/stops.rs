//! Flows that write at given times, and flows that are cut off.

use crate::common::{self, result};
use crate::documents;

use ackclock_sim::{Shortcuts, Simulation, check};
use ackclock_trace::{Column, packet_event};
use documents::run;
use serde_json::{Value, json};

fn document(flow: &Value) -> Value {
    let mut all = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "8 Mbps", "delay": "50 ms",
            "queue": {"limit": "unlimited"}}],
        "flows": [{"id": "F", "from": "A", "to": "B"}],
        "record": {"kind": "none", "packets": "changes", "events": "changes"},
        "stop": {"at_latest": "20 s"},
    });
    all["flows"][0].as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
    all
}

/// Times in ms and payload of the data packets that were sent, and the summary of the flow.
fn sent(flow: &Value) -> (Vec<(u64, i32)>, Value) {
    let mut document = document(flow);
    document["stop"]["when"] = "time".into();
    let output = run(&document);
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "packets").expect("recorded");
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::F64(times), Column::I32(events), Column::I32(kinds), Column::I32(bytes)) =
        (column("time_s"), column("event"), column("kind"), column("bytes"))
    else {
        panic!("columns of another type")
    };
    let rows = (0..times.len()).filter(|&i| kinds[i] == 0 && events[i] == packet_event::SENT);
    let rows = rows.map(|i| ((times[i] * 1000.0).round() as u64, bytes[i] - 40)).collect();
    (rows, output.summary["flows"]["F"].clone())
}

#[test]
fn writes_are_sent_when_they_are_due_and_the_last_one_ends_the_flow() {
    let writes = json!([{"at": "0 s", "size": "1000 B"}, ["300 ms", "500 B"], ["301 ms", "1 B"]]);
    for sender in ["classic", "selective-repeat"] {
        let tcp = json!({"sender": sender, "segment": "1000 B",
            "source": {"kind": "schedule", "writes": writes}});
        let (sent, flow) = sent(&json!({"start": "2 s", "tcp": tcp}));
        // Selective repeat numbers whole packets, and keeps what is less until the last write.
        let expected: &[(u64, i32)] = match sender {
            "classic" => &[(2000, 1000), (2300, 500), (2301, 1)],
            _ => &[(2000, 1000), (2301, 501)],
        };
        assert_eq!(sent, expected, "{sender}");
        assert_eq!(
            (&flow["bytes_offered"], &flow["bytes_delivered"]),
            (&json!(1501), &json!(1501))
        );
        assert!(flow["finish_ack_s"].is_number());
    }
    let udp = json!({"source": {"kind": "schedule", "writes": writes}});
    let (_, flow) = sent(&json!({"udp": udp}));
    assert_eq!((&flow["segments_sent"], &flow["bytes_delivered"]), (&json!(3), &json!(1501)));
}

#[test]
fn a_flow_that_is_cut_off_sends_nothing_more_and_what_is_under_way_arrives() {
    for sender in ["classic", "selective-repeat"] {
        let tcp = json!({"sender": sender, "segment": "1000 B"});
        let (sent, flow) = sent(&json!({"start": "1 s", "stop": "3 s", "tcp": tcp}));
        let segments = flow["segments_sent"].as_u64().unwrap();
        assert!(sent.last().unwrap().0 <= 3000, "{sent:?}");
        assert_eq!(sent.len() as u64, segments);
        assert_eq!(flow["stopped_s"], 3.0);
        assert_eq!((&flow["finish_s"], &flow["finish_ack_s"]), (&Value::Null, &Value::Null));
        // Nothing is lost here, so all that was sent has arrived.
        assert_eq!(flow["bytes_delivered"], 1000 * segments, "{sender}");
        // Not more than the link can carry, though some of it came after the end.
        let goodput = flow["goodput_bps"].as_f64().unwrap();
        assert!((4e6..8e6).contains(&goodput), "{goodput}");
        // The rest of the network goes on without it: the run ends with it.
        let summary = run(&document(&json!({"stop": "3 s", "tcp": tcp}))).summary;
        assert_eq!(
            (&summary["stop_reason"], &summary["finished"]),
            (&json!("flows-complete"), &json!(true))
        );
        assert_eq!(summary["end_s"], 3.0);
    }
    let udp = json!({"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1000 B"}});
    let (sent, flow) = sent(&json!({"stop": "1 s", "udp": udp}));
    // What is due at that very moment is still sent.
    assert_eq!((sent.len(), &flow["bytes_written"]), (126, &json!(126_000)));
    assert_eq!((&flow["bytes_delivered"], &flow["stopped_s"]), (&json!(126_000), &json!(1.0)));
}

#[test]
fn a_flow_that_is_over_is_not_cut_off() {
    let tcp = json!({"sender": "classic"});
    let (_, flow) = sent(&json!({"stop": "10 s", "send": "10 kB", "tcp": tcp}));
    assert_eq!(flow["stopped_s"], Value::Null);
    let summary = run(&document(&json!({"stop": "10 s", "send": "10 kB", "tcp": tcp}))).summary;
    assert!(summary["end_s"].as_f64().unwrap() < 1.0);
}

/// What a document gives with these shortcuts, in so many threads.
fn result_of(document: &Value, shortcuts: Shortcuts, threads: usize) -> Value {
    let scenario = check(document).scenario.expect("a document without errors");
    common::run(Simulation::in_threads(scenario, shortcuts, threads)).summary
}

/// Several hops, which are walked, also where threads divide the network.
fn chain(flows: &Value) -> Value {
    json!({
        "hosts": ["A", "B"],
        "routers": ["R", "S", "T"],
        "links": [
            {"id": "L", "between": ["A", "R"], "rate": "10 Mbps", "delay": "1 ms"},
            {"id": "M", "between": ["R", "S"], "rate": "10 Mbps", "delay": "5 ms"},
            {"id": "N", "between": ["S", "T"], "rate": "10 Mbps", "delay": "1 ms"},
            {"id": "O", "between": ["T", "B"], "rate": "10 Mbps", "delay": "1 ms"},
        ],
        "flows": flows,
        "record": "none",
        "stop": {"at_latest": "20 s"},
    })
}

#[test]
fn a_run_that_cannot_be_complete_is_walked_as_one_that_ends_by_time() {
    let endless = json!({"id": "U", "from": "A", "to": "B", "tcp": "newreno"});
    let limited = json!({"id": "T", "from": "A", "to": "B", "tcp": "newreno", "send": "1 MB"});
    let cut_off = json!({"id": "U", "from": "A", "to": "B", "tcp": "newreno", "stop": "3 s"});
    let events = |flows: &Value, when: &str, shortcuts: Shortcuts| {
        let mut document = chain(flows);
        document["stop"]["when"] = when.into();
        let summary = result_of(&document, shortcuts, 1);
        summary["events"].as_u64().unwrap()
    };
    let on = Shortcuts::default();
    let unwalked = Shortcuts { walked: false, ..on };
    for flows in [json!([endless]), json!([limited, endless])] {
        let walked = events(&flows, "flows-complete", on);
        assert_eq!(walked, events(&flows, "time", on));
        assert!(walked < events(&flows, "flows-complete", unwalked));
    }
    for flow in [limited, cut_off] {
        let flows = json!([flow]);
        let all = events(&flows, "flows-complete", on);
        assert_eq!(all, events(&flows, "flows-complete", unwalked));
    }
}

#[test]
fn a_run_that_stalls_ends_with_its_last_event_though_that_was_walked() {
    // The first off-period is longer than any run.
    let source = json!({"kind": "on-off", "rate": "1 Mbps", "write": "500 B", "on": "1 s", "off": "36500 d"});
    let flows = json!([
        {"id": "U", "from": "A", "to": "B", "udp": {"source": source}},
        {"id": "T", "from": "A", "to": "B", "tcp": "newreno", "send": "100 kB"},
    ]);
    let document = chain(&flows);
    let expected = result_of(&document, Shortcuts { walked: false, ..Shortcuts::default() }, 1);
    assert_eq!(expected["stop_reason"], "stalled");
    // 0.996 s, 0.4 ms on each of four wires, and their delays.
    assert_eq!(expected["end_s"], 1.0056);
    for threads in [1, 2] {
        let summary = result_of(&document, Shortcuts::default(), threads);
        assert_eq!(result(summary), result(expected.clone()), "{threads} threads");
    }
}
