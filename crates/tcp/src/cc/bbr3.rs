//! BBR, version 3: the model of version 1 with bounds that losses and marks teach it.
//!
//! Source: draft-ietf-ccwg-bbr, in the order of its "Per-ACK Steps"; `tcp_bbr.c` of Google's branch `v3` where `rules: linux`
//! asks for it, and for ECN, which the draft leaves open.
//!
//! ```text
//! bandwidth   min(greatest sample of two probes, short-term bound)         pacing = 0.99 · gain · bandwidth
//! in flight   min(gain · bandwidth · min_rtt, long-term bound, short-term bound)
//! ```
//!
//! A flow cruises most of the time with a gain of 1 and some headroom below what was found safe. Every two or three seconds,
//! or 63 round trips, or as many as the window has segments, it probes: a round trip refills the pipe, then it paces
//! a quarter above the bandwidth until more than 2 % are lost or the rate does not grow any more. The long-term
//! bound ([`probe`]) is what was in flight when too much was lost, at least 0.7 of the target; the short-term bounds ([`bounds`])
//! fall to 0.7 for each round trip with a loss that is no probe, and the next probe forgets them.
//!
//! DEVIATION: the six ranges of lost data that end the start are ACKs that bring losses, as Google's branch counts them.
//! DEVIATION: segments leave one by one; the quantum of bursts counts in the window alone, as for `bbr`.
//! DEVIATION: rates are real numbers, and windows whole segments; Google's branch cuts each step to an integer.
//! DEVIATION: with `ecn` the flow counts as one whose route has the flag for low delay; marks count only while the least
//! round-trip time is at most 5 ms, as there.
//! DEVIATION: what a timeout or a recovery has done is undone in the bounds alone, as in Google's branch; the draft returns to
//! the state, too.

mod bounds;
mod probe;
mod rtt;
mod start;

use super::{
    AckEvent, CongestionControl, CongestionState, LossEvent, LostSegment, RateSample, StateEvent,
    Window,
};
use crate::journal::Rule;
use ackclock_math::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};
use bounds::{Latest, ShortTerm};
use probe::{Phase, Probe};
use rtt::MinRtt;
use start::FullPipe;

pub(super) static ENTRY: Entry = Entry {
    name: "bbr3",
    summary: help("BBR version 3: probes for bandwidth periodically, and stays below the inflight at which more than 2 % was lost."),
    references: &["draft-ietf-ccwg-bbr", "Google's BBR, branch v3, `tcp_bbr.c`"],
    params: &[
        Param::new(
            "rules",
            Kind::Choice(&[
                Choice::new("draft", "draft-ietf-ccwg-bbr: drain at 0.5 for at most three round trips, down at 0.9"),
                Choice::new("linux", "Google's branch v3: drain at 88/256 without a limit, down at 232/256"),
            ]),
            "draft",
            "Rules where the draft and Google's code differ.",
        ),
        Param::new(
            "loss_threshold",
            Kind::Real,
            "0.02",
            "Fraction of the data in flight that may be lost in a probe (LossThresh in the draft).",
        )
        .at_least("0.001")
        .at_most("0.5"),
        Param::new("beta", Kind::Real, "0.7", "Reduction factor of a bound after a loss (Beta).")
            .at_least("0.1")
            .at_most("1"),
        Param::new(
            "headroom",
            Kind::Real,
            "0.15",
            "Fraction of the long-term bound left unused between probes (Headroom).",
        )
        .at_least("0")
        .at_most("0.9"),
        Param::new(
            "min_rtt_window",
            Kind::Time,
            "10 s",
            "How long a minimum RTT is valid (MinRTTFilterLen).",
        )
        .at_least("100 ms"),
        Param::new(
            "probe_rtt_interval",
            Kind::Time,
            "5 s",
            "Time without a new minimum RTT after which the data in flight are halved (ProbeRTTInterval).",
        )
        .at_least("100 ms"),
        Param::new("probe_rtt", Kind::Time, "200 ms", "Duration of that phase (ProbeRTTDuration).")
            .at_least("1 ms")
            .at_most("10 s"),
        Param::new(
            "ecn",
            Kind::Flag,
            "false",
            "Whether ECN marks lower the short-term bound, and end probes when half of the delivered data are marked (branch v3).",
        ),
    ],
    label: "BBRv3",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let [interval, window] =
        ["probe_rtt_interval_ns", "min_rtt_window_ns"].map(|name| chosen.int(name));
    if interval > window {
        return Err(Clash {
            param: "probe_rtt_interval",
            message: "`probe_rtt_interval` is longer than `min_rtt_window`".into(),
            hint: Some("the path is looked at before its round-trip time is forgotten".into()),
        });
    }
    Ok(())
}

/// 4 ln 2: the least gain that doubles the rate each round trip.
const STARTUP_GAIN: f64 = 2.77;
/// What is paced less than measured.
const MARGIN: f64 = 0.01;
/// Least window, and the first one (RFC 6928).
const LEAST: f64 = 4.0;
const INITIAL: f64 = 10.0;
/// Round trips in Drain, by the draft.
const DRAIN_ROUNDS: u64 = 3;
/// Below this pacing rate a burst is one segment (bytes per second); a burst is a millisecond, at most 64 KiB.
const SLOW_RATE: f64 = 1_200_000.0 / 8.0;
const LONGEST_BURST: f64 = 65_536.0;
/// Longest time of data that ACKs in clumps make room for.
const MOST_EXTRA: Time = Time::from_ms(100);
/// Round trips of each of the two slots of the greatest excess.
const EXTRA_ROUNDS: u32 = 5;

/// What never changes.
#[derive(Debug, Clone)]
struct Options {
    linux: bool,
    ecn: bool,
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    probe_rtt: Time,
}

impl Options {
    /// Gain of the pace in Drain and in Down.
    fn drain_gain(&self) -> f64 {
        if self.linux { 88.0 / 256.0 } else { 0.5 }
    }

    fn down_gain(&self) -> f64 {
        if self.linux { 232.0 / 256.0 } else { 0.9 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw(Phase),
    ProbeRtt,
}

/// How much more is acknowledged at times than the bandwidth explains.
#[derive(Debug, Clone, Default)]
struct Excess {
    since: Time,
    delivered: f64,
    slots: [f64; 2],
    rounds: u32,
}

impl Excess {
    fn begin(&mut self, now: Time) {
        self.since = now;
        self.delivered = 0.0;
    }

    fn get(&self) -> f64 {
        self.slots[0].max(self.slots[1])
    }

    /// A round trip has begun; a slot lasts so many.
    fn on_round(&mut self, slot: u32) {
        self.rounds += 1;
        if self.rounds >= slot {
            self.rounds = 0;
            self.slots = [0.0, self.slots[0]];
        }
    }

    /// So much was delivered now, at a bandwidth.
    fn on_delivered(&mut self, now: Time, delivered: f64, bw: f64, cwnd: f64) {
        let mut expected = bw * now.since(self.since).as_secs();
        if self.delivered <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.delivered += delivered;
        let extra = (self.delivered - expected).min(cwnd);
        self.slots[0] = self.slots[0].max(extra);
    }
}

/// Options and state of one flow. Windows are segments, bandwidths segments per second.
#[derive(Debug, Clone)]
pub struct Bbr3 {
    options: Options,
    /// Payload bytes of a segment.
    segment: f64,
    stream: Option<Stream>,
    mode: Mode,

    /// Round trips, and the delivered segments that end the present one.
    rounds: u64,
    round_end: u64,
    round_start: bool,
    /// The greatest samples of this probe and of the one before.
    samples: [f64; 2],
    /// The bandwidth that the flow sends by, with the short-term bound.
    bw: f64,
    latest: Latest,
    short: ShortTerm,
    min_rtt: MinRtt,
    full: FullPipe,
    probe: Probe,
    excess: Excess,
    drain_round: u64,

    /// Bits per second.
    pacing_rate: f64,
    knows_rtt: bool,
    /// The flow sends again after it was idle.
    restarts: bool,
    /// Rate samples are to be taken for those of a limited application.
    holds_back: bool,
    prior_cwnd: f64,
    prior_state: CongestionState,
}

impl Bbr3 {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let time = |name: &str| Time::from_ns(chosen.int(name));
        Self {
            options: Options {
                linux: chosen.word("rules") == "linux",
                ecn: chosen.flag("ecn"),
                loss_threshold: chosen.real("loss_threshold"),
                beta: chosen.real("beta"),
                headroom: chosen.real("headroom"),
                probe_rtt: time("probe_rtt_ns"),
            },
            segment: 1.0,
            stream: None,
            mode: Mode::Startup,
            rounds: 0,
            round_end: 0,
            round_start: false,
            samples: [0.0; 2],
            bw: 0.0,
            latest: Latest::default(),
            short: ShortTerm::default(),
            min_rtt: MinRtt::new(time("min_rtt_window_ns"), time("probe_rtt_interval_ns")),
            full: FullPipe::default(),
            probe: Probe::default(),
            excess: Excess::default(),
            drain_round: 0,
            pacing_rate: 0.0,
            knows_rtt: false,
            restarts: false,
            holds_back: false,
            prior_cwnd: 0.0,
            prior_state: CongestionState::Open,
        }
    }

    fn max_bw(&self) -> f64 {
        self.samples[0].max(self.samples[1])
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => self.options.drain_gain(),
            Mode::ProbeBw(Phase::Down) => self.options.down_gain(),
            Mode::ProbeBw(Phase::Up) => 1.25,
            Mode::ProbeBw(_) | Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::ProbeBw(Phase::Up) => 2.25,
            Mode::ProbeRtt if self.options.linux => 1.0,
            Mode::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// Segments of a burst.
    fn burst(&self) -> f64 {
        let bytes = self.pacing_rate / 8.0;
        let least = if bytes < SLOW_RATE { 1.0 } else { 2.0 };
        ((bytes / 1024.0).min(LONGEST_BURST) / self.segment).floor().max(least)
    }

    /// Segments in flight for a bandwidth and a gain, without bursts.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.get().map_or(INITIAL, |rtt| gain * bw * rtt.as_secs())
    }

    /// Room for bursts, and for the probe itself.
    fn with_bursts(&self, inflight: f64) -> f64 {
        let room = inflight.ceil().max(3.0 * self.burst()).max(LEAST);
        if self.mode == Mode::ProbeBw(Phase::Up) { room + 2.0 } else { room }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_bursts(self.bdp(bw, gain))
    }

    fn save_cwnd(&mut self, window: &Window) {
        let is_cut = self.prior_state >= CongestionState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    fn begin_round(&mut self, delivered: u64) {
        self.round_end = delivered;
    }

    /// Whether marks count.
    fn heeds_ecn(&self) -> bool {
        self.options.ecn && self.min_rtt.get().is_some_and(|rtt| rtt <= bounds::ECN_RTT)
    }

    /// Round trips are counted, and the greatest bandwidth is found.
    fn update_bandwidth(&mut self, rate: &RateSample, bw: f64) {
        self.round_start = rate.taken && rate.prior_delivered >= self.round_end;
        if self.round_start {
            self.rounds += 1;
            self.probe.rounds_since += 1;
            self.begin_round(rate.total_delivered);
            if self.options.ecn {
                let eligible = self.heeds_ecn();
                self.short.ecn.on_round(rate, eligible);
            }
        }
        if bw > 0.0 && (!rate.app_limited || bw >= self.max_bw()) {
            self.samples[0] = self.samples[0].max(bw);
        }
    }

    fn update_drain(&mut self, ack: &AckEvent, rate: &RateSample) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.drain_round = self.rounds;
            if self.options.linux {
                self.latest.clear();
            }
        }
        if self.mode == Mode::Drain {
            let late = !self.options.linux && self.rounds > self.drain_round + DRAIN_ROUNDS;
            if late || ack.flight <= self.inflight(self.max_bw(), 1.0) {
                self.enter_down(ack.now, rate.total_delivered);
            }
        }
    }

    fn set_pacing(&mut self, bw: f64, gain: f64) {
        let rate = (1.0 - MARGIN) * gain * bw * self.segment * 8.0;
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// The first rate: the initial window in a round-trip time.
    fn start_pacing(&mut self, cwnd: f64, rtt: Option<Time>) {
        self.knows_rtt = rtt.is_some();
        let rtt = rtt.unwrap_or(Time::from_ms(1)).max(Time::from_ns(1000)).as_secs();
        self.pacing_rate = (1.0 - MARGIN) * STARTUP_GAIN * cwnd / rtt * self.segment * 8.0;
    }

    fn set_cwnd(&mut self, window: &mut Window, rate: &RateSample, state: CongestionState) {
        let acked = rate.newly_delivered as f64;
        let mut cwnd = window.cwnd;
        let before = std::mem::replace(&mut self.prior_state, state);
        if before >= CongestionState::Recovery && state < CongestionState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        if acked > 0.0 {
            let extra = self.excess.get().min(self.bw * MOST_EXTRA.as_secs());
            let target = self.with_bursts(self.bdp(self.bw, self.cwnd_gain()) + extra);
            let first = if self.options.linux {
                cwnd < 2.0 * INITIAL
            } else {
                (rate.total_delivered as f64) < INITIAL
            };
            if self.full.reached {
                cwnd = (cwnd + acked).min(target);
            } else if cwnd < target || first {
                cwnd += acked;
            }
            cwnd = cwnd.max(LEAST);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        window.cwnd = cwnd.min(self.most_in_flight()).floor().max(1.0);
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw, 0.5).floor().max(LEAST)
    }

    /// What the bounds allow.
    fn most_in_flight(&self) -> f64 {
        let long = match self.mode {
            Mode::ProbeBw(Phase::Cruise) | Mode::ProbeRtt => self.with_headroom(),
            Mode::ProbeBw(_) => self.probe.most,
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        long.min(self.short.inflight).max(LEAST)
    }
}

impl CongestionControl for Bbr3 {
    fn on_flow(&mut self, segment: u16, stream: &mut dyn FnMut() -> Stream) {
        self.segment = f64::from(segment);
        self.stream = Some(stream());
    }

    fn on_start(&mut self, window: &mut Window) {
        window.ssthresh = f64::INFINITY;
        self.start_pacing(window.cwnd, None);
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        self.start_pacing(window.cwnd, Some(rtt));
        self.min_rtt.begin(now, rtt);
        self.excess.begin(now);
    }

    fn on_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        if !self.latest.lost {
            self.latest.round_end = lost.total_delivered;
        }
        self.latest.lost = true;
        if self.probe.samples && lost.is_known {
            self.look_at_lost(window, lost);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(rate) = ack.sender.rate() else { return };
        let bw = rate.segments_per_second().unwrap_or(0.0);
        self.update_bandwidth(&rate, bw);
        self.latest.on_ack(&rate, bw);
        if self.latest.round_start {
            self.adapt_short_term(window);
        }
        if rate.newly_delivered > 0 {
            if self.round_start {
                // What was seen at the low rates of the start goes soon.
                self.excess.on_round(if self.full.reached { EXTRA_ROUNDS } else { 1 });
            }
            let acked = rate.newly_delivered as f64;
            self.excess.on_delivered(ack.now, acked, self.bw, window.cwnd);
        }
        self.full.on_sample(&rate, bw, self.round_start, self.options.linux);
        self.check_start_losses(&rate, ack.sender.state());
        self.update_drain(ack, &rate);
        self.update_cycle(window, ack, &rate, bw);
        self.update_min_rtt(window, ack, &rate);
        self.latest.on_round(&rate, bw);
        self.bw = self.max_bw().min(self.short.bw);
        if !self.knows_rtt
            && let Some(srtt) = ack.sender.srtt()
        {
            self.start_pacing(window.cwnd, Some(srtt));
        }
        self.set_pacing(self.bw, self.pacing_gain());
        self.set_cwnd(window, &rate, ack.sender.state());
    }

    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        self.save_cwnd(window);
        self.save_bounds();
        Some(window.ssthresh)
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.prior_state = CongestionState::Loss;
            self.full.forget_baseline();
            if self.short.inflight.is_infinite() && self.prior_cwnd > 0.0 {
                self.short.inflight = self.prior_cwnd;
            }
        }
    }

    fn on_undo(&mut self, window: &mut Window, before: f64) {
        window.cwnd = window.cwnd.max(before);
        self.full.forget_baseline();
        self.restore_bounds();
    }

    fn on_send_from_idle(&mut self, window: &mut Window, now: Time, _idle: Time, limited: bool) {
        if !limited {
            return;
        }
        self.restarts = true;
        self.excess.begin(now);
        match self.mode {
            Mode::ProbeBw(_) => self.set_pacing(self.bw, 1.0),
            Mode::ProbeRtt => self.check_probe_rtt(window, now, self.round_end),
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

    fn exact_ecn(&self) -> bool {
        self.options.ecn
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        Some(match self.mode {
            _ if self.prior_state >= CongestionState::Recovery => Rule::BbrRecovery,
            Mode::Startup => Rule::BbrStartup,
            Mode::Drain => Rule::BbrDrain,
            Mode::ProbeBw(_) => Rule::BbrProbeBw,
            Mode::ProbeRtt => Rule::BbrProbeRtt,
        })
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate as u64)
    }
}

#[cfg(test)]
mod tests;
