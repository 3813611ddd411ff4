//! What a classic sender is made from: the keys of its family and what all families have in common.

use crate::cc::Cc;
use crate::data::Data;
use crate::handshake::Handshake;
use crate::rto::Rto;
use crate::senders::Common;
use crate::senders::classic::recovery::Recovery;
use crate::senders::classic::rules::SenderRules;
use crate::senders::classic::timer_rules::{Restart, TimerRules};
use ackclock_units::Time;
use ackclock_units::param::Chosen;

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
    /// At a timeout during fast recovery they are at most the window without inflation.
    pub flight_in_window: bool,
    /// Packets exchanged before the first data.
    pub handshake: Handshake,
    /// New data may be marked instead of dropped.
    pub ecn: bool,
    /// Congestion control.
    pub cc: Cc,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Retransmission timer.
    pub rto: Rto,
}

impl Setup {
    /// What a scenario chose.
    pub fn new(chosen: &Chosen, common: Common) -> Self {
        let receive_window = chosen.optional_int("receive_window_bytes");
        let mut initial_ssthresh = common.initial_ssthresh;
        if chosen.word("initial_ssthresh_limit") == "receive-window"
            && let Some(limit) = receive_window
        {
            initial_ssthresh = initial_ssthresh.min(limit as f64);
        }
        let receive_window = receive_window.unwrap_or(u64::MAX);
        Self {
            segment: common.segment,
            data: common.data,
            nagle: chosen.flag("nagle"),
            restarts_idle: chosen.word("idle_restart") == "rto",
            grow_only_if_cwnd_limited: chosen.word("unused_window") == "stays",
            initial_window: common.initial_window,
            initial_ssthresh,
            receive_window,
            window_in_segments: chosen.word("window_unit") == "segments",
            fills_window: chosen.word("framing") == "fill",
            ssthresh_floor: chosen.real("ssthresh_floor"),
            whole_ssthresh: chosen.word("ssthresh_rounding") == "whole-segments",
            idle_timer: chosen.word("idle_restart") == "timer",
            ignores_zero_ack: chosen.word("zero_ack") == "ignored",
            timer: TimerRules {
                restart: Restart::new(chosen.word("timer_restart")),
                backs_off_at_start: chosen.word("timer_backoff") == "at-start",
            },
            send_delay: Time::from_ns(chosen.int("send_delay_ns")),
            flight_to_highest: chosen.word("flight") == "highest",
            flight_in_window: chosen.word("flight") == "window",
            handshake: Handshake::new(chosen.inner("handshake")),
            ecn: chosen.flag("ecn"),
            cc: common.cc,
            recovery: Recovery::new(chosen.inner("recovery")),
            rto: common.rto,
        }
    }

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
            flight_in_window: self.flight_in_window,
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
            ecn: self.ecn,
            nagle: self.nagle,
            grow_only_if_cwnd_limited: self.grow_only_if_cwnd_limited,
            restarts_idle: self.restarts_idle,
            handshake: self.handshake.clone(),
        }
    }
}
