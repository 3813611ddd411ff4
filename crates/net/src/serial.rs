//! Time to put bytes on a wire, in whole nanoseconds.

/// What becomes of fractions of a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// They are carried over to the next transmission that follows without a pause, so that n packets
    /// take exactly floor(n · size · 8 / rate).
    Carried,
    /// Each transmission takes size · 8 / rate seconds as a 64-bit floating-point number, cut to whole
    /// nanoseconds; often one less than it should be. Source: ns-3.24, `DataRate::CalculateBytesTxTime`
    /// and `Time::From`, which goes by way of 64 bits after the binary point.
    Double,
}

impl Rounding {
    /// The rounding that a scenario named.
    pub fn named(word: &str) -> Self {
        match word {
            "carried" => Self::Carried,
            "double" => Self::Double,
            other => panic!("no rounding is named `{other}`"),
        }
    }
}

/// Nanoseconds per byte as a fraction, in lowest terms if fractions are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Serial {
    numerator: u64,
    denominator: u64,
    /// floor((2^64 - 1) / denominator), to divide by multiplying; 0 if nothing is carried.
    reciprocal: u64,
}

impl Serial {
    /// A wire of this rate, at least 1 bit/s.
    pub fn new(rate_bps: u64, rounding: Rounding) -> Self {
        const NS_BITS: u64 = 8_000_000_000;
        if rounding == Rounding::Double {
            return Self { numerator: NS_BITS, denominator: rate_bps, reciprocal: 0 };
        }
        let divisor = gcd(NS_BITS, rate_bps);
        let denominator = rate_bps / divisor;
        Self { numerator: NS_BITS / divisor, denominator, reciprocal: u64::MAX / denominator }
    }

    /// The same wire with another rate.
    pub fn with_rate(&self, rate_bps: u64) -> Self {
        let rounding = if self.reciprocal == 0 { Rounding::Double } else { Rounding::Carried };
        Self::new(rate_bps, rounding)
    }

    /// Whole nanoseconds for `bytes`, and what is to be carried over; `carry` comes from the
    /// transmission before.
    #[inline]
    pub fn time(&self, bytes: u16, carry: u64) -> (u64, u64) {
        if self.reciprocal == 0 {
            return (self.cut_double(bytes), 0);
        }
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

    #[cold]
    fn cut_double(&self, bytes: u16) -> u64 {
        const TWO_64: f64 = 18_446_744_073_709_551_616.0;
        let seconds = f64::from(bytes) * 8.0 / self.denominator as f64;
        let whole = seconds.trunc();
        let fraction = ((seconds - whole) * TWO_64).round();
        let fixed = ((whole as u128) << 64) + fraction as u128;
        // (whole + fraction) · 10^9 without more than 128 bits.
        let (high, low) = (fixed >> 64, fixed & u128::from(u64::MAX));
        (high * 1_000_000_000 + ((low * 1_000_000_000) >> 64)) as u64
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
        let carried = |rate| Serial::new(rate, Rounding::Carried);
        assert_eq!(carried(10_000_000).time(1000, 0), (800_000, 0));
        assert_eq!(carried(10_485_760).time(1024, 0), (781_250, 0));
    }

    #[test]
    fn the_long_run_is_exact_for_any_rate() {
        for rate in [1, 2, 3, 7, 9_999_991, 10_485_760, 13_107_200, 999_999_999_989] {
            let serial = Serial::new(rate, Rounding::Carried);
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

    #[test]
    fn doubles_are_cut_as_ns_3_cuts_them() {
        // Transmissions as ns-3.24 itself times them.
        let cases = [
            (5_000_000, 54, 86_399),
            (5_000_000, 182, 291_199),
            (5_000_000, 310, 496_000),
            (5_000_000, 566, 905_600),
            (1_000_000, 54, 431_999),
            (1_000_000, 182, 1_456_000),
            (1_000_000, 310, 2_479_999),
            (2_400_000, 182, 606_666),
            (1_544_000, 1500, 7_772_020),
            (3_333_333, 566, 1_358_400),
            (100_000, 1, 79_999),
            (1_000_000_000, 182, 1_455),
            (1, 310, 2_480_000_000_000),
        ];
        for (rate, bytes, ns) in cases {
            let serial = Serial::new(rate, Rounding::Double);
            assert_eq!(serial.time(bytes, 0), (ns, 0), "{bytes} B at {rate} bit/s");
            assert_eq!(Serial::new(1, Rounding::Double).with_rate(rate), serial);
        }
    }
}
