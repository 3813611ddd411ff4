//! Retransmission timers: how long a sender waits before it gives a packet up.
//!
//! To add one: a new file with an [`Entry`](ackclock_units::param::Entry) and a type that implements [`Timer`],
//! and one line in [`registry!`] below.

mod fixed;
mod linux;
mod rfc6298;
mod ticks;

use ackclock_units::param::{Chosen, Clash};
use ackclock_units::quantity::Quantity;
use ackclock_units::{Time, registry};

/// The wait for the first data if the SYN had to be repeated and the handshake has measured nothing (RFC 6298 section 5.7).
const AFTER_LOST_SYN: Time = Time::from_secs(3);

/// Which round trips are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Every ACK of new data echoes a sending time.
    Timestamps,
    /// One segment at a time, never one that was sent twice.
    Karn,
    /// What the list of sent segments says, by timestamps.
    Listed,
}

/// A retransmission timer.
///
/// What each ACK asks for is kept in fields: a match costs as much as the answer.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Rto {
    /// The present wait.
    current: Time,
    sampling: Sampling,
    /// Timestamps are exact.
    exact: bool,
    /// An ACK of new data ends the back-off, with a sample or without.
    ends_on_ack: bool,
    /// The wait is kept in clock ticks of this many nanoseconds; 1 if it is exact.
    tick: u32,
    rule: Rule,
}

/// How the wait is worked out.
pub trait Timer {
    /// The wait before anything was measured; later, the wait without back-off.
    fn calm(&self) -> Time;

    /// A round-trip time was measured that ends now; answers the new wait.
    fn on_sample(&mut self, now: Time, rtt: Time) -> Time;

    /// The handshake has measured nothing, as its first message was repeated; answers the wait for the first data if
    /// that is another one.
    fn unmeasured(&self) -> Option<Time> {
        None
    }

    /// A round trip is over: data are acknowledged that were sent after the last one was.
    fn on_round(&mut self) {}

    /// The timer expired after `wait`; answers the new wait.
    fn on_timeout(&mut self, wait: Time) -> Time;

    /// The smoothed round-trip time, if one is kept and something was measured.
    fn srtt(&self) -> Option<Time> {
        None
    }

    /// The mean deviation of round-trip times, if one is kept.
    fn deviation(&self) -> Option<Time> {
        None
    }

    /// The least wait beyond the round-trip time.
    fn least(&self) -> Time {
        Time::from_ms(200)
    }

    /// Which round trips are measured.
    fn sampling(&self) -> Sampling {
        Sampling::Timestamps
    }

    /// Whether timestamps have no ticks.
    fn is_exact(&self) -> bool {
        true
    }

    /// The round trip that timestamps show; none if their clock is too coarse for it.
    fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        Some(to - from)
    }

    /// Whether an ACK of new data ends the back-off, with a sample or without.
    fn ends_on_ack(&self) -> bool {
        false
    }

    /// Whether a fast retransmit ends the measurement that is going on, whatever is retransmitted.
    fn drops_timed(&self) -> bool {
        false
    }

    /// Where ticks begin, if that is left open: a fraction of a tick from 0 to 1.
    fn draw_phase(&mut self, _draw: &mut dyn FnMut() -> f64) {}
}

/// A wait, rounded down to microseconds and then up to whole ticks (Linux, `__tcp_set_rto`, `usecs_to_jiffies`).
#[cold]
fn whole_ticks(wait: Time, tick: u64) -> Time {
    Time::from_ns((wait.as_ns() / 1000 * 1000).div_ceil(tick).saturating_mul(tick))
}

/// The rule of entries with a least and a greatest wait.
fn min_below_max(chosen: &Chosen) -> Result<(), Clash> {
    let (min, max) = (chosen.int("min_ns"), chosen.optional_int("max_ns"));
    match max {
        Some(max) if min > max => {
            let [min, max] = [min, max].map(Quantity::Time);
            let message = format!("`min` ({min}) is above `max` ({max})");
            Err(Clash { param: "min", message, hint: None })
        }
        _ => Ok(()),
    }
}

registry! {
    /// Any registered timer.
    enum Rule: Timer, a "retransmission timer" {
        Rfc6298: rfc6298 as rfc6298::Rfc6298,
        Fixed: fixed as fixed::Fixed,
        Linux: linux as Box<linux::Linux>,
        Ticks: ticks as Box<ticks::Ticks>,
    }
    fn calm(&self) -> Time;
    fn on_sample(&mut self, now: Time, rtt: Time) -> Time;
    fn unmeasured(&self) -> Option<Time>;
    fn on_round(&mut self);
    fn on_timeout(&mut self, wait: Time) -> Time;
    fn srtt(&self) -> Option<Time>;
    fn deviation(&self) -> Option<Time>;
    fn least(&self) -> Time;
    fn sampling(&self) -> Sampling;
    fn is_exact(&self) -> bool;
    fn elapsed(&self, from: Time, to: Time) -> Option<Time>;
    fn ends_on_ack(&self) -> bool;
    fn drops_timed(&self) -> bool;
    fn draw_phase(&mut self, draw: &mut dyn FnMut() -> f64);
}

impl Rto {
    /// The timer that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        let rule = Rule::new(chosen);
        Self {
            current: rule.calm(),
            sampling: rule.sampling(),
            exact: rule.is_exact(),
            ends_on_ack: rule.ends_on_ack(),
            tick: 1,
            rule,
        }
    }

    /// The wait is rounded up to whole ticks of this many nanoseconds before it is doubled (Linux, `icsk_rto`).
    pub fn count_in_ticks(&mut self, tick: u32) {
        self.tick = tick;
        self.current = self.in_ticks(self.current);
    }

    /// A wait as it is kept. A division costs as much as the rest, and most waits are exact.
    #[inline]
    fn in_ticks(&self, wait: Time) -> Time {
        match self.tick {
            1 => wait,
            tick => whole_ticks(wait, u64::from(tick)),
        }
    }

    /// Shares the rules of another timer if they are the same.
    pub fn share_rules(&mut self, other: &Self) {
        if let (Rule::Rfc6298(rto), Rule::Rfc6298(other)) = (&mut self.rule, &other.rule) {
            rto.share_rules(other);
        }
    }

    /// The present wait.
    #[inline]
    pub fn current(&self) -> Time {
        self.current
    }

    /// The smoothed round-trip time, if one is kept and something was measured.
    #[inline]
    pub fn srtt(&self) -> Option<Time> {
        self.rule.srtt()
    }

    /// The mean deviation of round-trip times, if one is kept.
    pub fn deviation(&self) -> Option<Time> {
        self.rule.deviation()
    }

    /// A round-trip time was measured that ends now.
    #[inline(always)]
    pub fn on_sample(&mut self, now: Time, rtt: Time) {
        // Without a call where it is the standard's.
        let wait = match &mut self.rule {
            Rule::Rfc6298(rule) => rule.on_sample(now, rtt),
            rule => rule.on_sample(now, rtt),
        };
        self.current = self.in_ticks(wait);
    }

    /// The handshake is over, and has measured nothing.
    pub fn on_unmeasured(&mut self) {
        if let Some(wait) = self.rule.unmeasured() {
            self.current = self.in_ticks(wait);
        }
    }

    /// A round trip is over.
    #[inline]
    pub fn on_round(&mut self) {
        self.rule.on_round();
    }

    /// The least wait beyond the round-trip time.
    pub fn least(&self) -> Time {
        self.rule.least()
    }

    /// Which round trips are measured.
    #[inline]
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The round trip that timestamps show; none if their clock is too coarse for it.
    #[inline]
    pub fn elapsed(&self, from: Time, to: Time) -> Option<Time> {
        if self.exact { Some(to - from) } else { self.rule.elapsed(from, to) }
    }

    /// Whether a fast retransmit ends the measurement that is going on, whatever is retransmitted.
    pub fn drops_timed(&self) -> bool {
        self.rule.drops_timed()
    }

    /// Where the ticks begin, if that is left open: a fraction of a tick from 0 to 1.
    pub fn draw_phase(&mut self, mut draw: impl FnMut() -> f64) {
        self.rule.draw_phase(&mut draw);
    }

    /// New data were acknowledged, and the sample, if there is one, was taken.
    #[inline]
    pub fn on_new_ack(&mut self) {
        if self.ends_on_ack {
            self.current = self.in_ticks(self.rule.calm());
        }
    }

    /// The timer expired.
    pub fn on_timeout(&mut self) {
        let wait = self.rule.on_timeout(self.current);
        self.current = self.in_ticks(wait);
    }
}
