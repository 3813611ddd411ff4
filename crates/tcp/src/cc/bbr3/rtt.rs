//! The minimum round-trip time, and how half of the pipe is emptied to see it.

use super::super::{AckEvent, RateSample, Window};
use super::probe::AckPhase;
use super::{Bbr3, Mode, Phase};
use ackclock_units::Time;

/// The minimum round-trip time of the window, and the least of the last interval.
#[derive(Debug, Clone)]
pub(super) struct MinRtt {
    window: Time,
    interval: Time,
    least: Option<(Time, Time)>,
    recent: Option<(Time, Time)>,
    /// When half of the pipe has been empty for long enough, and whether a round trip has passed meanwhile.
    pub done: Option<Time>,
    pub round_done: bool,
}

impl MinRtt {
    pub(super) fn new(window: Time, interval: Time) -> Self {
        Self { window, interval, least: None, recent: None, done: None, round_done: false }
    }

    pub(super) fn begin(&mut self, now: Time, rtt: Time) {
        self.least = Some((rtt, now));
        self.recent = self.least;
    }

    pub(super) fn get(&self) -> Option<Time> {
        self.least.map(|(rtt, _)| rtt)
    }

    /// Takes note of a sample; whether the interval has passed without a lower one.
    fn on_ack(&mut self, now: Time, rtt: Option<Time>, delayed: bool) -> bool {
        let expired = self.recent.is_some_and(|(_, at)| now > at + self.interval);
        if let Some(rtt) = rtt
            && (self.recent.is_none_or(|(least, _)| rtt < least) || (expired && !delayed))
        {
            self.recent = Some((rtt, now));
        }
        let old = self.least.is_none_or(|(_, at)| now > at + self.window);
        if let Some((recent, at)) = self.recent
            && (old || self.least.is_none_or(|(least, _)| recent <= least))
        {
            self.least = Some((recent, at));
        }
        expired
    }

    /// The pipe was half empty now: the next interval begins.
    fn probed(&mut self, now: Time) {
        if let Some((_, at)) = &mut self.recent {
            *at = now;
        }
    }
}

impl Bbr3 {
    pub(super) fn update_min_rtt(
        &mut self,
        window: &mut Window,
        ack: &AckEvent,
        rate: &RateSample,
    ) {
        let expired = self.min_rtt.on_ack(ack.now, ack.rtt, rate.ack_delayed);
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
            self.min_rtt.done = None;
            self.probe.ack_phase = AckPhase::Stopping;
            self.begin_round(rate.total_delivered);
        }
        self.holds_back = self.mode == Mode::ProbeRtt;
        if self.holds_back {
            if self.min_rtt.done.is_none() {
                if ack.flight <= self.probe_rtt_cwnd() {
                    self.min_rtt.done = Some(ack.now + self.options.probe_rtt);
                    self.min_rtt.round_done = false;
                    self.begin_round(rate.total_delivered);
                }
            } else {
                self.min_rtt.round_done |= self.round_start;
                if self.min_rtt.round_done {
                    self.check_probe_rtt(window, ack.now, rate.total_delivered);
                }
            }
        }
        if rate.newly_delivered > 0 {
            self.restarts = false;
        }
    }

    /// Goes on with the greater window once little has been in flight for long enough.
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, now: Time, delivered: u64) {
        if self.min_rtt.done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt.probed(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.short.reset();
        if self.full.reached {
            self.enter_down(now, delivered);
            self.mode = Mode::ProbeBw(Phase::Cruise);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
