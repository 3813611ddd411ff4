//! What the sender knows about each segment in flight.
//!
//! Source: RFC 6675 section 3 (scoreboard), RFC 8985 section 5.2 (per-segment variables); Linux,
//! `tcp_sacktag_write_queue` and `tcp_mark_skb_lost` for what each mark means.
//!
//! Segments keep their borders when they are retransmitted, so a segment is a number that counts up from 0. Its record
//! is in a ring, 16 bytes, four to a cache line. RACK looks at segments by their last transmission: those that
//! were sent once are in that order already, and those that were retransmitted stand in a list of their own.
//!
//! DEVIATION: a retransmission is never joined with the small segments after it (`tcp_retrans_try_collapse`).

use crate::ranges::Ranges;
use crate::sack::MOST_BLOCKS;
use ackclock_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// It has arrived out of order.
const SACKED: u8 = 1;
/// It counts as lost.
const LOST: u8 = 2;
/// A retransmission of it is in flight.
const RETRANSMITTED: u8 = 4;
/// It was sent more than once.
const EVER_RETRANSMITTED: u8 = 8;
/// RACK has given it up since it was sent last, and does not look at it any more.
const UNLISTED: u8 = 16;
/// It ends the connection.
const FIN: u8 = 32;

/// A segment in flight.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When it was sent last.
    pub time: Time,
    /// First byte, low 32 bits.
    start: u32,
    /// Payload bytes.
    pub payload: u16,
    marks: u8,
}

const _: () = assert!(size_of::<Sent>() == 16);

impl Sent {
    const NONE: Self = Self { time: Time::ZERO, start: 0, payload: 0, marks: 0 };

    /// Sequence numbers that it takes: payload, and one for FIN.
    #[inline]
    pub fn length(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.is_fin())
    }

    /// Whether it ends the connection.
    #[inline]
    pub fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }

    /// Whether it has arrived out of order.
    #[inline]
    pub fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }

    /// Whether it counts as lost.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }

    /// Whether it was sent more than once.
    #[inline]
    pub fn was_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }

    /// Whether it counts as lost and waits for its retransmission.
    #[inline]
    fn is_hole(&self) -> bool {
        self.marks & (LOST | RETRANSMITTED) == LOST
    }

    #[inline]
    fn has(&self, marks: u8) -> bool {
        self.marks & marks == marks
    }
}

/// The segments in flight, and what of them is where.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    ring: Vec<Sent>,
    /// The first segment in flight, and the next one to be sent for the first time.
    first: u64,
    end: u64,
    /// Low 32 bits of sequence numbers are extended near this one: the first byte in flight.
    pub una: u64,
    /// SACKed segments.
    pub sacked_out: u32,
    /// Segments that count as lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// Segments that have ever been counted as lost.
    pub lost: u64,
    /// Those that the congestion control has not yet heard of, if it wants to.
    pub losses: Option<Vec<u64>>,
    /// The lost segments that wait for their retransmission, and some that no longer do.
    holes: BinaryHeap<Reverse<u64>>,
    /// RACK does not look at segments before this one that were sent once.
    fresh: u64,
    /// Segments that were retransmitted, by the time of their last transmission.
    again: VecDeque<(u64, Time)>,
    /// End of the highest segment that has arrived out of order.
    highest_sack: u64,
    /// Bytes that have arrived out of order, as disjoint ranges in ascending order.
    arrived: Ranges,
    /// The block that was last at each place of an ACK.
    reported: [(u64, u64); MOST_BLOCKS],
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            ring: vec![Sent::NONE; 16],
            first: 0,
            end: 0,
            una: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost: 0,
            losses: None,
            holes: BinaryHeap::new(),
            fresh: 0,
            again: VecDeque::new(),
            highest_sack: 0,
            arrived: Ranges::default(),
            reported: [(0, 0); MOST_BLOCKS],
        }
    }
}

impl Scoreboard {
    /// An empty one; it keeps a list of losses, or not.
    pub fn new(lists_losses: bool) -> Self {
        Self { losses: lists_losses.then(Vec::new), ..Self::default() }
    }

    #[inline]
    fn slot(&self, segment: u64) -> usize {
        segment as usize & (self.ring.len() - 1)
    }

    /// A segment in flight.
    #[inline]
    pub fn get(&self, segment: u64) -> &Sent {
        debug_assert!((self.first..self.end).contains(&segment));
        &self.ring[self.slot(segment)]
    }

    #[inline]
    fn get_mut(&mut self, segment: u64) -> &mut Sent {
        let slot = self.slot(segment);
        &mut self.ring[slot]
    }

    /// The first segment in flight and the one after the last.
    #[inline]
    pub fn span(&self) -> (u64, u64) {
        (self.first, self.end)
    }

    /// Segments sent and not cumulatively acknowledged (Linux: `packets_out`).
    #[inline]
    pub fn packets_out(&self) -> u32 {
        (self.end - self.first) as u32
    }

    /// Segments in flight (RFC 6675: pipe).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// Whether segments wait for a retransmission.
    #[inline]
    pub fn has_hole(&self) -> bool {
        self.lost_out > self.retrans_out
    }

    /// First byte of a segment in flight.
    #[inline]
    pub fn start_of(&self, segment: u64) -> u64 {
        let offset = self.get(segment).start.wrapping_sub(self.una as u32) as i32;
        self.una.wrapping_add_signed(i64::from(offset))
    }

    /// One past the last sequence number of a segment in flight.
    #[inline]
    pub fn end_of(&self, segment: u64) -> u64 {
        self.start_of(segment) + self.get(segment).length()
    }

    /// End of the highest segment that has arrived out of order; the first byte in flight if none has.
    #[inline]
    pub fn highest_sack(&self) -> u64 {
        if self.sacked_out == 0 { self.una } else { self.highest_sack }
    }

    /// A segment is sent for the first time.
    #[inline]
    pub fn push(&mut self, time: Time, start: u64, payload: u16, fin: bool) {
        if self.end - self.first == self.ring.len() as u64 {
            self.grow();
        }
        let marks = if fin { FIN } else { 0 };
        *self.get_mut(self.end) = Sent { time, start: start as u32, payload, marks };
        self.end += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![Sent::NONE; self.ring.len() * 2];
        let mask = ring.len() - 1;
        for segment in self.first..self.end {
            ring[segment as usize & mask] = *self.get(segment);
        }
        self.ring = ring;
    }

    /// The first segment is acknowledged and leaves.
    #[inline]
    pub fn pop(&mut self) -> Sent {
        let sent = *self.get(self.first);
        self.first += 1;
        if sent.marks & !FIN != 0 {
            self.retrans_out -= u32::from(sent.has(RETRANSMITTED));
            self.sacked_out -= u32::from(sent.is_sacked());
            self.lost_out -= u32::from(sent.is_lost());
        }
        sent
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn advance(&mut self, una: u64) {
        self.una = una;
        if !self.arrived.is_empty() {
            self.arrived.forget_before(una);
        }
    }

    /// The segment that holds this byte in flight.
    fn find(&self, seq: u64) -> u64 {
        // Segments are mostly of equal length.
        let length = self.get(self.first).length().max(1);
        let guess = self.first + (seq - self.una) / length;
        if guess < self.end && (self.start_of(guess)..self.end_of(guess)).contains(&seq) {
            return guess;
        }
        let (mut low, mut high) = (self.first, self.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.start_of(middle) <= seq { low = middle } else { high = middle }
        }
        low
    }

    /// Whether a block at this place of an ACK is the one that was there last, whose bytes are known to have arrived. Those of
    /// this one will be.
    #[inline]
    pub fn is_repeated(&mut self, place: usize, block: (u64, u64)) -> bool {
        std::mem::replace(&mut self.reported[place], block) == block
    }

    /// Whether all bytes in `from..to`, whole segments, are known to have arrived.
    pub fn has_arrived(&self, from: u64, to: u64) -> bool {
        to <= self.highest_sack && self.arrived.hold(from, to)
    }

    /// Bytes in `from..to` have arrived, of which some were not known to have; calls `tag` with each segment that is
    /// complete with them, in ascending order.
    pub fn arrive(&mut self, from: u64, to: u64, mut tag: impl FnMut(&mut Self, u64)) {
        let first = self.arrived.first_not_before(from);
        let beyond = self.arrived.get(first + 1).map_or(u64::MAX, |next| next.0);
        match self.arrived.get(first) {
            // A range grows, as most do.
            Some((low, high)) if low <= from && high < to && to < beyond => {
                self.arrived.extend(first, to);
                self.tag_part((high, to), (low, to), &mut tag);
            }
            _ => self.merge((from, to), &mut tag),
        }
    }

    /// The same, however it lies with respect to the ranges that are known.
    #[cold]
    fn merge(&mut self, (from, to): (u64, u64), tag: &mut impl FnMut(&mut Self, u64)) {
        let touched = self.arrived.touching(from, to);
        let whole = self.arrived.joined(&touched, (from, to));
        // What is new lies between the ranges that are known.
        let mut unknown = from;
        for place in touched.clone() {
            let Some((low, high)) = self.arrived.get(place) else { break };
            if unknown < low {
                self.tag_part((unknown, low), whole, tag);
            }
            unknown = unknown.max(high);
        }
        if unknown < to {
            self.tag_part((unknown, to), whole, tag);
        }
        self.arrived.replace(touched, whole);
    }

    fn tag_part(
        &mut self,
        part: (u64, u64),
        whole: (u64, u64),
        tag: &mut impl FnMut(&mut Self, u64),
    ) {
        let mut segment = self.find(part.0);
        while segment < self.end && self.start_of(segment) < part.1 {
            let complete =
                self.start_of(segment).max(self.una) >= whole.0 && self.end_of(segment) <= whole.1;
            if complete && !self.get(segment).is_sacked() {
                tag(self, segment);
            }
            segment += 1;
        }
    }

    /// A segment has arrived out of order.
    pub fn sack(&mut self, segment: u64) {
        let end = self.end_of(segment);
        let sent = *self.get(segment);
        let mut marks = sent.marks | SACKED;
        if sent.has(LOST | RETRANSMITTED) {
            marks &= !RETRANSMITTED;
            self.retrans_out -= 1;
        }
        if sent.is_lost() {
            marks &= !LOST;
            self.lost_out -= 1;
        }
        self.get_mut(segment).marks = marks;
        self.highest_sack = if self.sacked_out == 0 { end } else { self.highest_sack.max(end) };
        self.sacked_out += 1;
    }

    /// A segment counts as lost; so does its retransmission, if it counted as lost before.
    pub fn mark_lost(&mut self, segment: u64) {
        let sent = *self.get(segment);
        if sent.is_sacked() {
            return;
        }
        let before = self.lost;
        if !sent.is_lost() {
            self.lost_out += 1;
            self.lost += 1;
            self.get_mut(segment).marks |= LOST;
        } else if sent.has(RETRANSMITTED) {
            self.retrans_out -= 1;
            self.lost += 1;
            self.get_mut(segment).marks &= !RETRANSMITTED;
        }
        if self.lost > before {
            self.holes.push(Reverse(segment));
            if let Some(losses) = &mut self.losses {
                losses.push(segment);
            }
        }
    }

    /// The same, and RACK does not look at it again before it is sent.
    fn give_up(&mut self, segment: u64) {
        self.mark_lost(segment);
        self.get_mut(segment).marks |= UNLISTED;
    }

    /// The first lost segment that waits for its retransmission.
    pub fn next_hole(&mut self) -> Option<u64> {
        if !self.has_hole() {
            return None;
        }
        while let Some(&Reverse(segment)) = self.holes.peek() {
            if segment >= self.first && self.get(segment).is_hole() {
                return Some(segment);
            }
            self.holes.pop();
        }
        None
    }

    /// A segment is retransmitted; a probe does not count as a retransmission in flight.
    pub fn resend(&mut self, now: Time, segment: u64, probe: bool) {
        let sent = self.get_mut(segment);
        sent.time = now;
        sent.marks = (sent.marks | EVER_RETRANSMITTED) & !UNLISTED;
        if !probe && !sent.has(RETRANSMITTED) {
            sent.marks |= RETRANSMITTED;
            self.retrans_out += 1;
        }
        self.again.push_back((segment, now));
    }

    /// The timer has expired: the first segment counts as lost, and all others of which `is_late` says so. If the
    /// receiver has thrown away what had arrived out of order, nothing has.
    pub fn lose_all(&mut self, reneged: bool, is_late: impl Fn(&Sent) -> bool) {
        if reneged {
            self.sacked_out = 0;
            self.arrived.clear();
            self.reported = [(0, 0); MOST_BLOCKS];
        }
        for segment in self.first..self.end {
            if reneged {
                self.get_mut(segment).marks &= !SACKED;
            } else if segment != self.first && !is_late(self.get(segment)) {
                continue;
            }
            self.mark_lost(segment);
        }
    }

    /// Segments that were sent once count as lost if three higher ones have arrived (RFC 6675 section 4, `IsLost`).
    pub fn lose_below_dup_thresh(&mut self) {
        if self.sacked_out < 3 {
            return;
        }
        let mut segment = self.find(self.highest_sack - 1);
        let mut above = 1;
        while above < 3 && segment > self.first {
            segment -= 1;
            above += u32::from(self.get(segment).is_sacked());
        }
        for lower in self.fresh.max(self.first)..segment {
            if !self.get(lower).was_retransmitted() && !self.get(lower).is_lost() {
                self.mark_lost(lower);
            }
        }
        self.fresh = self.fresh.max(segment);
    }

    /// Whether the counters are what the records add up to; `counted` segments are no marked ones.
    pub fn is_consistent(&self, counted: bool) -> bool {
        let (mut sacked, mut lost, mut again) = (0, 0, 0);
        let mut at = None;
        for segment in self.first..self.end {
            let sent = self.get(segment);
            sacked += u32::from(sent.is_sacked());
            lost += u32::from(sent.is_lost());
            again += u32::from(sent.has(RETRANSMITTED));
            let unknown = sent.is_hole() && !self.holes.iter().any(|hole| hole.0 == segment);
            if unknown
                || sent.has(SACKED | LOST)
                || at.is_some_and(|at| at != self.start_of(segment))
            {
                return false;
            }
            at = Some(self.end_of(segment));
        }
        let sacks = if counted { sacked == 0 } else { sacked == self.sacked_out };
        let room = self.sacked_out + self.lost_out <= self.packets_out();
        sacks && room && (lost, again) == (self.lost_out, self.retrans_out)
    }

    /// Nothing counts as lost any more.
    pub fn forget_losses(&mut self) {
        for segment in self.first..self.end {
            self.get_mut(segment).marks &= !LOST;
        }
        self.lost_out = 0;
        self.holes.clear();
    }

    /// Segments in the order of their last transmission, as RACK looks at them: those that are in flight and were
    /// not sent after (`time`, `end`). `wait` is how long a segment still has to be waited for; those with none
    /// count as lost. Answers the longest wait.
    pub fn detect(&mut self, time: Time, end: u64, wait: impl Fn(&Sent) -> Time) -> Time {
        let mut longest = Time::ZERO;
        let mut segment = self.fresh.max(self.first);
        let mut gapless = true;
        while segment < self.end {
            let sent = *self.get(segment);
            // They are not in this list, or will never be again.
            let gone = sent.marks & (SACKED | UNLISTED | EVER_RETRANSMITTED) != 0;
            if !gone && sent.time >= time && (sent.time > time || self.end_of(segment) > end) {
                break;
            }
            let mut settled = gone;
            if !gone && !sent.is_lost() {
                let left = wait(&sent);
                if left == Time::ZERO {
                    self.give_up(segment);
                    settled = true;
                } else {
                    longest = longest.max(left);
                }
            }
            gapless &= settled;
            segment += 1;
            if gapless {
                self.fresh = segment;
            }
        }
        if !self.again.is_empty() {
            longest = longest.max(self.detect_again(time, end, wait));
        }
        longest
    }

    fn detect_again(&mut self, time: Time, end: u64, wait: impl Fn(&Sent) -> Time) -> Time {
        let mut longest = Time::ZERO;
        let mut at = 0;
        while let Some(&(segment, when)) = self.again.get(at) {
            let gone = segment < self.first || {
                let sent = self.get(segment);
                sent.time != when || sent.marks & (SACKED | UNLISTED) != 0
            };
            if gone {
                if at == 0 {
                    self.again.pop_front();
                } else {
                    at += 1;
                }
                continue;
            }
            let sent = *self.get(segment);
            if when > time || (when == time && self.end_of(segment) > end) {
                break;
            }
            if !sent.is_hole() {
                let left = wait(&sent);
                if left == Time::ZERO {
                    self.give_up(segment);
                    continue;
                }
                longest = longest.max(left);
            }
            at += 1;
        }
        longest
    }
}
