//! DualPI2: a queue for scalable flows, whose delay is below a millisecond, coupled with one for all others.
//!
//! Source: RFC 9332, with the pseudocode of its appendix A; Linux `net/sched/sch_dualpi2.c` for what the RFC leaves open. Packets
//! with ECT(1) or CE go into the L queue, others into the C queue. Every `update` a controller takes the longer of
//! the two waits and makes
//!
//! ```text
//! p' += alpha · (wait - target) + beta · (wait - wait at the last update)
//! C: p_C = p'²: dropped, or marked with ECT(0)            L: p_L = k · p', or a wait above `step`: marked
//! ```
//!
//! so that Reno with a window of 1.22 / sqrt(p_C) and a scalable flow with 2 / p_L come to about the same rate with k = 2.
//! Where k · p' passes 1, there is an overload: C drops whatever the packet says, and L drops with p'², too.
//!
//! DEVIATION: decisions fall as packets leave; the choice of Linux to decide on arrival is not modelled.
//! DEVIATION: the first update falls at `update` from time 0, not at a random moment.

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::pi::{self, Pi};
use super::{Fates, Held, Place, Store};
use crate::packet::Ecn;
use ackclock_engine::Stream;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "dualpi2",
    summary: help(
        "L4S: a low-latency queue for scalable flows (ECT(1)), coupled with one for all others.",
    ),
    references: &["RFC 9332", "De Schepper and others 2016", "Linux net/sched/sch_dualpi2.c"],
    params: &[
        limit::param("10000 packets"),
        Param::new(
            "target",
            Kind::Time,
            "15 ms",
            "Target delay of the C queue (RFC 9332 appendix A.1).",
        )
        .at_least("1 us")
        .at_most("1 d"),
        Param::new("update", Kind::Time, "16 ms", "Time between updates of p' (the same).")
            .at_least("1 us")
            .at_most("1 d"),
        pi::alpha("0.16"),
        pi::beta("3.2"),
        Param::new(
            "coupling",
            Kind::Real,
            "2",
            "Coupling factor k between p' and the marking probability of L.",
        )
        .at_least("0.1")
        .at_most("100"),
        Param::new("step", Kind::Time, "1 ms", "Packets of L that have waited longer are marked.")
            .that_marks()
            .at_least("1 us")
            .at_most("1 d"),
        Param::new(
            "scheduler",
            Kind::Choice(&[
                Choice::new("wrr", "weighted round robin (Linux)"),
                Choice::new(
                    "shifted-fifo",
                    "the older head first, counting that of L as `shift` older (RFC 9332 section 4.1.1)",
                ),
            ]),
            "wrr",
            "Which queue sends next.",
        ),
        Param::new("share", Kind::Real, "0.1", "Minimum share of C in the link, with `wrr`.")
            .at_least("0.01")
            .at_most("0.99"),
        Param::new("shift", Kind::Time, "50 ms", "Head start of L, with `shifted-fifo`.")
            .at_most("1 d"),
        Param::new(
            "mtu",
            Kind::Size,
            "1500 B",
            "Nothing is dropped, or marked by p', with less than two of these waiting.",
        )
        .at_most("65535 B"),
    ],
    state: &["probability"],
    label: "DualPI2",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let wrr = chosen.word("scheduler") == "wrr";
    if wrr && chosen.int("shift_ns") != 50_000_000 {
        return Err(Clash::without_effect("shift", "scheduler: shifted-fifo"));
    }
    if !wrr && chosen.real("share") != 0.1 {
        return Err(Clash::without_effect("share", "scheduler: wrr"));
    }
    Ok(())
}

/// Who sends next.
#[derive(Debug, Clone)]
enum Scheduler {
    /// Weights of C and L, and the credit of C; L may send while it is not above zero.
    Wrr {
        c: f64,
        l: f64,
        credit: f64,
        start: f64,
    },
    Shifted(Time),
}

/// The two queues.
#[derive(Debug, Clone)]
pub struct DualPi2 {
    limit: Limit,
    low: Fifo,
    classic: Fifo,
    /// What makes p'.
    pi: Pi,
    coupling: f64,
    step: Time,
    scheduler: Scheduler,
    mtu: u64,
    stream: Stream,
}

impl DualPi2 {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        let time = |name: &str| Time::from_ns(chosen.int(name));
        let mtu = chosen.int("mtu_bytes");
        let share = chosen.real("share");
        // L begins, as if C had sent what is its part of so many bytes.
        let start = mtu as f64 * (2.0 * share - 1.0) * 100.0;
        Self {
            limit: Limit::new(chosen),
            low: Fifo::default(),
            classic: Fifo::default(),
            pi: Pi::new(chosen),
            coupling: chosen.real("coupling"),
            step: time("step_ns"),
            scheduler: match chosen.word("scheduler") {
                "wrr" => Scheduler::Wrr {
                    c: 100.0 * share,
                    l: 100.0 * (1.0 - share),
                    credit: start,
                    start,
                },
                _ => Scheduler::Shifted(time("shift_ns")),
            },
            mtu,
            stream: place.stream,
        }
    }

    /// How long the head of the queue that is worse off has waited.
    fn delay(&self, now: Time) -> f64 {
        let head = |fifo: &Fifo| fifo.iter().next().map_or(Time::ZERO, |held| held.sojourn(now));
        head(&self.classic).max(head(&self.low)).as_secs()
    }

    /// Makes the updates that are due. Since the last packet came or left nothing has changed but the time.
    fn catch_up(&mut self, now: Time) {
        while self.pi.next <= now {
            let delay = self.delay(self.pi.next);
            let rests = self.pi.p == 0.0 && self.pi.delay_old == 0.0;
            if delay == 0.0 && rests && self.is_empty() {
                return self.pi.skip(now);
            }
            self.pi.p = (self.pi.p + self.pi.step(delay)).clamp(0.0, 1.0);
            self.pi.updated(delay);
        }
    }

    fn is_empty(&self) -> bool {
        self.low.is_empty() && self.classic.is_empty()
    }

    fn bytes(&self) -> u64 {
        self.low.bytes() + self.classic.bytes()
    }

    /// Whether L sends next.
    fn turn_of_low(&self) -> bool {
        let (Some(low), Some(classic)) = (self.low.iter().next(), self.classic.iter().next())
        else {
            return !self.low.is_empty();
        };
        match self.scheduler {
            Scheduler::Wrr { credit, .. } => credit <= 0.0,
            Scheduler::Shifted(shift) => low.entered <= classic.entered + shift,
        }
    }

    /// A packet of one queue is sent while the other waits, or not.
    fn settle_credit(&mut self, from_low: bool, size: u64) {
        let other_waits = if from_low { !self.classic.is_empty() } else { !self.low.is_empty() };
        let empty = self.is_empty();
        if let Scheduler::Wrr { c, l, credit, start } = &mut self.scheduler {
            if empty {
                *credit = *start;
            } else if other_waits {
                *credit += if from_low { *c } else { -*l } * size as f64;
            }
        }
    }

    /// Whether two draws in a row fall below p': with probability p'².
    fn squared(&mut self) -> bool {
        let p = self.pi.p;
        self.stream.uniform() < p && self.stream.uniform() < p
    }

    /// What becomes of a packet of C; none if it is dropped.
    fn classic_fate(&mut self, held: Held, fates: &mut Fates) -> Option<Held> {
        if !self.squared() {
            return Some(held);
        }
        let overload = self.coupling * self.pi.p > 1.0;
        fates.mark_or_drop(held, !overload, drop_reason::EARLY)
    }

    /// What becomes of a packet of L, with so many bytes waiting before it left.
    fn low_fate(&mut self, now: Time, held: Held, aqm: bool, fates: &mut Fates) -> Option<Held> {
        let p = self.coupling * self.pi.p;
        if aqm {
            if p > 1.0 && self.squared() {
                fates.drop(held, drop_reason::EARLY);
                return None;
            }
            if p > 0.0 && self.stream.uniform() < p && !held.packet.is_marked() {
                return Some(fates.mark(held, drop_reason::EARLY));
            }
        }
        if held.sojourn(now) > self.step && !held.packet.is_marked() {
            return Some(fates.mark(held, drop_reason::THRESHOLD));
        }
        Some(held)
    }
}

impl Store for DualPi2 {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        self.catch_up(now);
        let packets = self.low.packets() + self.classic.packets();
        if !idle && !self.limit.has_room(packets, self.bytes(), held.size()) {
            return fates.drop(held, drop_reason::QUEUE_FULL);
        }
        match held.packet.ecn() {
            Ecn::Ect1 | Ecn::Ce => self.low.push(held),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(held),
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        self.catch_up(now);
        loop {
            let aqm = self.bytes() >= 2 * self.mtu;
            let from_low = self.turn_of_low();
            let fifo = if from_low { &mut self.low } else { &mut self.classic };
            let held = fifo.pop()?;
            let sent = match from_low {
                true => self.low_fate(now, held, aqm, fates),
                false if aqm => self.classic_fate(held, fates),
                false => Some(held),
            };
            if let Some(held) = sent {
                self.settle_credit(from_low, held.size());
                return Some(held);
            }
        }
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::PROBABILITY, self.pi.p);
    }

    fn waiting(&self) -> Vec<Held> {
        self.low.iter().chain(self.classic.iter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind as PacketKind, Packet};
    use ackclock_units::param::Value;

    fn queue(scheduler: &str) -> DualPi2 {
        let chosen = Chosen {
            kind: "dualpi2".into(),
            values: vec![
                ("limit_packets".into(), Value::Int(10_000)),
                ("target_ns".into(), Value::Int(15_000_000)),
                ("update_ns".into(), Value::Int(16_000_000)),
                ("alpha".into(), Value::Real(0.16)),
                ("beta".into(), Value::Real(3.2)),
                ("coupling".into(), Value::Real(2.0)),
                ("step_ns".into(), Value::Int(1_000_000)),
                ("scheduler".into(), Value::Word(scheduler.into())),
                ("share".into(), Value::Real(0.1)),
                ("shift_ns".into(), Value::Int(50_000_000)),
                ("mtu_bytes".into(), Value::Int(1500)),
            ],
        };
        let stream = Stream::new(1, "queue/L/forward");
        DualPi2::new(
            &chosen,
            Place { rate_bps: 10_000_000, delay: Time::ZERO, stream, hosts: [].into() },
        )
    }

    fn put(queue: &mut DualPi2, now: Time, ecn: Ecn, count: u32) -> Fates {
        let mut fates = Fates::default();
        for _ in 0..count {
            let mut packet = Packet::new(PacketKind::Data, 0, 1500);
            packet.set_ecn(ecn);
            queue.enqueue(now, Held { packet, entered: now, id: 0 }, false, &mut fates);
        }
        fates
    }

    /// A wait of 31 ms: alpha · 16 ms + beta · 31 ms once, then alpha · 16 ms + beta · 16 ms for each update.
    #[test]
    fn the_probability_follows_the_older_head() {
        let mut queue = queue("wrr");
        put(&mut queue, Time::from_ms(1), Ecn::NotEct, 5);
        put(&mut queue, Time::from_ms(3), Ecn::Ect1, 5);
        // Updates at 16, 32 and 48 ms see 15, 31 and 47 ms.
        let mut expected = 3.2 * 0.015;
        for (ms, age) in [(32, 0.031), (48, 0.047)] {
            queue.catch_up(Time::from_ms(ms));
            expected += 0.16 * (age - 0.015) + 3.2 * 0.016;
            assert!((queue.pi.p - expected).abs() < 1e-12, "{}", queue.pi.p);
        }
        // Idle for long: p falls to zero, and the clock goes on without steps.
        while queue.dequeue(Time::from_ms(49), &mut Fates::default()).is_some() {}
        queue.catch_up(Time::from_secs(100_000));
        assert_eq!((queue.pi.p, queue.is_empty()), (0.0, true));
        assert!(queue.pi.next > Time::from_secs(100_000));
    }

    /// Of C p'² are dropped, or marked; of L k · p' are marked (RFC 9332 section 2.1: p_C = (p_L / k)²).
    #[test]
    fn marks_of_low_are_the_coupled_root_of_drops_of_classic() {
        let now = Time::from_ms(1);
        for (ecn, dropped, marked) in
            [(Ecn::NotEct, 0.04, 0.0), (Ecn::Ect0, 0.0, 0.04), (Ecn::Ect1, 0.0, 0.4)]
        {
            let mut queue = queue("wrr");
            queue.limit = Limit::new(&Chosen { kind: String::new(), values: Vec::new() });
            put(&mut queue, now, ecn, 40_002);
            queue.pi.p = 0.2;
            let mut fates = Fates::default();
            while queue.bytes() > 3000 {
                queue.dequeue(now, &mut fates);
            }
            let part = |packets: usize| packets as f64 / 40_000.0;
            assert!((part(fates.dropped.len()) - dropped).abs() < 0.006, "{ecn:?}");
            assert!((part(fates.marked.len()) - marked).abs() < 0.012, "{ecn:?}");
            // With less than two packets waiting nothing happens.
            queue.pi.p = 1.0;
            fates = Fates::default();
            queue.dequeue(now, &mut fates);
            queue.dequeue(now, &mut fates);
            assert!(fates.dropped.len() + fates.marked.len() <= 1);
        }
    }

    #[test]
    fn low_marks_what_has_waited_for_longer_than_the_step() {
        let mut queue = queue("wrr");
        put(&mut queue, Time::from_ms(1), Ecn::Ect1, 3);
        let mut fates = Fates::default();
        queue.dequeue(Time::from_ms(2), &mut fates);
        assert!(fates.marked.is_empty());
        queue.dequeue(Time::from_ns(2_000_001), &mut fates);
        assert_eq!(fates.marked.len(), 1);
        assert_eq!(fates.marked[0].1, drop_reason::THRESHOLD);
    }

    /// In an overload classic packets are dropped even with ECT(0), and those of L are dropped with p'².
    #[test]
    fn an_overload_drops_whatever_the_packets_say() {
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            let mut queue = queue("wrr");
            put(&mut queue, Time::ZERO, ecn, 9000);
            queue.pi.p = 0.6;
            let mut fates = Fates::default();
            while queue.bytes() > 3000 {
                queue.dequeue(Time::ZERO, &mut fates);
            }
            let dropped = fates.dropped.len() as f64 / 9000.0;
            assert!((dropped - 0.36).abs() < 0.02, "{ecn:?}: {dropped}");
            let sent = 8998 - fates.dropped.len();
            let marked = if ecn == Ecn::Ect1 { sent } else { 0 };
            assert!(fates.marked.len().abs_diff(marked) <= 2, "{ecn:?}");
        }
    }

    /// With both queues full C has a tenth of the bytes, or the older head goes first.
    #[test]
    fn classic_has_its_share_while_low_waits() {
        let mut queue = queue("wrr");
        put(&mut queue, Time::ZERO, Ecn::Ect1, 3000);
        put(&mut queue, Time::ZERO, Ecn::NotEct, 3000);
        let mut fates = Fates::default();
        let sent: Vec<Ecn> = (0..2000)
            .map(|_| queue.dequeue(Time::ZERO, &mut fates).unwrap().packet.ecn())
            .collect();
        let classic = sent.iter().filter(|ecn| **ecn == Ecn::NotEct).count();
        // L begins with eight packets of credit, which are 80 of C's tenth.
        assert!((192..=200).contains(&classic), "{classic}");
        let mut queue = super::tests::queue("shifted-fifo");
        put(&mut queue, Time::ZERO, Ecn::NotEct, 1);
        put(&mut queue, Time::from_ms(50), Ecn::Ect1, 1);
        put(&mut queue, Time::from_ms(51), Ecn::Ect1, 1);
        let order: Vec<Ecn> = (0..3)
            .map(|_| queue.dequeue(Time::from_ms(51), &mut fates).unwrap().packet.ecn())
            .collect();
        assert_eq!(order[1], Ecn::NotEct);
    }
}
