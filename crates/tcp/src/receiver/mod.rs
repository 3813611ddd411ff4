//! The receiver of cumulative ACKs.
//!
//! Source: RFC 9293 section 3.10.7.4 (processing segment text), RFC 5681 section 4.2 (delayed ACKs).
//! Data that arrive out of order are kept; an ACK carries the next byte expected and the time at which the
//! packet was sent that caused it (RFC 7323 section 4: with delayed ACKs, the first one not yet
//! acknowledged).
//!
//! When ACKs are sent is a policy. To add one: a new file with an [`Entry`](ackclock_units::param::Entry) and a
//! function `new`, and one line in [`registry!`] below.
//!
//! DEVIATION: the buffer for data out of order has no limit; the advertised window is constant.

mod delayed;
mod immediate;

use crate::ranges::Ranges;
use crate::segment::Flags;
use ackclock_units::param::{Choice, Chosen, Kind, Param};
use ackclock_units::{Time, registry};

/// Which out-of-order data are kept.
const BUFFER: Param = Param::new(
    "buffer",
    Kind::Choice(&[
        Choice::new("bytes", "every byte that is new (RFC 9293 section 3.10.7.4)"),
        Choice::defect(
            "segments",
            "whole segments, as Bene does: one that begins before the next byte expected, or within \
             one that is kept, is discarded; harmless as long as segment boundaries do not change",
        ),
    ]),
    "bytes",
    "Which out-of-order data are kept.",
);

fn keeps_segments(chosen: &Chosen) -> bool {
    chosen.word("buffer") == "segments"
}

/// When ACKs are sent, and what is kept: the rules of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Segments after which an ACK is due.
    count: u16,
    /// Longest queueing delay of an ACK.
    delay: Time,
    /// The first segment is acknowledged at once.
    first_at_once: bool,
    /// The ACK of a copy of the last in-order segment is delayed.
    newest_waits: bool,
    /// An ACK echoes the segment that arrived last.
    echoes_latest: bool,
    /// Segments are kept or thrown away as a whole.
    keeps_segments: bool,
}

registry! {
    /// The policy that a scenario chose.
    pub fn policy -> Policy, a "receiver" {
        immediate,
        delayed,
    }
}

/// An ACK to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckOut {
    /// Next byte expected.
    pub ack: u64,
    /// Sending time to echo.
    pub stamp: Time,
    /// A mark is echoed (ECE).
    pub ece: bool,
}

/// State of one receiver.
///
/// A segment in order touches one cache line: the first 64 bytes.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Receiver {
    /// Next byte expected (RCV.NXT).
    next: u64,
    /// Bytes that will come in all; `u64::MAX` while that is not known.
    total: u64,
    /// Sending time of the first of the segments not yet acknowledged, how many they are, and after how many
    /// an ACK is due.
    stamp: Time,
    unacked: u16,
    count: u16,
    /// A segment came marked, and none since that says that the sender has reduced its window.
    ece: bool,
    /// `ahead` holds something; a segment in order does not look there.
    has_gap: bool,
    /// An ACK echoes the segment that arrived last.
    echoes_latest: bool,
    /// [`NEWEST_WAITS`] and [`KEEPS_SEGMENTS`], where they hold.
    seldom: u8,
    /// When an ACK is due at the latest.
    deadline: Time,
    /// Longest queueing delay of an ACK.
    delay: Time,
    /// Segments that brought nothing new.
    pub duplicates: u64,
    /// Of these, those that the sender had sent before.
    pub spurious: u32,
    /// New segments that arrived after one with a higher number.
    pub reordered: u32,
    /// Data beyond the next byte expected.
    ahead: Ranges,
}

/// The ACK of a duplicate of the newest segment waits.
const NEWEST_WAITS: u8 = 1;
/// Segments are kept or thrown away as a whole.
const KEEPS_SEGMENTS: u8 = 2;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Receiver, ahead) == 64);

impl Receiver {
    /// The receiver that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        let policy = policy(chosen);
        Self {
            next: 0,
            total: u64::MAX,
            has_gap: false,
            ahead: Ranges::default(),
            seldom: u8::from(policy.newest_waits) * NEWEST_WAITS
                + u8::from(policy.keeps_segments) * KEEPS_SEGMENTS,
            count: policy.count,
            delay: policy.delay,
            echoes_latest: policy.echoes_latest,
            // One that counts as full makes the first ACK due at once.
            unacked: if policy.first_at_once { policy.count } else { 0 },
            stamp: Time::ZERO,
            ece: false,
            deadline: Time::NEVER,
            duplicates: 0,
            spurious: 0,
            reordered: 0,
        }
    }

    #[inline]
    fn is(&self, rule: u8) -> bool {
        self.seldom & rule != 0
    }

    /// Whether each segment is acknowledged at once.
    pub fn never_waits(&self) -> bool {
        self.count == 1 && !self.is(NEWEST_WAITS)
    }

    /// Next byte expected: bytes that have arrived in order.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Learns how many bytes will come in all.
    pub fn expect(&mut self, total: Option<u64>) {
        self.total = total.unwrap_or(u64::MAX);
    }

    /// Whether everything has arrived.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.next == self.total
    }

    /// A segment arrives. `stamp` is when it was sent.
    #[inline(always)]
    pub fn on_data(
        &mut self,
        now: Time,
        seq: u64,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<AckOut> {
        let end = seq + u64::from(payload);
        if seq == self.next && !self.has_gap {
            self.next = end;
            if self.unacked == 0 || self.unacked >= self.count || self.echoes_latest {
                self.stamp = stamp;
            }
            self.unacked += 1;
            if self.unacked >= self.count {
                return Some(self.acknowledge());
            }
            if self.deadline == Time::NEVER {
                self.deadline = now + self.delay;
            }
            return None;
        }
        let before = self.duplicates;
        self.on_disorder(seq, end, flags);
        let newest = end == self.next && seq < end && !self.has_gap;
        if newest
            && self.is(NEWEST_WAITS)
            && self.duplicates > before
            && self.deadline == Time::NEVER
        {
            self.stamp = stamp;
            self.unacked = 1;
            self.deadline = now + self.delay;
            return None;
        }
        // RFC 5681 section 4.2: out of order, or filling a gap, is acknowledged at once.
        self.stamp = stamp;
        Some(self.acknowledge())
    }

    /// The segment that arrives now is marked, or says that the sender has reduced its window: the mark is echoed
    /// until the sender has reacted (RFC 3168 section 6.1.3).
    #[cold]
    pub fn on_ecn(&mut self, marked: bool, cwr: bool) {
        self.ece = marked || (self.ece && !cwr);
    }

    /// A message without data is acknowledged at once, with all that waits.
    #[cold]
    pub fn on_message(&mut self, stamp: Time) -> AckOut {
        self.stamp = stamp;
        self.acknowledge()
    }

    #[cold]
    fn on_disorder(&mut self, seq: u64, end: u64, flags: Flags) {
        if end <= self.next || self.ahead.hold(seq, end) {
            self.duplicates += 1;
            self.spurious += u32::from(flags.has(Flags::AGAIN));
            return;
        }
        self.reordered += u32::from(self.ahead.begin_after(seq));
        if self.is(KEEPS_SEGMENTS) {
            self.keep_segment(seq, end);
        } else {
            let touched = self.ahead.touching(seq, end);
            let (from, to) = self.ahead.joined(&touched, (seq, end));
            if from <= self.next {
                self.next = to;
                self.ahead.remove(touched);
            } else {
                self.ahead.replace(touched, (from, to));
            }
        }
        self.has_gap = !self.ahead.is_empty();
    }

    /// Bene's buffer: a segment takes the place of a shorter one with the same beginning, and those that
    /// begin within another one go. DEVIATION: within the first segment's length of a flow Bene keeps
    /// wrong bytes of them, or stops with an error.
    #[cold]
    fn keep_segment(&mut self, seq: u64, end: u64) {
        if seq < self.next {
            return;
        }
        let kept = self.ahead.list();
        let at = kept.partition_point(|&(from, _)| from < seq);
        match kept.get_mut(at) {
            Some(one) if one.0 == seq => one.1 = one.1.max(end),
            _ => kept.insert(at, (seq, end)),
        }
        let mut covered = 0;
        kept.retain(|&(from, to)| {
            let stays = from >= covered;
            if stays {
                covered = to;
            }
            stays
        });
        let next = &mut self.next;
        kept.retain(|&(from, to)| {
            let delivered = from == *next;
            if delivered {
                *next = to;
            }
            !delivered
        });
    }

    #[inline]
    fn acknowledge(&mut self) -> AckOut {
        self.unacked = 0;
        self.deadline = Time::NEVER;
        AckOut { ack: self.next, stamp: self.stamp, ece: self.ece }
    }

    /// When to call [`Receiver::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.deadline
    }

    /// The time has come that was asked for, or an earlier one.
    pub fn on_timer(&mut self, now: Time) -> Option<AckOut> {
        (self.deadline <= now).then(|| self.acknowledge())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn receiver(count: u64, buffer: &str) -> Receiver {
        Receiver::new(&Chosen {
            kind: "delayed".into(),
            values: vec![
                ("count".into(), Value::Int(count)),
                ("delay_ns".into(), Value::Int(200_000_000)),
                ("first_ack".into(), Value::Word("counted".into())),
                ("echo".into(), Value::Word("first".into())),
                ("duplicates".into(), Value::Word("at-once".into())),
                ("buffer".into(), Value::Word(buffer.into())),
            ],
        })
    }

    #[test]
    fn the_ack_of_the_newest_segment_may_wait_once_more() {
        let mut r = receiver(2, "bytes");
        r.seldom = NEWEST_WAITS;
        assert_eq!(ack(&mut r, 0, 10), None);
        assert_eq!(ack(&mut r, 10, 10), Some(20));
        // Older segments are acknowledged at once; while an ACK waits, the newest one, too.
        assert_eq!(ack(&mut r, 0, 10), Some(20));
        assert_eq!(ack(&mut r, 10, 10), None);
        assert_eq!(r.next_timer(), Time::from_ms(200));
        assert_eq!(ack(&mut r, 10, 10), Some(20));
        assert_eq!(r.next_timer(), Time::NEVER);
        // It is not the newest one if more has arrived ahead.
        assert_eq!(ack(&mut r, 30, 10), Some(20));
        assert_eq!(ack(&mut r, 10, 10), Some(20));
        assert_eq!(r.duplicates, 4);
    }

    fn ack(receiver: &mut Receiver, seq: u64, len: u16) -> Option<u64> {
        receiver.on_data(Time::ZERO, seq, len, Time::ZERO, Flags::NONE).map(|out| out.ack)
    }

    #[test]
    fn acks_carry_the_next_byte_expected_whatever_the_order() {
        let mut r = receiver(1, "bytes");
        assert_eq!(ack(&mut r, 0, 10), Some(10));
        assert_eq!(ack(&mut r, 30, 10), Some(10));
        assert_eq!(ack(&mut r, 50, 10), Some(10));
        assert_eq!(ack(&mut r, 20, 10), Some(10));
        assert_eq!(ack(&mut r, 10, 10), Some(40));
        assert_eq!(ack(&mut r, 30, 10), Some(40));
        // A segment that overlaps what has arrived on both sides.
        assert_eq!(ack(&mut r, 35, 20), Some(60));
        assert_eq!((r.duplicates, r.reordered), (1, 3));
        // What is ahead of a gap came in order.
        assert_eq!(ack(&mut r, 70, 10), Some(60));
        assert_eq!(ack(&mut r, 80, 10), Some(60));
        assert_eq!((r.duplicates, r.reordered), (1, 3));
    }

    #[test]
    fn a_buffer_of_whole_segments_loses_what_overlaps() {
        let mut r = receiver(1, "segments");
        assert_eq!(ack(&mut r, 0, 10), Some(10));
        assert_eq!(ack(&mut r, 20, 10), Some(10));
        // Begins within a kept segment, or before the next byte expected: thrown away.
        assert_eq!(ack(&mut r, 25, 10), Some(10));
        assert_eq!(ack(&mut r, 5, 10), Some(10));
        // The kept segment begins within this one and goes.
        assert_eq!(ack(&mut r, 15, 10), Some(10));
        assert_eq!(ack(&mut r, 10, 5), Some(25));
        assert_eq!(ack(&mut r, 25, 5), Some(30));
        // A longer segment takes the place of a shorter one.
        assert_eq!(ack(&mut r, 40, 5), Some(30));
        assert_eq!(ack(&mut r, 40, 10), Some(30));
        assert_eq!(ack(&mut r, 30, 10), Some(50));
    }

    #[test]
    fn the_first_ack_may_be_due_at_once_and_the_latest_segment_echoed() {
        let delayed = |first_ack: &str, echo: &str| {
            let values = [
                ("first_ack", first_ack),
                ("echo", echo),
                ("duplicates", "at-once"),
                ("buffer", "bytes"),
            ];
            let words = values.map(|(name, word)| (name.to_owned(), Value::Word(word.into())));
            let mut values = words.to_vec();
            values.push(("count".into(), Value::Int(2)));
            values.push(("delay_ns".into(), Value::Int(200_000_000)));
            Receiver::new(&Chosen { kind: "delayed".into(), values })
        };
        let stamps = |mut r: Receiver| {
            (0..5)
                .map(|i| r.on_data(Time::ZERO, 10 * i, 10, Time::from_ms(i), Flags::NONE))
                .map(|out| out.map(|out| (out.ack, out.stamp.as_ns() / 1_000_000)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            stamps(delayed("counted", "first")),
            [None, Some((20, 0)), None, Some((40, 2)), None]
        );
        assert_eq!(
            stamps(delayed("at-once", "latest")),
            [Some((10, 0)), None, Some((30, 2)), None, Some((50, 4))]
        );
        assert_eq!(stamps(delayed("at-once", "first"))[2], Some((30, 1)));
    }

    #[test]
    fn a_delayed_ack_waits_for_the_second_segment_or_for_the_timer() {
        let mut r = receiver(2, "bytes");
        assert_eq!(ack(&mut r, 0, 10), None);
        assert_eq!(ack(&mut r, 10, 10), Some(20));
        assert_eq!(ack(&mut r, 20, 10), None);
        assert_eq!(r.on_timer(Time::from_ms(199)), None);
        assert_eq!(r.on_timer(Time::from_ms(200)).map(|out| out.ack), Some(30));
        assert_eq!(r.next_timer(), Time::NEVER);
        // Out of order, and the segment that fills the gap: at once.
        assert_eq!(ack(&mut r, 40, 10), Some(30));
        assert_eq!(ack(&mut r, 30, 10), Some(50));
    }
}
