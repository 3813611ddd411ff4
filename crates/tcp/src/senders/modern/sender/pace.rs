//! Pacing: when the next segment may leave.
//!
//! Source: Linux, `tcp_update_skb_after_send`; for algorithms that set no pace of their own `tcp_update_pacing_rate`,
//! which takes effect with the queue discipline `fq`, and `tcp_tso_autosize` for what leaves together.
//!
//! DEVIATION: the number of segments that leave together is given; it does not grow with the rate.

use super::Sender;
use crate::cc::CongestionControl;
use ackclock_units::Time;

/// Segments at the start of a flow that are not paced.
const NOT_PACED: u64 = 10;
/// Pace relative to a window a round trip, percent: in slow start far below the threshold, and after that.
const SLOW_START: f64 = 200.0;
const AVOIDANCE: f64 = 120.0;

/// Segments that leave together, and what follows from them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Train {
    pub segments: u32,
    /// Wait that they cause, and time that was left over before them, nanoseconds.
    gap: u64,
    credit: u64,
}

impl Sender {
    /// A segment leaves.
    #[inline]
    pub(super) fn pace(&mut self, now: Time, payload: u64) {
        if self.paced {
            self.pace_by(now, payload);
        }
    }

    fn pace_by(&mut self, now: Time, payload: u64) {
        let Some(rate) = self.cc.pacing_rate().or(self.window_rate) else { return };
        let before = self.departure;
        self.departure = self.departure.max(now);
        if self.stats.segments_sent + 1 < NOT_PACED {
            return;
        }
        if self.train.segments == 0 {
            self.train.credit = self.departure.since(before).as_ns();
        }
        self.train.segments += 1;
        self.train.gap += (payload * 8).saturating_mul(1_000_000_000) / rate.max(1);
        if self.train.segments >= self.rules.pacing_burst {
            self.end_train();
        }
    }

    /// What left together is complete.
    pub(super) fn end_train(&mut self) {
        let Train { gap, credit, .. } = std::mem::take(&mut self.train);
        let gap = gap - (gap / 2).min(credit);
        self.departure += Time::from_ns(gap);
    }

    /// The pace follows the window.
    #[cold]
    pub(super) fn follow_window(&mut self) {
        let cwnd = self.window.cwnd.max(f64::from(self.board.packets_out()));
        let percent =
            if self.window.cwnd < self.window.ssthresh / 2.0 { SLOW_START } else { AVOIDANCE };
        let srtt = self.srtt().as_secs().max(1e-6);
        let bits = 8.0 * self.rules.mss as f64 * cwnd * percent / 100.0;
        self.window_rate = Some((bits / srtt) as u64);
    }

    /// When something leaves that only the pacing holds back.
    #[inline]
    pub(super) fn next_departure(&self) -> Time {
        if self.paced { self.next_paced() } else { Time::NEVER }
    }

    #[inline(never)]
    fn next_paced(&self) -> Time {
        // What did not leave when it was due waits for something else.
        if self.departure <= self.polled || self.opening {
            return Time::NEVER;
        }
        let room = self.has_room();
        let something = self.board.has_hole() || self.may_send().is_some();
        if room && something { self.departure } else { Time::NEVER }
    }
}
