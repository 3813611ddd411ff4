//! Congestion notification between the ends of the classic family (RFC 3168 section 6.1).

mod setup;

use ackclock_tcp::cc::Cc;
use ackclock_tcp::classic::{Classic, Recovery, Sender, Setup};
use ackclock_tcp::{Ack, Cause, Ends, Flags, Receiver, Segment};
use ackclock_units::Time;
use ackclock_units::param::Value;
use setup::{chosen, setup, word};

const MSS: u32 = 1000;

/// Two ends, and the segments that are on their way.
struct Pair {
    ends: Classic,
    now: Time,
    flying: Vec<Segment>,
}

impl Pair {
    /// A window of eight segments in congestion avoidance, all of them sent.
    fn new(ecn: bool) -> Self {
        let recovery = [
            ("later_data", word("unsent")),
            ("threshold", Value::Int(3)),
            ("guard", word("recover")),
            ("repeat", word("once")),
            ("limited_transmit", Value::Flag(false)),
            ("count_after_timeout", word("anew")),
            ("inflation", word("window")),
            ("grow_on_exit", Value::Flag(false)),
        ];
        let reno = [
            ("decrease_from", word("cwnd")),
            ("counting", word("capped-bytes")),
            ("arithmetic", word("real")),
        ];
        let sender = Sender::new(Setup {
            ecn,
            initial_ssthresh: 8000.0,
            ..setup(Recovery::new(&chosen("reno", &recovery)), Cc::new(&chosen("reno", &reno)))
        });
        let receiver = Receiver::new(&chosen("immediate", &[("buffer", word("bytes"))]));
        let mut pair =
            Self { ends: Classic::of(sender, receiver), now: Time::ZERO, flying: Vec::new() };
        pair.ends.start(Time::ZERO);
        pair.send();
        pair
    }

    fn send(&mut self) {
        while let Some(segment) = self.ends.poll_transmit(self.now) {
            self.flying.push(segment);
        }
    }

    /// The oldest segment on its way arrives, and its ACK.
    fn deliver(&mut self, marked: bool) -> Ack {
        self.now += Time::from_ms(1);
        let segment = self.flying.remove(0);
        assert!(!marked || segment.flags != Flags::NONE, "only capable segments are marked");
        let marks = segment.flags.with_if(marked, Flags::MARKED);
        let Segment { seq, payload, .. } = segment;
        let ack = self.ends.on_data(self.now, seq, payload, Time::ZERO, marks);
        let ack = ack.expect("each segment is acknowledged");
        self.ends.on_ack(self.now, ack.fields, ack.ece);
        self.send();
        ack
    }

    fn cwnd(&self) -> f64 {
        self.ends.window().cwnd
    }
}

#[test]
fn without_ecn_nothing_may_be_marked() {
    assert!(Pair::new(false).flying.iter().all(|segment| segment.flags == Flags::NONE));
    assert!(Pair::new(true).flying.iter().all(|segment| segment.flags == Flags::CAPABLE));
}

#[test]
fn a_mark_halves_the_window_once_and_is_echoed_until_the_sender_says_that_it_did() {
    let mut pair = Pair::new(true);
    assert!(!pair.deliver(false).ece);
    let before = pair.cwnd();
    assert!(pair.deliver(true).ece);
    assert_eq!((pair.cwnd(), pair.ends.window().ssthresh), (before / 2.0, before / 2.0));
    assert_eq!((pair.ends.ecn_reductions(), pair.ends.in_recovery()), (1, false));
    // Nothing is retransmitted. Other marks of the same window, and echoes, change nothing, nor does the window grow.
    let half = pair.cwnd();
    let mut echoed = 0;
    while !pair.flying[0].flags.has(Flags::REDUCED) {
        assert!(pair.deliver(echoed == 1).ece);
        assert_eq!(pair.cwnd(), half);
        echoed += 1;
    }
    assert!(pair.flying.iter().all(|segment| segment.seq >= 8 * MSS));
    assert!(echoed >= 6, "{echoed}");
    // The segment with CWR ends the echo; a mark in the window that follows cuts again.
    assert!(!pair.deliver(false).ece);
    assert!(pair.cwnd() > half);
    assert!(pair.deliver(true).ece);
    assert_eq!(pair.ends.ecn_reductions(), 2);
}

#[test]
fn a_marked_segment_that_says_that_the_window_was_cut_is_echoed_anew() {
    let mut pair = Pair::new(true);
    pair.deliver(true);
    while !pair.flying[0].flags.has(Flags::REDUCED) {
        pair.deliver(false);
    }
    assert!(pair.deliver(true).ece);
}

#[test]
fn a_loss_in_a_window_that_a_mark_has_cut_is_repaired_without_another_cut() {
    let mut pair = Pair::new(true);
    pair.deliver(true);
    let half = pair.cwnd();
    pair.flying.remove(0);
    for _ in 0..3 {
        pair.deliver(false);
    }
    let again = pair.flying.iter().find(|segment| segment.cause == Cause::FastRetransmit);
    let again = again.expect("the third duplicate sends the segment again");
    // What is retransmitted cannot be marked (section 6.1.5).
    assert_eq!((again.seq, again.flags), (MSS, Flags::NONE));
    assert_eq!(pair.ends.window().ssthresh, half);
    assert!(pair.ends.in_recovery());
}
