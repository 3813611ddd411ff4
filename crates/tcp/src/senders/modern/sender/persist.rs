//! A window that is closed: the persist timer and its probes.
//!
//! Source: RFC 9293 section 3.8.6.1; Linux, `tcp_check_probe_timer`, `tcp_send_probe0`, `tcp_write_wakeup`,
//! `tcp_ack_probe`. A probe is a segment without data below what is expected, which the receiver answers with an ACK;
//! where a part of a segment fits into the window, that part is sent.
//!
//! DEVIATION: a flow never gives up, however many probes were not answered.

use super::Sender;
use super::timers::Pending;
use crate::handshake::Message;
use crate::segment::Segment;
use ackclock_units::Time;

/// Least and greatest wait before a probe (Linux, `TCP_RTO_MIN` and `TCP_RTO_MAX`).
const LEAST: Time = Time::from_ms(200);
const LONGEST: Time = Time::from_secs(120);
/// How often the wait is doubled at most (Linux, `tcp_retries2`).
const MOST_DOUBLINGS: u32 = 15;

impl Sender {
    /// An ACK carries the receiver's window (`tcp_may_update_window`): that of an old ACK says nothing, and that of
    /// a repeated one only if it is larger, or closed. Answers whether it counts.
    #[inline]
    pub(super) fn on_window(&mut self, now: Time, ack: u64, window: u64) -> bool {
        let una = self.board.una;
        let news = ack > una || (ack == una && (window > self.receive_window || window == 0));
        if news {
            let changes = self.receive_window != window;
            self.receive_window = window;
            // Data that had to wait are a pause as that of an application is (`tcp_ack_update_window`).
            if changes && self.nxt < self.end && self.board.packets_out() == 0 {
                self.restart(now);
            }
        }
        news
    }

    /// Whether a lost segment may be retransmitted: it is the first, or within the window (`tcp_retransmit_skb`).
    #[inline]
    pub(super) fn is_inside(&self, segment: u64) -> bool {
        segment == self.board.span().0 || self.board.start_of(segment) < self.window_end()
    }

    /// Nothing is in flight, and something waits that may not be sent.
    #[cold]
    pub(super) fn arm_persist(&mut self, now: Time) {
        if self.opening || self.departure > now {
            return;
        }
        let base = self.rto.current().max(LEAST).as_ns();
        let wait = Time::from_ns(base.saturating_mul(1 << self.window_backoff)).min(LONGEST);
        self.arm(now, Pending::Persist, wait);
    }

    pub(super) fn on_persist_timer(&mut self) {
        self.pending = Pending::None;
        self.deadline = Time::NEVER;
        if self.board.packets_out() == 0 && self.nxt < self.end {
            self.forced = Some(super::Forced::ProbeWindow);
        } else {
            self.window_probes = 0;
        }
    }

    /// The probe leaves.
    pub(super) fn probe_window(&mut self, now: Time) -> Segment {
        let room = self.window_end().saturating_sub(self.nxt);
        if room > 0 {
            self.window_probes = 0;
            self.window_backoff = 0;
            return self.send_new(now, self.next_payload().min(room), false);
        }
        self.window_probes += 1;
        self.window_backoff = (self.window_backoff + 1).min(MOST_DOUBLINGS);
        self.arm_persist(now);
        self.message_of(Message::Probe)
    }

    /// An ACK comes while nothing is in flight.
    pub(super) fn on_probed(&mut self, now: Time) {
        self.window_probes = 0;
        if self.nxt >= self.end {
            return;
        }
        if self.nxt + self.next_payload() <= self.window_end() {
            self.window_backoff = 0;
            if self.pending == Pending::Persist {
                self.pending = Pending::None;
                self.deadline = Time::NEVER;
            }
        } else {
            self.arm_persist(now);
        }
    }
}
