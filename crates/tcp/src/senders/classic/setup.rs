//! What a classic sender is made from: its rules, as the compiler of scenarios puts them together.

use crate::cc::Cc;
use crate::data::Data;
use crate::handshake::Handshake;
use crate::rto::Rto;
use crate::senders::classic::recovery::Recovery;
use crate::senders::classic::rules::SenderRules;
use crate::senders::classic::timer_rules::TimerRules;
use ackclock_units::Time;

/// What a classic sender is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Payload bytes of a full segment, at most 65535.
    pub segment: u16,
    /// What there is to send.
    pub data: Data,
    /// A small segment waits until all before it is acknowledged, unless it is the last.
    pub nagle: bool,
    /// After an RTO without sending the window is at most the initial one.
    pub restarts_idle: bool,
    /// The window grows only while cwnd limits what is sent.
    pub grow_only_if_cwnd_limited: bool,
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

impl Setup {
    /// A full segment in the window's unit.
    pub(crate) fn window_segment(&self) -> f64 {
        if self.window_in_segments { 1.0 } else { f64::from(self.segment) }
    }

    /// The rules that it asks for.
    pub(crate) fn rules(&self) -> SenderRules {
        let mss = f64::from(self.segment);
        let segment = self.window_segment();
        SenderRules {
            mss: u64::from(self.segment),
            units_per_byte: segment / mss,
            bytes_per_unit: mss / segment,
            floor: self.ssthresh_floor,
            flight_to_highest: self.flight_to_highest,
            whole_ssthresh: self.whole_ssthresh,
            limit: match self.receive_window {
                u64::MAX => f64::INFINITY,
                bytes => bytes as f64 * (segment / mss),
            },
            receive_window: self.receive_window,
            sampling: self.rto.sampling(),
            timer: self.timer,
            send_delay: self.send_delay,
            whole_window: self.window_in_segments && !self.fills_window,
            fills_window: self.fills_window,
            idle_timer: self.idle_timer,
            ignores_zero_ack: self.ignores_zero_ack,
            nagle: self.nagle,
            grow_only_if_cwnd_limited: self.grow_only_if_cwnd_limited,
            restarts_idle: self.restarts_idle,
            handshake: self.handshake.clone(),
        }
    }
}
