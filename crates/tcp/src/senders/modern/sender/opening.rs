//! Before the first data, after pauses, and at the end.
//!
//! DEVIATION: if SYNs were repeated, the receiver takes the time since the last one for its round-trip time, and so do
//! congestion controls where the sender has no sample; a round trip of more than a second is thus underestimated.

use super::Sender;
use super::timers::Pending;
use crate::cc::{CongestionControl, CongestionState};
use crate::handshake::{Message, Rules as _};
use crate::journal::Rule;
use crate::segment::{Cause, Flags, Segment};
use crate::senders::modern::stamps::millis;
use crate::senders::modern::ticks;
use ackclock_units::Time;

/// What a handshake has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Established {
    /// The round-trip time that the sender reckons with, if it has one.
    pub sample: Option<Time>,
    /// That of the messages that opened the connection in the end.
    pub path: Time,
}

impl Sender {
    /// Starts the flow.
    pub fn start(&mut self, now: Time) {
        debug_assert!(!self.started);
        self.started = true;
        self.cc.on_start(&mut self.window);
        self.last_send = now;
        self.asked = (now, now);
        if self.rules.handshake.happens() {
            self.opening = true;
            self.message = Some(Message::Syn);
        } else {
            self.check_limited();
        }
        self.stats.start(now, self.window.cwnd);
        if let Some(period) = self.cc.tick_period() {
            self.next_tick = now + period;
        }
    }

    /// The timer gives up a message of the handshake.
    #[cold]
    pub(super) fn repeat_message(&mut self, _now: Time) {
        self.tries += 1;
        self.stats.timeouts += 1;
        self.deadline = Time::NEVER;
        if self.tries <= self.rules.handshake.repetitions() {
            self.message = Some(Message::Syn);
        }
    }

    /// The receiver's answer has come: data may be sent. `echo` is when the message was sent that reached the receiver
    /// first. Answers what was measured, or nothing if an earlier answer had come.
    #[cold]
    pub fn establish(&mut self, now: Time, echo: Time) -> Option<Established> {
        if !self.opening {
            return None;
        }
        self.opening = false;
        self.deadline = Time::NEVER;
        self.pending = Pending::None;
        let (first, last) = self.asked;
        let sample = self.opening_sample(now, echo);
        match sample {
            Some(rtt) => {
                self.min_rtt = rtt;
                self.min_rtt_at = now;
                self.rto.on_sample(now, rtt);
                self.stats.on_rtt(rtt);
            }
            None => self.rto.on_unmeasured(),
        }
        // The SYN was delivered.
        self.delivered = 1;
        self.delivered_at = now;
        let lost = self.tries > 0 && echo != first;
        // A repeated SYN does not ask for ECN (`__tcp_retransmit_skb`, `tcp_ecn_clear_syn`).
        self.ecn &= !lost;
        // If timestamps show that the first has arrived, none was lost (`tcp_try_undo_spurious_syn`,
        // `tcp_init_transfer`).
        if self.tries > 1 && (lost || !self.rules.timestamps) {
            self.window.cwnd = 1.0;
            self.note(Rule::SynLost);
        }
        let path = now - if self.tries == 0 { echo } else { last };
        self.cc.on_established(&mut self.window, now, sample.unwrap_or(path));
        // The application finds nothing unsent when it writes first.
        if let Some(rate) = &mut self.rate {
            rate.limit(self.delivered, 0);
        }
        if self.rules.paced {
            self.follow_window();
        }
        self.message = self.rules.handshake.confirmation();
        self.stats.on_cwnd(now, self.reported_cwnd());
        Some(Established { sample, path })
    }

    /// The round-trip time that the handshake measures. If its first message was repeated, timestamps alone tell which
    /// one is answered, in milliseconds (`tcp_ack_update_rtt`).
    fn opening_sample(&self, now: Time, echo: Time) -> Option<Time> {
        if self.tries == 0 {
            return Some(now - echo);
        }
        let ticks = millis(now) - millis(echo);
        self.rules.timestamps.then(|| Time::from_ms(ticks.max(1)))
    }

    /// Sends a message of the handshake.
    pub(super) fn send_message(&mut self, now: Time, message: Message) -> Segment {
        if message == Message::Syn {
            self.asked.1 = now;
            let wait = self.rules.handshake.wait(self.tries).unwrap_or(self.rto.current());
            self.deadline = self.expiry(now, wait);
        }
        self.message_of(message)
    }

    pub(super) fn message_of(&self, message: Message) -> Segment {
        let payload = self.rules.handshake.bytes(message);
        let cause = Cause::Handshake(message);
        Segment { seq: 0, payload, cause, flags: Flags::NONE }
    }

    /// A FIN without data.
    pub(super) fn fin_alone(&self) -> Segment {
        self.message_of(Message::Fin)
    }

    fn since_last_send(&self, now: Time) -> Time {
        if self.rules.coarse_timers {
            return ticks::elapsed(self.last_send, now);
        }
        now - self.last_send
    }

    /// The flow sends again after a pause (`tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    #[cold]
    pub(super) fn restart(&mut self, now: Time) {
        let rto = self.rto.current();
        let mut pause = self.since_last_send(now);
        if !self.rules.decays_idle || pause <= rto || self.cc.owns_window() {
            return;
        }
        self.window.ssthresh = self.current_ssthresh();
        let least = self.rules.initial_window.min(self.window.cwnd);
        let mut cwnd = self.window.cwnd;
        while pause > rto && cwnd > least {
            pause = pause - rto;
            cwnd = (cwnd / 2.0).floor();
        }
        self.window.cwnd = cwnd.max(least);
        self.note(Rule::Idle);
        self.cc.on_idle(&mut self.window, now);
        self.stats.on_cwnd(now, self.reported_cwnd());
        debug_assert!(self.state <= CongestionState::Loss);
    }
}
