//! When the receiver sends its ACKs.
//!
//! Source: RFC 5681 section 4.2 (after two full segments, or after a delay); for `linux` also `tcp_event_data_recv`,
//! `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_measure_rcv_mss` and `tcp_cleanup_rbuf` of Linux.

use super::{Arrival, Policy};
use crate::segment::Flags;
use ackclock_units::Time;

/// Least wait of a delayed ACK (Linux: `TCP_DELACK_MIN` and `TCP_ATO_MIN`).
const LEAST: Time = Time::from_ms(40);
/// Segments that are acknowledged at once after a pause (Linux: `TCP_MAX_QUICKACKS`).
const AFTER_PAUSE: u32 = 16;
/// ACKs of the same number that are not compressed (Linux: `TCP_FASTRETRANS_THRESH`).
const NOT_COMPRESSED: u32 = 3;

/// Rules and state of the receiver's ACKs.
#[derive(Debug, Clone)]
pub struct Pace {
    policy: Policy,
    /// Payload of a full segment.
    full: u32,
    /// Length of the last segment that was not full.
    small: u16,
    /// Segments that are still acknowledged at once.
    quick: u32,
    /// The next ACK is due at once.
    pub now: bool,
    /// Something waits to be acknowledged whose write is over.
    pushed: bool,
    /// Present wait of an ACK (Linux: `ato`).
    wait: Time,
    /// When data arrived last.
    last: Time,
    /// Round-trip time of the handshake.
    pub rtt: Time,
    /// With compression: number that is being repeated, how often it was, and how many are held back.
    repeats: (u64, u32),
    held: u32,
}

impl Pace {
    pub(super) fn new(policy: Policy, segment: u16) -> Self {
        Self {
            policy,
            full: u32::from(segment),
            small: 0,
            quick: policy.quick,
            now: false,
            pushed: false,
            wait: policy.delay,
            last: Time::NEVER,
            rtt: Time::ZERO,
            repeats: (u64::MAX, 0),
            held: 0,
        }
    }

    /// Whether each segment is acknowledged at once, however short.
    pub(super) fn never_waits(&self) -> bool {
        self.policy.count == 0 && !self.policy.adapts && self.policy.compresses.is_none()
    }

    /// The next segments are acknowledged at once, this many at least.
    pub fn hurry(&mut self, segments: u32) {
        if self.policy.adapts {
            self.quick = self.quick.max(segments);
        }
    }

    /// A segment arrives that brings something new; whether its ACK is due at once.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Time, arrival: &Arrival) -> bool {
        if self.policy.adapts {
            self.adapt(now);
            self.on_push(arrival);
        }
        self.quick > 0 || self.now
    }

    /// A FIN arrives on an end that stays; whether its ACK is due at once. With a FIN the exchange counts as
    /// interactive (Linux: `inet_csk_enter_pingpong_mode`), so it waits as long as data do; before any data that is
    /// not at all.
    pub(super) fn on_last(&mut self) -> bool {
        self.quick = 0;
        self.pushed = false;
        !self.policy.adapts || self.now || self.last == Time::NEVER
    }

    fn adapt(&mut self, now: Time) {
        let last = std::mem::replace(&mut self.last, now);
        if last == Time::NEVER {
            return;
        }
        let pause = now - last;
        let half = Time::from_ns(self.wait.as_ns() / 2);
        let longest = self.timeout();
        if pause <= Time::from_ms(20) {
            self.wait = half + Time::from_ms(20);
        } else if pause < self.wait {
            self.wait = (half + pause).min(longest);
        } else if pause > longest {
            self.quick = self.quick.max(AFTER_PAUSE);
        }
    }

    /// The retransmission timeout of this end, which has measured the handshake alone.
    fn timeout(&self) -> Time {
        self.rtt + self.rtt.times(2).max(Time::from_ms(200))
    }

    fn on_push(&mut self, arrival: &Arrival) {
        if u32::from(arrival.payload) >= self.full {
            self.full = u32::from(arrival.payload);
            self.pushed |= arrival.flags.has(Flags::PUSH);
            return;
        }
        // Two in a row of the same length that is not tiny are segments of a smaller maximum.
        if arrival.payload >= 524 {
            let before = std::mem::replace(&mut self.small, arrival.payload);
            if before == arrival.payload {
                self.full = u32::from(arrival.payload);
                return;
            }
        }
        self.pushed = true;
    }

    /// Whether the segment that has arrived out of order, or has filled a part of a gap below `next`, is
    /// acknowledged at once.
    pub(super) fn is_at_once(&mut self, next: u64) -> bool {
        let Some((most, _)) = self.policy.compresses else { return true };
        if self.quick > 0 || self.now || self.held >= most {
            return true;
        }
        if self.repeats.0 != next {
            self.repeats = (next, 0);
        }
        if self.repeats.1 < NOT_COMPRESSED {
            self.repeats.1 += 1;
            return true;
        }
        self.held += 1;
        false
    }

    /// Whether the ACK of something out of order waits.
    pub(super) fn holds_back(&self) -> bool {
        self.held > 0
    }

    /// Nothing waits: an ACK has just left.
    pub(super) fn release(&mut self) {
        self.held = 0;
    }

    /// Whether an ACK of so many bytes is due.
    #[inline]
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        if self.policy.adapts {
            return bytes > u64::from(self.full) || self.pushed;
        }
        bytes >= u64::from(self.policy.count) * u64::from(self.full)
    }

    /// When an ACK that is not due now must be sent.
    pub(super) fn deadline(&self, now: Time) -> Time {
        if self.held > 0
            && let Some((_, longest)) = self.policy.compresses
        {
            return now + longest.min(Time::from_ns(self.rtt.as_ns() / 20));
        }
        if !self.policy.adapts {
            return now + self.policy.delay;
        }
        now + self.wait.min(self.rtt.max(LEAST)).max(LEAST)
    }

    /// The timer has sent an ACK.
    pub(super) fn on_expiry(&mut self) {
        if self.policy.adapts && self.held == 0 {
            self.wait = self.wait.times(2).min(self.timeout());
        }
    }

    /// An ACK is sent, of something new or not.
    #[inline]
    pub(super) fn on_ack(&mut self, of_data: bool) {
        if self.quick > 0 && of_data {
            self.quick -= 1;
            if self.quick == 0 && self.policy.adapts {
                self.wait = LEAST;
            }
        }
        self.now = false;
        self.pushed = false;
        self.held = 0;
    }
}
