//! Probing for bandwidth: when, how far, and the long-term bound that it finds.

use super::super::{AckEvent, LostSegment, RateSample, Window};
use super::{Bbr3, LEAST, Mode};
use ackclock_units::Time;

/// Time between probes: this, and up to a second more at random.
const WAIT: Time = Time::from_secs(2);
/// Most round trips between probes, so that a flow gives way to a Reno flow of that window.
const MOST_ROUNDS: f64 = 63.0;
/// The step of the bound doubles at most so often.
const MOST_DOUBLINGS: i32 = 30;

/// Where the flow is in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Gives back what the probe has put into the queue.
    Down,
    /// Keeps the rate, with headroom.
    Cruise,
    /// Fills the headroom for a round trip.
    Refill,
    /// Sends a quarter more.
    Up,
}

/// What the ACKs that come now were sent in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// State of the cycle.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    /// The long-term bound: most in flight that did not lose too much; infinite before the first time.
    pub most: f64,
    /// Samples are of the probe.
    pub samples: bool,
    pub ack_phase: AckPhase,
    /// Rounds since the last probe, when it ended, and the wait in seconds.
    pub rounds_since: u64,
    ended: Time,
    wait: Time,
    /// The last probe lost too much; it stopped at the bound because of that.
    too_high: bool,
    precautionary: bool,
    doublings: i32,
    /// Segments acknowledged, and those for which the bound grows by one.
    acked: f64,
    per_step: f64,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            most: f64::INFINITY,
            samples: false,
            ack_phase: AckPhase::Init,
            rounds_since: 0,
            ended: Time::ZERO,
            wait: Time::ZERO,
            too_high: false,
            precautionary: false,
            doublings: 0,
            acked: 0.0,
            per_step: f64::INFINITY,
        }
    }
}

impl Bbr3 {
    /// The long-term bound less the headroom for others.
    pub(super) fn with_headroom(&self) -> f64 {
        let most = self.probe.most;
        if most.is_infinite() {
            return most;
        }
        (most - (self.options.headroom * most).max(1.0)).max(LEAST)
    }

    pub(super) fn enter_down(&mut self, now: Time, delivered: u64) {
        self.latest.clear();
        self.probe.per_step = f64::INFINITY;
        let stream = self.stream.as_mut().expect("a flow has a stream before its first ACK");
        self.probe.rounds_since = stream.below(2) as u64;
        self.probe.wait = WAIT + Time::from_ns(stream.below_u64(1_000_000_000));
        self.probe.ended = now;
        self.probe.ack_phase = AckPhase::Stopping;
        self.mode = Mode::ProbeBw(Phase::Down);
        self.begin_round(delivered);
    }

    fn enter_refill(&mut self, delivered: u64) {
        self.short.reset();
        self.probe.doublings = 0;
        self.probe.acked = 0.0;
        self.probe.precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.mode = Mode::ProbeBw(Phase::Refill);
        self.begin_round(delivered);
    }

    fn enter_up(&mut self, window: &Window, bw: f64, delivered: u64) {
        self.probe.ack_phase = AckPhase::Starting;
        self.mode = Mode::ProbeBw(Phase::Up);
        self.begin_round(delivered);
        self.full.reset(bw);
        self.steepen(window);
    }

    /// The bound grows twice as fast as in the round trip before.
    fn steepen(&mut self, window: &Window) {
        let growth = f64::from(1_u32 << self.probe.doublings);
        self.probe.doublings = (self.probe.doublings + 1).min(MOST_DOUBLINGS);
        self.probe.per_step = (window.cwnd / growth).floor().max(1.0);
    }

    pub(super) fn is_time_to_probe(&self, window: &Window, now: Time) -> bool {
        let rounds = self.bdp(self.bw, 1.0).min(window.cwnd).min(MOST_ROUNDS);
        now > self.probe.ended + self.probe.wait || self.probe.rounds_since as f64 >= rounds
    }

    pub(super) fn update_cycle(
        &mut self,
        window: &Window,
        ack: &AckEvent,
        rate: &RateSample,
        bw: f64,
    ) {
        if !self.full.reached || self.adapt_long_term(window, ack, rate) {
            return;
        }
        let Mode::ProbeBw(phase) = self.mode else { return };
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(window, ack.now) => {
                self.enter_refill(rate.total_delivered);
            }
            Phase::Down => {
                let low = self.with_headroom().min(self.inflight(self.max_bw(), 1.0));
                if ack.flight <= low {
                    self.mode = Mode::ProbeBw(Phase::Cruise);
                    if self.options.linux {
                        self.short.inflight = self.short.inflight.min(self.short_limit());
                    }
                }
            }
            Phase::Cruise => {}
            Phase::Refill if self.round_start => {
                self.probe.samples = true;
                self.enter_up(window, bw, rate.total_delivered);
            }
            Phase::Refill => {}
            Phase::Up => self.update_up(window, ack, rate, bw),
        }
    }

    /// Google's branch lowers a short-term bound that is set to the long-term one.
    fn short_limit(&self) -> f64 {
        if self.short.inflight.is_infinite() { f64::INFINITY } else { self.probe.most }
    }

    fn update_up(&mut self, window: &Window, ack: &AckEvent, rate: &RateSample, bw: f64) {
        let at_bound = rate.cwnd_limited && window.cwnd >= self.probe.most;
        if self.probe.too_high && ack.flight >= self.probe.most {
            self.probe.precautionary = true;
        } else if at_bound {
            // The bound holds the rate back, not the path.
            self.full.reset(bw);
            return;
        } else if !self.full.now {
            return;
        }
        self.probe.too_high = false;
        self.enter_down(ack.now, rate.total_delivered);
    }

    /// What this ACK says of the long-term bound; whether a probe begins at once.
    fn adapt_long_term(&mut self, window: &Window, ack: &AckEvent, rate: &RateSample) -> bool {
        let probing = matches!(self.mode, Mode::ProbeBw(_));
        if self.round_start {
            match self.probe.ack_phase {
                AckPhase::Starting => self.probe.ack_phase = AckPhase::Feedback,
                AckPhase::Stopping => {
                    self.probe.samples = false;
                    self.probe.ack_phase = AckPhase::Init;
                    if probing && !rate.app_limited && self.samples[0] > 0.0 {
                        self.samples = [0.0, self.samples[0]];
                    }
                    if probing && self.probe.precautionary && !self.probe.too_high {
                        self.enter_refill(rate.total_delivered);
                        return true;
                    }
                }
                _ => {}
            }
        }
        if self.is_sample_too_high(rate) {
            if self.probe.samples {
                let in_flight = f64::from(rate.tx_in_flight);
                self.on_too_high(
                    window,
                    in_flight,
                    rate.app_limited,
                    ack.now,
                    rate.total_delivered,
                );
            }
        } else if self.probe.most.is_finite() {
            self.probe.most = self.probe.most.max(f64::from(rate.tx_in_flight));
            if self.mode == Mode::ProbeBw(Phase::Up) {
                self.raise(window, rate);
            }
        }
        false
    }

    /// In Up the bound grows by 1, 2, 4, ... segments per round trip.
    fn raise(&mut self, window: &Window, rate: &RateSample) {
        if !rate.cwnd_limited || window.cwnd < self.probe.most {
            return;
        }
        self.probe.acked += rate.newly_delivered as f64;
        let steps = (self.probe.acked / self.probe.per_step).floor();
        self.probe.acked -= steps * self.probe.per_step;
        self.probe.most += steps;
        if self.round_start {
            self.steepen(window);
        }
    }

    /// A segment of a probe is lost: was it too much, and from where on?
    pub(super) fn look_at_lost(&mut self, window: &Window, lost: &LostSegment) {
        if !self.is_too_high(lost.lost, lost.in_flight) {
            return;
        }
        // What was in flight when the loss rate was just what is allowed.
        let threshold = self.options.loss_threshold;
        let before = f64::from(lost.in_flight) - 1.0;
        let lost_before = f64::from(lost.lost) - 1.0;
        let prefix = ((threshold * before - lost_before) / (1.0 - threshold)).max(0.0);
        self.on_too_high(window, before + prefix, lost.app_limited, lost.now, lost.total_delivered);
    }

    /// A probe has lost too much with so much in flight: one reaction for each probe.
    fn on_too_high(
        &mut self,
        window: &Window,
        in_flight: f64,
        app_limited: bool,
        now: Time,
        delivered: u64,
    ) {
        self.probe.too_high = true;
        self.probe.samples = false;
        if !app_limited {
            let target = self.bdp(self.bw, 1.0).min(window.cwnd);
            self.probe.most = in_flight.max(self.options.beta * target).floor();
        }
        if self.mode == Mode::ProbeBw(Phase::Up) {
            self.enter_down(now, delivered);
        }
    }
}
