//! The classic sender: byte sequence numbers, cumulative ACKs.
//!
//! Source: RFC 9293 section 3.8 (data communication), RFC 5681, RFC 6298 section 5 (managing the
//! timer). There is no FIN; what passes before the first data is a [`Handshake`].
//!
//! New segments leave while the data in flight and the segment fit into the window, which is the least of
//! the congestion window and the receiver's window. By default only whole segments leave (and the last,
//! shorter one); `framing: fill` also sends what fits of a segment.
//!
//! One retransmission timer per flow, as RFC 6298 section 5 has it: it runs while data are outstanding and
//! starts anew with each ACK of new data. Two other rules exist to reproduce published results.
//!
//! Data may run out for a while (application-limited). A small segment then leaves at once, or with
//! Nagle's algorithm (RFC 1122 section 4.2.3.4) only when nothing is in flight, unless it is the last.
//! After an idle time the window may fall back to the initial one (RFC 5681 section 4.1).
//! ACKs of data after which the sender ran dry with room in the window may leave the window as it is, in
//! the spirit of RFC 7661; by default they make it grow as all others.
//!
//! DEVIATION: RFC 7661 also takes an unused window back, over minutes; here it only stops growing.

mod ecn;
mod idle;
mod opening;
mod transmit;

use ecn::Marks;

use crate::cc::{AckEvent, Cc, CongestionControl, CongestionState, SenderFacts, Signal, Window};
use crate::data::Written;
use crate::handshake::{Message, Rules};
use crate::rto::{Rto, Sampling};
use crate::segment::Cause;
use crate::senders::classic::recovery::Recovery;
use crate::senders::classic::recovery::interface::{LossRecovery, State};
use crate::senders::classic::rtt_history::RttHistory;
use crate::senders::classic::rules::SenderRules;
use crate::senders::classic::send_times::SendTimes;
use crate::senders::classic::setup::Setup;
use crate::senders::classic::timer_rules::Restart;
use crate::stats::SenderStats;
use ackclock_units::Time;
use std::sync::Arc;

/// State of one classic sender.
///
/// What each ACK touches lies together: with thousands of flows the cache decides.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Sender {
    // What only some rules use fills up the receiver's last cache line.
    /// With Karn's rule: end and sending time of the segment being timed.
    timed: Option<(u64, Time)>,
    /// Segments sent, if they are listed.
    listed: Option<Box<RttHistory>>,
    // What each ACK touches.
    state: State,
    /// End of the data that may be sent.
    end: u64,
    /// Most bytes in flight just now: the receiver's window, or less for a burst.
    ceiling: u64,
    /// Bytes that may be in flight beyond the window just now (RFC 3042).
    extra: u64,
    /// When the retransmission timer expires.
    deadline: Time,
    /// The oldest segment is to be retransmitted, for this reason.
    resend: Option<Cause>,
    /// With a delay: the moment has not come.
    waits: bool,
    started: bool,
    /// The handshake is going on.
    opening: bool,
    rto: Rto,
    stats: SenderStats,
    /// With a delay: when new data may leave.
    send_at: Time,
    next_tick: Time,
    recovery: Recovery,
    cc: Cc,
    written: Written,
    // The rest is for flows that open, or that wait for their application.
    /// ACKs up to here are of data after which the window was not used; zero if that does not matter.
    unused_until: u64,
    /// Messages of the handshake that were retransmitted.
    tries: u32,
    /// What marks have done to the window, if they count.
    ecn: Option<Box<Marks>>,
    /// Window at the end of the handshake.
    initial_cwnd: f64,
    /// When the last data were sent that there were, and what came after them then.
    drained: (u64, Time),
}

// In a flow the state begins a cache line, and what follows ends with one.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Sender, state) == 32);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Sender, rto) == 160);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Sender, stats) == 224);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Sender, recovery) == 352);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Sender, written) + 8 <= 416);

/// What congestion control may ask about.
#[derive(Debug)]
struct Facts<'a> {
    rto: &'a Rto,
    recovery: &'a Recovery,
}

impl SenderFacts for Facts<'_> {
    fn srtt(&self) -> Option<Time> {
        self.rto.srtt()
    }

    fn state(&self) -> CongestionState {
        if self.recovery.is_active() { CongestionState::Recovery } else { CongestionState::Open }
    }
}

impl Sender {
    /// A sender that has not started.
    pub fn new(setup: Setup) -> Self {
        setup.cc.require(super::GIVES);
        let rules = setup.rules();
        let mss = rules.mss;
        let needed = || setup.cc.needs_send_times().then(SendTimes::default);
        let log = setup
            .recovery
            .send_times(mss, setup.receive_window, setup.handshake.happens())
            .or_else(needed);
        let segment = setup.window_segment();
        let written = Written::new(&setup.data, mss);
        Self {
            state: State {
                window: Window {
                    cwnd: setup.initial_window * segment,
                    ssthresh: setup.initial_ssthresh * rules.units_per_byte,
                    segment,
                },
                una: 0,
                nxt: 0,
                max: 0,
                log: log.map(Box::new),
                duplicates: 0,
                hold: false,
                recover: None,
                rules: Arc::new(rules),
            },
            end: written.bytes,
            ceiling: setup.receive_window,
            extra: 0,
            deadline: Time::NEVER,
            resend: None,
            waits: false,
            started: false,
            opening: false,
            listed: (setup.rto.sampling() == Sampling::Listed).then(Box::default),
            rto: setup.rto,
            stats: SenderStats::new(),
            send_at: Time::NEVER,
            next_tick: Time::NEVER,
            recovery: setup.recovery,
            cc: setup.cc,
            written,
            timed: None,
            unused_until: 0,
            tries: 0,
            ecn: setup.ecn.then(Box::default),
            initial_cwnd: setup.initial_window * segment,
            drained: (0, Time::ZERO),
        }
    }

    /// Shares the rules of another sender if they are the same.
    pub fn share_rules(&mut self, other: &Self) {
        if self.state.rules == other.state.rules {
            self.state.rules = Arc::clone(&other.state.rules);
        }
        self.rto.share_rules(&other.rto);
    }

    #[inline]
    fn rules(&self) -> &SenderRules {
        &self.state.rules
    }

    /// Starts the flow.
    pub fn start(&mut self, now: Time) {
        debug_assert!(!self.started);
        self.started = true;
        self.cc.on_start(&mut self.state.window);
        if self.rules().handshake.happens() {
            self.opening = true;
            self.state.hold = true;
            self.state.window.cwnd = self.state.window.segment;
            self.resend = Some(Cause::Handshake(Message::Syn));
        }
        self.stats.start(now, self.state.window.cwnd);
        if let Some(period) = self.cc.tick_period() {
            self.next_tick = now + period;
        }
    }

    /// The window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.state.window
    }

    /// The window that is reported: during recovery without what duplicate ACKs add to it, and never below the
    /// segment that may always be sent (again).
    #[inline]
    pub fn reported_cwnd(&self) -> f64 {
        let window = &self.state.window;
        let cwnd = if self.recovery.is_active() {
            self.recovery.deflated(&self.state)
        } else {
            window.cwnd
        };
        cwnd.max(window.segment)
    }

    #[inline(always)]
    fn report_cwnd(&mut self, now: Time) {
        self.stats.on_cwnd(now, self.reported_cwnd());
    }

    /// All is acknowledged: what follows does not count for the mean of the window.
    pub fn finish(&mut self, now: Time) {
        self.stats.finish(now);
    }

    /// Whether the flow is in fast recovery.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.recovery.is_active()
    }

    /// Whether every byte is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.state.una == self.written.total
    }

    /// Whether there are data that were never sent, or will be.
    pub fn has_unsent(&self) -> bool {
        self.state.max < self.written.total
    }

    /// Bytes to send in all; none without end, or while the application may write more.
    pub fn bytes(&self) -> Option<u64> {
        (self.written.total != u64::MAX).then_some(self.written.total)
    }

    /// Payload bytes of a full segment.
    pub fn segment_bytes(&self) -> u16 {
        self.rules().mss as u16
    }

    /// First byte that is not acknowledged.
    #[inline]
    pub fn una(&self) -> u64 {
        self.state.una
    }

    /// One past the highest byte ever sent.
    #[inline]
    pub fn max(&self) -> u64 {
        self.state.max
    }

    /// What was counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The same, to set a mark.
    pub fn stats_mut(&mut self) -> &mut SenderStats {
        &mut self.stats
    }

    /// The present wait of the retransmission timer.
    pub fn rto(&self) -> Time {
        self.rto.current()
    }

    /// When the retransmission timer expires; never while it does not run.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// An ACK of everything below `ack` came in; `stamp` is when the packet was sent that caused it.
    /// With `ece` it echoes a mark. Answers the round-trip time that was measured, if any.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, ack: u64, stamp: Time, ece: bool) -> Option<Time> {
        if ece {
            self.on_echo(now, ack);
        }
        if ack > self.state.una && ack <= self.state.max {
            return self.on_new_ack(now, ack, stamp, ece);
        }
        if self.opening {
            return self.establish(now, stamp);
        }
        let counts = ack == self.state.una && self.state.max > ack;
        if counts && !(ack == 0 && self.rules().ignores_zero_ack) {
            self.on_duplicate(now);
        }
        None
    }

    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, ack: u64, stamp: Time, ece: bool) -> Option<Time> {
        let old_rto = self.rto.current();
        let rtt = self.measure(now, ack, stamp);
        self.rto.on_new_ack();
        let acked = ack - self.state.una;
        let sample = match &mut self.state.log {
            Some(log) => {
                log.on_new_ack(now, ack);
                log.sample
            }
            None => rtt,
        };
        self.state.una = ack;
        self.state.nxt = self.state.nxt.max(ack);
        let verdict = self.recovery.on_new_ack(&mut self.state, acked);
        self.state.duplicates = verdict.duplicates;
        self.state.hold = false;
        self.extra = verdict.extra_segments * self.rules().mss;
        self.ceiling = self.rules().receive_window;
        // What was waiting to be retransmitted has arrived.
        self.resend = (verdict.resend && !self.is_finished()).then_some(Cause::GapRetransmit);
        let event = AckEvent {
            now,
            rtt: sample,
            base_rtt: self.stats.base_rtt(),
            newly_acked: self.state.in_units(acked),
            flight: self.state.in_units(self.state.flight()),
            una: ack,
            nxt: self.state.nxt,
            drained: self.state.nxt == self.end,
            sender: &Facts { rto: &self.rto, recovery: &self.recovery },
            may_grow: verdict.may_grow
                && !ece
                && (!self.rules().grow_only_if_cwnd_limited || ack > self.unused_until),
        };
        self.cc.on_sample(&mut self.state.window, &event);
        self.cc.on_ack(&mut self.state.window, &event);
        self.deadline = match self.rules().timer.restart {
            _ if verdict.keeps_timer => self.deadline,
            Restart::OnAck | Restart::OnAckAndRepair
                if self.state.flight() > 0 || (self.rules().idle_timer && !self.is_finished()) =>
            {
                now + self.rto.current()
            }
            // It continues for the data that this ACK releases.
            Restart::OnAckOldRto if self.state.una != self.end => now + old_rto,
            Restart::OnAckAlways if self.state.una != self.end => now + self.rto.current(),
            _ => Time::NEVER,
        };
        if self.rules().send_delay > Time::ZERO {
            self.send_later(now);
        }
        if verdict.burst.is_some() {
            self.limit_burst(verdict.burst);
        }
        self.report_cwnd(now);
        rtt
    }

    /// The round trip that an ACK measures, if any; the timer learns of it.
    #[inline(always)]
    fn measure(&mut self, now: Time, ack: u64, stamp: Time) -> Option<Time> {
        let rtt = match self.rules().sampling {
            Sampling::Timestamps => self.rto.elapsed(stamp, now),
            Sampling::Karn => self.timed_sample(now, ack),
            Sampling::Listed => self.listed_sample(now, ack, stamp),
        }?;
        self.stats.on_rtt(rtt);
        self.rto.on_sample(now, rtt);
        Some(rtt)
    }

    /// The window in bytes, as far as it counts. (Signed numbers are the ones that the processor converts to.)
    #[inline]
    fn window_bytes(&self) -> u64 {
        let state = &self.state;
        if self.rules().whole_window {
            (state.window.cwnd as i64 as u64).saturating_mul(state.rules.mss)
        } else {
            (state.window.cwnd * state.rules.bytes_per_unit) as i64 as u64
        }
    }

    /// Caps the burst until the next ACK.
    #[cold]
    fn limit_burst(&mut self, segments: Option<u32>) {
        let burst = segments.map_or(u64::MAX, |segments| u64::from(segments) * self.rules().mss);
        self.ceiling = self.state.flight().saturating_add(burst).min(self.rules().receive_window);
    }

    fn timed_sample(&mut self, now: Time, ack: u64) -> Option<Time> {
        let (end, sent) = self.timed?;
        if ack < end {
            return None;
        }
        self.timed = None;
        Some(now - sent)
    }

    fn listed_sample(&mut self, now: Time, ack: u64, stamp: Time) -> Option<Time> {
        if self.listed.as_mut()?.on_ack(ack) { self.rto.elapsed(stamp, now) } else { None }
    }

    /// New data leave a while after this ACK, or with those that wait already.
    fn send_later(&mut self, now: Time) {
        self.waits = true;
        self.send_at = self.send_at.min(now + self.rules().send_delay);
    }

    #[cold]
    fn on_duplicate(&mut self, now: Time) {
        self.state.duplicates += 1;
        if let Some(log) = &mut self.state.log {
            log.now = now;
        }
        let is_cut = self.is_cut_by_mark();
        let verdict = self.recovery.on_duplicate(&mut self.state, &mut |state: &State| {
            if is_cut {
                return Some(state.window.ssthresh);
            }
            self.cc.on_loss(&state.window, &state.loss(now, Signal::Gap))
        });
        self.extra = verdict.extra_segments * self.rules().mss;
        if !self.recovery.is_active() {
            // RFC 3042: each of these ACKs lets one segment out, not those that others left over.
            let one = (self.state.flight() + self.rules().mss).saturating_sub(self.window_bytes());
            self.extra = self.extra.min(one);
        }
        self.limit_burst(verdict.burst);
        if verdict.resend {
            self.resend = Some(Cause::FastRetransmit);
            self.announce_cut();
            if self.rules().timer.restart == Restart::OnAckAndRepair {
                self.deadline = now + self.rto.current();
            }
            if self.rto.drops_timed() {
                self.timed = None;
            }
        }
        if verdict.backs_off {
            self.rto.on_timeout();
            self.deadline = now + self.rto.current();
            self.timed = None;
        }
        // The duplicate that resends lets nothing else out before the next ACK.
        self.waits =
            self.rules().send_delay > Time::ZERO && (verdict.resend || self.send_at != Time::NEVER);
        self.report_cwnd(now);
    }

    /// When to call [`Sender::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.deadline.min(self.next_tick).min(self.send_at)
    }

    /// The time that was asked for has come, or an earlier one. True if the retransmission timer expired.
    pub fn on_timer(&mut self, now: Time) -> bool {
        if self.send_at <= now {
            self.send_at = Time::NEVER;
            self.waits = false;
        }
        let due = self.deadline <= now;
        // A timer that runs while nothing is outstanding gives nothing up.
        let expired = due && (self.opening || self.state.max > self.state.una);
        if due {
            self.deadline = Time::NEVER;
        }
        let expired = expired || due && self.recovery.times_out_idle();
        if due && !expired && self.rules().idle_timer {
            self.restart_idle(now);
        }
        if expired && self.opening {
            self.repeat_message(now);
        } else if expired {
            self.lose_flight(now);
        }
        if self.next_tick <= now
            && let Some(period) = self.cc.tick_period()
        {
            self.next_tick = if self.is_finished() { Time::NEVER } else { self.next_tick + period };
            if self.stats.rtt_samples > 0 {
                self.cc.on_tick(&mut self.state.window);
            }
        }
        self.report_cwnd(now);
        expired
    }

    /// The timer gives up what is in flight.
    #[cold]
    fn lose_flight(&mut self, now: Time) {
        self.deadline = Time::NEVER;
        self.stats.timeouts += 1;
        if !self.rules().timer.backs_off_at_start {
            self.rto.on_timeout();
        }
        self.announce_cut();
        self.timed = None;
        self.extra = 0;
        self.ceiling = self.rules().receive_window;
        if let Some(log) = &mut self.state.log {
            log.now = now;
        }
        let bounded = self.rules().flight_in_window && self.recovery.is_active();
        let most = if bounded { self.recovery.deflated(&self.state) } else { f64::INFINITY };
        self.recovery.on_timeout(&mut self.state, &mut |state: &State| {
            let mut loss = state.loss(now, Signal::Timeout);
            loss.flight = loss.flight.min(most);
            self.cc.on_loss(&state.window, &loss)
        });
        if self.opening || self.state.max > self.state.una {
            self.resend = Some(Cause::Timeout);
        } else {
            self.start_timer(now);
        }
    }
}
