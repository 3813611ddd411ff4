//! The modern sender beside Linux 6.18: what the kernel was measured to do where one rule decides.
//!
//! Each case is a link without limits but its rate and what the case loses, marks or delays by number, so that the kernel's
//! repetitions differ by the phase of its clock only.

use crate::documents;

use ackclock_sim::Output;
use ackclock_trace::Column;
use documents::run;
use serde_json::{Value, json};

const SEGMENT: f64 = 1448.0;

/// A path from A to B.
struct Path {
    rate: &'static str,
    delay: &'static str,
    /// Keys of the way there, and back.
    forward: Value,
    backward: Value,
}

/// 10 Mbps and 30 ms each way, with these keys of the way there.
fn path(forward: Value) -> Path {
    Path { rate: "10 Mbps", delay: "30 ms", forward, backward: json!({}) }
}

fn with(base: Value, more: &Value) -> Value {
    let mut base = base;
    base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    base
}

/// A flow over a path that sends so much, or what its source writes, with timers as the kernel's.
fn flow(path: &Path, tcp: &Value, send: Option<&str>) -> Output {
    let tcp = with(json!({"receiver": "immediate", "timers": "linux"}), tcp);
    let mut flow = json!({"id": "F", "from": "A", "to": "B", "tcp": tcp});
    if let Some(send) = send {
        flow["send"] = json!(send);
    }
    run(&json!({
        "hosts": ["A", "B"],
        "ties": "first-come",
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": path.rate, "delay": path.delay,
            "forward": with(json!({"queue": {"limit": "1000 packets"}}), &path.forward),
            "backward": with(json!({"rate": "100 Tbps"}), &path.backward),
        }],
        "flows": [flow],
        "stop": {"at_latest": "10 s"},
        "record": {"kind": "none", "cwnd": "changes"},
    }))
}

fn told<'a>(output: &'a Output, key: &str) -> &'a Value {
    &output.summary["flows"]["F"][key]
}

/// Segments in the window at the end.
fn window(output: &Output) -> f64 {
    let (_, columns) = output.tables.iter().find(|(table, _)| *table == "cwnd").expect("recorded");
    let (_, column) = columns.iter().find(|(name, _)| *name == "cwnd_bytes").expect("a column");
    let Column::F64(values) = column else { panic!("real numbers") };
    values.last().unwrap() / SEGMENT
}

/// All data have arrived within 1 % of the kernel's time in milliseconds.
fn takes(output: &Output, kernel: f64) {
    let ms = told(output, "finish_s").as_f64().expect("all has arrived") * 1e3;
    assert!((ms / kernel - 1.0).abs() < 0.01, "{ms} and {kernel} ms");
}

/// Packets with these numbers, the SYN among them, are lost.
fn lost(numbers: &[u64]) -> Value {
    json!({"loss": {"kind": "packets", "numbers": numbers, "at": "entry"}})
}

/// A duplicate that is reported by an ACK of nothing else counts with the next ACK that delivers something
/// (`tcp_rack_update_reo_wnd`), so that the window for reordering grows by more than one step.
#[test]
fn the_window_for_reordering_grows_with_each_round_of_duplicates() {
    let late = [
        (60, "15 ms"),
        (130, "25 ms"),
        (200, "33 ms"),
        (270, "36 ms"),
        (330, "33 ms"),
        (390, "25 ms"),
    ];
    let hold = late.map(|(data, by)| json!({"flow": "F", "data": [data], "by": by}));
    let jitter = json!({"jitter": {"kind": "script", "hold": hold}});
    let path = Path { rate: "20 Mbps", delay: "20 ms", ..path(jitter) };
    let output = flow(&path, &json!({"preset": "linux-reno"}), Some("620 kB"));
    assert_eq!(*told(&output, "retransmissions"), 2);
    assert_eq!(window(&output), 399.0);
}

/// Without SACK each repeated ACK is a segment that was delivered (`tcp_add_reno_sack`, `tcp_count_delivered`), also
/// for rate samples.
#[test]
fn repeated_acks_count_as_delivered() {
    let drop =
        json!({"loss": {"kind": "script", "at": "entry", "drop": [{"flow": "F", "data": [90]}]}});
    let path = Path { rate: "20 Mbps", ..path(drop) };
    let output = flow(&path, &json!({"preset": "linux-bbr", "sack": false}), Some("400 kB"));
    assert!((198.0..=201.0).contains(&window(&output)), "{}", window(&output));
}

/// The FIN is set on a small segment that waits for an earlier one (`tcp_send_fin`).
#[test]
fn the_fin_is_set_on_what_waits() {
    let drop =
        json!({"loss": {"kind": "script", "at": "entry", "drop": [{"flow": "F", "data": [3]}]}});
    let writes = json!([["100 ms", "100 B"], ["200 ms", "100 B"], ["203 ms", "200 B"]]);
    let source = json!({"kind": "schedule", "writes": writes});
    let output = flow(&path(drop), &json!({"preset": "linux-reno", "source": source}), None);
    takes(&output, 570.0);
    assert_eq!(window(&output), 10.0);
}

/// A repeated SYN does not ask for ECN (`__tcp_retransmit_skb`, `tcp_ecn_clear_syn`).
#[test]
fn a_lost_syn_switches_marks_off() {
    let marks =
        json!({"queue": {"kind": "threshold", "limit": "1000 packets", "mark_from": "10 packets"}});
    let tcp = json!({"preset": "linux-reno", "ecn": true});
    let output = flow(&path(with(lost(&[1]), &marks)), &tcp, Some("300 kB"));
    takes(&output, 1450.0);
    assert_eq!((window(&output), told(&output, "ecn_reductions")), (218.0, &json!(0)));
    // The other end keeps what the first SYN has asked for.
    let path = Path { backward: lost(&[1]), ..path(marks) };
    let output = flow(&path, &tcp, Some("300 kB"));
    takes(&output, 1923.0);
    assert_eq!(window(&output), 18.0);
}

/// An answer to a repeated SYN echoes the timestamp of the first SYN that has arrived (`tcp_check_req`): if only the
/// answers were lost, the loss does not count (`tcp_try_undo_spurious_syn`), and the round trip was long.
#[test]
fn lost_answers_do_not_cut_the_window() {
    let path = Path { backward: lost(&[1, 2]), ..path(json!({})) };
    let output = flow(&path, &json!({"preset": "linux-reno"}), Some("100 kB"));
    takes(&output, 2287.0);
    assert_eq!(window(&output), 80.0);
}

/// Without timestamps the answer to a repeated SYN measures nothing: the timer waits 3 s (`tcp_init_metrics`), and the
/// probe 1 s (`tcp_schedule_loss_probe`).
#[test]
fn the_answer_to_a_repeated_syn_measures_nothing_without_timestamps() {
    let first: Vec<u64> = std::iter::once(1).chain(4..=13).collect();
    let tcp = json!({"preset": "linux-reno", "timestamps": false, "segment": "1460 B",
        "header": "40 B", "ack": "40 B"});
    let output = flow(&path(lost(&first)), &tcp, Some("29200 B"));
    takes(&output, 2502.0);
}

/// The timer of a SYN is rounded like any other.
#[test]
fn the_timer_of_a_syn_has_ticks() {
    for (lost_syns, kernel) in [(2, 2512.0), (3, 3525.0)] {
        let numbers: Vec<u64> = (1..=lost_syns).collect();
        let output = flow(&path(lost(&numbers)), &json!({"preset": "linux-reno"}), Some("100 kB"));
        takes(&output, kernel);
    }
}

/// A flow that is paced spreads its ACKs, and a train may last twice as long (`hystart_update`).
#[test]
fn pacing_lengthens_the_train_that_ends_slow_start() {
    let path = Path { rate: "50 Mbps", ..path(json!({})) };
    let output = flow(&path, &json!({"preset": "linux-cubic", "pacing": "window"}), Some("900 kB"));
    takes(&output, 467.0);
    assert_eq!(window(&output), 578.0);
}
