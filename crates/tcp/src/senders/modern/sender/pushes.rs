//! PSH within a long write (Linux, `forced_push`): on the segment with which more than half of the largest window that
//! the receiver has offered is written since the last PSH. The window of a SYN-ACK is not scaled (RFC 7323
//! section 2.2), so that until the first ACK of data this is half of 64 KiB; a receiver may acknowledge such a
//! segment alone.
//!
//! DEVIATION: a segment that is retransmitted has no PSH of its own.

use super::Sender;
use std::collections::VecDeque;

/// Largest window that a SYN-ACK can offer.
const NOT_SCALED: u64 = 65_535;

/// Long writes of which something is left to send.
#[derive(Debug, Clone, Default)]
pub(super) struct Pushes(VecDeque<LongWrite>);

#[derive(Debug, Clone, Copy)]
struct LongWrite {
    from: u64,
    end: u64,
    /// Half of the window that was known.
    half: u64,
}

impl Sender {
    /// The application has written what begins at this byte.
    pub(super) fn plan_pushes(&mut self, from: u64) {
        let end = self.written.bytes;
        let known = if self.board.una == 0 {
            self.receive_window.min(NOT_SCALED)
        } else {
            self.receive_window
        };
        let half = known / 2;
        if end - from <= half {
            return;
        }
        self.pushes.get_or_insert_default().0.push_back(LongWrite { from, end, half });
        if self.next_push == u64::MAX {
            self.after_push(from);
        }
    }

    /// Finds the segment that is pushed next after this byte.
    #[cold]
    pub(super) fn after_push(&mut self, at: u64) {
        let mss = self.rules.mss;
        self.next_push = self.pushes.as_mut().map_or(u64::MAX, |pushes| pushes.next(at, mss));
    }
}

impl Pushes {
    /// End of the first segment beyond a byte that is pushed; `u64::MAX` for none.
    fn next(&mut self, at: u64, mss: u64) -> u64 {
        while let Some(write) = self.0.front() {
            let point = (at.max(write.from) + write.half + 1).next_multiple_of(mss);
            if point <= write.end {
                return point;
            }
            self.0.pop_front();
        }
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As packets of Linux show them: with 1448 B a segment, segments 23, 46, ... 161 of a write of 256 KiB, and
    /// 204 as the first of the next one.
    #[test]
    fn long_writes_are_pushed_each_half_window() {
        let write = |i: u64| LongWrite { from: i << 18, end: (i + 1) << 18, half: NOT_SCALED / 2 };
        let mut pushes = Pushes([write(0), write(1)].into());
        let mut at = 0;
        let mut segments = Vec::new();
        loop {
            at = pushes.next(at, 1448);
            if at == u64::MAX {
                break;
            }
            segments.push(at / 1448);
        }
        assert_eq!(segments[..8], [23, 46, 69, 92, 115, 138, 161, 204]);
        assert_eq!(segments.len(), 14);
    }
}
