//! Prague: a scalable congestion control for the low-latency queue of L4S.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control; RFC 9330 and 9331; L4STeam's `tcp_prague.c` where the draft leaves things
//! open. Data carry ECT(1), and the receiver echoes each mark as it comes.
//!
//! ```text
//! alpha := alpha + (marked / delivered - alpha) / 16      once a window, and not before the target has passed
//! mark  : cwnd := cwnd (1 - alpha / 2)                     once a round trip, and not before the target has passed
//! growth: cwnd := cwnd + s · unmarked / cwnd               s = 1, or (srtt / target)² where the round-trip time is shorter
//! ```
//!
//! A loss halves the window. The pace is that of the window, twice that in slow start.
//!
//! DEVIATION: there are no AccECN counters; ACKs echo marks as for DCTCP, so that a delayed ACK reports one kind only.
//! DEVIATION: the fall-back to classic ECN, off by default in L4STeam's kernel, is not modelled.
//! DEVIATION: a mark cuts at once; in Linux the window falls in the course of a round trip (PRR).

use super::dctcp::{G, INITIAL_ALPHA};
use super::{AckEvent, CongestionControl, CongestionState, LossEvent, Signal, StateEvent, Window};
use ackclock_math::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "prague",
    summary: help(
        "Scalable, for L4S: reduces the window by the fraction of marked data; its rate does not depend on short RTTs.",
    ),
    references: &[
        "draft-briscoe-iccrg-prague-congestion-control",
        "RFC 9331",
        "L4STeam's Linux, `tcp_prague.c`",
    ],
    params: &[
        G,
        INITIAL_ALPHA,
        Param::new(
            "target_rtt",
            Kind::Time,
            "25 ms",
            "Flows with shorter RTTs grow as if they had this RTT; 0 s to disable.",
        )
        .at_most("1 s"),
        Param::new(
            "independent_after",
            Kind::Count,
            "500",
            "Number of round trips after slow start before `target_rtt` applies.",
        )
        .at_most("1000000"),
    ],
    label: "Prague",
    ..Entry::BLANK
};

/// Least window.
const LEAST: f64 = 2.0;

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Prague {
    g: f64,
    target: Time,
    independent_after: u64,
    /// Payload bytes of a segment.
    segment: f64,
    alpha: f64,
    /// SND.NXT at the end of the window of data before, and what arrived since.
    end: u64,
    delivered: f64,
    marked: f64,
    updated: Time,
    /// Round trips since slow start.
    rounds: u64,
    /// What was sent before the last cut ends here, and when it was.
    cut_end: u64,
    cut_at: Option<Time>,
    srtt: Option<Time>,
    /// A loss asks for the window to be the threshold.
    falls: bool,
    pacing_rate: f64,
}

impl Prague {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            g: chosen.real("g"),
            target: Time::from_ns(chosen.int("target_rtt_ns")),
            independent_after: chosen.int("independent_after"),
            segment: 1.0,
            alpha: chosen.real("initial_alpha"),
            end: 0,
            delivered: 0.0,
            marked: 0.0,
            updated: Time::ZERO,
            rounds: 0,
            cut_end: 0,
            cut_at: None,
            srtt: None,
            falls: false,
            pacing_rate: 0.0,
        }
    }

    /// The round-trip time that flows with shorter ones act by, once that holds.
    fn floor(&self) -> Time {
        if self.rounds >= self.independent_after { self.target } else { Time::ZERO }
    }

    /// What the growth of a round trip is scaled with.
    fn scale(&self) -> f64 {
        match self.srtt {
            Some(srtt) if srtt < self.floor() => {
                let part = srtt.as_secs() / self.target.as_secs();
                part * part
            }
            _ => 1.0,
        }
    }

    fn update_alpha(&mut self, window: &Window, ack: &AckEvent) {
        let over = ack.una > self.end && ack.now >= self.updated + self.floor();
        if !over || self.delivered == 0.0 {
            return;
        }
        self.alpha += self.g * (self.marked / self.delivered - self.alpha);
        self.end = ack.nxt;
        self.updated = ack.now;
        (self.delivered, self.marked) = (0.0, 0.0);
        self.rounds += u64::from(!window.in_slow_start());
    }

    fn set_pacing(&mut self, window: &Window) {
        let rtt = self.srtt.unwrap_or(Time::from_ms(1)).max(Time::from_ns(1000)).as_secs();
        let gain = if window.in_slow_start() { 2.0 } else { 1.0 };
        self.pacing_rate = gain * window.cwnd * self.segment * 8.0 / rtt;
    }
}

impl CongestionControl for Prague {
    fn on_flow(&mut self, segment: u16, _stream: &mut dyn FnMut() -> Stream) {
        self.segment = f64::from(segment);
    }

    fn on_start(&mut self, window: &mut Window) {
        self.set_pacing(window);
    }

    fn on_established(&mut self, window: &mut Window, _now: Time, rtt: Time) {
        self.srtt = Some(rtt);
        self.set_pacing(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        self.srtt = ack.sender.srtt().or(self.srtt);
        let marked = ack.sender.marked().unwrap_or(0.0);
        self.delivered += ack.newly_acked;
        self.marked += marked;
        self.update_alpha(window, ack);
        if std::mem::take(&mut self.falls) {
            window.cwnd = window.ssthresh;
        }
        let limited = ack.sender.rate().is_some_and(|rate| rate.cwnd_limited);
        let repairs = ack.sender.state() == CongestionState::Recovery;
        let mut grown = (ack.newly_acked - marked).max(0.0);
        if limited && !repairs {
            if window.in_slow_start() {
                let step = grown.min(window.ssthresh - window.cwnd);
                window.cwnd += step;
                grown -= step;
            }
            if grown > 0.0 {
                window.cwnd += self.scale() * grown / window.cwnd;
            }
        }
        let again =
            self.cut_at.is_none_or(|at| ack.una > self.cut_end && ack.now >= at + self.floor());
        if marked > 0.0 && again && !repairs {
            window.cwnd = (window.cwnd * (1.0 - self.alpha / 2.0)).max(LEAST);
            window.ssthresh = window.cwnd;
            self.cut_end = ack.nxt;
            self.cut_at = Some(ack.now);
        }
        self.set_pacing(window);
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        match loss.signal {
            // The window is cut with the ACK, by a fraction of a segment if need be.
            Signal::Ecn => Some(window.ssthresh.min(window.cwnd)),
            Signal::Gap => {
                self.falls = true;
                Some((window.cwnd / 2.0).max(LEAST))
            }
            Signal::Timeout => Some((window.cwnd / 2.0).max(LEAST)),
        }
    }

    fn on_state(&mut self, _window: &mut Window, change: &StateEvent) {
        if change.state == CongestionState::Loss {
            self.falls = false;
        }
    }

    fn on_undo(&mut self, window: &mut Window, before: f64) {
        self.falls = false;
        window.cwnd = window.cwnd.max(before);
    }

    fn needs_rate(&self) -> bool {
        true
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn counts_segments(&self) -> bool {
        true
    }

    fn exact_ecn(&self) -> bool {
        true
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RateSample, SenderFacts};
    use super::*;
    use ackclock_units::param::Value;

    fn prague(independent_after: u64) -> Prague {
        let mut cc = Prague::new(&Chosen {
            kind: "prague".into(),
            values: vec![
                ("g".into(), Value::Real(0.0625)),
                ("initial_alpha".into(), Value::Real(1.0)),
                ("target_rtt_ns".into(), Value::Int(25_000_000)),
                ("independent_after".into(), Value::Int(independent_after)),
            ],
        });
        cc.on_flow(1448, &mut || Stream::new(1, "cc/F1"));
        cc
    }

    #[derive(Debug)]
    struct Facts {
        marked: f64,
        srtt: Time,
    }

    impl SenderFacts for Facts {
        fn marked(&self) -> Option<f64> {
            Some(self.marked)
        }
        fn srtt(&self) -> Option<Time> {
            Some(self.srtt)
        }
        fn rate(&self) -> Option<RateSample> {
            Some(RateSample { cwnd_limited: true, ..RateSample::default() })
        }
    }

    /// A round trip of whole windows, of which this part arrives marked.
    fn round(cc: &mut Prague, window: &mut Window, now: Time, una: u64, marked: f64) {
        let data = window.cwnd.floor();
        let facts = Facts { marked: marked * data, srtt: Time::from_ms(10) };
        let ack = AckEvent {
            now,
            newly_acked: data,
            una,
            nxt: una + 10,
            sender: &facts,
            ..AckEvent::default()
        };
        cc.on_ack(window, &ack);
    }

    /// Of 20 segments 5 are marked: alpha is 15/16 + 1/64, the other 15 add 0.75, and the cut is half of alpha.
    #[test]
    fn marks_cut_by_half_of_alpha_after_the_rest_has_grown() {
        let mut cc = prague(1_000_000);
        let mut window = Window { cwnd: 20.0, ssthresh: 20.0, segment: 1.0 };
        round(&mut cc, &mut window, Time::from_ms(10), 1, 0.25);
        let alpha = 1.0 + (0.25 - 1.0) / 16.0;
        assert!((cc.alpha - alpha).abs() < 1e-12);
        assert!((window.cwnd - 20.75 * (1.0 - alpha / 2.0)).abs() < 1e-12, "{}", window.cwnd);
        // Once a round trip: what was sent before the cut does not cut again.
        let before = window.cwnd;
        round(&mut cc, &mut window, Time::from_ms(11), 5, 1.0);
        assert_eq!(window.cwnd, before);
    }

    /// With 10 of 25 ms a round trip adds 0.16 of a segment, so that in time the growth is that of 25 ms.
    #[test]
    fn short_round_trips_grow_as_if_they_were_long() {
        for (after, growth) in [(0, 0.16), (1_000_000, 1.0)] {
            let mut cc = prague(after);
            let mut window = Window { cwnd: 20.0, ssthresh: 20.0, segment: 1.0 };
            round(&mut cc, &mut window, Time::from_ms(10), 1, 0.0);
            assert!((window.cwnd - 20.0 - growth).abs() < 1e-12, "{}", window.cwnd);
        }
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut cc = prague(500);
        let mut window = Window { cwnd: 20.0, ssthresh: 20.0, segment: 1.0 };
        let loss = LossEvent {
            now: Time::from_secs(1),
            signal: Signal::Gap,
            flight: 20.0,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        assert_eq!(cc.on_loss(&window, &loss), Some(10.0));
        window.ssthresh = 10.0;
        round(&mut cc, &mut window, Time::from_secs(1), 1, 0.0);
        // A round trip of 20 segments at a window of 10 adds two.
        assert!((window.cwnd - 12.0).abs() < 1e-12, "{}", window.cwnd);
    }
}
