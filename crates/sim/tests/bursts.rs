//! Very many packets at one moment: the run stays in the hands of its caller, and of its memory.

use ackclock_sim::{Shortcuts, Simulation, check};
use serde_json::{Value, json};

/// A flow over one link, with these settings of `tcp`, for a second.
fn simulation(tcp: Value, stop: Value, shortcuts: Shortcuts) -> Simulation {
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L1", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms",
            "queue": {"limit": "unlimited"}}],
        "flows": [{"id": "F1", "from": "A", "to": "B", "tcp": tcp}],
        "stop": stop,
        "record": "none",
    });
    let checked = check(&document);
    assert_eq!(checked.problems, [], "{document}");
    Simulation::with(checked.scenario.unwrap(), shortcuts)
}

fn window_of(segments: u64) -> Value {
    json!({"cc": {"kind": "fixed", "window": segments}, "segment": "2 B"})
}

#[test]
fn a_large_window_does_not_leave_in_one_event() {
    let stop = json!({"at_latest": "1 s"});
    let on = Shortcuts::default();
    // Where packets are walked, ACKs are made with the data.
    for (shortcuts, most_acks) in [(Shortcuts { walked: false, ..on }, 0), (on, 1000)] {
        let mut simulation = simulation(window_of(1_000_000), stop.clone(), shortcuts);
        // The first ACK opens the window.
        while simulation.counters().created < 1000 {
            simulation.advance(1);
        }
        let now = simulation.now();
        for _ in 1..=50 {
            let before = simulation.counters().created;
            assert!(!simulation.advance(1), "a budget of one event");
            let created = simulation.counters().created - before;
            assert!((1000..=1000 + most_acks).contains(&created), "{created}");
        }
        // The budget counts what is sent, not only events.
        let before = simulation.counters().created;
        simulation.advance(5_000);
        assert!(simulation.counters().created <= before + 6 * (1000 + most_acks));
        while simulation.counters().created < 1_000_000 {
            simulation.advance(1);
            assert_eq!(simulation.now(), now);
        }
    }
}

#[test]
fn a_burst_in_parts_is_the_same_by_all_shortcuts() {
    let on = Shortcuts::default();
    let all = [
        on,
        Shortcuts { walked: false, ..on },
        Shortcuts { received: false, ..on },
        Shortcuts { packed: false, ..on },
        Shortcuts { fused: false, ..on },
    ];
    let stop = json!({"when": "time", "at_latest": "1 s"});
    let digests = all.map(|shortcuts| {
        let mut simulation = simulation(window_of(4_500), stop.clone(), shortcuts);
        while !simulation.advance(100) {}
        simulation.finish().summary["digest"].clone()
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn a_crowded_network_ends_the_run() {
    let tcp = json!({"sender": "classic", "recovery": "newreno", "segment": "536 B",
        "cc": {"kind": "fast", "alpha": 800_000, "update": "rtt"}});
    let stop = json!({"at_latest": "514 s", "max_packets": 50_000});
    let mut simulation = simulation(tcp, stop, Shortcuts::default());
    while !simulation.advance(1_000_000) {
        assert!(simulation.counters().created < 200_000, "the run does not end");
    }
    let summary = simulation.finish().summary;
    assert_eq!(summary["stop_reason"], "too-many-packets");
    assert_eq!(summary["finished"], false);
    assert!(summary["packets_created"].as_u64().unwrap() < 53_000, "{summary}");
}

#[test]
fn where_a_limit_of_packets_ends_a_run_does_not_depend_on_records() {
    let link = |id: &str, from: &str, to: &str, rate: &str| json!({"id": id, "between": [from, to], "rate": rate, "delay": "20 ms", "queue": {"limit": "unlimited"}});
    let summary = |record: &str, shortcuts: Shortcuts| {
        let document = json!({
            "hosts": ["A", "B"],
            "routers": ["R1", "R2"],
            "links": [
                link("L1", "A", "R1", "10 Mbps"), link("L2", "R1", "R2", "30 Mbps"), link("L3", "R2", "B", "20 Mbps"),
            ],
            "flows": [{"id": "F1", "from": "A", "to": "B", "tcp": {"sender": "classic", "cc": "reno"}}],
            "stop": {"when": "time", "at_latest": "30 s", "max_packets": 200},
            "record": record,
        });
        let mut simulation = Simulation::with(check(&document).scenario.unwrap(), shortcuts);
        while !simulation.advance(1_000) {}
        let mut summary = simulation.finish().summary;
        summary.as_object_mut().unwrap().remove("record");
        assert_eq!(summary["stop_reason"], "too-many-packets");
        summary
    };
    let all = summary("all", Shortcuts::default());
    let off = Shortcuts { walked: false, received: false, ..Shortcuts::default() };
    assert_eq!(all, summary("none", off));
    assert_eq!(all, summary("none", Shortcuts::default()));
}

/// A limit that a run comes near and passes for a moment only, where packets are far ahead on links that are walked: with
/// and without records, in one thread and in several, the run ends with the same packet, or none.
#[test]
fn what_is_walked_is_counted_until_it_is_there() {
    let link = |id: &str, from: &str, to: &str, rate: &str| json!({"id": id, "between": [from, to], "rate": rate, "delay": "200 ms", "queue": {"limit": "unlimited"}});
    let summary = |most: u32, record: &str, shortcuts: Shortcuts, threads: usize| {
        let document = json!({
            "hosts": ["A", "B"],
            "routers": ["R1", "R2"],
            "links": [
                link("L1", "A", "R1", "10 Mbps"), link("L2", "R1", "R2", "5 Mbps"), link("L3", "R2", "B", "20 Mbps"),
            ],
            "flows": [{"id": "F1", "from": "A", "to": "B",
                "udp": {"source": {"kind": "on-off", "rate": "9 Mbps", "write": "1000 B",
                    "on": {"kind": "exponential", "mean": "1 s"}, "off": {"kind": "exponential", "mean": "1 s"}}}}],
            "stop": {"when": "time", "at_latest": "120 s", "max_packets": most},
            "record": record,
        });
        let scenario = check(&document).scenario.unwrap();
        let mut simulation = Simulation::in_threads(scenario, shortcuts, threads);
        while !simulation.advance(1_000) {}
        let mut summary = simulation.finish().summary;
        let events = summary.as_object_mut().unwrap().remove("events").unwrap();
        summary.as_object_mut().unwrap().remove("record");
        (summary, events.as_u64().unwrap())
    };
    let plain = Shortcuts { walked: false, received: false, ..Shortcuts::default() };
    let mut ends = [0, 0];
    let mut walked = 0;
    for most in [500, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 6_000, 100_000] {
        let (right, events) = summary(most, "all", Shortcuts::default(), 1);
        ends[usize::from(right["stop_reason"] == "too-many-packets")] += 1;
        for (shortcuts, threads) in
            [(plain, 1), (Shortcuts::default(), 1), (Shortcuts::default(), 2)]
        {
            let (found, fewer) = summary(most, "none", shortcuts, threads);
            assert_eq!(found, right, "{most} packets, {threads} threads, {shortcuts:?}");
            walked += u32::from(fewer < events);
        }
    }
    assert!(ends[0] > 1 && ends[1] > 1, "{ends:?}");
    assert!(walked > 0, "nothing was walked");
}
