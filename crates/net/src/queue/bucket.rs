//! A token bucket, exact: tokens are counted in billionths of a bit, so that none is ever rounded away.

use ackclock_units::Time;

/// Billionths of a bit in a byte.
const UNIT: u128 = 8_000_000_000;

/// A bucket that starts full.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    rate_bps: u128,
    most: u128,
    tokens: u128,
    at: Time,
}

impl Bucket {
    pub fn new(rate_bps: u64, burst_bytes: u64) -> Self {
        let most = u128::from(burst_bytes) * UNIT;
        Self { rate_bps: u128::from(rate_bps), most, tokens: most, at: Time::ZERO }
    }

    /// Whether a packet of this size fits at all.
    pub fn holds(&self, bytes: u64) -> bool {
        u128::from(bytes) * UNIT <= self.most
    }

    /// Puts in what has come since the last time.
    pub fn refill(&mut self, now: Time) {
        let elapsed = u128::from(now.since(self.at).as_ns());
        self.tokens = (self.tokens + elapsed * self.rate_bps).min(self.most);
        self.at = now;
    }

    /// How long until there are tokens for so many bytes; zero if there are.
    pub fn wait(&self, bytes: u64) -> Time {
        let lack = (u128::from(bytes) * UNIT).saturating_sub(self.tokens);
        Time::from_ns(lack.div_ceil(self.rate_bps) as u64)
    }

    /// Bytes that there were tokens for at the last refill, less those taken since.
    pub fn bytes(&self) -> f64 {
        self.tokens as f64 / UNIT as f64
    }

    /// Takes the tokens out.
    pub fn take(&mut self, bytes: u64) {
        self.tokens -= u128::from(bytes) * UNIT;
    }
}
