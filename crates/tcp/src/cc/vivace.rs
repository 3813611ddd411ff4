//! PCC Vivace: climbs the gradient of a utility of rate, change of the wait, and losses, found by trying.
//!
//! Source: Dong, Meng, Zarchy, Arslan, Gilad, Godfrey and Schapira, "PCC Vivace: Online-learning congestion control", NSDI
//! 2018. In intervals of a round trip the flow sends a little faster and a little slower than its rate r (Mbps), and compares:
//!
//! ```text
//! u(x) = x^0.9 - 900 x dRTT/dT - 11.35 x loss                    (section 3.1; a slope below 0.01 counts as none)
//! gamma = (u(r (1 + 0.05)) - u(r (1 - 0.05))) / (2 · 0.05 r)     (section 4.2)
//! r := r + m gamma,  at most omega r either way
//! m = n for the first three steps in one direction, then 2 n - 3;  omega = 0.05 + 0.1 k,  one more k with each step it cuts
//! ```
//!
//! It starts by doubling the rate each interval until the utility falls. There is no loss recovery of the rate: a loss
//! counts by what it takes of the utility, and up to 5 % of random losses hardly matter.
//!
//! DEVIATION: the window is twice rate times round-trip time, so that a path that goes silent stops the flow; PCC over UDP has none.
//! DEVIATION: the rate is at most eight times the greatest delivery rate so far, which only a flow without weights for waits and losses,
//! or with an endless queue, would ever pass.
//! DEVIATION: after a timeout it sends half as fast, which the paper leaves open.
//! DEVIATION: which of the two rates is tried first is drawn at random, as in PCC Allegro.
//! DEVIATION: an interval lasts a smoothed round-trip time and ten segments at least, so that slow paths have samples.

use super::monitor::{Monitor, Report};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, StateEvent, Window};
use crate::journal::Rule;
use ackclock_math::Stream;
use ackclock_math::elementary::pow;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "vivace",
    summary: help("PCC Vivace: climbs the gradient of a utility of rate, waits and losses."),
    references: &["Dong, Meng, Zarchy and others 2018"],
    params: &[
        Param::new("latency", Kind::Real, "900", "Weight of a growing wait; 0 for losses alone.")
            .at_least("0")
            .at_most("1e6"),
        Param::new("loss", Kind::Real, "11.35", "Weight of losses.").at_least("0").at_most("1e6"),
        Param::new("exponent", Kind::Real, "0.9", "Exponent of the rate in the utility.")
            .at_least("0.1")
            .at_most("1"),
        Param::new("step", Kind::Real, "1", "Mbps for each unit of the gradient (theta).")
            .at_least("0.001")
            .at_most("1000"),
        Param::new(
            "probe",
            Kind::Real,
            "0.05",
            "How much faster and slower than its rate it tries to be.",
        )
        .at_least("0.001")
        .at_most("0.5"),
    ],
    native: true,
    label: "Vivace",
    ..Entry::BLANK
};

/// Slopes of the round-trip time that count as none.
const FLAT: f64 = 0.01;
/// Bounds of a step in parts of the rate: the first, and what each further one adds.
const BOUND: f64 = 0.05;
const MORE: f64 = 0.1;
/// Least segments of an interval, and those in flight at the lowest rate.
const FEW: f64 = 10.0;
const LEAST: f64 = 2.0;
/// Most of the rate, in multiples of the greatest delivery rate.
const MOST: f64 = 8.0;
const UNKNOWN: Time = Time::from_ms(1);

/// What an interval is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Start,
    /// Faster, or slower.
    Try(bool),
    /// The results of others are being waited for.
    Wait,
}

/// What the flow does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// Doubles; the rate and the utility of the last report.
    Starting(Option<(f64, f64)>),
    /// Tries both; intervals begun, and the utilities of the faster and of the slower one.
    Trying(u8, [Option<f64>; 2]),
}

/// The steps so far.
#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    up: bool,
    /// In this direction without a turn.
    count: u32,
    /// How often the bound was raised.
    raised: u32,
}

impl Steps {
    /// By how much the rate changes, for this change without a bound or memory.
    fn bounded(&mut self, rate: f64, step: f64) -> f64 {
        if (step > 0.0) != self.up || self.count == 0 {
            *self = Self { up: step > 0.0, count: 0, raised: 0 };
        }
        self.count += 1;
        let n = f64::from(self.count);
        let wanted = step * if n <= 3.0 { n } else { 2.0 * n - 3.0 };
        let bound = rate * (BOUND + MORE * f64::from(self.raised));
        if wanted.abs() > bound {
            self.raised += 1;
            return bound.copysign(wanted);
        }
        self.raised = ((wanted.abs() / rate - BOUND) / MORE).ceil().max(0.0) as u32;
        wanted
    }
}

/// Options and state of one flow. Rates are Mbps.
#[derive(Debug, Clone)]
pub struct Vivace {
    latency: f64,
    loss: f64,
    exponent: f64,
    step: f64,
    probe: f64,
    /// Megabits of a full segment's payload.
    segment: f64,
    stream: Option<Stream>,
    monitor: Monitor<Purpose>,
    mode: Mode,
    steps: Steps,
    rate: f64,
    /// What is sent now, and until when.
    sending: f64,
    until: Time,
    srtt: Time,
    /// Greatest delivery rate so far; the first rate before there is one.
    delivered: f64,
    /// Which rate is tried first.
    faster_first: bool,
}

impl Vivace {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            latency: chosen.real("latency"),
            loss: chosen.real("loss"),
            exponent: chosen.real("exponent"),
            step: chosen.real("step"),
            probe: chosen.real("probe"),
            segment: 0.0,
            stream: None,
            monitor: Monitor::new(),
            mode: Mode::Starting(None),
            steps: Steps::default(),
            rate: 0.0,
            sending: 0.0,
            until: Time::ZERO,
            srtt: UNKNOWN,
            delivered: 0.0,
            faster_first: false,
        }
    }

    fn utility(&self, report: &Report<Purpose>) -> f64 {
        let x = report.rate;
        let slope = if report.gradient.abs() < FLAT { 0.0 } else { report.gradient };
        pow(x, self.exponent) - self.latency * x * slope - self.loss * x * report.loss
    }

    /// The least rate: two segments a round trip.
    fn least(&self) -> f64 {
        LEAST * self.segment / self.srtt.as_secs().max(1e-9)
    }

    fn most(&self) -> f64 {
        MOST * self.delivered
    }

    fn try_both(&mut self, rate: f64) {
        self.rate = rate.max(self.least()).min(self.most());
        self.mode = Mode::Trying(0, [None; 2]);
        self.faster_first = self.stream.as_mut().is_some_and(|stream| stream.uniform() < 0.5);
        // The next interval begins at once.
        self.until = Time::ZERO;
    }

    /// All that was sent in an interval has been acknowledged, or lost.
    fn learn(&mut self, report: &Report<Purpose>) {
        let utility = self.utility(report);
        match (self.mode, report.purpose) {
            (Mode::Starting(last), Purpose::Start) if !report.limited => match last {
                Some((rate, best)) if utility < best => self.try_both(rate),
                _ => self.mode = Mode::Starting(Some((report.rate, utility))),
            },
            (Mode::Trying(..), Purpose::Try(_)) if report.limited => self.try_both(self.rate),
            (Mode::Trying(begun, mut utilities), Purpose::Try(faster)) => {
                utilities[usize::from(!faster)] = Some(utility);
                self.mode = Mode::Trying(begun, utilities);
                if let [Some(above), Some(below)] = utilities {
                    let gradient = (above - below) / (2.0 * self.probe * self.rate);
                    let change = self.steps.bounded(self.rate, self.step * gradient);
                    self.try_both(self.rate + change);
                }
            }
            _ => {}
        }
    }

    /// The next interval begins.
    fn advance(&mut self, now: Time) {
        let (rate, purpose) = match &mut self.mode {
            Mode::Starting(_) => {
                self.rate = (2.0 * self.rate).min(self.most());
                (self.rate, Purpose::Start)
            }
            Mode::Trying(begun, _) if *begun < 2 => {
                let faster = (*begun == 0) == self.faster_first;
                *begun += 1;
                let change = if faster { self.probe } else { -self.probe };
                (self.rate * (1.0 + change), Purpose::Try(faster))
            }
            Mode::Trying(..) => (self.rate, Purpose::Wait),
        };
        self.send(now, rate, purpose);
    }

    fn send(&mut self, now: Time, rate: f64, purpose: Purpose) {
        self.sending = rate;
        self.monitor.begin(now, rate, purpose);
        let few = FEW * self.segment / rate;
        self.until = now + self.srtt.max(Time::from_ns((few * 1e9) as u64));
    }

    fn start(&mut self, window: &Window, now: Time, rtt: Time) {
        self.srtt = rtt.max(Time::from_ns(1));
        self.rate = window.cwnd / window.segment * self.segment / self.srtt.as_secs();
        self.delivered = self.rate;
        self.monitor.clear();
        self.send(now, self.rate, Purpose::Start);
    }

    /// Room for two round trips of what is sent.
    fn open(&self, window: &mut Window) {
        let segments = 2.0 * self.sending * self.srtt.as_secs() / self.segment;
        window.cwnd = segments.max(2.0 * LEAST).ceil() * window.segment;
    }
}

impl CongestionControl for Vivace {
    fn on_flow(&mut self, segment: u16, stream: &mut dyn FnMut() -> Stream) {
        self.segment = 8e-6 * f64::from(segment);
        self.stream = Some(stream());
    }

    fn on_start(&mut self, window: &mut Window) {
        self.start(window, Time::ZERO, UNKNOWN);
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        self.start(window, now, rtt);
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some(sample) = ack.sender.rate() else { return };
        if let Some(srtt) = ack.sender.srtt() {
            self.srtt = srtt.max(Time::from_ns(1));
        }
        if ack.is_app_limited(window) {
            self.monitor.limit();
        }
        if let Some(rate) = sample.segments_per_second() {
            self.delivered = self.delivered.max(rate * self.segment);
        }
        let before = sample.total_delivered - sample.newly_delivered;
        while let Some(report) = self.monitor.on_ack(ack, before, sample.total_lost) {
            self.learn(&report);
        }
        if ack.now >= self.until {
            self.advance(ack.now);
        }
        self.open(window);
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        Some(window.cwnd)
    }

    fn on_state(&mut self, window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.monitor.clear();
            self.steps = Steps::default();
            self.try_both(self.rate / 2.0);
            self.advance(change.now);
            self.open(window);
        }
    }

    fn needs_rate(&self) -> bool {
        true
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some((self.sending * 1e6) as u64)
    }

    fn uses_ssthresh(&self) -> bool {
        false
    }

    fn phase(&self) -> Option<Rule> {
        (!matches!(self.mode, Mode::Starting(_))).then_some(Rule::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vivace() -> Vivace {
        let values = [
            ("latency", 900.0),
            ("loss", 11.35),
            ("exponent", 0.9),
            ("step", 1.0),
            ("probe", 0.05),
        ];
        let values =
            values.map(|(key, value)| (key.into(), ackclock_units::param::Value::Real(value)));
        Vivace::new(&Chosen { kind: "vivace".into(), values: values.to_vec() })
    }

    fn report(purpose: Purpose, rate: f64, loss: f64, gradient: f64) -> Report<Purpose> {
        Report { purpose, rate, loss, gradient, limited: false }
    }

    #[test]
    fn the_utility_is_that_of_the_paper() {
        let cc = vivace();
        let of = |loss, gradient| cc.utility(&report(Purpose::Wait, 100.0, loss, gradient));
        let alone = 63.095_734_448;
        for (loss, gradient, expected) in [
            (0.0, 0.0, alone),
            (0.0, 0.009, alone),
            (0.05, 0.0, alone - 56.75),
            (0.0, 0.02, alone - 1800.0),
            (0.0, -0.02, alone + 1800.0),
        ] {
            let utility = of(loss, gradient);
            assert!((utility - expected).abs() < 1e-6, "{loss}, {gradient}: {utility}");
        }
    }

    #[test]
    fn it_doubles_until_the_utility_falls_and_then_climbs_the_gradient() {
        let mut cc = vivace();
        cc.delivered = 40.0;
        for rate in [10.0, 20.0, 40.0] {
            cc.learn(&report(Purpose::Start, rate, 0.0, 0.0));
        }
        assert_eq!(cc.mode, Mode::Starting(Some((40.0, pow(40.0, 0.9)))));
        cc.learn(&report(Purpose::Start, 80.0, 0.0, 0.5));
        assert_eq!((cc.mode, cc.rate), (Mode::Trying(0, [None; 2]), 40.0));
        cc.learn(&report(Purpose::Try(true), 42.0, 0.0, 0.0));
        cc.learn(&report(Purpose::Try(false), 38.0, 0.0, 0.0));
        // 0.9 · 40^-0.1, but for the curve between the two.
        assert!((cc.rate - 40.0 - 0.9 * pow(40.0, -0.1)).abs() < 1e-3, "{}", cc.rate);
    }

    #[test]
    fn steps_grow_in_one_direction_within_bounds() {
        let mut steps = Steps::default();
        let gone: Vec<f64> = (0..5).map(|_| steps.bounded(1000.0, 1.0)).collect();
        assert_eq!(gone, [1.0, 2.0, 3.0, 5.0, 7.0]);
        assert_eq!(steps.bounded(1000.0, -1.0), -1.0);
        let mut steps = Steps::default();
        let gone: Vec<f64> = (0..3).map(|_| steps.bounded(100.0, -500.0).round()).collect();
        assert_eq!(gone, [-5.0, -15.0, -25.0]);
        assert_eq!(steps.bounded(100.0, 500.0), 5.0);
    }
}
