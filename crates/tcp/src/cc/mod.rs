//! Congestion control: how the window grows, and by how much a loss cuts it.
//!
//! An algorithm owns no packets, no timers, no flight size and no logging. It gets one event at a
//! time and changes the window; the sender does all the rest. To add one: a new file with an
//! [`Entry`](ackclock_units::param::Entry) and a type that implements [`CongestionControl`], and one line in [`registry!`] below.

mod aiad;
mod aimd;
mod fast;
mod fixed;
mod growth;
mod reno;
mod rounds;
mod vegas;

use ackclock_units::{Time, registry};

pub use rounds::Rounds;

/// The congestion window of a flow.
///
/// The unit is the sender's: packets for senders that count packets (`segment` is then 1.0), bytes
/// for senders that count bytes. Formulas are written with `segment` and hold for both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite when there is none.
    pub ssthresh: f64,
    /// One full segment (SMSS) in the window's unit.
    pub segment: f64,
}

impl Cc {
    /// Refuses an algorithm that asks for what the senders of today do not do.
    pub(crate) fn require_plain(&self) {
        assert!(!self.needs_rate(), "no sender takes delivery-rate samples yet");
        assert!(self.pacing_rate().is_none(), "no sender paces yet");
    }
}

impl Window {
    /// Whether the window is below the slow-start threshold (RFC 5681 section 3.1).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// An acknowledgment, as a congestion control sees it.
#[derive(Debug, Clone, Copy)]
pub struct AckEvent<'a> {
    /// Now.
    pub now: Time,
    /// Round-trip time of the packet that caused the ACK, if it is known beyond doubt.
    pub rtt: Option<Time>,
    /// Least round-trip time seen by this flow.
    pub base_rtt: Time,
    /// Data newly acknowledged, in the window's unit.
    pub newly_acked: f64,
    /// Data sent and not acknowledged, after this ACK.
    pub flight: f64,
    /// Data that the flow has delivered so far, this ACK included, bytes. With `flight` it tells round trips apart:
    /// see [`Rounds`].
    pub delivered: u64,
    /// Whether the sender has sent all that the application gave it: see [`AckEvent::is_app_limited`].
    pub drained: bool,
    /// Whether the recovery rules allow the window to grow on this ACK. Algorithms that do not react
    /// to losses may ignore it.
    pub may_grow: bool,
    /// What few algorithms ask for.
    pub sender: &'a dyn SenderFacts,
}

/// What a sender knows beyond an ACK; worked out when somebody asks.
pub trait SenderFacts: std::fmt::Debug {
    /// Smoothed round-trip time (RFC 6298), if the retransmission timer keeps one and has measured.
    fn srtt(&self) -> Option<Time> {
        None
    }

    /// Whether the flow is in fast recovery.
    fn in_recovery(&self) -> bool {
        false
    }

    /// Data newly acknowledged that arrived marked (CE), in the window's unit; none where the ACKs do not say how
    /// much that was. The echo of RFC 3168 says only that there was a mark: see [`Signal::Ecn`].
    fn marked(&self) -> Option<f64> {
        None
    }

    /// Delivery-rate sample, if the sender takes any: see [`CongestionControl::needs_rate`].
    fn rate(&self) -> Option<RateSample> {
        None
    }
}

/// A sender that knows nothing more.
impl SenderFacts for () {}

impl AckEvent<'_> {
    /// Whether the application limits the flow: nothing is left to send, and the window has room for a segment.
    pub fn is_app_limited(&self, window: &Window) -> bool {
        self.drained && self.flight + window.segment <= window.cwnd
    }
}

impl Default for AckEvent<'_> {
    /// An ACK of nothing at the start of a run.
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            rtt: None,
            base_rtt: Time::NEVER,
            newly_acked: 0.0,
            flight: 0.0,
            delivered: 0,
            drained: false,
            may_grow: true,
            sender: &(),
        }
    }
}

/// How fast data were delivered between the sending of a segment and its ACK
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Time,
    /// Bytes that had been delivered when the segment was sent.
    pub prior_delivered: u64,
    /// Whether the flow was limited by its application when the segment was sent.
    pub app_limited: bool,
}

/// How congestion was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Later packets were acknowledged.
    Gap,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoed a mark (RFC 3168): nothing is lost.
    Ecn,
}

/// A loss, or a mark in its place, that calls for a reaction of the window.
#[derive(Debug, Clone, Copy)]
pub struct LossEvent {
    /// Now.
    pub now: Time,
    /// How it was noticed.
    pub signal: Signal,
    /// Data sent and not acknowledged, the lost packet included.
    pub flight: f64,
    /// The receiver's window; infinite if it has no limit.
    pub limit: f64,
    /// How often the lost packet was sent; 1 where the sender keeps no log of it.
    pub transmissions: u32,
}

/// A congestion-control algorithm.
pub trait CongestionControl {
    /// An ACK came in. Changes the window if `ack.may_grow` and the algorithm say so.
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent);

    /// A loss or a mark calls for a reaction: the slow-start threshold that it asks for, or nothing if the
    /// algorithm does not react to losses. The sender applies the floor and sets the window.
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64>;

    /// The flow starts, with the initial window; before a handshake, if there is one.
    fn on_start(&mut self, _window: &mut Window) {}

    /// The handshake is over, and took so long.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _rtt: Time) {}

    /// The sender has found out that its last reaction answered no loss, and has put the window back. No sender
    /// of today finds that out.
    fn on_undo(&mut self, _window: &mut Window) {}

    /// The flow goes on after it was idle for longer than the retransmission timer's wait, and the sender has cut
    /// the window for that.
    fn on_idle(&mut self, _window: &mut Window, _now: Time) {}

    /// Whether it needs delivery-rate samples. No sender of today takes them, so one that does is refused.
    fn needs_rate(&self) -> bool {
        false
    }

    /// Whether it needs the round-trip time of each ACK, so that the sender has to keep a log of when
    /// each packet was sent.
    fn needs_send_times(&self) -> bool {
        false
    }

    /// Time between calls of [`CongestionControl::on_tick`], if the algorithm wants any.
    fn tick_period(&self) -> Option<Time> {
        None
    }

    /// The period has passed, and at least one round-trip time is known.
    fn on_tick(&mut self, _window: &mut Window) {}

    /// Bits per second at which packets leave, if the algorithm paces them. No sender of today paces, so one that
    /// does is refused.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
}

registry! {
    /// Any registered congestion control.
    pub enum Cc: CongestionControl, a "congestion control" {
        Reno: reno as reno::Reno,
        Aimd: aimd as Box<aimd::Aimd>,
        Aiad: aiad as Box<aiad::Aiad>,
        Fast: fast as Box<fast::Fast>,
        Fixed: fixed as fixed::Fixed,
        Vegas: vegas as Box<vegas::Vegas>,
    }
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent);
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64>;
    fn on_start(&mut self, window: &mut Window);
    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time);
    fn on_undo(&mut self, window: &mut Window);
    fn on_idle(&mut self, window: &mut Window, now: Time);
    fn needs_rate(&self) -> bool;
    fn needs_send_times(&self) -> bool;
    fn tick_period(&self) -> Option<Time>;
    fn on_tick(&mut self, window: &mut Window);
    fn pacing_rate(&self) -> Option<u64>;
}
