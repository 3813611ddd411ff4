//! The short-term bounds: what the last round trips showed while the flow did not probe.

use super::super::{RateSample, Window};
use super::{Bbr3, Mode, Phase};
use ackclock_units::Time;

/// Up to this round-trip time marks are taken for those of a shallow threshold.
pub(super) const ECN_RTT: Time = Time::from_ms(5);
/// Weight of a round trip in the share of marks, and the cut of the bound for all of it.
const ALPHA_GAIN: f64 = 1.0 / 16.0;
const ALPHA_CUT: f64 = 1.0 / 3.0;
/// Share of marks that is too much for a probe.
const MOST_MARKED: f64 = 0.5;

/// What the present round trip has shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Latest {
    bw: f64,
    pub delivered: f64,
    /// Something was lost, or marked, in it.
    pub lost: bool,
    marked: bool,
    /// Delivered segments that end it, and whether it has ended with this ACK.
    pub round_end: u64,
    pub round_start: bool,
}

impl Latest {
    pub(super) fn on_ack(&mut self, rate: &RateSample, bw: f64) {
        self.marked |= rate.newly_marked > 0;
        self.bw = self.bw.max(bw);
        self.delivered = self.delivered.max(rate.delivered.unwrap_or(0) as f64);
        self.round_start = rate.taken && rate.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = rate.total_delivered;
        }
    }

    /// At the end of an ACK: a round trip begins with its sample.
    pub(super) fn on_round(&mut self, rate: &RateSample, bw: f64) {
        if self.round_start {
            self.bw = bw;
            self.delivered = rate.delivered.unwrap_or(0) as f64;
        }
    }

    pub(super) fn clear(&mut self) {
        *self =
            Self { round_end: self.round_end, round_start: self.round_start, ..Self::default() };
    }
}

/// The share of marks (Google's branch v3).
#[derive(Debug, Clone)]
pub(super) struct Marks {
    alpha: f64,
    delivered: u64,
    marked: u32,
    /// Round trips in a row with too many.
    pub marked_rounds: u32,
}

impl Default for Marks {
    fn default() -> Self {
        Self { alpha: 1.0, delivered: 0, marked: 0, marked_rounds: 0 }
    }
}

impl Marks {
    pub(super) fn on_round(&mut self, rate: &RateSample, eligible: bool) {
        let delivered = (rate.total_delivered - self.delivered) as f64;
        let marked = f64::from(rate.total_marked.wrapping_sub(self.marked));
        (self.delivered, self.marked) = (rate.total_delivered, rate.total_marked);
        if !eligible || delivered == 0.0 {
            return;
        }
        let share = marked / delivered;
        self.alpha += ALPHA_GAIN * (share - self.alpha);
        self.marked_rounds = if share >= MOST_MARKED { self.marked_rounds + 1 } else { 0 };
    }
}

/// Bounds of bandwidth and of what is in flight; infinite where nothing was lost.
#[derive(Debug, Clone)]
pub(super) struct ShortTerm {
    pub bw: f64,
    pub inflight: f64,
    pub ecn: Marks,
    /// Both, and the long-term bound, before the present recovery.
    saved: [f64; 3],
}

impl Default for ShortTerm {
    fn default() -> Self {
        let free = f64::INFINITY;
        Self { bw: free, inflight: free, ecn: Marks::default(), saved: [free; 3] }
    }
}

impl ShortTerm {
    pub(super) fn reset(&mut self) {
        self.bw = f64::INFINITY;
        self.inflight = f64::INFINITY;
    }
}

impl Bbr3 {
    /// A round trip is over: a loss, or marks, in it lower the bounds, unless the flow was looking for losses.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        let probing = matches!(self.mode, Mode::Startup | Mode::ProbeBw(Phase::Refill | Phase::Up));
        let (lost, marked) = (self.latest.lost, self.latest.marked && self.heeds_ecn());
        (self.latest.lost, self.latest.marked) = (false, false);
        if probing || !(lost || marked) {
            return;
        }
        let short = &mut self.short;
        if short.inflight.is_infinite() {
            short.inflight = window.cwnd;
        }
        let by_marks = if marked {
            short.inflight * (1.0 - short.ecn.alpha * ALPHA_CUT)
        } else {
            f64::INFINITY
        };
        if lost {
            let max_bw = self.samples[0].max(self.samples[1]);
            let bw = if short.bw.is_infinite() { max_bw } else { short.bw };
            short.bw = self.latest.bw.max(self.options.beta * bw);
            short.inflight = self.latest.delivered.max(self.options.beta * short.inflight);
        }
        short.inflight = short.inflight.min(by_marks);
    }

    /// Whether too much of what was in flight is lost.
    pub(super) fn is_too_high(&self, lost: u32, in_flight: u32) -> bool {
        f64::from(lost) > self.options.loss_threshold * f64::from(in_flight)
    }

    /// The same of a sample, marks included.
    pub(super) fn is_sample_too_high(&self, rate: &RateSample) -> bool {
        let delivered = rate.delivered.unwrap_or(0);
        let marked = self.heeds_ecn()
            && delivered > 0
            && f64::from(rate.marked) > MOST_MARKED * delivered as f64;
        marked || (rate.taken && self.is_too_high(rate.lost, rate.tx_in_flight))
    }

    /// A recovery or a timeout begins, which may turn out needless.
    pub(super) fn save_bounds(&mut self) {
        self.short.saved = [self.short.bw, self.short.inflight, self.probe.most];
    }

    /// It was needless.
    pub(super) fn restore_bounds(&mut self) {
        let [bw, inflight, most] = self.short.saved;
        self.latest.lost = false;
        self.short.bw = self.short.bw.max(bw);
        self.short.inflight = self.short.inflight.max(inflight);
        self.probe.most = self.probe.most.max(most);
    }
}
