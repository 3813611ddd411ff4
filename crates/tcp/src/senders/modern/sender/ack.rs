//! What an ACK brings about, in the order of Linux's `tcp_ack`.

use super::{Facts, LEAST_SSTHRESH, Leave, MIN_RTT_WINDOW, Sender};
use crate::cc::{
    AckEvent, Cc, CongestionControl, CongestionState, LossEvent, RateSample, Signal, Window,
};
use crate::sack::Note;
use crate::senders::modern::scoreboard::Sent;
use crate::senders::modern::stamps::{is_before, millis};
use ackclock_units::Time;

/// What is known of the present ACK.
#[derive(Debug)]
pub(super) struct Acked {
    pub now: Time,
    /// First byte in flight before it.
    pub una_before: u64,
    /// Sending time that it echoes.
    pub echo: Time,
    /// It echoes a mark.
    pub ece: bool,
    /// It acknowledges something new.
    pub advanced: bool,
    /// It says nothing at all.
    pub plain: bool,
    /// It acknowledges whole segments.
    pub popped: u32,
    /// One of them was retransmitted.
    pub again: bool,
    /// Something has newly arrived out of order.
    pub sacked: bool,
    /// It reports a duplicate, that of a probe.
    pub repeated: bool,
    pub repeated_probe: bool,
    /// Something sent once, before the recovery or the timeout, has arrived.
    pub original: bool,
    /// The first segment in flight is one that the receiver had reported.
    pub reneged: bool,
    /// A retransmission counts as lost.
    pub lost_again: bool,
    /// Segments that it delivers.
    pub delivered: u64,
    /// When the first and the last of those were sent that are acknowledged, or reported, and were sent once;
    /// never if there are none.
    pub first: Time,
    pub last: Time,
    pub first_sacked: Time,
    pub last_sacked: Time,
    /// When the newest of all that it delivers was sent.
    pub newest: Time,
    /// First byte of what has arrived after later data.
    pub reordered: u64,
    /// What it was before: highest byte reported, segments in flight (where rates are measured) and lost.
    pub highest_before: u64,
    pub in_flight_before: u32,
    pub lost_before: u64,
    /// The timer starts anew.
    pub sets_timer: bool,
}

impl Sender {
    /// An ACK of everything below `ack` came in; `echo` is the sending time that it echoes. Answers the round-trip
    /// time that was measured, if any.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        ack: u64,
        note: Option<&Note>,
        echo: Time,
        ece: bool,
    ) -> Option<Time> {
        let una = self.board.una;
        if ack > self.nxt || self.opening {
            return None;
        }
        let mut acked = Acked {
            now,
            una_before: una,
            echo: if self.rules.timestamps { echo } else { Time::NEVER },
            ece,
            advanced: ack > una,
            plain: ack == una,
            popped: 0,
            again: false,
            sacked: false,
            repeated: false,
            repeated_probe: false,
            original: false,
            reneged: false,
            lost_again: false,
            delivered: 0,
            first: Time::NEVER,
            last: Time::NEVER,
            first_sacked: Time::NEVER,
            last_sacked: Time::NEVER,
            newest: Time::ZERO,
            reordered: u64::MAX,
            highest_before: self.board.highest_sack(),
            in_flight_before: self.rate.as_ref().map_or(0, |_| self.board.in_flight()),
            lost_before: self.board.lost,
            sets_timer: false,
        };
        self.leave = Leave::Holes;
        let acked = &mut acked;
        if let Some(note) = note {
            if let Some(window) = note.window {
                acked.plain &= !self.on_window(now, ack, u64::from(window));
            }
            if self.rules.sack && !note.blocks().is_empty() {
                self.tag(acked, ack.max(una), note);
            }
        }
        if ack < una {
            self.on_old(acked);
            return None;
        }
        if self.board.packets_out() == 0 {
            self.on_nothing_out(acked, ack);
            return None;
        }
        if acked.advanced {
            self.retransmits = 0;
            self.clean(acked, ack);
            self.uncount(acked);
        }
        let (rtt, latest) = self.measure(acked);
        self.delivered += acked.delivered;
        if acked.popped > 0 {
            acked.sets_timer = true;
            if acked.reordered < acked.highest_before {
                let highest = self.board.highest_sack();
                self.rack.on_reordering(acked.reordered, highest, self.rules.mss);
            }
        } else if acked.first_sacked != Time::NEVER {
            // Nothing is acknowledged, but something has arrived that was sent before the first segment in flight was
            // sent last: the timer starts anew, too.
            let (first, _) = self.board.span();
            acked.sets_timer = acked.first_sacked < self.board.get(first).time;
        }
        // A duplicate that is reported alone waits for the next ACK that delivers something of what is in flight.
        if acked.newest > Time::ZERO {
            self.rack.adapt(now, acked.newest);
        }
        let simple = self.state == CongestionState::Open && !self.is_dubious(acked);
        if !simple || self.probe.is_some() {
            if latest.is_some() {
                self.notify(acked, latest, |cc, window, event| cc.on_sample(window, event));
            }
            if self.probe.is_some() {
                self.on_probe_ack(acked, ack);
            }
            if self.state != CongestionState::Open || self.is_dubious(acked) {
                self.alert(acked);
            }
            self.control(acked, latest, false);
        } else {
            self.control(acked, latest, latest.is_some());
        }
        if acked.sets_timer {
            self.restart_timer(now);
        }
        if acked.delivered > 0 {
            self.delivered_at = now;
        }
        self.stats.on_cwnd(now, self.reported_cwnd());
        rtt
    }

    /// Whether the ACK is more than one of new data in order (`tcp_ack_is_dubious`).
    #[inline]
    fn is_dubious(&self, acked: &Acked) -> bool {
        acked.popped == 0 || acked.sacked || acked.ece || acked.repeated
    }

    /// An ACK that is older than another one: its blocks may be news.
    #[cold]
    fn on_old(&mut self, acked: &mut Acked) {
        if !acked.sacked && !acked.repeated {
            return;
        }
        self.alert(acked);
        self.delivered += acked.delivered;
        self.stats.on_cwnd(acked.now, self.reported_cwnd());
    }

    /// Nothing was in flight: a duplicate that is reported, or the end of a probe.
    #[cold]
    fn on_nothing_out(&mut self, acked: &mut Acked, ack: u64) {
        if acked.repeated {
            self.alert(acked);
        }
        self.delivered += acked.delivered;
        if self.probe.is_some() {
            self.on_probe_ack(acked, ack);
        }
        self.on_probed(acked.now);
        self.stats.on_cwnd(acked.now, self.reported_cwnd());
    }

    /// The segments that are acknowledged leave (`tcp_clean_rtx_queue`).
    #[inline]
    fn clean(&mut self, acked: &mut Acked, ack: u64) {
        let (mut segment, end) = self.board.span();
        let mut at = self.board.start_of(segment);
        while segment < end {
            let sent = *self.board.get(segment);
            let start = at;
            at += sent.length();
            if at > ack {
                break;
            }
            if sent.was_retransmitted() || sent.is_sacked() {
                self.clean_marked(acked, segment, sent, at);
            } else {
                acked.first = acked.first.min(sent.time);
                acked.last = sent.time;
                acked.reordered = acked.reordered.min(start);
                acked.original |= at <= self.high_seq;
                self.deliver(acked, segment, sent, at);
            }
            self.board.pop();
            acked.popped += 1;
            segment += 1;
        }
        self.board.advance(ack);
        acked.reneged =
            self.board.sacked_out > 0 && segment < end && self.board.get(segment).is_sacked();
    }

    /// A segment that leaves has been retransmitted, or was reported before.
    #[cold]
    #[inline(never)]
    fn clean_marked(&mut self, acked: &mut Acked, segment: u64, sent: Sent, end: u64) {
        acked.again |= sent.was_retransmitted();
        if !sent.is_sacked() {
            self.deliver(acked, segment, sent, end);
        }
    }

    /// A segment that leaves has arrived.
    #[inline(always)]
    fn deliver(&mut self, acked: &mut Acked, segment: u64, sent: Sent, end: u64) {
        acked.delivered += 1;
        let again = sent.was_retransmitted();
        // The timestamp may show that it is the first transmission that has arrived.
        if self.rules.sack && !(again && is_before(acked.echo, sent.time)) {
            self.rack.on_delivered(acked.now, sent.time, end, again, self.min_rtt);
        }
        acked.newest = acked.newest.max(sent.time);
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(segment, sent.time, end);
        }
    }

    /// The round-trip times that the ACK measures: of the first segment, which the timer learns of, and of the last
    /// (`tcp_ack_update_rtt`).
    #[inline]
    fn measure(&mut self, acked: &Acked) -> (Option<Time>, Option<Time>) {
        let now = acked.now;
        let known = |one: Time, other: Time| {
            let sent = if one == Time::NEVER { other } else { one };
            (sent != Time::NEVER).then(|| now - sent)
        };
        let (first, last) =
            if acked.again { (Time::NEVER, Time::NEVER) } else { (acked.first, acked.last) };
        let mut rtt = known(first, acked.first_sacked);
        let mut latest = known(acked.last_sacked, last);
        if rtt.is_none() && acked.popped > 0 && self.rules.timestamps {
            // Only retransmissions: their timestamps distinguish them, in milliseconds.
            let ticks = millis(now) - millis(acked.echo);
            rtt = Some(Time::from_ms(ticks.max(1)));
            latest = rtt;
        }
        let Some(sample) = rtt else { return (None, latest) };
        let new_least = latest.unwrap_or(sample);
        let expired = now - self.min_rtt_at > MIN_RTT_WINDOW;
        if new_least <= self.min_rtt || expired {
            self.min_rtt = new_least;
            self.min_rtt_at = now;
        }
        self.data_rtt = self.data_rtt.min(new_least);
        self.rto.on_sample(now, sample);
        if self.board.una > self.rtt_end {
            self.rto.on_round();
            self.rtt_end = self.nxt;
        }
        self.stats.on_rtt(sample);
        (rtt, latest)
    }

    /// Whether the ACK is of one short segment with nothing else delivered meanwhile, so that the receiver may have
    /// delayed it.
    fn may_be_delayed(&self, acked: &Acked) -> bool {
        acked.popped == 1
            && !acked.sacked
            && self.board.una - acked.una_before < self.rules.mss
            && acked.first != Time::NEVER
            && self.delivered_at <= acked.first
    }

    /// Calls the congestion control with what it may know of the ACK.
    #[inline]
    fn notify(
        &mut self,
        acked: &Acked,
        rtt: Option<Time>,
        call: impl FnOnce(&mut Cc, &mut Window, &mut AckEvent),
    ) {
        let facts = Facts {
            rto: &self.rto,
            state: self.state,
            sample: &self.sample,
            departure: self.departure,
            paced: self.paced,
            acked,
        };
        let mut event = AckEvent {
            now: acked.now,
            rtt,
            base_rtt: self.data_rtt,
            newly_acked: acked.delivered as i64 as f64,
            flight: f64::from(self.board.in_flight()),
            una: self.board.una,
            nxt: self.nxt,
            drained: self.nxt == self.end,
            may_grow: false,
            sender: &facts,
        };
        call(&mut self.cc, &mut self.window, &mut event);
    }

    /// The window follows the ACK (`tcp_cong_control`); with `samples` the congestion control has not yet seen it.
    #[inline]
    fn control(&mut self, acked: &Acked, rtt: Option<Time>, samples: bool) {
        let newly_lost = self.board.lost - acked.lost_before;
        if newly_lost > 0 {
            self.report_losses(acked.now);
        }
        if let Some(rate) = &mut self.rate {
            let newly_marked = if acked.ece { acked.delivered as u32 } else { 0 };
            let counts = RateSample {
                total_delivered: self.delivered,
                total_lost: self.board.lost,
                newly_delivered: acked.delivered,
                newly_lost,
                prior_in_flight: u64::from(acked.in_flight_before),
                newly_marked,
                total_marked: rate.on_marked(newly_marked),
                cwnd_limited: self.cwnd_limited,
                ..RateSample::default()
            };
            let mut sample = rate.sample(acked.now, self.min_rtt, counts);
            sample.ack_delayed = self.may_be_delayed(acked);
            if self.cc.needs_rate() {
                self.sample = Some(sample);
            }
            self.note_rate(&sample);
        }
        if self.owns_window {
            self.notify(acked, rtt, |cc, window, event| {
                if samples {
                    cc.on_sample(window, event);
                }
                event.may_grow = true;
                cc.on_ack(window, event);
            });
            if self.cc.holds_back()
                && let Some(rate) = &mut self.rate
            {
                rate.limit(self.delivered, self.board.in_flight());
            }
            return;
        }
        let reducing = self.is_reducing();
        let forward = acked.popped > 0 || (acked.sacked && self.rack.is_reordered());
        if forward || reducing {
            let (limited, most_out) = (self.cwnd_limited, self.most_out);
            self.notify(acked, rtt, |cc, window, event| {
                if samples {
                    cc.on_sample(window, event);
                }
                event.may_grow = !reducing && is_cwnd_limited(window, limited, most_out);
                cc.on_ack(window, event);
            });
        } else if samples {
            self.notify(acked, rtt, |cc, window, event| cc.on_sample(window, event));
        }
        if reducing {
            self.reduce(acked, newly_lost);
        }
        if self.rules.paced {
            self.follow_window();
        }
    }

    /// The congestion control hears of each segment that counts as lost since it last heard.
    #[cold]
    pub(super) fn report_losses(&mut self, now: Time) {
        let (Some(rate), Some(mut losses)) = (&self.rate, self.board.losses.take()) else { return };
        let mut lost = self.board.lost - losses.len() as u64;
        for segment in losses.drain(..) {
            lost += 1;
            let event = rate.lost(now, segment, lost, self.delivered);
            self.cc.on_lost(&mut self.window, &event);
        }
        self.board.losses = Some(losses);
    }

    /// The threshold that the congestion control asks for; one that does not react to losses keeps its window.
    pub(super) fn ask_ssthresh(&mut self, now: Time, signal: Signal) {
        let loss = LossEvent {
            now,
            signal,
            // All that is not acknowledged (RFC 5681 section 2), also what has arrived out of order.
            flight: f64::from(self.board.packets_out()),
            limit: self.receive_window as f64 / self.rules.mss as f64,
            transmissions: 1,
        };
        let asked = self.cc.on_loss(&self.window, &loss).unwrap_or(self.window.cwnd);
        // What is left over of a segment could never be sent.
        self.window.ssthresh = asked.floor().max(LEAST_SSTHRESH);
    }
}

/// Whether the window limits what is sent (`tcp_is_cwnd_limited`).
#[inline]
fn is_cwnd_limited(window: &Window, limited: bool, most_out: u32) -> bool {
    limited || (window.in_slow_start() && window.cwnd < 2.0 * f64::from(most_out))
}
