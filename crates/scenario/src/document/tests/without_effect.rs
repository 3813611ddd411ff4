//! Warnings about settings that have no effect in the network at hand.

use super::*;

/// One link, and flows from `A` to `B` with these keys besides.
fn one_link(link: &Value, flows: &[Value]) -> Value {
    let joined = |base: Value, more: &Value| {
        let mut base = base.as_object().unwrap().clone();
        base.extend(more.as_object().unwrap().clone());
        Value::Object(base)
    };
    let wire = json!({"id": "L", "between": ["A", "B"], "rate": "5 Mbps", "delay": "10 ms"});
    let flows = flows.iter().enumerate().map(|(index, flow)| {
        joined(json!({"id": format!("F{}", index + 1), "from": "A", "to": "B"}), flow)
    });
    json!({
        "hosts": ["A", "B"],
        "links": [joined(wire, link)],
        "flows": flows.collect::<Value>(),
        "stop": {"at_latest": "5 s"},
    })
}

const NONE: [&str; 0] = [];

/// What is reported about one flow with this `tcp` block.
fn of_tcp(tcp: Value) -> Vec<String> {
    warnings(&one_link(&json!({}), &[json!({"tcp": tcp})]))
}

/// What is reported about a link, with a flow that has this `tcp` block.
fn of_link(link: Value, tcp: Value) -> Vec<String> {
    warnings(&one_link(&link, &[json!({"tcp": tcp, "send": "20 kB"})]))
}

#[test]
fn a_sender_that_does_not_heed_a_setting() {
    for (tcp, expected) in [
        (
            json!({"pacing_burst": 4}),
            "pacing_burst: `pacing_burst` has no effect: nothing is paced | \
             write `pacing: window`, or leave it out",
        ),
        (
            json!({"cc": "bbr", "pacing": "window"}),
            "pacing: `pacing` has no effect: `bbr` sets the pacing rate itself | leave it out",
        ),
        (
            json!({"cc": "copa", "reduce": "pipe"}),
            "reduce: `reduce` has no effect: `copa` sets the window itself, also during recovery | \
             leave it out",
        ),
        (
            json!({"sender": "classic", "cc": "fixed", "initial_ssthresh": 4}),
            "initial_ssthresh: `initial_ssthresh` has no effect: `fixed` has no slow start up to a \
             threshold | leave it out",
        ),
        (
            json!({"sender": "classic", "initial_ssthresh_limit": "receive-window"}),
            "initial_ssthresh_limit: `initial_ssthresh_limit` has no effect: the receive window has no \
             limit | give `receive_window`, or leave it out",
        ),
        (
            json!({"rto": {"kind": "rfc6298", "sampling": "karn"}}),
            "rto.sampling: `sampling` has no effect: the modern sender has its own rules for \
             round-trip samples | leave it out",
        ),
        (
            json!({"rto": {"kind": "rfc6298", "timestamp_tick": "1 ms"}}),
            "rto.timestamp_tick: `timestamp_tick` has no effect: the modern sender has its own rules \
             for round-trip samples | leave it out",
        ),
        (
            json!({"sender": "selective-repeat", "rto": {"kind": "rfc6298", "backoff_ends": "on-ack"}}),
            "rto.backoff_ends: `backoff_ends` has no effect: with the selective-repeat sender a \
             sample ends the doubling | leave it out",
        ),
    ] {
        assert_eq!(of_tcp(tcp), [format!("flows.0.tcp.{expected}")]);
    }
    for heeded in [
        json!({"pacing_burst": 4, "pacing": "window"}),
        json!({"pacing_burst": 4, "cc": "bbr"}),
        json!({"pacing": "window", "cc": "westwood"}),
        json!({"reduce": "pipe"}),
        json!({"sender": "classic", "rto": {"kind": "rfc6298", "sampling": "karn"}}),
        json!({"rto": {"kind": "rfc6298", "min": "50 ms"}}),
        // Until the first ACK.
        json!({"cc": "fixed", "initial_window": 4}),
        // The pace depends on it.
        json!({"cc": "fixed", "initial_ssthresh": 4, "pacing": "window"}),
        // What would be so anyway.
        json!({"cc": "bbr", "pacing": "none", "pacing_burst": 1, "reduce": "prr"}),
    ] {
        assert_eq!(of_tcp(heeded), NONE);
    }
}

#[test]
fn a_shared_value_counts_if_it_has_an_effect_anywhere() {
    let [bbr, cubic] = ["bbr", "cubic"].map(|cc| json!({"tcp": {"cc": cc}}));
    let with = |flows: &[Value]| {
        let mut document = one_link(&json!({}), flows);
        document["defaults"] = json!({"tcp": {"pacing": "window"}});
        warnings(&document)
    };
    assert_eq!(with(&[bbr.clone(), cubic]), NONE);
    let expected = "defaults.tcp.pacing: `pacing` has no effect: `bbr` sets the pacing rate itself | \
                    leave it out";
    assert_eq!(with(&[bbr.clone(), bbr]), [expected]);
    // What a profile says is not the user's.
    let mut document = one_link(&json!({}), &[json!({"tcp": {"cc": "fixed"}})]);
    document["profile"] = json!("bene");
    assert_eq!(warnings(&document), NONE);
    assert_eq!(warnings(&check(&document).canonical().unwrap()), NONE);
}

#[test]
fn one_written_flow_or_link_that_makes_many_is_reported_once() {
    let mut document = one_link(&json!({}), &[]);
    document["flows"] =
        json!([{"id": "F*", "count": 3, "from": "A", "to": "B", "tcp": {"pacing_burst": 2}}]);
    assert_eq!(warnings(&document).len(), 1);
    let red = json!({"kind": "red", "ecn": true});
    let mut document = json!({
        "topology": {
            "kind": "dumbbell",
            "leaves": 2,
            "access": {"rate": "50 Mbps", "delay": "1 ms", "queue": red},
            "bottleneck": {"rate": "5 Mbps", "delay": "10 ms"},
        },
        "flows": [{"id": "F", "from": "S1", "to": "D1"}],
        "stop": {"at_latest": "5 s"},
    });
    let expected = "topology.access.queue.ecn: `ecn` has no effect: no ECN-capable packets cross this queue | \
                    write `ecn: true` for a flow that does, or leave it out";
    assert_eq!(warnings(&document), [expected]);
    // One of four links will do.
    document["flows"][0]["tcp"] = json!({"ecn": true});
    assert_eq!(warnings(&document), NONE);
}

#[test]
fn queues_that_mark_need_packets_that_can_be_marked() {
    let why = "no ECN-capable packets cross this queue | \
               write `ecn: true` for a flow that does, or leave it out";
    for (queue, key) in [
        (json!({"kind": "red", "ecn": true}), "ecn"),
        (json!({"kind": "pie", "ecn": true}), "ecn"),
        (json!({"kind": "codel", "ce_threshold": "1 ms"}), "ce_threshold"),
        (json!({"kind": "threshold", "mark_from": "5 packets"}), "mark_from"),
        (json!({"kind": "threshold", "mark_from": "5 kB"}), "mark_from"),
        (json!({"kind": "dualpi2", "step": "2 ms"}), "step"),
    ] {
        let link = json!({"queue": queue});
        let expected = format!("links.0.queue.{key}: `{key}` has no effect: {why}");
        assert_eq!(of_link(link.clone(), json!({})), [expected]);
        assert_eq!(of_link(link, json!({"ecn": true})), NONE);
    }
    for unmarked in [json!("fq-codel"), json!({"kind": "cobalt", "ecn": true}), json!("dualpi2")] {
        assert_eq!(of_link(json!({"queue": unmarked}), json!({})), NONE);
    }
}

#[test]
fn flows_with_ecn_need_a_queue_that_marks_their_data() {
    let nothing = "nothing is marked: no queue on the path of the data marks packets | \
                   write `ecn: true` for a queue, for example `queue: {kind: red, ecn: true}`";
    let ecn = json!({"ecn": true});
    assert_eq!(of_link(json!({}), ecn.clone()), [format!("flows.0.tcp.ecn: {nothing}")]);
    let udp = json!({"udp": {"source": {"kind": "cbr", "rate": "1 Mbps"}, "ecn": true}});
    assert_eq!(warnings(&one_link(&json!({}), &[udp])), [format!("flows.0.udp.ecn: {nothing}")]);
    let red = json!({"queue": {"kind": "red", "ecn": true}});
    for queue in ["cake", "fq-codel", "dualpi2"] {
        assert_eq!(of_link(json!({"queue": queue}), ecn.clone()), NONE);
    }
    // ACKs are not marked.
    let found = of_link(json!({"backward": red}), ecn.clone());
    assert_eq!(found[0], format!("flows.0.tcp.ecn: {nothing}"));
    assert!(found[1].starts_with("links.0.backward.queue.ecn: `ecn` has no effect"), "{found:?}");
    let half = json!({"duplex": "half", "queue": {"kind": "red", "ecn": true}});
    assert_eq!(of_link(half, ecn), NONE);
}

#[test]
fn where_routes_are_not_known_nothing_is_said_about_paths() {
    let mut document = valid();
    document["links"][1]["queue"] = json!({"kind": "red", "ecn": true});
    document["links"][1]["backward"]["queue"] = json!({"limit": "30 packets"});
    document["links"][0]["loss"] = json!({"kind": "script", "drop": [{"flow": "F4", "data": [3]}]});
    document["flows"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": "F4", "from": "H2", "to": "H3", "send": "1 MB", "tcp": {"ecn": true}}));
    let known = warnings(&document);
    assert_eq!(known.len(), 3, "{known:?}");
    document["routing"] = json!("ecmp");
    assert_eq!(warnings(&document), NONE);
    // Without any flow that can be marked, ways do not matter.
    document["flows"][3]["tcp"] = json!({});
    assert_eq!(warnings(&document).len(), 1);
}

#[test]
fn losses_of_packets_that_never_come() {
    let segments = |numbers: Value| json!({"loss": {"kind": "segments", "numbers": numbers}});
    let none = |n: u64| format!("`numbers` has no effect: no segment begins at {n}");
    assert_eq!(
        of_link(segments(json!([0, 1448, 1460])), json!({})),
        [format!(
            "links.0.loss.numbers.2: {} | those of `F1` begin at multiples of 1448, up to 19999",
            none(1460)
        )]
    );
    let packets = json!({"sender": "selective-repeat"});
    assert_eq!(
        of_link(segments(json!([13, 14])), packets),
        [format!(
            "links.0.loss.numbers.1: {} | the packets of `F1` have the numbers 0 to 13",
            none(14)
        )]
    );
    assert_eq!(
        of_link(segments(json!([7])), json!({"sender": "classic", "framing": "fill"})),
        NONE
    );
    let script = |side: &str, rows: Value| {
        of_link(json!({side: {"loss": {"kind": "script", "drop": rows}}}), json!({}))
    };
    let here = "cross this link in this direction";
    assert_eq!(
        script("forward", json!([{"data": [3]}, {"flow": "F1", "acks": [3]}])),
        [format!("links.0.forward.loss.drop.1: `drop` has no effect: no ACKs of `F1` {here}")]
    );
    assert_eq!(
        script("backward", json!([{"data": [3], "retransmissions": [1]}, {"acks": [3]}])),
        [format!(
            "links.0.backward.loss.drop.0: `drop` has no effect: no data or retransmissions {here}"
        )]
    );
    let held = json!({"jitter": {"kind": "script", "hold": [{"acks": [2], "by": "5 ms"}]}});
    assert_eq!(
        of_link(json!({"forward": held}), json!({})),
        [format!("links.0.forward.jitter.hold.0: `hold` has no effect: no ACKs {here}")]
    );
    assert_eq!(of_link(held, json!({})), NONE);
    let acks = json!({"loss": {"kind": "bernoulli", "p": 0.1, "applies_to": "acks"}});
    assert_eq!(
        of_link(json!({"forward": acks}), json!({})),
        [format!("links.0.forward.loss.applies_to: `bernoulli` has no effect: no ACKs {here}")]
    );
    assert_eq!(of_link(acks, json!({})), NONE);
}

#[test]
fn routers_that_do_not_notice_a_link_that_is_down() {
    let link = |id: &str, a: &str, b: &str, changes: Value| json!({"id": id, "between": [a, b], "rate": "10 Mbps", "delay": "2 ms", "changes": changes});
    let down = json!([{"at": "1 s", "state": "down"}, {"at": "2 s", "state": "up"}]);
    let mut document = json!({
        "hosts": ["A", "B"],
        "routers": ["R1", "R2"],
        "links": [link("a", "A", "R1", down.clone()), link("b", "B", "R2", json!([])), link("L", "R1", "R2", down)],
        "routing": "distance-vector",
        "flows": [{"id": "F", "from": "A", "to": "B"}],
        "stop": {"at_latest": "5 s"},
    });
    assert_eq!(
        warnings(&document),
        [
            "links.2.changes.0.state: routers do not notice that a link is down | its queueing delay \
          counts as zero, and packets routed over it, ACKs too, may wait for good"
        ]
    );
    document["routing"] = json!("shortest-path");
    assert_eq!(warnings(&document), NONE);
}

#[test]
fn changes_after_the_end_of_the_run() {
    let changes = json!([{"at": "9 s", "state": "down"}, {"at": "2 s", "delay": "5 ms"}]);
    assert_eq!(
        of_link(json!({"changes": changes}), json!({})),
        [
            "links.0.changes.0.at: changes at 9 s, when the run is over (5 s) | a later `stop.at_latest`"
        ]
    );
}
