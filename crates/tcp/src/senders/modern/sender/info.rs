//! What a sender says of itself, as Linux does in `struct tcp_info` (`tcp_get_info`).

use super::Sender;
use crate::cc::{CongestionControl, CongestionState};
use ackclock_units::Time;

/// The state of a sender at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// How it stands to congestion.
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
    /// Smoothed round-trip time.
    pub srtt: Time,
    /// Mean deviation of round-trip times.
    pub rttvar: Time,
    /// Least round-trip time.
    pub min_rtt: Option<Time>,
    /// Wait of the retransmission timer.
    pub rto: Time,
    /// Segments delivered, the SYN included.
    pub delivered: u64,
    /// Segments sent again.
    pub retransmissions: u64,
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
            srtt: self.srtt(),
            rttvar: self.rto.deviation().unwrap_or(Time::ZERO),
            min_rtt: (self.min_rtt != Time::NEVER).then_some(self.min_rtt),
            rto: self.rto.current(),
            delivered: self.delivered,
            retransmissions: self.stats.retransmissions,
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
            pacing_rate: self.cc.pacing_rate(),
        }
    }
}
