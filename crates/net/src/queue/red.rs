//! RED: drops on arrival with a probability that grows with the average queue.
//!
//! Source: Floyd, Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Trans. Networking
//! 1(4), 1993; gentle: Floyd, "Recommendation on using the gentle variant of RED", 2000; adaptive: `adaptive.rs`.
//! Where programs differ from the paper their rule is an option; each names them. By default all is as in the paper,
//! with the parameters that Floyd recommended later (`max_p` 0.1, gentle).
//!
//! Each arrival first moves the average: by `weight` towards the queue that it finds, or, after an idle time, down
//! as if m small packets had arrived at an empty queue, m the idle time over the time that `mean_packet` takes to
//! send. Below `min` the packet is taken. From `min` to `max` the probability p_b rises from 0 to `max_p`, with
//! `gentle` on to 1 at twice `max`; `spacing` makes the probability of this packet from it. Above, all are dropped.
//!
//! The average, `min` and `max` are in packets or bytes, by the unit of `min` and `max`.

use super::adaptive::{self, Adaptation};
use super::control;
use super::limit::{self, Limit};
use super::{Arrival, OnArrival, Place, Verdict};
use ackclock_engine::Stream;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "red",
    summary: help("Drops on arrival with a probability that grows with the average queue."),
    references: &["Floyd, Jacobson 1993", "Floyd 2000", "Floyd, Gummadi, Shenker 2001", "RFC 7567"],
    params: &[
        limit::param("100 packets"),
        Param::new(
            "min",
            Kind::SizeOrPackets,
            "5 packets",
            "Average queue from which packets are dropped early.",
        )
        .at_least("0 B"),
        Param::new(
            "max",
            Kind::SizeOrPackets,
            "15 packets",
            "Average queue at which the probability is `max_p`; Floyd recommends three times `min`.",
        )
        .at_least("0 B"),
        Param::new("weight", Kind::Real, "0.002", "Weight of a sample in the average.")
            .at_least("0.000000001")
            .at_most("1"),
        Param::new("max_p", Kind::Real, "0.1", "Probability at `max` (1993: 0.02).")
            .at_least("0.000001")
            .at_most("1"),
        Param::new(
            "gentle",
            Kind::Flag,
            "true",
            "Above `max` the probability rises to 1 at twice `max`, not at once.",
        ),
        Param::new(
            "spacing",
            Kind::Choice(&[
                Choice::new("uniform", "gaps uniform up to 1/p_b (paper, ns-2 without `wait_`)"),
                Choice::new("wait", "gaps uniform from 1/p_b to 2/p_b (ns-2, ns-3)"),
                Choice::new("linux", "the same as `uniform`, with one random number per gap (Linux)"),
                Choice::new("none", "each packet with p_b: gaps are geometric"),
            ]),
            "uniform",
            "How packets dropped early are spaced.",
        ),
        Param::new(
            "first",
            Kind::Choice(&[
                Choice::new("tested", "like all others (paper)"),
                Choice::new("passed", "never dropped early (ns-2, ns-3)"),
            ]),
            "tested",
            "The first packet that finds the average above `min`.",
        ),
        Param::new(
            "short_queue",
            Kind::Choice(&[
                Choice::new("tested", "like all others (paper, Linux)"),
                Choice::new("passed", "never dropped early (ns-2, ns-3)"),
            ]),
            "tested",
            "Packets that find at most one packet waiting, or one byte with thresholds in bytes.",
        ),
        Param::new(
            "idle",
            Kind::Choice(&[
                Choice::new("aged", "the average is aged and takes no sample (paper, Linux)"),
                Choice::new("sampled", "it takes the empty queue as a sample, too (ns-2, ns-3)"),
            ]),
            "aged",
            "The average at the first arrival after an idle time.",
        ),
        Param::new(
            "mean_packet",
            Kind::Size,
            "1000 B",
            "Size of a typical packet, for idle times and `by_size` (Linux: `avpkt`).",
        )
        .at_least("1 B")
        .at_most("65535 B"),
        Param::new(
            "by_size",
            Kind::Choice(&[
                Choice::new("none", "packets of all sizes are treated alike"),
                Choice::new("before", "p_b in proportion to the size, before spacing (paper)"),
                Choice::new("after", "spacing in bytes, then in proportion to the size (ns-2)"),
            ]),
            "none",
            "What the size of a packet changes.",
        ),
        control::ecn("false"),
        Param::new(
            "mark_limit",
            Kind::Real,
            "1",
            "Above this p_b ECN-capable packets are dropped like others (ns-2: 0.1).",
        )
        .at_least("0")
        .at_most("1"),
        Param::new(
            "hard_drop",
            Kind::Flag,
            "true",
            "Where all are dropped, ECN-capable packets are, too (RFC 3168 section 7; Linux: false).",
        ),
        adaptive::RULE,
        adaptive::INTERVAL,
        adaptive::LEAST,
        adaptive::MOST,
    ],
    state: &["average-packets", "average-bytes", "probability", "max-p"],
    label: "RED",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let at = |param, message: String| Err(Clash { param, message, hint: None });
    for unit in ["packets", "bytes"] {
        let value = |name: &str| chosen.optional_int(&format!("{name}_{unit}"));
        match (value("min"), value("max")) {
            (Some(min), Some(max)) if min > max => {
                return at("min", format!("`min` ({min} {unit}) is above `max` ({max} {unit})"));
            }
            (Some(_), None) | (None, Some(_)) => {
                return at("max", "`min` and `max` are in different units".to_owned());
            }
            _ => {}
        }
    }
    let (least, most) = (chosen.real("least_max_p"), chosen.real("most_max_p"));
    if least > most {
        return at(
            "least_max_p",
            format!("`least_max_p` ({least}) is above `most_max_p` ({most})"),
        );
    }
    if !chosen.flag("ecn") && chosen.real("mark_limit") != 1.0 {
        return Err(Clash::without_effect("mark_limit", "ecn: true"));
    }
    if !chosen.flag("ecn") && !chosen.flag("hard_drop") {
        return Err(Clash::without_effect("hard_drop", "ecn: true"));
    }
    adaptive::check(chosen)
}

/// How packets dropped early are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Uniform,
    Wait,
    Linux,
    None,
}

/// What the size of a packet changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BySize {
    None,
    Before,
    After,
}

/// Parameters and state.
#[derive(Debug, Clone)]
pub struct Red {
    limit: Limit,
    in_bytes: bool,
    min: f64,
    max: f64,
    weight: f64,
    max_p: f64,
    gentle: bool,
    spacing: Spacing,
    passes_first: bool,
    passes_short: bool,
    samples_idle: bool,
    mean_packet: f64,
    by_size: BySize,
    ecn: bool,
    mark_limit: f64,
    hard_drop: bool,
    adaptation: Option<Adaptation>,
    /// Nanoseconds that a typical packet takes to send.
    typical_ns: f64,
    average: f64,
    /// With which probability p_b the latest packet met an early drop, before spacing.
    p: f64,
    /// Packets, and their bytes, since the last one that was dropped early; -1 packets below `min`.
    count: i64,
    count_bytes: f64,
    /// A packet has found the average between the thresholds since it was below `min`.
    above: bool,
    /// Linux: the number that decides about the next gap.
    gap: f64,
    stream: Stream,
}

/// What the average says about a packet.
enum Zone {
    Below,
    /// Dropped with this probability p_b.
    Early(f64),
    Above,
}

impl Red {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        let threshold = |name: &str| {
            let bytes = chosen.optional_int(&format!("{name}_bytes"));
            let packets = chosen.optional_int(&format!("{name}_packets"));
            bytes.or(packets).expect("a threshold has a value") as f64
        };
        let mean_packet = chosen.int("mean_packet_bytes") as f64;
        let mut red = Self {
            limit: Limit::new(chosen),
            in_bytes: chosen.optional_int("min_bytes").is_some(),
            min: threshold("min"),
            max: threshold("max"),
            weight: chosen.real("weight"),
            max_p: chosen.real("max_p"),
            gentle: chosen.flag("gentle"),
            spacing: match chosen.word("spacing") {
                "uniform" => Spacing::Uniform,
                "wait" => Spacing::Wait,
                "linux" => Spacing::Linux,
                _ => Spacing::None,
            },
            passes_first: chosen.word("first") == "passed",
            passes_short: chosen.word("short_queue") == "passed",
            samples_idle: chosen.word("idle") == "sampled",
            mean_packet,
            by_size: match chosen.word("by_size") {
                "before" => BySize::Before,
                "after" => BySize::After,
                _ => BySize::None,
            },
            ecn: chosen.flag("ecn"),
            mark_limit: chosen.real("mark_limit"),
            hard_drop: chosen.flag("hard_drop"),
            adaptation: Adaptation::new(chosen),
            typical_ns: 0.0,
            average: 0.0,
            p: 0.0,
            count: -1,
            count_bytes: 0.0,
            above: false,
            gap: 0.0,
            stream: place.stream,
        };
        red.set_rate(place.rate_bps);
        red
    }

    /// Moves the average.
    fn observe(&mut self, arrival: &Arrival<'_>) {
        let keeps = 1.0 - self.weight;
        if let Some(since) = arrival.idle_since {
            let missed = arrival.now.since(since).as_ns() as f64 / self.typical_ns;
            self.average *= power(keeps, missed as u64 + u64::from(self.samples_idle));
        } else {
            let queue =
                if self.in_bytes { arrival.bytes as f64 } else { f64::from(arrival.packets) };
            self.average = keeps * self.average + self.weight * queue;
        }
        if let Some(adaptation) = &mut self.adaptation {
            let span = [self.min, self.max];
            self.max_p = adaptation.adapt(arrival.now, self.average, span, self.max_p);
        }
    }

    fn zone(&self, arrival: &Arrival<'_>) -> Zone {
        let short = if self.in_bytes { arrival.bytes } else { u64::from(arrival.packets) } <= 1;
        if self.average < self.min || (short && self.passes_short) {
            return Zone::Below;
        }
        if self.average < self.max {
            return Zone::Early(self.max_p * (self.average - self.min) / (self.max - self.min));
        }
        if self.gentle && self.average < 2.0 * self.max {
            let share = (self.average - self.max) / self.max;
            return Zone::Early(self.max_p + (1.0 - self.max_p) * share);
        }
        Zone::Above
    }

    /// p_b of a packet of this size.
    fn of_size(&self, p: f64, size: f64) -> f64 {
        if self.by_size == BySize::Before { (p * size / self.mean_packet).min(1.0) } else { p }
    }

    /// Whether a packet of this size is dropped early.
    fn decides(&mut self, p: f64, size: f64) -> bool {
        let p = self.of_size(p, size);
        if self.spacing == Spacing::Linux {
            let due = self.count > 0 && self.count as f64 * p >= self.gap;
            // The first packet above `min` only draws.
            if due || self.count == 0 {
                self.gap = self.stream.uniform();
            }
            return due;
        }
        let count = match self.by_size {
            BySize::After => (self.count_bytes / self.mean_packet).trunc(),
            _ => self.count as f64,
        };
        let share = count * p;
        let mut p = match self.spacing {
            Spacing::Wait if share < 1.0 => 0.0,
            Spacing::Wait if share < 2.0 => p / (2.0 - share),
            Spacing::Uniform if share < 1.0 => p / (1.0 - share),
            Spacing::None => p,
            _ => 1.0,
        };
        if self.by_size == BySize::After {
            p *= size / self.mean_packet;
        }
        p >= 1.0 || (p > 0.0 && self.stream.uniform() < p)
    }

    fn restart_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0.0;
    }
}

impl OnArrival for Red {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict {
        self.observe(arrival);
        let size = f64::from(arrival.packet.size());
        let capable = self.ecn && arrival.packet.is_ecn_capable();
        let zone = self.zone(arrival);
        self.p = match zone {
            Zone::Below => 0.0,
            Zone::Early(p) => self.of_size(p, size),
            Zone::Above => 1.0,
        };
        self.count += 1;
        self.count_bytes += size;
        let mut verdict = Verdict::Take;
        match zone {
            Zone::Below => {
                self.count = -1;
                self.count_bytes = 0.0;
                self.above = false;
            }
            // One after packets that were all dropped, with the average above `max`, can be the first, too.
            Zone::Early(_) if self.passes_first && !self.above => {
                self.above = true;
                self.count = 1;
                self.count_bytes = size;
            }
            Zone::Early(p) => {
                if self.decides(p, size) {
                    self.restart_count();
                    let marks = capable && p <= self.mark_limit;
                    let reason = drop_reason::EARLY;
                    verdict = if marks { Verdict::Mark(reason) } else { Verdict::Drop(reason) };
                }
            }
            Zone::Above => {
                self.restart_count();
                if self.spacing == Spacing::Linux {
                    self.count = -1;
                }
                let reason = drop_reason::FORCED;
                let marks = capable && !self.hard_drop;
                verdict = if marks { Verdict::Mark(reason) } else { Verdict::Drop(reason) };
            }
        }
        let fits = arrival.idle_since.is_some()
            || self.limit.has_room(
                arrival.packets,
                arrival.bytes,
                u64::from(arrival.packet.size()),
            );
        if !fits && !matches!(verdict, Verdict::Drop(_)) {
            self.restart_count();
            verdict = Verdict::Drop(drop_reason::QUEUE_FULL);
        }
        verdict
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        use aqm_variable::{AVERAGE_BYTES, AVERAGE_PACKETS, MAX_P, PROBABILITY};
        show(if self.in_bytes { AVERAGE_BYTES } else { AVERAGE_PACKETS }, self.average);
        show(PROBABILITY, self.p);
        if self.adaptation.is_some() {
            show(MAX_P, self.max_p);
        }
    }

    fn set_rate(&mut self, rate_bps: u64) {
        self.typical_ns = self.mean_packet * 8e9 / rate_bps as f64;
    }
}

/// A number from 0 to 1 to a whole power, by squaring, the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 && product > 0.0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}
