//! Congestion control: how the window grows, and by how much a loss cuts it.
//!
//! An algorithm owns no packets, no timers, no flight size and no logging. It gets one event at a
//! time and changes the window; the sender does all the rest. To add one: a new file with an
//! [`Entry`](ackclock_units::param::Entry) and a type that implements [`CongestionControl`], and one line in [`registry!`] below.

mod aiad;
mod aimd;
mod bbr;
mod bbr3;
mod bic;
mod copa;
mod cubic;
mod dctcp;
mod fast;
mod fixed;

mod growth;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod ledbat;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod ledbat_plus;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod lp;
mod max_filter;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod monitor;
mod prague;
pub mod python;
mod reno;
mod rounds;
mod scalable;
mod vegas;
mod veno;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod vivace;
mod westwood;
#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "not in the engine for browsers"))]
mod yeah;

use crate::journal::Rule;
use ackclock_math::Stream;
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

/// What only some families of senders give an algorithm: which of it a family gives, or an algorithm needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Delivery-rate samples, and packets that leave at the pace of the algorithm.
    pub rate: bool,
    /// The window is left to the algorithm, in recovery, too.
    pub window: bool,
    /// Windows are whole numbers of segments.
    pub whole_segments: bool,
    /// ACKs say how much of what they acknowledge was marked.
    pub exact_ecn: bool,
}

impl Extras {
    /// Nothing of it.
    pub const NONE: Self =
        Self { rate: false, window: false, whole_segments: false, exact_ecn: false };

    /// All of it.
    pub const ALL: Self = Self { rate: true, window: true, whole_segments: true, exact_ecn: true };

    /// The first that an algorithm needs and these do not have, in words.
    pub fn lack(self, needs: Self) -> Option<&'static str> {
        let all = [
            (self.rate, needs.rate, "delivery-rate samples and pacing"),
            (self.window, needs.window, "a sender that leaves the window to it in recovery, too"),
            (self.whole_segments, needs.whole_segments, "windows of whole segments"),
            (self.exact_ecn, needs.exact_ecn, "ACKs that say how much was marked"),
        ];
        all.iter().find(|(has, needs, _)| *needs && !has).map(|(.., words)| *words)
    }
}

impl Cc {
    /// What it needs that only some families of senders give.
    pub fn needs(&self) -> Extras {
        Extras {
            rate: self.needs_rate() || self.pacing_rate().is_some(),
            window: self.owns_window(),
            whole_segments: self.counts_segments(),
            exact_ecn: self.exact_ecn(),
        }
    }

    /// Hands in the controller of an algorithm that lives outside the engine.
    pub fn attach(&mut self, controller: Box<dyn python::Controller>) {
        if let Self::Foreign(foreign) = self {
            foreign.attach(controller);
        }
    }

    /// Stops where a family lacks what the algorithm needs; a document that asks for both is refused before.
    pub(crate) fn require(&self, gives: Extras) {
        if let Some(lack) = gives.lack(self.needs()) {
            panic!("this family does not give {lack}");
        }
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
    /// Minimum round-trip time seen by this flow.
    pub base_rtt: Time,
    /// Data newly acknowledged, in the window's unit.
    pub newly_acked: f64,
    /// Data sent and not acknowledged, after this ACK.
    pub flight: f64,
    /// First byte that is not acknowledged (SND.UNA), this ACK included.
    pub una: u64,
    /// Next byte to send (SND.NXT). With `una` it distinguishes round trips: see [`Rounds`].
    pub nxt: u64,
    /// Whether the sender has sent all that the application gave it: see [`AckEvent::is_app_limited`].
    pub drained: bool,
    /// Whether the recovery rules allow the window to grow on this ACK. Algorithms that do not react
    /// to losses may ignore it.
    pub may_grow: bool,
    /// What few algorithms ask for.
    pub sender: &'a dyn SenderFacts,
}

/// State of a sender with respect to congestion, as Linux names it (`tcp_ca_state`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// All is well.
    #[default]
    Open,
    /// Something arrived out of order, or was retransmitted, and nothing counts as lost.
    Disorder,
    /// The window is being reduced because of a mark, or of a loss that a probe has repaired.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// What a sender knows beyond an ACK; worked out when somebody asks.
pub trait SenderFacts {
    /// Smoothed round-trip time (RFC 6298), if the retransmission timer keeps one and has measured.
    fn srtt(&self) -> Option<Time> {
        None
    }

    /// State of the flow with respect to congestion, after this ACK.
    fn state(&self) -> CongestionState {
        CongestionState::Open
    }

    /// Whether the flow is in fast recovery.
    fn in_recovery(&self) -> bool {
        self.state() == CongestionState::Recovery
    }

    /// Data newly acknowledged that arrived marked (CE), in the window's unit; none where the ACKs do not say how
    /// much that was. The echo of RFC 3168 says only that there was a mark: see [`Signal::Ecn`].
    fn marked(&self) -> Option<f64> {
        None
    }

    /// Delivery-rate sample of this ACK, if the sender takes any: see [`CongestionControl::needs_rate`].
    fn rate(&self) -> Option<RateSample> {
        None
    }

    /// Earliest time at which the next segment may leave, if the flow is paced; it may be over.
    fn departure(&self) -> Time {
        Time::ZERO
    }

    /// Whether the flow is paced.
    fn is_paced(&self) -> bool {
        false
    }
}

/// A sender that knows nothing more.
impl SenderFacts for () {}

/// An event that is shown does not show the whole sender.
impl std::fmt::Debug for dyn SenderFacts + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SenderFacts")
    }
}

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
            una: 0,
            nxt: 0,
            drained: false,
            may_grow: true,
            sender: &(),
        }
    }
}

/// How fast data were delivered between the sending of a segment and its ACK
/// (draft-cheng-iccrg-delivery-rate-estimation; Linux, `tcp_rate.c`). Counts are segments.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateSample {
    /// Segments delivered in the interval; none without a valid sample.
    pub delivered: Option<u64>,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Time,
    /// Segments that had been delivered when the newest of them was sent.
    pub prior_delivered: u64,
    /// Whether the flow was limited by its application when that one was sent.
    pub app_limited: bool,
    /// Segments that the flow has delivered so far, this ACK included.
    pub total_delivered: u64,
    /// When the newest of them was delivered.
    pub delivered_time: Time,
    /// Segments newly delivered by this ACK: acknowledged, or reported as arrived.
    pub newly_delivered: u64,
    /// Segments newly counted as lost at this ACK.
    pub newly_lost: u64,
    /// How often the flow has counted a segment as lost so far, by timers, too.
    pub total_lost: u64,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u64,
    /// Whether the ACK is of one short segment, so that the receiver may have delayed it.
    pub ack_delayed: bool,
    /// Whether a segment gave the sample, even if its interval is too short for a rate.
    pub taken: bool,
    /// Segments in flight when that one was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments that have counted as lost since it was sent.
    pub lost: u32,
    /// Segments that have arrived marked since then.
    pub marked: u32,
    /// Segments delivered by this ACK that arrived marked.
    pub newly_marked: u32,
    /// All such segments so far.
    pub total_marked: u32,
    /// Whether the window has limited what is sent.
    pub cwnd_limited: bool,
}

impl RateSample {
    /// The rate, if there is one.
    pub fn segments_per_second(&self) -> Option<f64> {
        self.delivered.map(|delivered| delivered as f64 / self.interval.as_secs())
    }
}

/// A segment counts as lost.
#[derive(Debug, Clone, Copy)]
pub struct LostSegment {
    /// Now.
    pub now: Time,
    /// Segments that the flow has delivered so far.
    pub total_delivered: u64,
    /// Segments that have counted as lost since it was sent, itself included.
    pub lost: u32,
    /// Segments in flight when it was sent, itself included.
    pub in_flight: u32,
    /// Whether the flow was limited by its application then.
    pub app_limited: bool,
    /// Whether the sender knows of its sending; if not, the three values above say nothing.
    pub is_known: bool,
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

/// The state of the sender with respect to congestion has changed.
#[derive(Debug, Clone, Copy)]
pub struct StateEvent {
    /// Now.
    pub now: Time,
    /// The state from now on.
    pub state: CongestionState,
    /// Data in flight, in the window's unit.
    pub flight: f64,
    /// First byte that is not acknowledged (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT).
    pub nxt: u64,
    /// How often the flow has counted a segment as lost so far: see [`RateSample::total_lost`].
    pub total_lost: u64,
}

/// A congestion-control algorithm.
pub trait CongestionControl {
    /// The flow is made: payload bytes of a full segment, and random numbers of its own for who asks.
    fn on_flow(&mut self, _segment: u16, _stream: &mut dyn FnMut() -> Stream) {}

    /// An ACK of new data came in, before the sender reacts to what else it says. Also during recovery, and where
    /// the window may not grow.
    fn on_sample(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    /// An ACK came in. Changes the window if `ack.may_grow` and the algorithm say so.
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent);

    /// A loss or a mark calls for a reaction: the slow-start threshold that it asks for, or nothing if the
    /// algorithm does not react to losses. The sender applies the floor and sets the window.
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64>;

    /// A segment counts as lost, of a sender that takes rate samples: before the ACK, or the timer, has its effect.
    fn on_lost(&mut self, _window: &mut Window, _lost: &LostSegment) {}

    /// The flow starts, with the initial window; before a handshake, if there is one.
    fn on_start(&mut self, _window: &mut Window) {}

    /// The handshake is over, and took so long.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _rtt: Time) {}

    /// The sender's state has changed, because of an ACK or of a timer.
    fn on_state(&mut self, _window: &mut Window, _change: &StateEvent) {}

    /// The sender has found out that its last reaction answered no loss: `before` is the window of before. The
    /// sender restores the slow-start threshold.
    fn on_undo(&mut self, window: &mut Window, before: f64) {
        window.cwnd = window.cwnd.max(before);
    }

    /// The flow sends again after it was idle for longer than the retransmission timer's wait, and the sender has cut
    /// the window for that.
    fn on_idle(&mut self, _window: &mut Window, _now: Time) {}

    /// Data leave while nothing is in flight, `idle` after the last data; the flow was limited by its application
    /// before, or not.
    fn on_send_from_idle(
        &mut self,
        _window: &mut Window,
        _now: Time,
        _idle: Time,
        _app_limited: bool,
    ) {
    }

    /// Whether it needs delivery-rate samples; families that take none refuse it.
    fn needs_rate(&self) -> bool {
        false
    }

    /// Whether it sets the window on each ACK by itself, in recovery, too, so that the sender does not (Linux,
    /// `cong_control`).
    fn owns_window(&self) -> bool {
        false
    }

    /// Whether it counts whole segments, so that the sender has to do so, too.
    fn counts_segments(&self) -> bool {
        false
    }

    /// Whether it asks how much of what is acknowledged was marked ([`SenderFacts::marked`]), so that the receiver
    /// has to echo each mark as it comes (RFC 8257 section 3.2), and not until the sender answers.
    fn exact_ecn(&self) -> bool {
        false
    }

    /// Whether its data say that marks mean to it what they mean to a scalable flow: ECT(1) (RFC 9331 section 4.1).
    fn is_scalable(&self) -> bool {
        false
    }

    /// Whether it does otherwise with marks than with losses, so that without ECN that has no effect.
    fn heeds_marks(&self) -> bool {
        self.exact_ecn()
    }

    /// Whether the slow-start threshold with which a flow starts matters to it.
    fn uses_ssthresh(&self) -> bool {
        true
    }

    /// Whether it holds the flow back on purpose, so that rate samples taken now say nothing about the path.
    fn holds_back(&self) -> bool {
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

    /// Bits per second at which packets leave, if the algorithm paces them; families that do not pace refuse it.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// What sets the window at present, where growth below and above the slow-start threshold does not say it.
    fn phase(&self) -> Option<Rule> {
        None
    }
}

registry! {
    /// Any registered congestion control.
    pub enum Cc: CongestionControl, a "congestion control" {
        Reno: reno as reno::Reno,
        Aimd: aimd as Box<aimd::Aimd>,
        Aiad: aiad as Box<aiad::Aiad>,
        Bbr: bbr as Box<bbr::Bbr>,
        Bbr3: bbr3 as Box<bbr3::Bbr3>,
        Bic: bic as Box<bic::Bic>,
        Copa: copa as Box<copa::Copa>,
        Cubic: cubic as Box<cubic::Cubic>,
        Dctcp: dctcp as Box<dctcp::Dctcp>,
        Fast: fast as Box<fast::Fast>,
        Fixed: fixed as fixed::Fixed,
        HighSpeed: highspeed as Box<highspeed::HighSpeed>,
        Htcp: htcp as Box<htcp::Htcp>,
        Hybla: hybla as Box<hybla::Hybla>,
        Illinois: illinois as Box<illinois::Illinois>,
        Ledbat: ledbat as Box<ledbat::Ledbat>,
        #[cfg(not(target_family = "wasm"))]
        LedbatPlus: ledbat_plus as Box<ledbat_plus::LedbatPlus>,
        #[cfg(not(target_family = "wasm"))]
        Lp: lp as Box<lp::Lp>,
        Prague: prague as Box<prague::Prague>,
        Foreign: python as Box<python::Foreign>,
        Scalable: scalable as Box<scalable::Scalable>,
        Vegas: vegas as Box<vegas::Vegas>,
        Veno: veno as Box<veno::Veno>,
        #[cfg(not(target_family = "wasm"))]
        Vivace: vivace as Box<vivace::Vivace>,
        Westwood: westwood as Box<westwood::Westwood>,
        #[cfg(not(target_family = "wasm"))]
        Yeah: yeah as Box<yeah::Yeah>,
    }
    fn on_flow(&mut self, segment: u16, stream: &mut dyn FnMut() -> Stream);
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent);
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent);
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64>;
    fn on_lost(&mut self, window: &mut Window, lost: &LostSegment);
    fn on_start(&mut self, window: &mut Window);
    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time);
    fn on_state(&mut self, window: &mut Window, change: &StateEvent);
    fn on_undo(&mut self, window: &mut Window, before: f64);
    fn on_idle(&mut self, window: &mut Window, now: Time);
    fn on_send_from_idle(&mut self, window: &mut Window, now: Time, idle: Time, app_limited: bool);
    fn needs_rate(&self) -> bool;
    fn owns_window(&self) -> bool;
    fn counts_segments(&self) -> bool;
    fn exact_ecn(&self) -> bool;
    fn is_scalable(&self) -> bool;
    fn heeds_marks(&self) -> bool;
    fn uses_ssthresh(&self) -> bool;
    fn holds_back(&self) -> bool;
    fn needs_send_times(&self) -> bool;
    fn tick_period(&self) -> Option<Time>;
    fn on_tick(&mut self, window: &mut Window);
    fn pacing_rate(&self) -> Option<u64>;
    fn phase(&self) -> Option<Rule>;
}
