//! The one timer of a connection, which is the retransmission timer, a probe's, or that of reordering, whichever was
//! set last (Linux, `tcp_timer.c`, `tcp_schedule_loss_probe`, `tcp_rack_reo_timeout`).

use super::{Forced, LEAST_SSTHRESH, Leave, Sender};
use crate::cc::{CongestionControl, CongestionState, Signal};
use crate::journal::Rule;
use crate::senders::modern::ticks;
use ackclock_units::Time;

/// What is added to the wait for a probe (Linux, `TCP_TIMEOUT_MIN_US`).
const PROBE_SLACK: Time = Time::from_ms(2);
/// Wait for a probe while nothing was measured (Linux, `TCP_TIMEOUT_INIT`).
const PROBE_INITIAL: Time = Time::from_secs(1);

/// What the timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// It does not run.
    None,
    /// Retransmission.
    Timeout,
    /// A probe.
    Probe,
    /// Segments that may only be late.
    Reordering,
    /// A probe of the receiver's window.
    Persist,
}

impl Sender {
    /// When to call [`Sender::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.deadline.min(self.next_tick).min(self.next_departure())
    }

    /// A time that was asked for has come.
    pub fn on_timer(&mut self, now: Time) {
        if self.next_tick <= now {
            self.tick(now);
        }
        if self.deadline > now {
            if self.departure <= now {
                // What the pacing held back begins with holes, also in F-RTO (`tcp_tsq_write`).
                self.leave = Leave::Holes;
            }
            return;
        }
        if self.opening {
            return self.repeat_message(now);
        }
        self.leave = Leave::Holes;
        match self.pending {
            Pending::None => self.deadline = Time::NEVER,
            Pending::Timeout => self.on_timeout(now),
            Pending::Probe => self.send_probe(now),
            Pending::Reordering => self.on_reordering_timer(now),
            Pending::Persist => self.on_persist_timer(),
        }
        self.stats.on_cwnd(now, self.reported_cwnd());
    }

    fn tick(&mut self, now: Time) {
        self.cc.on_tick(&mut self.window);
        self.next_tick = self.cc.tick_period().map_or(Time::NEVER, |period| now + period);
        self.stats.on_cwnd(now, self.reported_cwnd());
    }

    #[inline]
    pub(super) fn arm(&mut self, now: Time, pending: Pending, wait: Time) {
        self.pending = pending;
        self.deadline = self.expiry(now, wait);
    }

    /// When a timer expires that is to wait so long from now.
    #[inline]
    pub(super) fn expiry(&self, now: Time, wait: Time) -> Time {
        if self.rules.coarse_timers { ticks::expiry(now, wait) } else { now + wait }
    }

    /// The wait, counted from when the next segment may leave.
    #[inline]
    fn paced(&self, now: Time, wait: Time) -> Time {
        wait + self.departure.since(now)
    }

    #[inline]
    pub(super) fn arm_timeout(&mut self, now: Time, wait: Time) {
        self.arm(now, Pending::Timeout, self.paced(now, wait));
    }

    pub(super) fn arm_reordering(&mut self, now: Time, wait: Time) {
        self.arm(now, Pending::Reordering, wait);
    }

    /// How long until the retransmission timer would expire for the first segment in flight (`tcp_rto_delta_us`).
    #[inline]
    fn left_of_timeout(&self, now: Time) -> Time {
        let (first, _) = self.board.span();
        (self.board.get(first).time + self.rto.current()).since(now)
    }

    /// Starts the retransmission timer anew, or stops it (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.pending = Pending::None;
            self.deadline = Time::NEVER;
            return;
        }
        let wait = match self.pending {
            Pending::Probe | Pending::Reordering => {
                self.left_of_timeout(now).max(Time::from_ns(1000))
            }
            _ => self.rto.current(),
        };
        self.arm_timeout(now, wait);
    }

    /// Whether the timer is a probe's rather than that of retransmissions.
    #[inline]
    pub(super) fn may_probe(&self) -> bool {
        self.rules.probes && matches!(self.state, CongestionState::Open | CongestionState::Cwr)
    }

    /// The timer starts anew: at the end of the burst, which may set it once more, if it is a probe's.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time) {
        if self.may_probe() {
            self.timer_due = true;
        } else {
            self.rearm_timeout(now);
        }
    }

    /// Sets the timer for a probe, if one may be sent; `anew` where the retransmission timer would start anew.
    #[inline(always)]
    pub(super) fn arm_probe(&mut self, now: Time, anew: bool) -> bool {
        let packets_out = self.board.packets_out();
        if packets_out == 0 || !self.may_probe() {
            return false;
        }
        let mut wait = match self.rto.srtt() {
            Some(srtt) if packets_out == 1 => srtt.times(2) + self.rto.least(),
            Some(srtt) => srtt.times(2) + PROBE_SLACK,
            None => PROBE_INITIAL,
        };
        let timeout = if anew { self.rto.current() } else { self.left_of_timeout(now) };
        if timeout > Time::ZERO {
            wait = wait.min(timeout);
        }
        self.arm(now, Pending::Probe, self.paced(now, wait));
        true
    }

    /// The time for a probe has come (`tcp_send_loss_probe`).
    #[cold]
    fn send_probe(&mut self, now: Time) {
        if self.probe.is_some() || self.board.packets_out() == 0 {
            return self.rearm_timeout(now);
        }
        let new = self.nxt < self.end && self.nxt + self.next_payload() <= self.window_end();
        self.probe = Some((0, !new));
        self.forced = Some(if new { Forced::ProbeNew } else { Forced::ProbeLast });
        // What follows when it has left.
        self.pending = Pending::None;
        self.deadline = Time::NEVER;
    }

    /// A probe has left.
    pub(super) fn on_probe_sent(&mut self, now: Time, again: bool) {
        self.probe = Some((self.nxt, again));
        self.pending = Pending::None;
        self.rearm_timeout(now);
    }

    /// The retransmission timer expires (`tcp_enter_loss`, `tcp_retransmit_timer`).
    #[cold]
    fn on_timeout(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            return self.rearm_timeout(now);
        }
        let was_recovering = self.state >= CongestionState::Recovery;
        let (first, _) = self.board.span();
        let reneged = self.board.get(first).is_sacked();
        self.forget_counted();
        self.rack.on_timeout(now, &mut self.board, reneged);
        self.report_losses(now);
        let first_in_loss = self.state == CongestionState::Loss && self.retransmits == 0;
        if self.state <= CongestionState::Disorder
            || self.high_seq <= self.board.una
            || first_in_loss
        {
            self.undo.ssthresh = Some(self.current_ssthresh());
            self.undo.cwnd = self.window.cwnd;
            self.ask_ssthresh(now, Signal::Timeout);
            self.begin_undo();
        }
        if self.state <= CongestionState::Disorder {
            self.rack.forget_distance(self.board.sacked_out);
        }
        self.set_state(now, CongestionState::Loss);
        self.window.cwnd = f64::from(self.board.in_flight() + 1);
        self.note(Rule::Timeout);
        self.fast = false;
        self.high_seq = self.nxt;
        self.probe = None;
        self.cwr = true;
        self.frto = self.rules.frto && (!was_recovering || self.retransmits > 0);
        self.retransmits += 1;
        self.stats.timeouts += 1;
        self.rto.on_timeout();
        self.forced = Some(Forced::Head);
        self.arm(now, Pending::Timeout, self.rto.current());
        debug_assert!(self.window.ssthresh >= LEAST_SSTHRESH);
    }

    /// Segments that might have been late are not (`tcp_rack_reo_timeout`).
    #[cold]
    fn on_reordering_timer(&mut self, now: Time) {
        let in_flight = self.board.in_flight();
        if let Some(wait) = self.detect(now) {
            self.arm_reordering(now, wait);
        } else {
            self.deadline = Time::NEVER;
        }
        self.report_losses(now);
        if self.board.in_flight() != in_flight && self.state != CongestionState::Recovery {
            self.enter_recovery(now, false);
            if !self.cc.owns_window() {
                self.fall(1, false);
            }
        }
        self.rearm_timeout(now);
    }
}
