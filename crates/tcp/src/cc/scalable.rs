//! Scalable TCP: a window grows by a hundredth for each round trip, and a loss takes an eighth.
//!
//! Source: Kelly, "Scalable TCP: Improving performance in highspeed wide area networks", ACM CCR 33(2), 2003; Linux,
//! `tcp_scalable.c`. In congestion avoidance each acknowledged segment adds `increase` segments, or what Reno adds
//! (1/cwnd), if that is more: up to 1 / `increase` segments it grows as Reno. A loss takes `decrease` of the window. So
//! it takes ln(1 / (1 - decrease)) / ln(1 + increase) = 13.4 round trips to make good a loss, however large the
//! window is. Flows whose losses coincide keep the ratio of their windows: that is the rule's, not a fault.
//!
//! DEVIATION: the paper has Reno's cut below its legacy window of 16 segments; Linux has one cut for all windows.

use super::growth::climb;
use super::{AckEvent, CongestionControl, LossEvent, Window};
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "scalable",
    summary: help(
        "Multiplicative increase: recovers from a loss in 13 round trips, however large the window is.",
    ),
    references: &["Kelly 2003", "Linux, `tcp_scalable.c`"],
    params: &[
        Param::new(
            "increase",
            Kind::Real,
            "0.01",
            "Segments that each acknowledged segment adds to large windows.",
        )
        .at_least("0")
        .at_most("1"),
        Param::new("decrease", Kind::Real, "0.125", "Fraction by which a loss reduces the window.")
            .at_least("0")
            .at_most("1"),
    ],
    label: "Scalable",
    ..Entry::BLANK
};

/// Options; the window holds the rest.
#[derive(Debug, Clone)]
pub struct Scalable {
    increase: f64,
    decrease: f64,
}

impl Scalable {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self { increase: chosen.real("increase"), decrease: chosen.real("decrease") }
    }
}

impl CongestionControl for Scalable {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            let reno = window.segment / window.cwnd;
            window.cwnd += window.segment * acked * self.increase.max(reno);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd * (1.0 - self.decrease))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds_to_recover(from: f64) -> u32 {
        let mut cc = Scalable { increase: 0.01, decrease: 0.125 };
        let mut window = Window { cwnd: from * 0.875, ssthresh: from * 0.875, segment: 1.0 };
        let mut rounds = 0;
        while window.cwnd < from {
            for _ in 0..window.cwnd as u32 {
                cc.on_ack(&mut window, &AckEvent { newly_acked: 1.0, ..AckEvent::default() });
            }
            rounds += 1;
        }
        rounds
    }

    #[test]
    fn a_loss_is_made_good_in_as_many_round_trips_for_any_window() {
        assert_eq!([400.0, 4000.0, 40000.0].map(rounds_to_recover), [14; 3]);
        // Below 100 segments it grows as Reno, by a little less than one a round trip: from 70 to 80.
        assert_eq!(rounds_to_recover(80.0), 11);
    }
}
