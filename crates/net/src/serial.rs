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
    /// floor((2^64 - 1) / denominator), to divide by multiplying.
    reciprocal: u64,
}

impl Serial {
    /// A wire of this rate, at least 1 bit/s.
    pub fn new(rate_bps: u64) -> Self {
        const NS_BITS: u64 = 8_000_000_000;
        let divisor = gcd(NS_BITS, rate_bps);
        let denominator = rate_bps / divisor;
        Self { numerator: NS_BITS / divisor, denominator, reciprocal: u64::MAX / denominator }
    }

    /// Whole nanoseconds for `bytes`, and what is to be carried over; `carry` comes from the
    /// transmission before.
    #[inline]
    pub fn time(&self, bytes: u16, carry: u64) -> (u64, u64) {
        let total = u64::from(bytes) * self.numerator + carry;
        // The estimate is the quotient or one less: total and denominator are below 2^50.
        let estimate = ((u128::from(total) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = total - estimate * self.denominator;
        if rest >= self.denominator {
            (estimate + 1, rest - self.denominator)
        } else {
            (estimate, rest)
        }
    }

    /// Seconds for `bytes`, rounded once as long as the numbers are below 2^53.
    pub fn seconds(&self, bytes: u16) -> f64 {
        let numerator = u64::from(bytes) * self.numerator;
        numerator as f64 / (self.denominator as f64 * 1e9)
    }

    /// Nanoseconds for many bytes, as a real number.
    pub fn exact_ns(&self, bytes: u64) -> f64 {
        bytes as f64 * self.numerator as f64 / self.denominator as f64
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
        for rate in [1, 2, 3, 7, 9_999_991, 10_485_760, 13_107_200, 999_999_999_989] {
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
