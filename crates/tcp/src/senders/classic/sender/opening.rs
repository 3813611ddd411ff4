//! The classic sender before its first data: it carries out the rules of a [`Handshake`].

use super::Sender;
use crate::cc::CongestionControl;
use crate::handshake::{Handshake, Message, Rules};
use crate::segment::{Cause, Flags, Segment};
use crate::senders::classic::recovery::interface::LossRecovery;
use ackclock_units::Time;

impl Sender {
    /// The timer gives up a message of the handshake.
    #[cold]
    pub(super) fn repeat_message(&mut self, now: Time) {
        self.tries += 1;
        if self.rules().handshake.loss_counts() {
            self.initial_cwnd = self.state.window.segment;
            self.lose_flight(now);
        } else {
            self.deadline = Time::NEVER;
            self.stats.timeouts += 1;
            self.timed = None;
        }
        let left = self.tries <= self.rules().handshake.repetitions();
        self.resend = left.then_some(Cause::Handshake(Message::Syn));
    }

    /// The receiver's answer has come: data may be sent. Answers the round-trip time that was measured,
    /// if any; `stamp` is when the message was sent that is answered.
    #[cold]
    pub fn establish(&mut self, now: Time, stamp: Time) -> Option<Time> {
        if !self.opening {
            return None;
        }
        self.opening = false;
        let rtt = self.measure(now, 0, stamp);
        self.state.hold = false;
        self.state.window.cwnd = self.initial_cwnd;
        self.cc.on_established(&mut self.state.window, now, now - stamp);
        self.recovery.on_established(now - stamp);
        self.deadline =
            if self.rules().idle_timer { now + self.rto.current() } else { Time::NEVER };
        self.resend = self.rules().handshake.confirmation().map(Cause::Handshake);
        if self.rules().send_delay > Time::ZERO {
            self.send_later(now);
        }
        self.report_cwnd(now);
        rtt
    }

    /// Sends a message of the handshake.
    pub(super) fn transmit_message(&mut self, now: Time, message: Message) -> Segment {
        if message == Message::Syn {
            if let Some(log) = &mut self.state.log {
                log.on_open(now);
            }
            self.timed = (self.tries == 0).then_some((0, now));
            match self.rules().handshake.wait(self.tries) {
                Some(wait) => self.deadline = now + wait,
                None => self.start_timer(now),
            }
        }
        let payload = self.rules().handshake.bytes(message);
        let cause = Cause::Handshake(message);
        Segment { seq: 0, payload, cause, flags: Flags::NONE }
    }

    /// The rules of the handshake.
    pub fn handshake(&self) -> &Handshake {
        &self.rules().handshake
    }
}
