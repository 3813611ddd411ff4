//! Veno: Reno that takes losses with a short queue for those of a wireless link.
//!
//! Source: Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE JSAC 21(2),
//! 2003; Linux, `tcp_veno.c`. As Vegas it estimates how many segments of the flow wait in queues, from the newest
//! round-trip time and the least one:
//!
//! ```text
//! n = cwnd (rtt - base_rtt) / rtt
//! n < beta: a segment more a round trip;       a loss leaves 4/5 of the window
//! else:     a segment more every other one;    a loss leaves half
//! ```
//!
//! With fewer than three samples, and outside of the state Open, it is Reno.
//!
//! DEVIATION: the window grows by half of Reno's step in each round trip, where Linux makes a step in every second one.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Window};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "veno",
    summary: help(
        "Reno that reduces its window by only a fifth at losses without queueing, as on wireless links.",
    ),
    references: &["Fu and Liew 2003", "Linux, `tcp_veno.c`"],
    params: &[
        Param::new(
            "beta",
            Kind::Real,
            "3",
            "Queued packets from which a loss counts as congestion.",
        )
        .at_least("0")
        .at_most("1e6"),
        Param::new(
            "random_loss",
            Kind::Real,
            "0.8",
            "Window reduction factor at a loss with fewer packets queued.",
        )
        .at_least("0")
        .at_most("1"),
    ],
    label: "Veno",
    ..Entry::BLANK
};

/// Samples below which there is no estimate.
const FEW: u32 = 3;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Veno {
    beta: f64,
    random_loss: f64,
    base_rtt: Time,
    rtt: Time,
    samples: u32,
}

impl Veno {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            beta: chosen.real("beta"),
            random_loss: chosen.real("random_loss"),
            base_rtt: Time::NEVER,
            rtt: Time::NEVER,
            samples: 0,
        }
    }

    /// Whether so few segments of the flow wait that a loss is not for lack of room.
    fn is_uncongested(&self, window: &Window) -> bool {
        let (rtt, base) = (self.rtt.as_secs(), self.base_rtt.as_secs());
        self.samples >= FEW && window.cwnd / window.segment * (rtt - base) / rtt < self.beta
    }
}

impl CongestionControl for Veno {
    #[inline(never)]
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.base_rtt = self.base_rtt.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let acked = climb(window, ack);
        if acked > 0.0 {
            let estimates = self.samples >= FEW && ack.sender.state() == CongestionState::Open;
            let half = estimates && !self.is_uncongested(window);
            let increase = if half { 0.5 } else { 1.0 };
            add(window, increase, acked);
        }
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd * if self.is_uncongested(window) { self.random_loss } else { 0.5 })
    }

    fn on_idle(&mut self, _window: &mut Window, _now: Time) {
        self.base_rtt = Time::NEVER;
        self.samples = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::*;

    #[test]
    fn a_loss_with_a_short_queue_takes_a_fifth() {
        let loss = LossEvent {
            now: Time::from_secs(1),
            signal: Signal::Gap,
            flight: 40.0,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        let mut window = Window { cwnd: 40.0, ssthresh: 10.0, segment: 1.0 };
        // Of 40 segments 3.6 and 2.9 wait.
        for (ms, left, step) in [(110, 20.0, 0.5), (108, 32.0, 1.0)] {
            let mut cc = Veno {
                beta: 3.0,
                random_loss: 0.8,
                base_rtt: Time::NEVER,
                rtt: Time::NEVER,
                samples: 0,
            };
            assert_eq!(cc.on_loss(&window, &loss), Some(20.0));
            for ms in [100, 105, ms] {
                let rtt = Some(Time::from_ms(ms));
                cc.on_sample(&mut window, &AckEvent { rtt, ..AckEvent::default() });
            }
            assert_eq!(cc.on_loss(&window, &loss), Some(left));
            let mut grown = window;
            cc.on_ack(&mut grown, &AckEvent { newly_acked: 40.0, ..AckEvent::default() });
            assert_eq!(grown.cwnd, 40.0 + step);
        }
    }
}
