//! The selective-repeat sender.
//!
//! Source: Bhasin, Luo, Su, Yang, "Configurable Network Simulation for TCP Reno and FAST Flows",
//! Caltech 2015, section 2.5, and their program.
//!
//! Data are whole packets numbered from 0. A packet is *in transit* from when it is first sent until it
//! is acknowledged, lost or not. New packets are sent while fewer than floor(cwnd) are in transit;
//! a retransmission goes out at once and does not change that number. Each transmission has a timer; the
//! timer of a packet runs from its last transmission. All packets of one moment leave as a burst.
//!
//! The timers are one list in order of transmission: the head is due one RTO after it was sent. With a
//! timer that follows the RTT, the present RTO applies to packets sent earlier too.

use crate::cc::{
    AckEvent, Cc, CongestionControl, CongestionState, LossEvent, SenderFacts, Signal, Window,
};
use crate::data::{Data, Written};
use crate::rto::Rto;
use crate::segment::{Cause, Flags, Segment};
use crate::senders::selective::arrivals::View;
use crate::senders::selective::recovery::Recovery;
use crate::stats::SenderStats;
use ackclock_units::Time;
use std::collections::VecDeque;

/// An acknowledgment as it reaches the sender.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Packet that caused it.
    pub seq: u32,
    /// When that copy of the packet was sent.
    pub stamp: Time,
}

/// What a sender is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Payload bytes of a full segment, at most 65535.
    pub segment: u16,
    /// What there is to send.
    pub data: Data,
    /// Initial window, segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, segments.
    pub initial_ssthresh: f64,
    /// Congestion control.
    pub cc: Cc,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Retransmission timer.
    pub rto: Rto,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Last transmission.
    sent: Time,
    /// Reports of a gap since it was last settled.
    gaps: u16,
    /// Sent more than once.
    resent: bool,
    /// Repaired because of a gap.
    repaired: bool,
    /// Acknowledged.
    settled: bool,
}

/// State of one sender.
#[derive(Debug, Clone)]
pub struct Sender {
    window: Window,
    /// Lowest packet not settled.
    base: u32,
    /// Next new packet.
    next: u32,
    /// One past the last packet that may be sent.
    end: u32,
    /// One past the last packet of all; `u32::MAX` for without end or while it is not known.
    total: u32,
    /// Packets sent and not settled.
    in_transit: u32,
    /// New packets that may leave now.
    allowance: u32,
    /// Settled packets.
    settled: u32,
    /// Gap repairs not settled.
    repairs: u32,
    /// Packets `base..next` at `seq & mask`.
    slots: Vec<Slot>,
    /// Packets below `looked` that may still be repaired because of a gap, in ascending order, and some that may not.
    open: Vec<u32>,
    /// One past the last packet that reports of gaps have spanned.
    looked: u32,
    /// Retransmissions that leave now.
    resend: VecDeque<(u32, Cause)>,
    /// Transmissions in order of time; stale ones are dropped when they come to the front.
    timers: VecDeque<(Time, u32)>,
    next_tick: Time,
    cc: Cc,
    recovery: Recovery,
    rto: Rto,
    stats: SenderStats,
    segment_bytes: u16,
    last_bytes: u16,
    started: bool,
    written: Written,
}

/// What congestion control may ask about.
#[derive(Debug)]
struct Facts<'a> {
    rto: &'a Rto,
    recovery: &'a Recovery,
}

impl SenderFacts for Facts<'_> {
    fn srtt(&self) -> Option<Time> {
        self.rto.srtt()
    }

    fn state(&self) -> CongestionState {
        if self.recovery.is_active() { CongestionState::Recovery } else { CongestionState::Open }
    }
}

impl Sender {
    /// Greatest number of packets of one flow.
    pub const MAX_PACKETS: u64 = u32::MAX as u64 - 1;

    /// A sender that has not started.
    pub fn new(setup: Setup) -> Self {
        setup.cc.require(super::GIVES);
        let written = Written::new(&setup.data, u64::from(setup.segment));
        let mut sender = Self {
            window: Window {
                cwnd: setup.initial_window,
                ssthresh: setup.initial_ssthresh,
                segment: 1.0,
            },
            base: 0,
            next: 0,
            end: 0,
            total: u32::MAX,
            in_transit: 0,
            allowance: 0,
            settled: 0,
            repairs: 0,
            slots: vec![Slot::default(); 64],
            open: Vec::new(),
            looked: 0,
            resend: VecDeque::new(),
            timers: VecDeque::new(),
            next_tick: Time::NEVER,
            cc: setup.cc,
            recovery: setup.recovery,
            rto: setup.rto,
            stats: SenderStats::new(),
            segment_bytes: setup.segment,
            last_bytes: setup.segment,
            started: false,
            written,
        };
        sender.release();
        sender
    }

    /// The application writes; `last` if it will write nothing more.
    pub fn write(&mut self, bytes: u64, last: bool) {
        self.written.add(bytes, last);
        self.release();
        self.allow();
    }

    /// Makes whole packets of what was written, and of the last bytes a smaller one.
    fn release(&mut self) {
        let segment = u64::from(self.segment_bytes);
        let Written { bytes, total, .. } = self.written;
        if total == u64::MAX {
            self.end = (bytes / segment).min(u64::from(u32::MAX)) as u32;
            return;
        }
        let packets = total.div_ceil(segment).max(1);
        assert!(packets <= Self::MAX_PACKETS, "too many packets for one flow");
        self.end = packets as u32;
        self.total = self.end;
        self.last_bytes = (total - (packets - 1) * segment) as u16;
    }

    /// The window that is reported: during recovery without what ACKs of later packets add to it.
    #[inline]
    pub fn reported_cwnd(&self) -> f64 {
        self.recovery.deflated(&self.window).max(self.window.segment)
    }

    /// All is acknowledged: what follows does not count for the mean of the window.
    pub fn finish(&mut self, now: Time) {
        self.stats.finish(now);
    }

    /// Starts the flow.
    pub fn start(&mut self, now: Time) {
        debug_assert!(!self.started);
        self.started = true;
        self.cc.on_start(&mut self.window);
        self.stats.start(now, self.window.cwnd);
        if let Some(period) = self.cc.tick_period() {
            self.next_tick = now + period;
        }
        self.allow();
    }

    /// The window, in packets.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Whether the flow is in fast recovery.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.recovery.is_active()
    }

    /// Lowest packet that is not settled.
    #[inline]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Whether every packet is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.base == self.total
    }

    /// Whether there are data that were never sent, or will be.
    pub fn has_unsent(&self) -> bool {
        self.next < self.total
    }

    /// Packets to send in all; none without end, or while the application may write more.
    pub fn packets(&self) -> Option<u32> {
        (self.total != u32::MAX).then_some(self.total)
    }

    /// Payload bytes of a packet.
    #[inline]
    pub fn payload(&self, seq: u32) -> u16 {
        if seq + 1 == self.total { self.last_bytes } else { self.segment_bytes }
    }

    /// Payload bytes of a full packet.
    pub fn segment_bytes(&self) -> u16 {
        self.segment_bytes
    }

    /// What was counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The same, to set a mark.
    pub fn stats_mut(&mut self) -> &mut SenderStats {
        &mut self.stats
    }

    #[inline]
    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.slots.len() - 1)
    }

    /// Sends new packets up to the window.
    #[inline]
    fn allow(&mut self) {
        self.allowance = (self.window.cwnd as u32).saturating_sub(self.in_transit);
    }

    /// An ACK came in; `view` is the list of packets that it carries.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Answer, view: View<'_>) {
        let rtt = now - ack.stamp;
        self.stats.on_rtt(rtt);
        self.rto.on_sample(now, rtt);
        let gapless = view.is_gapless();

        let mut newly = u32::from(self.settle(ack.seq));
        if self.recovery.settles_listed && view.count() > self.settled {
            newly += self.settle_listed(view);
        }
        while self.base < self.next && self.slots[self.slot(self.base)].settled {
            self.base += 1;
        }
        let may_grow =
            newly > 0 && self.recovery.on_ack(&mut self.window, gapless, self.base, self.repairs);
        let event = AckEvent {
            now,
            rtt: Some(rtt),
            base_rtt: self.stats.base_rtt(),
            newly_acked: f64::from(newly),
            flight: f64::from(self.in_transit),
            una: u64::from(self.base) * u64::from(self.segment_bytes),
            nxt: u64::from(self.next) * u64::from(self.segment_bytes),
            drained: self.next == self.end,
            sender: &Facts { rto: &self.rto, recovery: &self.recovery },
            may_grow,
        };
        self.cc.on_sample(&mut self.window, &event);
        self.cc.on_ack(&mut self.window, &event);
        if !gapless {
            self.on_gaps(now, view);
        }
        self.allow();
        self.stats.on_cwnd(now, self.reported_cwnd());
    }

    /// Marks a packet as acknowledged; false if it was already.
    #[inline]
    fn settle(&mut self, seq: u32) -> bool {
        if seq < self.base {
            return false;
        }
        let index = self.slot(seq);
        let slot = &mut self.slots[index];
        if slot.settled {
            return false;
        }
        slot.settled = true;
        self.repairs -= u32::from(slot.repaired);
        self.in_transit -= 1;
        self.settled += 1;
        true
    }

    /// Settles what earlier ACKs, lost on their way, would have settled.
    #[cold]
    fn settle_listed(&mut self, view: View<'_>) -> u32 {
        let mut newly = 0;
        for seq in self.base..view.end().min(self.next) {
            if view.holds(seq) {
                newly += u32::from(self.settle(seq));
            }
        }
        newly
    }

    /// Handles every packet that the list shows as missing, in ascending order.
    #[cold]
    fn on_gaps(&mut self, now: Time, view: View<'_>) {
        // Most of what the list spans has arrived or is repaired: only what was not is looked at again.
        let mut open = std::mem::take(&mut self.open);
        let end = view.end().min(self.next);
        let new = self.looked.max(self.base)..end;
        self.looked = self.looked.max(end);
        open.extend(new.filter(|&seq| self.is_open(seq)));
        let mut closed = 0;
        for &seq in open.iter().take_while(|&&seq| seq < end) {
            if !self.is_open(seq) {
                closed += 1;
            } else if !view.holds(seq) {
                self.on_gap(now, seq);
            }
        }
        if 2 * closed > open.len() {
            open.retain(|&seq| self.is_open(seq));
        }
        self.open = open;
    }

    /// Whether reports of a gap here still count: a packet is repaired once, then its timer looks after it.
    #[inline]
    fn is_open(&self, seq: u32) -> bool {
        let slot = &self.slots[self.slot(seq)];
        seq >= self.base && !slot.settled && !slot.repaired
    }

    fn on_gap(&mut self, now: Time, seq: u32) {
        let index = self.slot(seq);
        let slot = &mut self.slots[index];
        slot.gaps = slot.gaps.saturating_add(1);
        if self.recovery.resend_every_report {
            self.resend.push_back((seq, Cause::GapRetransmit));
            return;
        }
        if slot.gaps < self.recovery.threshold || slot.repaired {
            return;
        }
        slot.repaired = true;
        self.repairs += 1;
        let resent = slot.resent;
        let target = if self.recovery.cuts(seq, resent) {
            let flight = f64::from(self.in_transit);
            let signal = Signal::Gap;
            self.cc.on_loss(
                &self.window,
                &LossEvent {
                    now,
                    signal,
                    flight,
                    limit: f64::INFINITY,
                    transmissions: 1 + u32::from(resent),
                },
            )
        } else {
            None
        };
        if let Some(target) = target {
            self.recovery.on_gap(&mut self.window, target, self.next);
            self.resend.push_back((seq, Cause::FastRetransmit));
        } else {
            self.resend.push_back((seq, Cause::GapRetransmit));
        }
    }

    /// When to call [`Sender::on_timer`]; may be earlier than something is due.
    #[inline]
    pub fn next_timer(&self) -> Time {
        let retransmission =
            self.timers.front().map_or(Time::NEVER, |&(sent, _)| sent + self.rto.current());
        retransmission.min(self.next_tick)
    }

    /// The time that was asked for has come, or an earlier one.
    pub fn on_timer(&mut self, now: Time) {
        let mut expired = false;
        while let Some(&(sent, seq)) = self.timers.front() {
            if self.is_stale(sent, seq) {
                self.timers.pop_front();
            } else if sent + self.rto.current() <= now {
                self.timers.pop_front();
                self.on_timeout(now, seq);
                expired = true;
            } else {
                break;
            }
        }
        if expired {
            self.rto.on_timeout();
        }
        if self.next_tick <= now
            && let Some(period) = self.cc.tick_period()
        {
            self.next_tick += period;
            if self.stats.rtt_samples > 0 {
                self.cc.on_tick(&mut self.window);
            }
        }
        if self.is_finished() {
            self.next_tick = Time::NEVER;
        } else {
            self.allow();
        }
        self.stats.on_cwnd(now, self.reported_cwnd());
    }

    #[inline]
    fn is_stale(&self, sent: Time, seq: u32) -> bool {
        if seq < self.base {
            return true;
        }
        let slot = &self.slots[self.slot(seq)];
        slot.settled || slot.sent != sent
    }

    fn on_timeout(&mut self, now: Time, seq: u32) {
        self.stats.timeouts += 1;
        let resent = self.slots[self.slot(seq)].resent;
        if self.recovery.cuts(seq, resent) {
            let flight = f64::from(self.in_transit);
            let signal = Signal::Timeout;
            let transmissions = 1 + u32::from(resent);
            let loss = LossEvent { now, signal, flight, limit: f64::INFINITY, transmissions };
            if let Some(target) = self.cc.on_loss(&self.window, &loss) {
                self.recovery.on_timeout(&mut self.window, target, self.next);
            }
        }
        self.resend.push_back((seq, Cause::Timeout));
    }

    /// The next packet to send at this moment, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if let Some((seq, cause)) = self.resend.pop_front() {
            return Some(self.transmit_again(now, seq, cause));
        }
        if self.allowance == 0 || self.next == self.end {
            return None;
        }
        self.allowance -= 1;
        let seq = self.next;
        if (seq - self.base) as usize == self.slots.len() {
            self.grow();
        }
        let index = self.slot(seq);
        self.slots[index] = Slot { sent: now, ..Slot::default() };
        self.next += 1;
        self.in_transit += 1;
        self.arm(now, seq);
        Some(self.count(seq, Cause::New))
    }

    #[cold]
    fn transmit_again(&mut self, now: Time, seq: u32, cause: Cause) -> Segment {
        let index = self.slot(seq);
        let slot = &mut self.slots[index];
        slot.resent = true;
        // Two transmissions at the same moment need one timer only.
        if slot.sent != now {
            slot.sent = now;
            self.arm(now, seq);
        }
        self.stats.retransmissions += 1;
        if matches!(cause, Cause::FastRetransmit | Cause::GapRetransmit) {
            self.stats.fast_retransmits += 1;
        }
        self.count(seq, cause)
    }

    #[inline]
    fn count(&mut self, seq: u32, cause: Cause) -> Segment {
        let payload = self.payload(seq);
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(payload);
        Segment { seq, payload, cause, flags: Flags::NONE }
    }

    #[inline]
    fn arm(&mut self, now: Time, seq: u32) {
        if self.timers.len() == self.timers.capacity() {
            // Stale entries at the front make room before the list has to grow.
            while let Some(&(sent, seq)) = self.timers.front()
                && self.is_stale(sent, seq)
            {
                self.timers.pop_front();
            }
        }
        self.timers.push_back((now, seq));
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len();
        let mut slots = vec![Slot::default(); 2 * size];
        for seq in self.base..self.next {
            slots[seq as usize & (2 * size - 1)] = self.slots[self.slot(seq)];
        }
        self.slots = slots;
    }
}
