//! What a classic sender never changes: its rules, worked out once.
//!
//! Flows with the same settings share one copy, so that a thousand of them find it in the cache.

use crate::handshake::Handshake;
use crate::rto::Sampling;
use crate::setup::ClassicSetup;
use crate::timer::TimerRules;
use ackclock_units::Time;

/// Rules of a classic sender.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderRules {
    /// Bytes of a full segment.
    pub mss: u64,
    /// Bytes in the window's unit, and the other way round: divisions cost too much for each ACK.
    pub units_per_byte: f64,
    /// See there.
    pub bytes_per_unit: f64,
    /// Least slow-start threshold after a loss, segments.
    pub floor: f64,
    /// A loss sees the data in flight up to the highest byte ever sent, also after going back.
    pub flight_to_highest: bool,
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
    pub(crate) nagle: bool,
    pub(crate) grows_used: bool,
    pub(crate) restarts_idle: bool,
    pub(crate) handshake: Handshake,
}

impl SenderRules {
    /// The rules that a setup asks for.
    pub fn new(setup: &ClassicSetup) -> Self {
        let mss = f64::from(setup.segment);
        let segment = setup.window_segment();
        Self {
            mss: u64::from(setup.segment),
            units_per_byte: segment / mss,
            bytes_per_unit: mss / segment,
            floor: setup.ssthresh_floor,
            flight_to_highest: setup.flight_to_highest,
            whole_ssthresh: setup.whole_ssthresh,
            limit: match setup.receive_window {
                u64::MAX => f64::INFINITY,
                bytes => bytes as f64 * (segment / mss),
            },
            receive_window: setup.receive_window,
            sampling: setup.rto.sampling(),
            timer: setup.timer,
            send_delay: setup.send_delay,
            whole_window: setup.window_in_segments && !setup.fills_window,
            fills_window: setup.fills_window,
            idle_timer: setup.idle_timer,
            ignores_zero_ack: setup.ignores_zero_ack,
            nagle: setup.nagle,
            grows_used: setup.grows_used,
            restarts_idle: setup.restarts_idle,
            handshake: setup.handshake.clone(),
        }
    }
    /// Windows in segments of so many bytes, without limits and delays.
    #[cfg(test)]
    pub(crate) fn in_segments(mss: u64) -> Self {
        let none = ackclock_units::param::Chosen { kind: "none".into(), values: Vec::new() };
        Self {
            mss,
            units_per_byte: 1.0 / mss as f64,
            bytes_per_unit: mss as f64,
            floor: 2.0,
            flight_to_highest: false,
            whole_ssthresh: false,
            limit: f64::INFINITY,
            receive_window: u64::MAX,
            sampling: Sampling::Timestamps,
            timer: TimerRules { restart: crate::timer::Restart::OnAck, backs_off_at_start: false },
            send_delay: Time::ZERO,
            whole_window: true,
            fills_window: false,
            idle_timer: false,
            ignores_zero_ack: false,
            nagle: false,
            grows_used: false,
            restarts_idle: false,
            handshake: Handshake::new(&none),
        }
    }
}
