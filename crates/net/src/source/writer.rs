//! A source at work.

use super::{Source, Writes};
use ackclock_units::Time;

/// A source with what it has written and what is left.
#[derive(Debug, Clone)]
pub struct Writer {
    source: Source,
    next: Time,
    /// Bytes to write in all; `u64::MAX` for without end, which no run comes near.
    total: u64,
    left: u64,
}

impl Writer {
    /// A source that has not started; `bytes` to write in all, none without end.
    pub fn new(source: Source, bytes: Option<u64>) -> Self {
        let total = bytes.unwrap_or(u64::MAX);
        Self { source, next: Time::NEVER, total, left: total }
    }

    /// Starts it.
    pub fn start(&mut self, now: Time) {
        self.next = self.source.start(now);
    }

    /// When to call [`Writer::write`].
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Whether that time was planned before the run.
    pub fn is_planned(&self) -> bool {
        self.source.is_planned()
    }

    /// Bytes that are written now; none if it is too early, or a pause lasts.
    #[inline]
    pub fn write(&mut self, now: Time) -> u32 {
        if self.next > now {
            return 0;
        }
        let (bytes, next) = self.source.write(now);
        let bytes = u64::from(bytes).min(self.left);
        self.left -= bytes;
        self.next = if self.left == 0 { Time::NEVER } else { next };
        bytes as u32
    }

    /// Nothing more is written.
    pub fn stop(&mut self) {
        self.total -= self.left;
        self.left = 0;
        self.next = Time::NEVER;
    }

    /// Whether everything is written.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.left == 0
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.total - self.left
    }
}
