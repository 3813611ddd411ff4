//! When each segment that is not acknowledged was last sent, and how often.
//!
//! Source: Brakmo and Peterson, "TCP Vegas", IEEE JSAC 13(8), 1995, section III-A: the sender reads its
//! clock for each segment, so that it can measure the round-trip time of each and see whether the oldest
//! one is overdue. A sender keeps such a log only if its congestion control or its recovery asks for it.

use ackclock_units::Time;
use std::collections::VecDeque;

/// A segment in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// When it was sent last.
    pub at: Time,
    /// How often it was sent.
    pub transmissions: u32,
}

/// Segments that are not acknowledged.
#[derive(Debug, Clone, Default)]
pub struct SendTimes {
    /// Time of the ACK that is being handled.
    pub now: Time,
    /// What the last ACK of new data measured.
    pub sample: Option<Time>,
    after_repairs: bool,
    store: Store,
}

#[derive(Debug, Clone)]
enum Store {
    /// In the order of their bytes: end and record.
    List(VecDeque<(u64, Sent)>),
    Ring(Ring),
}

impl Default for Store {
    fn default() -> Self {
        Self::List(VecDeque::new())
    }
}

impl SendTimes {
    /// Also takes samples of segments that waited at the receiver for a repair.
    pub fn with_samples_after_repairs(mut self) -> Self {
        self.after_repairs = true;
        self
    }

    /// Keeps its records in a ring with a place for each segment of the receiver's window, and forgets
    /// wrongly: an ACK of segments that passes the end of the ring leaves the records of all of them, so
    /// that the next segments in their places count as sent before (ns-2). Segments are numbered from 0 on, or
    /// from 1 after a handshake, which was number 0.
    pub fn in_ring(mut self, mss: u64, receive_window: u64, handshake: bool) -> Self {
        let places = receive_window / mss;
        if (1..=Ring::MOST).contains(&places) {
            let first = u64::from(handshake);
            let places = vec![None; places as usize];
            self.store =
                Store::Ring(Ring { mss, first, oldest: first, origin: Time::ZERO, places });
        }
        self
    }

    /// The first message of a handshake is sent.
    pub fn on_open(&mut self, now: Time) {
        if let Store::Ring(ring) = &mut self.store {
            ring.origin = now;
        }
    }

    /// A segment was sent. One that was sent before keeps its borders.
    pub fn on_transmit(&mut self, now: Time, seq: u64, end: u64) {
        let sent = match &mut self.store {
            Store::List(list) => {
                if list.back().is_none_or(|(last, _)| *last <= seq) {
                    list.push_back((end, Sent { at: now, transmissions: 0 }));
                }
                let index = list.partition_point(|(end, _)| *end <= seq);
                &mut list[index].1
            }
            Store::Ring(ring) => ring.place(now, seq),
        };
        sent.at = now;
        sent.transmissions += 1;
    }

    /// Everything below `ack` is acknowledged: measures the round trip of the newest segment among it,
    /// unless one of them was sent more than once (Karn's rule).
    pub fn on_new_ack(&mut self, now: Time, ack: u64) {
        self.now = now;
        self.sample = None;
        let mut clean = true;
        let mut measure = |sent: Sent| {
            clean = sent.transmissions == 1 && (clean || self.after_repairs);
            self.sample = clean.then(|| now - sent.at);
        };
        match &mut self.store {
            Store::List(list) => {
                while let Some((end, sent)) = list.front()
                    && *end <= ack
                {
                    measure(*sent);
                    list.pop_front();
                }
            }
            Store::Ring(ring) => ring.acknowledge(ring.first + ack / ring.mss, &mut measure),
        }
    }

    /// The oldest segment that is not acknowledged.
    pub fn oldest(&self) -> Option<Sent> {
        match &self.store {
            Store::List(list) => list.front().map(|(_, sent)| *sent),
            Store::Ring(ring) => ring.places[ring.index(ring.oldest)],
        }
    }

    /// Age of the oldest segment. In the ring, one that has no record was sent a second before the start.
    pub fn age(&self) -> Option<Time> {
        match (&self.store, self.oldest()) {
            (_, Some(sent)) => Some(self.now - sent.at),
            (Store::Ring(ring), None) => Some(self.now - ring.origin + Time::from_secs(1)),
            (Store::List(_), None) => None,
        }
    }

    /// A moment by the clock of the log. That of the ring starts anew when segment 0 is sent again, so that a moment
    /// that was kept from before lies in its future: after a lost first segment Vegas of ns-2 takes its timeout for
    /// later than all that it sends as long again.
    pub fn by_clock(&self, at: Time) -> Time {
        match &self.store {
            Store::List(_) => at,
            Store::Ring(ring) => at - ring.origin,
        }
    }
}

/// Records by number of segment, modulo the number of places.
#[derive(Debug, Clone)]
struct Ring {
    mss: u64,
    /// Number of the first segment.
    first: u64,
    /// Number of the oldest segment that is not acknowledged.
    oldest: u64,
    /// When segment 0 was sent last: zero of the clock, which is also the mark of segments that are not timed.
    origin: Time,
    places: Vec<Option<Sent>>,
}

impl Ring {
    /// Larger windows have no ring: they never get around it.
    const MOST: u64 = 1 << 20;

    fn index(&self, number: u64) -> usize {
        (number % self.places.len() as u64) as usize
    }

    /// The record of the segment that begins with this byte and is sent now.
    fn place(&mut self, now: Time, seq: u64) -> &mut Sent {
        let number = self.first + seq / self.mss;
        if number == 0 {
            self.origin = now;
            self.places.fill(None);
        }
        let index = self.index(number);
        self.places[index].get_or_insert(Sent { at: now, transmissions: 0 })
    }

    /// All segments below this number are acknowledged.
    fn acknowledge(&mut self, next: u64, measure: &mut impl FnMut(Sent)) {
        if next <= self.oldest {
            return;
        }
        if next <= self.oldest {
            // Part of a segment that was cut.
            return;
        }
        let opens = self.oldest == 0;
        for number in self.oldest..next {
            if let Some(sent) = self.places[self.index(number)]
                && (opens || sent.at != self.origin)
            {
                measure(sent);
            }
        }
        let last = self.index(next - 1);
        let mut index = self.index(self.oldest);
        for _ in self.oldest..next {
            if index > last {
                break;
            }
            self.places[index] = None;
            index = (index + 1) % self.places.len();
        }
        self.oldest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_segment_of_an_ack_is_measured_if_none_was_sent_twice() {
        let mut log = SendTimes::default();
        for segment in 0..4 {
            log.on_transmit(Time::from_ms(segment), segment * 10, segment * 10 + 10);
        }
        log.on_new_ack(Time::from_ms(50), 20);
        assert_eq!(log.sample, Some(Time::from_ms(49)));
        // Sent again, in other borders.
        log.on_transmit(Time::from_ms(60), 25, 35);
        assert_eq!(log.oldest(), Some(Sent { at: Time::from_ms(60), transmissions: 2 }));
        log.on_new_ack(Time::from_ms(70), 30);
        assert_eq!(log.sample, None);
        log.on_new_ack(Time::from_ms(80), 40);
        assert_eq!(log.sample, Some(Time::from_ms(77)));
        assert_eq!(log.oldest(), None);
    }

    #[test]
    fn what_waited_for_a_repair_is_measured_if_asked_to() {
        let logs = [SendTimes::default(), SendTimes::default().with_samples_after_repairs()];
        for (mut log, sample) in logs.into_iter().zip([None, Some(Time::from_ms(39))]) {
            log.on_transmit(Time::from_ms(0), 0, 10);
            log.on_transmit(Time::from_ms(1), 10, 20);
            log.on_transmit(Time::from_ms(30), 0, 10);
            log.on_new_ack(Time::from_ms(40), 20);
            assert_eq!(log.sample, sample);
        }
    }

    #[test]
    fn a_ring_keeps_the_records_of_an_ack_that_passes_its_end() {
        // Places 0 to 3; segments 1, 2, 3, 4 are in places 1, 2, 3, 0.
        for (acked, transmissions) in [([1, 2, 3, 4].as_slice(), 1), (&[2, 4], 2)] {
            let mut log = SendTimes::default().in_ring(10, 40, true);
            for segment in 0..4 {
                log.on_transmit(Time::ZERO, segment * 10, segment * 10 + 10);
            }
            for segments in acked {
                log.on_new_ack(Time::from_ms(1), segments * 10);
            }
            // Segment 7 is in the place of segment 3.
            for segment in 4..7 {
                log.on_transmit(Time::from_ms(2), segment * 10, segment * 10 + 10);
            }
            log.on_new_ack(Time::from_ms(3), 60);
            assert_eq!(log.oldest().map(|sent| sent.transmissions), Some(transmissions));
        }
    }

    #[test]
    fn the_clock_of_a_ring_starts_anew_with_the_first_segment() {
        let mut log = SendTimes::default().in_ring(10, 40, false);
        log.on_transmit(Time::from_ms(100), 0, 10);
        let cut = log.by_clock(Time::from_ms(3100));
        log.on_transmit(Time::from_ms(3100), 0, 10);
        log.on_transmit(Time::from_ms(3200), 10, 20);
        // Sent after the cut, and still before it by the clock of ns-2.
        assert!(log.by_clock(Time::from_ms(3200)) < cut);
        assert_eq!(SendTimes::default().by_clock(Time::from_ms(5)), Time::from_ms(5));
    }
}
