//! The classic sender while its application has little to send: writes, small segments that wait, idle times.

use super::Sender;
use crate::cc::CongestionControl;
use ackclock_units::Time;

impl Sender {
    /// The application writes; `last` if it will write nothing more.
    pub fn write(&mut self, now: Time, bytes: u64, last: bool) {
        let state = &self.state;
        if self.rules().restarts_idle
            && state.una == state.max
            && self.drained.0 == state.nxt
            && now.since(self.drained.1) > self.rto.current()
        {
            self.state.window.cwnd = state.window.cwnd.min(self.initial_cwnd);
            self.cc.on_idle(&mut self.state.window, now);
            self.report_cwnd(now);
        }
        self.written.add(bytes, last);
        self.release();
    }

    /// Makes written data sendable; Nagle holds back the tail.
    fn release(&mut self) {
        let state = &self.state;
        let waits = self.rules().nagle && state.max > state.una && !self.written.is_complete();
        let small = if waits { (self.written.bytes - state.nxt) % state.rules.mss } else { 0 };
        self.end = self.end.max(self.written.bytes - small);
    }

    /// The timer has expired with nothing in flight: what follows starts slowly.
    #[cold]
    pub(super) fn restart_idle(&mut self, now: Time) {
        self.state.window.cwnd = self.state.window.segment;
        self.cc.on_idle(&mut self.state.window, now);
        self.state.begin_episode();
        self.timed = None;
        self.deadline = now + self.rto.current();
    }

    /// Bytes of a small segment that waited for ACKs and may leave now, where nothing else may.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&mut self, now: Time) -> Option<u64> {
        let state = &self.state;
        if state.hold || self.waits || state.nxt != self.end {
            return None;
        }
        if self.drained.0 != state.nxt {
            self.drained = (state.nxt, now);
        }
        if self.rules().grow_only_if_cwnd_limited
            && state.in_units(state.flight() + state.rules.mss) <= state.window.cwnd
        {
            self.unused_until = state.nxt;
        }
        self.release();
        Some(self.end - self.state.nxt).filter(|left| *left > 0)
    }
}
