//! Delivery opportunities, as the traces of Mahimahi list them.
//!
//! Source: Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, section 4.1, and its
//! `LinkQueue`. Each line of a trace is a millisecond at which 1504 bytes can be delivered, the default of its tunnel
//! devices (1500 bytes and a header of 4). What waits is delivered then: several small packets, or a part of one; an
//! opportunity at which nothing waits is lost, and so is the rest of one after which nothing waits. At the end the
//! trace begins again, its last line being the length of a round.
//!
//! DEVIATION: larger packets than 1504 bytes are refused there; here they take several opportunities. Sizes are those
//! of packets here, without the 4 bytes of the tunnel.

use super::{Begun, Rates};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

/// Bytes of an opportunity.
const OPPORTUNITY: u64 = 1504;
const MS: u64 = 1_000_000;

pub(super) static ENTRY: Entry = Entry {
    name: "mahimahi",
    summary: help(
        "Mahimahi trace: delivery opportunities of 1504 bytes at given milliseconds, repeated.",
    ),
    references: &["Netravali et al. 2015"],
    params: &[Param::required(
        "opportunities",
        Kind::CountList,
        "Milliseconds of the opportunities in ascending order; the last one is the length of a round.",
    )],
    check: Some(check),
    ..Entry::BLANK
};

/// A hundred years in milliseconds.
const LONGEST: u64 = 36_500 * 86_400_000;

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let times = chosen.list("opportunities");
    let message = match times.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(place) => format!("opportunity {} is before the one in front of it", place + 2),
        None if times.last().is_none_or(|last| *last == 0) => {
            "a trace lasts longer than 0 ms".into()
        }
        None if times.last().is_some_and(|last| *last > LONGEST) => "the trace is too long".into(),
        None => return Ok(()),
    };
    let hint = Some("for example `opportunities: [3, 5, 5, 10]`, or a file: `file: PATH`".into());
    Err(Clash { param: "opportunities", message, hint })
}

/// The opportunities, and how far time has come.
#[derive(Debug, Clone)]
pub struct Mahimahi {
    /// Milliseconds.
    times: Vec<u64>,
    /// Begin of this round in ns.
    base: u64,
    /// The next opportunity.
    next: usize,
}

impl Mahimahi {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self { times: chosen.list("opportunities").to_vec(), base: 0, next: 0 }
    }

    /// Length of a round in ns.
    fn round(&self) -> u64 {
        self.times[self.times.len() - 1] * MS
    }

    /// Opportunities of a round until so long after its begin.
    fn until(&self, ns: u64) -> usize {
        self.times.partition_point(|ms| ms * MS <= ns)
    }

    /// Opportunities until now are over.
    fn skip(&mut self, now: u64) {
        if now < self.base {
            return;
        }
        let rounds = (now - self.base) / self.round();
        if rounds > 0 {
            self.base += rounds * self.round();
            self.next = 0;
        }
        self.next = self.next.max(self.until(now - self.base));
        self.turn();
    }

    /// After the last opportunity comes the first of the next round.
    fn turn(&mut self) {
        if self.next == self.times.len() {
            self.base += self.round();
            self.next = 0;
        }
    }
}

impl Rates for Mahimahi {
    fn finish(&mut self, begun: Begun) -> (Time, u64) {
        let mut now = begun.at.as_ns();
        let mut room = begun.carry;
        if !begun.waited {
            room = 0;
            self.skip(now);
        }
        let mut left = u64::from(begun.bytes);
        while left > room {
            left -= room;
            room = OPPORTUNITY;
            now = self.base + self.times[self.next] * MS;
            self.next += 1;
            self.turn();
        }
        (Time::from_ns(now), room - left)
    }

    fn offered_bytes(&self, until: Time) -> Option<f64> {
        let (rounds, rest) = (until.as_ns() / self.round(), until.as_ns() % self.round());
        let count = rounds as f64 * self.times.len() as f64 + self.until(rest) as f64;
        Some(count * OPPORTUNITY as f64)
    }

    fn mean_bps(&self) -> f64 {
        (self.times.len() as u64 * OPPORTUNITY * 8) as f64 * 1e9 / self.round() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn chosen(times: &[u64]) -> Chosen {
        let values = vec![("opportunities".into(), Value::List(times.to_vec()))];
        Chosen { kind: "mahimahi".into(), values }
    }

    /// Milliseconds at which packets of these sizes leave that all wait from then on.
    fn leave(times: &[u64], from: u64, sizes: &[u16]) -> Vec<u64> {
        let mut trace = Mahimahi::new(&chosen(times));
        let (mut at, mut carry, mut waited) = (Time::from_ms(from), 0, false);
        let mut one = |bytes: &u16| {
            (at, carry) = trace.finish(Begun { at, bytes: *bytes, waited, carry });
            waited = true;
            at.as_ns() / MS
        };
        sizes.iter().map(&mut one).collect()
    }

    #[test]
    fn what_waits_shares_the_opportunities() {
        // The opportunity at 0 ms is over when the first packet comes; two at 5 ms take two packets.
        assert_eq!(leave(&[0, 5, 5, 10], 0, &[1500, 1500, 1500]), [5, 5, 10]);
        // Small packets share one, a large one takes the rest and a part of the next.
        assert_eq!(leave(&[2, 4, 6], 0, &[500, 1000, 5, 1504]), [2, 2, 4, 6]);
        assert_eq!(leave(&[2, 4, 6], 0, &[3008, 3008]), [4, 8]);
        // The trace begins again after 6 ms.
        assert_eq!(leave(&[2, 4, 6], 4, &[1500, 1500, 1500]), [6, 8, 10]);
        assert_eq!(leave(&[2, 4, 6], 6_000_001, &[1500]), [6_000_002]);
    }

    #[test]
    fn an_opportunity_at_which_nothing_waits_is_lost() {
        let mut trace = Mahimahi::new(&chosen(&[1, 2, 3, 10]));
        let mut finish = |ms, waited, carry| {
            let begun = Begun { at: Time::from_ms(ms), bytes: 1000, waited, carry };
            trace.finish(begun)
        };
        let (end, rest) = finish(0, false, 0);
        assert_eq!((end, rest), (Time::from_ms(1), 504));
        // The rest of the first and all of the second are lost.
        assert_eq!(finish(2, false, rest).0, Time::from_ms(3));
        assert_eq!(finish(3, false, 504).0, Time::from_ms(10));
        assert_eq!(finish(11, false, 504).0, Time::from_ms(12));
    }

    #[test]
    fn it_says_what_it_offers() {
        let trace = Mahimahi::new(&chosen(&[0, 5, 5, 10]));
        assert_eq!(trace.offered_bytes(Time::from_ms(27)), Some(1504.0 * 11.0));
        assert_eq!(trace.mean_bps(), 4.0 * 1504.0 * 800.0);
        assert!(check(&chosen(&[0, 5, 5, 10])).is_ok());
        for bad in [&[][..], &[0, 0], &[5, 4]] {
            assert!(check(&chosen(bad)).is_err(), "{bad:?}");
        }
    }
}
