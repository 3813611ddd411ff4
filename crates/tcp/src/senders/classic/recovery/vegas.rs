//! Vegas: segments are found to be overdue by the clock, before three duplicate ACKs have come.
//!
//! Source: Brakmo and Peterson, "TCP Vegas", IEEE JSAC 13(8), 1995, section III-A. The sender knows when it
//! sent each segment and measures the round trip of each.
//!
//! - At each duplicate ACK: the oldest segment is retransmitted if it is overdue, or with the third one.
//! - At the first and second ACK of new data after that: again, if the segment that is the oldest now is
//!   overdue. So several losses of one window are repaired without waiting for duplicates of each.
//! - The window is cut only if the segment was sent after the last cut: a loss at the old rate says nothing
//!   about the new one. By how much is a matter of the congestion control.
//!
//! The window is inflated by duplicates as in Reno (RFC 5681 section 3.2) and deflated by the first ACK of new
//! data. After a timeout no duplicates count until more is acknowledged than had been sent before it.
//!
//! The rules of ns-2.35 are options: `overdue: two-deviations`, `samples: after-repairs`, `log: ring`,
//! `deflation: many`, `restart_window: 2`, `grow_on_exit: true`, `rto_backoff: true`, `repaired: unsent`,
//! `idle_timeout: counts`.

use super::interface::{Cut, LossRecovery, State, Verdict, collapse};
use super::options::{AFTER_TIMEOUT, GROW_ON_EXIT, REPAIRED, THRESHOLD};
use crate::senders::classic::send_times::SendTimes;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "vegas",
    summary: help(
        "Retransmits a segment at the first duplicate ACK if a fine-grained clock shows that it is overdue.",
    ),
    references: &["Brakmo and Peterson 1995, section III-A", "ns-2.35 for the options"],
    params: &[
        AFTER_TIMEOUT,
        THRESHOLD,
        Param::new(
            "overdue",
            Kind::Choice(&[
                Choice::new(
                    "four-deviations",
                    "after srtt + 4 rttvar of a fine clock, doubled by each repair until the next sample",
                ),
                Choice::new(
                    "two-deviations",
                    "after 17/16 (srtt + 2 rttvar); 9/8 of it after a first repair, twice it after a \
                     repeated one, until the next sample (ns-2)",
                ),
            ]),
            "four-deviations",
            "When a segment is overdue.",
        ),
        Param::new(
            "samples",
            Kind::Choice(&[
                Choice::new("clean", "of an ACK that acknowledges nothing that was sent twice"),
                Choice::new(
                    "after-repairs",
                    "of the newest segment that an ACK acknowledges, though it waited at the receiver \
                     for a repair (ns-2)",
                ),
            ]),
            "clean",
            "Which round trips are measured, for the clock and for the congestion control.",
        ),
        Param::new(
            "log",
            Kind::Choice(&[
                Choice::new("exact", "of each segment in flight"),
                Choice::defect(
                    "ring",
                    "in a ring of the receiver's window, where the records of an ACK of several segments \
                     that passes the end stay, so that later segments count as sent before, and those \
                     that were never sent as sent a second before the start (ns-2)",
                ),
            ]),
            "exact",
            "The log of when segments were sent, and how often.",
        ),
        Param::new(
            "deflation",
            Kind::Choice(&[
                Choice::new("always", "the inflation ends with the first ACK of new data"),
                Choice::defect(
                    "many",
                    "only if more than `threshold` duplicates came, and then to the window of the last \
                     cut, which is 0 after a timeout (ns-2)",
                ),
            ]),
            "always",
            "When the inflation of the window by duplicates ends.",
        ),
        Param::new("restart_window", Kind::Count, "1", "Window after a timeout, segments.")
            .at_least("1")
            .at_most("1000"),
        GROW_ON_EXIT,
        Param::new(
            "rto_backoff",
            Kind::Flag,
            "false",
            "Whether a repair at a duplicate ACK also doubles the retransmission timer (ns-2).",
        ),
        REPAIRED,
        Param::new(
            "idle_timeout",
            Kind::Choice(&[
                Choice::new("restarts", "the window falls to one segment"),
                Choice::defect(
                    "counts",
                    "it counts as a timeout, and data sent meanwhile do not restart the timer (ns-2)",
                ),
            ]),
            "restarts",
            "What the timer does when it expires with nothing in flight (`idle_restart: timer`).",
        ),
    ],
    label: "Vegas",
    ..Entry::BLANK
};

/// How long a segment may take, by the clock.
#[derive(Debug, Clone)]
struct Fine {
    two_deviations: bool,
    /// srtt and rttvar, nanoseconds.
    estimate: Option<(f64, f64)>,
    wait: f64,
}

impl Fine {
    fn new(two_deviations: bool) -> Self {
        Self { two_deviations, estimate: None, wait: f64::INFINITY }
    }

    /// RFC 6298 section 2 without rounding and without a least wait.
    fn add(&mut self, rtt: Time) {
        let rtt = rtt.as_ns() as f64;
        let (srtt, rttvar) = match self.estimate {
            None => (rtt, rtt / if self.two_deviations { 4.0 } else { 2.0 }),
            Some((srtt, rttvar)) => {
                let error = rtt - srtt;
                (srtt + error / 8.0, rttvar + (error.abs() - rttvar) / 4.0)
            }
        };
        self.estimate = Some((srtt, rttvar));
        self.wait = if self.two_deviations {
            (srtt + 2.0 * rttvar) * (17.0 / 16.0)
        } else {
            srtt + 4.0 * rttvar
        };
    }

    /// The round trip of what opened the flow; ns-2 does not add its sixteenth to it.
    fn open(&mut self, rtt: Time) {
        self.add(rtt);
        if self.two_deviations {
            self.wait = rtt.as_ns() as f64 * 1.5;
        }
    }

    fn back_off(&mut self, transmissions: u32) {
        self.wait *= if self.two_deviations && transmissions <= 1 { 1.125 } else { 2.0 };
    }
}

/// Rules and state.
#[derive(Debug, Clone)]
pub struct Vegas {
    go_back: bool,
    threshold: u32,
    after_repairs: bool,
    ring: bool,
    deflates_many: bool,
    restart_window: f64,
    grow_on_exit: bool,
    rto_backoff: bool,
    repairs_twice: bool,
    times_out_idle: bool,
    fine: Fine,
    /// ACKs of new data at which the oldest segment is still looked at.
    checks: u32,
    /// The window of the last cut, and when that was, by the clock of the log.
    cut: f64,
    cut_at: Option<Time>,
    /// What duplicates have added to the window.
    inflation: f64,
    after_timeout: bool,
    active: bool,
}

impl Vegas {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            go_back: chosen.word("later_data") == "unsent",
            threshold: chosen.int("threshold") as u32,
            after_repairs: chosen.word("samples") == "after-repairs",
            ring: chosen.word("log") == "ring",
            deflates_many: chosen.word("deflation") == "many",
            restart_window: chosen.int("restart_window") as f64,
            grow_on_exit: chosen.flag("grow_on_exit"),
            rto_backoff: chosen.flag("rto_backoff"),
            repairs_twice: chosen.word("repaired") == "unsent",
            times_out_idle: chosen.word("idle_timeout") == "counts",
            fine: Fine::new(chosen.word("overdue") == "two-deviations"),
            checks: 0,
            cut: 0.0,
            // In the ring nothing counts as sent before the start.
            cut_at: (chosen.word("log") == "ring").then_some(Time::ZERO),
            inflation: 0.0,
            after_timeout: false,
            active: false,
        }
    }

    fn inflate(&mut self, state: &mut State, segments: u32) {
        let by = f64::from(segments) * state.window.segment;
        self.inflation += by;
        state.window.cwnd += by;
    }

    fn deflate(&mut self, state: &mut State) {
        if !self.deflates_many {
            state.window.cwnd = self.deflated(state);
        } else if state.duplicates > self.threshold && state.window.cwnd > self.cut {
            state.window.cwnd = self.cut;
            state.cut(0.0);
        }
        self.inflation = 0.0;
    }

    /// Whether the oldest segment is overdue; none if there is nothing that could be.
    fn overdue(&self, state: &State) -> Option<bool> {
        Some(log(state).age()?.as_ns() as f64 >= self.fine.wait)
    }

    /// Whether the oldest segment was sent after the last cut.
    fn is_younger_than_cut(&self, state: &State) -> bool {
        let log = log(state);
        log.oldest().is_some_and(|sent| self.cut_at.is_none_or(|at| at < log.by_clock(sent.at)))
    }
}

impl LossRecovery for Vegas {
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
        let Some(overdue) = self.overdue(state) else { return Verdict::default() };
        if !overdue && state.duplicates != self.threshold {
            if state.duplicates > self.threshold && (self.active || self.deflates_many) {
                self.inflate(state, 1);
            }
            return Verdict::default();
        }
        if self.after_timeout && state.recover.is_some_and(|recover| state.una <= recover) {
            return Verdict::default();
        }
        let transmissions = log(state).oldest().map_or(0, |sent| sent.transmissions);
        self.after_timeout = false;
        self.checks = 2;
        self.fine.back_off(transmissions);
        if self.is_younger_than_cut(state)
            && let Some(target) = cut(state)
        {
            if !self.deflates_many {
                state.cut(target);
            }
            let target = target.max(state.window.segment);
            self.cut = target;
            self.cut_at = Some(log(state).by_clock(log(state).now));
            state.window.cwnd = target;
            self.inflation = 0.0;
            self.inflate(state, state.duplicates);
        }
        state.begin_episode();
        if transmissions == 1 {
            // Further duplicates are of packets that were in flight already.
            state.duplicates = self.threshold;
        }
        self.active = true;
        Verdict { resend: true, backs_off: self.rto_backoff, ..Verdict::default() }
    }

    fn on_new_ack(&mut self, state: &mut State, _acked: u64) -> Verdict {
        let mut verdict =
            Verdict { may_grow: self.grow_on_exit || !self.active, ..Verdict::default() };
        self.active = false;
        self.deflate(state);
        match log(state).sample {
            Some(rtt) if self.ring && self.fine.estimate.is_none() => self.fine.open(rtt),
            Some(rtt) => self.fine.add(rtt),
            None => {}
        }
        if self.checks > 0 {
            if self.overdue(state) == Some(true) {
                self.checks -= 1;
                self.active = true;
                verdict.resend = true;
                verdict.duplicates = self.threshold;
            } else {
                self.checks = 0;
            }
        }
        verdict
    }

    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
        if collapse(state, self.go_back, cut) {
            state.window.cwnd = self.restart_window * state.window.segment;
        }
        self.cut = 0.0;
        self.cut_at = Some(log(state).by_clock(log(state).now));
        self.inflation = 0.0;
        self.after_timeout = true;
        self.active = false;
    }

    fn on_established(&mut self, rtt: Time) {
        self.fine.open(rtt);
    }

    fn send_times(&self, mss: u64, receive_window: u64, handshake: bool) -> Option<SendTimes> {
        let mut log = SendTimes::default();
        if self.after_repairs {
            log = log.with_samples_after_repairs();
        }
        Some(if self.ring { log.in_ring(mss, receive_window, handshake) } else { log })
    }

    fn deflated(&self, state: &State) -> f64 {
        (state.window.cwnd - self.inflation).max(state.window.segment)
    }

    fn repairs_twice(&self) -> bool {
        self.repairs_twice
    }

    fn times_out_idle(&self) -> bool {
        self.times_out_idle
    }

    fn is_active(&self) -> bool {
        self.active
    }
}

fn log(state: &State) -> &SendTimes {
    state.log.as_ref().expect("this recovery asked for a log")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Window;
    use crate::senders::classic::rules::SenderRules;
    use ackclock_units::param::Value;
    use std::sync::Arc;

    const MSS: u64 = 1000;

    fn vegas(overdue: &str, deflation: &str) -> Vegas {
        let word = |text: &str| Value::Word(text.into());
        let values = [
            ("later_data", word("unsent")),
            ("threshold", Value::Int(3)),
            ("overdue", word(overdue)),
            ("samples", word("clean")),
            ("log", word("exact")),
            ("deflation", word(deflation)),
            ("restart_window", Value::Int(2)),
            ("grow_on_exit", Value::Flag(false)),
            ("rto_backoff", Value::Flag(false)),
            ("repaired", Value::Word("sent".into())),
            ("idle_timeout", Value::Word("restarts".into())),
        ];
        let values = values.map(|(name, value)| (name.into(), value)).into();
        Vegas::new(&Chosen { kind: "vegas".into(), values })
    }

    /// A sender of which eight segments are in flight, one sent each millisecond from 0 on.
    struct Script {
        recovery: Vegas,
        state: State,
    }

    impl Script {
        fn new(recovery: Vegas) -> Self {
            let mut state = State {
                window: Window { cwnd: 8.0, ssthresh: f64::INFINITY, segment: 1.0 },
                una: 0,
                nxt: 0,
                max: 0,
                rules: Arc::new(SenderRules::in_segments(MSS)),
                log: Some(Box::default()),
                duplicates: 0,
                hold: false,
                recover: None,
            };
            for segment in 0..8 {
                send(&mut state, segment, segment);
            }
            Self { recovery, state }
        }

        /// All below this segment is acknowledged; whether the next one is retransmitted at once.
        fn ack(&mut self, ms: u64, segment: u64) -> bool {
            let acked = segment * MSS - self.state.una;
            self.state.log.as_mut().unwrap().on_new_ack(Time::from_ms(ms), segment * MSS);
            self.state.una = segment * MSS;
            let verdict = self.recovery.on_new_ack(&mut self.state, acked);
            self.state.duplicates = verdict.duplicates;
            self.resent(verdict, ms)
        }

        fn duplicate(&mut self, ms: u64) -> bool {
            self.state.duplicates += 1;
            self.state.log.as_mut().unwrap().now = Time::from_ms(ms);
            let verdict = self
                .recovery
                .on_duplicate(&mut self.state, &mut |state| Some(state.window.cwnd * 0.75));
            self.resent(verdict, ms)
        }

        fn resent(&mut self, verdict: Verdict, ms: u64) -> bool {
            if verdict.resend {
                let oldest = self.state.una / MSS;
                send(&mut self.state, oldest, ms);
            }
            verdict.resend
        }
    }

    fn send(state: &mut State, segment: u64, ms: u64) {
        let seq = segment * MSS;
        state.log.as_mut().unwrap().on_transmit(Time::from_ms(ms), seq, seq + MSS);
        state.nxt = state.nxt.max(seq + MSS);
        state.max = state.max.max(seq + MSS);
    }

    #[test]
    fn the_first_duplicate_suffices_if_the_segment_is_overdue() {
        // One sample of 10 ms: srtt 10, rttvar 5. Overdue after 30 ms; segment 1 left at 1 ms.
        for (ms, at_once) in [(30, false), (31, true)] {
            let mut script = Script::new(vegas("four-deviations", "always"));
            script.ack(10, 1);
            assert_eq!(script.duplicate(ms), at_once);
            assert_eq!(script.state.window.cwnd, if at_once { 7.0 } else { 8.0 });
        }
        // 17/16 (10 + 2 · 2.5) = 15.94 ms.
        for (ms, at_once) in [(16, false), (17, true)] {
            let mut script = Script::new(vegas("two-deviations", "always"));
            script.ack(10, 1);
            assert_eq!(script.duplicate(ms), at_once);
        }
    }

    #[test]
    fn otherwise_the_third_duplicate_repairs_and_the_next_ack_deflates() {
        let mut script = Script::new(vegas("four-deviations", "always"));
        script.ack(10, 1);
        assert_eq!([11, 12, 13, 14].map(|ms| script.duplicate(ms)), [false, false, true, false]);
        // Three quarters of 8, and four duplicates.
        assert_eq!((script.state.window.cwnd, script.state.window.ssthresh), (10.0, 6.0));
        assert!(script.recovery.is_active());
        assert!(!script.ack(23, 8));
        assert_eq!(script.state.window.cwnd, 6.0);
        assert!(!script.recovery.is_active());
    }

    #[test]
    fn two_acks_after_a_repair_find_what_else_is_overdue_without_a_second_cut() {
        let mut script = Script::new(vegas("two-deviations", "always"));
        script.ack(10, 1);
        assert!(script.duplicate(17));
        assert_eq!(script.state.window.cwnd, 7.0);
        // Segments 3, 5 and 7 are missing, too. 9/8 of 15.94 ms after the repair.
        assert!(script.ack(27, 3));
        assert!(script.ack(37, 5));
        // The third ACK does not look; the first duplicate does. All left before the cut.
        assert!(!script.ack(47, 7));
        assert!(script.duplicate(48));
        assert_eq!(script.state.window.cwnd, 6.0);
    }

    #[test]
    fn a_loss_of_what_was_sent_after_the_cut_cuts_again() {
        let mut script = Script::new(vegas("two-deviations", "always"));
        script.ack(10, 1);
        script.duplicate(17);
        // The repair is lost: twice 9/8 of 15.94 ms later.
        assert!(!script.duplicate(34));
        assert!(script.duplicate(35));
        // It left at the moment of the cut, not after it.
        assert_eq!(script.state.window.cwnd, 6.0 + 2.0);
        send(&mut script.state, 8, 36);
        script.ack(45, 8);
        assert_eq!(script.state.window.cwnd, 6.0);
        assert!(script.duplicate(100));
        assert_eq!(script.state.window.cwnd, 4.5 + 1.0);
    }

    #[test]
    fn duplicates_of_what_was_sent_before_a_timeout_do_not_count() {
        let mut script = Script::new(vegas("four-deviations", "always"));
        script.ack(10, 1);
        script.recovery.on_timeout(&mut script.state, &mut |_| Some(4.0));
        assert_eq!((script.state.window.cwnd, script.state.window.ssthresh), (2.0, 4.0));
        assert_eq!(script.state.nxt, MSS);
        assert_eq!([1001, 1002, 1003].map(|ms| script.duplicate(ms)), [false; 3]);
    }

    #[test]
    fn ns2_deflates_only_after_more_than_three_duplicates() {
        for (duplicates, cwnd, ssthresh) in [(3, 9.0, f64::INFINITY), (4, 6.0, 2.0)] {
            let mut script = Script::new(vegas("four-deviations", "many"));
            script.ack(10, 1);
            for ms in 0..duplicates {
                script.duplicate(11 + ms);
            }
            script.ack(23, 8);
            assert_eq!((script.state.window.cwnd, script.state.window.ssthresh), (cwnd, ssthresh));
        }
    }
}
