//! Queue disciplines by themselves: packets are put in and taken out at given times.

use ackclock_engine::Stream;
use ackclock_net::queue::{
    Arrival, Discipline, Fates, Held, Keeper, OnArrival, Place, Queue, Store, Verdict,
};
use ackclock_net::{Ecn, Kind, Packet};
use ackclock_sim::check;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use serde_json::{Value, json};

const RATE: u64 = 10_000_000;

/// Sender and receiver of each flow: flow 0 alone, the others from one host.
const HOSTS: [[u32; 2]; 10] =
    [[0, 9], [1, 9], [1, 9], [1, 9], [1, 9], [1, 9], [1, 9], [1, 9], [1, 9], [1, 9]];

/// The discipline that a scenario would get.
fn discipline(queue: &Value) -> Discipline {
    let document = json!({
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms", "queue": queue}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB", "tcp": {"segment": "100 B"}}],
    });
    let checked = check(&document);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let scenario = checked.scenario.expect("a valid document");
    let stream = Stream::new(1, "queue/L/forward");
    let place = || Place { rate_bps: RATE, delay: Time::from_ms(1), stream, hosts: HOSTS.into() };
    match Queue::new(&scenario.links[0].forward.queue, place) {
        Queue::Managed(discipline) => *discipline,
        Queue::DropTail(_) => panic!("a discipline that decides more than drop-tail"),
    }
}

fn packet(flow: u32, size: u16) -> Packet {
    Packet::new(Kind::Data, flow, size)
}

fn capable(flow: u32, size: u16) -> Packet {
    let mut packet = packet(flow, size);
    packet.set_ecn(Ecn::Ect0);
    packet
}

fn us(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

/// A discipline that keeps its packets, with what it has done.
struct Bench {
    store: Keeper,
    fates: Fates,
    id: i64,
}

impl Bench {
    fn new(queue: &Value) -> Self {
        let Discipline::Store(store) = discipline(queue) else { panic!("it keeps packets") };
        Self { store, fates: Fates::default(), id: 0 }
    }

    /// Puts a packet in while the link is busy.
    fn put(&mut self, now: Time, packet: Packet) {
        let held = Held { packet, entered: now, id: self.id };
        self.id += 1;
        self.store.enqueue(now, held, false, &mut self.fates);
    }

    fn take(&mut self, now: Time) -> Option<Held> {
        self.store.dequeue(now, &mut self.fates)
    }

    fn waiting(&self) -> Vec<Held> {
        self.store.waiting()
    }

    fn drops(&self) -> Vec<(i64, i32)> {
        self.fates.dropped.iter().map(|(held, reason)| (held.id, *reason)).collect()
    }
}

/// Asks a discipline that decides on arrival, with so many packets of 1000 B waiting.
fn ask(gate: &mut impl OnArrival, now: Time, packet: &Packet, packets: u32) -> Verdict {
    let bytes = u64::from(packets) * 1000;
    gate.admit(&Arrival { now, packet, packets, bytes, idle_since: None })
}

fn red(settings: Value) -> impl OnArrival {
    let mut queue = json!({"kind": "red"});
    queue.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    match discipline(&queue) {
        Discipline::OnArrival(gate) => gate,
        Discipline::Store(_) => panic!("RED decides on arrival"),
    }
}

#[test]
fn the_last_place_may_be_filled_and_no_more_fits() {
    let kinds =
        ["drop-head", "random-drop", "codel", "cobalt", "pie", "fq-codel", "fq-pie", "cake"];
    for kind in kinds {
        for (limit, fits) in
            [("3 packets", 3), ("3000 B", 3), ("2999 B", 2), ("0 packets", 0), ("unlimited", 9)]
        {
            let mut queue = json!({"kind": kind, "limit": limit});
            if kind == "fq-codel" {
                queue["batch"] = 1.into();
            }
            let mut bench = Bench::new(&queue);
            for count in 1..10 {
                bench.put(Time::ZERO, packet(0, 1000));
                let waiting = bench.waiting().len();
                assert_eq!(waiting, count.min(fits), "{kind}, {limit}: after {count} packets");
                assert_eq!(bench.fates.dropped.len(), count - waiting, "{kind}, {limit}");
            }
        }
    }
    for (limit, fits) in [("3 packets", 3), ("3000 B", 3), ("2999 B", 2), ("0 packets", 0)] {
        // Thresholds that are never reached: the limit alone decides.
        let settings = json!({"limit": limit, "min": "100 packets", "max": "200 packets"});
        let mut gate = red(settings);
        for waiting in 0..10 {
            let expected =
                if waiting < fits { Verdict::Take } else { Verdict::Drop(drop_reason::QUEUE_FULL) };
            assert_eq!(ask(&mut gate, Time::ZERO, &packet(0, 1000), waiting), expected, "{limit}");
        }
    }
}

#[test]
fn drop_head_takes_the_oldest_and_makes_room_for_large_packets() {
    let full = drop_reason::QUEUE_FULL;
    let mut bench = Bench::new(&json!({"kind": "drop-head", "limit": "2 packets"}));
    for _ in 0..4 {
        bench.put(Time::ZERO, packet(0, 1000));
    }
    assert_eq!(bench.drops(), [(0, full), (1, full)]);
    assert_eq!(bench.take(Time::ZERO).unwrap().id, 2);
    let mut bench = Bench::new(&json!({"kind": "drop-head", "limit": "1000 B"}));
    for size in [300, 300, 300, 700, 1001] {
        bench.put(Time::ZERO, packet(0, size));
    }
    // 700 B need the place of two; 1001 B never fit, and have emptied the queue.
    assert_eq!(bench.drops(), [(0, full), (1, full), (2, full), (3, full), (4, full)]);
}

#[test]
fn random_drop_takes_each_packet_with_the_same_probability() {
    // The queue stays full: each of 20 packets and the arrival goes with 1/21, so that a packet sees 20 others
    // arrive on average before it is dropped, and one in 21 is dropped on arrival.
    let mut bench = Bench::new(&json!({"kind": "random-drop", "limit": "20 packets"}));
    for _ in 0..200_000 {
        bench.put(Time::ZERO, packet(0, 1000));
    }
    assert_eq!(bench.waiting().len(), 20);
    let ages: Vec<i64> = (20..).zip(bench.drops()).map(|(newest, (id, _))| newest - id).collect();
    let mean = ages.iter().sum::<i64>() as f64 / ages.len() as f64;
    assert!((mean - 20.0).abs() < 0.2, "{mean}");
    let at_once = ages.iter().filter(|age| **age == 0).count() as f64 / ages.len() as f64;
    assert!((at_once * 21.0 - 1.0).abs() < 0.03, "{at_once}");
    // What waits leaves in the order in which it came.
    let left: Vec<i64> =
        std::iter::from_fn(|| bench.take(Time::ZERO)).map(|held| held.id).collect();
    assert!(left.is_sorted(), "{left:?}");
}

/// When CoDel drops in an overload that nothing answers, in ms after its first drop, by a packet each 0.1 ms.
fn codel_drops(settings: Value, seconds: u64) -> Vec<f64> {
    let mut queue = json!({"kind": "codel", "limit": "unlimited"});
    queue.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let mut bench = Bench::new(&queue);
    for _ in 0..20 {
        bench.put(Time::ZERO, packet(0, 1500));
    }
    let mut drops = Vec::new();
    for step in 0..seconds * 10_000 {
        let now = us(10_000 + 100 * step);
        let before = bench.fates.dropped.len();
        bench.take(now);
        for _ in before..bench.fates.dropped.len() {
            drops.push(now.as_secs() * 1e3);
        }
        // The queue keeps its length; each packet has waited for longer than the target.
        while bench.waiting().len() < 20 {
            bench.put(now.since(us(8_000)), packet(0, 1500));
        }
    }
    let first = drops[0];
    drops.iter().map(|ms| ms - first).collect()
}

#[test]
fn codel_drops_at_the_instants_of_its_control_law() {
    let near = |drops: &[f64], expected: &[f64]| {
        for (got, want) in drops[1..].iter().zip(expected) {
            assert!((got - want).abs() < 0.15, "{got} ms, not {want} ms");
        }
    };
    // interval / sqrt(count): 100, 100 / sqrt 2, ... added up.
    let exact = [100.0, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8];
    let drops = codel_drops(json!({}), 11);
    near(&drops, &exact);
    // The first and about ((t / interval + 1.46) / 2)^2 more.
    for (seconds, count) in [(1.0, 33), (2.0, 115), (5.0, 662), (10.0, 2574)] {
        let within = drops.iter().filter(|ms| **ms < seconds * 1e3).count();
        assert!(within.abs_diff(count) <= 1, "{within} drops in {seconds} s, not {count}");
    }
    // Linux' arithmetic: one Newton step in 16 bits for each count.
    let newton = [100.0, 150.0, 206.3, 255.0, 299.2, 339.6, 377.1];
    near(&codel_drops(json!({"square_root": "newton"}), 1), &newton);
}

#[test]
fn codel_spares_the_last_packet_and_short_waits() {
    // One packet per second: each has waited for a second, but nothing stays behind.
    let mut bench = Bench::new(&json!({"kind": "codel"}));
    for second in 0..20 {
        bench.put(Time::from_secs(second), packet(0, 1500));
        assert!(bench.take(Time::from_secs(second + 1)).is_some());
    }
    // A standing queue with waits just below the target.
    for step in 0..2000 {
        bench.put(us(30_000_000 + 1000 * step), packet(0, 1500));
        if step >= 4 {
            bench.take(us(30_000_000 + 1000 * step + 999));
        }
    }
    assert!(bench.fates.dropped.is_empty());
}

#[test]
fn marks_come_instead_of_drops_and_only_on_packets_that_say_they_can() {
    for (kind, settings) in [
        ("codel", json!({"ecn": true})),
        ("fq-codel", json!({})),
        ("pie", json!({"ecn": true, "mark_limit": 1})),
        ("fq-pie", json!({"ecn": true, "mark_limit": 1})),
        ("cobalt", json!({})),
        ("cake", json!({"memory": "1 GB"})),
    ] {
        let mut queue = json!({"kind": kind, "limit": "unlimited"});
        queue.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let mut bench = Bench::new(&queue);
        let mut taken = 0;
        for step in 0..20_000u64 {
            let now = us(1000 * step);
            // Twice as many as leave, every second one ECN-capable.
            for index in 0..2 {
                bench.put(now, if index == 0 { packet(0, 1500) } else { capable(0, 1500) });
            }
            taken += usize::from(bench.take(now).is_some());
        }
        assert!(bench.fates.marked.len() > 100, "{kind}: {} marks", bench.fates.marked.len());
        assert!(bench.fates.dropped.len() > 100, "{kind}: {} drops", bench.fates.dropped.len());
        assert!(bench.fates.marked.iter().all(|(held, _)| held.packet.is_marked()), "{kind}");
        // All that was dropped could not be marked.
        let dropped = |(held, _): &(Held, i32)| held.packet.is_ecn_capable();
        assert!(!bench.fates.dropped.iter().any(dropped), "{kind}");
        let sizes: usize = bench.waiting().len() + taken + bench.fates.dropped.len();
        assert_eq!(sizes, 40_000, "{kind}: packets are conserved");
    }
}

/// Mean distance of packets dropped early where p_b is 1 %: the average is the queue itself.
fn mean_gap(spacing: &str) -> f64 {
    let mut gate = red(json!({"weight": 1, "spacing": spacing}));
    let arrivals = 1_000_000;
    let packet = packet(0, 1000);
    let early = Verdict::Drop(drop_reason::EARLY);
    let drops = (0..arrivals).filter(|_| ask(&mut gate, Time::ZERO, &packet, 6) == early).count();
    f64::from(arrivals) / drops as f64
}

#[test]
fn red_spaces_its_drops_by_the_rule() {
    for (spacing, expected) in
        [("uniform", 50.5), ("linux", 50.0), ("wait", 150.0), ("none", 100.0)]
    {
        let gap = mean_gap(spacing);
        assert!((gap / expected - 1.0).abs() < 0.02, "{spacing}: {gap}, not {expected}");
    }
}

#[test]
fn the_average_of_red_follows_the_queue_and_ages_while_the_link_is_idle() {
    // From 0 towards 100: 1 - 0.998^k passes 0.632 at k = 500.
    let mut gate = red(json!({
        "limit": "unlimited", "min": "63200 B", "max": "63200 B", "gentle": false,
    }));
    let forced = Verdict::Drop(drop_reason::FORCED);
    let packet = packet(0, 1000);
    let first = (1..).find(|_| ask(&mut gate, Time::ZERO, &packet, 100) == forced);
    assert_eq!(first, Some(500));
    // Idle for 346 packets of 1000 B at 10 Mbps: 0.998^346 = 0.5002. Half of what it was lets packets pass.
    let idle = |gate: &mut dyn OnArrival, packets: u64| {
        let now = us(800 * packets);
        let arrival =
            Arrival { now, packet: &packet, packets: 0, bytes: 0, idle_since: Some(Time::ZERO) };
        gate.admit(&arrival)
    };
    assert_eq!(idle(&mut gate, 346), Verdict::Take);
    // 346 arrivals at the full queue bring it to 63.2 again: 31.6 + half of the rest to 100 is 65.8.
    let again = (1..).find(|_| ask(&mut gate, Time::ZERO, &packet, 100) == forced).unwrap();
    assert!((300..320).contains(&again), "{again} arrivals");
}

#[test]
fn each_rule_of_red_changes_the_drops_the_way_it_should() {
    // 300 packets into a queue that nobody serves, as in the tests of ns-3.
    let drops = |settings: Value| {
        let mut all = json!({
            "limit": "unlimited", "min": "70 packets", "max": "150 packets", "weight": 0.02,
            "max_p": 0.02, "spacing": "wait", "first": "passed", "short_queue": "passed",
        });
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let mut gate = red(all);
        let mut waiting = 0;
        for _ in 0..300 {
            let verdict = ask(&mut gate, Time::ZERO, &packet(0, 1000), waiting);
            waiting += u32::from(verdict == Verdict::Take);
        }
        300 - waiting
    };
    let usual = drops(json!({}));
    for more in [
        json!({"max": "100 packets"}),
        json!({"max_p": 0.2}),
        json!({"gentle": false}),
        json!({"spacing": "uniform"}),
    ] {
        assert!(drops(more.clone()) > usual, "{more}: {} after {usual}", drops(more.clone()));
    }
}

/// ns-2 and ns-3 note the first packet only where it may be dropped early, not where all are dropped.
#[test]
fn with_first_passed_red_passes_the_first_packet_after_forced_drops() {
    let mut gate = red(json!({
        "weight": 1, "max_p": 1, "gentle": false, "first": "passed", "short_queue": "passed",
    }));
    let (early, forced) = (drop_reason::EARLY, drop_reason::FORCED);
    let mut verdicts = |queues: &[u32]| -> Vec<Verdict> {
        queues
            .iter()
            .map(|waiting| ask(&mut gate, Time::ZERO, &packet(0, 1000), *waiting))
            .collect()
    };
    // p_b is 0.9 at 14, so that the second packet is sure to be dropped.
    let drop = Verdict::Drop;
    assert_eq!(verdicts(&[20, 14, 14]), [drop(forced), Verdict::Take, drop(early)]);
    // It was not the first one before these forced drops, nor is it after them; it is after a short queue.
    assert_eq!(verdicts(&[20, 14]), [drop(forced), drop(early)]);
    assert_eq!(verdicts(&[0, 20, 14]), [Verdict::Take, drop(forced), Verdict::Take]);
}

#[test]
fn red_marks_up_to_its_limit_and_drops_above() {
    let mark = Verdict::Mark(drop_reason::EARLY);
    // p_b is 1 exactly at `max`; all is decided without a random number.
    let verdict = |settings: Value, waiting: u32| {
        let mut all =
            json!({"weight": 1, "ecn": true, "max_p": 1, "gentle": false, "spacing": "none"});
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let mut gate = red(all);
        let verdicts: Vec<Verdict> =
            (0..1000).map(|_| ask(&mut gate, Time::ZERO, &capable(0, 1000), waiting)).collect();
        verdicts
    };
    assert!(verdict(json!({}), 14).contains(&mark));
    assert!(!verdict(json!({}), 14).contains(&Verdict::Drop(drop_reason::EARLY)));
    // p_b is 0.9 at 14.
    assert!(!verdict(json!({"mark_limit": 0.85}), 14).contains(&mark));
    let above = |settings: Value| verdict(settings, 15)[0];
    assert_eq!(above(json!({})), Verdict::Drop(drop_reason::FORCED));
    assert_eq!(above(json!({"hard_drop": false})), Verdict::Mark(drop_reason::FORCED));
    // A step: marks from the queue of `min` = `max` on, whatever comes before.
    let step = |waiting| {
        let mut gate = red(json!({
            "weight": 1, "ecn": true, "min": "20 packets", "max": "20 packets", "gentle": false,
            "hard_drop": false,
        }));
        ask(&mut gate, Time::ZERO, &capable(0, 1000), waiting)
    };
    assert_eq!((step(19), step(20)), (Verdict::Take, Verdict::Mark(drop_reason::FORCED)));
}

#[test]
fn fq_codel_serves_flows_by_bytes_whatever_their_packets() {
    let mut bench = Bench::new(&json!({
        "kind": "fq-codel", "queues": "by-flow", "limit": "unlimited", "target": "100 ms",
    }));
    let sizes = [200u16, 1500, 600, 1000];
    let mut sent = [0u64; 4];
    let fill = |bench: &mut Bench, now| {
        for (flow, size) in sizes.iter().enumerate() {
            bench.put(now, packet(flow as u32, *size));
        }
    };
    for _ in 0..40 {
        fill(&mut bench, Time::ZERO);
    }
    for step in 1..10_000 {
        let now = us(100 * step);
        let held = bench.take(now).unwrap();
        sent[held.packet.flow() as usize] += held.size();
        bench.put(now, held.packet);
        // Within a round two flows differ by at most a quantum and a packet.
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(most - least <= 1514 + 1500, "{sent:?} at step {step}");
    }
    assert!(bench.fates.dropped.is_empty());
}

#[test]
fn fq_codel_lets_a_sparse_flow_pass_once_and_not_again_within_the_round() {
    let mut bench = Bench::new(&json!({"kind": "fq-codel", "queues": "by-flow"}));
    for _ in 0..10 {
        bench.put(Time::ZERO, packet(1, 1500));
        bench.put(Time::ZERO, packet(2, 1500));
    }
    let flow = |bench: &mut Bench| bench.take(Time::ZERO).unwrap().packet.flow();
    // Both are old once they have had their first quantum: 1500 of 1514 bytes, and one packet beyond.
    let first: Vec<u32> = (0..4).map(|_| flow(&mut bench)).collect();
    assert_eq!(first, [1, 1, 2, 2]);
    // A new flow overtakes them.
    bench.put(Time::ZERO, packet(3, 100));
    assert_eq!(flow(&mut bench), 3);
    // It pauses; when it is looked at again it goes behind the old ones and is no longer new.
    let next = flow(&mut bench);
    bench.put(Time::ZERO, packet(3, 100));
    let after: Vec<u32> = (0..3).map(|_| flow(&mut bench)).collect();
    assert_eq!(next, 1);
    assert_ne!(after[0], 3, "it overtakes twice within a round");
    assert!(after.contains(&3) || flow(&mut bench) == 3);
}

#[test]
fn fq_codel_drops_from_the_head_of_the_longest_queue() {
    let over = drop_reason::OVERLIMIT;
    let mut bench = Bench::new(&json!({
        "kind": "fq-codel", "queues": "by-flow", "limit": "20 packets", "batch": 3,
    }));
    // Flow 2 has fewer packets and more bytes.
    for _ in 0..12 {
        bench.put(Time::ZERO, packet(1, 100));
    }
    for _ in 0..8 {
        bench.put(Time::ZERO, packet(2, 1000));
    }
    assert!(bench.drops().is_empty());
    bench.put(Time::ZERO, packet(1, 100));
    // Half of 8000 B would be four packets; a batch is three.
    assert_eq!(bench.drops(), [(12, over), (13, over), (14, over)]);
    assert_eq!(bench.waiting().len(), 18);
}

#[test]
fn fq_codel_spreads_flows_over_its_queues_by_seed() {
    // How many of 100 flows share a queue: 9.2 % by 1 - (1 - 1/1024)^99.
    let mut shared = 0.0;
    for seed in 0..40 {
        let stream = Stream::new(seed, "queue/L/forward");
        let place = || Place { rate_bps: RATE, delay: Time::ZERO, stream, hosts: HOSTS.into() };
        let document = json!({
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms",
                "queue": {"kind": "fq-codel", "quantum": "1 B", "limit": "unlimited"}}],
            "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB"}],
        });
        let chosen = check(&document).scenario.unwrap().links[0].forward.queue.clone();
        let Queue::Managed(discipline) = Queue::new(&chosen, place) else { panic!("FQ-CoDel") };
        let Discipline::Store(mut store) = *discipline else { panic!("it keeps packets") };
        let mut fates = Fates::default();
        for round in 0..2 {
            for flow in 0..100 {
                let held = Held { packet: packet(flow, 1), entered: Time::ZERO, id: round };
                store.enqueue(Time::ZERO, held, false, &mut fates);
            }
        }
        // Packets of one byte and a quantum of one byte: the first pass takes one packet of each queue.
        let mut seen = std::collections::BTreeSet::new();
        let first = (0..100).take_while(|_| {
            let held = store.dequeue(Time::ZERO, &mut fates).unwrap();
            held.id == 0 && seen.insert(held.packet.flow())
        });
        shared += (100 - first.count()) as f64;
    }
    // Each queue that is shared keeps all but one of its flows from the first pass: 100 - 1024 (1 - (1 - 1/1024)^100).
    let expected = 100.0 - 1024.0 * (1.0 - (1.0f64 - 1.0 / 1024.0).powi(100));
    let mean = shared / 40.0;
    assert!((mean - expected).abs() < 1.2, "{mean} flows wait for another one, not {expected}");
}

/// The parts of their packets that equal flows get through a queue of so few packets, by the order of their first packets.
fn shares(queue: &Value, flows: u32) -> Vec<f64> {
    let mut bench = Bench::new(queue);
    let mut stream = Stream::new(7, "arrivals");
    let mut came = vec![0.0; flows as usize];
    let mut left = vec![0.0; flows as usize];
    for step in 0..20_000 {
        for _ in 0..2 {
            let flow = stream.below_u64(flows.into()) as u32;
            came[flow as usize] += 1.0;
            bench.put(us(100 * step), packet(flow, 1000));
        }
        if let Some(held) = bench.take(us(100 * step)) {
            left[held.packet.flow() as usize] += 1.0;
        }
    }
    came.iter().zip(left).map(|(came, left)| left / came).collect()
}

/// Half of all packets have to go, and no flow loses more of its own than another.
#[test]
fn equal_flows_share_a_small_buffer_alike() {
    for kind in ["sfq", "drr", "fq-codel", "cake"] {
        for queues in ["by-flow", "hashed"] {
            // Linux' search begins with the first bucket, whose flow pays for it.
            if (kind, queues) == ("fq-codel", "hashed") {
                continue;
            }
            for limit in [3, 6, 12] {
                let mut queue = json!({
                    "kind": kind, "queues": queues, "limit": format!("{limit} packets"),
                });
                if kind == "fq-codel" {
                    queue["target"] = "1 s".into();
                    queue["interval"] = "10 s".into();
                }
                let shares = shares(&queue, 8);
                assert!(
                    shares.iter().all(|share| (share / 0.5 - 1.0).abs() < 0.1),
                    "{queue}: {shares:.2?}"
                );
            }
        }
    }
}

fn flows_dropped(bench: &Bench) -> Vec<u32> {
    bench.fates.dropped.iter().map(|(held, _)| held.packet.flow()).collect()
}

/// `sfq_drop` of Linux: the queue that came to the greatest length last; if that is 1, the one whose turn it is.
#[test]
fn sfq_takes_from_the_queue_that_linux_takes_from() {
    let mut bench = Bench::new(&json!({"kind": "sfq", "queues": "by-flow", "limit": "4 packets"}));
    for flow in [0, 1, 2, 3, 4] {
        bench.put(Time::ZERO, packet(flow, 1000));
    }
    assert_eq!(flows_dropped(&bench), [0]);
    bench.put(Time::ZERO, packet(2, 1000));
    assert_eq!(flows_dropped(&bench), [0, 2]);
    // 1, 2, 3, 4 have one each. Two leave, then 3 and 4 get to two in the other order.
    assert_eq!([0, 0].map(|_| bench.take(Time::ZERO).unwrap().packet.flow()), [1, 2]);
    for flow in [4, 3, 5] {
        bench.put(Time::ZERO, packet(flow, 1000));
    }
    assert_eq!(flows_dropped(&bench), [0, 2, 3]);
    // A queue that shrinks to a length comes to it last, too.
    let mut bench = Bench::new(&json!({"kind": "sfq", "queues": "by-flow", "limit": "5 packets"}));
    for flow in [0, 0, 0, 1, 1] {
        bench.put(Time::ZERO, packet(flow, 1000));
    }
    assert_eq!(bench.take(Time::ZERO).unwrap().packet.flow(), 0);
    for flow in [2, 3] {
        bench.put(Time::ZERO, packet(flow, 1000));
    }
    assert_eq!(flows_dropped(&bench), [0]);
}

/// `getMaxflow` of ns-2 looks at the queues by turn, and a later one has to be longer.
#[test]
fn drr_takes_from_the_first_by_turn_of_equally_long_queues() {
    for kind in ["drr", "fq-codel", "cake"] {
        let mut bench =
            Bench::new(&json!({"kind": kind, "queues": "by-flow", "limit": "6 packets"}));
        for flow in [2, 0, 1, 2, 0, 1] {
            bench.put(Time::ZERO, packet(flow, 1500));
        }
        bench.put(Time::ZERO, packet(3, 1000));
        assert_eq!(flows_dropped(&bench), [2], "{kind}");
    }
}

#[test]
fn a_limit_in_bytes_holds_after_every_packet() {
    for kind in ["sfq", "drr", "fq-codel", "cake"] {
        let mut bench = Bench::new(&json!({"kind": kind, "queues": "by-flow", "limit": "4000 B"}));
        for flow in [0, 1, 2, 3, 0, 1, 2, 3] {
            bench.put(Time::ZERO, packet(flow, 500));
        }
        assert!(bench.fates.dropped.is_empty());
        // Half of any queue has fewer bytes than this packet.
        bench.put(Time::ZERO, packet(4, 900));
        let bytes: u64 = bench.waiting().iter().map(Held::size).sum();
        assert_eq!((bytes, bench.fates.dropped.len()), (3900, 2), "{kind}");
    }
}

/// A wait of 50 ms is too long at 10 Mbit/s, but not at 100 kbit/s, where four packets take 480 ms.
#[test]
fn cobalt_goes_by_the_rate_that_the_link_has_now() {
    let signals = |rate: Option<u64>| {
        let mut discipline = discipline(&json!({"kind": "cobalt"}));
        if let Some(rate) = rate {
            discipline.set_rate(rate);
        }
        let Discipline::Store(store) = discipline else { panic!("it keeps packets") };
        let mut bench = Bench { store, fates: Fates::default(), id: 0 };
        for step in 0..2000 {
            bench.put(us(1000 * step), packet(0, 1500));
            if step >= 50 {
                bench.take(us(1000 * step));
            }
        }
        bench.fates.dropped.len()
    };
    assert!(signals(None) > 3);
    assert_eq!(signals(Some(100_000)), 0);
}

/// What it shows of its state, by name.
fn state(discipline: &Discipline) -> Vec<(&'static str, f64)> {
    let mut shown = Vec::new();
    discipline.state(&mut |variable, value| {
        shown.push((aqm_variable::NAMES[variable as usize], value));
    });
    shown
}

#[test]
fn every_discipline_shows_the_state_that_its_entry_names() {
    let needs = |kind: &str| match kind {
        "tbf" | "policer" => json!({"kind": kind, "rate": "1 Mbps", "burst": "3000 B"}),
        "red" => json!({"kind": kind, "min": "5 packets", "max": "15 packets"}),
        "threshold" => json!({"kind": kind, "mark_from": "5 packets"}),
        _ => json!({"kind": kind}),
    };
    let mut shows = 0;
    for entry in ackclock_net::queue::ENTRIES {
        if ["droptail", "python"].contains(&entry.name) {
            assert!(entry.state.is_empty());
            continue;
        }
        let mut queue = needs(entry.name);
        let mut shown: Vec<_> = state(&discipline(&queue)).iter().map(|(name, _)| *name).collect();
        if entry.name == "red" {
            assert_eq!(shown, ["average-packets", "probability"]);
            queue["min"] = json!("5000 B");
            queue["max"] = json!("15000 B");
            queue["adaptive"] = json!("feng");
            shown.extend(state(&discipline(&queue)).iter().map(|(name, _)| *name));
        }
        for name in entry.state {
            assert!(shown.contains(name), "{}: {name}", entry.name);
        }
        assert!(shown.iter().all(|name| entry.state.contains(name)), "{}: {shown:?}", entry.name);
        shows += usize::from(!shown.is_empty());
    }
    assert_eq!(shows, 8);
}

#[test]
fn the_state_that_is_shown_is_that_of_the_rules() {
    // A bucket of 3,000 B at 1 Mbit/s: a packet takes 1,000 B, and 4 ms bring 500 B.
    let mut policer = discipline(&json!({"kind": "policer", "rate": "1 Mbps", "burst": "3000 B"}));
    let Discipline::OnArrival(gate) = &mut policer else { panic!("it decides on arrival") };
    for (at, left) in [(0, 2000.0), (4_000, 1500.0), (100_000, 2000.0)] {
        ask(gate, us(at), &packet(0, 1000), 1);
        let mut tokens = 0.0;
        gate.state(&mut |_, value| tokens = value);
        assert_eq!(tokens, left, "{at}");
    }
    // CoDel: waits of more than 5 ms for 100 ms, and it drops; the first signal counts 1.
    let mut bench = Bench::new(&json!({"kind": "codel"}));
    let shown = |bench: &Bench| {
        let mut values = Vec::new();
        bench.store.state(&mut |_, value| values.push(value));
        values
    };
    for at in 0..40 {
        bench.put(us(10 * at), packet(0, 1500));
    }
    bench.take(us(20_000));
    assert_eq!(shown(&bench), [0.0, 0.0]);
    bench.take(us(121_000));
    assert_eq!(shown(&bench), [1.0, 1.0]);
}
