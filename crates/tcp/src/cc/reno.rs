//! Reno: slow start, then one segment a round trip; halves on a loss.
//!
//! Source: RFC 5681 section 3.1. In slow start each ACK adds the data it acknowledges, at most one
//! segment; in congestion avoidance each ACK adds segment²/cwnd (equation 3), whatever it acknowledges. With
//! delayed ACKs that is half a segment a round trip. `counting: bytes` is appropriate byte counting (RFC 3465
//! without its limit; Linux, `tcp_reno_cong_avoid`): an ACK of n bytes adds n · segment/cwnd, one segment a
//! round trip however the receiver acknowledges, and what an ACK has beyond the end of slow start counts so.
//! A loss asks for half
//! of the flight size (equation 4) or, as an option, half of the window. The floor of two segments,
//! the window after a timeout and fast recovery are the sender's and the recovery's.
//!
//! DEVIATION: the window also grows when the flow does not use it (no RFC 7661 validation).

use super::growth::{COUNTING, Counting};
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "reno",
    summary: "Slow start, then one segment per round trip; halves on a loss.",
    references: &["RFC 5681 section 3.1", "RFC 3465 for `counting: bytes`"],
    params: &[
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("flight", "half of the data in flight (RFC 5681 equation 4)"),
                Choice::new("cwnd", "half of the window, as Linux and the Caltech simulator do"),
                Choice::new(
                    "usable",
                    "half of the window or of the receiver's, if that is less (ns-2)",
                ),
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
                    "whole bytes: steps and halves are cut, a step is at least 1 byte (RFC 5681 \
                     section 3.1, ns-3)",
                ),
            ]),
            "real",
            "How steps of the window are computed.",
        ),
    ],
    label: "Reno",
    ..Entry::BLANK
};

/// State: none but the options; the window holds all of it.
#[derive(Debug, Clone)]
pub struct Reno {
    decrease_from: From,
    counting: Counting,
    whole: bool,
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
            whole: chosen.word("arithmetic") == "whole",
        }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if !ack.may_grow {
            return;
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
        window.cwnd += if self.whole { step.floor().max(1.0) } else { step };
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let from = match self.decrease_from {
            From::Flight => loss.flight,
            From::Cwnd => window.cwnd,
            From::Usable => window.cwnd.min(loss.limit),
        };
        let half = from / 2.0;
        Some(if self.whole { half.floor() } else { half })
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
        let mut cc = Reno { whole: true, counting: Counting::Acks, ..reno("cwnd") };
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
    fn a_loss_halves_what_it_is_told_to() {
        let window = Window { cwnd: 20.0, ssthresh: 8.0, segment: 1.0 };
        assert_eq!(reno("flight").on_loss(&window, &LOSS), Some(6.0));
        assert_eq!(reno("cwnd").on_loss(&window, &LOSS), Some(10.0));
        assert_eq!(reno("usable").on_loss(&window, &LOSS), Some(8.0));
    }
}
