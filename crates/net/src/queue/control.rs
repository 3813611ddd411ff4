//! The rules of CoDel for one queue: when to signal congestion, and how often.
//!
//! Source: RFC 8289 section 5. All decisions fall when packets leave. A queue is *above target* if the packet that
//! leaves has waited for at least `target` and more than one packet of `mtu` bytes stays behind. When it has been so
//! for `interval` the first packet is dropped, or marked; then one more after interval / sqrt(count), count going
//! up with each, until the wait falls below target once. If trouble comes back within 16 intervals, the count goes
//! on from what the last spell added.
//!
//! A packet that is marked is sent, and ends the round: at most one is marked at a time.
//!
//! DEVIATION: Linux counts time in units of 1.024 us; here it is nanoseconds with `square_root: newton`, too.

use super::fifo::Fifo;
use super::{Fates, Held};
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Kind, Param};
use ackclock_units::quantity::Quantity;

pub(super) const TARGET: Param = Param::new(
    "target",
    Kind::Time,
    "5 ms",
    "Acceptable queueing delay; RFC 8289 section 4.2: 5 to 10 % of the interval.",
)
.at_least("1 us")
.at_most("1 d");
pub(super) const INTERVAL: Param = Param::new(
    "interval",
    Kind::Time,
    "100 ms",
    "How long the delay may stay above the target; about the largest common RTT.",
)
.at_least("1 us")
.at_most("1 d");
pub(super) const MTU: Param = Param::new(
    "mtu",
    Kind::Size,
    "1500 B",
    "Nothing is dropped if no more bytes than this remain queued (Linux on Ethernet: 1514 B).",
)
.at_most("65535 B");
pub(super) const CE_THRESHOLD: Param = Param::optional(
    "ce_threshold",
    Kind::Time,
    "none",
    "ECN-capable packets that have waited longer are marked, whatever the other rules say.",
)
.at_most("1 d")
.that_marks();
pub(super) const SQUARE_ROOT: Param = Param::new(
    "square_root",
    Kind::Choice(&[
        Choice::new("exact", "interval / sqrt(count)"),
        Choice::new("newton", "one Newton step in 16 bits for each count (Linux, ns-3)"),
    ]),
    "exact",
    "How the time to the next drop is computed.",
);
pub(super) const ABOVE: Param = Param::new(
    "above",
    Kind::Choice(&[
        Choice::new("at-interval", "dropping may begin when the interval is over"),
        Choice::new("after-interval", "only later than that (Linux, ns-3)"),
    ]),
    "at-interval",
    "Whether exactly one interval above target is enough.",
);
pub(super) const AFTER_MARK: Param = Param::new(
    "after_mark",
    Kind::Choice(&[
        Choice::new("scheduled", "from the moment for which the signal was scheduled (Linux)"),
        Choice::new("now", "from the moment of the mark (ns-3)"),
    ]),
    "scheduled",
    "Start of the interval to the next signal after a mark.",
);

/// Refuses a target above the interval; `hint` says what is usual.
pub(super) fn check_target(chosen: &Chosen, hint: &str) -> Result<(), Clash> {
    let (target, interval) = (chosen.int("target_ns"), chosen.int("interval_ns"));
    if target <= interval {
        return Ok(());
    }
    let [target, interval] = [target, interval].map(|ns| Quantity::Time(ns).to_string());
    Err(Clash {
        param: "target",
        message: format!("`target` ({target}) is above `interval` ({interval})"),
        hint: Some(hint.into()),
    })
}

/// The control law: interval / sqrt(count).
#[inline]
fn law(interval: Time, count: u32) -> Time {
    Time::from_ns((interval.as_ns() as f64 / f64::from(count).sqrt()) as u64)
}

/// Rules between the parameters.
pub(super) fn check(chosen: &Chosen) -> Result<(), Clash> {
    check_target(chosen, "RFC 8289: 5 to 10 % of the interval")?;
    if !chosen.flag("ecn") && chosen.word("after_mark") != "scheduled" {
        return Err(Clash::without_effect("after_mark", "ecn: true"));
    }
    Ok(())
}

/// Whether packets are marked.
pub(super) const fn ecn(default: &'static str) -> Param {
    Param::new("ecn", Kind::Flag, default, "ECN-capable packets are marked rather than dropped.")
        .that_marks()
}

/// Parameters.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    target: Time,
    interval: Time,
    mtu: u64,
    ecn: bool,
    ce_threshold: Option<Time>,
    newton: bool,
    strictly_after: bool,
    mark_from_now: bool,
}

impl Rules {
    pub fn new(chosen: &Chosen) -> Self {
        Self {
            target: Time::from_ns(chosen.int("target_ns")),
            interval: Time::from_ns(chosen.int("interval_ns")),
            mtu: chosen.int("mtu_bytes"),
            ecn: chosen.flag("ecn"),
            ce_threshold: chosen.optional_int("ce_threshold_ns").map(Time::from_ns),
            newton: chosen.word("square_root") == "newton",
            strictly_after: chosen.word("above") == "after-interval",
            mark_from_now: chosen.word("after_mark") == "now",
        }
    }
}

/// State of one queue.
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    /// When the wait will have been above target for an interval; none while it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    /// Count at which the spell of dropping began.
    last_count: u32,
    /// 65536 / sqrt(count), as Linux approximates it.
    reciprocal: u16,
}

impl Control {
    /// The packet to send from `fifo`; `beside` are bytes that wait elsewhere and count as backlog, too.
    pub fn dequeue(
        &mut self,
        now: Time,
        rules: &Rules,
        fifo: &mut Fifo,
        beside: u64,
        fates: &mut Fates,
    ) -> Option<Held> {
        let held = self.regulated(now, rules, fifo, beside, fates)?;
        let late = rules.ce_threshold.is_some_and(|most| held.sojourn(now) > most);
        if late && held.packet.is_ecn_capable() && !held.packet.is_marked() {
            return Some(fates.mark(held, drop_reason::CODEL));
        }
        Some(held)
    }

    /// Shows what it computes.
    pub fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::DROPPING, f64::from(self.dropping));
        show(aqm_variable::COUNT, f64::from(self.count));
    }

    /// More packets than its rules say were dropped: the signal gets stronger.
    pub fn add(&mut self, dropped: u32) {
        self.count += dropped;
    }

    fn regulated(
        &mut self,
        now: Time,
        rules: &Rules,
        fifo: &mut Fifo,
        beside: u64,
        fates: &mut Fates,
    ) -> Option<Held> {
        let (mut held, mut above) = self.take(now, rules, fifo, beside);
        if !self.dropping {
            if above {
                // `above` says that there is a packet.
                if let Some(marked) = fates.mark_or_drop(held?, rules.ecn, drop_reason::CODEL) {
                    held = Some(marked);
                } else {
                    (held, _) = self.take(now, rules, fifo, beside);
                }
                self.begin(now, rules);
            }
            return held;
        }
        self.dropping = above;
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            self.newton_step();
            if let Some(marked) = fates.mark_or_drop(held?, rules.ecn, drop_reason::CODEL) {
                let from = if rules.mark_from_now { now } else { self.drop_next };
                self.drop_next = self.after(from, rules);
                return Some(marked);
            }
            (held, above) = self.take(now, rules, fifo, beside);
            if above {
                self.drop_next = self.after(self.drop_next, rules);
            } else {
                self.dropping = false;
            }
        }
        held
    }

    /// Takes a packet out, and says whether the queue has been above target for long enough to drop it.
    fn take(
        &mut self,
        now: Time,
        rules: &Rules,
        fifo: &mut Fifo,
        beside: u64,
    ) -> (Option<Held>, bool) {
        let Some(held) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        if held.sojourn(now) < rules.target || fifo.bytes() + beside <= rules.mtu {
            self.first_above = None;
            return (Some(held), false);
        }
        let since = *self.first_above.get_or_insert(now + rules.interval);
        (Some(held), if rules.strictly_after { now > since } else { now >= since })
    }

    /// A spell of dropping begins.
    fn begin(&mut self, now: Time, rules: &Rules) {
        self.dropping = true;
        let added = self.count.saturating_sub(self.last_count);
        let lately = now < self.drop_next + rules.interval.times(16);
        if added > 1 && lately {
            self.count = added;
            self.newton_step();
        } else {
            self.count = 1;
            self.reciprocal = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.after(now, rules);
    }

    /// The time of the next signal after one at `from`.
    fn after(&self, from: Time, rules: &Rules) -> Time {
        from + if rules.newton {
            let interval = u128::from(rules.interval.as_ns());
            Time::from_ns(((interval * u128::from(self.reciprocal)) >> 16) as u64)
        } else {
            law(rules.interval, self.count)
        }
    }

    /// One step towards 1 / sqrt(count), of which 16 bits are kept.
    fn newton_step(&mut self) {
        self.reciprocal = (newton_step(u32::from(self.reciprocal) << 16, self.count) >> 16) as u16;
    }
}

/// A Newton step from `root` towards 2^32 / sqrt(count), as Linux rounds it (`codel_Newton_step`, `cobalt_newton_step`).
pub(super) const fn newton_step(root: u32, count: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    let rest = (3u64 << 32).wrapping_sub(count as u64 * square);
    ((rest >> 2).wrapping_mul(root as u64) >> (32 - 2 + 1)) as u32
}
