//! Delivery-rate samples.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation; Linux, `tcp_rate.c`, of which each function here is named.
//! What a segment must remember for a sample is kept in a ring of its own, which exists only if the congestion
//! control asks for samples.

use super::scoreboard::Scoreboard;
use crate::cc::{LostSegment, RateSample};
use ackclock_units::Time;

/// What is remembered of a segment's last transmission.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    delivered: u64,
    delivered_time: Time,
    first_time: Time,
    /// Segments lost and marked so far, of which differences count, and in flight with it.
    lost: u32,
    marked: u32,
    in_flight: u32,
    app_limited: bool,
    /// It has given its sample, or none was taken.
    used: bool,
}

const UNUSED: Snapshot = Snapshot {
    delivered: 0,
    delivered_time: Time::ZERO,
    first_time: Time::ZERO,
    lost: 0,
    marked: 0,
    in_flight: 0,
    app_limited: false,
    used: true,
};

/// The state of a connection.
#[derive(Debug, Clone)]
pub struct Rate {
    ring: Vec<Snapshot>,
    /// When the segment was sent that was sent last of those delivered, and its end.
    first_time: Time,
    /// When something was delivered last.
    delivered_time: Time,
    /// Delivered segments beyond which the flow is not limited by its application any more; zero if it is not.
    app_limited: u64,
    /// Segments that arrived marked.
    marked: u32,
    /// The best segment of the present ACK, and its end.
    best: Option<(Snapshot, Time)>,
    best_end: u64,
}

impl Default for Rate {
    fn default() -> Self {
        Self {
            ring: vec![UNUSED; 16],
            first_time: Time::ZERO,
            delivered_time: Time::ZERO,
            app_limited: 0,
            marked: 0,
            best: None,
            best_end: 0,
        }
    }
}

impl Rate {
    /// A segment is sent (`tcp_rate_skb_sent`), which `board` does not yet know of.
    #[inline]
    pub fn on_send(&mut self, now: Time, segment: u64, board: &Scoreboard, delivered: u64) {
        let span = board.span();
        if span.0 == span.1 {
            self.first_time = now;
            self.delivered_time = now;
        }
        let needed = (span.1.max(segment + 1) - span.0) as usize;
        if needed > self.ring.len() {
            self.grow(span, needed);
        }
        let slot = segment as usize & (self.ring.len() - 1);
        self.ring[slot] = Snapshot {
            delivered,
            delivered_time: self.delivered_time,
            first_time: self.first_time,
            lost: board.lost as u32,
            marked: self.marked,
            in_flight: board.in_flight() + 1,
            app_limited: self.app_limited > 0,
            used: false,
        };
    }

    #[cold]
    fn grow(&mut self, span: (u64, u64), needed: usize) {
        let mut ring = vec![UNUSED; needed.next_power_of_two()];
        for segment in span.0..span.1 {
            let from = segment as usize & (self.ring.len() - 1);
            let to = segment as usize & (ring.len() - 1);
            ring[to] = self.ring[from];
        }
        self.ring = ring;
    }

    /// A segment is delivered that was sent at `sent` and ends at `end` (`tcp_rate_skb_delivered`).
    pub fn on_delivered(&mut self, segment: u64, sent: Time, end: u64) {
        let slot = segment as usize & (self.ring.len() - 1);
        let snapshot = self.ring[slot];
        if snapshot.used {
            return;
        }
        self.ring[slot].used = true;
        let later = sent > self.first_time || (sent == self.first_time && end > self.best_end);
        if self.best.is_none() || later {
            self.best = Some((snapshot, sent));
            self.best_end = end;
            self.first_time = sent;
        }
    }

    /// The sample of an ACK (`tcp_rate_gen`).
    pub fn sample(&mut self, now: Time, min_rtt: Time, mut counts: RateSample) -> RateSample {
        if self.app_limited > 0 && counts.total_delivered > self.app_limited {
            self.app_limited = 0;
        }
        if counts.newly_delivered > 0 {
            self.delivered_time = now;
        }
        counts.delivered_time = self.delivered_time;
        let Some((snapshot, sent)) = self.best.take() else { return counts };
        counts.taken = true;
        counts.tx_in_flight = snapshot.in_flight;
        counts.lost = (counts.total_lost as u32).wrapping_sub(snapshot.lost);
        counts.marked = counts.total_marked.wrapping_sub(snapshot.marked);
        counts.prior_delivered = snapshot.delivered;
        counts.app_limited = snapshot.app_limited;
        counts.interval = sent.since(snapshot.first_time).max(now.since(snapshot.delivered_time));
        if counts.interval >= min_rtt && counts.interval > Time::ZERO {
            counts.delivered = Some(counts.total_delivered - snapshot.delivered);
        }
        counts
    }

    /// Segments have arrived marked; how many so far.
    pub fn on_marked(&mut self, segments: u32) -> u32 {
        self.marked = self.marked.wrapping_add(segments);
        self.marked
    }

    /// A segment counts as lost; so many have counted as lost with it.
    pub fn lost(&self, now: Time, segment: u64, lost: u64, total_delivered: u64) -> LostSegment {
        let snapshot = self.ring[segment as usize & (self.ring.len() - 1)];
        LostSegment {
            now,
            total_delivered,
            lost: (lost as u32).wrapping_sub(snapshot.lost),
            in_flight: snapshot.in_flight,
            app_limited: snapshot.app_limited,
            is_known: !snapshot.used,
        }
    }

    /// The application has nothing more to send, though the window has room: what is in flight now, and what was
    /// delivered, is all that there is (`tcp_rate_check_app_limited`).
    pub fn limit(&mut self, delivered: u64, in_flight: u32) {
        self.app_limited = (delivered + u64::from(in_flight)).max(1);
    }

    /// Whether the flow is limited by its application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }
}
