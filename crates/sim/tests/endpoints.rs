//! The modern sender driven by hand: any sequence of ACKs, blocks, windows and timers leaves a sender that works and
//! whose counters are what its records add up to; and sequence numbers wrap.

use ackclock_sim::document::check_text;
use ackclock_sim::endpoint::{Endpoint, Injected, Note, Packet, endpoint};
use ackclock_units::Time;
use proptest::prelude::*;
use serde_json::{Value, json};

const MSS: u64 = 1000;

fn connect(tcp: &Value) -> Endpoint {
    let document = json!({
        "name": "endpoint",
        "topology": {
            "kind": "dumbbell", "leaves": 1,
            "access": {"rate": "1 Gbps", "delay": "1 ms"},
            "bottleneck": {"rate": "1 Gbps", "delay": "1 ms"},
        },
        "flows": [{"id": "F1", "from": "S1", "to": "D1", "tcp": tcp}],
        "stop": {"when": "time", "at_latest": "1 s"},
    });
    let checked = check_text(&document.to_string());
    let problems: Vec<_> = checked.problems.iter().map(|p| &p.message).collect();
    let scenario = checked.scenario.as_ref().unwrap_or_else(|| panic!("{problems:?}"));
    let mut end = endpoint(scenario).expect("a modern sender");
    end.open(Time::ZERO);
    end.establish(Time::from_ms(50), Time::ZERO, 1 << 20);
    end.take();
    end
}

fn kinds() -> Vec<Value> {
    let preset = |name: &str| json!({"preset": name, "segment": "1000 B"});
    let with = |mut tcp: Value, more: Value| {
        let more = more.as_object().expect("keys").clone();
        tcp.as_object_mut().expect("keys").extend(more);
        tcp
    };
    let reno = || preset("linux-reno");
    vec![
        reno(),
        preset("linux-cubic"),
        preset("linux-bbr"),
        with(preset("linux-dctcp"), json!({"nagle": false})),
        with(reno(), json!({"sack": false})),
        with(reno(), json!({"timestamps": false})),
        with(reno(), json!({"sack": false, "timestamps": false, "frto": false})),
        with(reno(), json!({"detect": "dupthresh", "reduce": "pipe"})),
        with(preset("linux-cubic"), json!({"pacing": "window", "pacing_burst": 2})),
        with(reno(), json!({"tail_loss_probe": false, "undo": false, "timers": "linux"})),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Write(u64),
    /// An ACK at this share of what was sent, off by some bytes; a window; blocks at shares, off by some bytes.
    Ack {
        share: u64,
        off: i64,
        window: u32,
        blocks: Vec<(u64, i64, u64)>,
        ece: bool,
        again: u8,
    },
    /// Time passes, and timers run.
    Wait(u64),
    Timer,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let off = || prop_oneof![3 => Just(0_i64), 1 => -1500..1500_i64];
    let block = (0..=1100_u64, off(), prop_oneof![Just(MSS), 0..4 * MSS]);
    let window = prop_oneof![6 => Just(1 << 20), 1 => Just(0), 2 => 0..5000_u32];
    let ack = (0..=1000_u64, off(), window, prop::collection::vec(block, 0..5), 0..8_u8, 1..4_u8)
        .prop_map(|(share, off, window, blocks, ece, again)| Step::Ack {
            share,
            off,
            window,
            blocks,
            ece: ece == 0,
            again,
        });
    let step = prop_oneof![
        2 => (1..30_000_u64).prop_map(Step::Write),
        8 => ack,
        2 => (0..200_u64).prop_map(Step::Wait),
        1 => Just(Step::Timer),
    ];
    prop::collection::vec(step, 1..60)
}

fn acknowledge(ack: u64, note: Note, ece: bool, now: Time) -> Injected {
    let echo = now;
    Injected { ack: Some(ack), note, ece, echo, ..Injected::default() }
}

/// What was sent: its end.
fn end_of(packets: &[Packet]) -> u64 {
    let end = |packet: &Packet| packet.seq.max(0) as u64 + packet.payload;
    packets.iter().map(end).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_acks_leave_a_sender_that_works_and_ends(
        kind in 0..10_usize,
        steps in steps(),
    ) {
        let mut end = connect(&kinds()[kind]);
        let (mut now, mut sent, mut written) = (Time::from_ms(50), 0, 0);
        for step in steps {
            match step {
                Step::Write(bytes) => {
                    written += bytes;
                    end.write(now, bytes, bytes % 7 == 0, bytes % 5 == 0);
                }
                Step::Ack { share, off, window, blocks, ece, again } => {
                    let at = |share: u64, off: i64| (sent * share / 1000).saturating_add_signed(off);
                    let blocks = blocks.iter().map(|&(share, off, length)| {
                        let start = at(share, off);
                        (start, start + length)
                    });
                    let mut note = Note::new(blocks);
                    note.window = Some(window);
                    for _ in 0..again {
                        end.inject(now, &acknowledge(at(share, off), note, ece, now));
                        prop_assert!(end.is_consistent(), "{:?}", end.info());
                    }
                }
                Step::Wait(ms) => {
                    let until = now + Time::from_ms(ms);
                    while end.next_timer() <= until {
                        now = now.max(end.next_timer());
                        end.on_timer(now);
                        prop_assert!(end.is_consistent(), "{:?}", end.info());
                    }
                    now = until;
                }
                Step::Timer => {
                    let due = end.next_timer();
                    if due != Time::NEVER {
                        now = now.max(due);
                        end.on_timer(now);
                    }
                }
            }
            prop_assert!(end.is_consistent(), "{:?}", end.info());
            let packets = end.take();
            prop_assert!(packets.len() < 4000, "{} segments at once", packets.len());
            sent = sent.max(end_of(&packets));
        }
        // From now on the other end has everything, and says so.
        end.close(now);
        let mut note = Note::default();
        note.window = Some(1 << 20);
        for turn in 0.. {
            sent = sent.max(end_of(&end.take()));
            let info = end.info();
            if info.bytes_acked > written {
                break;
            }
            prop_assert!(turn < 3000, "the transfer does not end: {info:?}");
            let fin = u64::from(sent == written);
            now += Time::from_ms(50);
            end.inject(now, &acknowledge(sent + fin, note, false, now));
            // The FIN may not have left yet.
            end.inject(now, &acknowledge(sent, note, false, now));
            if end.next_timer() <= now + Time::from_secs(200) && turn % 2 == 1 {
                now = now.max(end.next_timer());
                end.on_timer(now);
            }
            prop_assert!(end.is_consistent(), "{:?}", end.info());
        }
    }
}

/// Two ends, 10 ms apart, over a wire that drops each `lost`-th data packet. Answers the sender and the receiver.
fn transfer(tcp: &Value, bytes: u64, lost: u64) -> (Endpoint, Endpoint) {
    let mut ends = [connect(tcp), connect(tcp)];
    let mut now = Time::from_ms(50);
    ends[0].establish(now, now, 1 << 30);
    ends[0].write(now, bytes, false, false);
    ends[0].close(now);
    // What is on its way to either end, by the time of arrival.
    let mut wires: [std::collections::VecDeque<Packet>; 2] = Default::default();
    let delay = Time::from_ms(10);
    let mut count = 0;
    loop {
        for from in 0..2 {
            for packet in ends[from].take() {
                count += u64::from(packet.payload > 0);
                if packet.payload == 0 || count % lost != 0 {
                    wires[1 - from].push_back(packet);
                }
            }
        }
        if ends[0].info().bytes_acked > bytes {
            return {
                let [first, second] = ends;
                (first, second)
            };
        }
        let arrival = |wire: &std::collections::VecDeque<Packet>| {
            wire.front().map_or(Time::NEVER, |packet| packet.time + delay)
        };
        let due = (0..2).map(|i| arrival(&wires[i]).min(ends[i].next_timer())).min();
        now = due.expect("two ends").max(now);
        assert!(now < Time::from_secs(3600), "the transfer does not end: {:?}", ends[0].info());
        for i in 0..2 {
            while arrival(&wires[i]) <= now {
                let packet = wires[i].pop_front().expect("a packet");
                let mut note = packet.note.unwrap_or_default();
                note.window.get_or_insert(1 << 30);
                let injected = Injected {
                    seq: packet.seq.max(0) as u64,
                    payload: packet.payload,
                    flags: packet.flags,
                    ack: Some(packet.ack),
                    note,
                    ece: packet.ece,
                    echo: packet.echo,
                    stamp: packet.time,
                };
                ends[i].inject(now, &injected);
            }
            if ends[i].next_timer() <= now {
                ends[i].on_timer(now);
            }
        }
    }
}

#[test]
fn sequence_numbers_wrap() {
    let bytes = 5_000_000_000;
    for preset in ["linux-reno", "linux-cubic"] {
        let tcp = json!({"preset": preset, "segment": "60000 B"});
        let (sender, receiver) = transfer(&tcp, bytes, 5000);
        assert!(sender.is_consistent());
        assert_eq!(receiver.received(), bytes + 1, "{preset}: the data and the FIN");
        assert!(sender.info().retransmissions >= bytes / 60_000 / 5000, "{preset}");
        assert_eq!(sender.info().timeouts, 0, "{preset}");
    }
}

/// A transfer to a receiver that reads at 10 kbit/s from a buffer of 20 kB; its last figures.
fn slow_reader(loss: &Value) -> Value {
    let document = json!({
        "name": "reader",
        "topology": {
            "kind": "dumbbell", "leaves": 1,
            "access": {"rate": "10 Mbps", "delay": "1 ms"},
            "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "loss": loss},
        },
        "flows": [{
            "id": "F1", "from": "S1", "to": "D1", "send": "30000 B",
            "tcp": {"preset": "linux-reno", "receive_buffer": "20000 B", "reads": "10 kbps"},
        }],
        "stop": {"when": "flows-complete", "at_latest": "600 s"},
    });
    let checked = check_text(&document.to_string());
    let problems: Vec<_> = checked.problems.iter().map(|p| &p.message).collect();
    assert!(problems.is_empty(), "{problems:?}");
    let mut run = ackclock_sim::Simulation::new(checked.scenario.expect("a valid scenario"));
    while !run.advance(1 << 20) {}
    run.finish().summary["flows"]["F1"].clone()
}

/// 10 kB more than the buffer holds are read in 8 s; then the last of them may come. Probes find the open window even
/// where the ACK that reports it is lost.
#[test]
fn a_slow_reader_closes_the_window_and_the_transfer_ends() {
    for loss in [json!("none"), json!({"kind": "bernoulli", "p": 0.05})] {
        let flow = slow_reader(&loss);
        let finish = flow["finish_s"].as_f64().expect("it ends");
        assert!((6.5..30.0).contains(&finish), "{loss}: {finish}");
        assert_eq!(flow["bytes_delivered"], 30_000, "{loss}");
    }
    assert_eq!(slow_reader(&json!("none"))["retransmissions"], 0);
}
