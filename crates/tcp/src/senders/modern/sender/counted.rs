//! Without blocks: repeated ACKs are counted instead.
//!
//! Source: RFC 6582 (NewReno); Linux, `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_limit_reno_sacked`,
//! `tcp_newreno_mark_lost`, `tcp_is_non_sack_preventing_reopen`. Each repeated ACK stands for a segment that has
//! arrived out of order, nobody knows which; the third one, and each partial ACK in recovery, give up the first
//! segment.
//!
//! DEVIATION: an ACK that comes with data counts as a repeated one, too.

use super::Sender;
use super::ack::Acked;
use crate::cc::CongestionState;

impl Sender {
    /// A repeated ACK: something was delivered, and the total knows it before the window follows the ACK
    /// (`tcp_count_delivered`).
    pub(super) fn count_repeated(&mut self, acked: &mut Acked) {
        if self.rules.sack || !acked.plain {
            return;
        }
        let before = self.board.sacked_out;
        self.board.sacked_out += 1;
        self.limit_counted(0);
        let arrived = u64::from(self.board.sacked_out.saturating_sub(before));
        acked.delivered += arrived;
        self.delivered += arrived;
    }

    /// Segments left the scoreboard, of which repeated ACKs may have been signs.
    pub(super) fn uncount(&mut self, acked: &mut Acked) {
        if self.rules.sack || acked.popped == 0 {
            return;
        }
        let counted = self.board.sacked_out;
        acked.delivered = u64::from(acked.popped.saturating_sub(counted).max(1));
        self.board.sacked_out = counted.saturating_sub(acked.popped - 1);
        self.limit_counted(acked.popped);
        acked.original &= !acked.again;
    }

    /// One segment at least has not arrived; more repeated ACKs than there are segments mean reordering.
    fn limit_counted(&mut self, popped: u32) {
        let out = self.board.packets_out();
        let holes = self.board.lost_out.max(1).min(out);
        if self.board.sacked_out + holes > out {
            self.board.sacked_out = out - holes;
            self.rack.on_counted(out + popped);
        }
    }

    /// What was counted is forgotten.
    pub(super) fn forget_counted(&mut self) {
        if !self.rules.sack {
            self.board.sacked_out = 0;
        }
    }

    /// The first segment counts as lost, or not.
    pub(super) fn lose_first(&mut self, acked: &Acked) {
        let (first, end) = self.board.span();
        let lost = match self.state {
            CongestionState::Recovery => acked.advanced,
            CongestionState::Loss => false,
            _ => self.board.sacked_out >= self.rack.reordering,
        };
        if lost && first < end && !self.board.get(first).is_lost() {
            self.board.mark_lost(first);
            let room = self.board.packets_out() - self.board.lost_out;
            self.board.sacked_out = self.board.sacked_out.min(room);
        }
    }

    /// Whether a recovery continues until something beyond its end is acknowledged: repeated ACKs of its end could
    /// not be distinguished from those of a new loss.
    pub(super) fn holds_state(&mut self) -> bool {
        let holds = !self.rules.sack && self.board.una == self.high_seq;
        if holds && !self.may_have_retransmissions() {
            self.undo.stamp = None;
        }
        holds
    }
}
