//! The standard retransmission timer.
//!
//! Source: RFC 6298 sections 2 and 5: srtt and rttvar with gains 1/8 and 1/4 (rttvar first, from the
//! old srtt), rto = srtt + 4 rttvar, between a least and a greatest value, doubled at each expiry.
//!
//! DEVIATION: samples come from a timestamp that the receiver echoes, so they are valid after a
//! retransmission too (RFC 7323 section 4) and Karn's rule is not needed; any sample ends the back-off.
//! The clock granularity G is one nanosecond.

use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "rfc6298",
    summary: "Follows the round-trip time: srtt + 4 rttvar, doubled at each expiry.",
    references: &["RFC 6298 sections 2 and 5", "RFC 7323 section 4"],
    params: &[
        Param::new("initial", Kind::Time, "1 s", "Wait before the first sample (section 2.1)."),
        Param::new("min", Kind::Time, "1 s", "Least wait (section 2.4); Linux uses 200 ms."),
        Param::new("max", Kind::Time, "60 s", "Greatest wait (section 2.5 asks for 60 s or more)."),
    ],
    defect: false,
};

/// Estimator and back-off.
#[derive(Debug, Clone)]
pub struct Rfc6298 {
    /// Nanoseconds; none before the first sample.
    estimate: Option<(u64, u64)>,
    rto: Time,
    min: Time,
    max: Time,
}

impl Rfc6298 {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            estimate: None,
            rto: Time::from_ns(chosen.int("initial_ns")),
            min: Time::from_ns(chosen.int("min_ns")),
            max: Time::from_ns(chosen.int("max_ns")),
        }
    }

    #[inline]
    pub(super) fn current(&self) -> Time {
        self.rto
    }

    pub(super) fn on_sample(&mut self, rtt: Time) {
        let rtt = rtt.as_ns();
        let (srtt, rttvar) = match self.estimate {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => {
                ((7 * srtt + rtt) / 8, (3 * rttvar + srtt.abs_diff(rtt)) / 4)
            }
        };
        self.estimate = Some((srtt, rttvar));
        let wait = Time::from_ns(srtt.saturating_add(rttvar.saturating_mul(4).max(1)));
        self.rto = wait.max(self.min).min(self.max);
    }

    pub(super) fn on_timeout(&mut self) {
        self.rto = self.rto.times(2).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn timer(min_ms: u64) -> Rfc6298 {
        Rfc6298::new(&Chosen {
            kind: "rfc6298".into(),
            values: vec![
                ("initial_ns".into(), Value::Int(1_000_000_000)),
                ("min_ns".into(), Value::Int(min_ms * 1_000_000)),
                ("max_ns".into(), Value::Int(60_000_000_000)),
            ],
        })
    }

    #[test]
    fn follows_the_formulas_of_the_rfc() {
        let mut rto = timer(0);
        assert_eq!(rto.current(), Time::from_secs(1));
        rto.on_sample(Time::from_ms(100));
        // srtt 100 ms, rttvar 50 ms.
        assert_eq!(rto.current(), Time::from_ms(300));
        rto.on_sample(Time::from_ms(180));
        // rttvar = 3/4 50 + 1/4 80 = 57.5 ms, srtt = 110 ms.
        assert_eq!(rto.current(), Time::from_ms(340));
    }

    #[test]
    fn doubles_up_to_the_greatest_wait_and_a_sample_ends_it() {
        let mut rto = timer(200);
        rto.on_sample(Time::from_ms(10));
        assert_eq!(rto.current(), Time::from_ms(200));
        rto.on_timeout();
        assert_eq!(rto.current(), Time::from_ms(400));
        for _ in 0..100 {
            rto.on_timeout();
        }
        assert_eq!(rto.current(), Time::from_secs(60));
        rto.on_sample(Time::from_ms(10));
        assert_eq!(rto.current(), Time::from_ms(200));
    }
}
