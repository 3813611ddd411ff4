//! The long-term model: a policer that drops what exceeds its tokens shows as two intervals with much loss and the same rate.

use super::{UNIT, bandwidth};

/// Round trips of an interval: at least this many, at most four times as many.
const LEAST_ROUNDS: u32 = 4;
/// Lost segments per 256 delivered that an interval has at least.
const LOSS: u64 = 50;
/// Round trips for which the rate of the policer is used.
const USED_ROUNDS: u32 = 48;
/// Rates are the same if they differ by this part of 256, or by this many bytes per second.
const SAME: u64 = UNIT / 8;
const SAME_RATE: u64 = 4000 / 8;

/// What counts are when an interval begins or ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub delivered: u64,
    /// Microseconds.
    pub delivered_time: u64,
    pub lost: u64,
}

/// What an ACK says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub counts: Counts,
    pub losses: bool,
    pub app_limited: bool,
    pub round_start: bool,
    pub probing_bandwidth: bool,
}

/// State of the model.
#[derive(Debug, Clone, Default)]
pub(super) struct Policer {
    /// The rate of the last interval, or of the policer; zero if there is none.
    bw: u64,
    used: bool,
    sampling: bool,
    rounds: u32,
    began: Counts,
}

impl Policer {
    /// The rate of the policer, if there seems to be one.
    pub(super) fn bw(&self) -> Option<u64> {
        self.used.then_some(self.bw)
    }

    /// Forgets all.
    pub(super) fn reset(&mut self, counts: Counts) {
        *self = Self { began: counts, ..Self::default() };
    }

    fn begin(&mut self, counts: Counts) {
        self.began = counts;
        self.rounds = 0;
    }

    /// An ACK with a rate sample, or a timeout; whether the rate of the policer is given up, and the gains begin
    /// their cycle anew. `rate` turns a bandwidth into bytes per second.
    pub(super) fn on_event(&mut self, event: &Event, rate: impl Fn(u64) -> u64) -> bool {
        let counts = event.counts;
        if self.used {
            if event.probing_bandwidth && event.round_start {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.reset(counts);
                    return true;
                }
            }
            return false;
        }
        if !self.sampling {
            // The first loss shows that the tokens are used up.
            if !event.losses {
                return false;
            }
            self.begin(counts);
            self.sampling = true;
        }
        if event.app_limited {
            self.reset(counts);
            return false;
        }
        self.rounds += u32::from(event.round_start);
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(counts);
        } else if self.rounds >= LEAST_ROUNDS && event.losses {
            self.end(counts, rate);
        }
        false
    }

    /// An interval may end at this loss.
    fn end(&mut self, counts: Counts, rate: impl Fn(u64) -> u64) {
        let lost = counts.lost - self.began.lost;
        let delivered = counts.delivered - self.began.delivered;
        if delivered == 0 || lost * UNIT < LOSS * delivered {
            return;
        }
        let ms = counts.delivered_time / 1000 - self.began.delivered_time / 1000;
        if ms < 1 {
            return;
        }
        if ms >= u64::from(u32::MAX / 1000) {
            return self.reset(counts);
        }
        let bw = bandwidth(delivered, ms * 1000);
        let difference = bw.abs_diff(self.bw);
        let same = difference * UNIT <= SAME * self.bw || rate(difference) <= SAME_RATE;
        if self.bw > 0 && same {
            self.bw = u64::midpoint(bw, self.bw);
            self.used = true;
            self.rounds = 0;
        } else {
            self.bw = bw;
            self.begin(counts);
        }
    }
}
