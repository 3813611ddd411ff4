use super::*;
use ackclock_units::param::Value;

fn bbr3(ecn: bool) -> Bbr3 {
    let mut cc = Bbr3::new(&Chosen {
        kind: "bbr3".into(),
        values: vec![
            ("rules".into(), Value::Word("draft".into())),
            ("loss_threshold".into(), Value::Real(0.02)),
            ("beta".into(), Value::Real(0.7)),
            ("headroom".into(), Value::Real(0.15)),
            ("min_rtt_window_ns".into(), Value::Int(10_000_000_000)),
            ("probe_rtt_interval_ns".into(), Value::Int(5_000_000_000)),
            ("probe_rtt_ns".into(), Value::Int(200_000_000)),
            ("ecn".into(), Value::Flag(ecn)),
        ],
    });
    cc.on_flow(1448, &mut || Stream::new(1, "cc/F1"));
    cc
}

fn window(cwnd: f64) -> Window {
    Window { cwnd, ssthresh: f64::INFINITY, segment: 1.0 }
}

/// A flow in a probe of a path with 100 segments of bandwidth-delay product: 1000 a second, 100 ms.
fn probing() -> Bbr3 {
    let mut cc = bbr3(false);
    cc.min_rtt.begin(Time::ZERO, Time::from_ms(100));
    cc.samples = [1000.0, 1000.0];
    cc.bw = 1000.0;
    cc.full.reached = true;
    cc.mode = Mode::ProbeBw(Phase::Up);
    cc.probe.samples = true;
    cc
}

fn lost(lost: u32, in_flight: u32) -> LostSegment {
    LostSegment {
        now: Time::from_secs(1),
        total_delivered: 5000,
        lost,
        in_flight,
        app_limited: false,
        is_known: true,
    }
}

#[test]
fn the_first_rate_is_the_initial_window_with_a_gain_of_four_ln_two() {
    let mut cc = bbr3(false);
    let mut window = window(10.0);
    cc.on_start(&mut window);
    cc.on_established(&mut window, Time::from_ms(50), Time::from_ms(50));
    let expected = 2.77 * 0.99 * 10.0 / 0.05 * 1448.0 * 8.0;
    assert_eq!(cc.pacing_rate().unwrap(), expected as u64);
    assert!((STARTUP_GAIN / (4.0 * 2_f64.ln()) - 1.0).abs() < 0.002);
}

/// Of 150 in flight the threshold allows three to be lost. With the fourth, the bound is what was in flight where
/// the loss rate was just 2 %: 149 + (0.02 · 149 - 3) / 0.98, not below 149.
#[test]
fn a_probe_ends_where_more_than_two_per_cent_are_lost() {
    let mut cc = probing();
    let mut window = window(200.0);
    for count in 1..=3 {
        cc.on_lost(&mut window, &lost(count, 150));
        assert_eq!((cc.mode, cc.probe.most), (Mode::ProbeBw(Phase::Up), f64::INFINITY));
    }
    cc.on_lost(&mut window, &lost(4, 150));
    assert_eq!((cc.mode, cc.probe.most), (Mode::ProbeBw(Phase::Down), 149.0));
    // One reaction for each probe.
    cc.on_lost(&mut window, &lost(50, 150));
    assert_eq!(cc.probe.most, 149.0);
}

/// A burst of losses far below the target takes no more than 30 % of it.
#[test]
fn the_long_term_bound_keeps_seven_tenths_of_the_target() {
    let mut cc = probing();
    cc.on_lost(&mut window(200.0), &lost(20, 40));
    assert_eq!(cc.probe.most, 70.0);
    // Cruising leaves 15 % of it free.
    cc.mode = Mode::ProbeBw(Phase::Cruise);
    assert_eq!(cc.most_in_flight(), 70.0 - 0.15 * 70.0);
    // What was lost while the application held the flow back says nothing of the path.
    let mut cc = probing();
    cc.on_lost(&mut window(200.0), &LostSegment { app_limited: true, ..lost(20, 40) });
    assert_eq!((cc.mode, cc.probe.most), (Mode::ProbeBw(Phase::Down), f64::INFINITY));
}

#[test]
fn a_round_trip_with_a_loss_takes_three_tenths_of_the_short_term_bounds() {
    let mut cc = probing();
    cc.mode = Mode::ProbeBw(Phase::Cruise);
    cc.probe.samples = false;
    for (expected, cwnd) in [(700.0, 140.0), (490.0, 98.0)] {
        cc.on_lost(&mut window(200.0), &lost(1, 100));
        cc.adapt_short_term(&window(200.0));
        assert!((cc.short.bw - expected).abs() < 1e-9, "{}", cc.short.bw);
        assert!((cc.short.inflight - cwnd).abs() < 1e-9, "{}", cc.short.inflight);
    }
    // A round trip without a loss, or of a probe, changes nothing.
    cc.adapt_short_term(&window(200.0));
    cc.mode = Mode::ProbeBw(Phase::Up);
    cc.on_lost(&mut window(200.0), &lost(1, 100));
    cc.adapt_short_term(&window(200.0));
    assert!((cc.short.bw - 490.0).abs() < 1e-9);
}

/// alpha += (share - alpha) / 16 from 1, and the bound falls by a third of alpha; above 5 ms marks do not count.
#[test]
fn marks_lower_the_bound_by_a_third_of_their_share() {
    for (rtt, expected) in [(4, 200.0 * (1.0 - (15.0 + 0.25) / 16.0 / 3.0)), (6, f64::INFINITY)] {
        let mut cc = bbr3(true);
        cc.mode = Mode::ProbeBw(Phase::Cruise);
        cc.min_rtt.begin(Time::ZERO, Time::from_ms(rtt));
        let rate = RateSample {
            taken: true,
            newly_delivered: 100,
            total_delivered: 100,
            newly_marked: 25,
            total_marked: 25,
            ..RateSample::default()
        };
        cc.update_bandwidth(&rate, 1000.0);
        cc.latest.on_ack(&rate, 1000.0);
        cc.adapt_short_term(&window(200.0));
        assert_eq!(cc.short.inflight, expected, "{rtt} ms");
    }
}

/// The wait between probes is two to three seconds, or as many round trips as the window has segments, at most 63.
#[test]
fn probes_come_every_two_to_three_seconds_or_some_round_trips() {
    let mut waits = Vec::new();
    let mut cc = probing();
    for _ in 0..1000 {
        cc.enter_down(Time::from_secs(7), 10);
        let wait = (0..40)
            .map(|step| 7.0 + 0.1 * f64::from(step))
            .find(|at| cc.is_time_to_probe(&window(200.0), Time::from_ms((at * 1000.0) as u64)))
            .unwrap();
        waits.push(wait - 7.0);
    }
    let mean = waits.iter().sum::<f64>() / 1000.0;
    assert!(waits.iter().all(|wait| (2.0..3.2).contains(wait)), "{waits:?}");
    assert!((2.5..2.6).contains(&mean), "{mean}");
    for (cwnd, rounds) in [(200.0, 63), (30.0, 30)] {
        cc.probe.rounds_since = rounds - 1;
        assert!(!cc.is_time_to_probe(&window(cwnd), Time::from_secs(7)));
        cc.probe.rounds_since = rounds;
        assert!(cc.is_time_to_probe(&window(cwnd), Time::from_secs(7)));
    }
}
