//! Published and scripted results of Bene, the simulator of the BYU CS 460 labs, by the profile `bene`.
//!
//! The window table is that of a student report of 2016; the other figures come from Bene itself with a
//! sender of its own, written from the lab texts of 2015 and 2017.

use crate::documents;

use serde_json::{Value, json};

/// One hop of 10 Mbps and 10 ms; `flows` are (start in seconds, bytes, TCP).
fn document(link: &Value, flows: &[(f64, u64, Value)]) -> Value {
    let mut link = link.clone();
    link["id"] = json!("L");
    link["between"] = json!(["n1", "n2"]);
    link["rate"] = json!("10 Mbps");
    link["delay"] = json!("10 ms");
    let flows = flows.iter().enumerate().map(|(i, (start, bytes, tcp))| {
        json!({
            "id": format!("F{}", i + 1), "from": "n1", "to": "n2",
            "start": format!("{start} s"), "send": format!("{bytes} B"), "tcp": tcp,
        })
    });
    json!({
        "name": "bene", "profile": "bene", "hosts": ["n1", "n2"], "links": [link],
        "flows": flows.collect::<Vec<_>>(), "stop": {"at_latest": "1000 s"}, "record": "none",
    })
}

fn run(document: &Value) -> Value {
    documents::run(document).summary
}

fn seconds(summary: &Value, flow: &str, name: &str) -> f64 {
    summary["flows"][flow][name].as_f64().unwrap_or_else(|| panic!("{flow} has no {name}"))
}

/// A fixed window, in segments; only the timer repairs losses.
fn window(segments: u64) -> Value {
    json!({
        "initial_window": segments, "cc": {"kind": "fixed", "window": segments}, "recovery": "timeout",
    })
}

#[test]
fn the_table_of_windows_is_exact_to_the_microsecond() {
    let table = [
        (1, 10.711_616, 10.701_616, 384_270.68),
        (2, 5.366_016, 5.356_016, 767_079.34),
        (5, 2.145_216, 2.135_216, 1_918_762.49),
        (10, 1.084_416, 1.074_416, 3_795_738.90),
        (15, 0.730_816, 0.720_816, 5_632_279.53),
        (20, 0.551_616, 0.541_616, 7_462_002.55),
    ];
    for (segments, acked, received, throughput) in table {
        let summary = run(&document(&json!({}), &[(0.0, 514_520, window(segments))]));
        let finish = seconds(&summary, "F1", "finish_ack_s");
        assert!((finish - acked).abs() < 5e-10, "window {segments}: {finish}");
        assert!((seconds(&summary, "F1", "finish_s") - received).abs() < 5e-10);
        assert!((514_520.0 * 8.0 / finish - throughput).abs() < 0.005, "window {segments}");
    }
}

#[test]
fn scripted_losses_agree_to_the_microsecond() {
    let first: (&[u64], &[u64]) = (&[1, 6, 7, 9], &[7, 8]);
    let second: (&[u64], &[u64]) = (&[4, 7, 11, 13, 16], &[10, 11]);
    let fixed = json!({"rto": "fixed"});
    let standard = json!({"rto": "rfc6298"});
    let reported = json!({
        "rto": {"kind": "rfc6298", "floor": "variance", "variance_from": "new-srtt"},
        "timer_restart": "on-ack-old-rto",
    });
    // Timer, lost data and ACKs by number, last byte received, last ACK, timeouts, segments.
    let cases = [
        (&fixed, first, 3.0964, 3.1064, 3, 15),
        (&fixed, second, 4.0756, 7.0856, 7, 17),
        (&standard, first, 6.0964, 6.1064, 3, 15),
        (&standard, second, 6.0756, 34.0856, 7, 17),
        (&reported, first, 6.1588, 6.1688, 3, 15),
        (&reported, second, 6.201_880_322, 34.802_473_193, 7, 17),
    ];
    for (timer, (data, acks), received, acked, timeouts, segments) in cases {
        let link = json!({
            "forward": {"loss": {"kind": "packets", "numbers": data}},
            "backward": {"loss": {"kind": "packets", "numbers": acks}},
        });
        let mut tcp = window(3);
        for (name, value) in timer.as_object().expect("an object") {
            tcp[name] = value.clone();
        }
        let summary = run(&document(&link, &[(0.0, 10_000, tcp)]));
        let flow = &summary["flows"]["F1"];
        let times = ["finish_s", "finish_ack_s"].map(|name| seconds(&summary, "F1", name));
        assert!((times[0] - received).abs() < 1e-6, "{timer} {times:?}");
        assert!((times[1] - acked).abs() < 1e-6, "{timer} {times:?}");
        assert_eq!(
            (&flow["timeouts"], &flow["segments_sent"]),
            (&json!(timeouts), &json!(segments))
        );
        assert_eq!(summary["stop_reason"], "flows-complete");
    }
}

#[test]
fn a_lost_last_segment_without_a_timer_stalls() {
    // The second to last ACK stops the timer, and nothing is sent that could start it again.
    let link = json!({"forward": {"loss": {"kind": "packets", "numbers": [10]}}});
    let mut tcp = window(3);
    tcp["rto"] = json!("fixed");
    let correct = run(&document(&link, &[(0.0, 10_000, tcp.clone())]));
    assert_eq!(correct["stop_reason"], "flows-complete");
    assert_eq!(correct["flows"]["F1"]["timeouts"], 1);
    tcp["timer_restart"] = json!("on-send");
    let faulty = run(&document(&link, &[(0.0, 10_000, tcp)]));
    assert_eq!(faulty["stop_reason"], "stalled");
    assert_eq!(faulty["finished"], false);
    assert_eq!(faulty["flows"]["F1"]["timeouts"], 0);
    assert_eq!(faulty["flows"]["F1"]["finish_s"], Value::Null);
}

/// Finish times in seconds (to two decimals) and drops.
type Figures = (&'static [f64], u64);

/// One reading of the lab texts, and what the nine experiments gave with it.
struct Variant {
    name: &'static str,
    /// What the text says of growth, of recovery and of segments.
    growth: Value,
    recovery: Value,
    framing: &'static str,
    one: Figures,
    two: Figures,
    five: Figures,
    /// Additive decrease; decrease to 5/6; 5/6 against 1/2: both at once, and the second 0.1 s later.
    pairs: [[Figures; 2]; 3],
}

impl Variant {
    fn tcp(&self, cc: Value) -> Value {
        let mut cc = cc;
        for (name, value) in self.growth.as_object().expect("an object") {
            cc[name] = value.clone();
        }
        json!({"cc": cc, "recovery": self.recovery, "framing": self.framing, "rto": "rfc6298"})
    }

    fn check(&self, what: &str, starts: &[f64], tcp: &[&Value], figures: Figures) {
        let flows: Vec<(f64, u64, Value)> =
            starts.iter().zip(tcp).map(|(&start, &tcp)| (start, 1_000_000, tcp.clone())).collect();
        let link = json!({"queue": {"kind": "droptail", "limit": "100 packets"}});
        let summary = run(&document(&link, &flows));
        let (times, drops) = figures;
        let queue = &summary["links"]["L"]["forward"];
        assert_eq!(queue["drops"]["queue-full"], drops, "{} {what}", self.name);
        let peak = if drops == 0 { 82 } else { 100 };
        assert_eq!(queue["queue_packets"]["max"], peak, "{} {what}", self.name);
        for (i, expected) in times.iter().enumerate() {
            let finish = seconds(&summary, &format!("F{}", i + 1), "finish_s");
            let off = (finish - expected).abs();
            assert!(off < 0.0056, "{} {what}: flow {} at {finish}", self.name, i + 1);
        }
    }

    fn check_all(&self) {
        let half = self.tcp(json!({"kind": "aimd"}));
        let sixths = self.tcp(json!({"kind": "aimd", "decrease": 5.0 / 6.0}));
        let less = self.tcp(json!({"kind": "aiad"}));
        self.check("one", &[0.0], &[&half], self.one);
        self.check("two", &[0.0, 0.0], &[&half, &half], self.two);
        self.check("five", &[0.0, 0.1, 0.2, 0.3, 0.4], &[&half; 5], self.five);
        let pairs = [[&less, &less], [&sixths, &sixths], [&sixths, &half]];
        for (i, (tcp, figures)) in pairs.iter().zip(&self.pairs).enumerate() {
            for (second, figures) in [0.0, 0.1].into_iter().zip(figures) {
                self.check(&format!("pair {i} {second}"), &[0.0, second], tcp, *figures);
            }
        }
    }
}

#[test]
fn the_lab_text_taken_literally() {
    Variant {
        name: "literal",
        growth: json!({}),
        recovery: json!({"kind": "tahoe"}),
        framing: "full",
        one: (&[0.889], 0),
        two: (&[2.13, 2.10], 92),
        five: (&[1.56, 4.15, 3.77, 4.26, 2.97], 69),
        pairs: [
            [(&[2.56, 3.05], 216), (&[1.26, 1.77], 42)],
            [(&[3.49, 3.78], 203), (&[1.09, 1.89], 42)],
            [(&[3.41, 2.10], 161), (&[1.09, 1.89], 42)],
        ],
    }
    .check_all();
}

#[test]
fn no_second_fast_retransmit_while_data_are_outstanding() {
    Variant {
        name: "guard",
        growth: json!({}),
        recovery: json!({"kind": "tahoe", "guard": "outstanding"}),
        framing: "full",
        one: (&[0.889], 0),
        two: (&[2.30, 1.32], 92),
        five: (&[1.56, 4.15, 3.77, 4.26, 2.97], 69),
        pairs: [
            [(&[3.83, 5.03], 559), (&[1.05, 2.47], 38)],
            [(&[1.89, 3.01], 328), (&[1.05, 2.61], 38)],
            [(&[3.05, 1.37], 175), (&[1.05, 2.61], 38)],
        ],
    }
    .check_all();
}

#[test]
fn windows_of_whole_segments() {
    Variant {
        name: "quantised",
        growth: json!({"counting": "capped-bytes", "whole_segments": true}),
        recovery: json!({"kind": "tahoe"}),
        framing: "full",
        one: (&[0.889], 0),
        two: (&[6.04, 6.05], 75),
        five: (&[1.83, 3.12, 3.45, 3.94, 8.06], 75),
        pairs: [
            [(&[2.64, 3.12], 107), (&[1.66, 2.02], 60)],
            [(&[6.15, 1.80], 89), (&[1.14, 1.83], 27)],
            [(&[6.07, 6.06], 79), (&[1.12, 1.76], 25)],
        ],
    }
    .check_all();
}

#[test]
fn partial_segments_fill_the_window() {
    Variant {
        name: "partial",
        growth: json!({}),
        recovery: json!({"kind": "tahoe"}),
        framing: "fill",
        one: (&[1.294], 171),
        two: (&[2.16, 2.27], 326),
        five: (&[2.57, 4.85, 5.02, 3.31, 3.67], 773),
        pairs: [
            [(&[3.09, 2.95], 281), (&[2.77, 3.05], 372)],
            [(&[2.62, 2.46], 416), (&[1.86, 2.54], 457)],
            [(&[2.21, 2.12], 420), (&[1.69, 2.45], 347)],
        ],
    }
    .check_all();
}

#[test]
fn reno() {
    Variant {
        name: "reno",
        growth: json!({}),
        recovery: json!({"kind": "reno"}),
        framing: "full",
        one: (&[0.889], 0),
        two: (&[2.78, 2.82], 75),
        five: (&[1.29, 3.75, 4.20, 4.04, 5.70], 134),
        pairs: [
            [(&[3.50, 4.98], 408), (&[0.96, 2.51], 78)],
            [(&[3.56, 4.73], 189), (&[0.96, 2.56], 25)],
            [(&[3.33, 2.48], 82), (&[0.94, 2.48], 25)],
        ],
    }
    .check_all();
}
