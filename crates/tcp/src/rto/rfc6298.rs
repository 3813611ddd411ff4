//! The standard retransmission timer, with the rules that implementations have varied.
//!
//! Source: RFC 6298 sections 2 and 5 (and RFC 2988 before it): srtt and rttvar with gains 1/8 and 1/4,
//! rttvar first and from the old srtt, rto = srtt + 4 rttvar, between a least and a greatest value,
//! doubled at each expiry.
//!
//! By default samples come from a sending time that the receiver echoes, so they are valid after a
//! retransmission too (RFC 7323 section 4), and any sample ends the back-off. With `sampling: karn` one
//! segment at a time is measured, never one that was sent twice (RFC 6298 section 3).

use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};

pub(super) static ENTRY: Entry = Entry {
    name: "rfc6298",
    summary: "Follows the round-trip time: srtt + 4 rttvar, doubled at each expiry.",
    references: &["RFC 6298 sections 2, 3 and 5", "RFC 2988", "RFC 7323 section 4"],
    params: &[
        Param::new("initial", Kind::Time, "1 s", "Wait before the first sample (section 2.1).")
            .at_least("1 us"),
        Param::new("min", Kind::Time, "1 s", "Least wait (section 2.4); Linux uses 200 ms."),
        Param::optional("max", Kind::Time, "none", "Greatest wait (section 2.5: 60 s or more)."),
        Param::new(
            "floor",
            Kind::Choice(&[
                Choice::new("total", "the least wait bounds srtt + 4 rttvar (section 2.4)"),
                Choice::new(
                    "variance",
                    "it bounds 4 rttvar alone, so that the wait exceeds srtt by it, as in Linux",
                ),
            ]),
            "total",
            "What the least wait bounds.",
        ),
        Param::new(
            "variance_from",
            Kind::Choice(&[
                Choice::new("old-srtt", "rttvar is updated before srtt (section 2.3)"),
                Choice::defect(
                    "new-srtt",
                    "rttvar is updated from the srtt that holds the sample already",
                ),
            ]),
            "old-srtt",
            "Which srtt a sample is compared with.",
        ),
        Param::new(
            "sampling",
            Kind::Choice(&[
                Choice::new("timestamps", "every ACK of new data is a sample (RFC 7323)"),
                Choice::new(
                    "karn",
                    "one segment at a time, never one that was sent twice (section 3)",
                ),
            ]),
            "timestamps",
            "Which round trips are measured.",
        ),
        Param::new(
            "granularity",
            Kind::Time,
            "0 s",
            "The wait is rounded up to a multiple of this clock tick.",
        ),
    ],
    defect: false,
};

/// Estimator and back-off.
#[derive(Debug, Clone)]
pub struct Rfc6298 {
    /// srtt and rttvar in nanoseconds; none before the first sample.
    estimate: Option<(u64, u64)>,
    rto: Time,
    min: Time,
    max: Time,
    floor_on_variance: bool,
    from_new_srtt: bool,
    karn: bool,
    tick: u64,
}

impl Rfc6298 {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            estimate: None,
            rto: Time::from_ns(chosen.int("initial_ns")),
            min: Time::from_ns(chosen.int("min_ns")),
            max: chosen.optional_int("max_ns").map_or(Time::NEVER, Time::from_ns),
            floor_on_variance: chosen.word("floor") == "variance",
            from_new_srtt: chosen.word("variance_from") == "new-srtt",
            karn: chosen.word("sampling") == "karn",
            tick: chosen.int("granularity_ns").max(1),
        }
    }

    #[inline]
    pub(super) fn current(&self) -> Time {
        self.rto
    }

    #[inline]
    pub(super) fn uses_karn(&self) -> bool {
        self.karn
    }

    pub(super) fn on_sample(&mut self, rtt: Time) {
        let rtt = rtt.as_ns();
        let (srtt, rttvar) = match self.estimate {
            None => (rtt, rtt / 2),
            Some((old, rttvar)) => {
                let srtt = (7 * old + rtt) / 8;
                let reference = if self.from_new_srtt { srtt } else { old };
                (srtt, (3 * rttvar + reference.abs_diff(rtt)) / 4)
            }
        };
        self.estimate = Some((srtt, rttvar));
        let variance = Time::from_ns(rttvar).times(4);
        let wait = if self.floor_on_variance {
            Time::from_ns(srtt) + variance.max(self.min)
        } else {
            (Time::from_ns(srtt) + variance.max(Time::from_ns(self.tick))).max(self.min)
        };
        let ticks = wait.as_ns().div_ceil(self.tick);
        self.rto = Time::from_ns(ticks.saturating_mul(self.tick)).min(self.max);
    }

    pub(super) fn on_timeout(&mut self) {
        self.rto = self.rto.times(2).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn timer(min_ms: u64, floor: &str) -> Rfc6298 {
        Rfc6298::new(&Chosen {
            kind: "rfc6298".into(),
            values: vec![
                ("initial_ns".into(), Value::Int(1_000_000_000)),
                ("min_ns".into(), Value::Int(min_ms * 1_000_000)),
                ("max_ns".into(), Value::Int(60_000_000_000)),
                ("floor".into(), Value::Word(floor.into())),
                ("variance_from".into(), Value::Word("old-srtt".into())),
                ("sampling".into(), Value::Word("timestamps".into())),
                ("granularity_ns".into(), Value::Int(0)),
            ],
        })
    }

    #[test]
    fn follows_the_formulas_of_the_rfc() {
        let mut rto = timer(0, "total");
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
        let mut rto = timer(200, "total");
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

    #[test]
    fn the_floor_may_bound_the_variance_alone() {
        let mut rto = timer(1000, "variance");
        rto.on_sample(Time::from_ns(20_800_000));
        assert_eq!(rto.current(), Time::from_ns(1_020_800_000));
    }
}
