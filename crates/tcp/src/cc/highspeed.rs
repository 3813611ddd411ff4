//! HighSpeed TCP: the larger the window, the faster it grows and the less a loss cuts.
//!
//! Source: Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649 section 5. Up to `low_window` segments it is
//! Reno. Above, a response function is a straight line between two points on logarithmic axes: `low_window` at a loss
//! rate of 10^-3, and `high_window` at `high_p`. A window of w segments, at a loss rate p(w), is cut by b(w) and grows
//! by a(w) segments per round trip:
//!
//! ```text
//! S    = ln(high_window / low_window) / ln(high_p / 10^-3)        p(w) = 10^-3 (w / low_window)^(1/S)
//! b(w) = 1/2 - (1/2 - high_decrease) ln(w / low_window) / ln(high_window / low_window)
//! a(w) = 2 w² p(w) b(w) / (2 - b(w)), at least 1
//! ```
//!
//! The table in the standard's appendix is made with rounded constants; a(w) lies up to 4 % above it.
//!
//! DEVIATION: all that is acknowledged counts, in slow start, too, however the receiver acknowledges; the standard and
//! `tcp_highspeed.c` of Linux count ACKs.
//! DEVIATION: no limited slow start (RFC 3742), as in Linux.

use super::growth::climb;
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_math::elementary::{ln, pow};
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "highspeed",
    summary: help(
        "Large windows grow faster and are reduced less, so that rare losses do not limit fast links.",
    ),
    references: &["RFC 3649"],
    params: &[
        Param::new(
            "low_window",
            Kind::Real,
            "38",
            "Window, in segments, up to which it behaves as Reno.",
        )
        .at_least("2")
        .at_most("1e6"),
        Param::new("high_window", Kind::Real, "83000", "Segments at a loss rate of `high_p`.")
            .at_least("3")
            .at_most("1e9"),
        Param::new(
            "high_p",
            Kind::Real,
            "1e-7",
            "Loss rate at which the window has `high_window` segments.",
        )
        .at_least("1e-15")
        .at_most("5e-4"),
        Param::new(
            "high_decrease",
            Kind::Real,
            "0.1",
            "Fraction by which a loss reduces a window of `high_window` segments.",
        )
        .at_least("0.001")
        .at_most("0.5"),
    ],
    label: "HighSpeed",
    check: Some(low_below_high),
    ..Entry::BLANK
};

fn low_below_high(chosen: &Chosen) -> Result<(), Clash> {
    let (low, high) = (chosen.real("low_window"), chosen.real("high_window"));
    if low < high {
        return Ok(());
    }
    Err(Clash {
        param: "low_window",
        message: format!("`low_window` ({low}) is not below `high_window` ({high})"),
        hint: Some("between the two the window grows faster than Reno's".into()),
    })
}

/// Loss rate at which Reno's window has `low_window` segments, roughly (RFC 3649 section 5).
const LOW_P: f64 = 1e-3;

/// Constants, and what holds for the present window.
#[derive(Debug, Clone)]
pub struct HighSpeed {
    low_window: f64,
    high_decrease: f64,
    /// ln(high_window / low_window).
    span: f64,
    /// 1/S.
    slope: f64,
    /// Whole segments of the window for which `increase` was worked out.
    known: f64,
    increase: f64,
}

impl HighSpeed {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let low_window = chosen.real("low_window");
        let span = ln(chosen.real("high_window") / low_window);
        Self {
            low_window,
            high_decrease: chosen.real("high_decrease"),
            span,
            slope: ln(chosen.real("high_p") / LOW_P) / span,
            known: 0.0,
            increase: 1.0,
        }
    }

    /// b(w).
    fn decrease(&self, segments: f64) -> f64 {
        if segments <= self.low_window {
            return 0.5;
        }
        let part = ln(segments / self.low_window) / self.span;
        (0.5 - (0.5 - self.high_decrease) * part).max(self.high_decrease)
    }

    /// a(w).
    fn increase(&self, segments: f64) -> f64 {
        if segments <= self.low_window {
            return 1.0;
        }
        let p = LOW_P * pow(segments / self.low_window, self.slope);
        let b = self.decrease(segments);
        (2.0 * segments * segments * p * b / (2.0 - b)).max(1.0)
    }
}

impl CongestionControl for HighSpeed {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            let segments = window.cwnd / window.segment;
            // Logarithms are worked out once for each segment of the window.
            if segments.floor() != self.known {
                self.known = segments.floor();
                self.increase = self.increase(self.known);
            }
            window.cwnd += window.segment * self.increase * acked / segments;
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd * (1.0 - self.decrease(window.cwnd / window.segment)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn highspeed() -> HighSpeed {
        HighSpeed::new(&Chosen {
            kind: "highspeed".into(),
            values: vec![
                ("low_window".into(), Value::Real(38.0)),
                ("high_window".into(), Value::Real(83000.0)),
                ("high_p".into(), Value::Real(1e-7)),
                ("high_decrease".into(), Value::Real(0.1)),
            ],
        })
    }

    /// RFC 3649, appendix B: windows, increases, decreases.
    #[test]
    fn windows_grow_and_are_cut_as_the_table_of_the_standard_says() {
        let table = [
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (5036.0, 20.0, 0.25),
            (9991.0, 29.0, 0.21),
            (25618.0, 46.0, 0.16),
            (84035.0, 71.0, 0.10),
        ];
        let cc = highspeed();
        for (w, a, b) in table {
            let (increase, decrease) = (cc.increase(w), cc.decrease(w));
            assert!((increase / a - 1.0).abs() < 0.05, "a({w}) = {increase}, table {a}");
            assert!((decrease - b).abs() < 0.006, "b({w}) = {decrease}, table {b}");
        }
        assert_eq!((cc.increase(38.0), cc.decrease(20.0)), (1.0, 0.5));
    }

    #[test]
    fn a_round_trip_of_acks_brings_what_the_table_says() {
        let mut cc = highspeed();
        let mut window = Window { cwnd: 1058.0, ssthresh: 10.0, segment: 1.0 };
        let ack = AckEvent { newly_acked: 2.0, ..AckEvent::default() };
        for _ in 0..529 {
            cc.on_ack(&mut window, &ack);
        }
        assert!((window.cwnd - 1058.0 - cc.increase(1062.0)).abs() < 0.1, "{}", window.cwnd);
    }

    #[test]
    fn the_points_of_the_response_function_are_in_order() {
        let chosen = |low| Chosen {
            kind: "highspeed".into(),
            values: vec![
                ("low_window".into(), Value::Real(low)),
                ("high_window".into(), Value::Real(83000.0)),
            ],
        };
        assert!(low_below_high(&chosen(38.0)).is_ok());
        assert_eq!(low_below_high(&chosen(83000.0)).unwrap_err().param, "low_window");
    }
}
