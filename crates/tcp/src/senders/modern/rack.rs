//! Loss detection by time: RACK.
//!
//! Source: RFC 8985 sections 6 and 7; Linux, `tcp_recovery.c` and `tcp_check_sack_reordering`, of which each
//! function here is named. A segment counts as lost when one that was sent later has arrived, and a window for
//! reordering has passed; without any reordering seen the third such segment closes that window, as a third
//! duplicate ACK would.

use super::scoreboard::Scoreboard;
use ackclock_units::Time;

/// Segments that arrive out of order before one counts as lost (RFC 5681; Linux, `tcp_reordering`).
const DUP_THRESH: u32 = 3;
/// Greatest distance of reordering that is remembered, segments (Linux, `tcp_max_reordering`).
const MOST_REORDERING: u32 = 300;
/// Recoveries that a widened window lasts (Linux, `TCP_RACK_RECOVERY_THRESH`).
const PERSIST: u8 = 16;
/// What is added to the timer for reordering (Linux, `TCP_TIMEOUT_MIN_US`).
const SLACK: Time = Time::from_ms(2);

/// What RACK keeps for a connection.
#[derive(Debug, Clone)]
pub struct Rack {
    /// When the segment was sent that was sent last of those delivered, and its end.
    pub time: Time,
    pub end: u64,
    /// Round-trip time of the one that was delivered last.
    pub rtt: Time,
    /// Something was delivered since losses were looked for.
    pub advanced: bool,
    /// Quarters of the minimum round-trip time that the window for reordering has.
    steps: u8,
    /// Recoveries until it falls back to one.
    persist: u8,
    /// A duplicate was reported since the window was adapted.
    pub duplicate_seen: bool,
    /// When it was.
    adapted: Time,
    /// How often reordering was seen on this connection.
    pub reordering_events: u32,
    /// Its greatest distance, segments, at least the duplicate threshold.
    pub reordering: u32,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            time: Time::ZERO,
            end: 0,
            rtt: Time::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            adapted: Time::ZERO,
            reordering_events: 0,
            reordering: DUP_THRESH,
        }
    }
}

impl Rack {
    /// A segment was delivered (`tcp_rack_advance`).
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Time,
        sent: Time,
        end: u64,
        retransmitted: bool,
        min_rtt: Time,
    ) {
        let rtt = now - sent;
        // Its first transmission may have arrived, not the one whose time is known.
        if retransmitted && rtt < min_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if sent > self.time || (sent == self.time && end > self.end) {
            self.time = sent;
            self.end = end;
        }
    }

    /// A segment that was sent once and begins at `low` has arrived after a higher one
    /// (`tcp_check_sack_reordering`).
    #[cold]
    pub fn on_reordering(&mut self, low: u64, highest: u64, mss: u64) {
        if low >= highest {
            return;
        }
        let distance = (highest - low).div_ceil(mss);
        if highest - low > u64::from(self.reordering) * mss {
            self.reordering = distance.min(u64::from(MOST_REORDERING)) as u32;
        }
        self.reordering_events += 1;
    }

    /// More repeated ACKs than segments have come (`tcp_check_reno_reordering`).
    #[cold]
    pub fn on_counted(&mut self, segments: u32) {
        self.reordering = segments.min(MOST_REORDERING).max(self.reordering.min(DUP_THRESH));
        self.reordering_events += 1;
    }

    /// Whether reordering was seen on this connection.
    pub fn has_seen_reordering(&self) -> bool {
        self.reordering_events > 0
    }

    /// The window for reordering (`tcp_rack_reo_wnd`).
    pub fn window(&self, sacked: u32, in_recovery: bool, min_rtt: Time, srtt: Time) -> Time {
        if !self.has_seen_reordering() && (in_recovery || sacked >= self.reordering) {
            return Time::ZERO;
        }
        let quarters = (min_rtt.as_ns() / 4).saturating_mul(u64::from(self.steps));
        Time::from_ns(quarters).min(srtt)
    }

    /// Counts segments as lost (`tcp_rack_detect_loss`); answers how long to wait for the others, if there are any
    /// that could be lost.
    pub fn detect(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        in_recovery: bool,
        min_rtt: Time,
        srtt: Time,
    ) -> Option<Time> {
        let patience = self.rtt + self.window(board.sacked_out, in_recovery, min_rtt, srtt);
        let wait = board.detect(self.time, self.end, |sent| patience.since(now - sent.time));
        (wait > Time::ZERO).then(|| wait + SLACK)
    }

    /// The segments that count as lost when the retransmission timer expires (`tcp_timeout_mark_lost`).
    pub fn on_timeout(&mut self, now: Time, board: &mut Scoreboard, reneged: bool) {
        let rtt = self.rtt;
        board.lose_all(reneged, |sent| now - sent.time >= rtt);
        if reneged {
            self.reordering_events = 0;
        }
    }

    /// The window for reordering adapts to duplicates that were reported (`tcp_rack_update_reo_wnd`). `newest` is when
    /// the segment was sent that was sent last of those that this ACK delivers.
    #[inline]
    pub fn adapt(&mut self, now: Time, newest: Time) {
        if self.duplicate_seen {
            self.widen(now, newest);
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    #[cold]
    fn widen(&mut self, now: Time, newest: Time) {
        self.duplicate_seen = false;
        // At most once a round trip.
        if newest < self.adapted {
            return;
        }
        self.steps = self.steps.saturating_add(1);
        self.adapted = now;
        self.persist = PERSIST;
    }

    /// A recovery has ended, and nothing showed that it was needless.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Duplicates have shown that a recovery was needless.
    pub fn on_needless(&mut self) {
        self.persist = PERSIST.min(self.persist + 1);
    }

    /// A timeout while much had arrived out of order: the distance of reordering was overestimated.
    pub fn forget_distance(&mut self, sacked: u32) {
        if sacked >= DUP_THRESH {
            self.reordering = self.reordering.min(DUP_THRESH);
        }
    }

    /// Whether the reordering that was seen is more than the duplicate threshold.
    pub fn is_reordered(&self) -> bool {
        self.reordering > DUP_THRESH
    }
}
