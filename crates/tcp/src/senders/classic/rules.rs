//! What a classic sender never changes: its rules, worked out once.
//!
//! Flows with the same settings share one copy, so that a thousand of them find it in the cache.

use crate::handshake::Handshake;
use crate::rto::Sampling;
use crate::senders::classic::timer_rules::TimerRules;
use ackclock_units::Time;

/// Rules of a classic sender.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderRules {
    /// Bytes of a full segment.
    pub mss: u64,
    /// Units of the window per byte; with the next one, since divisions cost too much for each ACK.
    pub units_per_byte: f64,
    /// Bytes per unit of the window.
    pub bytes_per_unit: f64,
    /// Least slow-start threshold after a loss, segments.
    pub floor: f64,
    /// A loss sees the data in flight up to the highest byte ever sent, also after going back.
    pub flight_to_highest: bool,
    /// At a timeout during fast recovery a loss sees at most the window without inflation.
    pub(crate) flight_in_window: bool,
    /// The threshold is cut to whole segments.
    pub whole_ssthresh: bool,
    /// The receiver's window, in the window's unit; infinite if it has no limit.
    pub limit: f64,
    /// The receiver's window, bytes.
    pub receive_window: u64,
    /// Which round trips are measured.
    pub(crate) sampling: Sampling,
    pub(crate) timer: TimerRules,
    pub(crate) send_delay: Time,
    /// The window counts whole segments.
    pub(crate) whole_window: bool,
    pub(crate) fills_window: bool,
    pub(crate) idle_timer: bool,
    pub(crate) ignores_zero_ack: bool,
    pub(crate) ecn: bool,
    pub(crate) nagle: bool,
    pub(crate) grow_only_if_cwnd_limited: bool,
    pub(crate) restarts_idle: bool,
    pub(crate) handshake: Handshake,
}

#[cfg(test)]
impl SenderRules {
    /// Windows in segments of this many bytes, without limits and delays.
    pub(crate) fn in_segments(mss: u64) -> Self {
        let none = ackclock_units::param::Chosen { kind: "none".into(), values: Vec::new() };
        Self {
            mss,
            units_per_byte: 1.0 / mss as f64,
            bytes_per_unit: mss as f64,
            floor: 2.0,
            flight_to_highest: false,
            flight_in_window: true,
            whole_ssthresh: false,
            limit: f64::INFINITY,
            receive_window: u64::MAX,
            sampling: Sampling::Timestamps,
            timer: TimerRules {
                restart: crate::senders::classic::timer_rules::Restart::OnAck,
                backs_off_at_start: false,
            },
            send_delay: Time::ZERO,
            whole_window: true,
            fills_window: false,
            idle_timer: false,
            ignores_zero_ack: false,
            ecn: false,
            nagle: false,
            grow_only_if_cwnd_limited: false,
            restarts_idle: false,
            handshake: Handshake::new(&none),
        }
    }
}
