//! Links on which packets overtake each other, are damaged or come twice.

use crate::documents;

use ackclock_sim::Output;
use ackclock_trace::{Column, drop_reason, packet_event, packet_kind};
use documents::run;
use serde_json::{Value, json};

/// A source of 100 packets, one every 10 ms, over a link with these values; a packet takes 1 ms to transmit.
fn stream(link: &Value) -> Output {
    let mut document = json!({
        "hosts": ["A", "B"], "routers": ["R"],
        "links": [
            {"id": "L", "between": ["A", "R"], "rate": "8 Mbps", "delay": "50 ms"},
            {"id": "M", "between": ["R", "B"], "rate": "80 Mbps", "delay": "1 ms"},
        ],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "100 kB",
            "udp": {"source": {"kind": "cbr", "rate": "800 kbps", "write": "1000 B"}}}],
        "stop": {"when": "time", "at_latest": "3 s"},
    });
    document["links"][0].as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
    run(&document)
}

fn column<'o>(output: &'o Output, table: &str, name: &str) -> &'o Column {
    let (_, columns) = output.tables.iter().find(|(own, _)| *own == table).expect("recorded");
    &columns.iter().find(|(own, _)| *own == name).expect("a column").1
}

fn ints(output: &Output, table: &str, name: &str) -> Vec<i64> {
    match column(output, table, name) {
        Column::I32(values) => values.iter().map(|v| i64::from(*v)).collect(),
        Column::I64(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Times in microseconds.
fn times(output: &Output, table: &str, name: &str) -> Vec<i64> {
    let Column::F64(values) = column(output, table, name) else { panic!("{name} has no times") };
    values.iter().map(|s| (s * 1e6).round() as i64).collect()
}

/// Packet number and time in microseconds of what the receiver got.
fn received(output: &Output) -> Vec<(i64, i64)> {
    let events = ints(output, "packets", "event");
    let rows = ints(output, "packets", "seq").into_iter().zip(times(output, "packets", "time_s"));
    let rows = rows.zip(events).filter(|(_, event)| *event == i64::from(packet_event::RECEIVED));
    rows.map(|(row, _)| row).collect()
}

/// Where each packet of a table was, by its number.
fn ids_agree(output: &Output) {
    // A packet keeps its number from link to link and to its host.
    let packets = ints(output, "packets", "packet_id");
    let seqs = ints(output, "packets", "seq");
    for (id, seq) in
        ints(output, "transmissions", "packet_id").iter().zip(ints(output, "transmissions", "seq"))
    {
        let rows = packets.iter().zip(&seqs).filter(|(own, _)| *own == id);
        assert!(rows.into_iter().all(|(_, own)| *own == seq), "packet {id}");
    }
}

#[test]
fn held_packets_are_overtaken() {
    let plain = received(&stream(&json!({})));
    assert_eq!(plain[..2], [(0, 52_100), (1, 62_100)]);
    let hold = json!([{"flow": "F", "data": [3], "by": "25 ms"}, {"data": [50], "by": "1 ms"}]);
    let held = stream(&json!({"jitter": {"kind": "script", "hold": hold}}));
    ids_agree(&held);
    // Number 2 is held by 25 ms, so that 3 and 4 pass it; number 49 not long enough to be overtaken.
    let mut expected = plain.clone();
    expected[2].1 += 25_000;
    expected[49].1 += 1_000;
    expected.sort_by_key(|row| row.1);
    let found = received(&held);
    assert_eq!(found, expected);
    assert_eq!(found[2..6].iter().map(|row| row.0).collect::<Vec<_>>(), [3, 4, 2, 5]);
    // The records name the arrival at the far end of the link.
    let arrivals = times(&held, "transmissions", "arrival_s");
    let links = ints(&held, "transmissions", "link");
    let numbers = ints(&held, "transmissions", "seq");
    let row = (0..arrivals.len()).find(|&i| links[i] == 0 && numbers[i] == 2).unwrap();
    assert_eq!(arrivals[row], 96_000);
}

#[test]
fn jitter_that_never_strikes_changes_nothing() {
    let plain = stream(&json!({}));
    for jitter in [
        json!({"kind": "script", "hold": [{"data": [1000], "by": "1 s"}]}),
        json!({"kind": "uniform", "spread": "0 s", "reorder": true}),
        json!({"kind": "uniform", "spread": "0 s"}),
    ] {
        let other = stream(&json!({"jitter": jitter}));
        assert_eq!(other.summary["digest"], plain.summary["digest"], "{jitter}");
        assert_eq!(received(&other), received(&plain));
    }
}

#[test]
fn packets_keep_their_order_unless_they_may_overtake() {
    let order = |reorder: bool| {
        let jitter = json!({"kind": "exponential", "mean": "30 ms", "reorder": reorder});
        let output = stream(&json!({"jitter": jitter}));
        ids_agree(&output);
        received(&output)
    };
    let (kept, free) = (order(false), order(true));
    assert_eq!((kept.len(), free.len()), (100, 100));
    assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(free.windows(2).filter(|pair| pair[0].0 > pair[1].0).count() > 20);
    // The same delays are drawn; who keeps the order waits for the one ahead.
    let mut by_number = free.clone();
    by_number.sort_unstable();
    let mut latest = 0;
    for ((_, drawn), (_, at)) in by_number.iter().zip(&kept) {
        latest = latest.max(*drawn);
        // Behind one another they leave the next link 100 us apart at the least.
        assert!((0..2000).contains(&(at - latest)), "{drawn} {at}");
    }
}

#[test]
fn damaged_packets_take_their_way_and_are_dropped_by_the_host() {
    let output = stream(&json!({"corruption": 0.3}));
    let link = |id: &str| output.summary["links"][id]["forward"].clone();
    let damaged = link("L")["corrupted"].as_u64().unwrap();
    assert!((15..50).contains(&damaged), "{damaged}");
    // They are carried to the end, and the last link is where they are dropped.
    assert_eq!(link("M")["packets_carried"], 100);
    assert_eq!(
        (&link("M")["drops"]["corrupted"], &link("M")["corrupted"]),
        (&json!(damaged), &json!(0))
    );
    assert_eq!(link("L")["drops"]["corrupted"], 0);
    assert_eq!(output.summary["packets_dropped"]["corrupted"], damaged);
    let flow = &output.summary["flows"]["F"];
    assert_eq!(flow["bytes_delivered"], 1000 * (100 - damaged));
    assert_eq!(flow["drops"][0]["reason"], "corrupted");
    assert_eq!(received(&output).len() as u64, 100 - damaged);
    let reasons = ints(&output, "drops", "reason");
    assert_eq!(reasons, vec![i64::from(drop_reason::CORRUPTED); damaged as usize]);
    ids_agree(&output);
}

#[test]
fn a_packet_that_comes_twice_takes_room_and_time_twice() {
    let output = stream(&json!({"duplication": 0.25}));
    let link = &output.summary["links"]["L"]["forward"];
    let copies = link["duplicated"].as_u64().unwrap();
    assert!((10..45).contains(&copies), "{copies}");
    assert_eq!(
        (&output.summary["packets_duplicated"], &link["packets_carried"]),
        (&json!(copies), &json!(100 + copies))
    );
    assert_eq!(output.summary["packets_created"], 100 + copies);
    let found = received(&output);
    assert_eq!(found.len() as u64, 100 + copies);
    // The copy comes right behind.
    let pairs: Vec<_> = found.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
    assert_eq!(pairs.len() as u64, copies);
    assert!(pairs.iter().all(|pair| pair[1].1 - pair[0].1 == 1_000));
    ids_agree(&output);
    // With a queue of one place the copy waits, and the next packet finds it gone.
    let full = stream(&json!({"duplication": 1, "queue": {"limit": "0 packets"}}));
    assert_eq!(full.summary["packets_dropped"]["queue-full"], 100);
    assert_eq!(full.summary["flows"]["F"]["bytes_delivered"], 100_000);
}

/// A transfer of each family over a link that does all of it ends and delivers everything.
#[test]
fn transfers_survive_it() {
    for tcp in [
        json!({"sender": "classic", "recovery": "newreno",
            "handshake": {"kind": "three-way", "timeout": "1 s"}}),
        json!({"sender": "classic", "cc": "vegas"}),
        json!({"sender": "selective-repeat", "cc": "fast"}),
    ] {
        let output = run(&json!({
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "8 Mbps", "delay": "20 ms",
                "jitter": {"kind": "normal", "deviation": "5 ms", "reorder": true},
                "corruption": 0.01, "duplication": 0.02,
                "loss": {"kind": "bernoulli", "p": 0.01}}],
            "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB", "tcp": tcp}],
        }));
        let flow = &output.summary["flows"]["F"];
        assert_eq!(flow["bytes_delivered"], 1_000_000, "{tcp}");
        assert_eq!(output.summary["stop_reason"], "flows-complete");
        assert!(flow["reordered_received"].as_u64().unwrap() > 10);
        let kinds = ints(&output, "drops", "kind");
        assert!(kinds.contains(&i64::from(packet_kind::ACK)));
    }
}

#[test]
fn a_table_of_one_rate_is_that_rate() {
    let plain = stream(&json!({"rate": "3333333 bps"}));
    let table = json!({"kind": "table", "steps": [["0 s", "3333333 bps"]]});
    let other = stream(&json!({"rate": table}));
    assert_eq!(other.summary["digest"], plain.summary["digest"]);
    let [used, same] =
        [&plain, &other].map(|o| o.summary["links"]["L"]["forward"]["utilization"].as_f64());
    // Of a table, whole nanoseconds of each of the 100 packets are counted.
    let cut = 100e-9 / 3.0;
    assert!((used.unwrap() - same.unwrap()).abs() < cut, "{used:?} {same:?}");
}

/// The same rates, as a table and as changes of the link: the same time is spent with transmissions.
#[test]
fn tables_and_changes_are_as_busy() {
    let table = json!({"kind": "table", "steps": [["0 s", "8 Mbps"], ["495 ms", "1 Mbps"]]});
    let table = stream(&json!({"rate": table, "queue": {"limit": "unlimited"}}));
    let changes = json!([{"at": "495 ms", "rate": "1 Mbps"}]);
    let changes = json!({"rate": "8 Mbps", "changes": changes, "queue": {"limit": "unlimited"}});
    let changes = stream(&changes);
    for output in [&table, &changes] {
        let link = &output.summary["links"]["L"]["forward"];
        // 50 packets of 1 ms, then 50 of 8 ms.
        assert!((link["utilization"].as_f64().unwrap() - 0.45 / 3.0).abs() < 1e-9, "{link}");
    }
}

#[test]
fn packets_wait_while_the_rate_is_nothing() {
    // 8 Mbps for 100 ms, then nothing for 50 ms: what comes then waits, and leaves 1 ms apart afterwards.
    let table = json!({"kind": "table", "repeat": "150 ms",
        "steps": [["0 s", "8 Mbps"], ["100 ms", "0 bps"]]});
    let output = stream(&json!({"rate": table, "queue": {"limit": "unlimited"}}));
    let found = received(&output);
    assert_eq!(found.len(), 100);
    assert_eq!(found[9], (9, 142_100));
    // Number 10 comes at 100 ms and is sent from 150 to 151 ms, 11 behind it.
    assert_eq!(
        found[10..16].iter().map(|row| row.1 - 51_100).collect::<Vec<_>>(),
        [151_000, 152_000, 153_000, 154_000, 155_000, 156_000]
    );
    let link = &output.summary["links"]["L"]["forward"];
    // 100 packets of 1 ms in 3 s, six of which are in transmission for the 50 ms in which nothing is carried.
    assert!((link["utilization"].as_f64().unwrap() - 0.4 / 3.0).abs() < 1e-9, "{link}");
}

#[test]
fn opportunities_carry_what_waits() {
    let trace = json!({"kind": "mahimahi", "opportunities": [4, 20, 20]});
    let output = stream(&json!({"rate": trace, "queue": {"limit": "unlimited"}}));
    let found: Vec<i64> = received(&output).iter().map(|row| row.1 - 51_100).collect();
    // Packets come at 0, 10, 20, ... ms; opportunities are at 4, 20, 20, 24, 40, 40 ms and so on, each for 1504 bytes.
    // At 20 ms one of two is used: the packet of that moment comes after them.
    assert_eq!(found[..5], [4_000, 20_000, 24_000, 40_000, 44_000]);
    let link = &output.summary["links"]["L"]["forward"];
    assert_eq!(link["packets_carried"], 100);
    // Three opportunities each 20 ms, for 3 s.
    let offered = 1504.0 * 450.0;
    assert!((link["utilization"].as_f64().unwrap() - 100_000.0 / offered).abs() < 1e-9);
}

/// Tokens come between opportunities: a packet leaves at the next one, and not at one that was over while it waited for
/// them.
#[test]
fn what_waits_for_tokens_takes_no_opportunity_of_the_past() {
    let run = stream(&json!({
        "rate": {"kind": "mahimahi", "opportunities": [2]},
        "queue": {"kind": "tbf", "rate": "390 kbps", "burst": "1100 B"},
    }));
    let [starts, arrivals] = ["time_s", "arrival_s"].map(|name| times(&run, "transmissions", name));
    let links = ints(&run, "transmissions", "link");
    let first = (0..links.len()).filter(|row| links[*row] == 0);
    let taken: Vec<i64> = first.map(|row| arrivals[row] - 50_000 - starts[row]).collect();
    assert!(taken.len() > 50, "{}", taken.len());
    assert!(taken.iter().all(|us| (1..=2_000).contains(us)), "{taken:?}");
}
