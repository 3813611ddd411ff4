//! BIC: after a loss a binary search for the window of before, then a search beyond it.
//!
//! Source: Xu, Harfoush and Rhee, "Binary increase congestion control (BIC) for fast long-distance networks", INFOCOM
//! 2004; Linux, `tcp_bic.c`, whose constants these are. With d = (last_max - cwnd) / 4, rounded down:
//!
//! ```text
//! segments per round trip      up to `low_window`: 1
//!   below last_max           d > max_increment: max_increment;   d <= 1: 4 / smooth_part;   else d
//!   above it                 up to 4 more: 4 / smooth_part;  up to 3 max_increment more: (cwnd - last_max) / 3;
//!                            else max_increment
//! before any loss            at least cwnd / smooth_part
//! a loss leaves 0.8 of the window (half up to `low_window`)
//! ```
//!
//! last_max is the window at the loss, or (1 + 0.8) / 2 of it, if the window before was larger (fast convergence). A
//! timeout forgets it.
//!
//! DEVIATION: windows are real numbers, and so are steps but d. Linux counts whole segments, renews the step at most 32 times per second, and
//! multiplies it by an estimate of the segments that an ACK acknowledges, which makes it twice as fast with delayed
//! ACKs, since it counts segments, too.

use super::growth::climb;
use super::{AckEvent, CongestionControl, LossEvent, Signal, Window};
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "bic",
    summary: help("Binary search for the window of the last loss; CUBIC's forerunner."),
    references: &["Xu, Harfoush and Rhee 2004", "Linux, `tcp_bic.c`"],
    params: &[
        Param::new(
            "decrease",
            Kind::Real,
            "0.8",
            "Window reduction factor at a loss (Linux: 819/1024).",
        )
        .at_least("0.1")
        .at_most("0.99"),
        Param::new(
            "max_increment",
            Kind::Real,
            "16",
            "Maximum increase per round trip, in segments.",
        )
        .at_least("1")
        .at_most("1e6"),
        Param::new(
            "low_window",
            Kind::Real,
            "14",
            "Window, in segments, up to which it behaves as Reno.",
        )
        .at_least("0")
        .at_most("1e6"),
        Param::new("smooth_part", Kind::Real, "20", "Round trips for four segments near last_max.")
            .at_least("1")
            .at_most("1e6"),
        Param::new(
            "fast_convergence",
            Kind::Flag,
            "true",
            "Whether a flow releases bandwidth when it sees a loss at a smaller window than before.",
        ),
    ],
    label: "BIC",
    ..Entry::BLANK
};

/// Parts of the way to last_max of which a round trip goes one.
const PARTS: f64 = 4.0;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Bic {
    decrease: f64,
    max_increment: f64,
    low_window: f64,
    smooth_part: f64,
    fast_convergence: bool,
    /// Segments at the last loss; 0 before any.
    last_max: f64,
}

impl Bic {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            decrease: chosen.real("decrease"),
            max_increment: chosen.real("max_increment"),
            low_window: chosen.real("low_window"),
            smooth_part: chosen.real("smooth_part"),
            fast_convergence: chosen.flag("fast_convergence"),
            last_max: 0.0,
        }
    }

    /// Segments that a round trip adds to a window of so many.
    fn increase(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window {
            return 1.0;
        }
        let slow = PARTS / self.smooth_part;
        let step = if cwnd < self.last_max {
            let part = ((self.last_max - cwnd.floor()) / PARTS).floor();
            if part <= 1.0 { slow } else { part }
        } else {
            let beyond = cwnd - self.last_max;
            if beyond < PARTS { slow } else { beyond / (PARTS - 1.0) }
        };
        let step = step.min(self.max_increment);
        if self.last_max == 0.0 { step.max(cwnd / self.smooth_part) } else { step }
    }
}

impl CongestionControl for Bic {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            let segments = window.cwnd / window.segment;
            window.cwnd += window.segment * self.increase(segments) * acked / segments;
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let segments = window.cwnd / window.segment;
        self.last_max = if loss.signal == Signal::Timeout {
            0.0
        } else if self.fast_convergence && segments < self.last_max {
            segments * (1.0 + self.decrease) / 2.0
        } else {
            segments
        };
        Some(window.cwnd * if segments <= self.low_window { 0.5 } else { self.decrease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::Time;

    fn bic() -> Bic {
        Bic {
            decrease: 0.8,
            max_increment: 16.0,
            low_window: 14.0,
            smooth_part: 20.0,
            fast_convergence: true,
            last_max: 0.0,
        }
    }

    fn loss(signal: Signal) -> LossEvent {
        LossEvent {
            now: Time::from_secs(1),
            signal,
            flight: 0.0,
            limit: f64::INFINITY,
            transmissions: 1,
        }
    }

    /// Round trips from 0.8 of the window to the window, and to 48 segments more.
    #[test]
    fn the_search_takes_as_many_round_trips_as_its_rules_say() {
        for (last_max, to, beyond) in
            [(100.0, 40, 68), (500.0, 47, 75), (1000.0, 53, 81), (5000.0, 103, 131)]
        {
            let mut cc = bic();
            let mut window = Window { cwnd: last_max, ssthresh: 0.0, segment: 1.0 };
            window.cwnd = cc.on_loss(&window, &loss(Signal::Gap)).unwrap();
            window.ssthresh = window.cwnd;
            let (mut rounds, mut reached) = (0_i32, None);
            while window.cwnd < last_max + 48.0 {
                for _ in 0..window.cwnd as u32 {
                    cc.on_ack(&mut window, &AckEvent { newly_acked: 1.0, ..AckEvent::default() });
                }
                rounds += 1;
                if window.cwnd >= last_max {
                    reached.get_or_insert(rounds);
                }
            }
            // In Linux's whole numbers, as a script of its rules gives them.
            let reached = reached.unwrap();
            assert!((reached - to).abs() <= 5, "{last_max}: {reached}");
            assert!((rounds - beyond).abs() <= 5, "{last_max}: {rounds}");
        }
    }

    #[test]
    fn a_loss_below_the_last_one_leaves_room_and_a_timeout_forgets() {
        let mut cc = bic();
        let window = |cwnd| Window { cwnd, ssthresh: 10.0, segment: 1.0 };
        assert_eq!(cc.on_loss(&window(100.0), &loss(Signal::Gap)), Some(80.0));
        assert_eq!(cc.last_max, 100.0);
        cc.on_loss(&window(90.0), &loss(Signal::Gap));
        assert!((cc.last_max - 81.0).abs() < 1e-9);
        assert_eq!(cc.on_loss(&window(10.0), &loss(Signal::Timeout)), Some(5.0));
        assert_eq!((cc.last_max, cc.increase(200.0)), (0.0, 16.0));
    }
}
