//! Token bucket filter: a shaper, which lets a burst through at once and holds back what is faster than its rate.
//!
//! Source: Linux `net/sched/sch_tbf.c`. A packet leaves where the bucket has tokens for all of its bytes; else the queue
//! waits until it has, and so do all packets behind. With `peak_rate` there is a second bucket of depth `mtu`.
//!
//! DEVIATION: Linux counts tokens as time in nanoseconds, cut for each packet; here they are exact.

use super::bucket::Bucket;
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use ackclock_trace::{aqm_variable, drop_reason};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) const RATE: Param = Param::required("rate", Kind::Rate, "Token rate.").at_least("1 bps");
pub(super) const BURST: Param =
    Param::required("burst", Kind::Size, "Bytes that the bucket holds; it starts full.")
        .at_least("64 B");

pub(super) static ENTRY: Entry = Entry {
    name: "tbf",
    summary: help("Token bucket filter: a shaper that delays packets that exceed its rate."),
    references: &["Linux net/sched/sch_tbf.c"],
    params: &[
        limit::param("1000 packets"),
        RATE,
        BURST,
        Param::optional("peak_rate", Kind::Rate, "none", "Maximum rate of bursts."),
        Param::new("mtu", Kind::Size, "1500 B", "Bytes that the bucket of `peak_rate` holds.")
            .at_least("64 B")
            .at_most("65535 B"),
    ],
    state: &["tokens-bytes"],
    label: "token bucket",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    match chosen.optional_int("peak_rate_bps") {
        None if chosen.int("mtu_bytes") != 1500 => Err(Clash::without_effect("mtu", "peak_rate")),
        Some(peak) if peak <= chosen.int("rate_bps") => Err(Clash {
            param: "peak_rate",
            message: "`peak_rate` is not above `rate`".into(),
            hint: Some(
                "it bounds bursts, which `rate` alone lets through at the link's rate".into(),
            ),
        }),
        _ => Ok(()),
    }
}

/// Packets, and the buckets that let them go.
#[derive(Debug, Clone)]
pub struct Tbf {
    limit: Limit,
    fifo: Fifo,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// When the first packet may leave, if it has to wait for tokens.
    ready: Option<Time>,
}

impl Tbf {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        let peak = chosen.optional_int("peak_rate_bps");
        Self {
            limit: Limit::new(chosen),
            fifo: Fifo::default(),
            bucket: Bucket::new(chosen.int("rate_bps"), chosen.int("burst_bytes")),
            peak: peak.map(|rate| Bucket::new(rate, chosen.int("mtu_bytes"))),
            ready: None,
        }
    }
}

impl Store for Tbf {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let size = held.size();
        if !self.bucket.holds(size) || self.peak.as_ref().is_some_and(|peak| !peak.holds(size)) {
            // It could never leave.
            fates.drop(held, drop_reason::OVERLIMIT);
        } else if idle || self.limit.has_room_in(&self.fifo, size) {
            self.fifo.push(held);
        } else {
            fates.drop(held, drop_reason::QUEUE_FULL);
        }
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Option<Held> {
        self.ready = None;
        let size = self.fifo.iter().next()?.size();
        let mut wait = Time::ZERO;
        for bucket in [Some(&mut self.bucket), self.peak.as_mut()].into_iter().flatten() {
            bucket.refill(now);
            wait = wait.max(bucket.wait(size));
        }
        if wait > Time::ZERO {
            self.ready = Some(now + wait);
            return None;
        }
        for bucket in [Some(&mut self.bucket), self.peak.as_mut()].into_iter().flatten() {
            bucket.take(size);
        }
        self.fifo.pop()
    }

    fn ready_at(&self) -> Option<Time> {
        self.ready
    }

    fn waiting(&self) -> Vec<Held> {
        self.fifo.iter().collect()
    }

    fn state(&self, show: &mut dyn FnMut(i32, f64)) {
        show(aqm_variable::TOKENS_BYTES, self.bucket.bytes());
    }
}
