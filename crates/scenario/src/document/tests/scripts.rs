//! Scripted losses, writes at given times, flows that are cut off: what is reported about wrong ones.

use super::*;

fn problems(document: &Value) -> Vec<String> {
    messages(&check(document).problems)
}

/// What is reported when this stands at a place, by the value.
fn told_of(pointer: &str, value: Value) -> Vec<String> {
    problems(&with(pointer, value))
}

#[test]
fn rows_are_read_as_mappings_or_in_the_order_of_their_keys() {
    let source = |writes: Value| json!({"source": {"kind": "schedule", "writes": writes}});
    let one = source(json!([{"at": "0 s", "size": "1 kB"}, {"at": "10 ms", "size": "5 B"}]));
    let other = source(json!([["0 s", "1000 B"], ["0.01 s", "5 B"]]));
    let [one, other] = [one, other].map(|tcp| {
        let mut document = valid();
        document["flows"][0] = json!({"id": "F1", "from": "H1", "to": "H2", "tcp": tcp});
        check(&document)
    });
    assert_eq!(messages(&one.problems), Vec::<String>::new());
    assert_eq!(one.canonical(), other.canonical());
    let flow = &one.canonical().unwrap()["flows"][0];
    assert_eq!(flow["tcp"]["source"]["writes"][1], json!({"at": "10 ms", "size": "5 B"}));
    // What it sends is known, and the resolved document gives the same again.
    assert_eq!(flow["send"], "1005 B");
    let again = check(&one.canonical().unwrap());
    assert_eq!(again.canonical(), one.canonical());
}

#[test]
fn faults_in_rows_have_their_place() {
    let drop = |rows: Value| json!({"kind": "script", "drop": rows});
    let loss = "/links/0/loss";
    for (value, expected) in [
        (
            json!([{"flow": "F9", "data": [1]}]),
            "links.0.loss.drop.0.flow: unknown flow `F9` | did you mean `F1`?",
        ),
        (json!([{"flow": "F1", "data": [0]}]), "links.0.loss.drop.0.data: `[0]` is too small"),
        (
            json!([{"data": [1]}, {"flow": "F1"}]),
            "links.0.loss.drop: a row chooses no packet | \
             for example `drop: [{flow: F1, data: [6, 7]}]`",
        ),
        (
            json!([{"data": [1], "ack": [3]}]),
            "links.0.loss.drop.0.ack: unknown key `ack` | did you mean `acks`?",
        ),
        (json!("F1"), "links.0.loss.drop: `drop` needs a list of rows, not the text `F1`"),
        (json!([7]), "links.0.loss.drop.0: a row is needed, not the number 7"),
    ] {
        assert_eq!(told_of(loss, drop(value)), [expected]);
    }
    assert_eq!(told_of(loss, drop(json!([{"flow": "F3", "data": [4]}]))), Vec::<String>::new());
    let backward = json!({"loss": drop(json!([{"flow": "x", "acks": [4]}]))});
    assert_eq!(
        told_of("/links/0/backward", backward),
        ["links.0.backward.loss.drop.0.flow: unknown flow `x`"]
    );
}

#[test]
fn writes_come_in_order_and_say_how_much_is_sent() {
    let flow = |send: Option<&str>, writes: Value| {
        let mut flow = json!({"id": "F1", "from": "H1", "to": "H2",
            "tcp": {"source": {"kind": "schedule", "writes": writes}}});
        if let Some(send) = send {
            flow["send"] = send.into();
        }
        told_of("/flows/0", flow)
    };
    let good = json!([["1 s", "10 kB"], ["2 s", "5 kB"]]);
    assert_eq!(flow(None, good.clone()), Vec::<String>::new());
    assert_eq!(flow(Some("15 kB"), good.clone()), Vec::<String>::new());
    assert_eq!(
        flow(Some("1 MB"), good),
        ["flows.0.send: the writes of the source add up to 15 kB | \
          leave `send` out: the last write ends the flow"]
    );
    let example = "for example `writes: [[0 s, 10 kB], [200 ms, 5 kB]]`";
    let place = "flows.0.tcp.source.writes";
    assert_eq!(
        flow(None, json!([["1 s", "10 kB"], ["1 s", "5 kB"]])),
        [format!("{place}: write 2 is not after the one before it | {example}")]
    );
    assert_eq!(flow(None, json!([])), [format!("{place}: there is no write | {example}")]);
    assert_eq!(
        flow(None, json!([["1 s"]])),
        [format!("{place}.0.size: `size` is missing | Bytes; over UDP a packet on the wire.")]
    );
    let source =
        json!({"source": {"kind": "schedule", "writes": [["0 s", "1 B"], ["1 s", "70 kB"]]}});
    assert_eq!(
        told_of("/flows/2/udp", source),
        [
            "flows.2.udp.source.writes.1.size: over `udp` a write is a packet, and this one is too large"
        ]
    );
}

#[test]
fn a_flow_is_cut_off_after_its_start_and_before_the_end() {
    // F1 starts at 0.5 s, the run ends at 62 s.
    assert_eq!(
        told_of("/flows/0/stop", json!("0.5 s")),
        ["flows.0.stop: `stop` (500 ms) is not after the start (500 ms)"]
    );
    let late = check(&with("/flows/0/stop", json!("62 s")));
    assert_eq!(
        messages(&late.warnings),
        ["flows.0.stop: stops at 62 s, when the run is over (62 s) | \
          a later `stop.at_latest`, or leave `stop` of the flow out"]
    );
    let flow = |document: &Value| {
        let checked = check(document);
        let [canonical, model] = [checked.canonical(), checked.model()];
        [canonical, model].map(|all| all.unwrap()["flows"][0].clone())
    };
    let [canonical, model] = flow(&with("/flows/0/stop", json!("3 s")));
    assert_eq!((&canonical["stop"], &model["stop_ns"]), (&json!("3 s"), &json!(3_000_000_000_u64)));
    let [canonical, model] = flow(&valid());
    assert_eq!((canonical.get("stop"), &model["stop_ns"]), (None, &Value::Null));
}

#[test]
fn a_rate_can_change_by_a_rule() {
    let table =
        json!({"kind": "table", "steps": [["0 s", "8 Mbps"], ["1 s", "2 Mbps"]], "repeat": "2 s"});
    let mut document = valid();
    document["defaults"] = json!({"link": {"rate": "3 Mbps"}});
    document["links"][1]["rate"] = table.clone();
    let checked = check(&document);
    assert_eq!(messages(&checked.problems), Vec::<String>::new());
    let canonical = checked.canonical().unwrap();
    assert_eq!(canonical["links"][1]["rate"]["steps"][1], json!({"at": "1 s", "rate": "2 Mbps"}));
    assert_eq!(check(&canonical).canonical().unwrap(), canonical);
    let forward = &checked.model().unwrap()["links"][1]["forward"];
    assert_eq!(
        (&forward["rate_bps"], &forward["rate"]["repeat_ns"]),
        (&json!(5_000_000), &json!(2_000_000_000_u64))
    );
    // The mean is what a buffer of 50 ms is made of.
    document["links"][1]["queue"] = json!({"limit": "80 ms"});
    let scenario = check(&document).scenario.unwrap();
    assert_eq!(scenario.links[1].forward.queue.int("limit_bytes"), 50_000);

    let of = |key: &str, value: Value| {
        let mut document = valid();
        document["links"][0]["rate"] = table.clone();
        document["links"][0][key] = value;
        problems(&document)
    };
    assert_eq!(
        of("rounding", json!("double")),
        ["links.0.rounding: a rate of kind `table` is kept exactly | leave `rounding` out"]
    );
    assert_eq!(
        of("changes", json!([{"at": "1 s", "rate": "1 Mbps"}])),
        ["links.0.changes.0.rate: the rate changes by a rule of kind `table` already | \
          put all rates into a table: `rate: {kind: table, steps: [[0 s, 10 Mbps], ...]}`"]
    );
    assert_eq!(of("changes", json!([{"at": "1 s", "delay": "1 ms"}])), Vec::<String>::new());
    assert_eq!(
        told_of("/links/0/rate", json!({"kind": "mahimahi", "opportunities": [3, 2]})),
        ["links.0.rate.opportunities: opportunity 2 is before the one in front of it | \
          for example `opportunities: [3, 5, 5, 10]`, or a file: `file: PATH`"]
    );
}
