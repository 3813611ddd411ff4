//! How the window falls in a reduction.

use super::Sender;
use super::ack::Acked;
use crate::cc::CongestionControl;
use crate::journal::Rule;

/// The rule of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduce {
    /// In proportion to what is delivered.
    Prr,
    /// To the threshold at once.
    Pipe,
    /// As ns-3.44 counts what is delivered.
    Ns3,
}

impl Reduce {
    /// The rule that a scenario chose.
    pub fn new(word: &str) -> Self {
        match word {
            "pipe" => Self::Pipe,
            "ns-3" => Self::Ns3,
            _ => Self::Prr,
        }
    }
}

impl Sender {
    /// The window after an ACK in a reduction.
    pub(super) fn reduce(&mut self, acked: &Acked, newly_lost: u64) {
        if self.rules.reduce == Reduce::Ns3 {
            self.fall_as_ns3(acked);
        } else {
            self.fall(acked.delivered, acked.advanced && newly_lost == 0);
        }
    }

    /// Proportional rate reduction (RFC 6937; `tcp_cwnd_reduction`), or the threshold at once; `safe` if the ACK
    /// shows progress and no new loss.
    pub(super) fn fall(&mut self, delivered: u64, safe: bool) {
        if self.rules.reduce == Reduce::Pipe {
            self.window.cwnd = self.window.ssthresh.max(1.0);
            return self.note(Rule::Pipe);
        }
        if delivered == 0 {
            return;
        }
        self.prr_delivered += delivered;
        let in_flight = u64::from(self.board.in_flight());
        let ssthresh = self.window.ssthresh.min(1e9) as u64;
        let out = self.prr_out as i64;
        let mut sent = if in_flight > ssthresh {
            self.share(ssthresh) as i64 - out
        } else {
            let room = (self.prr_delivered as i64 - out).max(delivered as i64);
            (room + i64::from(safe)).min((ssthresh - in_flight) as i64)
        };
        sent = sent.max(i64::from(self.prr_out == 0));
        self.window.cwnd = (in_flight as i64 + sent).max(1) as f64;
        self.note(Rule::Prr);
    }

    /// What may have been sent, in proportion to what was delivered. ns-3.44 counts bytes, of which less than a
    /// segment does not leave, and multiplies them in 32 bits, which are too few from 65 KB in flight on.
    fn share(&self, ssthresh: u64) -> u64 {
        let base = self.prr_base.max(1);
        if self.rules.reduce != Reduce::Ns3 {
            return (ssthresh * self.prr_delivered).div_ceil(base);
        }
        let mss = self.rules.mss;
        let product = ((ssthresh * mss) as u32).wrapping_mul((self.prr_delivered * mss) as u32);
        u64::from(product).div_ceil(base * mss) / mss
    }

    /// What ns-3.44 does instead (`TcpPrrRecovery::DoRecovery`, `TcpSocketBase::ProcessAck`): a segment more counts
    /// as delivered if the ACK reports something out of order, though what it reports is counted; an ACK that also
    /// moves on counts twice; and then the next segment leaves whatever the window is.
    #[cold]
    fn fall_as_ns3(&mut self, acked: &Acked) {
        if acked.sacked {
            let more = u64::from(self.prr_delivered < self.prr_base);
            self.fall(acked.delivered + more, acked.again);
        }
        if acked.advanced {
            self.fall(acked.delivered, acked.again);
            let (first, end) = self.board.span();
            if first < end && !self.board.get(first).was_retransmitted() {
                let least = f64::from(self.board.in_flight() + 1);
                self.window.cwnd = self.window.cwnd.max(least);
            }
        }
    }

    /// In ns-3.44 the last ACK of a recovery lets the window grow by all that it covers, also by what had arrived
    /// before, and nothing more counts as lost until the next one.
    pub(super) fn leaves_as_ns3(&self, acked: &mut Acked) -> bool {
        let like_ns3 = self.rules.reduce == Reduce::Ns3 && !self.cc.owns_window();
        if like_ns3 {
            acked.delivered = u64::from(acked.popped);
        }
        like_ns3
    }

    /// What proportions refer to: the window before, and what is in flight in ns-3 (`m_recoveryFlightSize`).
    pub(super) fn begin_fall(&mut self) {
        self.prr_delivered = 0;
        self.prr_out = 0;
        self.prr_base = match self.rules.reduce {
            Reduce::Ns3 => u64::from(self.board.in_flight()),
            _ => self.window.cwnd as u64,
        };
    }
}
