//! What a sender says of itself, as Linux does in `struct tcp_info` (`tcp_get_info`).

use super::Sender;
use crate::cc::{CongestionControl, CongestionState};
use ackclock_units::Time;

/// The state of a sender at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// Congestion state.
    pub state: CongestionState,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow-start threshold, segments; infinite if there is none.
    pub ssthresh: f64,
    /// Segments sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// Those of them that have arrived out of order.
    pub sacked_out: u32,
    /// Those that count as lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// Distance of reordering, segments.
    pub reordering: u32,
    /// How often reordering was seen.
    pub reordering_events: u32,
    /// How long a segment may be late before it counts as lost.
    pub reo_wnd: Time,
    /// Smoothed round-trip time.
    pub srtt: Time,
    /// Mean deviation of round-trip times.
    pub rttvar: Time,
    /// Minimum round-trip time.
    pub min_rtt: Option<Time>,
    /// Retransmission timeout.
    pub rto: Time,
    /// Segments delivered, the SYN included.
    pub delivered: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Delivery rate, bit/s; none where nobody measures it.
    pub delivery_rate: Option<f64>,
    /// Data segments sent in all.
    pub segments_sent: u64,
    /// Payload bytes sent in all.
    pub bytes_sent: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes that were written and not sent.
    pub unsent: u64,
    /// Expiries of the retransmission timer in a row.
    pub timeouts: u32,
    /// Zero-window probes without an answer.
    pub window_probes: u32,
    /// How often the wait of a timer was doubled.
    pub backoff: u32,
    /// Duplicates that were reported.
    pub repeated: u64,
    /// The receiver's window, bytes.
    pub receive_window: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Pace, bit/s; none without pacing.
    pub pacing_rate: Option<u64>,
}

impl Sender {
    /// Whether what it counts agrees with what it knows of each segment.
    pub fn is_consistent(&self) -> bool {
        self.board.is_consistent(!self.rules.sack)
            && self.board.una <= self.nxt
            && self.window.cwnd >= 1.0
            && self.window.ssthresh >= 2.0
    }

    /// The state at this moment.
    pub fn info(&self) -> Info {
        let board = &self.board;
        Info {
            state: self.state,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            packets_out: board.packets_out(),
            sacked_out: board.sacked_out,
            lost_out: board.lost_out,
            retrans_out: board.retrans_out,
            reordering: self.rack.reordering,
            reordering_events: self.rack.reordering_events,
            reo_wnd: self.reo_wnd(),
            srtt: self.srtt(),
            rttvar: self.rto.deviation().unwrap_or(Time::ZERO),
            min_rtt: (self.min_rtt != Time::NEVER).then_some(self.min_rtt),
            rto: self.rto.current(),
            delivered: self.delivered,
            retransmissions: self.stats.retransmissions,
            delivery_rate: self.delivery_rate(),
            segments_sent: self.stats.segments_sent,
            bytes_sent: self.stats.bytes_sent,
            bytes_acked: board.una,
            unsent: self.end - self.nxt.min(self.end),
            timeouts: self.retransmits,
            window_probes: self.window_probes,
            backoff: self.window_backoff.max(self.retransmits),
            repeated: self.repeated,
            receive_window: self.receive_window,
            mss: self.rules.mss,
            pacing_rate: self.cc.pacing_rate().or(self.window_rate),
        }
    }

    /// How long a segment may be late before it counts as lost.
    fn reo_wnd(&self) -> Time {
        let in_recovery = self.state >= CongestionState::Recovery;
        let least = if self.min_rtt == Time::NEVER { Time::ZERO } else { self.min_rtt };
        self.rack.window(self.board.sacked_out, in_recovery, least, self.srtt())
    }

    /// The delivery rate (`tcp_compute_delivery_rate`).
    fn delivery_rate(&self) -> Option<f64> {
        let (delivered, interval) = self.journal.as_ref()?.rate?;
        Some((delivered * self.rules.mss * 8) as f64 * 1e9 / interval as f64)
    }
}
