//! Timestamps, which both ends compare in milliseconds.
//!
//! Source: RFC 7323; Linux, `TCP_TS_HZ`, `tcp_tsopt_ecr_before`.
//!
//! DEVIATION: the milliseconds begin at time 0 of the run for all hosts.

use ackclock_units::Time;

/// Milliseconds of a timestamp.
pub fn millis(time: Time) -> u64 {
    time.as_ns() / 1_000_000
}

/// Whether an echoed timestamp is from before a transmission.
pub fn is_before(echo: Time, sent: Time) -> bool {
    millis(echo) < millis(sent)
}
