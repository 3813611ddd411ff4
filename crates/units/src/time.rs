//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point or a span of simulated time: whole nanoseconds since the start of the run.
///
/// 64 bits hold 584 years. Sums saturate at [`Time::NEVER`], so that a timer that was backed off
/// beyond the end of time simply never fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);

    /// A time from nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A time from milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// A time from seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest double.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The span times a whole number, saturating.
    #[inline]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// Of this moment, which is not after `now`, and those that follow in such steps, the first one after `now`.
    pub fn stepped_past(self, now: Self, step: Self) -> Self {
        self + step.times(now.since(self).0 / step.0 + 1)
    }
}

impl Add for Time {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;

    /// The span between two times. A negative span is a bug and panics in debug builds.
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "negative span: {self} - {other}");
        Self(self.0.wrapping_sub(other.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate_at_never() {
        assert_eq!(Time::NEVER + Time::from_secs(1), Time::NEVER);
        assert_eq!(Time::from_secs(2).since(Time::from_secs(3)), Time::ZERO);
        assert_eq!(Time::from_secs(1 << 30).times(1 << 40), Time::NEVER);
    }

    #[test]
    fn a_time_reads_as_seconds() {
        assert_eq!(Time::from_ns(1_500_000_001).to_string(), "1.500000001 s");
        assert_eq!(Time::from_ms(1500).as_secs(), 1.5);
    }
}
