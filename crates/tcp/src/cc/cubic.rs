//! CUBIC: the window is a cubic function of the time since the last loss.
//!
//! Source: RFC 9438. After a cut the window climbs back to where the loss was, W_max, ever more slowly, rests there,
//! and continues ever faster:
//!
//! ```text
//! W(t) = C (t - K)³ + W_max        K = cbrt((W_max - cwnd at t = 0) / C)
//! ```
//!
//! t is the time since congestion avoidance began, without the time in which the application limited the flow.
//! Each acknowledged segment brings the window nearer to W(t + RTT), by (target - cwnd) / cwnd; or takes it along
//! Reno's window with the same mean, where that is ahead (section 4.3). A loss leaves `decrease` of the window; if the
//! window was smaller than at the loss before, W_max is less than where it was (fast convergence, section 4.7).
//!
//! `arithmetic: linux` is that of `tcp_cubic.c`: whole segments, a clock of ticks, and the differences that
//! [`whole`] names. How slow start may end before a loss is a matter of [`hystart`](super::hystart).
//!
//! DEVIATION: where the Reno-friendly region would shrink a window that is ahead of it by part of a segment,
//! the window stays (section 4.3 sets it).
//! DEVIATION: a mark cuts to no less than two segments; section 4.6 lets the window fall to one.
//! DEVIATION: the cut of ABE (RFC 8511) applies in slow start, too.

mod real;
mod whole;

use super::growth::{COUNTING, Counting, ECN_DECREASE, EcnDecrease};
use super::hystart::{HYSTART, HyStart};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Signal, StateEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};
use real::Real;
use whole::Whole;

pub(super) static ENTRY: Entry = Entry {
    name: "cubic",
    summary: help("The window is a cubic function of the time since the last loss."),
    references: &[
        "RFC 9438",
        "Ha, Rhee, Xu 2008",
        "Linux, `tcp_cubic.c`, for `arithmetic: linux`",
        "RFC 8511 for `ecn_decrease`",
        "RFC 9406 and Ha, Rhee 2011 for `hystart`",
    ],
    params: &[
        Param::new(
            "c",
            Kind::Real,
            "0.4",
            "Scaling constant C of the cubic function, segments/s³ (RFC 9438 5.1).",
        )
        .at_least("0.01")
        .at_most("1000"),
        Param::new(
            "decrease",
            Kind::Real,
            "0.7",
            "Window reduction factor at a loss (RFC 9438 4.6).",
        )
        .at_least("0.01")
        .at_most("0.99"),
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("flight", "of the data in flight (RFC 9438 4.6)"),
                Choice::new("cwnd", "of the window (Linux)"),
            ]),
            "flight",
            "What a loss cuts.",
        ),
        Param::new(
            "fast_convergence",
            Kind::Flag,
            "true",
            "Whether a flow releases bandwidth when it sees a loss at a smaller window than before (RFC 9438 4.7).",
        ),
        Param::new(
            "reno_friendly",
            Kind::Flag,
            "true",
            "Whether the window is at least as large as Reno's (RFC 9438 4.3).",
        ),
        COUNTING,
        HYSTART,
        Param::new(
            "arithmetic",
            Kind::Choice(&[
                Choice::new("real", "windows and times are real numbers (RFC 9438)"),
                Choice::new("linux", "whole segments, and ticks of a clock (Linux)"),
            ]),
            "real",
            "How the window is computed.",
        ),
        Param::new("hz", Kind::Count, "250", "Clock ticks per second, with `arithmetic: linux`.")
            .at_least("100")
            .at_most("1000"),
        ECN_DECREASE,
    ],
    label: "CUBIC",
    check: Some(hz_needs_ticks),
    ..Entry::BLANK
};

fn hz_needs_ticks(chosen: &Chosen) -> Result<(), Clash> {
    if chosen.word("arithmetic") != "linux" && chosen.int("hz") != 250 {
        return Err(Clash::without_effect("hz", "`arithmetic: linux`"));
    }
    Ok(())
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Cubic {
    law: Law,
    hystart: HyStart,
    counting: Counting,
    decrease: f64,
    from_flight: bool,
    ecn_decrease: EcnDecrease,
}

/// How the window grows after slow start.
#[derive(Debug, Clone)]
enum Law {
    Real(Real),
    Whole(Whole),
}

impl Cubic {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            law: match chosen.word("arithmetic") {
                "linux" => Law::Whole(Whole::new(chosen)),
                _ => Law::Real(Real::new(chosen)),
            },
            hystart: HyStart::new(chosen),
            counting: Counting::new(chosen),
            decrease: chosen.real("decrease"),
            from_flight: chosen.word("decrease_from") == "flight",
            ecn_decrease: EcnDecrease::new(chosen),
        }
    }
}

impl CongestionControl for Cubic {
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        // What is measured in the second after a cut still shows the queue of before (Linux).
        let fresh = match &self.law {
            Law::Real(real) => real.is_fresh(ack.now),
            Law::Whole(whole) => whole.is_fresh(ack.now),
        };
        if fresh {
            return;
        }
        if let Law::Whole(whole) = &mut self.law {
            whole.on_delay(rtt);
        }
        self.hystart.on_sample(window, ack, rtt);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        match &mut self.law {
            Law::Real(real) => {
                real.keep_time(window, ack);
                if !ack.may_grow {
                    return;
                }
                let mut counted = self.counting.of(ack, window.segment);
                if window.in_slow_start() {
                    let step = self.hystart.step(counted, window.segment);
                    let room = window.ssthresh - window.cwnd;
                    window.cwnd += step.min(room);
                    if step <= room {
                        return;
                    }
                    counted = step - room;
                }
                real.grow(window, ack, counted);
            }
            Law::Whole(whole) => {
                if !ack.may_grow {
                    return;
                }
                let mut acked = self.counting.of(ack, 1.0) as u32;
                if window.in_slow_start() {
                    acked = whole.slow_start(window, self.hystart.step(f64::from(acked), 1.0));
                    if acked == 0 {
                        return;
                    }
                }
                whole.grow(window, ack.now, acked);
            }
        }
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let left = self.ecn_decrease.left(loss.signal, self.decrease);
        let from = if self.from_flight { loss.flight } else { window.cwnd };
        let timeout = loss.signal == Signal::Timeout;
        self.hystart.on_loss(loss);
        match &mut self.law {
            Law::Real(real) => {
                real.on_loss(window.cwnd / window.segment, left, timeout);
                Some(from * left)
            }
            Law::Whole(whole) => Some(whole.on_loss(window.cwnd, from, left, timeout)),
        }
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.hystart.restart(change.now, change.nxt);
            match &mut self.law {
                Law::Real(real) => real.reset(),
                Law::Whole(whole) => whole.reset(),
            }
        }
    }

    fn on_undo(&mut self, window: &mut Window, before: f64) {
        window.cwnd = window.cwnd.max(before);
        if let Law::Real(real) = &mut self.law {
            real.undo();
        }
    }

    fn on_send_from_idle(&mut self, _window: &mut Window, now: Time, idle: Time, _limited: bool) {
        if let Law::Whole(whole) = &mut self.law {
            whole.skip(now, idle);
        }
    }

    fn counts_segments(&self) -> bool {
        matches!(self.law, Law::Whole(_))
    }

    fn heeds_marks(&self) -> bool {
        self.ecn_decrease.is_own()
    }

    fn needs_send_times(&self) -> bool {
        self.hystart.needs_rtt()
    }
}

#[cfg(test)]
mod tests;
