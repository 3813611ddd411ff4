//! Reno: slow start, then one segment per round trip; halves on a loss.
//!
//! Source: RFC 5681 section 3.1. In slow start each ACK adds the data it acknowledges, at most one
//! segment; in congestion avoidance each ACK adds segment²/cwnd (equation 3), whatever it acknowledges. With
//! delayed ACKs that is half a segment per round trip. `counting: bytes` is appropriate byte counting (RFC 3465
//! without its limit; Linux, `tcp_reno_cong_avoid`): an ACK of n bytes adds n · segment/cwnd, one segment a
//! round trip however the receiver acknowledges, and what an ACK has beyond the end of slow start counts so.
//! A loss asks for half
//! of the flight size (equation 4) or, as an option, half of the window. The floor of two segments,
//! the window after a timeout and fast recovery are the sender's and the recovery's.
//!
//! `arithmetic: linux` is that of `tcp_slow_start` and `tcp_cong_avoid_ai`: windows are whole segments; the
//! acknowledged segments are counted until there are as many as the window has, and forgotten when it is cut; half
//! of a window is cut to whole segments. `ecn_decrease` is ABE (RFC 8511 section 3.1): a mark cuts less than a loss.
//!
//! DEVIATION: the window also grows when the flow does not use it (no RFC 7661 validation).

use super::growth::{COUNTING, Counting, Credit, ECN_DECREASE, EcnDecrease};
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "reno",
    summary: help("Slow start, then one segment per round trip; halves on a loss."),
    references: &[
        "RFC 5681 section 3.1",
        "RFC 3465 for `counting: bytes`",
        "RFC 8511 for `ecn_decrease`",
        "Linux, `tcp_cong.c`, for `arithmetic: linux`",
    ],
    params: &[
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("flight", "half of the data in flight (RFC 5681 equation 4)"),
                Choice::new("cwnd", "half of cwnd, as in Linux and the Caltech simulator"),
                Choice::new("usable", "half of the smaller of cwnd and the receive window (ns-2)"),
            ]),
            "flight",
            "What a loss halves.",
        ),
        COUNTING,
        Param::new(
            "arithmetic",
            Kind::Choice(&[
                Choice::new("real", "windows are real numbers"),
                Choice::new(
                    "whole",
                    "whole bytes: increases and halves are rounded down, an increase is at least 1 byte (RFC \
                     5681 section 3.1, ns-3)",
                ),
                Choice::new(
                    "linux",
                    "whole segments: acknowledged data accumulate until they make up a segment, halves are rounded down",
                ),
            ]),
            "real",
            "Arithmetic of window updates.",
        ),
        ECN_DECREASE,
    ],
    label: "Reno",
    ..Entry::BLANK
};

/// Options, and with whole segments what does not make one yet; the window holds the rest.
#[derive(Debug, Clone)]
pub struct Reno {
    credit: Credit,
    ecn_decrease: EcnDecrease,
    decrease_from: From,
    counting: Counting,
    arithmetic: Arithmetic,
}

// All flows have room for the largest algorithm that is in no box.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<super::Cc>() == 16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arithmetic {
    Real,
    /// Whole bytes.
    Whole,
    /// Whole segments.
    Linux,
}

/// What a loss halves.
#[derive(Debug, Clone, Copy)]
enum From {
    Flight,
    Cwnd,
    Usable,
}

impl Reno {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            decrease_from: match chosen.word("decrease_from") {
                "cwnd" => From::Cwnd,
                "usable" => From::Usable,
                _ => From::Flight,
            },
            counting: Counting::new(chosen),
            arithmetic: match chosen.word("arithmetic") {
                "whole" => Arithmetic::Whole,
                "linux" => Arithmetic::Linux,
                _ => Arithmetic::Real,
            },
            credit: Credit::default(),
            ecn_decrease: EcnDecrease::new(chosen),
        }
    }
}

impl Reno {
    /// Growth by whole segments.
    fn grow_whole(&mut self, window: &mut Window, ack: &AckEvent) {
        let mut acked = self.counting.of(ack, 1.0) as u32;
        if window.in_slow_start() {
            acked = Credit::slow_start(window, acked);
        }
        if acked > 0 {
            self.credit.grow(window, window.cwnd as u32, acked);
        }
    }
}

impl CongestionControl for Reno {
    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if !ack.may_grow {
            return;
        }
        if self.arithmetic == Arithmetic::Linux {
            return self.grow_whole(window, ack);
        }
        let mut counted = window.segment;
        if window.in_slow_start() {
            let by = self.counting.of(ack, window.segment);
            if self.counting != Counting::Bytes || window.cwnd + by <= window.ssthresh {
                window.cwnd += by;
                return;
            }
            counted = by - (window.ssthresh - window.cwnd);
            window.cwnd = window.ssthresh;
        } else if self.counting == Counting::Bytes {
            counted = ack.newly_acked;
        }
        let step = window.segment * counted / window.cwnd;
        window.cwnd +=
            if self.arithmetic == Arithmetic::Whole { step.floor().max(1.0) } else { step };
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let from = match self.decrease_from {
            From::Flight => loss.flight,
            From::Cwnd => window.cwnd,
            From::Usable => window.cwnd.min(loss.limit),
        };
        self.credit.forget();
        let left = from * self.ecn_decrease.left(loss.signal, 0.5);
        Some(if self.arithmetic == Arithmetic::Real { left } else { left.floor() })
    }

    fn counts_segments(&self) -> bool {
        self.arithmetic == Arithmetic::Linux
    }

    fn heeds_marks(&self) -> bool {
        self.ecn_decrease.is_own()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::*;
    use ackclock_units::Time;
    use ackclock_units::param::Value;

    fn reno(from: &str) -> Reno {
        Reno::new(&Chosen {
            kind: "reno".into(),
            values: vec![
                ("decrease_from".into(), Value::Word(from.into())),
                ("counting".into(), Value::Word("capped-bytes".into())),
                ("arithmetic".into(), Value::Word("real".into())),
            ],
        })
    }

    fn ack(may_grow: bool) -> AckEvent<'static> {
        AckEvent {
            now: Time::from_ms(1),
            rtt: None,
            base_rtt: Time::from_ms(1),
            newly_acked: 1.0,
            flight: 4.0,
            may_grow,
            ..AckEvent::default()
        }
    }

    #[test]
    fn the_window_doubles_in_slow_start_and_adds_one_segment_a_window_after_it() {
        let mut window = Window { cwnd: 1.0, ssthresh: 8.0, segment: 1.0 };
        let mut cc = reno("flight");
        for round in 1..=3 {
            for _ in 0..window.cwnd as u32 {
                cc.on_ack(&mut window, &ack(true));
            }
            assert_eq!(window.cwnd, f64::from(1 << round));
        }
        for _ in 0..8 {
            cc.on_ack(&mut window, &ack(true));
        }
        assert!((8.9..9.0).contains(&window.cwnd), "{}", window.cwnd);
        cc.on_ack(&mut window, &ack(false));
        assert!((8.9..9.0).contains(&window.cwnd));
    }

    /// A round trip of delayed ACKs, each of two segments.
    fn round_of_pairs(counting: Counting) -> f64 {
        let mut window = Window { cwnd: 20.0, ssthresh: 8.0, segment: 1.0 };
        let mut cc = Reno { counting, ..reno("flight") };
        for _ in 0..10 {
            cc.on_ack(&mut window, &AckEvent { newly_acked: 2.0, ..ack(true) });
        }
        window.cwnd - 20.0
    }

    #[test]
    fn bytes_add_a_segment_a_round_trip_and_acks_half_of_one_where_they_are_delayed() {
        assert!((0.95..1.0).contains(&round_of_pairs(Counting::Bytes)));
        for counting in [Counting::CappedBytes, Counting::Acks] {
            assert!((0.48..0.5).contains(&round_of_pairs(counting)));
        }
    }

    #[test]
    fn what_bytes_have_beyond_the_threshold_counts_as_after_it() {
        let mut window = Window { cwnd: 7.0, ssthresh: 8.0, segment: 1.0 };
        let mut cc = Reno { counting: Counting::Bytes, ..reno("flight") };
        cc.on_ack(&mut window, &AckEvent { newly_acked: 5.0, ..ack(true) });
        assert_eq!(window.cwnd, 8.5);
    }

    const LOSS: LossEvent = LossEvent {
        now: Time::ZERO,
        signal: Signal::Gap,
        flight: 12.0,
        limit: 16.0,
        transmissions: 1,
    };

    #[test]
    fn whole_bytes_are_cut_and_a_step_is_one_byte_at_least() {
        let mut window = Window { cwnd: 300.0, ssthresh: 300.0, segment: 128.0 };
        let mut cc =
            Reno { arithmetic: Arithmetic::Whole, counting: Counting::Acks, ..reno("cwnd") };
        cc.on_ack(&mut window, &ack(true));
        assert_eq!(window.cwnd, 354.0);
        window.cwnd = 65_535.0;
        cc.on_ack(&mut window, &ack(true));
        assert_eq!(window.cwnd, 65_536.0);
        window.cwnd = 301.0;
        assert_eq!(cc.on_loss(&window, &LOSS), Some(150.0));
        // In slow start an ACK may count as a segment, whatever it acknowledges.
        window.ssthresh = 1000.0;
        cc.on_ack(&mut window, &ack(true));
        assert_eq!(window.cwnd, 429.0);
    }

    #[test]
    fn in_whole_segments_a_round_trip_adds_one_with_delayed_acks_too() {
        let mut cc =
            Reno { arithmetic: Arithmetic::Linux, counting: Counting::Bytes, ..reno("cwnd") };
        let mut window = Window { cwnd: 10.0, ssthresh: 11.0, segment: 1.0 };
        let pair = AckEvent { newly_acked: 2.0, ..ack(true) };
        // One of the first two ends slow start, the other counts after it.
        for segments in [11.0, 11.0, 11.0, 11.0, 11.0, 12.0] {
            cc.on_ack(&mut window, &pair);
            assert_eq!(window.cwnd, segments);
        }
        window.cwnd = 23.0;
        assert_eq!(cc.on_loss(&window, &LOSS), Some(11.0));
        assert_eq!(cc.credit, Credit::default());
    }

    /// Vectors of RFC 8511 section 3.1 for a flight of 1000 segments.
    #[test]
    fn a_mark_may_cut_less_than_a_loss() {
        let chosen = |left| Chosen {
            kind: "reno".into(),
            values: vec![
                ("decrease_from".into(), Value::Word("flight".into())),
                ("counting".into(), Value::Word("capped-bytes".into())),
                ("arithmetic".into(), Value::Word("real".into())),
                ("ecn_decrease".into(), left),
            ],
        };
        let window = Window { cwnd: 1200.0, ssthresh: 8.0, segment: 1.0 };
        let loss = LossEvent { flight: 1000.0, ..LOSS };
        let mark = LossEvent { signal: Signal::Ecn, ..loss };
        for (left, after_mark) in [(Value::Null, 500.0), (Value::Real(0.8), 800.0)] {
            let mut cc = Reno::new(&chosen(left));
            assert_eq!(cc.on_loss(&window, &loss), Some(500.0));
            assert_eq!(cc.on_loss(&window, &mark), Some(after_mark));
        }
    }

    #[test]
    fn a_loss_halves_what_it_is_told_to() {
        let window = Window { cwnd: 20.0, ssthresh: 8.0, segment: 1.0 };
        assert_eq!(reno("flight").on_loss(&window, &LOSS), Some(6.0));
        assert_eq!(reno("cwnd").on_loss(&window, &LOSS), Some(10.0));
        assert_eq!(reno("usable").on_loss(&window, &LOSS), Some(8.0));
    }
}
