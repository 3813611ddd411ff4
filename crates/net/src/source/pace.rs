//! The distance of writes at a rate, exact in the long run.

use ackclock_units::Time;
use ackclock_units::param::Chosen;

/// Writes of one size at one rate. The fraction of a nanosecond is carried over.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    pub bytes: u32,
    rate: u64,
    whole: u64,
    rest: u64,
    carry: u64,
}

impl Pace {
    /// `rate` and `write` of a source.
    pub fn new(chosen: &Chosen) -> Self {
        const NS_BITS: u64 = 8_000_000_000;
        let (bytes, rate) = (chosen.int("write_bytes"), chosen.int("rate_bps"));
        let total = bytes * NS_BITS;
        Self { bytes: bytes as u32, rate, whole: total / rate, rest: total % rate, carry: 0 }
    }

    /// Time from one write to the next.
    #[inline]
    pub fn next(&mut self) -> Time {
        self.carry += self.rest;
        if self.carry < self.rate {
            return Time::from_ns(self.whole);
        }
        self.carry -= self.rate;
        Time::from_ns(self.whole + 1)
    }

    /// The same as a real number of nanoseconds.
    pub fn exact_ns(&self) -> f64 {
        self.whole as f64 + self.rest as f64 / self.rate as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial::{Rounding, Serial};
    use ackclock_units::param::Value;

    /// Packets written back to back at the rate of a link leave as they come.
    #[test]
    fn it_is_the_time_on_a_wire() {
        for rate in [1, 3, 9_999_991, 10_485_760, 999_999_999_989] {
            for bytes in [1, 210, 1500, 65_535] {
                let values = [("rate_bps", rate), ("write_bytes", bytes)];
                let values = values.map(|(name, value)| (name.into(), Value::Int(value))).into();
                let mut pace = Pace::new(&Chosen { kind: "cbr".into(), values });
                let serial = Serial::new(rate, Rounding::Carried);
                let mut carry = 0;
                for _ in 0..1000 {
                    let (ns, rest) = serial.time(bytes as u16, carry);
                    carry = rest;
                    assert_eq!(pace.next().as_ns(), ns, "{bytes} B at {rate} bps");
                }
            }
        }
    }
}
