//! Timers as exact as the system's clock.
//!
//! Source: Linux, `kernel/time/timer.c` (`calc_wheel_index`), with 250 ticks per second: a wait is rounded up to whole
//! ticks, and the wheel expires at the end of a granule of 1, 8 or 64 ticks, so that no timer is early.
//!
//! DEVIATION: the ticks begin at time 0 of the run for all hosts.

use ackclock_units::Time;

/// Nanoseconds of a tick.
pub const TICK: u32 = 4_000_000;
/// Ticks of the wheel's first level that a wait may have at most, and how much coarser the next level is.
const LEVEL: u64 = 63;
const SHIFT: u32 = 3;

/// When a timer expires that is to wait so long from now.
pub fn expiry(now: Time, wait: Time) -> Time {
    if wait == Time::NEVER {
        return Time::NEVER;
    }
    let present = count(now);
    let ticks = wait.as_ns().div_ceil(u64::from(TICK));
    let mut shift = 0;
    while ticks >= LEVEL << shift && shift < 8 * SHIFT {
        shift += SHIFT;
    }
    let granule = ((present + ticks) >> shift) + 1;
    Time::from_ns((granule << shift).saturating_mul(u64::from(TICK)))
}

/// The time that the clock has counted meanwhile (Linux, `tcp_jiffies32`).
pub fn elapsed(from: Time, now: Time) -> Time {
    Time::from_ns((count(now) - count(from)) * u64::from(TICK))
}

/// Ticks until then.
fn count(time: Time) -> u64 {
    time.as_ns() / u64::from(TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_late_by_less_than_two_granules_and_never_early() {
        for (wait, granule) in [(40, 4), (200, 4), (300, 32), (2000, 32), (3000, 256)] {
            for now in 0..300 {
                let now = Time::from_ms(now);
                let late = expiry(now, Time::from_ms(wait)) - (now + Time::from_ms(wait));
                assert!(late <= Time::from_ms(2 * granule), "{wait} at {now:?}: {late:?}");
            }
        }
        assert_eq!(expiry(Time::ZERO, Time::NEVER), Time::NEVER);
    }

    #[test]
    fn the_clock_counts_whole_ticks() {
        let [early, late] = [3_999_999, 8_000_000].map(Time::from_ns);
        assert_eq!(elapsed(early, late), Time::from_ms(8));
        assert_eq!(elapsed(Time::from_ms(4), Time::from_ns(7_999_999)), Time::ZERO);
    }
}
