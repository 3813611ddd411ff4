//! What is said about sources.

use super::*;

fn problems(document: &Value) -> Vec<String> {
    messages(&check(document).problems)
}

fn udp(source: Value) -> Vec<String> {
    problems(&with("/flows/2/udp", json!({ "source": source })))
}

#[test]
fn a_time_alone_is_a_fixed_length() {
    let source = |on: Value| {
        let source = json!({"kind": "on-off", "rate": "1 Mbps", "on": on, "off": "exponential"});
        with("/flows/2/udp/source", source)
    };
    let off = json!({"kind": "exponential", "mean": "1 s"});
    let both = [json!("50 ms"), json!({"kind": "fixed", "mean": "50 ms"})].map(|on| {
        let mut document = source(on);
        document["flows"][2]["udp"]["source"]["off"] = off.clone();
        check(&document).canonical().expect("a valid document")
    });
    assert_eq!(both[0], both[1]);
    let source = &both[0]["flows"][2]["udp"]["source"];
    assert_eq!(source["on"], json!({"kind": "fixed", "mean": "50 ms"}));
}

#[test]
fn faults_of_sources_are_told() {
    let on_off =
        |on: Value, off: Value| json!({"kind": "on-off", "rate": "1 Mbps", "on": on, "off": off});
    let place = "flows.2.udp.source";
    for (source, expected) in [
        (
            json!("bulk"),
            ": `bulk` has no rate, and `udp` no window to limit it | or write `tcp` instead of `udp`",
        ),
        (
            json!({"kind": "cbr", "rate": "1 Mbps", "write": "70 kB"}),
            ".write: over `udp` a write is a packet, and this one is too large",
        ),
        (
            json!({"kind": "cbr", "rate": "1 Mbps", "packet": "1 kB"}),
            ".packet: unknown key `packet` | did you mean `write`?",
        ),
        (on_off(json!(5), json!("1 s")), ".on.mean: `5` has no unit | for example `5 ms`"),
        (
            on_off(json!("1 Mbps"), json!("1 s")),
            ".on.mean: `1 Mbps` is a rate, not a time | for example `10 ms`",
        ),
        (
            on_off(json!("1 s"), json!("parto")),
            ".off: unknown off `parto` | did you mean `pareto`?",
        ),
        (on_off(json!("1 s"), json!("pareto")), ".off.mean: `mean` is missing | Mean length."),
        (
            on_off(json!("1 s"), json!([1])),
            ".off: `off` needs a quantity with its unit, or a mapping with `kind`, not a list",
        ),
        (
            on_off(json!("1 s"), json!({"kind": "pareto", "mean": "1 s", "shape": 1})),
            ".off.shape: `1` is too small",
        ),
    ] {
        assert_eq!(udp(source), [format!("{place}{expected}")]);
    }
}

/// The same sources over TCP, where writes may be larger than packets.
#[test]
fn tcp_takes_all_sources() {
    for source in [
        json!("bulk"),
        json!({"kind": "cbr", "rate": "1 Mbps", "write": "70 kB"}),
        json!({"kind": "on-off", "rate": "1 Mbps", "on": "1 s", "off": "1 s"}),
    ] {
        for sender in ["classic", "selective-repeat"] {
            let document = with("/flows/0/tcp", json!({"sender": sender, "source": source}));
            assert_eq!(problems(&document), [] as [&str; 0]);
        }
    }
}

#[test]
fn too_many_whole_segments_are_told() {
    let mut document = with("/flows/0/send", json!("4000000000 B"));
    document["flows"][0]["tcp"] = json!({
        "segment": "1000 B", "writes": "whole-segments",
        "source": {"kind": "cbr", "rate": "1 Gbps", "write": "1 B"},
    });
    assert_eq!(problems(&document), [] as [&str; 0]);
    document["flows"][0]["send"] = json!("5 GB");
    assert_eq!(
        problems(&document),
        [
            "flows.0.tcp.segment: 5 GB in segments of 1 kB are more packets than a flow can number | \
          larger segments, several flows, or `send: unlimited`"
        ]
    );
}

#[test]
fn on_periods_of_no_length_are_refused_where_no_write_would_ever_come() {
    let mut document = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms"}],
        "flows": [{"id": "F", "from": "A", "to": "B", "udp": {"source": {
            "kind": "on-off", "rate": "1 Mbps", "write": "1000 B", "on": "0 s", "off": "0 s"}}}],
        "stop": {"at_latest": "1 s"},
    });
    let problems = check(&document).problems;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("on-periods of no length"), "{problems:?}");
    document["flows"][0]["udp"]["source"]["remainder"] = json!("whole-writes");
    assert_eq!(check(&document).problems, []);
}
