//! What an application can ask of its connection beside writing.

use super::Sender;
use ackclock_units::Time;
use std::sync::Arc;

impl Sender {
    /// Next new byte (SND.NXT).
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Whether its FIN has left.
    pub fn has_closed(&self) -> bool {
        self.fin_sent
    }

    /// The window that the other end's first message offers.
    pub fn set_receive_window(&mut self, window: u64) {
        self.receive_window = window;
    }

    /// The application closes: its data end with a FIN, which rides on the last segment if that has not left.
    pub fn close(&mut self, now: Time) {
        self.write(now, 0, true);
        self.fin_due = self.rules.fin;
        self.corked = false;
    }

    /// Whether a small segment waits while an earlier one is not acknowledged (`TCP_NODELAY`).
    pub fn set_nagle(&mut self, waits: bool) {
        Arc::make_mut(&mut self.rules).nagle = waits;
    }

    /// Whether a small segment waits for more data (`TCP_CORK`, `MSG_MORE`); after a while it leaves nevertheless.
    /// Answers what was before.
    pub fn set_cork(&mut self, corked: bool) -> bool {
        std::mem::replace(&mut self.corked, corked)
    }

    /// What was written so far is a record: no segment holds its last byte and the next one (`MSG_EOR`).
    pub fn end_record(&mut self) {
        if self.record_end == u64::MAX {
            self.record_end = self.end;
        } else {
            self.records.push_back(self.end);
        }
    }

    /// The next segment belongs to the next record.
    #[cold]
    pub(super) fn next_record(&mut self) {
        self.record_end = self.records.pop_front().unwrap_or(u64::MAX);
    }

    /// When something happens that is not held back by pacing.
    pub fn next_timeout(&self) -> Time {
        self.deadline
    }
}
