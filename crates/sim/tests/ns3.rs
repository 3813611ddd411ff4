//! The ns-3 lab (Ravuri 2016), by the profile `ns-3.24`.
//!
//! The goodputs of the lab's report are printed there. All other figures, and the starts to the nanosecond, come from
//! ns-3.24 itself with the lab's program: what each sink has received after 10 s, in segments.

use crate::documents;

use serde_json::{Value, json};

/// Starts in nanoseconds: the first ten draws from [0, 0.1) s of ns-3's stream 6110 with seed 11223344.
const STARTS: [u64; 10] = [
    66_555_852, 1_056_378, 98_832_685, 15_970_778, 54_427_805, 57_615_983, 57_191_450, 26_158_791,
    59_692_520, 26_537_841,
];

/// Senders over R1 and R2 to as many receivers.
fn document(
    recovery: &str,
    segment: u64,
    window: u64,
    queue: u64,
    flows: usize,
    tcp: &Value,
) -> Value {
    let link = |id: &str, a: &str, b: &str, rate: &str, delay: &str| {
        json!({
            "id": id, "between": [a, b], "rate": rate, "delay": delay,
            "queue": {"kind": "droptail", "limit": format!("{queue} B")},
        })
    };
    let mut links = vec![link("bottleneck", "R1", "R2", "1 Mbps", "20 ms")];
    let mut all = Vec::new();
    for (i, start) in STARTS.iter().enumerate().take(flows) {
        let [from, to] = ["S", "D"].map(|name| format!("{name}{}", i + 1));
        links.push(link(&format!("access{}", i + 1), &from, "R1", "5 Mbps", "10 ms"));
        links.push(link(&format!("egress{}", i + 1), "R2", &to, "5 Mbps", "10 ms"));
        // TcpTahoe halves its window, TcpReno the data in flight.
        let from_what = if recovery == "tahoe" { "cwnd" } else { "flight" };
        let mut own = json!({
            "segment": format!("{segment} B"), "receive_window": format!("{window} B"),
            "recovery": recovery, "cc": {"kind": "reno", "decrease_from": from_what},
        });
        for (name, value) in tcp.as_object().expect("an object") {
            own[name] = value.clone();
        }
        all.push(json!({
            "id": format!("F{}", i + 1), "from": from, "to": to, "start": format!("{start} ns"),
            "tcp": own,
        }));
    }
    let hosts = all.iter().flat_map(|flow| [flow["from"].clone(), flow["to"].clone()]);
    json!({
        "name": "ns3-lab", "profile": "ns-3.24", "hosts": hosts.collect::<Vec<_>>(),
        "routers": ["R1", "R2"], "links": links, "flows": all,
        "stop": {"when": "time", "at_latest": "10 s"}, "record": "none",
    })
}

fn summary(document: &Value) -> Value {
    documents::run(document).summary
}

/// Bytes delivered of each flow.
fn delivered(document: &Value) -> Vec<u64> {
    let summary = summary(document);
    let flows = summary["flows"].as_object().expect("an object");
    let all: Vec<u64> = (1..=flows.len())
        .map(|i| flows[&format!("F{i}")]["bytes_delivered"].as_u64().expect("a number"))
        .collect();
    all
}

fn standard(recovery: &str, segment: u64, window: u64, queue: u64, flows: usize) -> Vec<u64> {
    delivered(&document(recovery, segment, window, queue, flows, &json!({})))
}

/// Six significant digits, as the lab's program prints.
fn printed(value: f64) -> String {
    let digits = 5 - value.log10().floor() as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Recovery, window, queue and segment in bytes, goodput in bytes per second as the report prints it.
const REPORT: [(&str, u64, u64, u64, &str); 10] = [
    ("reno", 8_000, 2_000, 128, "27189"),
    ("reno", 64_000, 64_000, 128, "59429.1"),
    ("reno", 8_000, 2_000, 512, "57264.3"),
    ("reno", 32_000, 2_000, 512, "60356.9"),
    ("reno", 32_000, 32_000, 128, "35229.7"),
    ("tahoe", 8_000, 2_000, 128, "29895"),
    ("tahoe", 64_000, 64_000, 128, "33451.4"),
    ("tahoe", 8_000, 2_000, 512, "70923.2"),
    ("tahoe", 32_000, 2_000, 512, "61387.8"),
    ("tahoe", 32_000, 32_000, 128, "30951.6"),
];

#[test]
fn the_goodputs_of_the_report_come_out_to_the_printed_digit() {
    for (recovery, window, queue, segment, goodput) in REPORT {
        let bytes = standard(recovery, segment, window, queue, 1)[0];
        // Bytes received over the time from the start to the end.
        let ours = bytes as f64 / (10.0 - STARTS[0] as f64 * 1e-9);
        assert_eq!(printed(ours), goodput, "{recovery} {window} {queue} {segment}");
    }
}

/// Recovery, segment, window, and segments received with queues of 2000, 8000, 32000 and 64000 bytes.
const ONE_FLOW: [(&str, u64, u64, [u64; 4]); 24] = [
    ("tahoe", 128, 2_000, [1604, 1604, 1604, 1604]),
    ("tahoe", 128, 8_000, [2320, 6289, 6289, 6289]),
    ("tahoe", 128, 32_000, [2320, 5691, 2402, 6289]),
    ("tahoe", 128, 64_000, [2320, 5691, 5559, 2596]),
    ("tahoe", 256, 2_000, [688, 688, 688, 688]),
    ("tahoe", 256, 8_000, [2775, 3310, 3310, 3310]),
    ("tahoe", 256, 32_000, [2160, 3180, 3727, 3727]),
    ("tahoe", 256, 64_000, [2160, 3180, 3350, 2065]),
    ("tahoe", 512, 2_000, [226, 226, 226, 226]),
    ("tahoe", 512, 8_000, [1376, 1518, 1518, 1518]),
    ("tahoe", 512, 32_000, [1191, 1715, 2062, 2062]),
    ("tahoe", 512, 64_000, [1191, 1715, 1886, 2062]),
    ("reno", 128, 2_000, [1604, 1604, 1604, 1604]),
    ("reno", 128, 8_000, [2110, 6289, 6289, 6289]),
    ("reno", 128, 32_000, [2122, 3533, 2734, 6289]),
    ("reno", 128, 64_000, [2122, 3533, 4761, 4612]),
    ("reno", 256, 2_000, [688, 688, 688, 688]),
    ("reno", 256, 8_000, [2022, 3310, 3310, 3310]),
    ("reno", 256, 32_000, [2107, 2470, 3727, 3727]),
    ("reno", 256, 64_000, [2107, 2470, 2881, 2076]),
    ("reno", 512, 2_000, [226, 226, 226, 226]),
    ("reno", 512, 8_000, [1111, 1518, 1518, 1518]),
    ("reno", 512, 32_000, [1171, 1467, 2062, 2062]),
    ("reno", 512, 64_000, [1171, 1467, 1625, 2062]),
];

#[test]
fn one_flow_agrees_in_all_cells() {
    for (recovery, segment, window, received) in ONE_FLOW {
        let ours = [2_000, 8_000, 32_000, 64_000]
            .map(|queue| standard(recovery, segment, window, queue, 1)[0]);
        assert_eq!(ours, received.map(|n| n * segment), "{recovery} {segment} {window}");
    }
}

/// Recovery, segment, window, queue, and segments received by each of ten flows.
const TEN_FLOWS: [(&str, u64, u64, u64, [u64; 10]); 16] = [
    ("tahoe", 128, 2_000, 2_000, [698, 1006, 786, 386, 366, 346, 685, 722, 564, 388]),
    ("tahoe", 128, 8_000, 2_000, [528, 514, 826, 502, 487, 786, 275, 1053, 604, 397]),
    ("tahoe", 128, 64_000, 64_000, [412, 409, 367, 406, 1387, 323, 385, 410, 411, 1430]),
    ("tahoe", 256, 32_000, 8_000, [165, 320, 394, 1204, 296, 123, 226, 615, 168, 290]),
    ("tahoe", 256, 64_000, 32_000, [505, 430, 341, 247, 363, 364, 352, 262, 502, 344]),
    ("tahoe", 512, 2_000, 64_000, [216, 218, 216, 218, 216, 216, 216, 218, 216, 218]),
    ("tahoe", 512, 8_000, 8_000, [101, 345, 157, 256, 218, 103, 313, 289, 121, 178]),
    ("tahoe", 512, 64_000, 64_000, [255, 333, 126, 136, 126, 256, 262, 125, 255, 123]),
    ("reno", 128, 2_000, 2_000, [515, 877, 778, 580, 1019, 409, 471, 338, 515, 428]),
    ("reno", 128, 8_000, 2_000, [297, 640, 455, 555, 652, 623, 437, 563, 960, 629]),
    ("reno", 128, 64_000, 64_000, [542, 586, 446, 487, 558, 489, 453, 556, 655, 582]),
    ("reno", 256, 32_000, 8_000, [284, 229, 342, 432, 300, 264, 395, 530, 289, 395]),
    ("reno", 256, 64_000, 32_000, [252, 302, 453, 253, 321, 269, 392, 247, 464, 409]),
    ("reno", 512, 2_000, 64_000, [216, 218, 216, 218, 216, 216, 216, 218, 216, 218]),
    ("reno", 512, 8_000, 8_000, [73, 237, 260, 144, 140, 105, 144, 409, 62, 296]),
    ("reno", 512, 64_000, 64_000, [168, 209, 187, 178, 178, 178, 150, 221, 170, 173]),
];

#[test]
fn ten_flows_agree() {
    for (recovery, segment, window, queue, received) in TEN_FLOWS {
        let ours = standard(recovery, segment, window, queue, 10);
        assert_eq!(ours, received.map(|n| n * segment), "{recovery} {segment} {window} {queue}");
    }
}
