//! LEDBAT++: LEDBAT that slows down now and then to see the empty path, and yields in proportion.
//!
//! Source: Balasubramanian, Ertugay and Havey, "LEDBAT++: Congestion control for background traffic",
//! draft-irtf-iccrg-ledbat-plus-plus, section 4. The wait is the least of the newest samples less the least of the last
//! minutes, as in [`super::ledbat`]; with W segments and gain = 1 / min(16, ceil(2 target / base)):
//!
//! ```text
//! slow start:          W += gain for each segment acknowledged; the first ends at a wait of 3/4 target
//! wait <= target:      W += gain a round trip
//! wait > target:       W += max(gain - decrease · W (wait / target - 1), -W/2) a round trip
//! slowdown:            two round trips after the first slow start: ssthresh := W, W := 2 for two round trips, slow start to ssthresh;
//!                      the next one nine times as long after its end as it took
//! ```
//!
//! So no flow keeps taking another's queue for the empty path, which starves the older flow with LEDBAT; it costs a tenth of
//! the time at most.
//!
//! DEVIATION: the draft leaves open whether the slow start after a slowdown has `gain`; it has (`ramp: gain`), or doubles the
//! window each round trip (`ramp: double`).

use super::growth::climb;
use super::ledbat::Delays;
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Rounds, StateEvent, Window};
use crate::journal::Rule;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "ledbat++",
    summary: help("LEDBAT that slows down now and then, so that latecomers do not starve others."),
    references: &["draft-irtf-iccrg-ledbat-plus-plus"],
    params: &[
        Param::new("target", Kind::Time, "60 ms", "Wait in queues that it aims at.")
            .at_least("1 ms")
            .at_most("10 s"),
        Param::new(
            "decrease",
            Kind::Real,
            "1",
            "Part of the window that a wait of twice the target takes in a round trip.",
        )
        .at_least("0")
        .at_most("10"),
        Param::new(
            "slowdown_every",
            Kind::Real,
            "9",
            "Time between two slowdowns, in multiples of what the last one took; 0 for none.",
        )
        .at_least("0")
        .at_most("1000"),
        Param::new(
            "ramp",
            Kind::Choice(&[
                Choice::new("gain", "as slow start at the begin, by `gain`"),
                Choice::new("double", "twice the window each round trip"),
            ]),
            "gain",
            "How the window returns after a slowdown.",
        ),
    ],
    native: true,
    label: "LEDBAT++",
    ..Entry::BLANK
};

/// Window of a slowdown, and the least at all, segments.
const LEAST: f64 = 2.0;
/// Part of the target at which the first slow start ends.
const EXIT: f64 = 0.75;
/// Round trips of a slowdown, and those before the first one.
const PAUSE: u64 = 2;
/// Minutes and samples whose least counts.
const MINUTES: usize = 10;
const SAMPLES: usize = 4;

/// What the flow does about slowdowns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Before the end of the first slow start.
    First,
    /// After it; a slowdown is due in this round trip.
    Until(u64),
    /// A slowdown since then; it ends in this round trip.
    Low(Time, u64),
    /// Back to the threshold, after a slowdown that began then.
    Ramp(Time),
    /// The next slowdown is due then.
    Wait(Time),
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct LedbatPlus {
    target: f64,
    decrease: f64,
    every: f64,
    doubles: bool,
    delays: Delays,
    rounds: Rounds,
    phase: Phase,
}

impl LedbatPlus {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            target: Time::from_ns(chosen.int("target_ns")).as_secs(),
            decrease: chosen.real("decrease"),
            every: chosen.real("slowdown_every"),
            doubles: chosen.word("ramp") == "double",
            delays: Delays::new(MINUTES, SAMPLES),
            rounds: Rounds::default(),
            phase: Phase::First,
        }
    }

    /// Segments a round trip, for this minimum round-trip time in seconds.
    fn gain(&self, base: f64) -> f64 {
        1.0 / (2.0 * self.target / base).ceil().clamp(1.0, 16.0)
    }

    /// What comes before a first slowdown; never one, where there are none.
    fn pause(&self) -> Phase {
        if self.every > 0.0 {
            Phase::Until(self.rounds.count + PAUSE)
        } else {
            Phase::Wait(Time::NEVER)
        }
    }

    /// What the clock and the round trips say about slowdowns.
    fn turn(&mut self, window: &mut Window, now: Time) {
        let count = self.rounds.count;
        match self.phase {
            Phase::Until(round) if count >= round => self.slow_down(window, now),
            Phase::Wait(due) if now >= due => self.slow_down(window, now),
            Phase::Low(since, end) if count >= end => self.phase = Phase::Ramp(since),
            Phase::Ramp(since) if !window.in_slow_start() => {
                let took = now.since(since).as_secs();
                self.phase = Phase::Wait(now + Time::from_ns((took * self.every * 1e9) as u64));
            }
            _ => {}
        }
    }

    fn slow_down(&mut self, window: &mut Window, now: Time) {
        window.ssthresh = window.cwnd;
        window.cwnd = LEAST * window.segment;
        self.phase = Phase::Low(now, self.rounds.count + PAUSE);
    }
}

impl CongestionControl for LedbatPlus {
    #[inline(never)]
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
        self.rounds.on_ack(ack);
    }

    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        let Some((base, wait)) = self.delays.base_and_wait() else { return };
        if ack.sender.state() <= CongestionState::Disorder {
            self.turn(window, ack.now);
        }
        if matches!(self.phase, Phase::Low(..)) {
            return;
        }
        let gain = self.gain(base);
        if self.phase == Phase::First && (wait > EXIT * self.target || !window.in_slow_start()) {
            window.ssthresh = window.ssthresh.min(window.cwnd);
            self.phase = self.pause();
        }
        if window.in_slow_start() {
            let doubles = self.doubles && self.phase != Phase::First;
            let gain = if doubles { 1.0 } else { gain };
            climb(window, &AckEvent { newly_acked: gain * ack.newly_acked, ..*ack });
            return;
        }
        let segments = window.cwnd / window.segment;
        let step = if wait <= self.target {
            gain
        } else {
            let over = self.decrease * segments * (wait / self.target - 1.0);
            (gain - over).max(-segments / 2.0)
        };
        if step > 0.0 && !ack.may_grow {
            return;
        }
        let grown = window.cwnd + step * ack.newly_acked / segments;
        window.cwnd = grown.max(LEAST * window.segment);
    }

    #[inline(never)]
    fn on_loss(&mut self, window: &Window, _loss: &LossEvent) -> Option<f64> {
        // What was lost before a slowdown, or in it, says nothing about its small window.
        let of = match self.phase {
            Phase::Low(..) | Phase::Ramp(_) => window.cwnd.max(window.ssthresh),
            _ => window.cwnd,
        };
        Some((of / 2.0).max(LEAST * window.segment))
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.phase = self.pause();
        }
    }

    fn phase(&self) -> Option<Rule> {
        Some(Rule::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plus() -> LedbatPlus {
        LedbatPlus {
            target: 0.06,
            decrease: 1.0,
            every: 9.0,
            doubles: false,
            delays: Delays::new(MINUTES, SAMPLES),
            rounds: Rounds::default(),
            phase: Phase::Wait(Time::NEVER),
        }
    }

    /// What one round trip of ACKs with this wait after a base of 60 ms adds, about.
    fn step(cc: &mut LedbatPlus, cwnd: f64, wait_ms: u64) -> f64 {
        let mut window = Window { cwnd, ssthresh: 2.0, segment: 1.0 };
        cc.delays.add(Time::ZERO, Time::from_ms(60));
        for _ in 0..SAMPLES {
            cc.delays.add(Time::ZERO, Time::from_ms(60 + wait_ms));
        }
        let ack = AckEvent { newly_acked: cwnd, ..AckEvent::default() };
        cc.on_ack(&mut window, &ack);
        window.cwnd - cwnd
    }

    #[test]
    fn the_window_goes_by_the_gain_below_the_target_and_in_proportion_above() {
        for (wait, expected) in [(0, 0.5), (60, 0.5), (66, 0.5 - 10.0), (300, -50.0)] {
            let gone = step(&mut plus(), 100.0, wait);
            assert!((gone - expected).abs() < 1e-9, "{wait} ms: {gone}");
        }
        let gains = [0.0075, 0.02, 0.06, 0.12, 1.0].map(|base| plus().gain(base));
        assert_eq!(gains, [1.0 / 16.0, 1.0 / 6.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn slowdowns_come_nine_times_their_length_apart() {
        let mut cc = plus();
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0, segment: 1.0 };
        cc.phase = Phase::Until(2);
        cc.rounds.count = 2;
        cc.turn(&mut window, Time::from_secs(1));
        assert_eq!((window.cwnd, window.ssthresh), (2.0, 50.0));
        cc.turn(&mut window, Time::from_secs(2));
        assert_eq!(window.cwnd, 2.0);
        cc.rounds.count = 4;
        cc.turn(&mut window, Time::from_secs(3));
        assert_eq!(cc.phase, Phase::Ramp(Time::from_secs(1)));
        window.cwnd = 50.0;
        cc.turn(&mut window, Time::from_secs(5));
        assert_eq!(cc.phase, Phase::Wait(Time::from_secs(5 + 36)));
        cc.turn(&mut window, Time::from_secs(41));
        assert_eq!(window.cwnd, 2.0);
    }
}
