//! The standard retransmission timer, with the rules that implementations have varied.
//!
//! Source: RFC 6298 sections 2 and 5 (and RFC 2988 before it): srtt and rttvar with gains 1/8 and 1/4,
//! rttvar first and from the old srtt, rto = srtt + 4 rttvar, between a least and a greatest value,
//! doubled at each expiry.
//!
//! By default samples come from a sending time that the receiver echoes, so they are valid after a
//! retransmission too (RFC 7323 section 4), and any sample ends the back-off. With `sampling: karn` one
//! segment at a time is measured, never one that was sent twice (RFC 6298 section 3). What `listed` means
//! stands with [`crate::senders::classic::rtt_history`].

use super::{AFTER_LOST_SYN, Sampling, Timer, min_below_max};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "rfc6298",
    summary: help("Follows the RTT: srtt + 4 rttvar, doubled at each expiry."),
    references: &["RFC 6298 sections 2, 3 and 5", "RFC 2988", "RFC 7323 section 4"],
    params: &[
        Param::new("initial", Kind::Time, "1 s", "RTO before the first sample (section 2.1).")
            .at_least("1 us"),
        Param::new("min", Kind::Time, "1 s", "Minimum RTO (section 2.4); Linux uses 200 ms."),
        Param::optional("max", Kind::Time, "none", "Maximum RTO (section 2.5: 60 s or more)."),
        Param::new(
            "floor",
            Kind::Choice(&[
                Choice::new("total", "srtt + 4 rttvar (section 2.4)"),
                Choice::new(
                    "variance",
                    "4 rttvar alone, so that the RTO exceeds srtt by the minimum, as in Linux",
                ),
            ]),
            "total",
            "What the minimum applies to.",
        ),
        Param::new(
            "variance_from",
            Kind::Choice(&[
                Choice::new("old-srtt", "rttvar is updated before srtt (section 2.3)"),
                Choice::defect(
                    "new-srtt",
                    "rttvar is updated from the srtt that already includes the sample",
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
                Choice::defect(
                    "listed",
                    "by timestamps, if the ACK covers the first of the listed segments: those sent while \
                     another was the oldest outstanding one, and not retransmitted as the oldest (ns-3.24)",
                ),
            ]),
            "timestamps",
            "Which round trips are measured.",
        ),
        Param::new(
            "granularity",
            Kind::Time,
            "0 s",
            "The RTO is rounded up to a multiple of this clock tick.",
        ),
        Param::new(
            "timestamp_tick",
            Kind::Time,
            "0 s",
            "Resolution of timestamps; an RTT that rounds to zero ticks is not sampled. 0 s: exact.",
        ),
        Param::new(
            "least_variance",
            Kind::Time,
            "0 s",
            "Minimum of 4 rttvar: G of section 2.3, without rounding.",
        ),
        Param::new(
            "backoff_ends",
            Kind::Choice(&[
                Choice::new("on-sample", "with the next sample (RFC 6298 section 5)"),
                Choice::new("on-ack", "with the next ACK of new data, measured or not (ns-3.24)"),
            ]),
            "on-sample",
            "When the doubling of the RTO ends.",
        ),
    ],
    check: Some(min_below_max),
    ..Entry::BLANK
};

/// What never changes.
#[derive(Debug, PartialEq)]
struct Rules {
    min: Time,
    max: Time,
    floor_on_variance: bool,
    from_new_srtt: bool,
    tick: u64,
    timestamp_tick: u64,
    least_variance: Time,
    sampling: Sampling,
    ends_on_ack: bool,
}

/// Estimator; the back-off is in the present wait, which the caller keeps.
#[derive(Debug, Clone)]
pub struct Rfc6298 {
    rules: Arc<Rules>,
    /// srtt and rttvar in nanoseconds; none before the first sample.
    estimate: Option<(u64, u64)>,
    /// The wait without back-off.
    calm: Time,
}

impl Rfc6298 {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let rules = Rules {
            min: Time::from_ns(chosen.int("min_ns")),
            max: chosen.optional_int("max_ns").map_or(Time::NEVER, Time::from_ns),
            floor_on_variance: chosen.word("floor") == "variance",
            from_new_srtt: chosen.word("variance_from") == "new-srtt",
            tick: chosen.int("granularity_ns").max(1),
            timestamp_tick: chosen.int("timestamp_tick_ns").max(1),
            least_variance: Time::from_ns(chosen.int("least_variance_ns")),
            sampling: match chosen.word("sampling") {
                "karn" => Sampling::Karn,
                "listed" => Sampling::Listed,
                _ => Sampling::Timestamps,
            },
            ends_on_ack: chosen.word("backoff_ends") == "on-ack",
        };
        let calm = Time::from_ns(chosen.int("initial_ns"));
        Self { rules: Arc::new(rules), estimate: None, calm }
    }

    /// Shares the rules of another timer if they are the same.
    pub(super) fn share_rules(&mut self, other: &Self) {
        if self.rules == other.rules {
            self.rules = Arc::clone(&other.rules);
        }
    }
}

impl Timer for Rfc6298 {
    #[inline]
    fn calm(&self) -> Time {
        self.calm
    }

    fn is_exact(&self) -> bool {
        self.rules.timestamp_tick == 1
    }

    fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        let tick = self.rules.timestamp_tick;
        let ticks = to.as_ns() / tick - from.as_ns() / tick;
        (ticks > 0).then(|| Time::from_ns(ticks * tick))
    }

    #[inline(always)]
    fn on_sample(&mut self, _now: Time, rtt: Time) -> Time {
        let rules = &*self.rules;
        let rtt = rtt.as_ns();
        let (srtt, rttvar) = match self.estimate {
            None => (rtt, rtt / 2),
            Some((old, rttvar)) => {
                let srtt = (7 * old + rtt) / 8;
                let reference = if rules.from_new_srtt { srtt } else { old };
                (srtt, (3 * rttvar + reference.abs_diff(rtt)) / 4)
            }
        };
        self.estimate = Some((srtt, rttvar));
        let variance = Time::from_ns(rttvar).times(4).max(rules.least_variance);
        let wait = if rules.floor_on_variance {
            Time::from_ns(srtt) + variance.max(rules.min)
        } else {
            (Time::from_ns(srtt) + variance.max(Time::from_ns(rules.tick))).max(rules.min)
        };
        // A division costs as much as the rest, and most clocks have no ticks.
        let wait = match rules.tick {
            1 => wait,
            tick => Time::from_ns(wait.as_ns().div_ceil(tick).saturating_mul(tick)),
        };
        self.calm = wait.min(rules.max);
        self.calm
    }

    fn unmeasured(&self) -> Option<Time> {
        (self.calm < AFTER_LOST_SYN).then(|| AFTER_LOST_SYN.min(self.rules.max))
    }

    fn on_timeout(&mut self, wait: Time) -> Time {
        wait.times(2).min(self.rules.max)
    }

    #[inline]
    fn srtt(&self) -> Option<Time> {
        self.estimate.map(|(srtt, _)| Time::from_ns(srtt))
    }

    fn deviation(&self) -> Option<Time> {
        self.estimate.map(|(_, rttvar)| Time::from_ns(rttvar))
    }

    fn sampling(&self) -> Sampling {
        self.rules.sampling
    }

    fn ends_on_ack(&self) -> bool {
        self.rules.ends_on_ack
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rto;
    use super::*;
    use ackclock_units::param::Value;

    fn chosen(min_ms: u64, floor: &str) -> Chosen {
        Chosen {
            kind: "rfc6298".into(),
            values: vec![
                ("initial_ns".into(), Value::Int(1_000_000_000)),
                ("min_ns".into(), Value::Int(min_ms * 1_000_000)),
                ("max_ns".into(), Value::Int(60_000_000_000)),
                ("floor".into(), Value::Word(floor.into())),
                ("variance_from".into(), Value::Word("old-srtt".into())),
                ("sampling".into(), Value::Word("timestamps".into())),
                ("granularity_ns".into(), Value::Int(0)),
                ("timestamp_tick_ns".into(), Value::Int(0)),
                ("least_variance_ns".into(), Value::Int(0)),
                ("backoff_ends".into(), Value::Word("on-sample".into())),
            ],
        }
    }

    /// The same timer with some other values.
    fn timer_with(mut chosen: Chosen, values: &[(&str, Value)]) -> Rto {
        for (name, value) in values {
            let known = chosen.values.iter_mut().find(|(known, _)| known == name);
            known.expect("a setting of the timer").1 = value.clone();
        }
        Rto::new(&chosen)
    }

    fn timer(min_ms: u64, floor: &str) -> Rto {
        Rto::new(&chosen(min_ms, floor))
    }

    fn sample(rto: &mut Rto, rtt: Time) {
        rto.on_sample(Time::ZERO, rtt);
    }

    #[test]
    fn follows_the_formulas_of_the_rfc() {
        let mut rto = timer(0, "total");
        assert_eq!(rto.current(), Time::from_secs(1));
        sample(&mut rto, Time::from_ms(100));
        // srtt 100 ms, rttvar 50 ms.
        assert_eq!(rto.current(), Time::from_ms(300));
        sample(&mut rto, Time::from_ms(180));
        // rttvar = 3/4 50 + 1/4 80 = 57.5 ms, srtt = 110 ms.
        assert_eq!(rto.current(), Time::from_ms(340));
    }

    #[test]
    fn doubles_up_to_the_greatest_wait_and_a_sample_ends_it() {
        let mut rto = timer(200, "total");
        sample(&mut rto, Time::from_ms(10));
        assert_eq!(rto.current(), Time::from_ms(200));
        rto.on_timeout();
        assert_eq!(rto.current(), Time::from_ms(400));
        for _ in 0..100 {
            rto.on_timeout();
        }
        assert_eq!(rto.current(), Time::from_secs(60));
        sample(&mut rto, Time::from_ms(10));
        assert_eq!(rto.current(), Time::from_ms(200));
    }

    #[test]
    fn after_a_handshake_that_has_measured_nothing_the_wait_is_three_seconds_at_least() {
        for (initial_s, wait_s) in [(1, 3), (5, 5)] {
            let initial = ("initial_ns", Value::Int(initial_s * 1_000_000_000));
            let mut rto = timer_with(chosen(200, "total"), &[initial]);
            rto.on_unmeasured();
            assert_eq!(rto.current(), Time::from_secs(wait_s));
            sample(&mut rto, Time::from_ms(10));
            assert_eq!(rto.current(), Time::from_ms(200));
        }
    }

    #[test]
    fn an_ack_may_end_the_back_off_and_the_variance_has_a_floor_of_its_own() {
        let values = [
            ("least_variance_ns", Value::Int(1_000_000)),
            ("backoff_ends", Value::Word("on-ack".into())),
        ];
        let mut rto = timer_with(chosen(0, "total"), &values);
        sample(&mut rto, Time::from_ms(64));
        for _ in 0..50 {
            sample(&mut rto, Time::from_ms(64));
        }
        assert_eq!(rto.current(), Time::from_ms(65));
        rto.on_timeout();
        assert_eq!(rto.current(), Time::from_ms(130));
        rto.on_new_ack();
        assert_eq!(rto.current(), Time::from_ms(65));
    }

    #[test]
    fn timestamps_may_be_coarse() {
        let [early, late] = [1_999_999, 3_000_000].map(Time::from_ns);
        assert_eq!(timer(0, "total").elapsed(early, late), Some(late - early));
        let values = [("timestamp_tick_ns", Value::Int(1_000_000))];
        let rto = timer_with(chosen(0, "total"), &values);
        assert_eq!(rto.elapsed(early, late), Some(Time::from_ms(2)));
        assert_eq!(rto.elapsed(late, Time::from_ns(3_999_999)), None);
    }

    #[test]
    fn the_floor_may_bound_the_variance_alone() {
        let mut rto = timer(1000, "variance");
        sample(&mut rto, Time::from_ns(20_800_000));
        assert_eq!(rto.current(), Time::from_ns(1_020_800_000));
    }
}
