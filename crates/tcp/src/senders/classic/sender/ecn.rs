//! The classic sender and marks: explicit congestion notification.
//!
//! Source: RFC 3168 sections 6.1.2 (the sender), 6.1.3 (the receiver) and 6.1.5 (retransmitted data).
//!
//! - New data are sent as ECN-capable (ECT); what is retransmitted, ACKs and messages of a handshake are not.
//! - An ACK with ECE cuts window and threshold as the loss of a segment would, but nothing is retransmitted. So it
//!   does once per window of data: until more is acknowledged than had been sent at the last cut, whether a mark
//!   or a loss was the reason, further echoes change nothing. The first new segment after any cut says so (CWR).
//! - A loss in a window that a mark has cut is repaired; it does not cut again (as ns-2.35, TcpAgent `ecn_`).
//! - An ACK with ECE never lets the window grow (as ns-2.35; the RFC leaves it open).
//!
//! The ends do not negotiate: with `ecn: true` both know it.
//!
//! DEVIATION: section 6.1.2 lets a sender with a window of one segment wait for its retransmission timer after
//! an echo; ns-2.35 doubles that timer. Here the window stays at one segment.

use super::Sender;
use crate::cc::{CongestionControl, Signal};
use crate::segment::{Cause, Flags};
use ackclock_units::Time;

/// What marks have done to the window.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// The window was cut when the data up to here had been sent.
    until: Option<u64>,
    /// The next new segment says that the window was cut.
    announces: bool,
    /// How often a mark has cut it.
    reductions: u64,
}

impl Sender {
    /// An ACK of everything below `ack` echoes a mark.
    #[cold]
    pub(super) fn on_echo(&mut self, now: Time, ack: u64) {
        let Some(marks) = &mut self.ecn else { return };
        let known = [marks.until, self.state.recover];
        if known.into_iter().flatten().any(|until| ack <= until) {
            return;
        }
        let loss = self.state.loss(now, Signal::Ecn);
        let Some(target) = self.cc.on_loss(&self.state.window, &loss) else { return };
        marks.until = Some(self.state.max);
        marks.announces = true;
        marks.reductions += 1;
        self.state.cut(target);
        let window = &mut self.state.window;
        window.cwnd = window.cwnd.min(target.max(window.segment));
        self.report_cwnd(now);
    }

    /// Whether a mark has cut the window of which data are outstanding.
    pub(super) fn is_cut_by_mark(&self) -> bool {
        let until = self.ecn.as_ref().and_then(|marks| marks.until);
        until.is_some_and(|until| self.state.una < until)
    }

    /// A loss has cut the window: the receiver is to know that, too.
    pub(super) fn announce_cut(&mut self) {
        if let Some(marks) = &mut self.ecn {
            marks.announces = true;
        }
    }

    /// What a segment says about congestion.
    #[cold]
    pub(super) fn ecn_of(&mut self, cause: Cause) -> Flags {
        match &mut self.ecn {
            Some(marks) if cause == Cause::New => {
                let announces = std::mem::take(&mut marks.announces);
                Flags::CAPABLE.with_if(announces, Flags::REDUCED)
            }
            _ => Flags::NONE,
        }
    }

    /// How often a mark has cut the window.
    pub fn ecn_reductions(&self) -> u64 {
        self.ecn.as_ref().map_or(0, |marks| marks.reductions)
    }
}
