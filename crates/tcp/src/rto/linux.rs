//! The retransmission timer of Linux.
//!
//! Source: Linux, `tcp_rtt_estimator` and `tcp_set_rto`. srtt and the mean deviation as in RFC 6298, but a sample that
//! shortens the round trip moves the deviation eight times more slowly, the deviation that counts is the greatest
//! of the last round trip, and the least wait bounds it instead of the whole: rto = srtt + max(4 mdev, `min`).
//!
//! DEVIATION: times are kept in nanoseconds, not in microseconds; the wait is in clock ticks of 4 ms if the sender
//! counts in them ([`Rto::count_in_ticks`](super::Rto::count_in_ticks)) only.

use super::{AFTER_LOST_SYN, Timer, min_below_max};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "linux",
    summary: help(
        "As in Linux: srtt plus the maximum deviation of the last round trip, at least 200 ms.",
    ),
    references: &["Linux, tcp_input.c: tcp_rtt_estimator", "RFC 6298"],
    params: &[
        Param::new("initial", Kind::Time, "1 s", "RTO before the first sample.").at_least("1 us"),
        Param::new("min", Kind::Time, "200 ms", "Minimum of the deviation term."),
        Param::new("max", Kind::Time, "120 s", "Greatest wait."),
    ],
    check: Some(min_below_max),
    ..Entry::BLANK
};

/// Estimator; the back-off is in the present wait, which the caller keeps.
#[derive(Debug, Clone)]
pub struct Linux {
    /// 8 srtt, nanoseconds; zero before the first sample.
    srtt8: i64,
    /// 4 times the mean deviation, its greatest value in this round trip, and what counts of it.
    mdev4: i64,
    mdev_max: i64,
    rttvar: i64,
    initial: Time,
    min: i64,
    max: Time,
}

impl Linux {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            srtt8: 0,
            mdev4: 0,
            mdev_max: 0,
            rttvar: 0,
            initial: Time::from_ns(chosen.int("initial_ns")),
            min: chosen.int("min_ns").min(i64::MAX as u64) as i64,
            max: Time::from_ns(chosen.int("max_ns")),
        }
    }
}

impl Timer for Linux {
    fn calm(&self) -> Time {
        if self.srtt8 == 0 {
            return self.initial.min(self.max);
        }
        // Neither is negative; a division that had to think of that would take longer.
        Time::from_ns((self.srtt8 >> 3) as u64 + self.rttvar as u64).min(self.max)
    }

    #[inline]
    fn on_sample(&mut self, _now: Time, rtt: Time) -> Time {
        // Longer round trips than half an hour would overflow.
        let rtt = rtt.as_ns().clamp(1, 1 << 41) as i64;
        if self.srtt8 == 0 {
            self.srtt8 = 8 * rtt;
            self.mdev4 = 2 * rtt;
            self.rttvar = self.mdev4.max(self.min);
            self.mdev_max = self.rttvar;
        } else {
            let error = rtt - (self.srtt8 >> 3);
            self.srtt8 += error;
            let mut change = error.abs() - (self.mdev4 >> 2);
            if error < 0 && change > 0 {
                change /= 8;
            }
            self.mdev4 += change;
            self.mdev_max = self.mdev_max.max(self.mdev4);
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        self.calm()
    }

    fn unmeasured(&self) -> Option<Time> {
        // `tcp_init_metrics`, `TCP_TIMEOUT_FALLBACK`.
        Some(AFTER_LOST_SYN.min(self.max))
    }

    fn on_round(&mut self) {
        if self.mdev_max < self.rttvar {
            self.rttvar -= (self.rttvar - self.mdev_max) / 4;
        }
        self.mdev_max = self.min;
    }

    fn on_timeout(&mut self, wait: Time) -> Time {
        wait.times(2).min(self.max)
    }

    fn least(&self) -> Time {
        Time::from_ns(self.min as u64)
    }

    fn deviation(&self) -> Option<Time> {
        Some(Time::from_ns(self.mdev4 as u64 / 4))
    }

    #[inline]
    fn srtt(&self) -> Option<Time> {
        (self.srtt8 > 0).then(|| Time::from_ns(self.srtt8 as u64 / 8))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rto;
    use super::*;
    use ackclock_units::param::Value;

    const fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    fn timer() -> Linux {
        let (min, max) = (200_000_000, ms(120_000));
        Linux { srtt8: 0, mdev4: 0, mdev_max: 0, rttvar: 0, initial: ms(1000), min, max }
    }

    #[test]
    fn the_wait_is_never_less_than_srtt_and_the_least_value() {
        let mut rto = timer();
        assert_eq!(rto.calm(), ms(1000));
        assert_eq!(rto.on_sample(Time::ZERO, ms(100)), ms(300));
        for _ in 0..50 {
            rto.on_sample(Time::ZERO, ms(100));
            rto.on_round();
        }
        assert_eq!((rto.calm(), rto.srtt()), (ms(300), Some(ms(100))));
        assert_eq!(rto.on_timeout(ms(300)), ms(600));
        assert_eq!(rto.on_timeout(ms(100_000)), ms(120_000));
    }

    /// RFC 6298 section 5.7.
    #[test]
    fn the_wait_after_a_handshake_that_has_measured_nothing_is_three_seconds() {
        for (max, wait) in [(120, 3), (2, 2)] {
            let values = [("initial_ns", 1), ("min_ns", 0), ("max_ns", max)];
            let values =
                values.map(|(name, s)| (name.into(), Value::Int(s * 1_000_000_000))).to_vec();
            let mut rto = Rto::new(&Chosen { kind: "linux".into(), values });
            rto.on_unmeasured();
            assert_eq!((rto.current(), rto.srtt()), (Time::from_secs(wait), None));
            rto.on_sample(Time::ZERO, ms(1000));
            assert_eq!(rto.current(), Time::from_secs(3.min(max)));
        }
    }

    /// 253.2 ms are 64 ticks of 4 ms, and those are doubled; what is below a microsecond does not count.
    #[test]
    fn the_wait_may_be_kept_in_ticks() {
        let waits = |tick: u32, rtt: u64| {
            let values =
                [("initial_ns", 1_000_000_000), ("min_ns", 200_000_000), ("max_ns", 700_000_000)];
            let values = values.map(|(name, ns)| (name.into(), Value::Int(ns))).to_vec();
            let mut rto = Rto::new(&Chosen { kind: "linux".into(), values });
            rto.count_in_ticks(tick);
            rto.on_sample(Time::ZERO, Time::from_ns(rtt));
            [(); 3].map(|()| {
                let wait = rto.current().as_ns();
                rto.on_timeout();
                wait
            })
        };
        assert_eq!(waits(1, 53_200_000), [253_200_000, 506_400_000, 700_000_000]);
        assert_eq!(waits(4_000_000, 53_200_000), [256_000_000, 512_000_000, 700_000_000]);
        assert_eq!(waits(4_000_000, 52_000_999), [252_000_000, 504_000_000, 700_000_000]);
    }

    #[test]
    fn a_round_trip_that_shortens_moves_the_deviation_more_slowly() {
        let after = |first: u64, then: u64| {
            let mut rto = timer();
            rto.on_sample(Time::ZERO, ms(first));
            rto.on_sample(Time::ZERO, ms(then));
            rto.mdev4 / 1_000_000
        };
        // 4 mdev: from 1000, the error of 400 less 250, and an eighth of that.
        assert_eq!(after(500, 900), 1000 + 400 - 250);
        assert_eq!(after(500, 100), 1000 + (400 - 250) / 8);
    }

    #[test]
    fn the_deviation_that_counts_falls_by_a_quarter_a_round_trip() {
        let mut rto = timer();
        rto.on_sample(Time::ZERO, ms(1000));
        let before = rto.rttvar;
        assert_eq!(before, 2_000_000_000);
        rto.on_round();
        rto.on_sample(Time::ZERO, ms(1000));
        rto.on_round();
        assert!(rto.rttvar < before && rto.rttvar >= 3 * before / 4, "{}", rto.rttvar);
    }
}
