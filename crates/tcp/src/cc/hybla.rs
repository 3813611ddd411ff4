//! Hybla: a flow with a long round-trip time grows as fast, in segments per second, as one with a short one.
//!
//! Source: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22(5), 2004; Linux, `tcp_hybla.c`. With rho = srtt / `rtt0`, at least 1:
//!
//! ```text
//! slow start              2^rho - 1 segments for each one acknowledged
//! congestion avoidance    rho² segments per round trip
//! ```
//!
//! rho is that of the least smoothed round-trip time so far, so a queue does not make it larger. A loss takes half.
//! Outside of the state Open growth is Reno's.
//!
//! DEVIATION: the initial window is that of the flow; Linux begins with rho segments, the paper with rho times as many as
//! the flow with `rtt0`.
//! DEVIATION: each acknowledged segment counts; Linux counts ACKs, so that delayed ones halve its growth.
//! DEVIATION: rho is a real number, at most 16 in slow start; Linux has eighths.

use super::growth::{add, climb};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Window};
use ackclock_math::elementary::pow;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "hybla",
    summary: help(
        "For satellite links: grows as fast as a flow with a short RTT, however long its own is.",
    ),
    references: &["Caini and Firrincieli 2004", "Linux, `tcp_hybla.c`"],
    params: &[Param::new(
        "rtt0",
        Kind::Time,
        "25 ms",
        "RTT of the reference flow; a flow with a shorter RTT behaves as Reno.",
    )
    .at_least("1 ms")
    .at_most("10 s")],
    label: "Hybla",
    ..Entry::BLANK
};

/// rho in slow start is at most this.
const STEEPEST: f64 = 16.0;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Hybla {
    rtt0: f64,
    least_srtt: Time,
    rho: f64,
    /// 2^rho - 1.
    doubling: f64,
}

impl Hybla {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self::of(chosen.int("rtt0_ns"))
    }

    fn of(rtt0: u64) -> Self {
        Self { rtt0: rtt0 as f64, least_srtt: Time::NEVER, rho: 1.0, doubling: 1.0 }
    }

    fn learn(&mut self, srtt: Time) {
        if srtt < self.least_srtt {
            self.least_srtt = srtt;
            self.rho = (srtt.as_ns() as f64 / self.rtt0).max(1.0);
            self.doubling = pow(2.0, self.rho.min(STEEPEST)) - 1.0;
        }
    }
}

impl CongestionControl for Hybla {
    fn on_established(&mut self, _window: &mut Window, _now: Time, rtt: Time) {
        self.learn(rtt);
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        if let Some(srtt) = ack.sender.srtt() {
            self.learn(srtt);
        }
        if !ack.may_grow {
            return;
        }
        let open = ack.sender.state() == CongestionState::Open;
        if open && window.in_slow_start() {
            let step = ack.newly_acked * self.doubling;
            window.cwnd = (window.cwnd + step).min(window.ssthresh);
            return;
        }
        let increase = if open { self.rho * self.rho } else { 1.0 };
        let acked = climb(window, ack);
        add(window, increase, acked);
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rtt_ms: u64, window: Window, acked: f64) -> f64 {
        let mut cc = Hybla::of(25_000_000);
        let mut window = window;
        cc.on_established(&mut window, Time::ZERO, Time::from_ms(rtt_ms));
        cc.on_ack(&mut window, &AckEvent { newly_acked: acked, ..AckEvent::default() });
        window.cwnd
    }

    #[test]
    fn growth_is_that_of_a_flow_with_25_ms() {
        let slow = Window { cwnd: 10.0, ssthresh: f64::INFINITY, segment: 1.0 };
        let grown = [10, 25, 50, 100].map(|ms| after(ms, slow, 1.0) - 10.0);
        assert!(grown.iter().zip([1.0, 1.0, 3.0, 15.0]).all(|(a, b)| (a - b).abs() < 1e-9));
        // Segments a second and second: rho² / rtt² = 1600.
        for ms in [25_u32, 100, 250] {
            let avoid = Window { cwnd: 1000.0, ssthresh: 10.0, segment: 1.0 };
            let rtt = f64::from(ms) / 1e3;
            let grown = after(u64::from(ms), avoid, 1000.0) - 1000.0;
            assert!((grown / rtt / rtt - 1600.0).abs() < 1e-6, "{ms} ms: {grown}");
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        let window = Window { cwnd: 10.0, ssthresh: 12.0, segment: 1.0 };
        assert_eq!(after(100, window, 1.0), 12.0);
    }
}
