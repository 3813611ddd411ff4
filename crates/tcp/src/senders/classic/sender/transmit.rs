//! What the classic sender sends, and when.

use super::Sender;
use crate::rto::Sampling;
use crate::segment::{Cause, Flags, Segment};
use crate::senders::classic::recovery::interface::LossRecovery;
use ackclock_units::Time;

impl Sender {
    /// The next segment to send at this moment, if any.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if let Some(cause) = self.resend.take() {
            return Some(self.transmit_oldest(now, cause));
        }
        let mut left = self.end - self.state.nxt;
        if left == 0 || self.state.hold || self.waits {
            left = self.refill(now)?;
        }
        let state = &self.state;
        let usable = self
            .window_bytes()
            .saturating_add(self.extra)
            .min(self.ceiling)
            .saturating_sub(state.flight());
        let whole = left.min(state.rules.mss);
        let payload = if usable >= whole {
            whole
        } else if self.rules().fills_window && usable > 0 {
            usable
        } else {
            return None;
        };
        let seq = state.nxt;
        self.state.nxt += payload;
        let cause = if seq < self.state.max { Cause::GapRetransmit } else { Cause::New };
        Some(self.transmit(now, seq, payload as u16, cause))
    }

    #[cold]
    fn transmit_oldest(&mut self, now: Time, cause: Cause) -> Segment {
        if let Cause::Handshake(message) = cause {
            return self.transmit_message(now, message);
        }
        let seq = self.state.una;
        let payload = self.rules().mss.min(self.end - seq);
        if seq == self.state.max {
            // Nothing is in flight (`recovery: vegas` with a ring): it does not count as sent.
            return self.transmit(now, seq, payload as u16, Cause::New);
        }
        // After going back the segment is the first of those that count as unsent.
        if cause == Cause::Timeout || !self.recovery.repairs_twice() {
            self.state.nxt = self.state.nxt.max(seq + payload);
        }
        self.transmit(now, seq, payload as u16, cause)
    }

    #[inline(always)]
    fn transmit(&mut self, now: Time, seq: u64, payload: u16, cause: Cause) -> Segment {
        let end = seq + u64::from(payload);
        if cause != Cause::New {
            self.stats.retransmissions += 1;
            if cause == Cause::FastRetransmit {
                self.stats.fast_retransmits += 1;
            }
            // Karn's rule: nothing that was sent twice is timed.
            let again = |(timed, _): &(u64, Time)| *timed > seq && *timed <= end;
            self.timed = self.timed.filter(|timed| self.rto.drops_timed() || !again(timed));
        } else if self.rules().sampling == Sampling::Karn && self.timed.is_none() {
            self.timed = Some((end, now));
        }
        let idle = self.rules().idle_timer
            && self.state.una == self.state.max
            && !self.recovery.times_out_idle();
        self.state.max = self.state.max.max(end);
        if let Some(log) = &mut self.state.log {
            log.on_transmit(now, seq, end);
        }
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(payload);
        if self.rules().sampling == Sampling::Listed
            && let Some(list) = &mut self.listed
        {
            list.on_transmit(seq, end, self.state.una);
        }
        if self.deadline == Time::NEVER || idle {
            self.start_timer(now);
        }
        let flags = if self.rules().ecn { self.ecn_of(cause) } else { Flags::NONE };
        Segment { seq: seq as u32, payload, cause, flags }
    }

    #[inline]
    pub(super) fn start_timer(&mut self, now: Time) {
        if self.rules().timer.backs_off_at_start {
            self.rto.on_timeout();
        }
        self.deadline = now + self.rto.current();
    }
}
