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
    /// Least of them; since the mark, if there was one.
    pub rtt_min: Time,
    /// Greatest of them; likewise.
    pub rtt_max: Time,
    /// Greatest window, in the sender's unit; zero before the start.
    cwnd_max: f64,
    /// Integral of the window over time, unit times nanoseconds.
    cwnd_area: f64,
    /// Since when it is what it is; never before the start and after the end.
    cwnd_since: Time,
    cwnd: f64,
    /// Least round-trip time before the mark.
    rtt_min_before: Time,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Packets sent again because of gaps.
    pub fast_retransmits: u32,
    /// Packets given up by the timer.
    pub timeouts: u32,
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
            cwnd_since: Time::NEVER,
            cwnd: 0.0,
            rtt_min_before: Time::NEVER,
        }
    }

    pub(crate) fn start(&mut self, now: Time, cwnd: f64) {
        self.cwnd_since = now;
        self.cwnd_max = cwnd;
        self.cwnd = cwnd;
    }

    /// All is acknowledged: what the window does from now on does not count.
    pub(crate) fn finish(&mut self, now: Time) {
        self.on_cwnd(now, self.cwnd);
        self.cwnd_since = Time::NEVER;
    }

    /// Extremes and means of windows begin anew here; `over` if the sender is gone. Sums go on.
    pub fn mark(&mut self, now: Time, over: bool) {
        if over {
            self.cwnd_since = Time::NEVER;
        }
        self.on_cwnd(now, self.cwnd);
        self.cwnd_area = 0.0;
        self.cwnd_max = if self.cwnd_since == Time::NEVER { 0.0 } else { self.cwnd };
        self.rtt_min_before = self.base_rtt();
        (self.rtt_min, self.rtt_max) = (Time::NEVER, Time::ZERO);
    }

    /// Least round-trip time of the whole run.
    #[inline]
    pub fn base_rtt(&self) -> Time {
        self.rtt_min.min(self.rtt_min_before)
    }

    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Time) {
        self.rtt_samples += 1;
        self.rtt_sum_ns += u128::from(rtt.as_ns());
        self.rtt_min = self.rtt_min.min(rtt);
        self.rtt_max = self.rtt_max.max(rtt);
    }

    /// The window that is reported is this from now on.
    #[inline]
    pub(crate) fn on_cwnd(&mut self, now: Time, cwnd: f64) {
        if self.cwnd_since == Time::NEVER {
            return;
        }
        self.cwnd_area += self.cwnd * (now - self.cwnd_since).as_ns() as f64;
        self.cwnd_since = now;
        self.cwnd_max = self.cwnd_max.max(cwnd);
        self.cwnd = cwnd;
    }

    /// Mean window from `start`, that of the flow or the mark, to `end`, when it was finished if it was, and the
    /// greatest one; none if the flow has not started, or was finished before the mark.
    pub fn cwnd(&self, start: Time, end: Time) -> Option<(f64, f64)> {
        if self.cwnd_max == 0.0 {
            return None;
        }
        let span = end.since(start).as_ns() as f64;
        if span == 0.0 {
            return Some((self.cwnd_max, self.cwnd_max));
        }
        let area = self.cwnd_area + self.cwnd * end.since(self.cwnd_since).as_ns() as f64;
        // A window that never changes is its own mean, whatever the division makes of it.
        Some(((area / span).min(self.cwnd_max), self.cwnd_max))
    }
}
