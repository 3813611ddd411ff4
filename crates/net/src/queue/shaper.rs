//! The shaper of CAKE: a clock that says when the next packet may leave.
//!
//! Source: Linux `net/sched/sch_cake.c` (`cake_calc_overhead`, `cake_advance_shaper`). Each packet moves the clock on by the time
//! that it takes at the rate of the shaper, with what the wire behind adds to it. No part of a nanosecond is lost.

use ackclock_units::Time;
use ackclock_units::param::Chosen;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    None,
    Atm,
    Ptm,
}

#[derive(Debug, Clone)]
pub(super) struct Shaper {
    rate_bps: u64,
    overhead: u64,
    least_size: u64,
    framing: Framing,
    next: Time,
    /// Billionths of a bit that the clock has not counted yet.
    rest: u128,
}

impl Shaper {
    pub fn new(chosen: &Chosen, rate_bps: u64) -> Self {
        Self {
            rate_bps,
            overhead: chosen.int("overhead_bytes"),
            least_size: chosen.int("least_size_bytes"),
            framing: match chosen.word("framing") {
                "atm" => Framing::Atm,
                "ptm" => Framing::Ptm,
                _ => Framing::None,
            },
            next: Time::ZERO,
            rest: 0,
        }
    }

    /// When the next packet may leave.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Nothing has waited until now: no time is saved up.
    pub fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.rest) = (now, 0);
        }
    }

    /// Bytes that a packet takes on the wire behind.
    pub fn wire_size(&self, bytes: u64) -> u64 {
        let bytes = (bytes + self.overhead).max(self.least_size);
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }

    /// A packet leaves.
    pub fn advance(&mut self, bytes: u64) {
        let bits = u128::from(8 * self.wire_size(bytes)) * 1_000_000_000 + self.rest;
        let rate = u128::from(self.rate_bps);
        self.rest = bits % rate;
        self.next += Time::from_ns((bits / rate) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_packet_takes_on_the_wire() {
        let shaper = |framing| Shaper {
            rate_bps: 1,
            overhead: 8,
            least_size: 60,
            framing,
            next: Time::ZERO,
            rest: 0,
        };
        let sizes = |framing| [40, 1500].map(|bytes| shaper(framing).wire_size(bytes));
        assert_eq!(sizes(Framing::None), [60, 1508]);
        assert_eq!(sizes(Framing::Atm), [106, 1696]);
        assert_eq!(sizes(Framing::Ptm), [61, 1532]);
    }
}
