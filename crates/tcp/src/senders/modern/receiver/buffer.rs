//! A finite buffer, from which the application reads at a given rate.
//!
//! Source: RFC 9293 section 3.8.6 (the window is what is free), 3.8.6.2.2 (it opens by a segment or half of the buffer
//! at least, and its right edge never goes back); Linux, `__tcp_select_window` and `tcp_cleanup_rbuf` (an ACK by itself
//! when reading has doubled a window that is at most half of the buffer).
//!
//! DEVIATION: a segment that does not fit as a whole is thrown away as a whole. What has arrived out of order takes no
//! room of its own, as the window covers it already.

use ackclock_units::Time;

/// The buffer of one receiver.
#[derive(Debug, Clone)]
pub struct Buffer {
    /// Bytes that it holds.
    size: u64,
    /// How fast the application reads, bit/s.
    rate: u64,
    /// Least step by which the window opens.
    step: u64,
    /// First byte that may not be sent, as last announced to the other end.
    edge: u64,
    /// Data that were unread when the application began to read without a pause, and what came since.
    unread: u64,
    since: Time,
    now: Time,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(size: u64, rate: u64, segment: u64) -> Self {
        let step = segment.min(size / 2).max(1);
        Self { size, rate, step, edge: size, unread: 0, since: Time::ZERO, now: Time::ZERO }
    }

    fn unread(&self) -> u64 {
        let time = u128::from(self.now.since(self.since).as_ns());
        let read = time * u128::from(self.rate) / 8_000_000_000;
        self.unread - read.min(u128::from(self.unread)) as u64
    }

    /// Time goes on.
    pub fn advance(&mut self, now: Time) {
        self.now = now;
    }

    /// Whether there is room for data up to this byte.
    pub fn has_room(&self, end: u64) -> bool {
        end <= self.edge
    }

    /// So many bytes more have arrived in order.
    pub fn add(&mut self, bytes: u64) {
        if self.unread() == 0 {
            self.unread = 0;
            self.since = self.now;
        }
        self.unread += bytes;
    }

    /// The window that an ACK of everything before `next` offers.
    pub fn offer(&mut self, next: u64) -> u32 {
        let edge = next + (self.size - self.unread().min(self.size));
        if edge >= self.edge + self.step {
            self.edge = edge;
        }
        self.edge.saturating_sub(next) as u32
    }

    /// When reading has opened the window so far that this is announced to the other end; never while it is wide enough.
    pub fn update(&self, next: u64) -> Time {
        let window = self.edge.saturating_sub(next);
        if 2 * window > self.size {
            return Time::NEVER;
        }
        let free = (2 * window).max(window + self.step).min(self.size);
        let bytes = self.unread.saturating_sub(self.size - free);
        let time = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(self.rate));
        self.since + Time::from_ns(time.min(1 << 62) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 kB, of which 8 kbit/s are read: a byte a millisecond.
    fn full() -> Buffer {
        let mut buffer = Buffer::new(10_000, 8000, 1000);
        buffer.add(10_000);
        buffer
    }

    #[test]
    fn a_full_buffer_offers_nothing_until_a_segment_is_read() {
        let mut buffer = full();
        assert_eq!(buffer.offer(10_000), 0);
        assert_eq!(buffer.update(10_000), Time::from_ms(1000));
        buffer.advance(Time::from_ms(999));
        assert_eq!(buffer.offer(10_000), 0);
        buffer.advance(Time::from_ms(1000));
        assert_eq!(buffer.offer(10_000), 1000);
        // The next news are worth it when the window has doubled.
        assert_eq!(buffer.update(10_000), Time::from_ms(2000));
    }

    #[test]
    fn the_right_edge_never_goes_back() {
        let mut buffer = Buffer::new(10_000, 8000, 1000);
        let mut edge = 0;
        for (ms, bytes) in [(0, 1000), (1, 3000), (700, 500), (1500, 4000), (9000, 10)] {
            buffer.advance(Time::from_ms(ms));
            buffer.add(bytes);
            let next = 10;
            let now = next + u64::from(buffer.offer(next));
            assert!(now >= edge, "{ms}");
            edge = now;
        }
    }

    #[test]
    fn a_wide_window_is_no_news() {
        let mut buffer = Buffer::new(10_000, 8000, 1000);
        buffer.add(2000);
        assert_eq!(buffer.offer(2000), 8000);
        assert_eq!(buffer.update(2000), Time::NEVER);
    }
}
