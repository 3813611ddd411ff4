//! Timestamps, which both ends compare in milliseconds.
//!
//! Source: RFC 7323; Linux, `TCP_TS_HZ`, `tcp_tsopt_ecr_before`, `tcp_paws_check`.
//!
//! DEVIATION: the milliseconds begin at time 0 of the run for all hosts.

use ackclock_units::Time;

/// By how much a timestamp may be older than the one that is echoed, milliseconds (Linux: `TCP_PAWS_WINDOW`).
const PAWS_WINDOW: u64 = 1;

/// Milliseconds of a timestamp.
pub fn millis(time: Time) -> u64 {
    time.as_ns() / 1_000_000
}

/// Whether an echoed timestamp is from before a transmission.
pub fn is_before(echo: Time, sent: Time) -> bool {
    millis(echo) < millis(sent)
}

/// Whether a segment with this timestamp is too old for a receiver that echoes `recent` (RFC 7323 section 5.3, R1).
#[inline]
pub fn is_outdated(stamp: Time, recent: Time) -> bool {
    stamp < recent && millis(recent) - millis(stamp) > PAWS_WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_outdated_if_two_ticks_are_between() {
        let recent = Time::from_ns(7_000_000);
        for stamp in [7_000_001, 6_999_999, 6_000_000] {
            assert!(!is_outdated(Time::from_ns(stamp), recent), "{stamp}");
        }
        assert!(is_outdated(Time::from_ns(5_999_999), recent));
    }
}
