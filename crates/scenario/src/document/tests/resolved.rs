//! What becomes of valid documents.

use super::*;
use crate::model::{Amount, Node, Record, Transport};
use ackclock_trace::Keep;
use ackclock_units::Time;

#[test]
fn the_model_holds_numbers_with_their_units_in_the_names() {
    let model = model(&valid());
    assert_eq!(
        model["links"][1],
        json!({
            "id": "L2",
            "ends": ["R1", "R2"],
            "duplex": "full",
            "rounding": "carried",
            "changes": [],
            "forward": {
                "rate_bps": 2_097_152,
                "delay_ns": 10_000_000,
                "queue": {
                    "kind": "droptail", "limit_bytes": 65_536, "counts": "waiting", "admission": "fits",
                },
                "loss": {"kind": "none"}, "jitter": {"kind": "none"},
                "corruption": 0.0, "duplication": 0.0,
            },
            "backward": {
                "rate_bps": 1_000_000,
                "delay_ns": 10_000_000,
                "queue": {
                    "kind": "droptail", "limit_packets": 20, "counts": "waiting", "admission": "fits",
                },
                "loss": {"kind": "none"}, "jitter": {"kind": "none"},
                "corruption": 0.0, "duplication": 0.0,
            },
        })
    );
    let flow = &model["flows"][0];
    assert_eq!(flow["start_ns"], 500_000_000);
    assert_eq!(flow["send_bytes"], 1_000_000);
    assert_eq!(flow["udp"], Value::Null);
    assert_eq!(flow["tcp"]["segment_bytes"], 1448);
    assert_eq!(flow["tcp"]["initial_ssthresh"], Value::Null);
    assert_eq!(flow["tcp"]["cc"]["kind"], "cubic");
    assert_eq!(model["flows"][1]["tcp"]["cc"]["alpha"], json!(8.0));
    assert_eq!(
        model["flows"][1]["tcp"]["rto"],
        json!({"kind": "fixed", "timeout_ns": 1_000_000_000})
    );
    assert_eq!(
        model["flows"][2]["udp"],
        json!({"source": {"kind": "cbr", "rate_bps": 100_000, "write_bytes": 200, "jitter": 0.0}, "ecn": false})
    );
    assert_eq!(model["flows"][2]["send_bytes"], Value::Null);
    assert_eq!(model["routing"], json!({"kind": "shortest-path"}));
    assert_eq!(
        model["stop"],
        json!({
            "when": "flows-complete", "at_latest_ns": 62_000_000_000_u64, "events": null,
            "max_packets": 10_000_000,
        })
    );
    assert_eq!(model["record"]["cwnd"], "changes");
    assert_eq!(model["record"].get("kind"), None);
    assert_eq!(model["title"], Value::Null);
    let keys: Vec<&str> = model.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "name title question expectation source profile hosts routers links flows \
                    routing ties stop warmup_ns seed record";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn the_typed_scenario_is_the_same() {
    let scenario = check(&valid()).scenario.unwrap();
    assert_eq!(scenario.name, "tests/valid");
    assert_eq!(scenario.links[0].ends, [Node::Host(0), Node::Router(0)]);
    assert!(scenario.links[2].half_duplex && !scenario.links[1].half_duplex);
    assert_eq!(scenario.links[1].backward.rate_bps, 1_000_000);
    assert_eq!(scenario.links[1].backward.queue.optional_int("limit_packets"), Some(20));
    assert_eq!((scenario.flows[1].from, scenario.flows[1].to), (1, 0));
    assert_eq!(scenario.flows[0].start, crate::start::Start::At(Time::from_ms(500)));
    let Transport::Tcp(tcp) = &scenario.flows[1].transport else { panic!("a reliable flow") };
    assert_eq!((tcp.cc.kind.as_str(), tcp.cc.real("alpha")), ("fast", 8.0));
    assert_eq!(tcp.cc.int("period_ns"), 50_000_000);
    let Transport::Udp { source, .. } = &scenario.flows[2].transport else { panic!("no feedback") };
    assert_eq!(source.int("rate_bps"), 100_000);
    assert!(scenario.stop.flows_complete && scenario.record == Record::ALL);
}

#[test]
fn the_resolved_document_is_complete_and_resolves_to_itself() {
    let checked = check(&valid());
    let canonical = checked.canonical().unwrap();
    assert_eq!(canonical["links"][1]["backward"]["queue"]["limit"], "20 packets");
    assert_eq!(canonical["links"][1]["backward"].get("delay"), None);
    assert_eq!(canonical["links"][0]["queue"]["limit"], "100 packets");
    assert_eq!(canonical["flows"][2]["send"], "unlimited");
    assert_eq!(canonical["flows"][0]["start"], "500 ms");
    assert_eq!(canonical["flows"][1]["send"], "512 KiB");
    assert_eq!(canonical.get("profile"), None);
    let again = check(&canonical);
    assert_eq!(again, checked);
}

#[test]
fn what_one_direction_has_and_the_other_leaves_out_stays_with_the_one() {
    let table =
        |repeat: Value| json!({"kind": "table", "steps": [["0 s", "1 Mbps"]], "repeat": repeat});
    let once = json!({"kind": "table", "steps": [["0 s", "2 Mbps"]]});
    for own in ["forward", "backward"] {
        let mut document = with("/links/1/rate", once.clone());
        document["links"][1]["backward"] = json!({});
        document["links"][1][own] = json!({"rate": table("3 s".into())});
        let checked = check(&document);
        let canonical = checked.canonical().unwrap();
        assert_eq!(check(&canonical).canonical().unwrap(), canonical);
        let other = if own == "forward" { "backward" } else { "forward" };
        let model = checked.model().unwrap();
        assert_eq!(model["links"][1][own]["rate"]["repeat_ns"], 3_000_000_000_i64);
        assert_eq!(model["links"][1][other]["rate"]["repeat_ns"], Value::Null);
    }
}

#[test]
fn documents_need_little() {
    let model = model(&json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB"}],
    }));
    assert_eq!(model["name"], "unnamed");
    assert_eq!(model["stop"]["at_latest_ns"], 1_000_000_000_000_u64);
}

#[test]
fn unlimited_things_are_null_in_the_model_and_a_word_in_the_document() {
    let mut document = with("/links/0/queue", json!({"limit": "unlimited"}));
    document["flows"][0]["tcp"] = json!({"initial-ssthresh": 64.5});
    let checked = check(&document);
    let (canonical, model) = (checked.canonical().unwrap(), checked.model().unwrap());
    assert_eq!(canonical["links"][0]["queue"]["limit"], "unlimited");
    assert_eq!(model["links"][0]["forward"]["queue"]["limit_packets"], Value::Null);
    assert_eq!(canonical["flows"][0]["tcp"]["initial_ssthresh"], json!(64.5));
    assert_eq!(canonical["flows"][1]["tcp"]["initial_ssthresh"], "unlimited");
}

#[test]
fn a_threshold_is_a_number_of_segments_or_a_size() {
    let tcp = |threshold: Value| {
        let checked = check(&with("/flows/0/tcp", json!({"initial_ssthresh": threshold})));
        let [canonical, model] = [checked.canonical().unwrap(), checked.model().unwrap()]
            .map(|document| document["flows"][0]["tcp"].clone());
        let Transport::Tcp(tcp) = &checked.scenario.unwrap().flows[0].transport else {
            panic!("a reliable flow")
        };
        (canonical["initial_ssthresh"].clone(), model, tcp.initial_ssthresh)
    };
    let (canonical, model, typed) = tcp(json!(12));
    assert_eq!((&canonical, &model["initial_ssthresh"]), (&json!(12), &json!(12.0)));
    assert_eq!(typed, Some(Amount::Segments(12.0)));
    let (canonical, model, typed) = tcp(json!("65535 B"));
    assert_eq!((&canonical, &model["initial_ssthresh_bytes"]), (&json!("65535 B"), &json!(65535)));
    assert_eq!((model.get("initial_ssthresh"), typed), (None, Some(Amount::Bytes(65535))));
    assert_eq!(typed.unwrap().bytes(536.0), 65535.0);
    assert_eq!(Amount::Segments(2.5).bytes(536.0), 1340.0);
}

#[test]
fn tables_are_recorded_by_set_and_singly() {
    let record = |record: Value| model(&with("/record", record))["record"].clone();
    assert_eq!(record(json!("none"))["rtt"], "off");
    assert_eq!(record(json!("all"))["rtt"], "changes");
    let some = record(json!({"kind": "none", "cwnd": "changes"}));
    assert_eq!((&some["cwnd"], &some["rtt"]), (&json!("changes"), &json!("off")));
    let most = record(json!({"packets": "off"}));
    assert_eq!((&most["packets"], &most["rtt"]), (&json!("off"), &json!("changes")));
    assert_eq!(most["limit_bytes"], Value::Null);
}

#[test]
fn tables_of_values_are_sampled_in_time() {
    let document = with(
        "/record",
        json!({"cwnd": "every 10ms", "queue": " min-max  every 0.5 s", "rtt": "changes", "limit": "2 GB"}),
    );
    let record = &model(&document)["record"];
    assert_eq!(
        (&record["cwnd"], &record["queue"]),
        (&json!("every 10 ms"), &json!("min-max every 500 ms"))
    );
    assert_eq!(record["limit_bytes"], 2_000_000_000_u64);
    let kept = check(&document).scenario.unwrap().record;
    assert_eq!(kept.keep("cwnd"), Keep::Last(Time::from_ms(10)));
    assert_eq!(kept.keep("queue"), Keep::Extremes(Time::from_ms(500)));
    assert_eq!((kept.keep("rtt"), kept.keep("packets")), (Keep::All, Keep::All));
    assert_eq!(kept.limit_bytes, Some(2_000_000_000));
}

#[test]
fn samples_come_as_often_as_fits_the_run() {
    let mut document = with("/record", json!("sampled"));
    document["stop"] = json!({"when": "time", "at_latest": "2 ms"});
    let resolved = check(&document).canonical().unwrap();
    assert_eq!(resolved["record"]["queue"], "every 10 us");
    assert_eq!(model(&document)["record"]["tcp_info"], "every 10 us");
    assert_eq!(check(&resolved).canonical().unwrap(), resolved);
    document["stop"]["at_latest"] = json!("1 h");
    document["record"] = json!({"rtt": "samples"});
    assert_eq!(model(&document)["record"]["rtt"], "every 100 ms");
    assert_eq!(model(&document)["record"]["cwnd"], "changes");
}

#[test]
fn text_with_a_byte_order_mark_is_read_and_other_text_refused() {
    assert!(check_text(&format!("\u{feff}{}", valid())).scenario.is_some());
    assert_eq!(messages(&check_text("  \r\n").problems), [": the document is empty"]);
    assert!(check_text("{").problems[0].message.starts_with("not JSON: "));
    assert!(check_text(&"[".repeat(100_000)).problems[0].message.starts_with("not JSON: "));
    assert_eq!(
        messages(&check_text("[1]").problems),
        [": a scenario is a mapping of keys to values, not a list | begin with `hosts: [A, B]`"]
    );
}

#[test]
fn a_receive_window_in_packets_counts_full_segments() {
    let window = |given: &str| {
        let mut document = valid();
        document["flows"][0]["tcp"] =
            json!({"sender": "classic", "segment": "500 B", "receive_window": given});
        let checked = check(&document);
        assert_eq!(checked.canonical().unwrap()["flows"][0]["tcp"]["receive_window"], given);
        checked.model().unwrap()["flows"][0]["tcp"]["receive_window_bytes"].clone()
    };
    assert_eq!(window("20 packets"), 10_000);
    assert_eq!(window("9 kB"), 9000);
    assert_eq!(window("unlimited"), Value::Null);
}
