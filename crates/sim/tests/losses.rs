//! Chosen losses: beside a queue that drops, by script, and of some kinds of packets only.

use crate::documents;

use ackclock_sim::Output;
use ackclock_trace::{Column, drop_reason, flow_event, packet_kind};
use documents::run;
use serde_json::{Value, json};

/// Numbers and reasons of the data that a link with room for ten packets dropped.
fn drops(loss: &Value) -> Vec<(i64, i32)> {
    let output = run(&json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "5 Mbps", "delay": "20 ms",
            "queue": {"limit": "10 packets"}, "forward": {"loss": loss}}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "300 KB",
            "tcp": {"sender": "classic", "segment": "1000 B", "recovery": "reno"}}],
        "record": {"kind": "none", "drops": "changes"},
    }));
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "drops").expect("recorded");
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::I64(numbers), Column::I32(reasons)) = (column("seq"), column("reason")) else {
        panic!("columns of another type")
    };
    numbers.iter().copied().zip(reasons.iter().copied()).collect()
}

#[test]
fn a_transmission_that_the_queue_drops_counts() {
    let first = drops(&json!("none"))[0];
    assert_eq!(first.1, drop_reason::QUEUE_FULL);
    let again = json!({"kind": "segments", "numbers": [first.0], "transmission": 2});
    let found: Vec<(i64, i32)> =
        drops(&again).into_iter().filter(|(number, _)| *number == first.0).collect();
    assert_eq!(found[..2], [first, (first.0, drop_reason::LOSS)]);
}

#[test]
fn packets_that_the_queue_drops_count() {
    let all = drops(&json!("none"));
    // The chosen loss is the one that the queue makes anyway.
    let drops_there = |place: &i32| drops(&json!({"kind": "packets", "numbers": [place]}));
    assert!((1..100).any(|place| drops_there(&place) == all));
}

/// The senders of all families, each with ten segments to send one after the other, over a link with these values.
fn transfers(link: &Value) -> Output {
    let mut document = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms"}],
        "flows": [
            {"id": "M", "from": "A", "to": "B", "start": "1 ms", "send": "14480 B",
                "tcp": {"cc": "reno"}},
            {"id": "C", "from": "A", "to": "B", "start": "2 s", "send": "14600 B",
                "tcp": {"sender": "classic"}},
            {"id": "S", "from": "A", "to": "B", "start": "4 s", "send": "14600 B",
                "tcp": {"sender": "selective-repeat"}},
        ],
        "stop": {"at_latest": "10 s"},
        "record": {"kind": "none", "events": "changes"},
    });
    document["links"][0].as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
    run(&document)
}

/// A figure of each of these flows.
fn of_each(output: &Output, figure: &str) -> [u64; 3] {
    ["M", "C", "S"].map(|flow| output.summary["flows"][flow][figure].as_u64().unwrap())
}

#[test]
fn only_the_repair_of_a_loss_arrives_after_a_later_packet() {
    let third = json!({"kind": "script", "drop": [{"data": [3]}]});
    let output = transfers(&json!({"loss": third}));
    assert_eq!(of_each(&output, "reordered_received"), [1; 3]);
    assert_eq!(of_each(&output, "spurious_retransmissions"), [0; 3]);
}

#[test]
fn a_copy_made_by_a_link_is_no_retransmission() {
    let output = transfers(&json!({"duplication": 1}));
    // The ACKs of copies look like a loss to the classic sender.
    assert_eq!(of_each(&output, "retransmissions"), [0, 9, 0]);
    assert_eq!(of_each(&output, "spurious_retransmissions"), [0, 9, 0]);
    // Copies of ten segments, and of the retransmissions.
    assert_eq!(of_each(&output, "duplicates_received"), [10, 10 + 2 * 9, 10]);
}

#[test]
fn a_packet_counts_as_lost_when_it_would_have_arrived() {
    // Room for all; each packet takes 12 ms.
    let output = run(&json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "10 ms",
            "queue": {"limit": "100 packets"},
            "loss": {"kind": "bernoulli", "p": 1, "applies_to": "data"}}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "100 kB",
            "tcp": {"sender": "classic", "initial_window": 50}}],
        "stop": {"when": "time", "at_latest": "100 ms"},
    }));
    let summary = &output.summary;
    let link = &summary["links"]["L"]["forward"];
    assert_eq!((&link["packets_carried"], &link["packets_dropped"]), (&json!(8), &json!(7)));
    assert_eq!(
        (&link["drops"]["loss"], &summary["packets_dropped"]["loss"]),
        (&json!(7), &json!(7))
    );
    assert_eq!(summary["flows"]["F"]["segments_dropped"], 7);
}

#[test]
fn timeouts_of_a_syn_are_events() {
    let first = json!({"kind": "packets", "numbers": [1, 2]});
    let output = transfers(&json!({"forward": {"loss": first}}));
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "events").expect("recorded");
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::F64(times), Column::I32(events), Column::I64(numbers)) =
        (column("time_s"), column("event"), column("seq"))
    else {
        panic!("columns of another type")
    };
    let expired = (0..events.len()).filter(|&row| events[row] == flow_event::TIMEOUT);
    let found: Vec<_> = expired.map(|row| (times[row], numbers[row])).collect();
    assert_eq!(found, [(1.001, -1), (2.001, -1)]);
    assert_eq!(of_each(&output, "timeouts"), [2, 0, 0]);
}

/// Two flows whose data and ACKs cross one lossy link; its drops: flow, kind, number, time in ns.
fn shared(forward: &Value, backward: &Value) -> Vec<(i32, i32, i64, u64)> {
    let access = |id: &str, host: &str, router: &str| json!({"id": id, "between": [host, router], "rate": "100 Mbps", "delay": "1 ms"});
    let tcp = json!({"sender": "classic", "segment": "1000 B",
        "handshake": {"kind": "three-way", "timeout": "1 s"}});
    let output = run(&json!({
        "hosts": ["A", "B", "C", "D"], "routers": ["R", "S"],
        "links": [
            {"id": "L", "between": ["R", "S"], "rate": "5 Mbps", "delay": "20 ms",
             "forward": {"loss": forward}, "backward": {"loss": backward}},
            access("LA", "A", "R"), access("LB", "B", "R"),
            access("LC", "C", "S"), access("LD", "D", "S"),
        ],
        "flows": [
            {"id": "F0", "from": "A", "to": "C", "send": "40 kB", "tcp": tcp},
            {"id": "F1", "from": "B", "to": "D", "send": "40 kB", "tcp": tcp},
        ],
        "record": {"kind": "none", "drops": "changes"},
    }));
    let (_, columns) = output.tables.iter().find(|(name, _)| *name == "drops").expect("recorded");
    let column = |name: &str| &columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::I32(flows), Column::I32(kinds), Column::I64(numbers), Column::F64(times)) =
        (column("flow"), column("kind"), column("seq"), column("time_s"))
    else {
        panic!("columns of another type")
    };
    let row = |i: usize| (flows[i], kinds[i], numbers[i], (times[i] * 1e9) as u64);
    (0..flows.len()).map(row).collect()
}

#[test]
fn a_script_drops_the_packets_of_its_flows() {
    let none = json!("none");
    let script = |rows: Value| json!({"kind": "script", "at": "entry", "drop": rows});
    // The handshake does not count: the third data packet is the third segment.
    let rows = json!([{"flow": "F1", "data": [3]}]);
    let lost = shared(&script(rows), &none);
    assert_eq!(
        lost.iter().map(|l| (l.0, l.1, l.2)).collect::<Vec<_>>(),
        [(1, packet_kind::DATA, 2000)]
    );
    // Its retransmission is lost as well, and so is that one's.
    let rows = json!([{"flow": "F1", "data": [3], "retransmissions": [1, 2]}]);
    let lost = shared(&script(rows), &none);
    assert_eq!(lost.iter().map(|l| (l.0, l.2)).collect::<Vec<_>>(), [(1, 2000); 3]);
    // Without a flow it is the second ACK of each; SYN-ACKs do not count.
    let lost = shared(&none, &script(json!([{"acks": [2]}])));
    let mut acks: Vec<_> = lost.iter().map(|l| (l.0, l.1)).collect();
    acks.sort_unstable();
    assert_eq!(acks, [(0, packet_kind::ACK), (1, packet_kind::ACK)]);
    // Rows for several flows.
    let rows = json!([{"flow": "F0", "data": [1]}, {"flow": "F1", "data": [2]}]);
    let mut lost: Vec<_> = shared(&script(rows), &none).iter().map(|l| (l.0, l.2)).collect();
    lost.sort_unstable();
    assert_eq!(lost, [(0, 0), (1, 1000)]);
}

#[test]
fn random_losses_can_spare_handshakes_and_acks() {
    let every =
        |only: &str| json!({"kind": "bernoulli", "p": 0.3, "at": "entry", "applies_to": only});
    let kinds = |lost: Vec<(i32, i32, i64, u64)>| {
        let mut kinds: Vec<i32> = lost.iter().map(|lost| lost.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    };
    assert_eq!(
        kinds(shared(&every("data"), &every("acks"))),
        [packet_kind::DATA, packet_kind::ACK]
    );
    // Where none of the kind pass nothing is lost.
    assert_eq!(shared(&every("acks"), &every("data")), []);
    assert!(kinds(shared(&every("all"), &every("all"))).len() > 2);
    // Only those that are seen count.
    let third = |only: &str| json!({"kind": "packets", "numbers": [3], "applies_to": only});
    // Of the data: the second segment of the first flow.
    let numbers =
        |lost: Vec<(i32, i32, i64, u64)>| lost.iter().map(|l| (l.1, l.2)).collect::<Vec<_>>();
    assert_eq!(numbers(shared(&third("data"), &json!("none"))), [(packet_kind::DATA, 1000)]);
    assert_ne!(numbers(shared(&third("all"), &json!("none"))), [(packet_kind::DATA, 1000)]);
}
