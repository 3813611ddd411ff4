//! Which ACKs measure a round trip, by a list of segments in the order in which they were sent.
//!
//! Source: ns-3.24, `TcpSocketBase::SendDataPacket` and `EstimateRtt`. A segment enters the list when it is
//! sent, unless it is the oldest one outstanding, which counts as sent again whether it was sent before or
//! not: then the first entry that holds its first byte is marked, if there is one. Segments sent again after
//! going back enter once more, at the end. An ACK is a sample if it covers the first entry and that is not
//! marked; it removes entries from the front as long as it covers them.

use std::collections::VecDeque;

/// A segment in the list.
#[derive(Debug, Clone, Copy)]
struct Entry {
    seq: u64,
    end: u64,
    again: bool,
}

/// The list.
#[derive(Debug, Clone, Default)]
pub struct RttHistory(VecDeque<Entry>);

impl RttHistory {
    /// The bytes from `seq` to `end` are sent; `una` is the first one not acknowledged.
    pub fn on_transmit(&mut self, seq: u64, end: u64, una: u64) {
        if seq != una {
            self.0.push_back(Entry { seq, end, again: false });
        } else if let Some(entry) = self.0.iter_mut().find(|e| e.seq <= seq && seq < e.end) {
            entry.end = end;
            entry.again = true;
        }
    }

    /// All below `ack` is acknowledged: whether that is a sample.
    pub fn on_ack(&mut self, ack: u64) -> bool {
        let sample = self.0.front().is_some_and(|first| !first.again && first.end <= ack);
        while self.0.front().is_some_and(|first| first.end <= ack) {
            self.0.pop_front();
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_segment_is_never_measured() {
        let mut list = RttHistory::default();
        // Alone in flight: not listed.
        list.on_transmit(0, 10, 0);
        assert!(!list.on_ack(10));
        // Two at once: the second is listed, and measured with the ACK that covers it.
        list.on_transmit(10, 20, 10);
        list.on_transmit(20, 30, 10);
        assert!(!list.on_ack(20));
        assert!(list.on_ack(30));
        assert!(!list.on_ack(30));
    }

    #[test]
    fn what_is_sent_again_as_the_oldest_is_marked_and_other_repetitions_are_listed_again() {
        let mut list = RttHistory::default();
        for seq in [0, 10, 20, 30] {
            list.on_transmit(seq, seq + 10, 0);
        }
        list.on_ack(10);
        // Going back to the second segment: it is marked; the third enters again behind the fourth.
        list.on_transmit(10, 20, 10);
        list.on_transmit(20, 30, 10);
        assert!(!list.on_ack(30));
        // In front is now the fourth, as it was sent at first.
        assert!(list.on_ack(40));
        assert!(!list.on_ack(40));
    }
}
