//! Strict priority: a band is served only while all bands before it are empty.
//!
//! Source: Linux `net/sched/sch_prio.c`, where each band has a queue of its own, so that a full one takes no room from
//! another. A transmission that has begun goes on (non-preemptive).
//!
//! DEVIATION: packets here have no field for a class of service; the band follows from the flow's number, or from what
//! the packet is.

use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::{Fates, Held, Place, Store};
use crate::packet::Kind as PacketKind;
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "priority",
    summary: help("Strict priority: a band sends only while all bands before it are empty."),
    references: &["Linux net/sched/sch_prio.c"],
    params: &[
        limit::param("1000 packets"),
        Param::new("bands", Kind::Count, "3", "Number of bands, each with its own `limit`.")
            .at_least("2")
            .at_most("16"),
        Param::new(
            "band",
            Kind::Choice(&[
                Choice::new(
                    "by-flow",
                    "flow i of the file in band i, those beyond in the last one",
                ),
                Choice::new(
                    "by-kind",
                    "ACKs and messages of handshakes and routers first, data in the last one",
                ),
            ]),
            "by-flow",
            "The band of a packet; the first flow has number 0 and goes first.",
        ),
    ],
    label: "priority",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    if chosen.word("band") == "by-kind" && chosen.int("bands") != 3 {
        return Err(Clash::without_effect("bands", "band: by-flow"));
    }
    Ok(())
}

/// Bands, the first of which goes first.
#[derive(Debug, Clone)]
pub struct Priority {
    limit: Limit,
    by_kind: bool,
    bands: Vec<Fifo>,
}

impl Priority {
    pub(super) fn new(chosen: &Chosen, _place: Place) -> Self {
        let bands = chosen.int("bands") as usize;
        Self {
            limit: Limit::new(chosen),
            by_kind: chosen.word("band") == "by-kind",
            bands: vec![Fifo::default(); bands],
        }
    }

    fn band_of(&self, held: &Held) -> usize {
        let last = self.bands.len() - 1;
        match held.packet.kind() {
            PacketKind::Router => 0,
            PacketKind::Data if self.by_kind => last,
            _ if self.by_kind => 0,
            _ => last.min(held.packet.flow() as usize),
        }
    }
}

impl Store for Priority {
    fn enqueue(&mut self, _now: Time, held: Held, idle: bool, fates: &mut Fates) {
        let band = self.band_of(&held);
        let fifo = &mut self.bands[band];
        if idle || self.limit.has_room_in(fifo, held.size()) {
            fifo.push(held);
        } else {
            fates.drop(held, drop_reason::QUEUE_FULL);
        }
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut Fates) -> Option<Held> {
        self.bands.iter_mut().find_map(Fifo::pop)
    }

    fn waiting(&self) -> Vec<Held> {
        self.bands.iter().flat_map(Fifo::iter).collect()
    }
}
