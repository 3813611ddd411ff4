//! Equations of Vegas and its options.

use super::*;
use ackclock_units::param::Value;

/// Vegas with the rules of the paper, but for these.
fn vegas(other: &[(&str, &str)]) -> Vegas {
    let words = [
        ("window", "cwnd"),
        ("actual", "sent"),
        ("rtt", "marked"),
        ("compare", "exact"),
        ("base_rtt", "least"),
        ("exit", "keep"),
        ("step", "at-once"),
        ("growth", "any"),
        ("first_window", "initial"),
        ("loss", "quarter"),
        ("counting", "capped-bytes"),
    ];
    let mut values: Vec<(String, Value)> = [("alpha", 1.0), ("beta", 3.0), ("gamma", 1.0)]
        .map(|(name, value)| (name.into(), Value::Real(value)))
        .into();
    for (name, default) in words {
        let given = other.iter().find(|(other, _)| *other == name);
        let word = given.map_or(default, |(_, value)| value);
        values.push((name.into(), Value::Word(word.into())));
    }
    Vegas::new(&Chosen { kind: "vegas".into(), values })
}

/// A flow with windows in segments whose round trips do not overlap: all of a window is sent at once,
/// and its ACKs come together.
struct Rounds {
    cc: Vegas,
    window: Window,
    now: Time,
}

impl Rounds {
    fn new(cc: Vegas, cwnd: f64, ssthresh: f64) -> Self {
        Self { cc, window: Window { cwnd, ssthresh, segment: 1.0 }, now: Time::ZERO }
    }

    /// The round-trip times of the next window, one ACK each.
    fn round(&mut self, rtt_ms: u64) -> f64 {
        self.now += Time::from_ms(rtt_ms);
        let sent = self.window.cwnd.floor();
        let before = self.window.cwnd;
        for left in (0..sent as u32).rev() {
            // Each ACK lets one segment out, and one more for each by which the window grew.
            let answered = sent - 1.0 - f64::from(left);
            let grown = self.window.cwnd.floor() - before.floor();
            self.cc.on_ack(
                &mut self.window,
                &AckEvent {
                    now: self.now,
                    rtt: Some(Time::from_ms(rtt_ms)),
                    base_rtt: Time::ZERO,
                    newly_acked: 1.0,
                    flight: f64::from(left) + answered + grown,
                    ..AckEvent::default()
                },
            );
        }
        self.window.cwnd
    }
}

#[test]
fn slow_start_doubles_every_other_round_trip_and_ends_above_gamma() {
    let mut flow = Rounds::new(vegas(&[]), 2.0, f64::INFINITY);
    let seen: Vec<f64> = (0..6).map(|_| flow.round(100)).collect();
    assert_eq!(seen, [4.0, 4.0, 8.0, 8.0, 16.0, 16.0]);
    // 16 segments at 108 ms: 16 - 16 100/108 = 1.19 of them wait.
    assert_eq!(flow.round(108), 16.0);
    assert!(!flow.window.in_slow_start());
}

#[test]
fn what_slow_start_leaves_is_an_option() {
    for (exit, left) in [("keep", 16.0), ("eighth", 14.0), ("actual", 12.8 + 1.0)] {
        let mut flow = Rounds::new(vegas(&[("exit", exit)]), 16.0, f64::INFINITY);
        flow.cc.base_rtt = 100e6;
        flow.round(125);
        assert!((flow.window.cwnd - left).abs() < 1e-9, "{exit}: {}", flow.window.cwnd);
    }
}

#[test]
fn afterwards_it_keeps_between_alpha_and_beta_packets_waiting() {
    // 20 segments: diff = 20 (1 - 100 / rtt).
    for (rtt, compare, after) in [
        (105, "exact", 21.0),   // 0.95
        (106, "exact", 20.0),   // 1.13
        (117, "exact", 20.0),   // 2.91
        (118, "exact", 19.0),   // 3.05
        (105, "rounded", 20.0), // 1
        (121, "rounded", 20.0), // 3.47 counts as 3
        (122, "rounded", 19.0), // 3.61 counts as 4
    ] {
        let mut flow = Rounds::new(vegas(&[("compare", compare)]), 20.0, 2.0);
        flow.cc.base_rtt = 100e6;
        assert_eq!(flow.round(rtt), after, "{rtt} ms, {compare}");
    }
}

#[test]
fn the_step_may_be_spread_over_the_round_trip_that_follows() {
    let mut flow = Rounds::new(vegas(&[("step", "spread")]), 10.0, 2.0);
    flow.round(100);
    assert!((flow.window.cwnd - 11.0).abs() < 1e-9, "{}", flow.window.cwnd);
}

#[test]
fn a_round_trip_without_leave_to_grow_is_not_compared() {
    let mut flow = Rounds::new(vegas(&[]), 10.0, 2.0);
    let ack = |now, newly_acked, may_grow| AckEvent {
        now: Time::from_ms(now),
        rtt: Some(Time::from_ms(100)),
        base_rtt: Time::ZERO,
        newly_acked,
        flight: 10.0 - newly_acked,
        may_grow,
        ..AckEvent::default()
    };
    flow.cc.on_ack(&mut flow.window, &ack(100, 10.0, false));
    flow.cc.on_ack(&mut flow.window, &ack(150, 5.0, false));
    // Five segments were in flight when the recovery ended: the sixth is the marked one.
    flow.cc.on_ack(&mut flow.window, &ack(200, 5.0, true));
    assert_eq!(flow.window.cwnd, 10.0);
    flow.cc.on_ack(&mut flow.window, &ack(250, 5.0, true));
    assert_eq!(flow.window.cwnd, 11.0);
}

#[test]
fn a_lone_segment_sets_the_base_anew_if_asked_to() {
    let lone = AckEvent {
        now: Time::from_ms(500),
        rtt: Some(Time::from_ms(200)),
        base_rtt: Time::ZERO,
        newly_acked: 1.0,
        flight: 0.0,
        ..AckEvent::default()
    };
    for (rule, base) in [("least", 100e6), ("lone", 200e6)] {
        let mut flow = Rounds::new(vegas(&[("base_rtt", rule)]), 2.0, 2.0);
        flow.cc.base_rtt = 100e6;
        flow.cc.on_ack(&mut flow.window, &lone);
        assert_eq!(flow.cc.base_rtt, base);
    }
}

#[test]
fn after_a_handshake_the_first_window_may_be_one_segment() {
    for (first, window, grown) in [("initial", 4.0, 8.0), ("one", 1.0, 5.0)] {
        let rules = [("first_window", first), ("window", "flight")];
        let mut flow = Rounds::new(vegas(&rules), 4.0, f64::INFINITY);
        flow.cc.on_established(&mut flow.window, Time::ZERO, Time::from_ms(90));
        assert_eq!(flow.cc.base_rtt, 90e6);
        assert_eq!(flow.window.cwnd, window, "{first}");
        // 4 - 4 90/100 = 0.4 packets wait, or 0.1: less than gamma, so the window grows by each ACK.
        assert_eq!(flow.round(100), grown, "{first}");
    }
}

#[test]
fn the_round_trip_of_a_handshake_may_not_count() {
    for (rule, base) in [("least", 90e6), ("data", 100e6)] {
        let mut flow = Rounds::new(vegas(&[("base_rtt", rule)]), 4.0, f64::INFINITY);
        flow.cc.on_established(&mut flow.window, Time::ZERO, Time::from_ms(90));
        flow.round(100);
        assert_eq!(flow.cc.base_rtt, base, "{rule}");
    }
}

#[test]
fn a_loss_costs_a_quarter_and_a_repeated_one_half() {
    let cut = |loss: &str, cwnd, signal, transmissions| {
        let window = Window { cwnd, ssthresh: 2.0, segment: 1.0 };
        let event = LossEvent {
            now: Time::ZERO,
            signal,
            flight: cwnd,
            limit: f64::INFINITY,
            transmissions,
        };
        vegas(&[("loss", loss)]).on_loss(&window, &event).unwrap()
    };
    assert_eq!(cut("quarter", 10.5, Signal::Gap, 1), 7.875);
    assert_eq!(cut("quarter", 10.5, Signal::Gap, 2), 5.25);
    assert_eq!(cut("quarter", 10.5, Signal::Timeout, 1), 5.25);
    // 10 - floor(10 / 4), floor(10 / 2), floor(10.5 / 2), and two of three.
    assert_eq!(cut("whole-segments", 10.5, Signal::Gap, 1), 8.0);
    assert_eq!(cut("whole-segments", 10.5, Signal::Gap, 2), 5.0);
    assert_eq!(cut("whole-segments", 10.5, Signal::Timeout, 1), 5.0);
    assert_eq!(cut("whole-segments", 3.9, Signal::Gap, 1), 2.0);
}
