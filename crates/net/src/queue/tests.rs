//! Shares, turns and buckets against closed forms.

use super::*;
use crate::packet::Kind;
use ackclock_trace::drop_reason;
use ackclock_units::param::Value;

fn place() -> Place {
    Place {
        rate_bps: 10_000_000,
        delay: Time::ZERO,
        stream: Stream::new(1, "queue/L/forward"),
        hosts: [].into(),
    }
}

fn chosen(kind: &str, values: &[(&str, Value)]) -> Chosen {
    let values = values.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Chosen { kind: kind.into(), values }
}

fn word(word: &str) -> Value {
    Value::Word(word.into())
}

fn fair(kind: &str, limit: u64, quantum: u64) -> Keeper {
    let values = [
        ("limit_packets", Value::Int(limit)),
        ("flows", Value::Int(16)),
        ("queues", word("by-flow")),
        ("quantum_bytes", Value::Int(quantum)),
        ("depth", Value::Int(100_000)),
        ("perturb_ns", Value::Null),
    ];
    Keeper::new(&chosen(kind, &values), place())
}

fn put(store: &mut impl Store, now: Time, flow: u32, size: u16, fates: &mut Fates) {
    let held = Held { packet: Packet::new(Kind::Data, flow, size), entered: now, id: 0 };
    store.enqueue(now, held, false, fates);
}

/// Flows with packets of 200 and 1500 B: by bytes they are never further apart than a quantum and two packets
/// (Shreedhar, Varghese, theorem 3), so that packets are 7.5 to 1.
#[test]
fn flows_send_the_same_bytes_whatever_their_packets() {
    for (kind, quantum, apart) in
        [("drr", 1500, 1500 + 2 * 1500), ("drr", 300, 300 + 3000), ("sfq", 1514, 1514 + 3000)]
    {
        let mut store = fair(kind, 100_000, quantum);
        let mut fates = Fates::default();
        for _ in 0..2000 {
            put(&mut store, Time::ZERO, 0, 1500, &mut fates);
        }
        for _ in 0..15_000 {
            put(&mut store, Time::ZERO, 1, 200, &mut fates);
        }
        let mut sent = [0_i64; 2];
        let mut packets = [0; 2];
        while packets[0] < 1900 {
            let held = store.dequeue(Time::ZERO, &mut fates).expect("both have packets");
            sent[held.packet.flow() as usize] += held.size() as i64;
            packets[held.packet.flow() as usize] += 1;
            assert!((sent[0] - sent[1]).abs() <= apart, "{kind}: {sent:?}");
        }
        let ratio = f64::from(packets[1]) / f64::from(packets[0]);
        assert!((ratio - 7.5).abs() < 0.05, "{kind}: {packets:?}");
        assert!(fates.dropped.is_empty());
    }
}

/// A flow that was idle has saved nothing: its deficit is gone, and it joins behind the others.
#[test]
fn a_flow_that_pauses_gains_nothing() {
    let mut store = fair("drr", 1000, 1500);
    let mut fates = Fates::default();
    put(&mut store, Time::ZERO, 0, 100, &mut fates);
    store.dequeue(Time::ZERO, &mut fates);
    for flow in [1, 1, 0, 0] {
        put(&mut store, Time::ZERO, flow, 1500, &mut fates);
    }
    let order: Vec<u32> =
        (0..4).filter_map(|_| Some(store.dequeue(Time::ZERO, &mut fates)?.packet.flow())).collect();
    assert_eq!(order, [1, 0, 1, 0]);
}

/// Buffer stealing: the one that has filled the queue pays for the packets of others.
#[test]
fn the_longest_queue_gives_way() {
    for kind in ["drr", "sfq"] {
        let mut store = fair(kind, 10, 1500);
        let mut fates = Fates::default();
        for _ in 0..10 {
            put(&mut store, Time::ZERO, 0, 1500, &mut fates);
        }
        for _ in 0..3 {
            put(&mut store, Time::ZERO, 1, 1500, &mut fates);
        }
        let dropped: Vec<u32> = fates.dropped.iter().map(|(held, _)| held.packet.flow()).collect();
        assert_eq!(dropped, [0, 0, 0], "{kind}");
        assert_eq!(store.waiting().len(), 10);
    }
}

/// With a new hash packets move to other queues, none is lost, and those of a flow keep their order.
#[test]
fn a_new_hash_keeps_packets_and_their_order() {
    let values = [
        ("limit_packets", Value::Int(1000)),
        ("flows", Value::Int(4)),
        ("queues", word("hashed")),
        ("quantum_bytes", Value::Int(1514)),
        ("depth", Value::Int(1000)),
        ("perturb_ns", Value::Int(1_000_000_000)),
    ];
    let mut store = Keeper::new(&chosen("sfq", &values), place());
    let mut fates = Fates::default();
    for id in 0..20 {
        for flow in 0..6 {
            let packet = Packet::new(Kind::Data, flow, 1000);
            store.enqueue(Time::ZERO, Held { packet, entered: Time::ZERO, id }, false, &mut fates);
        }
    }
    let mut next = [0; 6];
    for step in 0..120 {
        let held = store.dequeue(Time::from_ms(100 * step), &mut fates).expect("a packet");
        let expected = &mut next[held.packet.flow() as usize];
        assert_eq!(held.id, *expected);
        *expected += 1;
    }
    assert_eq!(next, [20; 6]);
}

/// Now and then a new hash brings all four flows into one of two queues.
#[test]
fn a_new_hash_drops_what_a_queue_has_no_room_for() {
    let values = [
        ("limit_packets", Value::Int(1000)),
        ("flows", Value::Int(2)),
        ("depth", Value::Int(20)),
        ("queues", word("hashed")),
        ("quantum_bytes", Value::Int(1514)),
        ("perturb_ns", Value::Int(1_000_000_000)),
    ];
    let mut store = Keeper::new(&chosen("sfq", &values), place());
    let mut fates = Fates::default();
    let (mut came, mut left) = (0, 0);
    for second in 0..20 {
        let before = fates.dropped.len();
        // The first packet of a second meets the new hash.
        for _ in 0..10 {
            for flow in 0..4 {
                put(&mut store, Time::from_secs(second), flow, 1000, &mut fates);
                came += 1;
            }
        }
        let waiting = store.waiting();
        assert!(waiting.len() <= 40, "{} packets after {second} s", waiting.len());
        assert_eq!(came, left + waiting.len() + fates.dropped.len());
        let full = |(_, reason): &(Held, i32)| *reason == drop_reason::QUEUE_FULL;
        assert!(fates.dropped.iter().skip(before).all(full));
        for _ in 0..5 {
            left += usize::from(store.dequeue(Time::from_secs(second), &mut fates).is_some());
        }
    }
    // Nothing is counted that is not there.
    while store.dequeue(Time::from_secs(20), &mut fates).is_some() {
        left += 1;
    }
    assert_eq!(came, left + fates.dropped.len());
}

/// The bucket that Linux finds first loses, whichever flow was there first.
#[test]
fn fq_codel_takes_from_the_first_bucket_of_equally_long_ones() {
    let values = [
        ("limit_packets", Value::Int(8)),
        ("flows", Value::Int(1024)),
        ("queues", word("hashed")),
        ("quantum_bytes", Value::Int(1514)),
        ("batch", Value::Int(1)),
        ("backlog", word("queue")),
        ("target_ns", Value::Int(5_000_000)),
        ("interval_ns", Value::Int(100_000_000)),
        ("mtu_bytes", Value::Int(1500)),
        ("ecn", Value::Flag(false)),
        ("square_root", word("exact")),
        ("above", word("at-interval")),
        ("after_mark", word("scheduled")),
    ];
    let chosen = chosen("fq-codel", &values);
    let mut buckets = buckets::Buckets::new(&chosen, &mut place().stream);
    let mut lanes: Vec<()> = Vec::new();
    let mut order: Vec<(u32, u32)> = (0..9)
        .map(|flow| {
            let lane = buckets.lane_of(flow, &mut lanes);
            (buckets.hashed(lane).expect("a hash"), flow)
        })
        .collect();
    order.sort_unstable();
    let mut store = Keeper::new(&chosen, place());
    let mut fates = Fates::default();
    (0..9).for_each(|flow| put(&mut store, Time::ZERO, flow, 1000, &mut fates));
    // The next one in the place of each that is lost: the longest loses its own packet.
    let lost: Vec<u32> = fates.dropped.iter().map(|(held, _)| held.packet.flow()).collect();
    assert_eq!(lost, [order[0].1]);
    let [.., second, _] = order.as_slice() else { panic!("nine flows") };
    put(&mut store, Time::ZERO, second.1, 1000, &mut fates);
    assert_eq!(fates.dropped.back().map(|(held, _)| held.packet.flow()), Some(second.1));
}

/// M/D/1 with two classes, a service of 1.2 ms and loads of 0.3 and 0.4: R = 0.42 ms is left of the packet in
/// service on average, and the waits are R / (1 - 0.3) = 0.60 and R / (0.7 · 0.3) = 2.00 ms.
#[test]
fn waits_of_two_classes_are_those_of_the_formula() {
    let values = [
        ("limit_packets", Value::Int(100_000)),
        ("bands", Value::Int(2)),
        ("band", word("by-flow")),
    ];
    let mut store = Keeper::new(&chosen("priority", &values), place());
    let mut stream = Stream::new(5, "arrivals");
    let service = 1_200_000_u64;
    let means = [service as f64 / 0.3, service as f64 / 0.4];
    let mut next = means.map(|mean| (stream.exponential() * mean) as u64);
    let (mut free_at, mut fates) = (0_u64, Fates::default());
    let (mut waits, mut counts) = ([0.0; 2], [0_u32; 2]);
    let mut queued = 0;
    while counts[0] + counts[1] < 400_000 {
        let flow = usize::from(next[1] < next[0]);
        if queued > 0 && free_at <= next[flow] {
            let held = store.dequeue(Time::from_ns(free_at), &mut fates).expect("a packet");
            waits[held.packet.flow() as usize] += (free_at - held.entered.as_ns()) as f64;
            counts[held.packet.flow() as usize] += 1;
            free_at += service;
            queued -= 1;
            continue;
        }
        put(&mut store, Time::from_ns(next[flow]), flow as u32, 1500, &mut fates);
        queued += 1;
        free_at = free_at.max(next[flow]);
        next[flow] += (stream.exponential() * means[flow]) as u64;
    }
    let mean = [0, 1].map(|flow| waits[flow] / f64::from(counts[flow]) / 1e6);
    assert!((mean[0] / 0.60 - 1.0).abs() < 0.03, "{mean:?}");
    assert!((mean[1] / 2.00 - 1.0).abs() < 0.05, "{mean:?}");
}

#[test]
fn acks_go_first_by_kind_and_a_full_band_takes_no_room_of_another() {
    let values =
        [("limit_packets", Value::Int(2)), ("bands", Value::Int(3)), ("band", word("by-kind"))];
    let mut store = Keeper::new(&chosen("priority", &values), place());
    let mut fates = Fates::default();
    for _ in 0..3 {
        put(&mut store, Time::ZERO, 0, 1500, &mut fates);
    }
    let ack = Packet::new(Kind::Ack, 0, 40);
    store.enqueue(Time::ZERO, Held { packet: ack, entered: Time::ZERO, id: 0 }, false, &mut fates);
    assert_eq!(fates.dropped.len(), 1);
    let kinds: Vec<Kind> =
        (0..3).filter_map(|_| Some(store.dequeue(Time::ZERO, &mut fates)?.packet.kind())).collect();
    assert_eq!(kinds, [Kind::Ack, Kind::Data, Kind::Data]);
}

/// The times at which packets leave a shaper with a link of this rate; bytes of each.
fn shaped(store: &mut Keeper, line_bps: u64, size: u16) -> Vec<(u64, u64)> {
    let (mut now, mut sent, mut fates) = (0, Vec::new(), Fates::default());
    loop {
        match store.dequeue(Time::from_ns(now), &mut fates) {
            Some(held) => {
                sent.push((now, held.size()));
                now += (u64::from(size) * 8_000_000_000).div_ceil(line_bps);
            }
            None => match store.ready_at() {
                Some(ready) => {
                    assert!(ready.as_ns() > now);
                    now = ready.as_ns();
                }
                None => return sent,
            },
        }
    }
}

/// A bucket of 15 kB at 10 Mbit/s in front of 100 Mbit/s: the burst lasts B / (p - r) = 1.333 ms, which is 16.67 kB.
/// In no interval is there more than B + r · t, and after the burst the rate is that of the tokens, to the nanosecond.
#[test]
fn a_shaper_keeps_to_burst_and_rate() {
    let values = [
        ("limit_packets", Value::Int(10_000)),
        ("rate_bps", Value::Int(10_000_000)),
        ("burst_bytes", Value::Int(15_000)),
        ("peak_rate_bps", Value::Null),
        ("mtu_bytes", Value::Int(1500)),
    ];
    let mut store = Keeper::new(&chosen("tbf", &values), place());
    let mut fates = Fates::default();
    for _ in 0..3000 {
        put(&mut store, Time::ZERO, 0, 100, &mut fates);
    }
    // It could never leave.
    put(&mut store, Time::ZERO, 0, 15_001, &mut fates);
    assert_eq!(fates.dropped.len(), 1);
    let sent = shaped(&mut store, 100_000_000, 100);
    assert_eq!(sent.len(), 3000);
    let back_to_back = sent.windows(2).take_while(|pair| pair[1].0 - pair[0].0 == 8000).count() + 1;
    assert!((f64::from(back_to_back as u32) * 100.0 - 16_667.0).abs() <= 100.0, "{back_to_back}");
    for begin in (0..3000).step_by(97) {
        let mut bytes = 0;
        for (at, size) in &sent[begin..] {
            bytes += size;
            let allowed = 15_000.0 + (at - sent[begin].0) as f64 * 10e6 / 8e9;
            assert!(bytes as f64 <= allowed + 1e-6, "{bytes} of {allowed}");
        }
    }
    let (first, last) = (sent[1000].0, sent[2999].0);
    assert_eq!(last - first, 1999 * 80_000);
}

/// With a peak rate a burst leaves at that rate.
#[test]
fn a_peak_rate_spreads_the_burst() {
    let values = [
        ("limit_packets", Value::Int(10_000)),
        ("rate_bps", Value::Int(10_000_000)),
        ("burst_bytes", Value::Int(30_000)),
        ("peak_rate_bps", Value::Int(20_000_000)),
        ("mtu_bytes", Value::Int(1500)),
    ];
    let mut store = Keeper::new(&chosen("tbf", &values), place());
    for _ in 0..100 {
        put(&mut store, Time::ZERO, 0, 1500, &mut Fates::default());
    }
    let sent = shaped(&mut store, 1_000_000_000, 1500);
    let gaps: Vec<u64> = sent.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps[..30].iter().all(|gap| *gap == 600_000), "{gaps:?}");
    assert!(gaps[60..].iter().all(|gap| *gap == 1_200_000), "{gaps:?}");
}

/// A constant 12 Mbit/s through 10 Mbit/s with 30 kB: everything passes for B / (a - r) = 120 ms, then five of six.
#[test]
fn a_policer_passes_the_burst_and_then_the_rate() {
    let values = [
        ("limit_packets", Value::Int(1000)),
        ("rate_bps", Value::Int(10_000_000)),
        ("burst_bytes", Value::Int(30_000)),
    ];
    let mut gate = Gate::new(&chosen("policer", &values), place());
    let packet = Packet::new(Kind::Data, 0, 1500);
    let verdicts: Vec<Verdict> = (0..3000)
        .map(|count| {
            let now = Time::from_ms(count);
            let idle_since = Some(Time::ZERO);
            gate.admit(&Arrival { now, packet: &packet, packets: 0, bytes: 0, idle_since })
        })
        .collect();
    let first = verdicts.iter().position(|verdict| *verdict != Verdict::Take).expect("a drop");
    // The first packet finds a full bucket, and tokens that come meanwhile are lost: 114 to 121.
    assert!((108..=122).contains(&first), "{first}");
    let passed = verdicts[600..].iter().filter(|verdict| **verdict == Verdict::Take).count();
    assert_eq!(passed, 2400 * 5 / 6);
}

fn blue(ecn: bool) -> Gate {
    let values = [
        ("limit_packets", Value::Int(10)),
        ("raise_from_packets", Value::Int(8)),
        ("increment", Value::Real(0.25)),
        ("decrement", Value::Real(0.125)),
        ("freeze_ns", Value::Int(100_000_000)),
        ("ecn", Value::Flag(ecn)),
    ];
    Gate::new(&chosen("blue", &values), place())
}

/// The part of so many arrivals that finds a packet waiting and is refused or marked.
fn refused(gate: &mut Gate, now: Time, packet: &Packet) -> f64 {
    let refused = (0..40_000)
        .filter(|_| {
            let arrival = Arrival { now, packet, packets: 1, bytes: 1500, idle_since: None };
            gate.admit(&arrival) != Verdict::Take
        })
        .count();
    refused as f64 / 40_000.0
}

/// A full queue raises p by 0.25, once in 100 ms, and so does a long one; an idle link takes 0.125.
#[test]
fn blue_is_raised_by_losses_and_lowered_by_idle_times() {
    for ecn in [false, true] {
        let mut gate = blue(ecn);
        let mut packet = Packet::new(Kind::Data, 0, 1500);
        packet.set_ecn(crate::packet::Ecn::Ect0);
        let ask = |gate: &mut Gate, ms: u64, packets: u32, idle: Option<u64>| {
            let idle_since = idle.map(Time::from_ms);
            let bytes = 1500 * u64::from(packets);
            gate.admit(&Arrival {
                now: Time::from_ms(ms),
                packet: &packet,
                packets,
                bytes,
                idle_since,
            })
        };
        let full = Verdict::Drop(drop_reason::QUEUE_FULL);
        let expect = |gate: &mut Gate, p: f64| {
            let found = refused(gate, Time::from_secs(1), &packet);
            assert!((found - p).abs() <= 3.0 * (p * (1.0 - p) / 40_000.0).sqrt(), "{found} of {p}");
        };
        for ms in [0, 99] {
            assert_eq!(ask(&mut gate, ms, 10, None), full);
        }
        expect(&mut gate, 0.0);
        assert_eq!(ask(&mut gate, 100, 10, None), full);
        ask(&mut gate, 199, 8, None);
        expect(&mut gate, 0.25);
        ask(&mut gate, 200, 8, None);
        expect(&mut gate, 0.5);
        ask(&mut gate, 400, 0, Some(299));
        expect(&mut gate, 0.5);
        ask(&mut gate, 400, 0, Some(300));
        expect(&mut gate, 0.375);
        let acts = (0..100).map(|_| ask(&mut gate, 401, 1, None)).find(|v| *v != Verdict::Take);
        let early = drop_reason::EARLY;
        let expected = if ecn { Verdict::Mark(early) } else { Verdict::Drop(early) };
        assert_eq!(acts, Some(expected));
    }
}

/// What sch_tbf of Linux 6.18 did with so many UDP packets at once on a device that takes no time: how many came, how many
/// of them at once, and the first and the last gap in ms. Sizes are those of Ethernet; the kernel's clock was good to 0.06 ms.
#[test]
fn a_shaper_does_what_that_of_linux_does() {
    let table = [
        (1, 15_000, 30_000, None, 1014, 100, [43, 14], [1.68, 8.11]),
        (1, 15_210, 30_420, None, 1014, 100, [45, 15], [8.11, 8.11]),
        (2, 5_000, 10_000, None, 500, 60, [30, 10], [2.0, 2.0]),
        (1, 1_600, 12_000, None, 1014, 40, [12, 1], [3.47, 8.12]),
        (1, 15_000, 30_000, Some(4_000_000), 1014, 100, [30, 1], [1.0, 8.11]),
    ];
    for (mbps, burst, limit, peak, size, count, expected, gaps) in table {
        let mut values = vec![
            ("limit_bytes", Value::Int(limit)),
            ("rate_bps", Value::Int(1_000_000 * mbps)),
            ("burst_bytes", Value::Int(burst)),
            ("mtu_bytes", Value::Int(1540)),
        ];
        values.extend(peak.map(|rate| ("peak_rate_bps", Value::Int(rate))));
        let mut store = Keeper::new(&chosen("tbf", &values), place());
        let mut fates = Fates::default();
        let mut sent = Vec::new();
        for _ in 0..count {
            put(&mut store, Time::ZERO, 0, size, &mut fates);
            sent.extend(store.dequeue(Time::ZERO, &mut fates).map(|_| 0.0));
        }
        let at_once = sent.len();
        while let Some(at) = store.ready_at() {
            sent.extend(store.dequeue(at, &mut fates).map(|_| at.as_secs() * 1e3));
            // Whether the next one may leave at once, and when, is known once it was asked for.
            assert!(store.dequeue(at, &mut fates).is_none());
        }
        assert_eq!([sent.len(), at_once], expected, "{mbps} Mbps, {burst} B, {limit} B");
        let (first, last) = (sent[at_once], sent[sent.len() - 1] - sent[sent.len() - 2]);
        assert!((first - gaps[0]).abs() < 0.06 && (last - gaps[1]).abs() < 0.06, "{first}, {last}");
    }
}

/// Who adds a queue is reminded; what a scenario is warned of depends on it.
#[test]
fn parameters_called_ecn_say_that_a_queue_marks_by_them() {
    let all = super::ENTRIES.iter().flat_map(|entry| entry.params);
    let found: Vec<bool> =
        all.filter(|param| param.name == "ecn").map(|param| param.marks).collect();
    assert!(found.len() > 4 && found.iter().all(|marks| *marks));
}
