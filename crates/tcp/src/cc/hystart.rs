//! How slow start may end before it loses: HyStart and HyStart++.
//!
//! Source of `linux`: Ha and Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011, as
//! `tcp_cubic.c` of Linux has it. In a round trip, from a window of 16 segments on, slow start ends when
//! - ACKs no more than 2 ms apart have come for longer than half of (minimum delay + 1 ms), or the whole if the flow is
//!   paced, or
//! - the least of more than eight delays is above the minimum delay ever by an eighth of that, from 4 to 16 ms.
//!
//! Source of `hystart++`: RFC 9406. Where the minimum delay of a round trip (of eight or more) is above that of the
//! round trip before by an eighth, from 4 to 16 ms, the window grows by a quarter as much (conservative slow start);
//! after five round trips of that slow start ends, and if the delay falls below what it was at the beginning it goes
//! on as before. The window grows by eight segments an ACK at most. Only the first slow start of a flow has it.
//!
//! DEVIATION: Linux takes less than 1 ms above about 2 Gbit/s. HyStart++ takes each flow for one that is not paced.

use super::{AckEvent, LossEvent, Signal, Window};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Kind, Param};

pub(super) const HYSTART: Param = Param::new(
    "hystart",
    Kind::Choice(&[
        Choice::new("none", "only by a loss or at ssthresh"),
        Choice::new("linux", "also by ACK trains and by delay (Linux)"),
        Choice::new(
            "linux-6.13",
            "the same, but a round only begins once the window has 16 segments (Linux up to 6.13)",
        ),
        Choice::new("hystart++", "also by delay, followed by conservative slow start (RFC 9406)"),
    ]),
    "none",
    "How slow start ends.",
);

/// The choice of [`HYSTART`] and its state.
#[derive(Debug, Clone)]
pub(super) enum HyStart {
    None,
    Linux(Hybrid),
    PlusPlus(PlusPlus),
}

impl HyStart {
    pub(super) fn new(chosen: &Chosen) -> Self {
        match chosen.word("hystart") {
            "linux" => Self::Linux(Hybrid::default()),
            "linux-6.13" => Self::Linux(Hybrid { late: true, ..Hybrid::default() }),
            "hystart++" => Self::PlusPlus(PlusPlus::default()),
            _ => Self::None,
        }
    }

    pub(super) fn needs_rtt(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// A round-trip time was measured; sets the threshold where slow start ends.
    pub(super) fn on_sample(&mut self, window: &mut Window, ack: &AckEvent, rtt: Time) {
        let slow = window.in_slow_start();
        let found = match self {
            Self::None => false,
            Self::Linux(hybrid) => hybrid.on_sample(window, ack, rtt, slow),
            Self::PlusPlus(plus) => slow && plus.on_sample(ack, rtt),
        };
        if found {
            window.ssthresh = window.cwnd;
        }
    }

    /// How much the window grows in slow start for `counted`, both in the window's unit.
    pub(super) fn step(&mut self, counted: f64, segment: f64) -> f64 {
        match self {
            Self::PlusPlus(plus) => plus.step(counted, segment),
            _ => counted,
        }
    }

    /// The window is cut.
    pub(super) fn on_loss(&mut self, loss: &LossEvent) {
        match self {
            Self::PlusPlus(plus) => plus.over = true,
            Self::Linux(hybrid) if loss.signal == Signal::Timeout => {
                hybrid.restart(loss.now, hybrid.nxt);
            }
            _ => {}
        }
    }

    /// The retransmission timer has expired; `nxt` is SND.NXT.
    pub(super) fn restart(&mut self, now: Time, nxt: u64) {
        if let Self::Linux(hybrid) = self {
            hybrid.restart(now, nxt);
        }
    }
}

/// HyStart of Linux. Microseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Hybrid {
    /// Round trips begin with a window that is not low, as before the correction in Linux 6.14.
    late: bool,
    found: bool,
    /// Minimum delay since the start or the last timeout; zero before the first.
    least: u64,
    /// Beginning of the round trip, its last ACK of a train, its end, its minimum delay, and its delays.
    began: u64,
    last: u64,
    end: u64,
    current: u64,
    samples: u32,
    /// SND.NXT as the last ACK saw it.
    nxt: u64,
}

/// Segments in the window below which nothing is found.
const LOW_WINDOW: f64 = 16.0;
/// ACKs of a train are so close, microseconds.
const TRAIN_GAP: u64 = 2000;
/// What is added to the minimum delay for the train, microseconds.
const TRAIN_SLACK: u64 = 1000;
/// Delays of a round trip that are not decided by.
const MIN_SAMPLES: u32 = 8;

/// How much more delay is too much, for a delay in the same unit as the bounds.
fn threshold(delay: u64, unit_per_ms: u64) -> u64 {
    (delay / 8).clamp(4 * unit_per_ms, 16 * unit_per_ms)
}

impl Hybrid {
    fn on_sample(&mut self, window: &Window, ack: &AckEvent, rtt: Time, slow: bool) -> bool {
        let delay = (rtt.as_ns() / 1000).max(1);
        if self.least == 0 || delay < self.least {
            self.least = delay;
        }
        self.nxt = ack.nxt;
        if self.found || !slow {
            return false;
        }
        let now = ack.now.as_ns() / 1000;
        let low = window.cwnd < LOW_WINDOW * window.segment;
        if ack.una > self.end && !(self.late && low) {
            self.begin(now, ack.nxt);
        }
        if low {
            return false;
        }
        if now - self.last <= TRAIN_GAP {
            self.last = now;
            // Pacing delays segments by up to half a round trip (`hystart_update`).
            let parts = if ack.sender.is_paced() { 1 } else { 2 };
            self.found = now - self.began > (self.least + TRAIN_SLACK) / parts;
        }
        self.current = self.current.min(delay);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else if self.current > self.least + threshold(self.least, 1000) {
            self.found = true;
        }
        self.found
    }

    fn begin(&mut self, now: u64, nxt: u64) {
        self.began = now;
        self.last = now;
        self.end = nxt;
        self.current = u64::MAX;
        self.samples = 0;
    }

    fn restart(&mut self, now: Time, nxt: u64) {
        self.found = false;
        self.least = 0;
        self.begin(now.as_ns() / 1000, nxt);
    }
}

/// HyStart++.
#[derive(Debug, Clone)]
pub(super) struct PlusPlus {
    /// The first slow start is over.
    over: bool,
    /// SND.NXT at the beginning of the round trip.
    end: u64,
    /// Minimum delays of the round trip before and of this one, and how many were measured in it.
    last: Time,
    current: Time,
    samples: u32,
    /// In conservative slow start: the delay at its beginning, and the round trips that have ended in it.
    conservative: Option<(Time, u32)>,
}

/// Round trips of conservative slow start.
const ROUNDS: u32 = 5;
/// How much slower it grows.
const DIVISOR: f64 = 4.0;
/// Most segments that an ACK adds.
const LIMIT: f64 = 8.0;

impl Default for PlusPlus {
    fn default() -> Self {
        Self {
            over: false,
            end: 0,
            last: Time::NEVER,
            current: Time::NEVER,
            samples: 0,
            conservative: None,
        }
    }
}

impl PlusPlus {
    fn on_sample(&mut self, ack: &AckEvent, rtt: Time) -> bool {
        if self.over {
            return false;
        }
        if self.end == 0 {
            // The first round trip is that of the initial window.
            self.end = ack.nxt;
        }
        self.current = self.current.min(rtt);
        self.samples += 1;
        if self.samples >= MIN_SAMPLES {
            match self.conservative {
                None if self.last != Time::NEVER => {
                    let more = threshold(self.last.as_ns(), 1_000_000);
                    if self.current >= self.last + Time::from_ns(more) {
                        self.conservative = Some((self.current, 0));
                    }
                }
                Some((baseline, _)) if self.current < baseline => self.conservative = None,
                _ => {}
            }
        }
        if ack.una < self.end {
            return false;
        }
        self.end = ack.nxt;
        self.last = self.current;
        self.current = Time::NEVER;
        self.samples = 0;
        if let Some((_, rounds)) = &mut self.conservative {
            *rounds += 1;
            self.over = *rounds == ROUNDS;
        }
        self.over
    }

    fn step(&mut self, counted: f64, segment: f64) -> f64 {
        if self.over {
            return counted;
        }
        let step = counted.min(LIMIT * segment);
        if self.conservative.is_some() { step / DIVISOR } else { step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ACKs of one segment each, `gap` microseconds apart, all with this delay; SND.NXT runs a window ahead.
    fn round(
        hystart: &mut HyStart,
        window: &mut Window,
        start: &mut u64,
        una: &mut u64,
        (acks, gap, delay): (u32, u64, u64),
    ) -> Option<u32> {
        let nxt = *una + u64::from(acks);
        for i in 1..=acks {
            *start += gap;
            *una += 1;
            let rtt = Time::from_ns(delay * 1000);
            let now = Time::from_ns(*start * 1000);
            // What leaves in this round trip is acknowledged in the next.
            let last = if i == acks { u64::from(acks) } else { 0 };
            let ack = AckEvent { now, una: *una, nxt: nxt + last, ..AckEvent::default() };
            hystart.on_sample(window, &ack, rtt);
            if !window.in_slow_start() {
                return Some(i);
            }
        }
        None
    }

    fn start(cwnd: f64) -> (Window, u64, u64) {
        (Window { cwnd, ssthresh: f64::INFINITY, segment: 1.0 }, 1_000_000, 0)
    }

    #[test]
    fn a_long_train_of_acks_ends_slow_start_at_half_the_delay() {
        let mut hystart = HyStart::Linux(Hybrid::default());
        let (mut window, mut now, mut una) = start(100.0);
        // 100 ms: (100 + 1) / 2 = 50.5 ms after the beginning, that is after the ACK at 0 the 51st.
        let acks = (100, 1000, 100_000);
        assert_eq!(round(&mut hystart, &mut window, &mut now, &mut una, acks), Some(52));
        // ACKs further apart are not a train.
        let mut hystart = HyStart::Linux(Hybrid::default());
        let (mut window, mut now, mut una) = start(100.0);
        let acks = (100, 2001, 100_000);
        assert_eq!(round(&mut hystart, &mut window, &mut now, &mut una, acks), None);
        // Small windows end nothing.
        let mut hystart = HyStart::Linux(Hybrid::default());
        let (mut window, mut now, mut una) = start(15.0);
        let acks = (100, 1000, 100_000);
        assert_eq!(round(&mut hystart, &mut window, &mut now, &mut una, acks), None);
    }

    #[test]
    fn the_ninth_long_delay_of_a_round_ends_slow_start() {
        // The threshold is an eighth of 100 ms; 4 and 16 ms bound it.
        for (least, more, found) in [
            (100_000, 12_500, false),
            (100_000, 12_501, true),
            (1000, 4001, true),
            (1000, 4000, false),
            (1_000_000, 16_001, true),
        ] {
            let mut hystart = HyStart::Linux(Hybrid::default());
            let (mut window, mut now, mut una) = start(20.0);
            let acks = (20, 3000, least);
            assert_eq!(round(&mut hystart, &mut window, &mut now, &mut una, acks), None);
            let acks = (20, 3000, least + more);
            let end = round(&mut hystart, &mut window, &mut now, &mut una, acks);
            assert_eq!(end, found.then_some(9), "{least} {more}");
        }
    }

    /// Vectors of RFC 9406 section 4.2: 100, then 113 ms is too much, and 112 not.
    #[test]
    fn hystart_plus_plus_slows_down_goes_on_and_ends() {
        let mut hystart = HyStart::PlusPlus(PlusPlus::default());
        let (mut window, mut now, mut una) = start(20.0);
        let mut round = |hystart: &mut HyStart, acks: u32, ms: u64| {
            round(hystart, &mut window, &mut now, &mut una, (acks, 3000, ms * 1000))
        };
        let growth = |hystart: &mut HyStart| hystart.step(20.0, 1.0);
        assert_eq!(growth(&mut hystart), 8.0);
        round(&mut hystart, 10, 100);
        round(&mut hystart, 10, 112);
        assert_eq!(growth(&mut hystart), 8.0);
        round(&mut hystart, 10, 100);
        round(&mut hystart, 10, 113);
        assert_eq!(growth(&mut hystart), 2.0);
        round(&mut hystart, 10, 112);
        assert_eq!(growth(&mut hystart), 8.0, "the delay is below its baseline");
        round(&mut hystart, 10, 100);
        round(&mut hystart, 10, 113);
        for _ in 0..3 {
            assert_eq!(round(&mut hystart, 10, 113), None);
            assert_eq!(growth(&mut hystart), 2.0);
        }
        // The round trip in which it began counts.
        assert_eq!(round(&mut hystart, 10, 113), Some(10));
    }

    #[test]
    fn seven_delays_decide_nothing() {
        let mut hystart = HyStart::PlusPlus(PlusPlus::default());
        let (mut window, mut now, mut una) = start(20.0);
        for ms in [100, 200, 300, 400] {
            let acks = (7, 3000, ms * 1000);
            round(&mut hystart, &mut window, &mut now, &mut una, acks);
            assert_eq!(hystart.step(1.0, 1.0), 1.0);
        }
    }
}
