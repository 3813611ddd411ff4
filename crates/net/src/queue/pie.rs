//! PIE: drops on arrival with a probability that follows the wait.
//!
//! Source: RFC 8033; Pan and others, "PIE: A Lightweight Control Scheme", HPSR 2013. Every `update` the
//! probability p changes by alpha · (wait - target) + beta · (wait - wait at the last update), in smaller steps where p
//! is small (section 4.2). The wait is that of the packet that left last, and zero when the queue has run empty
//! (section 5.2 names the alternative, an estimate from the departure rate, which is not modelled). What the RFC
//! calls optional (section 5) is a parameter.
//!
//! DEVIATION: RFC 8033 section 5.3 lets PIE sleep until a third of the buffer is full; that is not modelled.

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::pi::{self, Pi};
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help, joined};

/// What makes the probability, and what it applies to.
pub(super) const RULES: [Param; 14] = [
    Param::new("target", Kind::Time, "15 ms", "Target queueing delay (RFC 8033 section 4.2).")
        .at_least("1 us")
        .at_most("1 d"),
    Param::new("update", Kind::Time, "15 ms", "Time between updates (RFC 8033 section 4.2).")
        .at_least("1 us")
        .at_most("1 d"),
    pi::alpha("0.125"),
    pi::beta("1.25"),
    Param::new(
        "burst",
        Kind::Time,
        "150 ms",
        "Burst allowance: how long after a quiet period nothing is dropped early (RFC 8033 section 4.4).",
    )
    .at_most("1 d"),
    Param::new(
        "during_burst",
        Kind::Choice(&[
            Choice::new("counts", "p is updated as usual (RFC 8033, Linux)"),
            Choice::new("held", "p stays zero (ns-3)"),
        ]),
        "counts",
        "How the probability evolves during the burst allowance.",
    ),
    Param::new(
        "mtu",
        Kind::Size,
        "1500 B",
        "Nothing is dropped early with at most two of these waiting (RFC 8033 section 4.1).",
    )
    .at_most("65535 B"),
    Param::new("ecn", Kind::Flag, "false", "ECN-capable packets are marked (section 5.1).").that_marks(),
    Param::new(
        "mark_limit",
        Kind::Real,
        "0.1",
        "Above this probability ECN-capable packets are dropped like others (section 5.1).",
    )
    .at_least("0")
    .at_most("1"),
    Param::new(
        "derandomize",
        Kind::Flag,
        "false",
        "Whether drops are spaced out (section 5.4; always in Linux).",
    ),
    Param::new(
        "cap",
        Kind::Flag,
        "true",
        "Whether p grows by at most 2 % per update from p = 10 % on (section 5.5).",
    ),
    Param::new(
        "surge",
        Kind::Flag,
        "true",
        "Whether p grows by another 2 % with a delay above 250 ms (Linux; not in ns-3).",
    ),
    Param::new(
        "decay",
        Kind::Real,
        "0.98",
        "Factor of p at an update with no queueing delay (section 4.2; Linux: 0.984375).",
    )
    .at_least("0")
    .at_most("1"),
    Param::optional(
        "by_size",
        Kind::Size,
        "none",
        "Packet size that is dropped with probability p, others in proportion; by default size does not matter.",
    )
    .at_least("1 B")
    .at_most("65535 B"),
];

pub(super) static ENTRY: Entry = Entry {
    name: "pie",
    summary: help(
        "Drops on arrival with a probability that a controller derives from the queueing delay.",
    ),
    references: &["RFC 8033", "Pan and others 2013", "Linux net/sched/sch_pie.c"],
    // The limit of Linux' sch_pie.c.
    params: &joined::<1, 14, 15>([limit::param("1000 packets")], RULES),
    state: &["probability"],
    label: "PIE",
    check: Some(check),
    ..Entry::BLANK
};

pub(super) fn check(chosen: &Chosen) -> Result<(), Clash> {
    if !chosen.flag("ecn") && chosen.real("mark_limit") != 0.1 {
        return Err(Clash::without_effect("mark_limit", "ecn: true"));
    }
    if chosen.int("burst_ns") == 0 && chosen.word("during_burst") == "held" {
        return Err(Clash::without_effect("during_burst", "a `burst` above zero"));
    }
    Ok(())
}

/// Packets, limit and control.
#[derive(Debug, Clone)]
pub struct Pie {
    limit: Limit,
    fifo: Fifo,
    control: Control,
    stream: Stream,
}

/// The rules for one queue.
#[derive(Debug, Clone)]
pub(super) struct Control {
    controller: Controller,
    mtu: u64,
    ecn: bool,
    mark_limit: f64,
    derandomize: bool,
    by_size: Option<f64>,
    /// Sum of p over the packets since the last drop.
    sum: f64,
}

/// What makes the probability.
#[derive(Debug, Clone)]
struct Controller {
    pi: Pi,
    burst: f64,
    holds: bool,
    cap: bool,
    surge: bool,
    decay: f64,
    /// Wait of the packet that left last, seconds.
    delay: f64,
    /// What is left of the time without early drops, seconds.
    allowance: f64,
}

/// From which wait on p grows faster, seconds (RFC 8033 and Linux).
const SURGE_S: f64 = 0.25;
/// Most growth of an update with `cap`, and growth of a `surge`.
const STEP: f64 = 0.02;

impl Controller {
    /// Makes the updates that are due. Between updates nothing here changes but `delay`, so that they may be late.
    fn catch_up(&mut self, now: Time) {
        while self.pi.next <= now {
            if self.rests() {
                return self.pi.skip(now);
            }
            self.update_p();
            self.pi.updated(self.delay);
        }
    }

    /// Updates change nothing.
    fn rests(&self) -> bool {
        let Pi { p, delay_old, .. } = self.pi;
        p == 0.0 && self.delay == 0.0 && delay_old == 0.0 && self.allowance == self.burst
    }

    fn update_p(&mut self) {
        let Pi { mut p, delay_old, .. } = self.pi;
        if self.holds && self.allowance > 0.0 {
            p = 0.0;
        } else {
            let mut step = self.pi.step(self.delay);
            const SCALES: [(f64, f64); 6] = [
                (1e-6, 2048.0),
                (1e-5, 512.0),
                (1e-4, 128.0),
                (1e-3, 32.0),
                (1e-2, 8.0),
                (0.1, 2.0),
            ];
            if let Some((_, scale)) = SCALES.iter().find(|(below, _)| p < *below) {
                step /= scale;
            } else if self.cap {
                step = step.min(STEP);
            }
            if self.surge && self.delay > SURGE_S {
                step += STEP;
            }
            p += step;
        }
        let idle = self.delay == 0.0 && delay_old == 0.0;
        if idle {
            p *= self.decay;
        }
        self.pi.p = p.clamp(0.0, 1.0);
        let half = self.pi.target / 2.0;
        self.allowance = (self.allowance - self.pi.update.as_secs()).max(0.0);
        if self.pi.p == 0.0 && self.delay < half && delay_old < half {
            self.allowance = self.burst;
        }
    }
}

impl Control {
    pub fn new(chosen: &Chosen) -> Self {
        let burst = Time::from_ns(chosen.int("burst_ns")).as_secs();
        Self {
            controller: Controller {
                pi: Pi::new(chosen),
                burst,
                holds: chosen.word("during_burst") == "held",
                cap: chosen.flag("cap"),
                surge: chosen.flag("surge"),
                decay: chosen.real("decay"),
                delay: 0.0,
                allowance: burst,
            },
            mtu: chosen.int("mtu_bytes"),
            ecn: chosen.flag("ecn"),
            mark_limit: chosen.real("mark_limit"),
            derandomize: chosen.flag("derandomize"),
            by_size: chosen.optional_int("by_size_bytes").map(|bytes| bytes as f64),
            sum: 0.0,
        }
    }

    /// Whether a packet is to be dropped or marked early, where so many bytes of its queue wait.
    fn decides_early(&mut self, size: u64, bytes: u64, stream: &mut Stream) -> bool {
        let Controller { pi: Pi { p, delay_old, target, .. }, allowance, .. } = self.controller;
        let calm = delay_old < target / 2.0 && p < 0.2;
        if allowance > 0.0 || calm || bytes <= 2 * self.mtu {
            return false;
        }
        if p == 0.0 {
            self.sum = 0.0;
            return false;
        }
        let p = match self.by_size {
            Some(mean) => (p * size as f64 / mean).min(1.0),
            None => p,
        };
        if self.derandomize {
            self.sum += p;
            if self.sum < 0.85 {
                return false;
            }
            if self.sum >= 8.5 {
                return true;
            }
        }
        stream.uniform() < p
    }

    /// A packet comes to a queue of so many bytes: it is returned, marked or not, if it may wait.
    pub fn admit(
        &mut self,
        now: Time,
        held: Held,
        fits: bool,
        bytes: u64,
        stream: &mut Stream,
        fates: &mut Fates,
    ) -> Option<Held> {
        self.controller.catch_up(now);
        if !fits {
            self.sum = 0.0;
            fates.drop(held, drop_reason::QUEUE_FULL);
            return None;
        }
        if !self.decides_early(held.size(), bytes, stream) {
            return Some(held);
        }
        self.sum = 0.0;
        let marks = self.ecn && self.controller.pi.p <= self.mark_limit;
        fates.mark_or_drop(held, marks, drop_reason::EARLY)
    }

    /// The packet to send from `fifo`.
    pub fn dequeue(&mut self, now: Time, fifo: &mut Fifo) -> Option<Held> {
        self.controller.catch_up(now);
        let held = fifo.pop()?;
        self.controller.delay = if fifo.is_empty() { 0.0 } else { held.sojourn(now).as_secs() };
        Some(held)
    }
}

impl Pie {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            fifo: Fifo::default(),
            control: Control::new(chosen),
            stream: place.stream,
        }
    }
}

impl Store for Pie {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let fits = idle || self.limit.has_room_in(&self.fifo, held.size());
        let bytes = self.fifo.bytes();
        if let Some(held) = self.control.admit(now, held, fits, bytes, &mut self.stream, fates) {
            self.fifo.push(held);
        }
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Option<Held> {
        self.control.dequeue(now, &mut self.fifo)
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::PROBABILITY, self.control.controller.pi.p);
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(alpha: f64, decay: f64) -> Controller {
        Controller {
            pi: Pi {
                target: 0.015,
                update: Time::from_ms(15),
                alpha,
                beta: 1.25,
                p: 0.0,
                delay_old: 0.0,
                next: Time::from_ms(15),
            },
            burst: 0.0,
            holds: false,
            cap: true,
            surge: true,
            decay,
            delay: 0.0,
            allowance: 0.0,
        }
    }

    #[test]
    fn the_probability_grows_in_steps_that_suit_its_size() {
        // A wait of 30 ms for a target of 15 ms: 0.125 * 0.015 an update before scaling.
        let mut controller = controller(0.125, 0.98);
        (controller.delay, controller.pi.delay_old) = (0.03, 0.03);
        let mut reached = Vec::new();
        for update in 1..=200u64 {
            controller.catch_up(Time::from_ms(15 * update));
            let bounds = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1];
            while reached.len() < bounds.len() && controller.pi.p >= bounds[reached.len()] {
                reached.push(update);
            }
        }
        assert_eq!(reached, [2, 5, 11, 27, 66, 162]);
    }

    #[test]
    fn without_waits_the_probability_decays_and_updates_may_be_late() {
        for (decay, updates) in [(0.98, 114), (63.0 / 64.0, 147)] {
            let mut controller = controller(0.0, decay);
            controller.pi.p = 0.1;
            let below = (1..).find(|update| {
                controller.catch_up(Time::from_ms(15 * update));
                controller.pi.p < 0.01
            });
            assert_eq!(below, Some(updates));
        }
        let [mut late, mut early] = [controller(0.125, 0.98), controller(0.125, 0.98)];
        (late.pi.p, early.pi.p) = (0.3, 0.3);
        for ms in 0..100_000 {
            early.catch_up(Time::from_ms(ms));
        }
        late.catch_up(Time::from_ms(99_999));
        assert_eq!((late.pi.p, late.pi.next), (early.pi.p, early.pi.next));
        // At rest nothing is computed, however long it lasts.
        late.catch_up(Time::from_secs(30_000_000));
        assert_eq!((late.pi.p, late.pi.next), (0.0, Time::from_ns(30_000_000_015_000_000)));
    }

    #[test]
    fn drops_have_the_probability_and_keep_a_distance_if_told_to() {
        for (derandomize, p, gap) in
            [(false, 0.01, 100.0), (true, 0.001, 1860.0), (true, 0.1, 18.0)]
        {
            let mut controller = controller(0.125, 0.98);
            (controller.pi.p, controller.pi.delay_old) = (p, 0.03);
            let mut pie = Pie {
                limit: Limit::new(&Chosen { kind: "pie".into(), values: Vec::new() }),
                fifo: Fifo::default(),
                control: Control {
                    controller,
                    mtu: 0,
                    ecn: false,
                    mark_limit: 0.1,
                    derandomize,
                    by_size: None,
                    sum: 0.0,
                },
                stream: Stream::new(1, "queue/L/forward"),
            };
            let packet = crate::packet::Packet::new(crate::packet::Kind::Data, 0, 1500);
            let held = Held { packet, entered: Time::ZERO, id: 0 };
            pie.fifo.push(held);
            let mut fates = Fates::default();
            let arrivals = (40_000.0 / p) as u32;
            for _ in 0..arrivals {
                pie.enqueue(Time::ZERO, held, false, &mut fates);
                if pie.fifo.packets() > 10 {
                    pie.fifo.pop();
                }
            }
            let mean = f64::from(arrivals) / fates.dropped.len() as f64;
            assert!((mean / gap - 1.0).abs() < 0.02, "p = {p}: a drop every {mean} packets");
        }
    }

    #[test]
    fn growth_is_bounded_and_a_burst_is_let_through() {
        let mut controller = controller(0.125, 0.98);
        controller.pi.p = 0.2;
        (controller.delay, controller.pi.delay_old) = (0.2, 0.0);
        controller.catch_up(Time::from_ms(15));
        assert!((controller.pi.p - 0.22).abs() < 1e-12);
        controller.delay = 0.3;
        controller.catch_up(Time::from_ms(30));
        assert!((controller.pi.p - 0.26).abs() < 1e-12, "two steps: {}", controller.pi.p);
        // With an allowance of 45 ms the probability is held for three updates.
        let mut controller =
            Controller { holds: true, burst: 0.045, allowance: 0.045, ..controller };
        (controller.pi.p, controller.delay) = (0.0, 0.03);
        for update in 3..=5 {
            controller.catch_up(Time::from_ms(15 * update));
            assert_eq!(controller.pi.p, 0.0);
        }
        controller.catch_up(Time::from_ms(90));
        assert!(controller.pi.p > 0.0);
    }
}
