//! The start: until the rate grows no more, or too much is lost.

use super::super::{CongestionState, RateSample};
use super::{Bbr3, Mode};

/// The rate has to grow by so much in one of so many round trips.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;
/// ACKs with losses in a round trip after which it counts how much was lost.
const LOSSES: u32 = 6;
/// Round trips with too many marks that end the start.
const MARKED_ROUNDS: u32 = 2;

/// Whether the pipe is full: three round trips without a quarter more.
#[derive(Debug, Clone, Default)]
pub(super) struct FullPipe {
    baseline: f64,
    count: u32,
    /// Since the detector was reset, and ever.
    pub now: bool,
    pub reached: bool,
    /// ACKs with losses in this round trip.
    losses: u32,
}

impl FullPipe {
    /// Starts anew from this rate.
    pub(super) fn reset(&mut self, baseline: f64) {
        self.baseline = baseline;
        self.count = 0;
        self.now = false;
    }

    /// After losses the rate may grow again.
    pub(super) fn forget_baseline(&mut self) {
        self.reset(0.0);
    }

    /// A sample of the rate. The draft looks at one sample per round trip, Google's branch for growth at each.
    pub(super) fn on_sample(&mut self, rate: &RateSample, bw: f64, round_start: bool, linux: bool) {
        if self.now || rate.app_limited || bw == 0.0 || !(round_start || linux) {
            return;
        }
        if bw >= GROWTH * self.baseline {
            self.reset(bw);
        } else if round_start {
            self.count += 1;
            self.now = self.count >= ROUNDS;
            self.reached |= self.now;
        }
    }
}

impl Bbr3 {
    /// Much loss, or many marks, end the start, too.
    pub(super) fn check_start_losses(&mut self, rate: &RateSample, state: CongestionState) {
        if self.full.reached {
            return;
        }
        self.full.losses += u32::from(rate.newly_lost > 0);
        let marked = self.short.ecn.marked_rounds >= MARKED_ROUNDS;
        let lost = self.latest.round_start
            && state == CongestionState::Recovery
            && self.full.losses >= LOSSES
            && self.is_too_high(rate.lost, rate.tx_in_flight);
        if self.latest.round_start {
            self.full.losses = 0;
        }
        if self.mode == Mode::Startup && (lost || marked) {
            self.full.reached = true;
            self.probe.most = self.inflight(self.max_bw(), 1.0).max(self.latest.delivered);
        }
    }
}
