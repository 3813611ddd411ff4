//! A policer: drops what is faster than its rate, and holds nothing back.
//!
//! Source: Linux `net/sched/act_police.c`, with the action `drop`; RFC 2697 and 2698 have the same bucket. A packet that finds tokens for all of
//! its bytes takes them and goes on to a drop-tail queue; any other is dropped, and takes none.
//!
//! DEVIATION: Linux counts tokens as time in nanoseconds, cut for each packet; here they are exact.

use super::bucket::Bucket;
use super::limit::{self, Limit};
use super::tbf::{BURST, RATE};
use super::{Arrival, OnArrival, Place, Verdict};
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::param::{Chosen, Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: "policer",
    summary: help(
        "Token bucket policer: drops packets that exceed its rate; followed by drop-tail.",
    ),
    references: &["Linux net/sched/act_police.c", "Flach and others 2016"],
    state: &["tokens-bytes"],
    label: "policer",
    params: &[limit::param("1000 packets"), RATE, BURST],
    ..Entry::BLANK
};

/// The bucket, and the limit of the queue behind it.
#[derive(Debug, Clone)]
pub struct Policer {
    limit: Limit,
    bucket: Bucket,
}

impl Policer {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        Self {
            limit: Limit::new(chosen),
            bucket: Bucket::new(chosen.int("rate_bps"), chosen.int("burst_bytes")),
        }
    }
}

impl OnArrival for Policer {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let size = u64::from(arrival.packet.size());
        self.bucket.refill(arrival.now);
        if self.bucket.wait(size) > ackclock_units::Time::ZERO {
            return Verdict::Drop(drop_reason::OVERLIMIT);
        }
        self.bucket.take(size);
        let idle = arrival.idle_since.is_some();
        if idle || self.limit.has_room(arrival.packets, arrival.bytes, size) {
            Verdict::Take
        } else {
            Verdict::Drop(drop_reason::QUEUE_FULL)
        }
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::TOKENS_BYTES, self.bucket.bytes());
    }
}
