//! The modern sender: its state, and what the connection asks it.
//!
//! The parts: [`ack`] does what an ACK asks for, in the order of Linux's `tcp_ack`; [`alert`] is the state machine of
//! recoveries (`tcp_fastretrans_alert`); [`timers`] what expires; [`transmit`] what leaves; [`opening`] the
//! handshake and pauses.
//!
//! DEVIATION: an unused window does not decay while ACKs arrive (`tcp_cwnd_application_limited`), which was not seen to
//! happen in Linux either. The minimum round-trip time is forgotten after 300 s as a whole, not by a sliding minimum.

mod ack;
mod alert;
mod counted;
mod info;
mod journal;
mod opening;
mod pace;
mod persist;
mod pushes;
mod reduce;
mod socket;
mod tagging;
mod timers;
mod transmit;

use super::rack::Rack;
use super::rate::Rate;
use super::scoreboard::Scoreboard;
use super::ticks;
use crate::cc::{
    Cc, CongestionControl, CongestionState, RateSample, SenderFacts, StateEvent, Window,
};
use crate::data::Written;
use crate::handshake::{Handshake, Message};
use crate::journal::Journal;
use crate::rto::Rto;
use crate::segment::Flags;
use crate::senders::Common;
use crate::stats::SenderStats;
use ackclock_units::Time;
use ackclock_units::param::Chosen;
pub use info::Info;
use reduce::Reduce;
use std::collections::VecDeque;
use std::sync::Arc;
use timers::Pending;

/// How long the minimum round-trip time is remembered (Linux, `tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Time = Time::from_secs(300);
/// Least slow-start threshold, segments (RFC 5681 equation 4).
const LEAST_SSTHRESH: f64 = 2.0;

/// What never changes.
#[derive(Debug, Clone, PartialEq)]
struct Rules {
    mss: u64,
    /// The receiver's window at the start, bytes.
    receive_window: u64,
    initial_window: f64,
    handshake: Handshake,
    uses_rack: bool,
    reduce: Reduce,
    probes: bool,
    frto: bool,
    undo: bool,
    nagle: bool,
    decays_idle: bool,
    ecn: bool,
    /// What data say of marks.
    capable: Flags,
    coarse_timers: bool,
    fin: bool,
    /// The pace follows the window, and this many segments leave together.
    paced: bool,
    pacing_burst: u32,
    /// ACKs carry blocks, and echo timestamps.
    sack: bool,
    timestamps: bool,
}

/// What may be sent after an ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// Lost segments first, then new data.
    Holes,
    /// New data, to find out whether a timeout was spurious.
    New,
    /// New data alone.
    NoHoles,
}

/// What finds out that a reduction was needless (`tcp_init_undo`).
#[derive(Debug, Clone, Copy)]
struct Undo {
    /// First byte in flight when it began; none if there is nothing to undo.
    marker: Option<u64>,
    /// Retransmissions that no duplicate was reported for; below zero before the first.
    retransmissions: i64,
    /// Window and threshold of before; no threshold if the reduction must stay.
    cwnd: f64,
    ssthresh: Option<f64>,
    /// When the first retransmission left.
    stamp: Option<Time>,
}

/// State of one modern sender.
#[derive(Debug, Clone)]
pub struct Sender {
    rules: Arc<Rules>,
    board: Scoreboard,
    /// Next new byte (SND.NXT).
    nxt: u64,
    /// End of the data that may be sent.
    end: u64,
    /// The receiver's window, bytes.
    receive_window: u64,
    window: Window,
    state: CongestionState,
    pending: Pending,
    deadline: Time,
    /// The timer starts anew when all that may leave has left.
    timer_due: bool,
    rto: Rto,
    /// A round trip of the estimator ends beyond this byte.
    rtt_end: u64,
    min_rtt: Time,
    min_rtt_at: Time,
    /// The minimum round-trip time of data ever: the packets of a handshake are small.
    data_rtt: Time,
    rack: Rack,
    /// Segments delivered so far, and when the last was.
    delivered: u64,
    delivered_at: Time,
    /// Segments sent in this burst, and whether the window stopped it.
    burst: u32,
    cwnd_limited: bool,
    /// Most segments in flight in this window, which ends beyond a byte.
    most_out: u32,
    usage_end: u64,
    last_send: Time,
    /// A recovery ends with the ACK of this byte.
    high_seq: u64,
    leave: Leave,
    undo: Undo,
    /// The present recovery was undone.
    undone: bool,
    /// Segments that were reported as duplicates.
    repeated: u64,
    /// PRR: delivered and sent since the reduction began, and what was there before.
    prr_delivered: u64,
    prr_out: u64,
    prr_base: u64,
    /// End of what was in flight when a probe was sent; whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
    /// The next poll sends a probe or the first segment again.
    forced: Option<Forced>,
    frto: bool,
    /// Expiries of the timer since something new was acknowledged.
    retransmits: u32,
    /// Zero-window probes without an answer, and how often their wait was doubled.
    window_probes: u32,
    window_backoff: u32,
    /// The next new segment says that the window was reduced (CWR).
    cwr: bool,
    /// End of the last small segment.
    small_end: u64,
    /// When the next segment may leave, with pacing.
    departure: Time,
    paced: bool,
    window_rate: Option<u64>,
    train: pace::Train,
    /// When it was asked last what leaves.
    polled: Time,
    next_tick: Time,
    rate: Option<Box<Rate>>,
    sample: Option<RateSample>,
    /// The congestion control sets the window on each ACK by itself.
    owns_window: bool,
    cc: Cc,
    stats: SenderStats,
    written: Written,
    /// Ends of records: no segment goes beyond.
    records: VecDeque<u64>,
    /// End of the data that may stand in the next segment.
    record_end: u64,
    /// Small segments wait for more (`TCP_CORK`).
    corked: bool,
    opening: bool,
    started: bool,
    message: Option<Message>,
    tries: u32,
    /// When the connection was asked for, first and last.
    asked: (Time, Time),
    /// Both ends use ECN.
    ecn: bool,
    /// What is sent in recovery counts as a fast retransmit.
    fast: bool,
    /// The end of the data has left, or is about to leave by itself.
    fin_sent: bool,
    fin_due: bool,
    ecn_reductions: u64,
    /// End of the next segment with PSH within a long write, and such writes.
    next_push: u64,
    pushes: Option<Box<pushes::Pushes>>,
    /// What is written down, if the sender is recorded.
    journal: Option<Box<Journal>>,
}

/// What is sent whatever the window says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forced {
    /// The first segment, after a timeout.
    Head,
    /// A new segment as a probe.
    ProbeNew,
    /// The last segment again, as a probe.
    ProbeLast,
    /// A probe of the receiver's window.
    ProbeWindow,
}

/// What congestion control may ask about.
#[derive(Debug)]
struct Facts<'a> {
    rto: &'a Rto,
    state: CongestionState,
    sample: &'a Option<RateSample>,
    departure: Time,
    paced: bool,
    acked: &'a ack::Acked,
}

impl SenderFacts for Facts<'_> {
    fn srtt(&self) -> Option<Time> {
        self.rto.srtt()
    }

    fn state(&self) -> CongestionState {
        self.state
    }

    fn rate(&self) -> Option<RateSample> {
        *self.sample
    }

    fn marked(&self) -> Option<f64> {
        Some(if self.acked.ece { self.acked.delivered as f64 } else { 0.0 })
    }

    fn departure(&self) -> Time {
        self.departure
    }

    fn is_paced(&self) -> bool {
        self.paced
    }
}

impl Sender {
    /// The sender that a scenario chose.
    pub fn new(chosen: &Chosen, mut common: Common) -> Self {
        common.cc.require(super::GIVES);
        let mss = u64::from(common.segment);
        let most = 1 << 30;
        let rules = Rules {
            mss,
            receive_window: chosen.optional_int("receive_window_bytes").unwrap_or(most).min(most),
            initial_window: common.initial_window.max(1.0),
            handshake: Handshake::new(chosen.inner("handshake")),
            uses_rack: chosen.word("detect") == "rack",
            reduce: Reduce::new(chosen.word("reduce")),
            // What is lost at the end is found by blocks.
            probes: chosen.flag("tail_loss_probe") && chosen.flag("sack"),
            frto: chosen.flag("frto"),
            undo: chosen.flag("undo"),
            nagle: chosen.flag("nagle"),
            decays_idle: chosen.word("idle_restart") == "decay",
            ecn: chosen.flag("ecn"),
            capable: if common.cc.is_scalable() { Flags::SCALABLE } else { Flags::CAPABLE },
            coarse_timers: chosen.word("timers") == "linux",
            fin: chosen.flag("fin"),
            paced: chosen.word("pacing") == "window",
            pacing_burst: chosen.int("pacing_burst") as u32,
            sack: chosen.flag("sack"),
            timestamps: chosen.flag("timestamps"),
        };
        if rules.coarse_timers {
            common.rto.count_in_ticks(ticks::TICK);
        }
        let written = Written::new(&common.data, mss);
        let rate = common.cc.needs_rate().then(Box::default);
        Self {
            board: Scoreboard::new(rate.is_some()),
            nxt: 0,
            end: written.bytes,
            receive_window: rules.receive_window,
            window: Window {
                cwnd: rules.initial_window,
                ssthresh: common.initial_ssthresh / mss as f64,
                segment: 1.0,
            },
            state: CongestionState::Open,
            pending: Pending::None,
            deadline: Time::NEVER,
            timer_due: false,
            rto: common.rto,
            rtt_end: 0,
            min_rtt: Time::NEVER,
            min_rtt_at: Time::ZERO,
            data_rtt: Time::NEVER,
            rack: Rack::default(),
            delivered: 0,
            delivered_at: Time::ZERO,
            burst: 0,
            cwnd_limited: false,
            most_out: 0,
            usage_end: 0,
            last_send: Time::ZERO,
            high_seq: 0,
            leave: Leave::Holes,
            undo: Undo {
                marker: None,
                retransmissions: -1,
                cwnd: 0.0,
                ssthresh: None,
                stamp: None,
            },
            undone: false,
            repeated: 0,
            prr_delivered: 0,
            prr_out: 0,
            prr_base: 0,
            probe: None,
            forced: None,
            frto: false,
            retransmits: 0,
            window_probes: 0,
            window_backoff: 0,
            cwr: false,
            small_end: 0,
            departure: Time::ZERO,
            paced: rate.is_some() || rules.paced,
            window_rate: None,
            train: pace::Train::default(),
            polled: Time::ZERO,
            next_tick: Time::NEVER,
            rate,
            sample: None,
            owns_window: common.cc.owns_window(),
            cc: common.cc,
            stats: SenderStats::new(),
            written,
            records: VecDeque::new(),
            record_end: u64::MAX,
            corked: false,
            opening: false,
            started: false,
            message: None,
            tries: 0,
            asked: (Time::ZERO, Time::ZERO),
            ecn: rules.ecn,
            fast: false,
            fin_sent: false,
            fin_due: false,
            ecn_reductions: 0,
            next_push: u64::MAX,
            pushes: None,
            journal: None,
            rules: Arc::new(rules),
        }
    }

    /// Shares the rules of another sender if they are the same.
    pub fn share_rules(&mut self, other: &Self) {
        if self.rules == other.rules {
            self.rules = Arc::clone(&other.rules);
        }
        self.rto.share_rules(&other.rto);
    }

    /// The window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The window that is reported.
    #[inline]
    pub fn reported_cwnd(&self) -> f64 {
        self.window.cwnd.max(1.0)
    }

    /// All is acknowledged: what follows does not count for the mean of the window.
    pub fn finish(&mut self, now: Time) {
        self.stats.finish(now);
    }

    /// Whether the flow is in fast recovery, or repairs what a timeout has found.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.state >= CongestionState::Recovery
    }

    /// Whether every byte of the data is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.board.una >= self.written.total
    }

    /// Whether there are data that were never sent, or will be.
    pub fn has_unsent(&self) -> bool {
        self.nxt < self.written.total
    }

    /// Bytes to send in all; none without end, or while the application may write more.
    pub fn bytes(&self) -> Option<u64> {
        (self.written.total != u64::MAX).then_some(self.written.total)
    }

    /// Whether data that have an end are followed by a FIN.
    pub fn sends_fin(&self) -> bool {
        self.rules.fin
    }

    /// Whether the data have an end that is known, which is a FIN.
    pub fn ends_with_fin(&self) -> bool {
        self.rules.fin && self.bytes().is_some()
    }

    /// Payload bytes of a full segment.
    pub fn segment_bytes(&self) -> u16 {
        self.rules.mss as u16
    }

    /// First byte that is not acknowledged (SND.UNA).
    #[inline]
    pub fn una(&self) -> u64 {
        self.board.una
    }

    /// What was counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The same, to set a mark.
    pub fn stats_mut(&mut self) -> &mut SenderStats {
        &mut self.stats
    }

    /// Number of window reductions by ECN.
    pub fn ecn_reductions(&self) -> u64 {
        self.ecn_reductions
    }

    /// The present wait of the retransmission timer, and when it expires.
    pub fn timer(&self) -> (Time, Time) {
        let deadline = if self.pending == Pending::Timeout { self.deadline } else { Time::NEVER };
        (self.rto.current(), deadline)
    }

    /// The rules of the handshake.
    pub fn handshake(&self) -> &Handshake {
        &self.rules.handshake
    }

    fn srtt(&self) -> Time {
        self.rto.srtt().unwrap_or(Time::ZERO)
    }

    /// Whether the window has room for another segment: a part of one is none.
    #[inline]
    fn has_room(&self) -> bool {
        f64::from(self.board.in_flight()) + 1.0 <= self.window.cwnd
    }

    fn set_state(&mut self, now: Time, state: CongestionState) {
        if self.state != state {
            self.note_state(state);
            self.state = state;
            let change = StateEvent {
                now,
                state,
                flight: f64::from(self.board.in_flight()),
                una: self.board.una,
                nxt: self.nxt,
                total_lost: self.board.lost,
            };
            self.cc.on_state(&mut self.window, &change);
        }
    }

    fn is_reducing(&self) -> bool {
        matches!(self.state, CongestionState::Cwr | CongestionState::Recovery)
    }

    /// The threshold that counts before a reduction (`tcp_current_ssthresh`).
    fn current_ssthresh(&self) -> f64 {
        if self.is_reducing() {
            return self.window.ssthresh;
        }
        let cwnd = self.window.cwnd;
        self.window.ssthresh.max((cwnd / 2.0).floor() + (cwnd / 4.0).floor())
    }
}
