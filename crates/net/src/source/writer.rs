//! A source at work.

use super::Source;
use ackclock_units::Time;

/// A source with what it has written and what is left.
#[derive(Debug, Clone)]
pub struct Writer {
    source: Source,
    next: Time,
    left: Option<u64>,
    written: u64,
}

impl Writer {
    /// A source that has not started; `bytes` to write in all, none without end.
    pub fn new(source: Source, bytes: Option<u64>) -> Self {
        Self { source, next: Time::NEVER, left: bytes, written: 0 }
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

    /// Bytes that are written now; none if it is too early, or a pause goes on.
    #[inline]
    pub fn write(&mut self, now: Time) -> u32 {
        if self.next > now {
            return 0;
        }
        let (mut bytes, next) = self.source.write(now);
        self.next = next;
        if let Some(left) = &mut self.left {
            bytes = u64::from(bytes).min(*left) as u32;
            *left -= u64::from(bytes);
            if *left == 0 {
                self.next = Time::NEVER;
            }
        }
        self.written += u64::from(bytes);
        bytes
    }

    /// Whether everything is written.
    pub fn is_finished(&self) -> bool {
        self.left == Some(0)
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}
