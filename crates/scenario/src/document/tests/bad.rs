//! Bad documents, and what is reported about them.

use super::*;

fn problems(document: &Value) -> Vec<String> {
    let checked = check(document);
    assert!(
        checked.scenario.is_none() && checked.model().is_none() && checked.canonical().is_none()
    );
    messages(&checked.problems)
}

const TOO_LONG: &str = "rto.timeout: `36501 d` is too large";

#[test]
fn what_was_probably_meant() {
    let random = "random loss is `{kind: bernoulli, p: 0.01}`";
    for (pointer, value, expected) in [
        ("/links/0/loss", json!("1%"), format!("links.0.loss: unknown loss `1%` | {random}")),
        ("/links/0/loss", json!("0.01"), format!("links.0.loss: unknown loss `0.01` | {random}")),
        (
            "/links/0/loss",
            json!(0.01),
            format!(
                "links.0.loss: `loss` needs a word, or a mapping with `kind`, not the number 0.01 | \
                 {random}"
            ),
        ),
        // The unit is that of the default.
        (
            "/stop/at-latest",
            json!(120),
            "stop.at_latest: `120` has no unit | for example `120 s`".into(),
        ),
        // What `{delay: 10,5 ms}` holds: a key without a value.
        (
            "/links/0/5 ms",
            Value::Null,
            "links.0.5 ms: unknown key `5 ms` | decimals follow a point, not a comma: `10.5 ms`"
                .into(),
        ),
    ] {
        assert_eq!(problems(&with(pointer, value)), [expected]);
    }
}

#[test]
fn quantities() {
    for (pointer, value, expected) in [
        ("/links/0/rate", json!("10"), "`10` has no unit | for example `10 Mbps`"),
        ("/links/0/rate", json!(10), "`10` has no unit | for example `10 Mbps`"),
        ("/links/0/rate", json!("10Mb"), "`10Mb` is an amount of data; a rate is `10 Mbps`"),
        ("/links/0/rate", json!("0 bps"), "`0 bps` is too small"),
        ("/links/0/rate", json!("400 Tbps"), "`400 Tbps` is too large"),
        ("/links/0/rate", json!("1e308 bps"), "`1e308 bps` is too large"),
        ("/links/0/rate", json!("-1 Mbps"), "`-1 Mbps` is negative"),
        (
            "/links/0/rate",
            json!(["1 Mbps"]),
            "`rate` needs a rate with its unit, or a mapping with `kind`, not a list",
        ),
        ("/links/0/rate", Value::Null, "`rate` has no value"),
        ("/links/0/delay", json!("2 d"), "`2 d` is too large"),
        ("/links/0/delay", json!("nan ms"), "`nan ms` is not a finite number"),
        (
            "/links/0/delay",
            json!("0.5 ns"),
            "`0.5 ns` is not a whole number of nanoseconds, which is the resolution",
        ),
        // The unit is that of the default.
        ("/flows/0/start", json!("2.5"), "`2.5` has no unit | for example `2.5 s`"),
        (
            "/links/0/delay",
            json!("10,5 ms"),
            "`10,5 ms`: a number has digits and a point only | decimals follow a point: `10.5 ms`",
        ),
        ("/flows/0/tcp", json!({"rto": {"kind": "fixed", "timeout": "36501 d"}}), TOO_LONG),
        ("/flows/0/start", json!("-1 s"), "`-1 s` is negative"),
        ("/flows/0/send", json!("0 B"), "`0 B` is too small"),
        (
            "/flows/0/send",
            json!("20 packets"),
            "`20 packets` is a number of packets, not an amount of data | for example `10 KiB`",
        ),
        (
            "/flows/0/send",
            Value::Null,
            "`send` has no value | write `unlimited`, or leave the key out",
        ),
        ("/seed", json!(-1), "`-1` is negative"),
        ("/seed", json!(1e30), "`1e+30` is too large"),
        (
            "/seed",
            json!("1"),
            "`seed` needs a whole number without unit, not the text `1` | write it without quotes",
        ),
        ("/title", json!(2015), "`title` needs text, not the number 2015 | in quotes it is text"),
    ] {
        let place = pointer[1..].replace('/', ".");
        let separator = if expected == TOO_LONG { "." } else { ": " };
        assert_eq!(problems(&with(pointer, value)), [format!("{place}{separator}{expected}")]);
    }
}

#[test]
fn names_and_keys() {
    for (pointer, value, expected) in [
        (
            "/links/0/bandwidth",
            json!("1 Mbps"),
            "links.0.bandwidth: unknown key `bandwidth` | did you mean `rate`?",
        ),
        (
            "/links/0/delya",
            json!("1 ms"),
            "links.0.delya: unknown key `delya` | did you mean `delay`?",
        ),
        ("/duration", json!("10 s"), "duration: unknown key `duration` | did you mean `stop`?"),
        (
            "/flows/0/algorithm",
            json!("cubic"),
            "flows.0.algorithm: unknown key `algorithm` | did you mean `tcp`?",
        ),
        ("/links/1/backward/between", json!(3), "links.1.backward.between: unknown key `between`"),
        ("/colour", json!("red"), "colour: unknown key `colour`"),
        (
            "/flows/0/tcp",
            json!({"initial_ssthresh": "64"}),
            "flows.0.tcp.initial_ssthresh: `64` has no unit | for example `64 KiB`",
        ),
        (
            "/flows/0/tcp",
            json!({"initial_ssthresh": 0}),
            "flows.0.tcp.initial_ssthresh: `0` is too small",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": {"kind": "reno", "arithmetic": "whole"}}),
            "flows.0.tcp.cc.arithmetic: windows in segments cannot be whole bytes | or write \
             `sender: classic` and `window_unit: bytes`",
        ),
        (
            "/flows/0/tcp",
            json!({"sender": "selective-repeat", "cc": {"kind": "reno", "arithmetic": "linux"}}),
            "flows.0.tcp.cc: `reno` needs windows of whole segments: the selective-repeat sender cannot give it | write `sender: modern`",
        ),
        (
            "/flows/0/tcp",
            json!({"sender": "classic", "cc": {"kind": "reno", "ecn_decrease": 0.8}}),
            "flows.0.tcp.cc: `reno` responds to ECN marks, but this flow does not use ECN | write `ecn: true`",
        ),
        (
            "/flows/0/tcp",
            json!(5),
            "flows.0.tcp: `tcp` needs a preset or a mapping, not the number 5",
        ),
        ("/links/0/id", json!("L2"), "links.1.id: duplicate id `L2` | `links.0` has it already"),
        (
            "/flows/-",
            json!({"id": "F1", "from": "H1", "to": "H2"}),
            "flows.3.id: duplicate id `F1` | `flows.0` has it already",
        ),
        (
            "/links/0/id",
            json!(1),
            "links.0.id: a name is text, not a number | in quotes it is text: \"1\"",
        ),
        (
            "/links/0/id",
            json!("L 1"),
            "links.0.id: a name has no spaces: `L 1` | for example `L-1`",
        ),
        ("/links/0/id", json!("a.b"), "links.0.id: `.` cannot be part of a name"),
        ("/links/0/id", json!(""), "links.0.id: a name is not empty"),
        (
            "/links/0/between",
            json!(["H1"]),
            "links.0.between: a link has two ends, not 1 | for example `between: [H1, R1]`",
        ),
        (
            "/links/0/between",
            json!("H1 R1"),
            "links.0.between: `between` needs two names of hosts or routers, not the text `H1 R1` | \
             for example `between: [H1, R1]`",
        ),
        (
            "/links/0/between",
            json!(["H1", "R7"]),
            "links.0.between.1: unknown host or router `R7` | did you mean `R1`?",
        ),
        (
            "/links/0/between",
            json!(["H1", "H1"]),
            "links.0.between: a link leads from `H1` to itself",
        ),
        (
            "/hosts",
            json!(["H1", "H2", "H3", "H2"]),
            "hosts.3: `H2` occurs here twice | each node has a name of its own",
        ),
        (
            "/routers",
            json!(["R1", "R2", "H2"]),
            "routers.2: `H2` is a host already | each node has a name of its own",
        ),
        (
            "/flows/0/from",
            json!("R1"),
            "flows.0.from: `R1` is a router; flows run from host to host",
        ),
        ("/flows/0/from", json!("H4"), "flows.0.from: unknown host `H4` | did you mean `H1`?"),
        ("/flows/0/to", json!("H1"), "flows.0.to: a flow from `H1` to itself"),
        (
            "/name",
            json!("../../etc/passwd"),
            "name: this cannot be the name of a scenario | a `title` may hold any text",
        ),
        (
            "/stop",
            json!({"at-latest": "1 s", "at_latest": "2 s"}),
            "stop.at_latest: `at_latest` occurs here twice (a hyphen is an underscore)",
        ),
    ] {
        assert_eq!(problems(&with(pointer, value)), [expected]);
    }
}

#[test]
fn words_and_kinds() {
    for (pointer, value, expected) in [
        ("/links/0/duplex", json!("semi"), "links.0.duplex: `semi` is not a value of `duplex`"),
        (
            "/links/0/queue",
            json!("droptial"),
            "links.0.queue: unknown queue `droptial` | did you mean `droptail`?",
        ),
        (
            "/links/0/queue",
            json!(100),
            "links.0.queue: `queue` needs a word, or a mapping with `kind`, not the number 100 | \
             write `{limit: 100 packets}`",
        ),
        ("/links/0/queue", Value::Null, "links.0.queue: `queue` has no value"),
        ("/links/0/queue", json!({"kind": "yellow"}), "links.0.queue.kind: unknown queue `yellow`"),
        (
            "/links/0/queue",
            json!({"kind": 5}),
            "links.0.queue.kind: a word is needed, not the number 5",
        ),
        (
            "/flows/0/tcp",
            json!("aimd"),
            "flows.0.tcp: unknown preset `aimd` | did you mean `{cc: aimd}`?",
        ),
        (
            "/flows/0/tcp",
            Value::Null,
            "flows.0.tcp: `tcp` needs a preset or a mapping, not nothing | write `tcp: {}`",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": "mine.py"}),
            "flows.0.tcp.cc: unknown cc `mine.py` | write `{kind: python, file: mine.py}`",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": "renno"}),
            "flows.0.tcp.cc: unknown cc `renno` | did you mean `reno`?",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": {"kind": "reno", "alpha": 50}}),
            "flows.0.tcp.cc.alpha: unknown key `alpha` | `alpha` belongs to `fast`, this is `reno`",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": {"kind": "fast", "gamma": 2}}),
            "flows.0.tcp.cc.gamma: `2` is too large",
        ),
        (
            "/flows/0/tcp",
            json!({"initial_window": 2.5}),
            "flows.0.tcp.initial_window: `2.5` is not a whole number",
        ),
        (
            "/flows/0/tcp",
            json!({"initial_window": "10 packets"}),
            "flows.0.tcp.initial_window: `initial_window` needs a whole number without unit, \
             not the text `10 packets` | it has no unit: write 10",
        ),
        (
            "/flows/0/tcp",
            json!({"mss": "1000 B"}),
            "flows.0.tcp.mss: unknown key `mss` | did you mean `segment`?",
        ),
        (
            "/flows/0/tcp",
            json!({"sender": "selective-repeat", "recovery": {"reduction": "per_window"}}),
            "flows.0.tcp.recovery.reduction: `per_window` is not a value of `reduction` | \
             did you mean `per-window`?",
        ),
        (
            "/flows/2/udp",
            json!({}),
            "flows.2.udp.source: `source` is missing | What is sent, and when.",
        ),
        (
            "/flows/2/udp",
            json!({"source": "cbr"}),
            "flows.2.udp.source.rate: `rate` is missing | Rate of the written data.",
        ),
        (
            "/flows/2/udp",
            json!({"source": {"rate": "1 Mbps"}}),
            "flows.2.udp.source.kind: `kind` is missing",
        ),
        (
            "/profile",
            json!("caltech"),
            "profile: `caltech` is not a value of `profile` | did you mean `caltech2015`?",
        ),
        (
            "/record",
            json!({"cwnd": false}),
            "record.cwnd: `cwnd` needs a word, not `false` | write \"off\" in quotes",
        ),
        (
            "/record",
            json!({"cwnd": "10 ms"}),
            "record.cwnd: `10 ms` is not a value of `cwnd` | did you mean `every 10 ms`?",
        ),
        (
            "/record",
            json!({"queue": "min-max 10 ms"}),
            "record.queue: `min-max 10 ms` is not a value of `queue` | did you mean `min-max every 10 ms`?",
        ),
        (
            "/record",
            json!({"queue": "every 10"}),
            "record.queue: `10` has no unit | for example `10 ms`",
        ),
        ("/record", json!({"rtt": "every 0 s"}), "record.rtt: an interval is longer than no time"),
        (
            "/record",
            json!({"packets": "every 10 ms"}),
            "record.packets: `every 10 ms` is not a value of `packets`",
        ),
        ("/record", json!({"limit": "2 KB"}), "record.limit: `2 kB` is too small"),
        (
            "/routing",
            json!("distance_vector"),
            "routing: unknown routing `distance_vector` | did you mean `distance-vector`?",
        ),
        (
            "/stop",
            json!("62 s"),
            "stop: `stop` needs a mapping, not the text `62 s` | did you mean `{at_latest: 62 s}`?",
        ),
    ] {
        assert_eq!(problems(&with(pointer, value)), [expected]);
    }
}

#[test]
fn missing_things() {
    for (pointer, expected) in [
        (
            "/links/0/rate",
            "`rate` is missing | Bits per second on the wire, or a rule by which the rate changes.",
        ),
        ("/links/1/delay", "`delay` is missing | Propagation delay."),
        ("/flows/1/id", "`id` is missing | Name of the flow."),
        ("/flows/0/from", "`from` is missing | Host that sends."),
        (
            "/hosts",
            "`hosts` is missing | Hosts: flows start and end here; hosts never forward. Must be given \
             without `topology`.",
        ),
        (
            "/links",
            "`links` is missing | Links between hosts and routers. Must be given without `topology`.",
        ),
        ("/flows", "`flows` is missing | Flows from host to host."),
    ] {
        let place = pointer[1..].replace('/', ".");
        assert_eq!(problems(&without(pointer)), [format!("{place}: {expected}")]);
    }
    for key in ["hosts", "links", "flows"] {
        assert_eq!(
            problems(&with(&format!("/{key}"), json!([]))),
            [format!("{key}: a scenario without {key} has nothing to simulate")]
        );
    }
}

#[test]
fn values_that_contradict_one_another() {
    for (pointer, value, expected) in [
        (
            "/links/2/forward",
            json!({"rate": "1 Mbps"}),
            "links.2.forward: a half-duplex link has one transmitter and one queue for both ways | \
             leave `forward` out, or write `duplex: full`",
        ),
        (
            "/flows/2/tcp",
            json!({}),
            "flows.2.udp: a flow has one transport: `tcp` or `udp` | leave one of them out",
        ),
        (
            "/flows/0/tcp",
            json!({"segment": "65000 B", "header": "1000 B"}),
            "flows.0.tcp.segment: packets of 65000 B and a header of 1000 B are too large",
        ),
        (
            "/flows/0/tcp",
            json!({"rto": {"min": "2 s", "max": "1 s"}}),
            "flows.0.tcp.rto.min: `min` (2 s) is above `max` (1 s)",
        ),
        (
            "/flows/0",
            json!({"id": "F1", "from": "H1", "to": "H2", "send": "1 TB", "tcp": {"segment": "1 B"}}),
            "flows.0.tcp.segment: 1 TB in segments of 1 B are more packets than a flow can number | \
             larger segments, several flows, or `send: unlimited`",
        ),
        (
            "/flows/0/tcp",
            json!({"source": 7}),
            "flows.0.tcp.source: `source` needs a word, or a mapping with `kind`, not the number 7",
        ),
        (
            "/stop",
            json!({}),
            "stop.at_latest: `at_latest` is missing: flow `F3` sends without end, so the run needs one | \
             for example `stop: {at_latest: 60 s}`, or give the flow an amount, `send: 10 MB`",
        ),
        (
            "/stop",
            json!({"when": "time"}),
            "stop.at_latest: `at_latest` is missing: `when: time` needs a time | \
             for example `stop: {at_latest: 60 s}`",
        ),
    ] {
        assert_eq!(problems(&with(pointer, value)), [expected]);
    }
}

#[test]
fn flows_without_a_path() {
    assert_eq!(
        problems(&without("/links/1")),
        [
            "flows.0.to: no path leads from `H1` to `H2` | \
             from `H1` one reaches no other host; hosts do not forward",
            "flows.1.to: no path leads from `H2` to `H1` | from `H2` one reaches: H3; hosts do not forward",
            "flows.2.to: no path leads from `H1` to `H3` | \
             from `H1` one reaches no other host; hosts do not forward",
        ]
    );
    assert_eq!(
        problems(&without("/links/3")),
        ["flows.2.to: no path leads from `H1` to `H3` | no link ends at `H3`"]
    );
    // A host in between forwards nothing.
    let mut document = without("/links/1");
    let links = document["links"].as_array_mut().unwrap();
    links.push(json!({"id": "L5", "between": ["R1", "H3"], "rate": "1 Mbps", "delay": "1 ms"}));
    assert_eq!(
        problems(&document),
        [
            "flows.0.to: no path leads from `H1` to `H2` | \
             from `H1` one reaches: H3; hosts do not forward",
            "flows.1.to: no path leads from `H2` to `H1` | from `H2` one reaches: H3; hosts do not forward",
        ]
    );
}

#[test]
fn a_round_trip_takes_time() {
    let mut document = valid();
    for link in document["links"].as_array_mut().unwrap() {
        link["rate"] = json!("100 Tbps");
        link["delay"] = json!("0 s");
    }
    document["links"][1].as_object_mut().unwrap().remove("backward");
    document["flows"].as_array_mut().unwrap().pop();
    assert_eq!(
        problems(&document),
        [
            "flows.0: packets of 1500 B can arrive in less than 1 ns | \
             simulated time would stand still: give a link a delay, or a lower rate",
            "flows.1: packets of 1500 B can arrive in less than 1 ns | \
             simulated time would stand still: give a link a delay, or a lower rate",
        ]
    );
    document["links"][1]["delay"] = json!("1 ns");
    model(&document);
}

#[test]
fn hosts_with_two_links_need_static_routes() {
    let mut document = valid();
    let links = document["links"].as_array_mut().unwrap();
    links.push(json!({"id": "L5", "between": ["R2", "H1"], "rate": "1 Mbps", "delay": "1 ms"}));
    model(&document);
    document["routing"] = json!("distance-vector");
    assert_eq!(
        problems(&document),
        [
            "links.4.between.1: `H1` has a second link; with distance-vector routing a host has one | \
             hosts take no part in the protocol and could not choose; put a router in between, or \
             write `routing: shortest-path`"
        ]
    );
}

#[test]
fn doubtful_things_are_warnings() {
    let mut document = with("/flows/0/start", json!("62 s"));
    document["hosts"] = json!(["H1", "H2", "H3", "H4"]);
    document["routing"] =
        json!({"kind": "distance-vector", "settling": "5 s", "samples": 5, "min-samples": 6});
    let checked = check(&document);
    assert!(checked.scenario.is_some());
    assert_eq!(
        messages(&checked.warnings),
        [
            "hosts.3: no link ends at `H4`",
            "routing.settling: `settling` (5 s) is not below `period` | new tables never come into use: \
             the next update starts before they have settled",
            "routing.min_samples: `min_samples` (6) is above `samples` (5) | queueing delay never counts",
            "flows.0.start: starts at 62 s, when the run is over (62 s) | a later `stop.at_latest`",
        ]
    );
}

#[test]
fn all_faults_are_told_at_once() {
    let mut document = valid();
    document["titel"] = json!("x");
    document["links"][0]["rate"] = json!("10");
    document["links"][1]["between"][0] = json!("R3");
    document["links"][2]["id"] = json!("L1");
    document["flows"][0]["tcp"] = json!({"cc": "rneo"});
    document["flows"][1]["to"] = json!("H2");
    assert_eq!(
        problems(&document),
        [
            "titel: unknown key `titel` | did you mean `title`?",
            "links.0.rate: `10` has no unit | for example `10 Mbps`",
            "flows.0.tcp.cc: unknown cc `rneo` | did you mean `reno`?",
            "links.2.id: duplicate id `L1` | `links.0` has it already",
            "links.1.between.0: unknown host or router `R3` | did you mean `R1`?",
            "flows.1.to: a flow from `H2` to itself",
        ]
    );
}

#[test]
fn a_problem_has_path_value_and_what_is_allowed() {
    let checked = check(&with("/links/0/rate", json!("10")));
    assert_eq!(
        checked.problems[0].to_json(),
        json!({
            "path": ["links", 0, "rate"],
            "value": "10",
            "message": "`10` has no unit",
            "allowed": "a number and a unit, such as `10 Mbps`; units: bps kbps Mbps Gbps Tbps Kibps \
                        Mibps Gibps B/s kB/s MB/s GB/s KiB/s MiB/s GiB/s; or a mapping with `kind`: table, mahimahi; 1 bps to 100 Tbps",
            "hint": "for example `10 Mbps`",
        })
    );
}

#[test]
fn endless_documents_are_refused_in_time() {
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let messages = problems(&with("/title", deep));
    assert!(messages[0].contains("nested more than 32 levels deep"), "{messages:?}");

    let many: Vec<Value> = (0..3000).map(|_| json!({"rat": 1})).collect();
    let messages = problems(&with("/flows", json!(many)));
    assert_eq!(messages.len(), 1001);
    assert!(messages[1000].starts_with(": and "), "{}", messages[1000]);

    let long = "x".repeat(100_000);
    let checked = check(&with("/links/0/rate", json!(long)));
    assert!(checked.problems[0].to_json().to_string().len() < 1000);
}

#[test]
fn a_million_and_one_flows_are_refused() {
    let many = vec![Value::Null; crate::tables::MOST_ELEMENTS + 1];
    let mut document = valid();
    document["flows"] = Value::Array(many);
    assert_eq!(problems(&document), ["flows: 1000001 flows are too many"]);
}
