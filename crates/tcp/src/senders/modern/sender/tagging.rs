//! What the blocks of an ACK say about the segments in flight (`tcp_sacktag_write_queue`).

use super::Sender;
use super::ack::Acked;
use crate::cc::CongestionState;
use crate::journal::Episode;
use crate::sack::Note;
use ackclock_units::Time;

impl Sender {
    /// An ACK carries blocks.
    #[cold]
    pub(super) fn tag(&mut self, acked: &mut Acked, ack: u64, note: &Note) {
        let duplicate = note.duplicate(ack);
        if let Some(block) = duplicate {
            self.on_repeated(acked, block, ack);
        }
        let mut blocks = [(0, 0); crate::sack::MOST_BLOCKS];
        let mut count = 0;
        for (place, &block) in note.blocks().iter().enumerate() {
            // Blocks that begin below the ACK can only report duplicates. Most were in the ACK before.
            let inside = block.0 > ack && block.1 <= self.nxt && block.0 < block.1;
            if inside
                && !self.board.is_repeated(place, block)
                && !self.board.has_arrived(block.0, block.1)
            {
                blocks[count] = block;
                count += 1;
            }
        }
        if count > 1 {
            blocks[..count].sort_unstable();
        }
        for &block in &blocks[..count] {
            self.tag_block(acked, block);
        }
        if self.state != CongestionState::Loss || self.undo.marker.is_some() {
            self.rack.on_reordering(acked.reordered, self.board.highest_sack(), self.rules.mss);
            acked.reordered = u64::MAX;
        }
    }

    fn tag_block(&mut self, acked: &mut Acked, block: (u64, u64)) {
        let Self { board, rack, rate, high_seq, min_rtt, .. } = self;
        board.arrive(block.0, block.1, |board, segment| {
            let sent = *board.get(segment);
            let (start, end) = (board.start_of(segment), board.end_of(segment));
            if !sent.was_retransmitted() {
                // It was in a hole, and was not sent again: reordering.
                if start < board.highest_sack() {
                    acked.reordered = acked.reordered.min(start);
                }
                acked.original |= end <= *high_seq;
                if acked.first_sacked == Time::NEVER {
                    acked.first_sacked = sent.time;
                }
                acked.last_sacked = sent.time;
            }
            rack.on_delivered(acked.now, sent.time, end, sent.was_retransmitted(), *min_rtt);
            if let Some(rate) = rate {
                rate.on_delivered(segment, sent.time, end);
            }
            acked.newest = acked.newest.max(sent.time);
            acked.delivered += 1;
            acked.sacked = true;
            board.sack(segment);
        });
    }

    /// The ACK reports data that had arrived before (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn on_repeated(&mut self, acked: &mut Acked, block: (u64, u64), ack: u64) {
        let segments = (block.1 - block.0).div_ceil(self.rules.mss).max(1);
        self.repeated += segments;
        // The network duplicates packets, too: more than were retransmitted say nothing.
        if self.repeated > self.stats.retransmissions {
            return;
        }
        acked.repeated = true;
        self.note_episode(Episode::Spurious, block.0);
        acked.delivered += segments;
        let of_probe = self.probe.is_some_and(|(end, again)| again && block.1 == end);
        acked.repeated_probe |= of_probe;
        if self.rack.has_seen_reordering() && !of_probe {
            self.rack.duplicate_seen = true;
        }
        let Some(marker) = self.undo.marker else { return };
        let below = block.1 <= acked.una_before.max(ack);
        if self.undo.retransmissions > 0 && below && block.1 > marker {
            self.undo.retransmissions = (self.undo.retransmissions - segments as i64).max(0);
        } else if !below {
            self.on_repeated_in_flight(acked, block, marker);
        }
    }

    /// Duplicates of segments that have arrived and are not acknowledged.
    fn on_repeated_in_flight(&mut self, acked: &mut Acked, block: (u64, u64), marker: u64) {
        let (first, end) = self.board.span();
        for segment in first..end {
            let sent = self.board.get(segment);
            let (start, end) = (self.board.start_of(segment), self.board.end_of(segment));
            if start < block.0 || end > block.1 || !sent.was_retransmitted() {
                continue;
            }
            if self.undo.retransmissions > 0 && end > marker {
                self.undo.retransmissions -= 1;
            }
            if sent.is_sacked() {
                acked.reordered = acked.reordered.min(start);
            }
        }
    }
}
