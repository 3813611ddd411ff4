//! How much more is acknowledged at times than the bandwidth explains, so that the window has room for it.

use super::delivered_in;

/// Round trips of each of the two windows of the maximum.
const ROUNDS: u32 = 5;
/// Acknowledged segments after which an epoch ends in any case.
const LONGEST: u64 = 1 << 20;

/// State of the estimator.
#[derive(Debug, Clone, Default)]
pub(super) struct Aggregation {
    /// Beginning of the epoch, microseconds, and what was acknowledged in it.
    since: u64,
    acked: u64,
    extra: [u64; 2],
    window: usize,
    rounds: u32,
}

impl Aggregation {
    /// A new epoch begins.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
        self.acked = 0;
    }

    /// Segments beyond what was expected, at most in the last five to ten round trips.
    pub(super) fn extra(&self) -> u64 {
        self.extra[0].max(self.extra[1])
    }

    /// So many segments were delivered at `at`, at a bandwidth of `bw`.
    pub(super) fn on_delivered(
        &mut self,
        at: u64,
        delivered: u64,
        bw: u64,
        cwnd: u64,
        round_start: bool,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.window = 1 - self.window;
                self.extra[self.window] = 0;
            }
        }
        let mut expected = delivered_in(bw, at.saturating_sub(self.since));
        if self.acked <= expected || self.acked + delivered >= LONGEST {
            self.begin(at);
            expected = 0;
        }
        self.acked = (self.acked + delivered).min(LONGEST - 1);
        let extra = (self.acked - expected).min(cwnd);
        let most = &mut self.extra[self.window];
        *most = extra.max(*most);
    }
}
