//! BLUE: drops or marks on arrival with a probability that losses raise and idle times lower; the length of the queue does
//! not count.
//!
//! Source: Feng, Shin, Kandlur, Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM Transactions on Networking 10(4), 2002,
//! figure 4.
//!
//! ```text
//! a packet does not fit, or more than `raise_from` wait:   p := min(1, p + increment)
//! the link has run empty:                                   p := max(0, p - decrement)
//! ```
//!
//! Each only if p has been the same for `freeze`.
//!
//! DEVIATION: that the link has run empty is noticed when the next packet comes; nothing asks for p before.

use super::control;
use super::limit::{self, Limit};
use super::{Arrival, OnArrival, Place, Verdict};
use ackclock_engine::Stream;
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "blue",
    summary: help(
        "Drops on arrival with a probability that increases at losses and decreases when the link is idle.",
    ),
    references: &["Feng, Shin, Kandlur, Saha 2002"],
    params: &[
        limit::param("100 packets"),
        Param::optional(
            "raise_from",
            Kind::SizeOrPackets,
            "none",
            "Queue length that also raises p, before the queue is full (L in the paper).",
        )
        .at_least("1 packet"),
        Param::new("increment", Kind::Real, "0.0025", "Increment of p at a loss (d1).")
            .at_least("0")
            .at_most("1"),
        Param::new(
            "decrement",
            Kind::Real,
            "0.00025",
            "Decrement of p when the link is idle (d2).",
        )
        .at_least("0")
        .at_most("1"),
        Param::new("freeze", Kind::Time, "100 ms", "Minimum time between changes of p.")
            .at_most("1 d"),
        control::ecn("false"),
    ],
    state: &["probability"],
    label: "BLUE",
    ..Entry::BLANK
};

/// Limits, steps, and the probability.
#[derive(Debug, Clone)]
pub struct Blue {
    limit: Limit,
    raise_from: Option<Limit>,
    increment: f64,
    decrement: f64,
    freeze: Time,
    ecn: bool,
    p: f64,
    changed: Time,
    stream: Stream,
}

impl Blue {
    pub(super) fn new(chosen: &Chosen, place: Place) -> Self {
        let raises = ["raise_from_bytes", "raise_from_packets"]
            .iter()
            .any(|name| chosen.optional_int(name).is_some());
        Self {
            limit: Limit::new(chosen),
            raise_from: raises.then(|| Limit::named(chosen, "raise_from")),
            increment: chosen.real("increment"),
            decrement: chosen.real("decrement"),
            freeze: Time::from_ns(chosen.int("freeze_ns")),
            ecn: chosen.flag("ecn"),
            p: 0.0,
            changed: Time::ZERO,
            stream: place.stream,
        }
    }

    fn change(&mut self, at: Time, step: f64) {
        if at >= self.changed + self.freeze {
            self.p = (self.p + step).clamp(0.0, 1.0);
            self.changed = at;
        }
    }
}

impl OnArrival for Blue {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let (packets, bytes) = (arrival.packets, arrival.bytes);
        if let Some(since) = arrival.idle_since {
            self.change(since, -self.decrement);
        } else if !self.limit.has_room(packets, bytes, u64::from(arrival.packet.size())) {
            self.change(arrival.now, self.increment);
            return Verdict::Drop(drop_reason::QUEUE_FULL);
        } else if self.raise_from.as_ref().is_some_and(|from| from.is_reached(packets, bytes)) {
            self.change(arrival.now, self.increment);
        }
        if self.p == 0.0 || self.stream.uniform() >= self.p {
            Verdict::Take
        } else if self.ecn && arrival.packet.is_ecn_capable() {
            Verdict::Mark(drop_reason::EARLY)
        } else {
            Verdict::Drop(drop_reason::EARLY)
        }
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::PROBABILITY, self.p);
    }
}
