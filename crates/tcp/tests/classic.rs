//! The classic sender and its recoveries, segment by segment.

mod setup;

use ackclock_tcp::Cause;
use ackclock_tcp::cc::Cc;
use ackclock_tcp::classic::{Recovery, Restart, Sender, Setup, TimerRules};
use ackclock_tcp::rto::Rto;
use ackclock_units::Time;
use ackclock_units::param::Value;
use setup::{chosen, word};

const MSS: u64 = 1000;

/// A recovery with its defaults, but for these values.
fn recovery(kind: &str, other: &[(&str, &str)]) -> Recovery {
    let words = [
        ("later_data", "unsent"),
        ("resends", "oldest"),
        ("guard", "recover"),
        ("repeat", "once"),
        ("exit_window", "flight"),
        ("count_after_timeout", "anew"),
        ("inflation", "window"),
        ("partial_timer", "each"),
        ("repaired", "sent"),
    ];
    let mut values = vec![
        ("threshold", Value::Int(3)),
        ("limited_transmit", Value::Flag(other.contains(&("limited_transmit", "true")))),
        ("grow_on_exit", Value::Flag(false)),
        ("burst", if other.contains(&("burst", "2")) { Value::Int(2) } else { Value::Null }),
    ];
    for (name, default) in words {
        let given = other.iter().find(|(other, _)| *other == name);
        values.push((name, word(given.map_or(default, |(_, value)| value))));
    }
    Recovery::new(&chosen(kind, &values))
}

fn aimd(counting: &str, whole: bool) -> Cc {
    Cc::new(&chosen(
        "aimd",
        &[
            ("increase", Value::Real(1.0)),
            ("decrease", Value::Real(0.5)),
            ("decrease_from", word("cwnd")),
            ("counting", word(counting)),
            ("whole_segments", Value::Flag(whole)),
        ],
    ))
}

fn setup(recovery: Recovery) -> Setup {
    setup::setup(recovery, aimd("capped-bytes", false))
}

/// A sender and the present time.
struct Script {
    sender: Sender,
    now: Time,
}

impl Script {
    /// Starts a sender; what it sends first goes unseen.
    fn new(setup: Setup) -> Self {
        let mut sender = Sender::new(setup);
        sender.start(Time::ZERO);
        let mut script = Self { sender, now: Time::ZERO };
        script.sent();
        script
    }

    /// What the sender sends now: first byte and why.
    fn sent(&mut self) -> Vec<(u64, Cause)> {
        std::iter::from_fn(|| self.sender.poll_transmit(self.now))
            .map(|segment| (u64::from(segment.seq), segment.cause))
            .collect()
    }

    /// An ACK of all below this segment comes 1 ms later; the segments that are sent then.
    fn ack(&mut self, segment: u64) -> Vec<(u64, Cause)> {
        self.ack_bytes(segment * MSS).into_iter().map(|(seq, cause)| (seq / MSS, cause)).collect()
    }

    fn ack_bytes(&mut self, bytes: u64) -> Vec<(u64, Cause)> {
        self.now += Time::from_ms(1);
        self.sender.on_ack(self.now, bytes, Time::ZERO, false);
        self.sent()
    }

    /// The retransmission timer expires; the segments that are sent then.
    fn expire(&mut self) -> Vec<(u64, Cause)> {
        self.now = self.sender.next_timer();
        assert!(self.sender.on_timer(self.now));
        self.sent().into_iter().map(|(seq, cause)| (seq / MSS, cause)).collect()
    }

    /// Window and threshold in segments.
    fn window(&self) -> (f64, f64) {
        let window = self.sender.window();
        (window.cwnd / window.segment, window.ssthresh / window.segment)
    }
}

fn new(segments: impl IntoIterator<Item = u64>) -> Vec<(u64, Cause)> {
    segments.into_iter().map(|segment| (segment, Cause::New)).collect()
}

/// Two losses in one window of eight: segments 1 and 4. Segment 0 is acknowledged, then twice again.
fn two_losses(recovery: Recovery) -> Script {
    let mut script = Script::new(setup(recovery));
    assert_eq!(script.ack(1), new([8, 9]));
    assert_eq!(script.window(), (9.0, f64::INFINITY));
    for _ in 0..2 {
        assert_eq!(script.ack(1), []);
    }
    script
}

#[test]
fn a_window_of_more_bytes_than_there_are_numbers_is_one_without_end() {
    let mut script = Script::new(Setup {
        initial_window: 2f64.powi(60),
        receive_window: 4 * MSS,
        window_in_segments: true,
        ..setup(recovery("newreno", &[]))
    });
    assert_eq!(script.sender.max(), 4 * MSS);
    assert_eq!(script.ack_bytes(MSS), [(4 * MSS, Cause::New)]);
}

#[test]
fn slow_start_doubles_and_avoidance_adds_a_segment_a_window() {
    let mut setup = setup(recovery("tahoe", &[]));
    setup.initial_window = 1.0;
    setup.initial_ssthresh = 4000.0;
    let mut script = Script::new(setup);
    assert_eq!(script.ack(1), new([1, 2]));
    assert_eq!(script.ack(2), new([3, 4]));
    assert_eq!(script.ack(3), new([5, 6]));
    assert_eq!(script.window(), (4.0, 4.0));
    assert_eq!(script.ack(4), new([7]));
    assert_eq!(script.window().0, 4.25);
}

#[test]
fn windows_of_whole_segments_keep_the_rest_apart() {
    let mut setup = setup(recovery("tahoe", &[]));
    setup.initial_window = 4.0;
    setup.initial_ssthresh = 4000.0;
    setup.cc = aimd("capped-bytes", true);
    let mut script = Script::new(setup);
    for segment in 1..=3 {
        script.ack(segment);
        assert_eq!(script.window().0, 4.0);
    }
    script.ack(4);
    assert_eq!(script.window().0, 5.0);
    for _ in 0..3 {
        script.ack(4);
    }
    // Half of five, without the fraction.
    assert_eq!(script.window(), (1.0, 2.0));
}

#[test]
fn an_ack_of_many_segments_counts_once_or_wholly() {
    for (counting, cwnd) in [("capped-bytes", 9.0), ("acks", 9.0), ("bytes", 12.0)] {
        let mut setup = setup(recovery("tahoe", &[]));
        setup.cc = aimd(counting, false);
        let mut script = Script::new(setup);
        script.ack(4);
        assert_eq!(script.window().0, cwnd, "{counting}");
    }
}

#[test]
fn tahoe_starts_over_and_counts_later_data_as_unsent() {
    let mut script = two_losses(recovery("tahoe", &[]));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    assert_eq!(script.window(), (1.0, 4.5));
    assert_eq!(script.ack(1), []);
    // Segment 1 fills the gap up to 4; 4 and 5 count as unsent.
    assert_eq!(script.ack(4), [(4, Cause::GapRetransmit), (5, Cause::GapRetransmit)]);
    assert_eq!(script.window(), (2.0, 4.5));
}

#[test]
fn tahoe_without_going_back_sends_the_oldest_segment_only() {
    let mut script = two_losses(recovery("tahoe", &[("later_data", "in-flight")]));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    // Six segments are in flight, the window holds two.
    assert_eq!(script.ack(4), []);
}

/// False duplicates after going back: the guard decides what the third one does. Answers what is sent
/// on duplicates of an ACK below, at and above what had been sent before the loss (segments 0 to 9).
fn after_going_back(guard: &str) -> [Vec<(u64, Cause)>; 3] {
    [5, 10, 11].map(|acked| {
        let mut script = two_losses(recovery("tahoe", &[("guard", guard)]));
        script.ack(1);
        script.ack(acked);
        script.ack(acked);
        script.ack(acked);
        let before = script.sender.stats().fast_retransmits;
        let sent = script.ack(acked);
        assert_eq!(script.sender.stats().fast_retransmits - before, u32::from(!sent.is_empty()));
        sent
    })
}

#[test]
fn the_guard_decides_on_a_second_fast_retransmit_in_one_window() {
    let fires = |segment| vec![(segment, Cause::FastRetransmit)];
    // The ACK of segment 10 is within what was sent, 11 is not known yet and ignored.
    let [below, at, unknown] = after_going_back("none");
    assert_eq!((below, at, unknown), (fires(5), fires(10), vec![]));
    let [below, at, _] = after_going_back("outstanding");
    assert_eq!((below, at), (vec![], fires(10)));
    let [below, at, _] = after_going_back("recover");
    assert_eq!((below, at), (vec![], vec![]));
}

#[test]
fn every_third_duplicate_may_count() {
    for (repeat, fires) in [("once", false), ("every", true)] {
        let other = [("guard", "none"), ("repeat", repeat)];
        let mut script = two_losses(recovery("tahoe", &other));
        assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
        script.ack(1);
        script.ack(1);
        assert_eq!(!script.ack(1).is_empty(), fires, "{repeat}");
    }
}

#[test]
fn reno_inflates_and_the_first_new_ack_ends_it() {
    let mut script = two_losses(recovery("reno", &[]));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    assert_eq!(script.window(), (7.5, 4.5));
    assert!(script.sender.in_recovery());
    // Nine are in flight: the window has to grow past them.
    assert_eq!(script.ack(1), []);
    assert_eq!(script.ack(1), []);
    assert_eq!(script.ack(1), new([10]));
    assert_eq!(script.window().0, 10.5);
    // Segment 4 is missing too, but recovery is over.
    assert_eq!(script.ack(4), []);
    assert_eq!(script.window(), (4.5, 4.5));
    assert!(!script.sender.in_recovery());
}

#[test]
fn newreno_repairs_the_second_loss_on_the_partial_ack() {
    let mut script = two_losses(recovery("newreno", &[]));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    // Three new segments: the window shrinks by them and grows by one (RFC 6582 section 3.2, step 3).
    assert_eq!(script.ack(4), [(4, Cause::GapRetransmit)]);
    assert_eq!(script.window().0, 5.5);
    assert!(script.sender.in_recovery());
    // All that had been sent is acknowledged: min(ssthresh, flight + 1), here one segment more than none.
    assert_eq!(script.ack(10), new([10, 11]));
    assert_eq!(script.window(), (2.0, 4.5));
    assert!(!script.sender.in_recovery());
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_duplicates() {
    let mut script = Script::new(setup(recovery("reno", &[("limited_transmit", "true")])));
    assert_eq!(script.ack(1), new([8, 9]));
    assert_eq!(script.ack(1), new([10]));
    assert_eq!(script.ack(1), new([11]));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
}

#[test]
fn limited_transmit_sends_one_segment_a_duplicate() {
    let rules = [("limited_transmit", "true"), ("count_after_timeout", "on")];
    let mut script = Script::new(setup(recovery("tahoe", &rules)));
    assert_eq!(script.ack(1), new([8, 9]));
    assert_eq!(script.ack(1), new([10]));
    assert_eq!(script.expire(), [(1, Cause::Timeout)]);
    // The second one; the first one had its segment before the timeout.
    assert_eq!(script.ack(1), [(2, Cause::GapRetransmit)]);
    assert_eq!(script.ack(1), []);
}

#[test]
fn a_timeout_sends_the_oldest_segment_and_halves_the_threshold() {
    for kind in ["timeout", "tahoe", "reno", "newreno"] {
        let mut script = Script::new(setup(recovery(kind, &[])));
        assert_eq!(script.expire(), [(0, Cause::Timeout)], "{kind}");
        assert_eq!(script.now, Time::from_secs(1));
        assert_eq!(script.window(), (1.0, 4.0), "{kind}");
        // The timer runs again.
        assert_eq!(script.expire(), [(0, Cause::Timeout)], "{kind}");
        assert_eq!(script.now, Time::from_secs(2));
        assert_eq!(script.window(), (1.0, 2.0), "{kind}");
        assert_eq!(script.ack(1), [(1, Cause::GapRetransmit), (2, Cause::GapRetransmit)], "{kind}");
    }
}

#[test]
fn duplicates_do_nothing_where_only_the_timer_repairs() {
    let mut script = two_losses(recovery("timeout", &[]));
    for _ in 0..6 {
        assert_eq!(script.ack(1), []);
    }
    assert_eq!(script.window().0, 9.0);
}

#[test]
fn duplicates_of_the_first_ack_may_be_ignored() {
    for ignored in [false, true] {
        let mut setup = setup(recovery("tahoe", &[]));
        setup.ignores_zero_ack = ignored;
        let mut script = Script::new(setup);
        script.ack(0);
        script.ack(0);
        assert_eq!(script.ack(0).is_empty(), ignored);
    }
}

#[test]
fn segments_may_be_cut_to_what_fits() {
    for (fills, sent) in [(false, vec![4000]), (true, vec![4000, 5000])] {
        let mut setup = setup(recovery("tahoe", &[]));
        setup.initial_window = 4.0;
        setup.initial_ssthresh = 4000.0;
        setup.fills_window = fills;
        let mut script = Script::new(setup);
        let segments = script.ack_bytes(1000);
        assert_eq!(segments.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), sent);
        // 250 bytes fit beyond the whole segment.
        assert_eq!(script.sender.max(), if fills { 5250 } else { 5000 });
    }
}

#[test]
fn new_data_may_leave_a_while_after_the_ack() {
    let mut setup = setup(recovery("reno", &[("guard", "none")]));
    setup.send_delay = Time::from_ns(1);
    let mut script = Script::new(setup);
    // The first window leaves at once: nothing is acknowledged yet.
    assert_eq!(script.sender.max(), 8 * MSS);
    assert_eq!(script.ack(1), []);
    assert_eq!(script.sender.next_timer(), script.now + Time::from_ns(1));
    script.now += Time::from_ns(1);
    assert!(!script.sender.on_timer(script.now));
    assert_eq!(script.sent(), [(8000, Cause::New), (9000, Cause::New)]);
    // What is retransmitted leaves with the ACK that asks for it, and nothing else.
    script.ack(1);
    script.ack(1);
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    script.ack(1);
    script.ack(1);
    assert_eq!(script.ack(1), new([10]));
}

#[test]
fn the_wait_may_double_with_each_start_of_the_timer() {
    let standard = [
        ("initial_ns", Value::Int(1_000_000_000)),
        ("min_ns", Value::Int(1_000_000_000)),
        ("max_ns", Value::Int(60_000_000_000)),
        ("floor", word("total")),
        ("variance_from", word("old-srtt")),
        ("sampling", word("listed")),
        ("granularity_ns", Value::Int(0)),
        ("timestamp_tick_ns", Value::Int(1_000_000)),
        ("least_variance_ns", Value::Int(1_000_000)),
        ("backoff_ends", word("on-ack")),
    ];
    let mut setup = setup(recovery("tahoe", &[]));
    setup.rto = Rto::new(&chosen("rfc6298", &standard));
    setup.timer = TimerRules { restart: Restart::OnAckAlways, backs_off_at_start: true };
    let mut script = Script::new(setup);
    assert_eq!(script.sender.next_timer(), Time::from_secs(2));
    assert_eq!(script.expire(), [(0, Cause::Timeout)]);
    assert_eq!(script.sender.next_timer(), Time::from_secs(2 + 4));
    // An ACK of all that is outstanding starts the timer without back-off, for what comes.
    script.now += Time::from_ms(1);
    assert_eq!(script.sender.on_ack(script.now, 8 * MSS, script.now, false), None);
    assert_eq!(script.sender.next_timer(), script.now + Time::from_secs(1));
    // If it expires before anything is sent, nothing is lost.
    let due = script.sender.next_timer();
    assert!(!script.sender.on_timer(due));
    assert_eq!(script.sender.next_timer(), Time::NEVER);
    assert_eq!(script.sender.stats().timeouts, 1);
}

#[test]
fn duplicates_may_be_counted_on_after_a_timeout() {
    for (rule, fires) in [("anew", true), ("on", false)] {
        let other = [("guard", "none"), ("count_after_timeout", rule)];
        for kind in ["tahoe", "reno"] {
            let mut script = two_losses(recovery(kind, &other));
            assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
            script.expire();
            script.ack(1);
            script.ack(1);
            assert_eq!(!script.ack(1).is_empty(), fires, "{kind} {rule}");
        }
    }
}

#[test]
fn the_flight_that_a_loss_halves_may_reach_up_to_the_highest_byte() {
    for (to_highest, ssthresh) in [(false, 2.0), (true, 4.0)] {
        let mut setup = setup(recovery("reno", &[]));
        setup.cc = Cc::new(&chosen(
            "reno",
            &[
                ("decrease_from", word("flight")),
                ("counting", word("capped-bytes")),
                ("arithmetic", word("real")),
            ],
        ));
        setup.flight_to_highest = to_highest;
        let mut script = Script::new(setup);
        // After the first timeout one segment of eight is in flight.
        script.expire();
        script.expire();
        assert_eq!(script.window(), (1.0, ssthresh));
    }
}

#[test]
fn the_timer_starts_anew_on_acks_or_only_on_segments() {
    for (restart, deadline) in [
        (Restart::OnAck, Time::from_ms(1001)),
        (Restart::OnAckAlways, Time::from_ms(1001)),
        (Restart::OnAckOldRto, Time::from_ms(1001)),
        (Restart::OnSend, Time::NEVER),
    ] {
        let mut setup = setup(recovery("timeout", &[]));
        setup.data.given = Some(3000);
        setup.timer.restart = restart;
        let mut script = Script::new(setup);
        assert_eq!(script.sender.next_timer(), Time::from_secs(1));
        assert_eq!(script.ack(1), []);
        assert_eq!(script.sender.next_timer(), deadline, "{restart:?}");
        script.ack(3);
        assert_eq!(script.sender.next_timer(), Time::NEVER);
        assert!(script.sender.is_finished());
    }
}

/// A sender whose application has written nothing yet.
fn written(change: impl FnOnce(&mut Setup)) -> Script {
    let mut setup = setup(recovery("newreno", &[]));
    setup.data.given = None;
    change(&mut setup);
    Script::new(setup)
}

#[test]
fn a_dry_sender_goes_on_with_the_next_write() {
    let mut script = written(|_| {});
    assert_eq!(script.sent(), []);
    assert_eq!(script.sender.next_timer(), Time::NEVER);
    script.sender.write(script.now, 2500, false);
    assert_eq!(script.sent(), new([0, 1000, 2000]));
    // All is acknowledged: no timer, and not the end.
    assert_eq!(script.ack_bytes(2500), []);
    assert_eq!(script.sender.next_timer(), Time::NEVER);
    assert!(!script.sender.is_finished());
    script.sender.write(script.now, 700, true);
    assert_eq!(script.sent(), new([2500]));
    script.ack_bytes(3200);
    assert!(script.sender.is_finished());
}

#[test]
fn an_idle_sender_has_no_timer_under_any_rule() {
    for restart in [Restart::OnAck, Restart::OnAckOldRto, Restart::OnSend] {
        let mut script = written(|setup| setup.timer.restart = restart);
        script.sender.write(script.now, 1000, false);
        script.sent();
        script.ack_bytes(1000);
        assert_eq!(script.sender.next_timer(), Time::NEVER, "{restart:?}");
    }
}

#[test]
fn a_lost_segment_is_sent_again_though_nothing_is_written() {
    let mut script = written(|_| {});
    script.sender.write(script.now, 1000, false);
    script.sent();
    assert_eq!(script.expire(), [(0, Cause::Timeout)]);
}

#[test]
fn nagle_holds_back_small_segments_while_data_are_in_flight() {
    let mut script = written(|setup| setup.nagle = true);
    script.sender.write(script.now, 300, false);
    assert_eq!(script.sent(), new([0]));
    script.sender.write(script.now, 300, false);
    assert_eq!(script.sent(), []);
    // A whole segment leaves, the rest waits.
    script.sender.write(script.now, 900, false);
    assert_eq!(script.sent(), new([300]));
    assert_eq!(script.ack_bytes(300), []);
    assert_eq!(script.ack_bytes(1300), new([1300]));
    // The last one does not wait.
    script.sender.write(script.now, 10, true);
    assert_eq!(script.sent(), new([1500]));
}

#[test]
fn an_unused_window_grows_or_stays() {
    for (grow_only_if_cwnd_limited, window) in [(false, 9.0), (true, 8.0)] {
        let mut script =
            written(|setup| setup.grow_only_if_cwnd_limited = grow_only_if_cwnd_limited);
        script.sender.write(script.now, 1000, false);
        assert_eq!(script.sent(), new([0]));
        script.ack(1);
        assert_eq!(script.window().0, window);
        // A full window grows in both cases, with each of its ACKs.
        let before = script.window().0;
        script.sender.write(script.now, 20_000, false);
        assert_eq!(script.sent().len(), before as usize);
        script.ack(3);
        assert_eq!(script.window().0, before + 1.0);
    }
}

#[test]
fn an_idle_sender_falls_back_to_its_initial_window() {
    for (restarts_idle, idle_ms, falls_back) in
        [(true, 2000, true), (true, 900, false), (false, 2000, false)]
    {
        let mut script = written(|setup| setup.restarts_idle = restarts_idle);
        script.sender.write(script.now, 8000, false);
        script.sent();
        script.ack(1);
        script.ack(8);
        let grown = script.window().0;
        assert_eq!(grown, 10.0);
        // The timer is fixed at 1 s and counts from the last segment that was sent.
        script.now = Time::from_ms(idle_ms);
        script.sender.write(script.now, 1000, false);
        let expected = if falls_back { 8.0 } else { grown };
        assert_eq!(script.window().0, expected, "{restarts_idle} {idle_ms}");
    }
}

#[test]
fn inflation_kept_apart_leaves_the_window_alone() {
    let mut setup = setup(recovery("reno", &[("inflation", "apart")]));
    setup.initial_window = 9.0;
    let mut script = Script::new(setup);
    assert_eq!(script.ack(1), new([9, 10]));
    for _ in 0..2 {
        assert_eq!(script.ack(1), []);
    }
    // Half of ten segments, and three duplicates beside it.
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    assert_eq!(script.window(), (5.0, 5.0));
    for _ in 0..2 {
        assert_eq!(script.ack(1), []);
    }
    // The sixth duplicate: 5 and 6 segments, of which ten are in flight.
    assert_eq!(script.ack(1), new([11]));
    assert_eq!(script.window(), (5.0, 5.0));
    assert_eq!(script.ack(12), new([12, 13, 14, 15, 16]));
    assert_eq!(script.window(), (5.0, 5.0));
}

#[test]
fn an_impatient_newreno_sends_two_segments_an_ack_and_keeps_its_timer() {
    let rules = [("inflation", "apart"), ("partial_timer", "first"), ("burst", "2")];
    let mut script = two_losses(recovery("newreno", &rules));
    assert_eq!(script.ack(1), [(1, Cause::FastRetransmit)]);
    // Partial ACKs of segment 3 and 5; only the first one restarts the timer.
    assert_eq!(script.ack(4)[0], (4, Cause::GapRetransmit));
    let timer = script.sender.next_timer();
    assert_eq!(timer, script.now + Time::from_secs(1));
    let sent = script.ack(6);
    assert_eq!(sent[0], (6, Cause::GapRetransmit));
    assert!(sent.len() <= 3, "{sent:?}");
    assert_eq!(script.sender.next_timer(), timer);
}

#[test]
fn what_a_partial_ack_repairs_while_going_back_leaves_once_or_twice() {
    let again = |segment| (segment, Cause::GapRetransmit);
    for (repaired, sent) in [("sent", vec![again(7)]), ("unsent", vec![again(7), again(7)])] {
        let mut script =
            two_losses(recovery("newreno", &[("guard", "none"), ("repaired", repaired)]));
        assert_eq!(script.expire(), [(1, Cause::Timeout)]);
        // Without a guard three duplicates count as a loss, though the sender goes back.
        let repair: Vec<_> = (0..3).flat_map(|_| script.ack(1)).collect();
        assert_eq!(repair[0], (1, Cause::FastRetransmit));
        assert_eq!(script.ack(7), sent, "{repaired}");
    }
}
