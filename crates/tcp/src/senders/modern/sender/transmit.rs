//! What leaves, and when (Linux, `tcp_write_xmit`, `tcp_xmit_retransmit_queue`).

use super::timers::Pending;
use super::{Forced, Leave, Sender};
use crate::cc::CongestionControl;
use crate::journal::Episode;
use crate::segment::{Cause, Flags, Segment};
use ackclock_units::Time;

impl Sender {
    /// The next segment to send at this moment, if any.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.forced.is_some() || self.message.is_some() {
            return self.send_forced(now);
        }
        if self.departure <= now && !self.opening && self.has_room() {
            if self.leave == Leave::Holes
                && let Some(segment) = self.board.next_hole()
                && self.is_inside(segment)
            {
                return Some(self.send_again(now, segment));
            }
            if let Some(payload) = self.may_send() {
                let mut sent = self.send_new(now, payload, false);
                sent.flags = sent.flags.with_if(self.ends_with_it(now), Flags::LAST);
                return Some(sent);
            }
        }
        self.end_burst(now)
    }

    /// Whether nothing follows a new segment that is about to leave, as after most ACKs; if so, the burst is over.
    #[inline(always)]
    fn ends_with_it(&mut self, now: Time) -> bool {
        let limited = !self.has_room();
        let ends = (limited || self.departure > now)
            && self.leave != Leave::New
            && (self.fin_due || !self.rules.fin);
        if ends {
            self.close_burst(now, limited);
        }
        ends
    }

    /// First byte that the receiver's window does not allow.
    pub(super) fn window_end(&self) -> u64 {
        self.board.una + self.receive_window
    }

    /// Payload of the next new segment.
    #[inline]
    pub(super) fn next_payload(&self) -> u64 {
        (self.end.min(self.record_end) - self.nxt).min(self.rules.mss)
    }

    /// Payload of the new segment that may be sent as far as the window is not concerned.
    #[inline]
    pub(super) fn may_send(&self) -> Option<u64> {
        if self.nxt >= self.end {
            // A FIN on its own.
            return (self.fin_due && !self.fin_sent && self.written.is_complete()).then_some(0);
        }
        let payload = self.next_payload();
        if self.nxt + payload > self.window_end() {
            return None;
        }
        let ends = self.nxt + payload == self.end;
        // Nothing waits that the FIN is set on; it is once the application has closed (`tcp_send_fin`).
        let last = (self.fin_due || !self.rules.fin) && self.written.is_complete();
        let small = payload < self.rules.mss && ends && !last;
        let waits = small && ((self.rules.nagle && self.small_end > self.board.una) || self.corked);
        (!waits).then_some(payload)
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Time, payload: u64, probe: bool) -> Segment {
        let before = self.board.packets_out();
        let (_, segment) = self.board.span();
        self.note_send(now);
        let seq = self.nxt;
        let drained = seq + payload == self.end;
        let fin = drained && self.fin_due && self.written.is_complete();
        if let Some(rate) = &mut self.rate {
            rate.on_send(now, segment, &self.board, self.delivered);
        }
        self.board.push(now, seq, payload as u16, fin);
        self.nxt += payload + u64::from(fin);
        self.fin_sent |= fin;
        if self.nxt >= self.record_end {
            self.next_record();
        }
        if payload < self.rules.mss {
            self.small_end = self.nxt;
        }
        if (before == 0 || self.pending == Pending::Probe) && (probe || !self.may_probe()) {
            self.rearm_timeout(now);
        }
        if !probe {
            self.burst += 1;
        }
        self.pace(now, payload);
        if payload == 0 {
            return self.fin_alone();
        }
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += payload;
        let forced = self.nxt >= self.next_push;
        if forced {
            self.after_push(self.next_push);
        }
        let push = drained || forced;
        let mut flags = Flags::NONE.with_if(push, Flags::PUSH).with_if(fin, Flags::FIN);
        if self.ecn {
            let reduced = std::mem::take(&mut self.cwr);
            flags = flags.with(self.rules.capable).with_if(reduced, Flags::REDUCED);
        }
        let payload = payload as u16;
        Segment { seq: seq as u32, payload, cause: Cause::New, flags }
    }

    /// Data are about to leave, for the first time or again (`tcp_event_data_sent`).
    #[inline]
    fn note_send(&mut self, now: Time) {
        if self.board.in_flight() == 0 {
            self.start_from_idle(now);
        }
        self.last_send = now;
    }

    #[cold]
    fn start_from_idle(&mut self, now: Time) {
        let limited =
            self.cc.needs_rate() && self.rate.as_ref().is_some_and(|rate| rate.is_app_limited());
        let idle = now - self.last_send;
        self.cc.on_send_from_idle(&mut self.window, now, idle, limited);
    }

    /// A lost segment is retransmitted.
    #[cold]
    fn send_again(&mut self, now: Time, segment: u64) -> Segment {
        let is_first = segment == self.board.span().0;
        let cause = if self.fast { Cause::FastRetransmit } else { Cause::GapRetransmit };
        self.fast = false;
        let sent = self.resend(now, segment, cause);
        if self.is_reducing() {
            self.prr_out += 1;
        }
        if is_first && self.pending != Pending::Reordering {
            self.rearm_timeout(now);
        }
        sent
    }

    fn resend(&mut self, now: Time, segment: u64, cause: Cause) -> Segment {
        let probe = cause == Cause::Probe;
        let seq = self.board.start_of(segment);
        self.note_send(now);
        if let Some(rate) = &mut self.rate {
            rate.on_send(now, segment, &self.board, self.delivered);
        }
        self.board.resend(now, segment, probe);
        if !probe {
            self.undo.stamp.get_or_insert(now);
            self.undo.retransmissions = self.undo.retransmissions.max(0) + 1;
        }
        let sent = *self.board.get(segment);
        self.pace(now, u64::from(sent.payload));
        if sent.payload == 0 {
            return self.fin_alone();
        }
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(sent.payload);
        self.stats.retransmissions += 1;
        self.stats.fast_retransmits += u32::from(cause == Cause::FastRetransmit);
        let seq = seq as u32;
        let flags = Flags::NONE.with_if(sent.is_fin(), Flags::PUSH.with(Flags::FIN));
        Segment { seq, payload: sent.payload, cause, flags }
    }

    /// What is sent whatever the window says.
    #[cold]
    fn send_forced(&mut self, now: Time) -> Option<Segment> {
        if let Some(message) = self.message.take() {
            return Some(self.send_message(now, message));
        }
        let (first, end) = self.board.span();
        match self.forced.take()? {
            Forced::Head if first < end => Some(self.resend(now, first, Cause::Timeout)),
            Forced::ProbeLast if first < end => {
                let sent = self.resend(now, end - 1, Cause::Probe);
                self.on_probe_sent(now, true);
                Some(sent)
            }
            Forced::ProbeWindow => Some(self.probe_window(now)),
            Forced::ProbeNew => {
                let payload = self.next_payload();
                self.note_episode(Episode::Probe, self.nxt);
                let sent = self.send_new(now, payload, true);
                self.prr_out += u64::from(self.is_reducing());
                self.on_probe_sent(now, false);
                Some(sent)
            }
            _ => self.poll_again(now),
        }
    }

    /// Nothing more leaves at this moment. By itself, since most bursts end with a segment.
    #[inline(never)]
    fn end_burst(&mut self, now: Time) -> Option<Segment> {
        if self.leave == Leave::New {
            self.leave = Leave::Holes;
            if self.nxt <= self.high_seq {
                self.frto = false;
                return self.poll_again(now);
            }
            self.leave = Leave::NoHoles;
        }
        let limited = !self.has_room();
        self.close_burst(now, limited);
        if !self.fin_due && !self.opening && self.written.is_complete() && self.rules.fin {
            // What leaves from now on does so after the application has closed.
            self.fin_due = true;
            if self.nxt == self.end || self.may_send().is_some() {
                return self.poll_again(now);
            }
        }
        None
    }

    /// What the end of a burst brings about; `limited` if the window has no room left.
    #[inline(always)]
    fn close_burst(&mut self, now: Time, limited: bool) {
        self.polled = now;
        if self.train.segments > 0 {
            self.end_train();
        }
        let sent = std::mem::take(&mut self.burst);
        if self.is_reducing() {
            self.prr_out += u64::from(sent);
        }
        let due = std::mem::take(&mut self.timer_due);
        let armed = (sent > 0 || due) && self.arm_probe(now, sent == 0);
        if due && !armed {
            self.rearm_timeout(now);
        }
        if sent > 0 || limited {
            self.validate(limited);
        }
        if self.board.packets_out() == 0 && self.nxt < self.end && self.pending == Pending::None {
            self.arm_persist(now);
        }
    }

    /// What calls itself is not inlined elsewhere.
    #[cold]
    #[inline(never)]
    fn poll_again(&mut self, now: Time) -> Option<Segment> {
        self.poll_transmit(now)
    }

    /// Whether the window was used (`tcp_cwnd_validate`).
    #[inline]
    fn validate(&mut self, limited: bool) {
        let out = self.board.packets_out();
        if self.board.una >= self.usage_end
            || limited
            || (!self.cwnd_limited && out > self.most_out)
        {
            self.cwnd_limited = limited;
            self.most_out = out;
            self.usage_end = self.nxt;
        }
    }

    /// The application writes (`tcp_sendmsg`).
    pub fn write(&mut self, now: Time, bytes: u64, last: bool) {
        self.check_limited();
        if bytes > 0 && self.started && !self.opening && self.board.packets_out() == 0 {
            self.restart(now);
        }
        let from = self.written.bytes;
        self.written.add(bytes, last);
        self.end = self.written.bytes;
        self.plan_pushes(from);
    }

    /// Whether the application limits the flow (`tcp_rate_check_app_limited`).
    pub(super) fn check_limited(&mut self) {
        let in_flight = self.board.in_flight();
        let limited = self.end - self.nxt.min(self.end) < self.rules.mss
            && self.has_room()
            && !self.board.has_hole();
        if limited && let Some(rate) = &mut self.rate {
            rate.limit(self.delivered, in_flight);
        }
    }
}
