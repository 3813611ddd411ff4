//! A retransmission timer that counts in ticks of a coarse clock, in whole numbers.
//!
//! Source: Jacobson, "Congestion avoidance and control", SIGCOMM 1988, appendix A, as BSD and ns-2.35
//! (tcp/tcp.cc: `rtt_update`, `rtt_timeout`, `rtt_backoff`) have it: srtt is kept in eighths of a tick, rttvar in
//! quarters. One segment at a time is timed, none after a loss until a new one is sent (Karn), and only
//! a sample ends the back-off. The clock of each flow ticks at a moment of its own.
//!
//! After three expiries in a row srtt is thrown away: it goes into rttvar, and the next sample begins anew.

use super::{Sampling, Timer, min_below_max};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "ticks",
    summary: help("srtt + 4 rttvar in whole ticks of a coarse clock, as in BSD and ns-2."),
    references: &["Jacobson 1988 appendix A", "ns-2.35 (tcpTick_, rfc2988_)", "RFC 2988"],
    params: &[
        Param::new("tick", Kind::Time, "10 ms", "A tick of the clock.")
            .at_least("1 us")
            .at_most("1 h"),
        Param::optional(
            "phase",
            Kind::Time,
            "random",
            "Time from the last tick to the start of the run; ns-2 draws it for each flow.",
        )
        .at_most("1 h"),
        Param::new("initial", Kind::Time, "3 s", "RTO before the first sample.").at_least("1 us"),
        Param::new("min", Kind::Time, "200 ms", "Minimum RTO, before doubling."),
        Param::optional("max", Kind::Time, "none", "Maximum RTO; 60 s in ns-2."),
    ],
    check: Some(min_below_max),
    ..Entry::BLANK
};

/// Greatest factor of the back-off while the wait is at its greatest value.
const MOST_BACKOFF: u64 = 64;

/// Estimator and back-off.
#[derive(Debug, Clone)]
pub struct Ticks {
    tick: u64,
    phase: Option<u64>,
    min: u64,
    max: u64,
    /// Eighths of a tick; zero where there is no estimate.
    srtt: i64,
    /// Quarters of a tick.
    rttvar: i64,
    /// Wait without least value and back-off, nanoseconds.
    wait: u64,
    backoff: u64,
}

impl Ticks {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            tick: chosen.int("tick_ns"),
            phase: chosen.optional_int("phase_ns"),
            min: chosen.int("min_ns"),
            max: chosen.optional_int("max_ns").unwrap_or(u64::MAX),
            srtt: 0,
            rttvar: 0,
            wait: chosen.int("initial_ns"),
            backoff: 1,
        }
    }

    #[inline]
    fn current(&self) -> Time {
        let wait = self.wait.max(self.min).saturating_mul(self.backoff).min(self.max);
        Time::from_ns(wait.max(2 * self.tick))
    }
}

impl Timer for Ticks {
    fn calm(&self) -> Time {
        self.current()
    }

    fn srtt(&self) -> Option<Time> {
        (self.srtt > 0).then(|| Time::from_ns((self.srtt as u64 * self.tick) >> 3))
    }

    fn sampling(&self) -> Sampling {
        Sampling::Karn
    }

    fn drops_timed(&self) -> bool {
        true
    }

    fn draw_phase(&mut self, draw: &mut dyn FnMut() -> f64) {
        let tick = self.tick;
        self.phase.get_or_insert_with(|| (draw() * tick as f64) as u64);
    }

    fn on_sample(&mut self, now: Time, rtt: Time) -> Time {
        let sent = (now - rtt).as_ns() + self.phase.unwrap_or(0);
        let ticks = (((rtt.as_ns() + sent % self.tick) / self.tick) as i64).max(1);
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
        } else {
            let error = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
        }
        self.wait = (((self.rttvar << 3) + self.srtt) >> 3) as u64 * self.tick;
        self.backoff = 1;
        self.current()
    }

    fn on_timeout(&mut self, _wait: Time) -> Time {
        if self.backoff < MOST_BACKOFF || self.current().as_ns() < self.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn timer() -> Ticks {
        Ticks::new(&Chosen {
            kind: "ticks".into(),
            values: vec![
                ("tick_ns".into(), Value::Int(10_000_000)),
                ("phase_ns".into(), Value::Int(3_000_000)),
                ("initial_ns".into(), Value::Int(3_000_000_000)),
                ("min_ns".into(), Value::Int(200_000_000)),
                ("max_ns".into(), Value::Int(60_000_000_000)),
            ],
        })
    }

    fn sample(timer: &mut Ticks, now_ms: u64, rtt_ms: u64) -> u64 {
        timer.on_sample(Time::from_ms(now_ms), Time::from_ms(rtt_ms));
        timer.current().as_ns() / 1_000_000
    }

    #[test]
    fn counts_the_ticks_within_a_round_trip() {
        let mut rto = timer();
        assert_eq!(rto.current(), Time::from_secs(3));
        // Sent at 0, 3 ms after a tick: 140 ms are 14 ticks; srtt 14, rttvar 7 ticks.
        assert_eq!(rto.srtt(), None);
        assert_eq!(sample(&mut rto, 140, 140), 420);
        assert_eq!(rto.srtt(), Some(Time::from_ms(140)));
        // Sent at 207 ms, just at a tick: 10 of them. Error -4; srtt 108/8, rttvar (28 + 4 - 7)/4.
        assert_eq!(sample(&mut rto, 316, 109), 380);
    }

    #[test]
    fn doubles_from_the_least_wait_until_a_sample_comes() {
        let mut rto = timer();
        assert_eq!(sample(&mut rto, 10, 10), 200);
        for expected in [400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000, 60000] {
            rto.on_timeout(Time::ZERO);
            assert_eq!(rto.current(), Time::from_ms(expected));
        }
        // The estimate was thrown away: 5 ticks and half as much.
        assert_eq!(sample(&mut rto, 1050, 50), 200);
        assert_eq!((rto.srtt, rto.rttvar), (40, 10));
    }
}
