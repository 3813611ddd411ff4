//! When each segment that is not acknowledged was last sent, and how often.
//!
//! Source: Brakmo and Peterson, "TCP Vegas", IEEE JSAC 13(8), 1995, section III-A: the sender reads its
//! clock for each segment, so that it can measure the round-trip time of each and see whether the oldest
//! one is overdue. A sender keeps such a log only if its congestion control or its recovery asks for it.

use ackclock_units::Time;
use std::collections::VecDeque;

/// A segment in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// First byte.
    seq: u64,
    /// One past the last byte.
    end: u64,
    /// When it was sent last.
    pub at: Time,
    /// How often it was sent.
    pub transmissions: u32,
}

/// Segments that are not acknowledged, in the order of their bytes.
#[derive(Debug, Clone, Default)]
pub struct SendLog {
    /// Time of the ACK that is being handled.
    pub now: Time,
    /// What the last ACK of new data measured.
    pub sample: Option<Time>,
    after_repairs: bool,
    sent: VecDeque<Sent>,
}

impl SendLog {
    /// A log that also takes samples of segments that waited at the receiver for a repair.
    pub fn with_samples_after_repairs() -> Self {
        Self { after_repairs: true, ..Self::default() }
    }

    /// A segment was sent. One that was sent before keeps its borders.
    pub fn on_transmit(&mut self, now: Time, seq: u64, end: u64) {
        if self.sent.back().is_none_or(|last| last.end <= seq) {
            self.sent.push_back(Sent { seq, end, at: now, transmissions: 1 });
            return;
        }
        let index = self.sent.partition_point(|sent| sent.end <= seq);
        let sent = &mut self.sent[index];
        sent.at = now;
        sent.transmissions += 1;
    }

    /// Everything below `ack` is acknowledged: measures the round trip of the newest segment among it,
    /// unless one of them was sent more than once (Karn's rule).
    pub fn on_new_ack(&mut self, now: Time, ack: u64) {
        self.now = now;
        self.sample = None;
        let mut clean = true;
        while let Some(sent) = self.sent.front()
            && sent.end <= ack
        {
            clean = sent.transmissions == 1 && (clean || self.after_repairs);
            self.sample = clean.then(|| now - sent.at);
            self.sent.pop_front();
        }
    }

    /// The oldest segment that is not acknowledged.
    pub fn oldest(&self) -> Option<&Sent> {
        self.sent.front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_segment_of_an_ack_is_measured_if_none_was_sent_twice() {
        let mut log = SendLog::default();
        for segment in 0..4 {
            log.on_transmit(Time::from_ms(segment), segment * 10, segment * 10 + 10);
        }
        log.on_new_ack(Time::from_ms(50), 20);
        assert_eq!(log.sample, Some(Time::from_ms(49)));
        // Sent again, in other borders.
        log.on_transmit(Time::from_ms(60), 25, 35);
        assert_eq!(
            log.oldest().map(|sent| (sent.at, sent.transmissions)),
            Some((Time::from_ms(60), 2))
        );
        log.on_new_ack(Time::from_ms(70), 30);
        assert_eq!(log.sample, None);
        log.on_new_ack(Time::from_ms(80), 40);
        assert_eq!(log.sample, Some(Time::from_ms(77)));
        assert_eq!(log.oldest(), None);
    }

    #[test]
    fn what_waited_for_a_repair_is_measured_if_asked_to() {
        let logs = [SendLog::default(), SendLog::with_samples_after_repairs()];
        for (mut log, sample) in logs.into_iter().zip([None, Some(Time::from_ms(39))]) {
            log.on_transmit(Time::from_ms(0), 0, 10);
            log.on_transmit(Time::from_ms(1), 10, 20);
            log.on_transmit(Time::from_ms(30), 0, 10);
            log.on_new_ack(Time::from_ms(40), 20);
            assert_eq!(log.sample, sample);
        }
    }
}
