//! What a sender counts.

use ackclock_units::Time;

/// Counters and averages of one sender; what changes rarely comes last.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct SenderStats {
    /// Data packets sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Sum of the round-trip times measured, nanoseconds.
    pub rtt_sum_ns: u128,
    /// How many they are.
    pub rtt_samples: u64,
    /// Least of them.
    pub rtt_min: Time,
    /// Greatest of them.
    pub rtt_max: Time,
    /// Greatest window, in the sender's unit.
    pub cwnd_max: f64,
    /// Integral of the window over time, unit times nanoseconds.
    cwnd_area: f64,
    cwnd_since: Time,
    cwnd_start: Time,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Packets sent again because of gaps.
    pub fast_retransmits: u64,
    /// Packets given up by the timer.
    pub timeouts: u64,
}

impl SenderStats {
    pub(crate) fn new() -> Self {
        Self {
            segments_sent: 0,
            bytes_sent: 0,
            retransmissions: 0,
            fast_retransmits: 0,
            timeouts: 0,
            rtt_samples: 0,
            rtt_sum_ns: 0,
            rtt_min: Time::NEVER,
            rtt_max: Time::ZERO,
            cwnd_max: 0.0,
            cwnd_area: 0.0,
            cwnd_since: Time::ZERO,
            cwnd_start: Time::ZERO,
        }
    }

    pub(crate) fn start(&mut self, now: Time, cwnd: f64) {
        self.cwnd_start = now;
        self.cwnd_since = now;
        self.cwnd_max = cwnd;
    }

    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Time) {
        self.rtt_samples += 1;
        self.rtt_sum_ns += u128::from(rtt.as_ns());
        self.rtt_min = self.rtt_min.min(rtt);
        self.rtt_max = self.rtt_max.max(rtt);
    }

    /// The window was `before` until now and is `after` from now on.
    #[inline]
    pub(crate) fn on_cwnd(&mut self, now: Time, before: f64, after: f64) {
        self.cwnd_area += before * (now - self.cwnd_since).as_ns() as f64;
        self.cwnd_since = now;
        self.cwnd_max = self.cwnd_max.max(after);
    }

    /// Mean window from the start of the flow to `end`, at which it is `cwnd`.
    pub fn cwnd_mean(&self, end: Time, cwnd: f64) -> f64 {
        let span = end.since(self.cwnd_start).as_ns() as f64;
        if span == 0.0 {
            return cwnd;
        }
        (self.cwnd_area + cwnd * end.since(self.cwnd_since).as_ns() as f64) / span
    }
}
