//! Time to put bytes on a wire, exact in the long run.

/// Nanoseconds per byte as a fraction in lowest terms.
///
/// A transmission rarely takes a whole number of nanoseconds. The fraction that is cut off is carried
/// over to the next transmission that follows without a pause, so that n packets take exactly
/// floor(n · size · 8 / rate).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Serial {
    numerator: u64,
    denominator: u64,
}

impl Serial {
    /// A wire of this rate, at least 1 bit/s.
    pub fn new(rate_bps: u64) -> Self {
        const NS_BITS: u64 = 8_000_000_000;
        let divisor = gcd(NS_BITS, rate_bps);
        Self { numerator: NS_BITS / divisor, denominator: rate_bps / divisor }
    }

    /// Whole nanoseconds for `bytes`, and what is to be carried over; `carry` comes from the
    /// transmission before.
    #[inline]
    pub fn time(&self, bytes: u16, carry: u64) -> (u64, u64) {
        let total = u64::from(bytes) * self.numerator + carry;
        if self.denominator == 1 {
            (total, 0)
        } else {
            (total / self.denominator, total % self.denominator)
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_rates_take_whole_times() {
        assert_eq!(Serial::new(10_000_000).time(1000, 0), (800_000, 0));
        assert_eq!(Serial::new(10_485_760).time(1024, 0), (781_250, 0));
    }

    #[test]
    fn the_long_run_is_exact_for_any_rate() {
        for rate in [1, 3, 7, 9_999_991, 10_485_760, 13_107_200, 999_999_999_989] {
            let serial = Serial::new(rate);
            let (mut sum, mut carry, mut bytes) = (0u64, 0, 0u128);
            for i in 0..1000u16 {
                let size = 40 + i % 1461;
                let (ns, rest) = serial.time(size, carry);
                sum += ns;
                carry = rest;
                bytes += u128::from(size);
            }
            let exact = bytes * 8_000_000_000 / u128::from(rate);
            assert_eq!(u128::from(sum), exact, "rate {rate}");
        }
    }
}
