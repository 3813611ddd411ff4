//! The receiver of the modern family: it reports what arrives out of order.
//!
//! Source: RFC 9293 section 3.10.7.4, RFC 2018 (SACK), RFC 2883 (D-SACK), RFC 5681 section 4.2 (delayed ACKs), RFC
//! 7323 section 4.3 (which timestamp an ACK echoes), RFC 3168 section 6.1.3 (the echo of a mark).
//!
//! When ACKs are sent is a policy. To add one: a new file with an [`Entry`](ackclock_units::param::Entry) and a
//! function `new`, and one line in [`registry!`] below.

mod buffer;
mod delayed;
mod immediate;
mod linux;
mod pace;
mod paws;

use crate::ranges::Ranges;
use crate::sack::{MOST_BLOCKS, Note, Notes};
use crate::segment::Flags;
use ackclock_units::param::Chosen;
use ackclock_units::{Time, registry};
pub use buffer::Buffer;
use pace::Pace;

/// When ACKs are sent: the rules of one entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Full segments after which an ACK is due.
    count: u32,
    /// Longest queueing delay of an ACK.
    delay: Time,
    /// Segments that are acknowledged at once at the start.
    quick: u32,
    /// The wait adapts to the pauses between segments, and ACKs follow Linux's rules in all.
    adapts: bool,
    /// ACKs of what arrives out of order are compressed: this many at most, and for this long.
    compresses: Option<(u32, Time)>,
}

registry! {
    /// The policy that a scenario chose.
    pub fn policy -> Policy, a "receiver" {
        linux,
        delayed,
        immediate,
    }
}

/// A data segment that arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub payload: u16,
    /// When it was sent.
    pub stamp: Time,
    /// What it says besides.
    pub flags: Flags,
}

impl Arrival {
    fn is_marked(&self) -> bool {
        self.flags.has(Flags::MARKED)
    }

    fn is_fin(&self) -> bool {
        self.flags.has(Flags::FIN)
    }
}

/// Blocks that an ACK is to report once at least before others take their place.
const EXPECTED_BLOCKS: usize = 2;
/// Segments that are acknowledged at once after one that had arrived before (Linux: `TCP_MAX_QUICKACKS`).
const AFTER_DUPLICATE: u32 = 16;

/// An ACK to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckOut {
    /// Next byte expected.
    pub ack: u64,
    /// Sending time to echo.
    pub stamp: Time,
    /// A mark is echoed.
    pub ece: bool,
    /// What it carries besides: its place in [`Receiver::notes`], as in [`AckFields`](crate::ends::AckFields).
    pub aux: u32,
}

/// State of one receiver; what a segment in order touches comes first.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Receiver {
    /// Next byte expected (RCV.NXT).
    next: u64,
    /// What the last ACK acknowledged.
    acknowledged: u64,
    /// Bytes of data that will come in all; `u64::MAX` while that is not known.
    total: u64,
    /// Sending time to echo.
    stamp: Time,
    /// When an ACK is due at the latest.
    deadline: Time,
    /// When the window of a finite buffer opens again.
    opens: Time,
    /// When the last segment arrived.
    last_arrival: Time,
    /// Each segment is acknowledged at once, and there is room for any.
    never_waits: bool,
    /// A mark is to be echoed.
    ece: bool,
    /// Blocks that an ACK carries at most; none without SACK.
    blocks: u8,
    /// Each ACK echoes whether its segments were marked (RFC 8257), instead of until the sender has reacted.
    exact_ecn: bool,
    /// Segments carry timestamps.
    timestamps: bool,
    /// Data beyond the next byte expected, as disjoint ranges in ascending order that do not touch.
    ahead: Ranges,
    pace: Pace,
    /// The ranges that were extended last, newest first.
    recent: Vec<(u64, u64)>,
    /// What arrived once more, to be reported by the next ACK.
    repeated: Option<(u64, u64)>,
    /// The application does not close when the other end does, so that the ACK of a FIN may wait.
    lingers: bool,
    /// A finite buffer.
    buffer: Option<Box<Buffer>>,
    /// What the ACKs on their way carry.
    pub notes: Notes,
    /// Segments with data that brought nothing new.
    pub duplicates: u64,
    /// Of these, those that the sender had sent before.
    pub spurious: u32,
    /// New segments that arrived after one with a higher number.
    pub reordered: u32,
    /// When the message was sent that has first asked for the connection, which answers echo (Linux, `tcp_check_req`).
    pub asked: Option<Time>,
}

impl Receiver {
    /// The receiver that a scenario chose, for segments of this many bytes, with timestamps or without.
    pub fn new(
        chosen: &Chosen,
        segment: u16,
        exact_ecn: bool,
        blocks: usize,
        timestamps: bool,
    ) -> Self {
        let pace = Pace::new(policy(chosen), segment);
        Self {
            next: 0,
            acknowledged: 0,
            total: u64::MAX,
            stamp: Time::ZERO,
            deadline: Time::NEVER,
            opens: Time::NEVER,
            last_arrival: Time::ZERO,
            never_waits: pace.never_waits(),
            ece: false,
            exact_ecn,
            blocks: blocks as u8,
            timestamps,
            ahead: Ranges::default(),
            pace,
            recent: Vec::new(),
            repeated: None,
            lingers: false,
            buffer: None,
            notes: Notes::default(),
            duplicates: 0,
            spurious: 0,
            reordered: 0,
            asked: None,
        }
    }

    /// The application reads at a rate from a finite buffer, instead of at once.
    pub fn set_buffer(&mut self, buffer: Buffer) {
        self.buffer = Some(Box::new(buffer));
        self.never_waits = false;
    }

    /// Whether the application stays when the other end closes. Else it closes, too, and its FIN carries the ACK.
    pub(super) fn set_lingers(&mut self, lingers: bool) {
        self.lingers = lingers;
    }

    /// Whether each segment is acknowledged at once; none where the application that reads, or the exact echo of
    /// marks, may cause an ACK more.
    pub fn never_waits(&self) -> Option<bool> {
        (self.buffer.is_none() && !self.exact_ecn).then(|| self.pace.never_waits())
    }

    /// Whether data wait until an application reads them.
    pub fn keeps_buffer(&self) -> bool {
        self.buffer.is_some()
    }

    /// Next byte expected.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes of data that have arrived in order.
    pub fn delivered(&self) -> u64 {
        self.next.min(self.total)
    }

    /// Learns how many bytes of data will come in all.
    pub fn expect(&mut self, total: Option<u64>) {
        self.total = total.unwrap_or(u64::MAX);
    }

    /// Bytes of data that will come in all, where that is known.
    pub fn expected(&self) -> Option<u64> {
        (self.total != u64::MAX).then_some(self.total)
    }

    /// The round-trip time that the handshake has measured, if it has.
    pub fn handshake_rtt(&self) -> Option<Time> {
        (self.pace.rtt > Time::ZERO).then_some(self.pace.rtt)
    }

    /// The handshake has measured this round-trip time.
    pub fn on_established(&mut self, rtt: Time) {
        self.pace.rtt = rtt;
    }

    /// Whether all data have arrived.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.next >= self.total
    }

    /// A segment arrives as most do, and its ACK leaves: each is acknowledged at once, it is the one expected, and there is
    /// nothing else to say. Answers as [`Receiver::on_data`] would; none where it is not so.
    #[inline(always)]
    pub fn on_next(
        &mut self,
        now: Time,
        seq: u32,
        payload: u16,
        stamp: Time,
        flags: Flags,
    ) -> Option<AckOut> {
        let usual = self.never_waits && seq == self.next as u32 && self.ahead.is_empty();
        // An ACK that is still due comes first, and a segment that may be too old is looked at.
        if !usual
            || !flags.are_plain()
            || self.ece
            || self.deadline != Time::NEVER
            || stamp < self.stamp
        {
            return None;
        }
        debug_assert!(self.acknowledged == self.next && self.repeated.is_none());
        self.last_arrival = now;
        self.stamp = stamp;
        self.next += u64::from(payload);
        self.acknowledged = self.next;
        Some(AckOut { ack: self.next, stamp: self.stamp, ece: false, aux: 0 })
    }

    /// A segment arrives; the ACK to send at once, if any.
    #[inline]
    pub fn on_data(&mut self, now: Time, arrival: &Arrival) -> Option<AckOut> {
        let end = arrival.seq + u64::from(arrival.payload) + u64::from(arrival.is_fin());
        self.last_arrival = now;
        if self.outdates(arrival.stamp) {
            return Some(self.discard(now, arrival.seq, end));
        }
        let mut owed = None;
        if arrival.flags.concern_ecn() || self.ece {
            owed = self.on_ecn(arrival);
        }
        // Begins no later than the last ACK said, and does not end before: that would be outside the window, where RFC 7323
        // section 4.3 (R2) and Linux (`tcp_sequence`) leave the timestamp to echo as it is.
        if self.acknowledged.wrapping_sub(arrival.seq) <= end - arrival.seq {
            self.stamp = self.stamp.max(arrival.stamp);
        }
        let before = self.next;
        if self.buffer.is_some() && !self.has_room(now, end) {
            return Some(self.acknowledge());
        }
        let at_once = if arrival.seq == self.next && self.ahead.is_empty() {
            self.next = end;
            if arrival.is_fin() {
                !self.lingers || self.pace.on_last()
            } else {
                self.pace.on_arrival(now, arrival)
            }
        } else {
            if owed.is_none() && self.pace.holds_back() && self.would_hide(arrival.seq, end) {
                let held = self.acknowledge();
                // This segment owes no ACK any more: the one that was due has left (`tcp_event_ack_sent`).
                self.on_disorder(now, arrival, end);
                self.pace.release();
                return Some(held);
            }
            self.on_disorder(now, arrival, end)
        };
        if let Some(buffer) = &mut self.buffer {
            buffer.add(self.next - before);
            self.opens = buffer.update(self.next);
        }
        let full = self.next - self.acknowledged;
        if at_once || self.pace.is_due(full) {
            if owed.is_some() {
                // Two ACKs at once: this one follows in an event of its own at the same moment.
                self.deadline = now;
                return owed;
            }
            return Some(self.acknowledge());
        }
        if owed.is_none() && self.deadline <= now {
            return Some(self.acknowledge());
        }
        let deadline = self.pace.deadline(now);
        self.deadline = self.deadline.min(deadline);
        owed
    }

    /// Whether a segment that arrives fits into the buffer.
    #[cold]
    fn has_room(&mut self, now: Time, end: u64) -> bool {
        let Some(buffer) = &mut self.buffer else { return true };
        buffer.advance(now);
        buffer.has_room(end)
    }

    /// What a mark, or the news that the sender has reacted to one, does to the echo. With the exact echo, the ACK
    /// that waits is sent first.
    #[cold]
    fn on_ecn(&mut self, arrival: &Arrival) -> Option<AckOut> {
        let (marked, reduced) = (arrival.is_marked(), arrival.flags.has(Flags::REDUCED));
        if !self.exact_ecn {
            if marked && !self.ece {
                self.pace.hurry(2);
            }
            self.ece = marked || (self.ece && !reduced);
            if reduced {
                self.pace.now = true;
            }
            return None;
        }
        if marked == self.ece {
            return None;
        }
        let owed = (self.deadline != Time::NEVER).then(|| self.acknowledge());
        self.ece = marked;
        self.pace.now = true;
        owed
    }

    /// Whether this segment would push what the ACK that waits has to report to a later place than the second, so that
    /// loss of a few ACKs could hide it (Linux: `TCP_SACK_BLOCKS_EXPECTED`).
    fn would_hide(&self, seq: u64, end: u64) -> bool {
        let touches = |&(low, high): &(u64, u64)| seq <= high && low <= end;
        let place = self.recent.iter().position(touches).unwrap_or(self.recent.len());
        end > self.next && place >= EXPECTED_BLOCKS
    }

    /// A segment arrives that is not the next one, or that is and fills a gap; whether it is acknowledged at once.
    #[cold]
    fn on_disorder(&mut self, now: Time, arrival: &Arrival, end: u64) -> bool {
        let seq = arrival.seq;
        let follows = self.ahead.begin_after(seq);
        if self.extend_newest(seq, end) {
            self.reordered += u32::from(follows);
            self.repeated = None;
            self.pace.on_arrival(now, arrival);
            return self.pace.is_at_once(self.next);
        }
        if end <= self.next || self.ahead.hold(seq, end) {
            // A FIN may come without data.
            let data = arrival.payload > 0;
            self.duplicates += u64::from(data);
            self.spurious += u32::from(data && arrival.flags.has(Flags::AGAIN));
            self.repeated = Some((seq, end));
            self.pace.hurry(AFTER_DUPLICATE);
            return true;
        }
        let touched = self.ahead.touching(seq, end);
        self.repeated = if seq < self.next {
            Some((seq, self.next))
        } else {
            self.ahead.shared(touched.clone(), (seq, end))
        };
        self.reordered += u32::from(follows);
        self.pace.on_arrival(now, arrival);
        let (from, to) = self.ahead.joined(&touched, (seq, end));
        if from <= self.next {
            self.ahead.remove(touched);
            self.next = to;
            if arrival.is_fin() && to == end {
                // Linux forgets what it would report when it takes a FIN (`tcp_fin`).
                self.repeated = None;
            }
            let next = self.next;
            self.recent.retain(|&(_, high)| high > next);
            // RFC 5681 section 4.2: a segment that fills a gap is acknowledged at once.
            return self.ahead.is_empty() || self.pace.is_at_once(self.next);
        }
        self.ahead.replace(touched, (from, to));
        self.recent.retain(|&(low, high)| high < from || low > to);
        self.recent.insert(0, (from, to));
        self.recent.truncate(MOST_BLOCKS + 1);
        self.pace.is_at_once(self.next)
    }

    /// A segment follows on the range that was extended last, as most that arrive beyond a gap do; whether that
    /// is all that it does.
    fn extend_newest(&mut self, seq: u64, end: u64) -> bool {
        let Some(newest) = self.recent.first_mut().filter(|newest| newest.1 == seq) else {
            return false;
        };
        let place = self.ahead.first_not_before(newest.0);
        let free = self.ahead.get(place + 1).is_none_or(|next| end < next.0);
        if free {
            newest.1 = end;
            self.ahead.extend(place, end);
        }
        free
    }

    /// The ACK that leaves now, whatever it leaves with.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self) -> AckOut {
        // Its application reads the end of the data and closes, too: its own FIN repeats the last ACK.
        let closes = self.next > self.total && self.acknowledged <= self.total;
        self.deadline = if closes { self.last_arrival } else { Time::NEVER };
        self.pace.on_ack(self.next > self.acknowledged || !self.ahead.is_empty());
        self.acknowledged = self.next;
        let plain = self.ahead.is_empty() && self.repeated.is_none() && self.buffer.is_none();
        let aux = if plain { 0 } else { self.note() };
        AckOut { ack: self.next, stamp: self.stamp, ece: self.ece, aux }
    }

    /// Notes what an ACK carries: blocks, and the window; answers the place.
    #[cold]
    fn note(&mut self) -> u32 {
        let repeated = self.repeated.take();
        if self.blocks == 0 && self.buffer.is_none() {
            return 0;
        }
        let reported = repeated.into_iter().chain(self.recent.iter().copied());
        let mut note = Note::new(reported.take(usize::from(self.blocks)));
        if let Some(buffer) = &mut self.buffer {
            note.window = Some(buffer.offer(self.next));
            let more = self.next < self.total;
            self.opens = if more { buffer.update(self.next) } else { Time::NEVER };
        }
        self.notes.keep(note)
    }

    /// A message without data is acknowledged at once.
    #[cold]
    pub fn on_message(&mut self, now: Time, stamp: Time) -> AckOut {
        self.stamp = stamp;
        if let Some(buffer) = &mut self.buffer {
            buffer.advance(now);
        }
        self.acknowledge()
    }

    /// When to call [`Receiver::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.deadline.min(self.opens)
    }

    /// The time has come that was asked for, or an earlier one.
    pub fn on_timer(&mut self, now: Time) -> Option<AckOut> {
        if self.next_timer() > now {
            return None;
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.advance(now);
        }
        if self.deadline <= now {
            self.pace.on_expiry();
        }
        Some(self.acknowledge())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;

    fn segment(number: u64) -> Arrival {
        let (payload, stamp) = (100, Time::from_ms(number));
        let seq = 100 * number;
        Arrival { seq, payload, stamp, flags: Flags::NONE }
    }

    /// Two of three segments arrive: an ACK that waits is sent before a third block would hide the first.
    #[test]
    fn compression_hides_no_block() {
        let chosen = Chosen {
            kind: "linux".into(),
            values: vec![
                ("quick_acks".into(), Value::Int(0)),
                ("compression_ns".into(), Value::Int(1_000_000)),
            ],
        };
        let mut receiver = Receiver::new(&chosen, 100, false, 3, true);
        receiver.on_established(Time::from_ms(100));
        let mut reported = Vec::new();
        let mut acks = 0;
        for number in (1..=60_u64).filter(|number| number % 3 != 0) {
            let now = Time::from_ns(1_000_000_000 + 10_000 * number);
            if let Some(ack) = receiver.on_data(now, &segment(number)) {
                acks += 1;
                let note = receiver.notes.take(ack.aux).expect("blocks");
                reported.extend(note.blocks().iter().take(2).copied());
            }
        }
        assert!(acks < 30, "hardly anything was compressed: {acks}");
        for number in 0..18 {
            let block = (300 * number + 100, 300 * number + 300);
            assert!(reported.contains(&block), "{number}: {reported:?}");
        }
    }

    pub(super) fn immediate(timestamps: bool) -> Receiver {
        let chosen = Chosen { kind: "immediate".into(), values: vec![] };
        Receiver::new(&chosen, 100, false, 3, timestamps)
    }

    /// What lies below the last ACK leaves the timestamp to echo alone (RFC 7323 section 4.3, R2); what ends at it, or after
    /// it, does not.
    #[test]
    fn a_segment_below_the_window_is_not_echoed() {
        let mut receiver = immediate(true);
        let mut echoed = |seq: u64, ms: u64| {
            let (payload, stamp) = (100, Time::from_ms(ms));
            let arrival = Arrival { seq, payload, stamp, flags: Flags::NONE };
            receiver.on_data(stamp, &arrival).expect("each is acknowledged").stamp
        };
        assert_eq!(echoed(0, 1), Time::from_ms(1));
        assert_eq!(echoed(100, 2), Time::from_ms(2));
        assert_eq!(echoed(0, 3), Time::from_ms(2));
        assert_eq!(echoed(100, 4), Time::from_ms(4));
        assert_eq!(echoed(300, 5), Time::from_ms(4));
        assert_eq!(echoed(200, 6), Time::from_ms(6));
    }

    #[test]
    fn new_data_below_the_highest_count_as_reordered() {
        let chosen = Chosen { kind: "immediate".into(), values: vec![] };
        let mut receiver = Receiver::new(&chosen, 100, false, 3, true);
        let mut reordered = |number: u64| {
            receiver.on_data(Time::from_ms(number), &segment(number));
            receiver.reordered
        };
        // What is ahead of a gap came in order, also behind the last one; what fills it did not.
        assert_eq!([0, 2, 3, 5, 6].map(&mut reordered), [0; 5]);
        assert_eq!([4, 1, 7].map(&mut reordered), [1, 2, 2]);
        // Copies bring nothing new.
        assert_eq!([4, 0, 7].map(&mut reordered), [2; 3]);
        assert_eq!(receiver.duplicates, 3);
    }

    #[test]
    fn the_copy_of_a_fin_without_data_is_no_data() {
        let chosen = Chosen { kind: "immediate".into(), values: vec![] };
        let mut receiver = Receiver::new(&chosen, 100, false, 3, true);
        receiver.on_data(Time::ZERO, &segment(0));
        for _ in 0..2 {
            let fin = Arrival { seq: 100, payload: 0, stamp: Time::ZERO, flags: Flags::FIN };
            receiver.on_data(Time::ZERO, &fin);
        }
        assert_eq!((receiver.next(), receiver.duplicates), (101, 0));
    }

    /// Each second segment arrives: after the first three ACKs, one leaves with each second arrival.
    #[test]
    fn a_segment_that_releases_an_ack_owes_none_itself() {
        let chosen = Chosen {
            kind: "linux".into(),
            values: vec![
                ("quick_acks".into(), Value::Int(0)),
                ("compression_ns".into(), Value::Int(1_000_000)),
            ],
        };
        let mut receiver = Receiver::new(&chosen, 100, false, 3, true);
        receiver.on_established(Time::from_ms(100));
        let mut acked = |i: &u64| {
            let now = Time::from_ns(1_000_000_000 + 10_000 * i);
            receiver.on_data(now, &segment(2 * i)).is_some()
        };
        assert_eq!((1..=9).filter(&mut acked).collect::<Vec<_>>(), [1, 2, 3, 5, 7, 9]);
    }
}
