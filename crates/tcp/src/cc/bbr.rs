//! BBR, version 1: sends at the bandwidth that it measures, and keeps about two bandwidth-delay products in flight.
//!
//! Source: Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-based congestion control", ACM Queue 14(5),
//! 2016; draft-cardwell-iccrg-bbr-congestion-control-00; `tcp_bbr.c` of Linux 6, whose arithmetic and order of
//! steps this is: segments, microseconds, gains in 1/256, bandwidths in segments per microsecond with 24 binary digits, cut.
//!
//! ```text
//! bandwidth = greatest delivery rate of ten round trips      min_rtt = minimum round-trip time of ten seconds
//! pacing    = 0.99 · gain · bandwidth                        cwnd    = gain · bandwidth · min_rtt + 3 bursts
//! ```
//!
//! It starts with a gain of 2.89 until three round trips bring no quarter more, empties the queue that this has made,
//! then tries a quarter more in one of eight phases, one round trip at a time, and gives it back in the next.
//! Where ten seconds have shown no lower round-trip time (an equal one does not count: Linux since 5.11) it keeps four segments in flight for 200 ms.
//! A loss is not a sign of congestion: it bounds the window for a round trip; two intervals of much loss and the same rate show a
//! [`policer`]. [`aggregation`] gives the window room for ACKs that come in clumps.
//!
//! DEVIATION: segments leave one by one; bursts (the `quantum` of the paper) count in the window alone.
//! DEVIATION: the clock of `min_rtt` ticks `hz` times per second from time 0; that of Linux begins anywhere.

mod aggregation;
mod mode;
mod policer;

use super::max_filter::MaxFilter;
use super::{
    AckEvent, CongestionControl, CongestionState, LossEvent, RateSample, StateEvent, Window,
};
use crate::journal::Rule;
use ackclock_math::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use aggregation::Aggregation;
use mode::Mode;
use policer::{Counts, Event, Policer};

pub(super) static ENTRY: Entry = Entry {
    name: "bbr",
    summary: help("Model-based: sends at the measured bandwidth, with about two bandwidth-delay products in flight."),
    references: &[
        "Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
        "Linux, `tcp_bbr.c` (version 1)",
    ],
    params: &[
        Param::new(
            "min_rtt_window",
            Kind::Time,
            "10 s",
            "How long a minimum RTT is valid; then the data in flight are reduced for a while to measure it again.",
        )
        .at_least("100 ms"),
        Param::new("probe_rtt", Kind::Time, "200 ms", "How long the data in flight stay reduced.")
            .at_least("1 ms")
            .at_most("10 s"),
        Param::new(
            "policer_model",
            Kind::Flag,
            "true",
            "Whether two intervals of high loss at the same rate indicate a policer with that rate.",
        ),
        Param::new(
            "ack_aggregation",
            Kind::Flag,
            "true",
            "Whether the window allows for aggregated ACKs.",
        ),
        Param::new("hz", Kind::Count, "250", "Clock ticks per second for `min_rtt_window`.")
            .at_least("100")
            .at_most("1000"),
    ],
    label: "BBR",
    ..Entry::BLANK
};

/// Bandwidths have this many binary digits after the point.
const BW_SHIFT: u32 = 24;
/// A gain of one.
const UNIT: u64 = 256;
/// 2/ln 2, the least gain that doubles the rate each round trip, and its inverse.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const CWND_GAIN: u64 = 2 * UNIT;
/// Gains of the phases.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Round trips of the greatest bandwidth.
const BW_ROUNDS: u64 = 10;
/// What is paced less than measured, per cent.
const MARGIN: u64 = 1;
/// Least window.
const LEAST: u64 = 4;
/// Round trips without a quarter more that end the start.
const FULL_ROUNDS: u32 = 3;
/// First window (RFC 6928).
const INITIAL: u64 = 10;
/// Below this pacing rate a burst is one segment, bytes per second.
const SLOW_RATE: u64 = 1_200_000 / 8;
/// Most bytes of a burst: 64 KiB less headers.
const LONGEST_BURST: u64 = 65_536 - 1 - 320;
/// Most extra data for aggregation, microseconds at the bandwidth.
const MOST_EXTRA: u64 = 100_000;
/// No round-trip time is known.
const NO_RTT: u64 = u32::MAX as u64;

/// Options and state of one flow. Times are microseconds, but for `min_rtt_tick` and `done_tick`.
#[derive(Debug, Clone)]
pub struct Bbr {
    hz: u64,
    /// Ticks.
    min_rtt_window: u64,
    probe_rtt: u64,
    models_policer: bool,
    models_aggregation: bool,
    /// Payload bytes of a segment.
    segment: u64,
    stream: Option<Stream>,

    mode: Mode,
    bw: MaxFilter,
    rounds: u64,
    /// Delivered segments at which the round trip ends.
    round_end: u64,
    round_start: bool,
    min_rtt: u64,
    min_rtt_tick: u64,
    /// When few segments have been in flight for long enough, and whether a round trip has passed.
    done_tick: Option<u64>,
    probe_rtt_round: bool,
    /// The flow sends again after it was idle.
    restarts: bool,
    /// Rate samples are to be taken for those of a limited application.
    holds_back: bool,

    pacing_gain: u64,
    cwnd_gain: u64,
    phase: usize,
    phase_began: u64,
    full_bw: u64,
    full_rounds: u32,
    is_full: bool,

    /// Bytes per second.
    pacing_rate: u64,
    knows_rtt: bool,
    /// The window before a cut, and the state when the window was set last.
    prior_cwnd: u64,
    prior_state: CongestionState,
    /// The window is what is in flight, for a round trip.
    conserves: bool,

    counts: Counts,
    policer: Policer,
    aggregation: Aggregation,
}

fn micros(time: Time) -> u64 {
    time.as_ns() / 1000
}

/// The bandwidth of this many segments in that many microseconds; Linux keeps 32 bits of it.
fn bandwidth(segments: u64, micros: u64) -> u64 {
    ((segments << BW_SHIFT) / micros).min(u64::from(u32::MAX))
}

/// Segments that it delivers in this many microseconds.
fn delivered_in(bw: u64, micros: u64) -> u64 {
    ((u128::from(bw) * u128::from(micros)) >> BW_SHIFT) as u64
}

impl Bbr {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let hz = chosen.int("hz");
        let ticks = |name: &str| {
            (u128::from(chosen.int(name)) * u128::from(hz)).div_ceil(1_000_000_000) as u64
        };
        Self {
            hz,
            min_rtt_window: ticks("min_rtt_window_ns"),
            probe_rtt: ticks("probe_rtt_ns"),
            models_policer: chosen.flag("policer_model"),
            models_aggregation: chosen.flag("ack_aggregation"),
            segment: 1,
            stream: None,
            mode: Mode::Startup,
            bw: MaxFilter::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            min_rtt: NO_RTT,
            min_rtt_tick: 0,
            done_tick: None,
            probe_rtt_round: false,
            restarts: false,
            holds_back: false,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            phase: 0,
            phase_began: 0,
            full_bw: 0,
            full_rounds: 0,
            is_full: false,
            pacing_rate: 0,
            knows_rtt: false,
            prior_cwnd: 0,
            prior_state: CongestionState::Open,
            conserves: false,
            counts: Counts::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
        }
    }

    fn tick(&self, now: Time) -> u64 {
        (u128::from(now.as_ns()) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// The bandwidth that the model has.
    fn bw(&self) -> u64 {
        self.policer.bw().unwrap_or(self.bw.get())
    }

    /// A bandwidth with a gain as bytes per second, less the margin.
    fn rate(&self, bw: u64, gain: u64) -> u64 {
        let gained = u128::from(bw * self.segment * gain) >> 8;
        ((gained * u128::from(1_000_000 / 100 * (100 - MARGIN))) >> BW_SHIFT) as u64
    }

    /// The first rate: the initial window in a round-trip time.
    fn start_pacing(&mut self, cwnd: f64, rtt: Option<Time>) {
        self.knows_rtt = rtt.is_some();
        let rtt = rtt.map_or(1000, |rtt| micros(rtt).max(1));
        self.pacing_rate = self.rate(bandwidth(cwnd as u64, rtt), HIGH_GAIN);
    }

    fn set_pacing(&mut self, bw: u64, gain: u64) {
        let rate = self.rate(bw, gain);
        if self.is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Segments of a burst.
    fn burst(&self) -> u64 {
        let least = if self.pacing_rate < SLOW_RATE { 1 } else { 2 };
        let bytes = (self.pacing_rate >> 10).min(LONGEST_BURST);
        (bytes / self.segment).max(least).min(0x7f)
    }

    /// Segments in flight for a bandwidth and a gain, without bursts.
    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == NO_RTT {
            return INITIAL;
        }
        ((u128::from(bw * gain) * u128::from(self.min_rtt)) >> 8).div_ceil(1 << BW_SHIFT) as u64
    }

    /// Room for bursts and for delayed ACKs.
    fn with_bursts(&self, cwnd: u64) -> u64 {
        let even = (cwnd + 3 * self.burst()).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2 } else { even }
    }

    fn inflight(&self, bw: u64, gain: u64) -> u64 {
        self.with_bursts(self.bdp(bw, gain))
    }

    /// Of this many in flight now, what is left when the next segment may leave.
    fn left_at_departure(&self, in_flight: u64, ack: &AckEvent) -> u64 {
        let wait = micros(ack.sender.departure().since(ack.now));
        let delivered = delivered_in(self.bw(), wait);
        let burst = if self.pacing_gain > UNIT { self.burst() } else { 0 };
        (in_flight + burst).saturating_sub(delivered)
    }

    fn save_cwnd(&mut self, window: &Window) {
        let cwnd = window.cwnd as u64;
        let is_cut = self.prior_state >= CongestionState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// Asks the policer's model, which may end and restart the cycle.
    fn ask_policer(&mut self, losses: bool, app_limited: bool) {
        if !self.models_policer {
            return;
        }
        let event = Event {
            counts: self.counts,
            losses,
            app_limited,
            round_start: self.round_start,
            probing_bandwidth: self.mode == Mode::ProbeBw,
        };
        let mut policer = std::mem::take(&mut self.policer);
        let ends = policer.on_event(&event, |bw| self.rate(bw, UNIT));
        self.policer = policer;
        if ends {
            self.probe_bandwidth();
        }
    }

    fn update_bandwidth(&mut self, rate: &RateSample) {
        self.round_start = false;
        let Some(delivered) = rate.delivered.filter(|_| micros(rate.interval) > 0) else { return };
        if rate.prior_delivered >= self.round_end {
            self.round_end = rate.total_delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.ask_policer(rate.newly_lost > 0, rate.app_limited);
        let bw = bandwidth(delivered, micros(rate.interval));
        if !rate.app_limited || bw >= self.bw.get() {
            self.bw.add(BW_ROUNDS, self.rounds, bw);
        }
    }

    fn update_phase(&mut self, rate: &RateSample, ack: &AckEvent) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let delivered_time = self.counts.delivered_time;
        let is_long = delivered_time.saturating_sub(self.phase_began) > self.min_rtt;
        let bw = self.bw.get();
        let in_flight = || self.left_at_departure(rate.prior_in_flight, ack);
        let next = match self.pacing_gain {
            UNIT => is_long,
            gain if gain > UNIT => {
                is_long && (rate.newly_lost > 0 || in_flight() >= self.inflight(bw, gain))
            }
            _ => is_long || in_flight() <= self.inflight(bw, UNIT),
        };
        if next {
            self.next_phase();
        }
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_began = self.counts.delivered_time;
    }

    /// Begins with any phase but that with a low gain.
    fn probe_bandwidth(&mut self) {
        self.mode = Mode::ProbeBw;
        let stream = self.stream.as_mut().expect("a flow has a stream before its first ACK");
        self.phase = CYCLE.len() - 1 - stream.below(CYCLE.len() - 1);
        self.next_phase();
    }

    fn check_full(&mut self, rate: &RateSample) {
        if self.is_full || !self.round_start || rate.app_limited {
            return;
        }
        let bw = self.bw.get();
        if bw >= (self.full_bw * (UNIT * 5 / 4)) >> 8 {
            self.full_bw = bw;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, window: &mut Window, ack: &AckEvent) {
        let bw = self.bw.get();
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(bw, UNIT) as f64;
        }
        if self.mode == Mode::Drain
            && self.left_at_departure(ack.flight as u64, ack) <= self.inflight(bw, UNIT)
        {
            self.probe_bandwidth();
        }
    }

    fn update_min_rtt(&mut self, window: &mut Window, rate: &RateSample, ack: &AckEvent) {
        let tick = self.tick(ack.now);
        let known = self.min_rtt != NO_RTT;
        let expired = known && tick > self.min_rtt_tick + self.min_rtt_window;
        if let Some(rtt) = ack.rtt.map(micros)
            && (rtt < self.min_rtt || (expired && !rate.ack_delayed))
        {
            self.min_rtt = rtt;
            self.min_rtt_tick = tick;
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
            self.done_tick = None;
        }
        self.holds_back = self.mode == Mode::ProbeRtt;
        if self.holds_back {
            match self.done_tick {
                None if ack.flight <= LEAST as f64 => {
                    self.done_tick = Some(tick + self.probe_rtt);
                    self.probe_rtt_round = false;
                    self.round_end = rate.total_delivered;
                }
                Some(_) => {
                    self.probe_rtt_round |= self.round_start;
                    if self.probe_rtt_round {
                        self.check_probe_rtt(window, tick);
                    }
                }
                None => {}
            }
        }
        if rate.newly_delivered > 0 {
            self.restarts = false;
        }
    }

    /// Goes on with the greater window if few segments have been in flight for long enough.
    fn check_probe_rtt(&mut self, window: &mut Window, tick: u64) {
        if self.done_tick.is_none_or(|done| tick <= done) {
            return;
        }
        self.min_rtt_tick = tick;
        window.cwnd = window.cwnd.max(self.prior_cwnd as f64);
        if self.is_full {
            self.probe_bandwidth();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bw().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn set_cwnd(&mut self, window: &mut Window, rate: &RateSample, ack: &AckEvent) {
        let acked = rate.newly_delivered;
        let mut cwnd = window.cwnd as u64;
        if acked > 0 {
            cwnd = self.next_cwnd(cwnd, rate, ack);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST);
        }
        window.cwnd = cwnd as f64;
    }

    fn next_cwnd(&mut self, mut cwnd: u64, rate: &RateSample, ack: &AckEvent) -> u64 {
        let acked = rate.newly_delivered;
        let in_flight = ack.flight as u64;
        if rate.newly_lost > 0 {
            cwnd = cwnd.saturating_sub(rate.newly_lost).max(1);
        }
        let (before, state) = (self.prior_state, ack.sender.state());
        self.prior_state = state;
        if state == CongestionState::Recovery && before != CongestionState::Recovery {
            self.conserves = true;
            self.round_end = rate.total_delivered;
            cwnd = in_flight + acked;
        } else if before >= CongestionState::Recovery && state < CongestionState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        if self.conserves {
            return cwnd.max(in_flight + acked);
        }
        let bw = self.bw();
        let mut target = self.bdp(bw, self.cwnd_gain);
        if self.is_full {
            target += self.aggregation.extra().min(delivered_in(bw, MOST_EXTRA));
        }
        target = self.with_bursts(target);
        if self.is_full {
            cwnd = (cwnd + acked).min(target);
        } else if cwnd < target || rate.total_delivered < INITIAL {
            cwnd += acked;
        }
        cwnd.max(LEAST)
    }
}

impl CongestionControl for Bbr {
    fn on_flow(&mut self, segment: u16, stream: &mut dyn FnMut() -> Stream) {
        self.segment = u64::from(segment);
        self.stream = Some(stream());
    }

    fn on_start(&mut self, window: &mut Window) {
        window.ssthresh = f64::INFINITY;
        self.start_pacing(window.cwnd, None);
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        self.start_pacing(window.cwnd, Some(rtt));
        self.min_rtt = micros(rtt);
        self.min_rtt_tick = self.tick(now);
        self.aggregation.begin(micros(now));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rate) = ack.sender.rate() else { return };
        self.counts = Counts {
            delivered: rate.total_delivered,
            delivered_time: micros(rate.delivered_time),
            lost: rate.total_lost,
        };
        self.update_bandwidth(&rate);
        if self.models_aggregation && rate.newly_delivered > 0 && rate.delivered.is_some() {
            let bw = self.bw();
            self.aggregation.on_delivered(
                self.counts.delivered_time,
                rate.newly_delivered,
                bw,
                window.cwnd as u64,
                self.round_start,
            );
        }
        self.update_phase(&rate, ack);
        self.check_full(&rate);
        self.check_drain(window, ack);
        self.update_min_rtt(window, &rate, ack);
        self.update_gains();
        if !self.knows_rtt
            && let Some(srtt) = ack.sender.srtt()
        {
            self.start_pacing(window.cwnd, Some(srtt));
        }
        self.set_pacing(self.bw(), self.pacing_gain);
        self.set_cwnd(window, &rate, ack);
    }

    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        self.save_cwnd(window);
        Some(window.ssthresh)
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.prior_state = CongestionState::Loss;
            self.full_bw = 0;
            self.round_start = true;
            self.counts.lost = change.total_lost;
            self.ask_policer(true, false);
        }
    }

    fn on_undo(&mut self, _window: &mut Window, _before: f64) {
        self.full_bw = 0;
        self.full_rounds = 0;
        self.policer.reset(self.counts);
    }

    fn on_send_from_idle(&mut self, window: &mut Window, now: Time, _idle: Time, limited: bool) {
        if !limited {
            return;
        }
        self.restarts = true;
        self.aggregation.begin(micros(now));
        match self.mode {
            Mode::ProbeBw => self.set_pacing(self.bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt(window, self.tick(now)),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn needs_rate(&self) -> bool {
        true
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn counts_segments(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        let repairs = self.conserves || self.prior_state >= CongestionState::Recovery;
        Some(if repairs { Rule::BbrRecovery } else { self.mode.rule() })
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate * 8)
    }
}

#[cfg(test)]
mod tests;
