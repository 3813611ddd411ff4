//! What a classic sender is made from: its rules, as the compiler of scenarios puts them together.

use crate::cc::Cc;
use crate::data::Data;
use crate::handshake::Handshake;
use crate::recovery::Classic as Recovery;
use crate::rto::Rto;
use crate::timer::TimerRules;
use ackclock_units::Time;

/// What a classic sender is made from.
#[derive(Debug, Clone)]
pub struct ClassicSetup {
    /// Payload bytes of a full segment, at most 65535.
    pub segment: u16,
    /// What there is to send.
    pub data: Data,
    /// A small segment waits until all before it is acknowledged, unless it is the last.
    pub nagle: bool,
    /// After an RTO without sending the window is at most the initial one.
    pub restarts_idle: bool,
    /// A window that is not used does not grow.
    pub grows_used: bool,
    /// Initial window, segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, bytes.
    pub initial_ssthresh: f64,
    /// The receiver's window, bytes.
    pub receive_window: u64,
    /// Windows are kept in whole segments and fractions of them, not in bytes.
    pub window_in_segments: bool,
    /// Segments are cut to what fits into the window.
    pub fills_window: bool,
    /// Least slow-start threshold after a loss, segments.
    pub ssthresh_floor: f64,
    /// The threshold after a loss is cut to whole segments.
    pub whole_ssthresh: bool,
    /// The retransmission timer runs on while nothing is in flight, and then sets the window to a segment.
    pub idle_timer: bool,
    /// An ACK of nothing (number 0) is ignored.
    pub ignores_zero_ack: bool,
    /// Rules of the retransmission timer.
    pub timer: TimerRules,
    /// How long after an ACK new data leave.
    pub send_delay: Time,
    /// Data in flight, as losses see them, reach up to the highest byte ever sent.
    pub flight_to_highest: bool,
    /// What passes before the first data.
    pub handshake: Handshake,
    /// Congestion control.
    pub cc: Cc,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Retransmission timer.
    pub rto: Rto,
}

impl ClassicSetup {
    /// A full segment in the window's unit.
    pub(crate) fn window_segment(&self) -> f64 {
        if self.window_in_segments { 1.0 } else { f64::from(self.segment) }
    }
}
