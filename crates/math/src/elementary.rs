//! Logarithm, exponential function and cube root from the basic operations alone.
//!
//! Those of the C library differ in the last bit between machines; random numbers made with them would
//! make the same run differ, too. Here every step is one that IEEE 754 prescribes to the bit. The
//! relative error is a few units of the last place.

use std::f64::consts::{LN_2, SQRT_2};

/// The natural logarithm of a normal, positive number: series of 2 artanh((m - 1) / (m + 1)).
pub fn ln(x: f64) -> f64 {
    debug_assert!(x.is_normal() && x > 0.0);
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    // |s| < 0.172: the term of order 23 is below 2^-60.
    let square = s * s;
    let mut sum = 0.0;
    for order in (1..=21).rev().step_by(2) {
        sum = sum * square + 1.0 / f64::from(order);
    }
    f64::from(exponent) * LN_2 + 2.0 * s * sum
}

/// e to the power of a number from 0 to 700: Taylor series of the part that is not a power of two.
pub fn exp(x: f64) -> f64 {
    debug_assert!((0.0..700.0).contains(&x));
    let doublings = (x / LN_2 + 0.5) as u64;
    let rest = x - doublings as f64 * LN_2;
    // |rest| < 0.347: the term of order 15 is below 2^-62.
    let mut sum = 1.0;
    for order in (1..=14).rev() {
        sum = 1.0 + sum * rest / f64::from(order);
    }
    sum * f64::from_bits((1023 + doublings) << 52)
}

/// A normal, positive number to a power; the result lies between e^-700 and e^700.
pub fn pow(base: f64, power: f64) -> f64 {
    let exponent = power * ln(base);
    if exponent < 0.0 { 1.0 / exp(-exponent) } else { exp(exponent) }
}

/// The cube root of a number from 0 on, below 2^1020: Newton's iteration from a power of two, which it reaches from
/// above.
pub fn cbrt(x: f64) -> f64 {
    debug_assert!((0.0..f64::MAX / 16.0).contains(&x));
    if !x.is_normal() {
        return 0.0;
    }
    let exponent = (x.to_bits() >> 52) as i64 - 1023;
    // The power of two at or above the root: at most 2^(1/3) times 2 too large.
    let mut root = f64::from_bits(((exponent.div_euclid(3) + 1 + 1023) as u64) << 52);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

/// The greatest whole number whose cube is at most `x`.
pub fn whole_cbrt(x: u64) -> u64 {
    let (mut low, mut high) = (0u64, 1 << 22);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if u128::from(middle).pow(3) <= u128::from(x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_library() {
        for i in 1..20_000 {
            let x = f64::from(i) / 20_000.0;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * (1.0 + x.ln().abs()), "ln {x}");
            let y = 40.0 * x;
            assert!((exp(y) / y.exp() - 1.0).abs() < 2e-14, "exp {y}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
        let least = f64::from_bits(1 << 52);
        assert!((ln(least) - least.ln()).abs() < 1e-12);
    }

    #[test]
    fn cube_roots_agree_with_the_library() {
        for i in 1..20_000_u32 {
            let x = f64::from(i) * 0.37;
            assert!((cbrt(x) / x.cbrt() - 1.0).abs() < 4e-16, "cbrt {x}");
            let cube = u64::from(i).pow(3);
            assert_eq!(whole_cbrt(cube), u64::from(i));
            assert_eq!(whole_cbrt(cube - 1), u64::from(i) - 1);
        }
        assert_eq!((cbrt(0.0), cbrt(27.0), cbrt(1e-300)), (0.0, 3.0, 1e-100));
        assert_eq!(whole_cbrt(u64::MAX), 2_642_245);
    }

    /// The bits are part of the contract: results depend on them.
    #[test]
    fn the_bits_are_pinned() {
        assert_eq!(ln(0.3).to_bits(), PINNED_LN);
        assert_eq!(exp(3.7).to_bits(), PINNED_EXP);
        assert_eq!(cbrt(75.0).to_bits(), PINNED_CBRT);
    }

    const PINNED_LN: u64 = 13_831_473_067_500_349_216;
    const PINNED_CBRT: u64 = 4_616_434_122_223_844_232;
    const PINNED_EXP: u64 = 4_630_889_269_335_878_785;
}
