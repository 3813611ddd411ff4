//! Protection against wrapped sequence numbers (PAWS): segments that were sent before what was acknowledged are discarded.
//!
//! Source: RFC 7323 section 5.3 (R1), RFC 2883 (D-SACK); Linux, `tcp_paws_check`, `tcp_validate_incoming`,
//! `tcp_send_dupack`.
//!
//! DEVIATION: an ACK, which carries no sending time of its own, is never too old for the sender.

use super::{AFTER_DUPLICATE, AckOut, Receiver};
use crate::senders::modern::stamps::millis;
use ackclock_units::Time;

/// By how much a timestamp may be older than the one that is echoed, milliseconds (Linux: `TCP_PAWS_WINDOW`).
const WINDOW: u64 = 1;

impl Receiver {
    /// Whether a segment with this timestamp is discarded.
    #[inline]
    pub(in crate::senders::modern) fn outdates(&self, stamp: Time) -> bool {
        self.timestamps && stamp < self.stamp && millis(self.stamp) - millis(stamp) > WINDOW
    }

    /// A segment is discarded; what of it had arrived is reported.
    #[cold]
    pub(super) fn discard(&mut self, now: Time, seq: u64, end: u64) -> AckOut {
        self.duplicates += u64::from(end <= self.next || self.ahead.hold(seq, end));
        if seq < self.next {
            self.repeated = Some((seq, end.min(self.next)));
            self.pace.hurry(AFTER_DUPLICATE);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.advance(now);
        }
        self.acknowledge()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Arrival;
    use super::super::tests::immediate;
    use super::*;
    use crate::segment::Flags;

    /// What was sent before the segment whose timestamp is echoed is discarded, whether it is new or not; only what has arrived
    /// before is reported (RFC 7323 section 5.3, R1; RFC 2883).
    #[test]
    fn a_segment_from_before_the_one_that_is_echoed_is_discarded() {
        for timestamps in [true, false] {
            let mut receiver = immediate(timestamps);
            let mut answer = |seq: u64, ms: u64| {
                let arrival =
                    Arrival { seq, payload: 100, stamp: Time::from_ms(ms), flags: Flags::NONE };
                let now = Time::from_ms(100);
                let ack = match receiver.on_next(now, seq as u32, 100, arrival.stamp, Flags::NONE) {
                    Some(ack) => ack,
                    None => receiver.on_data(now, &arrival).expect("each is acknowledged"),
                };
                let note = receiver.notes.take(ack.aux);
                (ack.ack, note.map_or(vec![], |note| note.blocks().to_vec()))
            };
            assert_eq!(answer(0, 10), (100, vec![]));
            // A tick of the clock earlier is not too old, two are.
            assert_eq!(answer(100, 9), (200, vec![]));
            let next = if timestamps { 200 } else { 300 };
            assert_eq!(answer(200, 8), (next, vec![]));
            let rest = if timestamps { vec![] } else { vec![(400, 500)] };
            assert_eq!(answer(400, 8), (next, rest.clone()));
            let repeated = [vec![(100, 200)], rest].concat();
            assert_eq!(answer(100, 8), (next, repeated));
            assert_eq!(receiver.duplicates, 1);
        }
    }

    #[test]
    fn two_ticks_of_the_clock_must_be_between() {
        let mut receiver = immediate(true);
        receiver.stamp = Time::from_ms(7);
        let outdated = |ns: u64| receiver.outdates(Time::from_ns(ns));
        assert!(![7_000_001, 6_999_999, 6_000_000].into_iter().any(outdated));
        assert!(outdated(5_999_999));
    }
}
