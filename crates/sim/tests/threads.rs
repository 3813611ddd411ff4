//! Runs in several threads give what one thread gives, bit by bit.

use crate::common::{bits, orderly, result, run, scenario};
use ackclock_sim::model::{Record, Scenario};
use ackclock_sim::{Shortcuts, Simulation, check};
use ackclock_trace::{Column, Keep, OF_SENDERS, packet_event};
use ackclock_units::Time;
use ackclock_units::param::Chosen;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::cell::Cell;

fn in_threads(scenario: &Scenario, threads: usize) -> Simulation {
    Simulation::in_threads(scenario.clone(), Shortcuts::default(), threads)
}

/// A random network that nothing but its links keeps from being divided.
fn divisible(mut scenario: Scenario) -> Scenario {
    if scenario.routing.kind == "distance-vector" {
        scenario.routing = Chosen { kind: "shortest-path".into(), values: Vec::new() };
    }
    scenario
}

/// The places in which two summaries differ.
fn differences(place: &str, one: &Value, other: &Value) -> Vec<String> {
    match (one, other) {
        (Value::Object(members), Value::Object(others)) if members.len() == others.len() => {
            let inner = |(key, value)| differences(&format!("{place}/{key}"), value, &others[key]);
            members.iter().flat_map(inner).collect()
        }
        _ if one == other => Vec::new(),
        _ => vec![format!("{place}: {one} is now {other}")],
    }
}

/// Records of all kinds: none, those of senders alone, samples, and all.
fn kinds_of_records() -> [Record; 4] {
    let of_senders = |table: &str| OF_SENDERS.contains(&table);
    let sampled = |table: &str| match table {
        "cwnd" | "queue" => Keep::Last(Time::from_ms(20)),
        "rtt" => Keep::Extremes(Time::from_ms(50)),
        "events" => Keep::All,
        _ => Keep::None,
    };
    let senders = |table: &str| if of_senders(table) { Keep::All } else { Keep::None };
    [Record::default(), Record::new(senders), Record::new(sampled), Record::ALL]
}

/// Random networks of all kinds in 2, 3 and 5 threads, with records and without. A fair share of them can be divided.
#[test]
fn threads_change_nothing() {
    let divided = Cell::new(0);
    let config = crate::common::networks(120);
    let cases = config.cases;
    let networks = prop_oneof![scenario(), orderly(), orderly()];
    let outcome = TestRunner::new(config).run(&networks, |scenario| {
        let mut scenario = divisible(scenario);
        for record in kinds_of_records() {
            scenario.record = record;
            let expected = run(Simulation::new(scenario.clone()));
            for threads in [2, 3, 5] {
                let simulation = in_threads(&scenario, threads);
                let Some(shape) = simulation.threads() else { break };
                let output = run(simulation);
                let differs = differences(
                    "",
                    &result(expected.summary.clone()),
                    &result(output.summary.clone()),
                );
                prop_assert!(
                    differs.is_empty(),
                    "{:#?} in {:?}: {:?}",
                    differs,
                    shape,
                    scenario.flows
                );
                for (known, found) in bits(&expected).into_iter().zip(bits(&output)) {
                    prop_assert!(known == found, "{}.{}: {:?}", known.0, known.1, shape);
                }
                divided.set(divided.get() + u32::from(threads == 2));
            }
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(3 * divided.get() >= 4 * cases, "{} runs were divided", divided.get());
}

/// A FIN that comes by itself is answered at once, also where the sender is in another part of the network.
#[test]
fn a_fin_by_itself_is_answered_when_it_comes() {
    let link = |id: &str, between: [&str; 2]| json!({"id": id, "between": between, "rate": "50 Mbps", "delay": "20 ms"});
    let document = json!({
        "hosts": ["A", "B"],
        "routers": ["R", "Q"],
        "links": [link("x", ["A", "R"]), link("z", ["R", "Q"]), link("y", ["Q", "B"])],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "5 kB"}],
        "stop": {"when": "time", "at_latest": "950 ms"},
        "record": {"kind": "none", "packets": "changes"},
    });
    let scenario = check(&document).scenario.expect("a document without errors");
    let output = run(Simulation::new(scenario.clone()));
    let known = Record::new(|_| Keep::None);
    let alone = Scenario { record: known, ..scenario };
    let expected = run(Simulation::new(alone.clone())).summary;
    let divided = in_threads(&alone, 2);
    assert!(divided.threads().is_some());
    let differs = differences("", &result(expected), &result(run(divided).summary));
    assert!(differs.is_empty(), "{differs:#?}");
    // Each of the ACKs that B sends leaves when something has come, and the last two at the same time.
    let of = |name: &str| {
        let (_, columns) = output.tables.iter().find(|(table, _)| *table == "packets").unwrap();
        columns.iter().find(|(column, _)| *column == name).unwrap().1.clone()
    };
    let Column::F64(times) = of("time_s") else { panic!("times") };
    let (Column::I32(hosts), Column::I32(events)) = (of("host"), of("event")) else {
        panic!("codes")
    };
    let at_b = |event: i32| {
        let rows = times.iter().zip(&hosts).zip(&events);
        rows.filter(move |((_, host), kind)| **host == 1 && **kind == event).map(|((t, _), _)| *t)
    };
    let (sent, came): (Vec<f64>, Vec<f64>) =
        (at_b(packet_event::SENT).collect(), at_b(packet_event::RECEIVED).collect());
    assert!(sent.iter().all(|time| came.contains(time)), "{sent:?} {came:?}");
    assert_eq!(sent[sent.len() - 2], sent[sent.len() - 1]);
}

/// A scenario of a fabric, with a flow from each host to one half of the others further.
fn fabric(topology: &Value, hosts: usize, tcp: &Value, more: &Value) -> Scenario {
    let flow = |i: usize| {
        let to = (i + hosts / 2 + 1) % hosts;
        let (id, from, to) = (format!("F{i}"), format!("H{}", i + 1), format!("H{}", to + 1));
        let start = format!("{} us", 3 * i);
        let mut flow = json!({"id": id, "from": from, "to": to, "start": start});
        let udp = i % 8 == 5;
        let source = json!({"kind": "cbr", "rate": "200 Mbps", "write": "1000 B"});
        let udp_block = json!({"source": source});
        flow[if udp { "udp" } else { "tcp" }] = if udp { udp_block } else { tcp.clone() };
        flow
    };
    let mut document = json!({
        "topology": topology,
        "flows": (0..hosts).map(flow).collect::<Vec<_>>(),
        "routing": {"kind": "ecmp"},
        "stop": {"when": "time", "at_latest": "8 ms"},
        "record": "none",
    });
    for (key, value) in more.as_object().expect("a mapping") {
        document[key] = value.clone();
    }
    let checked = check(&document);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    checked.scenario.expect("a document without errors")
}

/// Fabrics with all kinds of senders, losses and marks in two, three and four threads; runs in turns and in one.
#[test]
fn fabrics_are_divided_and_stay_the_same() {
    let link = |queue: Value, loss: Value| json!({"rate": "1 Gbps", "delay": "2 us", "queue": queue, "loss": loss});
    let droptail = json!({"kind": "droptail", "limit": "30 packets"});
    let none = json!("none");
    let leaf_spine = |link: Value| json!({"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts": 4, "access": link});
    let fat_tree = |link: Value| json!({"kind": "fat-tree", "ports": 4, "access": link});
    let newreno = json!({"cc": "reno"});
    let delayed = json!({"cc": "reno", "receiver": "delayed"});
    let marking = json!({"kind": "threshold", "mark_from": "10 packets", "limit": "60 packets"});
    let lossy = json!({"kind": "bernoulli", "p": 0.01});
    let cases = [
        ("newreno", leaf_spine(link(droptail.clone(), none.clone())), newreno.clone(), true),
        ("delayed", fat_tree(link(droptail.clone(), lossy.clone())), delayed, false),
        (
            "cubic",
            fat_tree(link(droptail.clone(), lossy.clone())),
            json!({"preset": "linux-cubic"}),
            false,
        ),
        (
            "bbr",
            leaf_spine(link(droptail.clone(), lossy.clone())),
            json!({"preset": "linux-bbr"}),
            false,
        ),
        (
            "dctcp",
            leaf_spine(link(marking, none)),
            json!({"preset": "linux-dctcp", "receiver": "immediate"}),
            true,
        ),
        ("codel", fat_tree(link(json!({"kind": "codel"}), lossy)), newreno, true),
    ];
    for (name, topology, tcp, with_events) in cases {
        let scenario = fabric(&topology, 16, &tcp, &json!({}));
        let expected = run(Simulation::new(scenario.clone())).summary;
        assert!(expected["packet_hops"].as_u64() > Some(1000), "{name}");
        for threads in [2, 3, 4, 4] {
            let mut simulation = in_threads(&scenario, threads);
            assert_eq!(simulation.threads().map(|shape| shape.threads), Some(threads), "{name}");
            while !simulation.advance(if threads == 3 { 700 } else { u64::MAX }) {}
            let summary = simulation.finish().summary;
            let differs = differences("", &result(expected.clone()), &result(summary.clone()));
            assert!(differs.is_empty(), "{name} in {threads} threads: {differs:#?}");
            if with_events {
                // Unless a timer of a receiver is an event of its own where its sender belongs to another part.
                assert_eq!(summary["events"], expected["events"], "{name} in {threads} threads");
            }
        }
    }
}

/// Files over a fabric as a scenario has them by default: all is recorded, and the run ends with the last flow, at that very
/// event. The same with other records and other senders.
#[test]
fn files_over_a_fabric_end_at_the_same_event() {
    let loss = json!({"kind": "bernoulli", "p": 0.01});
    let link = json!({"rate": "1 Gbps", "delay": "2 us", "queue": {"kind": "droptail", "limit": "20 packets"}, "loss": loss});
    let topology =
        json!({"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts": 4, "access": link});
    for tcp in [
        json!({}),
        json!({"cc": "reno", "receiver": "delayed"}),
        json!("newreno"),
        json!("linux-bbr"),
    ] {
        let flow = |i: usize| {
            let (from, to) = (format!("H{}", i + 1), format!("H{}", (i + 9) % 16 + 1));
            let send = format!("{} B", 20_000 + 7_001 * i);
            json!({"id": format!("F{i}"), "from": from, "to": to, "start": format!("{} us", 5 * i), "send": send, "tcp": tcp})
        };
        let document = json!({
            "topology": topology,
            "flows": (0..16).map(flow).collect::<Vec<_>>(),
            "routing": {"kind": "ecmp"},
        });
        let checked = check(&document);
        assert!(checked.problems.is_empty(), "{:?}", checked.problems);
        let mut scenario = checked.scenario.expect("a document without errors");
        for record in kinds_of_records() {
            scenario.record = record;
            let expected = run(Simulation::new(scenario.clone()));
            assert_eq!(expected.summary["stop_reason"], "flows-complete");
            for threads in [2, 3] {
                let mut simulation = in_threads(&scenario, threads);
                while !simulation.advance(if threads == 3 { 700 } else { u64::MAX }) {}
                assert_eq!(simulation.undivided(), None, "{tcp}");
                assert_eq!(simulation.threads().map(|shape| shape.threads), Some(threads));
                let output = simulation.finish();
                let [one, other] =
                    [&expected, &output].map(|output| result(output.summary.clone()));
                assert_eq!(differences("", &one, &other), Vec::<String>::new(), "{tcp}");
                assert!(bits(&expected) == bits(&output), "{tcp} in {threads} threads: {record:?}");
            }
        }
    }
}

/// Where one thread has to start again, what was taken out of the records does not come twice.
#[test]
fn records_go_on_where_one_thread_starts_again() {
    let link = json!({"rate": "1 Gbps", "delay": "2 us"});
    let topology =
        json!({"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts": 4, "access": link});
    let few = json!({"when": "time", "at_latest": "1 ms", "max_packets": 150});
    let limited = json!({"kind": "all", "limit": "1 MB"});
    for (more, word) in [
        (json!({"stop": few, "record": "all"}), "max_packets"),
        (json!({"record": limited}), "limit"),
    ] {
        let scenario = fabric(&topology, 16, &json!({"cc": "reno"}), &more);
        let expected = run(Simulation::new(scenario.clone()));
        assert_ne!(expected.summary["stop_reason"], "time");
        let mut simulation = in_threads(&scenario, 2);
        let mut tables: Vec<(String, Vec<u64>)> = Vec::new();
        let mut add = |output: &ackclock_sim::Output| {
            for (table, column, values) in bits(output) {
                let name = format!("{table}.{column}");
                match tables.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, all)) => all.extend(values),
                    None => tables.push((name, values)),
                }
            }
        };
        while !simulation.advance(1500) {
            let tables = simulation.take_records(1);
            add(&ackclock_sim::Output { summary: Value::Null, tables });
        }
        assert!(simulation.undivided().is_some_and(|reason| reason.contains(word)), "{word}");
        let output = simulation.finish();
        add(&output);
        assert_eq!(output.summary, expected.summary);
        for (table, column, values) in bits(&expected) {
            let name = format!("{table}.{column}");
            let found = tables.iter().find(|(known, _)| *known == name);
            assert!(found.is_some_and(|(_, all)| *all == values), "{name}");
        }
    }
}

/// What can't be divided runs in one thread, and says why.
#[test]
fn what_is_not_divided_says_why() {
    let link = json!({"rate": "1 Gbps", "delay": "2 us"});
    let tcp = json!({"cc": "reno"});
    let topology =
        json!({"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "access": link});
    let reason = |more: Value, topology: &Value| {
        let mut simulation = in_threads(&fabric(topology, 8, &tcp, &more), 2);
        while !simulation.advance(u64::MAX) {}
        assert!(simulation.threads().is_none());
        simulation.undivided().expect("a reason").to_owned()
    };
    for (more, word) in [
        (json!({"ties": "first-come"}), "ties"),
        (json!({"stop": {"when": "time", "at_latest": "1 ms", "events": 1000}}), "events"),
        (json!({"stop": {"when": "time", "at_latest": "1 ms", "max_packets": 10}}), "max_packets"),
    ] {
        let said = reason(more, &topology);
        assert!(said.contains(word), "{word}: {said}");
    }
    let mut still = topology.clone();
    still["access"]["delay"] = json!("0 s");
    still["access"]["duplex"] = json!("half");
    assert!(reason(json!({}), &still).contains("half-duplex"));
    let scenario = fabric(&topology, 8, &tcp, &json!({}));
    assert!(in_threads(&scenario, 1).undivided().is_none());
}

/// A run that is interrupted is summed up at one moment of all parts.
#[test]
fn an_interrupted_run_conserves_packets() {
    let link = json!({"rate": "1 Gbps", "delay": "2 us", "loss": {"kind": "bernoulli", "p": 0.01}});
    let topology =
        json!({"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts": 4, "access": link});
    let scenario = fabric(&topology, 16, &json!({"preset": "linux-cubic"}), &json!({}));
    for turns in [1, 3, 10] {
        let mut simulation = in_threads(&scenario, 2);
        for _ in 0..turns {
            assert!(!simulation.advance(1000));
        }
        let reason = simulation.figures().get("stop_reason").clone();
        assert_eq!(reason, ackclock_sim::figures::Figure::Word("interrupted"));
        crate::common::assert_conserved(&simulation, "two threads");
    }
}
