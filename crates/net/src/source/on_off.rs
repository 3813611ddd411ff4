//! On and off: writes at a constant rate in on-periods, none in the off-periods between them.
//!
//! Source: the sources of ns-2 (The ns Manual, chapter on applications) and of ns-3 (OnOffApplication).
//! What they do follows from two options:
//!
//! | | `write_at` | `remainder` | `first` |
//! | --- | --- | --- | --- |
//! | ns-2 CBR, started and stopped again and again | `start` | `restart` | `on` |
//! | ns-2 Exponential, Pareto | `end` | `whole-writes` | `off` |
//! | ns-3 OnOffApplication | `end` | `carry` | `off` |
//!
//! An on-period takes in its first moment and not its last one; with `write_at: end` it is the other way
//! round, so that an on-period of n distances always has n writes.
//!
//! DEVIATION: ns-3 puts a write that is due at the very end of an on-period off to the next one.

use super::pace::Pace;
use super::period::{ENTRIES as PERIODS, LONGEST, Period};
use super::{RATE, Streams, WRITE, Writes};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "on-off",
    summary: help("A constant rate during on-periods, nothing during off-periods."),
    references: &[
        "The ns Manual, chapter on applications (Application/Traffic/Exponential, Pareto)",
        "ns-3 model library, OnOffApplication",
        "Willinger, Taqqu, Sherman, Wilson: Self-Similarity Through High-Variability, 1997",
    ],
    params: &[
        RATE,
        WRITE,
        Param::required("on", Kind::Registered(PERIODS), "Length of on-periods.")
            .or_value("fixed", "mean"),
        Param::required("off", Kind::Registered(PERIODS), "Length of off-periods.")
            .or_value("fixed", "mean"),
        Param::new(
            "first",
            Kind::Choice(&[
                Choice::new("on", "an on-period"),
                Choice::new("off", "an off-period (ns-2 Exponential and Pareto, ns-3)"),
            ]),
            "on",
            "What comes first.",
        ),
        Param::new(
            "write_at",
            Kind::Choice(&[
                Choice::new("start", "at its start, the first one immediately (ns-2 CBR)"),
                Choice::new("end", "at its end (ns-2 Exponential and Pareto, ns-3)"),
            ]),
            "start",
            "When a write happens within its interval.",
        ),
        Param::new(
            "remainder",
            Kind::Choice(&[
                Choice::new(
                    "carry",
                    "it continues in the next on-period, so that the mean rate is exact (ns-3)",
                ),
                Choice::new(
                    "restart",
                    "it is forgotten (ns-2 CBR that is stopped and started); with `ties: first-come`, of on-periods \
                     that begin together those of earlier flows in the file come first",
                ),
                Choice::new(
                    "whole-writes",
                    "none: on-periods are rounded to whole writes, at least one (ns-2 Exponential and Pareto)",
                ),
            ]),
            "carry",
            "How an interval between writes that the end of an on-period cuts short is treated.",
        ),
    ],
    ..Entry::BLANK
};

/// On-periods without a write that are gone through at once, so that a call always ends.
const MOST_AT_ONCE: usize = 1000;

/// What becomes of a cut distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remainder {
    Carry,
    Restart,
    WholeWrites,
}

/// Rate and periods.
#[derive(Debug, Clone)]
pub struct OnOff {
    pace: Pace,
    on: Period,
    off: Period,
    starts_on: bool,
    at_end: bool,
    remainder: Remainder,
    /// End of this on-period; with whole writes never.
    until: Time,
    /// Writes left in this on-period, if those are what counts.
    left: u64,
    /// The next write begins an on-period.
    begins: bool,
    /// An on-period begins at the next call, and the first write is due so long after.
    pending: Option<Time>,
}

impl OnOff {
    pub(super) fn new(chosen: &Chosen, streams: Streams<'_>) -> Self {
        Self {
            pace: Pace::new(chosen),
            on: Period::new(chosen.inner("on"), streams("on")),
            off: Period::new(chosen.inner("off"), streams("off")),
            starts_on: chosen.word("first") == "on",
            at_end: chosen.word("write_at") == "end",
            remainder: match chosen.word("remainder") {
                "restart" => Remainder::Restart,
                "whole-writes" => Remainder::WholeWrites,
                _ => Remainder::Carry,
            },
            until: Time::ZERO,
            left: 0,
            begins: false,
            pending: None,
        }
    }

    /// Wait for the first write of an on-period that has nothing to carry on.
    fn first_wait(&mut self) -> Time {
        if self.at_end { self.pace.next() } else { Time::ZERO }
    }

    /// Whether a write may be made then in this on-period.
    fn holds(&self, due: Time) -> bool {
        match self.remainder {
            Remainder::WholeWrites => self.left > 0,
            _ => due < self.until || (self.at_end && due == self.until),
        }
    }

    /// When the on-period ends that cannot hold the write due, and how long that write has to wait in
    /// the next one; `before` was the last write.
    fn cut(&mut self, due: Time, before: Time) -> (Time, Time) {
        match self.remainder {
            Remainder::Carry => (self.until, due - self.until),
            Remainder::Restart => (self.until, self.first_wait()),
            // The distance that is due then belongs to the next on-period already.
            Remainder::WholeWrites if self.at_end => (before, due - before),
            Remainder::WholeWrites => (due, Time::ZERO),
        }
    }

    /// The first write of the on-period that begins then, or of a later one.
    fn turn_on(&mut self, mut begin: Time, mut wait: Time) -> Time {
        self.begins = true;
        for _ in 0..MOST_AT_ONCE {
            if begin > LONGEST {
                return Time::NEVER;
            }
            let on = self.on.draw();
            if self.remainder == Remainder::WholeWrites {
                self.left = ((on.as_ns() as f64 / self.pace.exact_ns() + 0.5) as u64).max(1);
            }
            self.until = begin + on;
            let due = begin + wait;
            if self.holds(due) {
                return due;
            }
            let end;
            (end, wait) = self.cut(due, begin);
            begin = end + self.off.draw();
        }
        self.pending = Some(wait);
        begin
    }
}

impl Writes for OnOff {
    fn start(&mut self, now: Time) -> Time {
        let begin = if self.starts_on { now } else { now + self.off.draw() };
        let wait = self.first_wait();
        self.turn_on(begin, wait)
    }

    #[inline(never)]
    fn write(&mut self, now: Time) -> (u32, Time) {
        if let Some(wait) = self.pending.take() {
            return (0, self.turn_on(now, wait));
        }
        self.left = self.left.saturating_sub(1);
        self.begins = false;
        let due = now + self.pace.next();
        let next = if self.holds(due) {
            due
        } else {
            let (end, wait) = self.cut(due, now);
            let begin = end + self.off.draw();
            self.turn_on(begin, wait)
        };
        (self.pace.bytes, next)
    }

    fn is_planned(&self) -> bool {
        self.begins && self.remainder == Remainder::Restart && !self.at_end
    }
}
