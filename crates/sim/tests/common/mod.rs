//! Random scenarios for the tests of the engine.

use ackclock_net::serial::Rounding;
use ackclock_sim::Simulation;
use ackclock_sim::model::{
    Amount, Change, Direction, Flow, Link, Node, Record, Scenario, Stop, Tcp, Transport,
};
use ackclock_sim::start::Start;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Value};
use proptest::prelude::*;

/// A chosen entry with its parameters.
pub fn chosen(kind: &str, values: &[(&str, Value)]) -> Chosen {
    let values = values.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Chosen { kind: kind.into(), values }
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

fn text(value: Value) -> String {
    match value {
        Value::Word(word) => word,
        other => unreachable!("{other:?}"),
    }
}

fn pick(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(words).prop_map(word)
}

fn queue() -> impl Strategy<Value = Chosen> {
    (
        prop_oneof![
            (2u64..40).prop_map(|n| ("limit_packets", n)),
            (6_000u64..60_000).prop_map(|n| ("limit_bytes", n)),
        ],
        pick(&["waiting", "waiting-and-in-service"]),
        pick(&["fits", "strict"]),
    )
        .prop_map(|((name, limit), counts, admission)| {
            let limit = (name, Value::Int(limit));
            chosen("droptail", &[limit, ("counts", counts), ("admission", admission)])
        })
}

fn change() -> impl Strategy<Value = Change> {
    (
        (0u64..2_000_000_000),
        prop::bool::ANY,
        prop::option::of(prop::bool::ANY),
        prop::option::of(500_000u64..20_000_000),
        prop::option::of(0u64..30_000_000),
    )
        .prop_map(|(at, forward, up, rate_bps, delay)| Change {
            at: Time::from_ns(at),
            forward,
            backward: true,
            up,
            rate_bps,
            delay: delay.map(Time::from_ns),
        })
}

fn loss() -> impl Strategy<Value = Chosen> {
    prop_oneof![
        3 => Just(chosen("none", &[])),
        1 => (0.0..0.1f64, pick(&["entry", "exit"]))
            .prop_map(|(p, at)| chosen("bernoulli", &[("p", Value::Real(p)), ("at", at)])),
        1 => (5u64..100, pick(&["entry", "exit"]))
            .prop_map(|(every, at)| chosen("periodic", &[("every", Value::Int(every)), ("at", at)])),
        1 => prop::collection::vec(1u64..200, 0..10).prop_map(|numbers| chosen(
            "packets",
            &[("numbers", Value::List(numbers)), ("at", word("exit"))]
        )),
    ]
}

fn direction() -> impl Strategy<Value = Direction> {
    // Rates with and without whole nanoseconds a byte.
    let rate = prop::sample::select(vec![1_000_000, 1_544_000, 3_333_333, 10_485_760, 13_107_200]);
    (rate, 0u64..20_000_000, queue(), loss()).prop_map(|(rate_bps, delay, queue, loss)| Direction {
        rate_bps,
        delay: Time::from_ns(delay),
        queue,
        loss,
    })
}

fn cc() -> impl Strategy<Value = Chosen> {
    prop_oneof![
        (pick(&["flight", "cwnd"]), pick(&["capped-bytes", "bytes", "acks"])).prop_map(
            |(from, counting)| chosen(
                "reno",
                &[("decrease_from", from), ("counting", counting), ("arithmetic", word("real"))]
            )
        ),
        (1u64..30).prop_map(|window| chosen("fixed", &[("window", Value::Int(window))])),
        (2.0..30.0f64, pick(&["rtt", "period"]), pick(&["ewma", "samples"])).prop_map(
            |(alpha, update, averaging)| chosen(
                "fast",
                &[
                    ("alpha", Value::Real(alpha)),
                    ("gamma", Value::Real(0.5)),
                    ("update", update),
                    ("period_ns", Value::Int(50_000_000)),
                    ("averaging", averaging),
                    ("samples", Value::Int(40)),
                ],
            )
        ),
    ]
}

fn recovery() -> impl Strategy<Value = Chosen> {
    (
        1u64..4,
        pick(&["per-window", "per-packet"]),
        pick(&["none", "gapless"]),
        pick(&["any-ack", "gapless"]),
        pick(&["once", "every-report"]),
        pick(&["listed", "own"]),
        pick(&["two-segments", "none"]),
    )
        .prop_map(|(threshold, reduction, inflation, growth, resend, settles, floor)| {
            chosen(
                "selective-repeat",
                &[
                    ("threshold", Value::Int(threshold)),
                    ("reduction", reduction),
                    ("inflation", inflation),
                    ("growth", growth),
                    ("resend", resend),
                    ("settles", settles),
                    ("timeout_floor", floor),
                ],
            )
        })
}

fn rto() -> impl Strategy<Value = Chosen> {
    pick(&["timestamps", "karn", "listed"]).prop_flat_map(rto_with)
}

fn rto_with(sampling: Value) -> impl Strategy<Value = Chosen> {
    let ns = |ms: u64| Value::Int(ms * 1_000_000);
    prop_oneof![
        Just(chosen("fixed", &[("timeout_ns", ns(500))])),
        Just(chosen(
            "rfc6298",
            &[
                ("initial_ns", ns(1000)),
                ("min_ns", ns(200)),
                ("max_ns", ns(60_000)),
                ("floor", word("total")),
                ("variance_from", word("old-srtt")),
                ("sampling", sampling),
                ("granularity_ns", ns(0)),
                ("timestamp_tick_ns", ns(0)),
                ("least_variance_ns", ns(0)),
                ("backoff_ends", word("on-sample")),
            ]
        )),
        Just(chosen(
            "ticks",
            &[
                ("tick_ns", ns(10)),
                ("phase_ns", Value::Null),
                ("initial_ns", ns(3000)),
                ("min_ns", ns(200)),
                ("max_ns", ns(60_000)),
            ]
        )),
    ]
}

fn classic_recovery() -> impl Strategy<Value = Chosen> {
    (
        pick(&["timeout", "tahoe", "reno", "newreno"]),
        pick(&["unsent", "in-flight"]),
        1u64..4,
        pick(&["recover", "recover-or-first", "none"]),
        pick(&["once", "every"]),
        prop::bool::ANY,
        prop::bool::ANY,
        pick(&["flight", "ssthresh"]),
    )
        .prop_map(|(kind, later, threshold, guard, repeat, limited, grow, exit)| {
            let Value::Word(kind) = kind else { unreachable!("a word") };
            chosen(
                &kind,
                &[
                    ("later_data", later),
                    ("resends", word(if limited { "oldest" } else { "window" })),
                    ("threshold", Value::Int(threshold)),
                    ("guard", guard),
                    ("repeat", repeat),
                    ("limited_transmit", Value::Flag(limited)),
                    ("grow_on_exit", Value::Flag(grow)),
                    ("exit_window", exit),
                    ("count_after_timeout", word(if grow { "on" } else { "anew" })),
                    ("inflation", word(if grow { "apart" } else { "window" })),
                    ("partial_timer", word(if grow { "first" } else { "each" })),
                    ("burst", if limited { Value::Int(2) } else { Value::Null }),
                ],
            )
        })
}

fn classic_cc() -> impl Strategy<Value = Chosen> {
    let counting = pick(&["capped-bytes", "bytes", "acks"]);
    prop_oneof![
        cc(),
        (pick(&["aimd", "aiad"]), 0.1..0.9f64, counting, prop::bool::ANY).prop_map(
            |(kind, decrease, counting, whole)| {
                let Value::Word(kind) = kind else { unreachable!("a word") };
                chosen(
                    &kind,
                    &[
                        ("increase", Value::Real(1.0)),
                        ("decrease", Value::Real(decrease)),
                        ("subtract", Value::Real(1.0)),
                        ("decrease_from", word("cwnd")),
                        ("counting", counting),
                        ("whole_segments", Value::Flag(whole)),
                    ],
                )
            }
        ),
    ]
}

fn classic() -> impl Strategy<Value = Tcp> {
    let receiver = prop_oneof![
        pick(&["bytes", "segments"]).prop_map(|buffer| chosen("immediate", &[("buffer", buffer)])),
        (1u64..4).prop_map(|count| chosen(
            "delayed",
            &[
                ("count", Value::Int(count)),
                ("delay_ns", Value::Int(200_000_000)),
                ("first_ack", word(if count == 2 { "at-once" } else { "counted" })),
                ("echo", word(if count == 3 { "latest" } else { "first" })),
                ("duplicates", word("newest-waits")),
                ("buffer", word("bytes")),
            ]
        )),
    ];
    let words = (
        pick(&["bytes", "segments"]),
        pick(&["full", "fill"]),
        pick(&["counts", "ignored"]),
        pick(&["on-ack", "on-ack-always", "on-ack-and-repair", "on-ack-old-rto", "on-send"]),
        pick(&["at-expiry", "at-start"]),
        pick(&["next", "highest"]),
    );
    let window = prop::option::of(1_500u64..100_000);
    let handshake = prop_oneof![
        Just(chosen("none", &[])),
        Just(chosen("first-segment", &[("size_bytes", Value::Int(40))])),
        (1u64..4).prop_map(|repetitions| chosen(
            "three-way",
            &[
                ("syn_bytes", Value::Int(60)),
                ("syn_ack_bytes", Value::Int(56)),
                ("ack_bytes", Value::Int(52)),
                ("timeout_ns", Value::Int(300_000_000)),
                ("repetitions", Value::Int(repetitions)),
            ]
        )),
    ];
    let ends = (handshake, receiver);
    let idle = (prop::bool::ANY, pick(&["none", "rto", "timer"]), pick(&["grows", "stays"]));
    (tcp(), classic_cc(), classic_recovery(), ends, words, window, idle).prop_map(
        |(tcp, mut cc, recovery, (handshake, receiver), words, receive_window_bytes, idle)| {
            let (nagle, idle_restart, unused_window) = idle;
            let [
                window_unit,
                framing,
                zero_ack,
                timer_restart,
                idle_restart,
                timer_backoff,
                flight,
            ] = [words.0, words.1, words.2, words.3, idle_restart, words.4, words.5].map(text);
            // Whole bytes need windows in bytes.
            if let Some((_, rule)) = cc.values.iter_mut().find(|(name, _)| name == "arithmetic")
                && window_unit == "bytes"
                && framing == "full"
            {
                *rule = word("whole");
            }
            Tcp {
                sender: "classic".into(),
                ack_bytes: if receive_window_bytes.is_some() { 40 } else { 52 },
                cc,
                recovery,
                handshake,
                receiver,
                receive_window_bytes,
                window_unit,
                framing,
                zero_ack,
                timer_restart,
                nagle,
                idle_restart,
                unused_window: text(unused_window),
                timer_backoff,
                // New data leave a nanosecond late in half of the cases.
                send_delay: Time::from_ns(u64::from(flight == "highest")),
                flight,
                ..tcp
            }
        },
    )
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let application = (tcp_source(), pick(&["bytes", "whole-segments"]));
    let receiver = (prop::bool::ANY, prop::bool::ANY);
    (cc(), recovery(), rto(), 1u64..10, 500u64..1500, receiver, application).prop_map(
        |(cc, recovery, rto, initial_window, segment_bytes, (live, reack), (source, writes))| Tcp {
            sender: "selective-repeat".into(),
            segment_bytes,
            header_bytes: 40,
            ack_bytes: 40,
            initial_window,
            initial_ssthresh: Some(Amount::Segments(64.0)),
            cc,
            recovery,
            rto,
            ack_view: if live { "live" } else { "snapshot" }.into(),
            ack_duplicates: if reack { "always" } else { "never" }.into(),
            handshake: chosen("none", &[]),
            receiver: chosen("immediate", &[("buffer", word("bytes"))]),
            receive_window_bytes: None,
            window_unit: "bytes".into(),
            framing: "full".into(),
            ssthresh_floor: 2.0,
            initial_ssthresh_limit: if live { "receive-window" } else { "none" }.into(),
            ssthresh_rounding: if live { "whole-segments" } else { "exact" }.into(),
            idle_restart: if reack { "none" } else { "timer" }.into(),
            zero_ack: "counts".into(),
            timer_restart: "on-ack".into(),
            source,
            writes: text(writes),
            nagle: false,
            unused_window: "grows".into(),
            timer_backoff: "at-expiry".into(),
            send_delay: Time::ZERO,
            flight: "next".into(),
        },
    )
}

fn tcp_source() -> impl Strategy<Value = Chosen> {
    prop_oneof![
        3 => Just(chosen("bulk", &[])),
        1 => source(20_000),
    ]
}

/// A source that waits between its writes of at most so many bytes.
fn source(most: u64) -> impl Strategy<Value = Chosen> {
    let rate = (100_000u64..2_000_000).prop_map(|rate| ("rate_bps", Value::Int(rate)));
    let write = (64..most).prop_map(|write| ("write_bytes", Value::Int(write)));
    let words = (
        pick(&["on", "off"]),
        pick(&["start", "end"]),
        pick(&["carry", "restart", "whole-writes"]),
    );
    prop_oneof![
        (rate.clone(), write.clone(), prop::sample::select(vec![0.0, 0.5])).prop_map(
            |(rate, write, jitter)| chosen("cbr", &[rate, write, ("jitter", Value::Real(jitter))])
        ),
        (rate, write, period(), period(), words).prop_map(|(rate, write, on, off, words)| {
            let (on, off) = (("on", on), ("off", off));
            let words = [("first", words.0), ("write_at", words.1), ("remainder", words.2)];
            let [first, write_at, remainder] = words;
            chosen("on-off", &[rate, write, on, off, first, write_at, remainder])
        }),
    ]
}

fn period() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["fixed", "exponential", "pareto"]);
    (kind, 0u64..500_000_000).prop_map(|(kind, mean)| {
        let mean = ("mean_ns", Value::Int(mean));
        Value::Chosen(chosen(kind, &[mean, ("shape", Value::Real(1.5))]))
    })
}

fn udp() -> impl Strategy<Value = Transport> {
    source(1500).prop_map(|source| Transport::Udp { source })
}

fn routing() -> impl Strategy<Value = Chosen> {
    let ns = |ms: u64| Value::Int(ms * 1_000_000);
    prop_oneof![
        Just(chosen("shortest-path", &[])),
        (pick(&["any", "stable-only"]), pick(&["queued", "exempt"])).prop_map(
            move |(fallback, control)| chosen(
                "distance-vector",
                &[
                    ("period_ns", ns(700)),
                    ("settling_ns", ns(150)),
                    ("packet_bytes", Value::Int(64)),
                    ("samples", Value::Int(30)),
                    ("min_samples", Value::Int(3)),
                    ("max_age_ns", ns(1000)),
                    ("fallback", fallback),
                    ("control", control),
                ],
            )
        ),
    ]
}

/// A connected network of up to six routers with up to six hosts, all links half or full duplex, up to
/// six flows of any kind, three simulated seconds at most.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    (1usize..6, 2usize..6, 0usize..4, routing(), prop::bool::ANY)
        .prop_flat_map(|(routers, hosts, extra, routing, flows_complete)| {
            let links = routers - 1 + hosts + extra;
            (
                prop::collection::vec((direction(), direction(), prop::bool::ANY), links),
                prop::collection::vec((0usize..100, 0usize..100), links),
                prop::collection::vec(
                    (
                        (0usize..hosts, 1usize..hosts),
                        0u64..1_000_000_000,
                        prop::option::of(1_000u64..400_000),
                        prop_oneof![
                            3 => tcp().prop_map(Transport::Tcp),
                            4 => classic().prop_map(Transport::Tcp),
                            1 => udp(),
                        ],
                    ),
                    1..6,
                ),
                prop::collection::vec(prop::collection::vec(change(), 0..3), 0..3),
            )
                .prop_map(move |(ways, ends, flows, changes)| {
                    let mut pairs = Vec::new();
                    for (router, (near, _)) in ends.iter().enumerate().take(routers).skip(1) {
                        pairs.push([Node::Router(router), Node::Router(near % router)]);
                    }
                    for (host, (_, near)) in ends.iter().enumerate().take(hosts) {
                        pairs.push([Node::Host(host), Node::Router(near % routers)]);
                    }
                    for (a, b) in ends.iter().take(extra) {
                        let (a, b) = (a % routers, b % routers);
                        if a != b {
                            pairs.push([Node::Router(a), Node::Router(b)]);
                        }
                    }
                    let links = pairs.into_iter().zip(&ways).enumerate();
                    let links = links.map(|(i, (ends, (forward, backward, half_duplex)))| Link {
                        changes: changes.get(i).cloned().unwrap_or_default(),
                        id: format!("L{i}"),
                        ends,
                        half_duplex: *half_duplex,
                        rounding: if i % 3 == 2 { Rounding::Double } else { Rounding::Carried },
                        forward: forward.clone(),
                        backward: backward.clone(),
                    });
                    let flows = flows.into_iter().enumerate().map(|(i, flow)| {
                        let ((from, step), start, send_bytes, transport) = flow;
                        Flow {
                            id: format!("F{i}"),
                            from,
                            to: (from + step) % hosts,
                            start: Start::At(Time::from_ns(start)),
                            send_bytes,
                            transport,
                        }
                    });
                    Scenario {
                        name: "random".into(),
                        hosts: (0..hosts).map(|i| format!("H{i}")).collect(),
                        routers: (0..routers).map(|i| format!("R{i}")).collect(),
                        links: links.collect(),
                        flows: flows.collect(),
                        routing: routing.clone(),
                        ties: chosen("entity", &[]),
                        stop: Stop { flows_complete, at_latest: Time::from_secs(3), events: None },
                        seed: 1,
                        record: Record::default(),
                    }
                })
        })
        .prop_filter("a flow needs two hosts", |s| s.flows.iter().all(|f| f.from != f.to))
}

/// Runs to the end.
pub fn run(mut simulation: Simulation) -> ackclock_sim::Output {
    while !simulation.advance(10_000) {}
    simulation.finish()
}
