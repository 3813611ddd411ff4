//! Agreement with ns-2.35 by the profile `ns-2.35`, packet for packet.
//!
//! The figures are of runs of ns-2.35 (Debian 12). It draws for each flow when the clock of its timer ticks;
//! `phase` is what it drew there. All else is the profile. Packet 0 is the segment of the handshake.

use crate::documents;

use ackclock_sim::Output;
use ackclock_trace::{Column, packet_event, packet_kind};
use documents::run;
use serde_json::{Value, json};

/// A link of so many Mbps and ms; `limit` as ns-2 counts, one more than may wait.
fn link(ends: [&str; 2], mbps: f64, ms: u64, limit: u64) -> Value {
    json!({
        "id": ends.join("-"), "between": ends, "rate": format!("{mbps} Mbps"),
        "delay": format!("{ms} ms"),
        "forward": {"queue": {"kind": "droptail", "limit": format!("{limit} packets")}},
        "backward": {"queue": {"kind": "droptail", "limit": "100001 packets"}},
    })
}

const LARGE: u64 = 100_001;

/// A flow that starts at so many ms, whose timer's clock ticked so many ns before the run.
fn flow(id: &str, ends: [&str; 2], start: u64, phase: u64, tcp: &Value) -> Value {
    let mut tcp = tcp.clone();
    tcp["rto"] = json!({"kind": "ticks", "phase": format!("{phase} ns")});
    json!({"id": id, "from": ends[0], "to": ends[1], "start": format!("{start} ms"), "tcp": tcp})
}

fn tcp(recovery: &str, window: u64) -> Value {
    json!({"recovery": recovery, "receive_window": format!("{window} packets")})
}

fn vegas(window: u64) -> Value {
    json!({
        "recovery": "vegas", "cc": "vegas", "receive_window": format!("{window} packets"),
        "header": "0 B", "handshake": {"kind": "first-segment", "size": "1000 B"},
    })
}

fn scenario(routers: &[&str], links: &[Value], flows: &[Value], seconds: u64) -> Value {
    let mut hosts: Vec<&str> = flows
        .iter()
        .flat_map(|flow| [&flow["from"], &flow["to"]])
        .filter_map(Value::as_str)
        .collect();
    hosts.sort_unstable();
    hosts.dedup();
    json!({
        "name": "ns2", "profile": "ns-2.35", "hosts": hosts, "routers": routers, "links": links,
        "flows": flows, "stop": {"when": "time", "at_latest": format!("{seconds} s")},
        "record": "none",
    })
}

fn count(summary: &Value, flow: &str, name: &str) -> u64 {
    summary["flows"][flow][name].as_u64().unwrap_or_else(|| panic!("{flow} has no {name}"))
}

/// Packets sent, sent again, dropped; timeouts.
fn counts(summary: &Value, flow: &str) -> [u64; 4] {
    ["packets_on_wire", "retransmissions", "segments_dropped", "timeouts"]
        .map(|name| count(summary, flow, name))
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value / expected - 1.0).abs() < tolerance, "{value} instead of {expected}");
}

/// The three flows of the ns-2 lab (Pérez Datsira 2021); its on/off sources never run dry.
fn lab() -> Value {
    let sources = ["n0", "n1", "n2"];
    let mut links = sources.map(|n| link([n, "n3"], 5.0, 20, 50)).to_vec();
    links.push(link(["n3", "n4"], 1.0, 50, 20));
    let mut kept = vegas(20);
    kept["cc"] = json!({"kind": "vegas", "alpha": 3, "beta": 6, "gamma": 1});
    let flows = [
        flow("tahoe", ["n0", "n4"], 0, 4_411_733, &tcp("tahoe", 20)),
        flow("reno", ["n1", "n4"], 0, 7_991_554, &tcp("reno", 20)),
        flow("vegas", ["n2", "n4"], 0, 3_129_617, &kept),
    ];
    scenario(&["n3"], &links, &flows, 20)
}

/// Time in seconds, flow, packet.
const LAB_DROPS: [(f64, i32, i64); 22] = [
    (0.763872, 2, 13),
    (0.772320, 0, 32),
    (0.780640, 0, 34),
    (0.788960, 0, 36),
    (0.797280, 0, 38),
    (0.838880, 1, 32),
    (0.847200, 1, 34),
    (0.855520, 1, 36),
    (0.863840, 1, 38),
    (3.942128, 1, 100),
    (4.000368, 0, 186),
    (6.362576, 1, 179),
    (6.512336, 0, 284),
    (8.942736, 1, 282),
    (8.984336, 0, 364),
    (11.464656, 0, 435),
    (11.710096, 1, 396),
    (14.154864, 1, 507),
    (15.666544, 0, 581),
    (15.854064, 1, 562),
    (18.059152, 1, 639),
    (18.158992, 0, 670),
];

#[test]
fn the_lab_comes_out_as_published() {
    let mut document = lab();
    document["record"] = json!({"kind": "none", "drops": "changes", "packets": "changes"});
    let output = run(&document);
    let summary = &output.summary;
    let table = [
        ("tahoe", 766_520, [738, 16, 10, 0]),
        ("reno", 759_240, [731, 15, 11, 1]),
        ("vegas", 940_000, [940, 1, 1, 0]),
    ];
    for (flow, bytes, expected) in table {
        assert_eq!(counts(summary, flow), expected, "{flow}");
        assert_eq!(count(summary, flow, "bytes_on_wire"), bytes, "{flow}");
    }
    let bottleneck = &summary["links"]["n3-n4"]["forward"];
    near(&bottleneck["utilization"], 0.969_252, 1e-6);
    near(&bottleneck["queue_packets"]["mean"], 12.223, 1e-4);
    assert_eq!(bottleneck["queue_packets"]["max"], 19);

    // Each drop, to the microsecond.
    let drops = Rows::of(&output, "drops");
    let found: Vec<(f64, i32, i64)> = (0..drops.len())
        .map(|row| (drops.real("time_s", row), drops.code("flow", row), packet(&drops, row)))
        .collect();
    assert_eq!(found.len(), LAB_DROPS.len());
    for (ours, theirs) in found.iter().zip(&LAB_DROPS) {
        assert_eq!((ours.1, ours.2), (theirs.1, theirs.2), "at {}", theirs.0);
        assert!((ours.0 - theirs.0).abs() < 1e-6, "{ours:?} instead of {theirs:?}");
    }

    // The highest packet that each sender knows to have arrived.
    let packets = Rows::of(&output, "packets");
    let mut acknowledged = [0; 3];
    for row in 0..packets.len() {
        let received = packets.code("event", row) == packet_event::RECEIVED;
        if received && packets.code("kind", row) == packet_kind::ACK {
            let flow = packets.code("flow", row) as usize;
            acknowledged[flow] = acknowledged[flow].max(packets.whole("seq", row) / 1000);
        }
    }
    assert_eq!(acknowledged, [712, 703, 925]);
}

/// A recorded table.
struct Rows<'a>(&'a [(&'static str, Column)]);

impl<'a> Rows<'a> {
    fn of(output: &'a Output, name: &str) -> Self {
        Self(&output.tables.iter().find(|(table, _)| *table == name).expect("a table").1)
    }

    fn column(&self, name: &str) -> &Column {
        &self.0.iter().find(|(column, _)| *column == name).expect("a column").1
    }

    fn len(&self) -> usize {
        match self.column("time_s") {
            Column::F64(times) => times.len(),
            other => panic!("{other:?}"),
        }
    }

    fn real(&self, name: &str, row: usize) -> f64 {
        match self.column(name) {
            Column::F64(values) => values[row],
            other => panic!("{other:?}"),
        }
    }

    fn code(&self, name: &str, row: usize) -> i32 {
        match self.column(name) {
            Column::I32(values) => values[row],
            other => panic!("{other:?}"),
        }
    }

    fn whole(&self, name: &str, row: usize) -> i64 {
        match self.column(name) {
            Column::I64(values) => values[row],
            other => panic!("{other:?}"),
        }
    }
}

/// Number of a data packet as ns-2 counts: the segment of the handshake is packet 0.
fn packet(rows: &Rows<'_>, row: usize) -> i64 {
    rows.whole("seq", row) / 1000 + 1
}

/// One flow over two routers, for as long.
fn alone(mbps: f64, ms: u64, limit: u64, flow: Value, seconds: u64) -> Value {
    let links = [
        link(["r0", "r1"], mbps, ms, limit),
        link(["s0", "r0"], 100.0, 1, LARGE),
        link(["r1", "d0"], 100.0, 1, LARGE),
    ];
    scenario(&["r0", "r1"], &links, &[flow], seconds)
}

const ALONE: u64 = 5_558_807;

#[test]
fn one_flow_sends_the_packets_of_ns2() {
    let ends = ["s0", "d0"];
    let mut delayed = tcp("reno", 10_000);
    delayed["receiver"] = json!("delayed");
    let runs = [
        (
            alone(1.5, 50, 21, flow("F", ends, 0, ALONE, &tcp("tahoe", 10_000)), 60),
            [9777, 96, 55, 0],
        ),
        (alone(1.5, 50, 21, flow("F", ends, 0, ALONE, &delayed), 60), [10_553, 73, 28, 1]),
        (alone(10.0, 50, 101, flow("F", ends, 0, ALONE, &tcp("tahoe", 10)), 20), [1885, 0, 0, 0]),
    ];
    let bottlenecks = [Some((0.897_547, 9.580_37)), Some((0.971_225, 9.960_45)), None];
    for ((document, expected), published) in runs.iter().zip(bottlenecks) {
        let summary = run(document).summary;
        assert_eq!(counts(&summary, "F"), *expected);
        let Some((utilization, queue)) = published else { continue };
        let bottleneck = &summary["links"]["r0-r1"]["forward"];
        near(&bottleneck["utilization"], utilization, 1e-3);
        near(&bottleneck["queue_packets"]["mean"], queue, 1e-4);
    }
}

#[test]
fn a_short_transfer_takes_as_long_as_in_ns2() {
    let mut transfer = flow("F", ["s0", "d0"], 0, ALONE, &tcp("newreno", 10_000));
    transfer["send"] = json!("20000 B");
    let summary = run(&alone(10.0, 50, 1001, transfer, 20)).summary;
    near(&summary["flows"]["F"]["finish_ack_s"], 0.528_384, 1e-6);
    assert_eq!(counts(&summary, "F"), [21, 0, 0, 0]);
}

/// Two senders, so many ms from the first router, and their receivers.
fn two_pairs(mbps: f64, ms: u64, limit: u64, access: [u64; 2]) -> Vec<Value> {
    let mut links = vec![link(["r0", "r1"], mbps, ms, limit)];
    for (pair, ms) in access.into_iter().enumerate() {
        links.push(link([&format!("s{pair}"), "r0"], 100.0, ms, LARGE));
        links.push(link(["r1", &format!("d{pair}")], 100.0, 1, LARGE));
    }
    links
}

#[test]
fn vegas_against_reno_sends_the_packets_of_ns2() {
    let links = two_pairs(2.0, 30, 41, [1, 1]);
    let flows = [
        flow("vegas", ["s0", "d0"], 0, 4_411_733, &vegas(10_000)),
        flow("reno", ["s1", "d1"], 0, 881_226, &tcp("reno", 10_000)),
    ];
    let summary = run(&scenario(&["r0", "r1"], &links, &flows, 200)).summary;
    assert_eq!(counts(&summary, "vegas"), [4587, 0, 0, 0]);
    assert_eq!(counts(&summary, "reno"), [43_684, 138, 87, 1]);
}

#[test]
fn newreno_flows_of_unequal_paths_send_the_packets_of_ns2() {
    let links = two_pairs(5.0, 10, 51, [3, 51]);
    let flows = [
        flow("short", ["s0", "d0"], 0, 881_226, &tcp("newreno", 10_000)),
        flow("long", ["s1", "d1"], 310, 142_046, &tcp("newreno", 10_000)),
    ];
    let summary = run(&scenario(&["r0", "r1"], &links, &flows, 300)).summary;
    assert_eq!(counts(&summary, "short"), [115_606, 449, 350, 7]);
    assert_eq!(counts(&summary, "long"), [64_648, 169, 95, 3]);
}

#[test]
fn a_parking_lot_of_newreno_flows_sends_the_packets_of_ns2() {
    let hops = [["r0", "r1"], ["r1", "r2"], ["r2", "r3"]];
    let paths = [["r0", "r3"], hops[0], hops[1], hops[2]];
    let mut links: Vec<Value> = hops.iter().map(|ends| link(*ends, 5.0, 10, 51)).collect();
    for (flow, [first, last]) in paths.iter().enumerate() {
        links.push(link([&format!("s{flow}"), first], 100.0, 1, LARGE));
        links.push(link([last, &format!("d{flow}")], 100.0, 1, LARGE));
    }
    let [starts, phases] = [[0, 400, 700, 1000], [4_411_733, 7_991_554, 3_129_617, 8_164_760]];
    let flows: Vec<Value> = (0..4)
        .map(|i| {
            let ends = [format!("s{i}"), format!("d{i}")];
            let name = format!("F{i}");
            flow(&name, [&ends[0], &ends[1]], starts[i], phases[i], &tcp("newreno", 10_000))
        })
        .collect();
    let summary = run(&scenario(&["r0", "r1", "r2", "r3"], &links, &flows, 200)).summary;
    assert_eq!(counts(&summary, "F0"), [3755, 595, 415, 75]);
    assert_eq!(counts(&summary, "F1"), [116_419, 141, 141, 0]);
    assert_eq!(counts(&summary, "F2"), [116_534, 228, 141, 1]);
    assert_eq!(counts(&summary, "F3"), [116_499, 234, 141, 2]);
}

/// Which packets ns-2 lost of a flow through a link that loses one in a hundred, in the order in which they
/// came to the link.
const LOST: [u64; 63] = [
    89, 97, 191, 204, 482, 517, 641, 668, 722, 738, 884, 920, 1003, 1106, 1160, 1220, 1391, 1418,
    1532, 1600, 1609, 1660, 1947, 2187, 2331, 2381, 2410, 2457, 2486, 2625, 2907, 3010, 3067, 3087,
    3094, 3127, 3138, 3157, 3271, 3293, 3406, 3433, 3440, 3531, 3558, 3586, 3629, 3630, 3722, 3897,
    3978, 4196, 4199, 4203, 4395, 4456, 4509, 4562, 4593, 4616, 4809, 5012, 5210,
];

#[test]
fn the_same_losses_have_the_same_consequences_as_in_ns2() {
    let mut delayed = tcp("newreno", 10_000);
    delayed["receiver"] = json!("delayed");
    let runs = [
        // Two repairs in a window, timeouts, and duplicates on both sides of a timeout.
        (tcp("tahoe", 10_000), [5279, 72, 63, 3]),
        (delayed, [4329, 61, 54, 2]),
    ];
    for (tcp, expected) in runs {
        let mut document = alone(50.0, 48, 5001, flow("F", ["s0", "d0"], 0, ALONE, &tcp), 60);
        for access in [1, 2] {
            document["links"][access]["rate"] = json!("1 Gbps");
        }
        document["links"][0]["forward"]["loss"] =
            json!({"kind": "packets", "numbers": LOST.as_slice()});
        assert_eq!(counts(&run(&document).summary, "F"), expected);
    }
}
