use super::*;
use crate::cc::{SenderFacts, Signal};
use ackclock_units::param::Value;
use std::collections::VecDeque;

const MSS: u16 = 1448;

fn bbr() -> Bbr {
    let mut bbr = Bbr::new(&Chosen {
        kind: "bbr".into(),
        values: vec![
            ("min_rtt_window_ns".into(), Value::Int(10_000_000_000)),
            ("probe_rtt_ns".into(), Value::Int(200_000_000)),
            ("policer_model".into(), Value::Flag(true)),
            ("ack_aggregation".into(), Value::Flag(true)),
            ("hz".into(), Value::Int(250)),
        ],
    });
    bbr.on_flow(MSS, &mut || Stream::new(1, "cc/F1"));
    bbr
}

/// What a segment remembers of its sending.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: u64,
    first: u64,
    delivered: u64,
    delivered_time: u64,
    acked_at: u64,
}

#[derive(Debug)]
struct Facts {
    rate: RateSample,
    departure: Time,
}

impl SenderFacts for Facts {
    fn rate(&self) -> Option<RateSample> {
        Some(self.rate)
    }

    fn departure(&self) -> Time {
        self.departure
    }
}

/// A sender with all the data it wants, over one link without end of its buffer. Nanoseconds.
struct Path {
    cc: Bbr,
    window: Window,
    now: u64,
    rtt: u64,
    /// Transmission of one segment.
    service: u64,
    link_free: u64,
    next_send: u64,
    in_flight: VecDeque<Sent>,
    delivered: u64,
    delivered_time: u64,
    first: u64,
    most_in_flight: usize,
}

impl Path {
    fn new(mbps: u64, rtt_ms: u64) -> Self {
        let (rtt, service) = (rtt_ms * 1_000_000, 1500 * 8 * 1000 / mbps);
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY, segment: 1.0 };
        let mut cc = bbr();
        cc.on_start(&mut window);
        cc.on_established(&mut window, Time::from_ns(rtt), Time::from_ns(rtt));
        Self {
            cc,
            window,
            now: rtt,
            rtt,
            service,
            link_free: 0,
            next_send: 0,
            in_flight: VecDeque::new(),
            delivered: 1,
            delivered_time: rtt,
            first: rtt,
            most_in_flight: 0,
        }
    }

    /// Bandwidth-delay product, segments.
    fn bdp(&self) -> f64 {
        self.rtt as f64 / self.service as f64
    }

    fn send(&mut self) {
        if self.in_flight.is_empty() {
            self.first = self.now;
            self.delivered_time = self.now;
        }
        self.link_free = self.link_free.max(self.now) + self.service;
        self.in_flight.push_back(Sent {
            at: self.now,
            first: self.first,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            acked_at: self.link_free + self.rtt,
        });
        self.most_in_flight = self.most_in_flight.max(self.in_flight.len());
        let gap = u64::from(MSS) * 8_000_000_000 / self.cc.pacing_rate().expect("a rate");
        self.next_send = self.next_send.max(self.now) + gap;
    }

    fn ack(&mut self) {
        let prior_in_flight = self.in_flight.len() as u64;
        let sent = self.in_flight.pop_front().expect("a segment");
        self.delivered += 1;
        self.delivered_time = self.now;
        let interval = (sent.at - sent.first).max(self.now - sent.delivered_time);
        self.first = sent.at;
        let rate = RateSample {
            delivered: Some(self.delivered - sent.delivered),
            interval: Time::from_ns(interval),
            prior_delivered: sent.delivered,
            app_limited: false,
            total_delivered: self.delivered,
            delivered_time: Time::from_ns(self.now),
            newly_delivered: 1,
            newly_lost: 0,
            total_lost: 0,
            prior_in_flight,
            taken: true,
            ..RateSample::default()
        };
        let event = AckEvent {
            now: Time::from_ns(self.now),
            rtt: Some(Time::from_ns(self.now - sent.at)),
            newly_acked: 1.0,
            flight: self.in_flight.len() as f64,
            sender: &Facts { rate, departure: Time::from_ns(self.next_send) },
            ..AckEvent::default()
        };
        self.cc.on_ack(&mut self.window, &event);
    }

    /// Goes on to a time; calls `look` after each ACK.
    fn run(&mut self, until_ms: u64, mut look: impl FnMut(&Self)) {
        loop {
            let may_send = self.in_flight.len() < self.window.cwnd as usize;
            let send = if may_send { self.next_send.max(self.now) } else { u64::MAX };
            let ack = self.in_flight.front().map_or(u64::MAX, |sent| sent.acked_at);
            let next = send.min(ack);
            if next > until_ms * 1_000_000 {
                return;
            }
            self.now = next;
            if ack <= send {
                self.ack();
                look(self);
            } else {
                self.send();
            }
        }
    }
}

/// Measured on Linux: an initial window of 10 segments and 40.8 ms give 1.014 MB/s.
#[test]
fn the_first_rate_is_the_initial_window_with_the_high_gain() {
    let mut cc = bbr();
    let mut window = Window { cwnd: 10.0, ssthresh: 20.0, segment: 1.0 };
    cc.on_start(&mut window);
    cc.on_established(&mut window, Time::from_ms(50), Time::from_ns(40_800_000));
    let expected = 10.0 * 1448.0 / 0.0408 * (739.0 / 256.0) * 0.99 * 8.0;
    let rate = cc.pacing_rate().unwrap() as f64;
    assert!((rate / expected - 1.0).abs() < 1e-4, "{rate} for {expected}");
    assert!((rate / 8.0 - 1.014e6).abs() < 0.001e6);
}

/// Bursts that Linux was seen to count with at these rates.
#[test]
fn bursts_are_a_millisecond_long() {
    let mut cc = bbr();
    for (mbps, burst) in
        [(0.8, 1), (2.0, 2), (10.0, 2), (30.0, 2), (50.0, 4), (100.0, 8), (9e4, 45)]
    {
        cc.pacing_rate = (mbps * 1e6 / 8.0 * 0.96) as u64;
        assert_eq!(cc.burst(), burst, "{mbps}");
    }
}

#[test]
fn it_fills_the_pipe_drains_it_and_stays_near_two_products() {
    let mut path = Path::new(10, 40);
    let bdp = path.bdp();
    path.run(1500, |_| ());
    path.most_in_flight = 0;
    assert_eq!(path.cc.mode, Mode::ProbeBw);
    let bw = (1u64 << BW_SHIFT) as f64 / (path.service as f64 / 1000.0);
    let measured = path.cc.bw() as f64;
    assert!((measured / bw - 1.0).abs() < 0.001, "{measured} for {bw}");
    assert_eq!(path.window.ssthresh % 2.0, 0.0);
    let (began, before) = (path.now, path.delivered);
    let mut phases = [0_u32; 8];
    path.run(9500, |path| {
        phases[path.cc.phase] += 1;
        // Three bursts of two segments, what was aggregated, one to be even, and two in the first phase.
        let room = path.window.cwnd - 2.0 * bdp;
        let first = if path.cc.phase == 0 { 2.0 } else { 0.0 };
        assert!((6.0..10.0 + first).contains(&room), "{room}");
    });
    // One flow alone is held by its pace.
    let most = path.most_in_flight as f64 / bdp;
    assert!((1.25..1.5).contains(&most), "{most}");
    let used = (path.delivered - before) as f64 * path.service as f64 / (path.now - began) as f64;
    assert!(used > 0.97, "{used}");
    // All phases are alike, about a round trip long; that with a low gain ends early.
    let whole = phases[2..].iter().min().unwrap();
    assert!(phases[1] <= *whole && *phases.iter().max().unwrap() < 2 * whole, "{phases:?}");
}

/// Ten seconds after the handshake's round-trip time four segments are in flight for 200 ms, and the window is back at once.
#[test]
fn it_looks_for_the_least_round_trip_time() {
    let mut path = Path::new(10, 40);
    let mut low = None;
    let mut after = None;
    path.run(11_000, |path| {
        let now = path.now / 1_000_000;
        if path.window.cwnd <= 4.0 {
            low.get_or_insert(now);
            assert!(path.cc.holds_back());
        } else if low.is_some() {
            after.get_or_insert((now, path.window.cwnd));
        }
    });
    let (low, (after, cwnd)) = (low.unwrap(), after.unwrap());
    assert!((10_040..10_100).contains(&low), "{low}");
    // What is in flight arrives within a round trip, then 200 ms pass, and the rest of a round trip.
    assert!((240..290).contains(&(after - low)), "{low} {after}");
    assert!(cwnd > 2.0 * path.bdp(), "{cwnd}");
}

#[test]
fn a_loss_bounds_the_window_for_a_round_trip_and_not_longer() {
    let mut path = Path::new(10, 40);
    path.run(2000, |_| ());
    let cwnd = path.window.cwnd;
    let loss = LossEvent {
        now: Time::from_ns(path.now),
        signal: Signal::Gap,
        flight: 60.0,
        limit: f64::INFINITY,
        transmissions: 1,
    };
    let ssthresh = path.window.ssthresh;
    assert_eq!(path.cc.on_loss(&path.window, &loss), Some(ssthresh));
    assert_eq!(path.cc.prior_cwnd, cwnd as u64);
    let rate = |total_delivered, newly_lost, delivered| RateSample {
        delivered,
        interval: Time::from_ms(40),
        prior_delivered: 0,
        app_limited: false,
        total_delivered,
        delivered_time: Time::from_ns(path.now),
        newly_delivered: 1,
        newly_lost,
        total_lost: 3,
        prior_in_flight: 60,
        ..RateSample::default()
    };
    #[derive(Debug)]
    struct InState(RateSample, CongestionState);
    impl SenderFacts for InState {
        fn rate(&self) -> Option<RateSample> {
            Some(self.0)
        }
        fn state(&self) -> CongestionState {
            self.1
        }
    }
    let mut cc = path.cc.clone();
    let mut window = path.window;
    let mut ack = |cc: &mut Bbr, state, rate, flight| {
        let event = AckEvent {
            now: Time::from_ns(path.now),
            flight,
            sender: &InState(rate, state),
            ..AckEvent::default()
        };
        cc.on_ack(&mut window, &event);
        window.cwnd
    };
    let total = path.delivered;
    // Entering: what is in flight and this ACK.
    assert_eq!(ack(&mut cc, CongestionState::Recovery, rate(total + 1, 3, None), 50.0), 51.0);
    // Conservation: the window does not grow beyond.
    assert_eq!(ack(&mut cc, CongestionState::Recovery, rate(total + 2, 0, None), 50.0), 51.0);
    // Afterwards the window of before is back.
    let back = ack(&mut cc, CongestionState::Open, rate(total + 3, 0, None), 50.0);
    assert!((back - cwnd).abs() <= 4.0, "{back} {cwnd}");
}

#[test]
fn a_spurious_timeout_starts_the_search_for_a_full_pipe_anew() {
    let mut path = Path::new(10, 40);
    path.run(300, |_| ());
    path.cc.full_bw = 7;
    path.cc.full_rounds = 2;
    let cwnd = path.window.cwnd;
    path.cc.on_undo(&mut path.window, 500.0);
    assert_eq!((path.cc.full_bw, path.cc.full_rounds, path.window.cwnd), (0, 0, cwnd));
}

#[test]
fn after_idleness_it_paces_at_the_bandwidth() {
    let mut path = Path::new(10, 40);
    path.run(2000, |_| ());
    let mut cc = path.cc.clone();
    cc.pacing_gain = UNIT * 5 / 4;
    let (now, idle) = (Time::from_ns(path.now), Time::from_ms(300));
    cc.on_send_from_idle(&mut path.window, now, idle, false);
    assert_eq!(cc.pacing_rate, path.cc.pacing_rate);
    cc.on_send_from_idle(&mut path.window, now, idle, true);
    assert_eq!(cc.pacing_rate, cc.rate(cc.bw(), UNIT));
    assert!(cc.restarts);
}

/// A policer of 0.1 segments per millisecond that drops a quarter: after two intervals its rate is used, for 48 round trips.
#[test]
fn a_policer_is_recognised() {
    let mut policer = Policer::default();
    let mut counts = Counts { delivered: 1, delivered_time: 1_000_000, lost: 0 };
    let rate = |bw: u64| (bw * 1448 * 1_000_000) >> BW_SHIFT;
    let mut rounds = 0;
    while policer.bw().is_none() {
        rounds += 1;
        counts.delivered += 10;
        counts.delivered_time += 100_000;
        counts.lost += 3;
        let event = Event {
            counts,
            losses: true,
            app_limited: false,
            round_start: true,
            probing_bandwidth: true,
        };
        assert!(!policer.on_event(&event, rate));
        assert!(rounds < 20);
    }
    // The first loss begins an interval, which takes four round trips; so does the second.
    assert_eq!(rounds, 4 + 4);
    let bw = policer.bw().unwrap() as f64 / f64::from(1 << BW_SHIFT);
    assert!((bw / 1e-4 - 1.0).abs() < 0.35, "{bw}");
    let event = Event {
        counts,
        losses: false,
        app_limited: false,
        round_start: true,
        probing_bandwidth: true,
    };
    for _ in 0..47 {
        assert!(!policer.on_event(&event, rate));
    }
    assert!(policer.on_event(&event, rate));
    assert_eq!(policer.bw(), None);
    // Few losses show no policer.
    let mut policer = Policer::default();
    for _ in 0..40 {
        counts.delivered += 10;
        counts.delivered_time += 100_000;
        counts.lost += 1;
        policer.on_event(&Event { counts, losses: true, ..event }, rate);
    }
    assert_eq!(policer.bw(), None);
}

#[test]
fn clumps_of_acks_give_room() {
    let mut aggregation = Aggregation::default();
    // 0.001 segments a microsecond; 20 come at once after 10 ms: 10 more than expected.
    let bw = (1 << BW_SHIFT) / 1000 + 1;
    aggregation.begin(0);
    aggregation.on_delivered(1_000, 1, bw, 100, true);
    assert_eq!(aggregation.extra(), 1);
    aggregation.on_delivered(1_000, 20, bw, 100, false);
    assert_eq!(aggregation.extra(), 21);
    aggregation.on_delivered(11_000, 9, bw, 100, false);
    assert_eq!(aggregation.extra(), 21);
    // The window bounds it, and five to ten round trips later it is forgotten.
    for round in 1..=10 {
        aggregation.on_delivered(1_000_000 * round, 1, bw, 15, true);
    }
    assert_eq!(aggregation.extra(), 1);
}
