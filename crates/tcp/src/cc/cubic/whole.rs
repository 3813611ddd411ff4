//! CUBIC in whole numbers, as `tcp_cubic.c` of Linux 6 computes it.
//!
//! Time is counted in ticks for the clock, and in 1024ths of a second for the cubic. The cubic says after how many
//! acknowledged segments the window grows by one (`every`). What differs from RFC 9438 on purpose or by rounding:
//! t counts from the minimum delay ahead, rounded up to ticks, in place of the smoothed round-trip time; the target is
//! not bounded by 1.5 cwnd, but the window grows by one in two acknowledged segments at most, in 20 at least before
//! the first loss; the Reno flow grows by one in 15/8 windows, also beyond the last loss; the cubic
//! is asked once a tick, and not at all for a 32nd of a second while the window stays; an undone cut restores
//! the window alone.
//!
//! DEVIATION: the cube root is exact and cut; that of Linux is off by 0.2 % on average.

use crate::cc::Window;
use crate::cc::growth::Credit;
use ackclock_math::elementary::whole_cbrt;
use ackclock_units::Time;
use ackclock_units::param::Chosen;

/// What a timeout makes it forget.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    /// Acknowledged segments that make the window grow by one.
    every: u32,
    last_max: u32,
    /// The window and the tick when the cubic was asked last.
    last_cwnd: u32,
    last_tick: u64,
    origin: u32,
    /// 1024ths of a second.
    k: u64,
    /// Minimum round-trip time, microseconds; zero before the first.
    delay: u64,
    /// The tick at which congestion avoidance began.
    epoch: Option<u64>,
    /// A second later.
    fresh_until: Time,
    acked: u32,
    /// Window of a Reno flow.
    reno: u32,
}

/// A clock that counts ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    /// Ticks a second.
    hz: u64,
    /// The tick that was asked for last, and its beginning and length, nanoseconds: mostly it is the same again.
    last: u64,
    begin: u64,
    length: u64,
}

const SECOND: u64 = 1_000_000_000;

impl Clock {
    /// The present tick.
    #[inline]
    fn tick(&mut self, now: Time) -> u64 {
        if now.as_ns().wrapping_sub(self.begin) >= self.length {
            self.last = self.count(now);
            self.begin = self.beginning(self.last);
            self.length = self.beginning(self.last + 1) - self.begin;
        }
        self.last
    }

    /// Whole ticks until then.
    fn count(&self, at: Time) -> u64 {
        let ns = at.as_ns();
        ns / SECOND * self.hz + ns % SECOND * self.hz / SECOND
    }

    /// A second after the beginning of a tick.
    fn second_after(&self, tick: u64) -> Time {
        Time::from_ns(self.beginning(tick) + SECOND)
    }

    /// First nanosecond of a tick.
    fn beginning(&self, tick: u64) -> u64 {
        tick / self.hz * SECOND + (tick % self.hz * SECOND).div_ceil(self.hz)
    }
}

/// Rules and state.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    clock: Clock,
    /// `c` in 1024ths.
    scale: u64,
    /// Eighths of a window that a Reno flow takes for a segment more; none if it does not matter.
    reno_scale: Option<u32>,
    fast_convergence: bool,
    credit: Credit,
    /// What slow start has of a segment.
    part: f64,
    course: Course,
}

impl Whole {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let left = in_1024ths(chosen.real("decrease"));
        Self {
            clock: Clock { hz: chosen.int("hz"), ..Clock::default() },
            scale: (chosen.real("c") * 102.4).round() as u64 * 10,
            reno_scale: chosen
                .flag("reno_friendly")
                .then_some(8 * (1024 + left) / 3 / (1024 - left)),
            fast_convergence: chosen.flag("fast_convergence"),
            credit: Credit::default(),
            part: 0.0,
            course: Course::default(),
        }
    }

    /// Whether congestion avoidance has begun within a second.
    pub(super) fn is_fresh(&self, now: Time) -> bool {
        self.course.epoch.is_some() && now < self.course.fresh_until
    }

    /// A round-trip time was measured.
    pub(super) fn on_delay(&mut self, rtt: Time) {
        let delay = (rtt.as_ns() / 1000).max(1);
        if self.course.delay == 0 || delay < self.course.delay {
            self.course.delay = delay;
        }
    }

    /// Slow start by this many segments; those that are left over.
    pub(super) fn slow_start(&mut self, window: &mut Window, step: f64) -> u32 {
        self.part += step;
        let whole = self.part as u32;
        self.part -= f64::from(whole);
        Credit::slow_start(window, whole)
    }

    /// Congestion avoidance.
    pub(super) fn grow(&mut self, window: &mut Window, now: Time, acked: u32) {
        let tick = self.clock.tick(now);
        self.update(tick, window.cwnd as u32, acked);
        self.credit.grow(window, self.course.every, acked);
    }

    fn update(&mut self, tick: u64, cwnd: u32, acked: u32) {
        let course = &mut self.course;
        course.acked += acked;
        if course.last_cwnd == cwnd && tick - course.last_tick <= self.clock.hz / 32 {
            return;
        }
        if course.epoch.is_none() || tick != course.last_tick {
            course.last_cwnd = cwnd;
            course.last_tick = tick;
            let epoch = *course.epoch.get_or_insert_with(|| {
                course.fresh_until = self.clock.second_after(tick);
                course.acked = acked;
                course.reno = cwnd;
                if course.last_max <= cwnd {
                    course.k = 0;
                    course.origin = cwnd;
                } else {
                    let gap = u64::from(course.last_max - cwnd);
                    course.k = whole_cbrt((1 << 40) / self.scale * gap);
                    course.origin = course.last_max;
                }
                tick
            });
            let ahead = (course.delay * self.clock.hz).div_ceil(1_000_000);
            let t = ((tick - epoch + ahead) << 10) / self.clock.hz;
            let offset = u128::from(t.abs_diff(course.k));
            let delta = (u128::from(self.scale) * offset * offset * offset) >> 40;
            let delta = u32::try_from(delta).unwrap_or(u32::MAX);
            let target = if t < course.k {
                course.origin.saturating_sub(delta)
            } else {
                course.origin.saturating_add(delta)
            };
            course.every =
                if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
            if course.last_max == 0 {
                course.every = course.every.min(20);
            }
        }
        if let Some(scale) = self.reno_scale {
            let segment = (cwnd.saturating_mul(scale) >> 3).max(1);
            while course.acked > segment {
                course.acked -= segment;
                course.reno += 1;
            }
            if course.reno > cwnd {
                course.every = course.every.min(cwnd / (course.reno - cwnd));
            }
        }
        course.every = course.every.max(2);
    }

    /// A cut: `left` is the part that it leaves of `from`, in the end this many segments.
    pub(super) fn on_loss(&mut self, cwnd: f64, from: f64, left: f64, timeout: bool) -> f64 {
        let left = in_1024ths(left);
        let cwnd = cwnd as u32;
        self.course.epoch = None;
        let early = self.fast_convergence && cwnd < self.course.last_max;
        self.course.last_max =
            if early { (u64::from(cwnd) * u64::from(1024 + left) / 2048) as u32 } else { cwnd };
        self.credit.forget();
        if timeout {
            self.reset();
        }
        (from as u64 * u64::from(left) / 1024) as f64
    }

    /// A timeout.
    pub(super) fn reset(&mut self) {
        self.credit.forget();
        self.course = Course::default();
    }

    /// The flow sends again after it had nothing to send for so long.
    pub(super) fn skip(&mut self, now: Time, idle: Time) {
        let now_tick = self.clock.count(now);
        let skipped = now_tick - self.clock.count(now - idle);
        if let Some(epoch) = &mut self.course.epoch {
            *epoch = (*epoch + skipped).min(now_tick);
            self.course.fresh_until = self.clock.second_after(*epoch);
        }
    }
}

/// A part as Linux holds it.
fn in_1024ths(part: f64) -> u32 {
    (part * 1024.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_the_same_from_its_first_nanosecond_to_its_last() {
        for hz in [100, 250, 300, 333, 1000] {
            let mut clock = Clock { hz, ..Clock::default() };
            for number in [0, 1, 2, 299, 300, 301, 7777] {
                let (first, next) = (clock.beginning(number), clock.beginning(number + 1));
                for at in [first, (first + next) / 2, next - 1].map(Time::from_ns) {
                    assert_eq!((clock.tick(at), clock.count(at)), (number, number), "{hz} {at}");
                }
            }
        }
    }
}
