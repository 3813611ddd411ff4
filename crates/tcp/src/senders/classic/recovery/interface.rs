//! Recovery of the classic sender: what its four kinds share.
//!
//! The classic sender sees cumulative ACKs only. A duplicate ACK says that something arrived out of
//! order; the third one counts as a loss. The kinds differ in what they then do with the window and
//! with the data sent after the lost segment.

use crate::cc::{LossEvent, Signal, Window};
use crate::senders::classic::rules::SenderRules;
use crate::senders::classic::send_times::SendTimes;
use ackclock_units::Time;
use std::sync::Arc;

/// What a recovery sees of the sender, and changes.
///
/// The order of the fields is that of the sender's cache lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct State {
    /// Congestion window.
    pub window: Window,
    /// First byte not acknowledged (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT); goes back when later data count as unsent.
    pub nxt: u64,
    /// One past the highest byte ever sent.
    pub max: u64,
    /// What never changes.
    pub rules: Arc<SenderRules>,
    /// When each segment in flight was sent, if the congestion control or the recovery needs to know.
    pub log: Option<Box<SendTimes>>,
    /// Duplicate ACKs since the last ACK of new data.
    pub duplicates: u32,
    /// Nothing but the oldest segment is sent until new data are acknowledged.
    pub hold: bool,
    /// `max` at the last reaction to a loss: what is acknowledged up to it belongs to that episode.
    pub recover: Option<u64>,
}

impl State {
    /// Bytes sent and not acknowledged.
    #[inline]
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes in the window's unit.
    #[inline]
    pub fn in_units(&self, bytes: u64) -> f64 {
        bytes as f64 * self.rules.units_per_byte
    }

    /// A loss of the oldest segment, as the congestion control sees it.
    pub fn loss(&self, now: Time, signal: Signal) -> LossEvent {
        let oldest = self.log.as_ref().and_then(|log| log.oldest());
        LossEvent {
            now,
            signal,
            flight: self.in_units(if self.rules.flight_to_highest {
                self.max - self.una
            } else {
                self.flight()
            }),
            limit: self.rules.limit,
            transmissions: oldest.map_or(1, |sent| sent.transmissions),
        }
    }

    /// Sets the threshold that a loss asks for; the window is left to the caller.
    pub fn cut(&mut self, target: f64) {
        let segment = self.window.segment;
        let target =
            if self.rules.whole_ssthresh { (target / segment).floor() * segment } else { target };
        self.window.ssthresh = target.max(self.rules.floor * segment);
    }

    /// Begins an episode at the data sent so far.
    pub fn begin_episode(&mut self) {
        self.recover = Some(self.max);
    }

    /// Data after the oldest segment count as unsent.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
    }
}

/// What the sender has to do after an ACK.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The congestion control may let the window grow.
    pub may_grow: bool,
    /// The oldest segment is to be retransmitted.
    pub resend: bool,
    /// Segments beyond the window that may leave (RFC 3042).
    pub extra_segments: u64,
    /// The retransmission timer is doubled and starts anew.
    pub backs_off: bool,
    /// Most new segments that may leave on this ACK.
    pub burst: Option<u32>,
    /// An ACK of new data leaves the retransmission timer as it is.
    pub keeps_timer: bool,
    /// After an ACK of new data: the count from which duplicates of it go on.
    pub duplicates: u32,
}

/// How a loss cuts the window: asks the congestion control for the new threshold.
pub type Cut<'a> = &'a mut dyn FnMut(&State) -> Option<f64>;

/// A loss recovery of the classic sender.
pub trait LossRecovery {
    /// A duplicate ACK came; `state.duplicates` counts it already.
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict;

    /// New data were acknowledged; `state.una` is moved already, `acked` bytes on.
    fn on_new_ack(&mut self, state: &mut State, acked: u64) -> Verdict;

    /// The retransmission timer has expired; the oldest segment will be retransmitted.
    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>);

    /// The handshake is over, and took so long.
    fn on_established(&mut self, _rtt: Time) {}

    /// The log for the sender to keep, if it needs to know when each segment was sent. Sizes in bytes.
    fn send_times(&self, _mss: u64, _receive_window: u64, _handshake: bool) -> Option<SendTimes> {
        None
    }

    /// Whether what a repair sends does not count as sent while the sender goes back, and so leaves twice.
    fn repairs_twice(&self) -> bool {
        false
    }

    /// Whether the timer that runs while nothing is in flight is one as any other: sending does not start it
    /// anew, and its expiry is a timeout.
    fn times_out_idle(&self) -> bool {
        false
    }

    /// The window without what duplicate ACKs have added to it; asked for while the recovery is active.
    fn deflated(&self, state: &State) -> f64 {
        state.window.cwnd
    }

    /// Whether the flow is in fast recovery.
    fn is_active(&self) -> bool {
        false
    }
}

/// The window after a timeout (RFC 5681 section 3.1): one segment, if the congestion control reacts to
/// losses at all, which is the answer. With `go_back`, later data count as unsent.
pub fn collapse(state: &mut State, go_back: bool, cut: Cut<'_>) -> bool {
    let target = cut(state);
    if let Some(target) = target {
        state.cut(target);
        state.window.cwnd = state.window.segment;
    }
    state.begin_episode();
    state.duplicates = 0;
    if go_back {
        state.go_back();
    }
    target.is_some()
}
