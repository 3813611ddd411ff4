//! Loss on links: packets that vanish for other reasons than a full queue.
//!
//! A loss model decides packet by packet, in the order in which they come to the link. A packet lost at
//! *entry* takes no room and no time on the wire; one lost at *exit* is transmitted and does not arrive. Models
//! that count packets count those, too, that the queue or a link that is down drops.
//! To add a model: a new file with an [`Entry`] and a type that implements [`Losses`], and one line in
//! [`registry!`] below.

mod bernoulli;
mod gilbert_elliott;
mod packets;
mod periodic;
mod script;
mod segments;

use crate::packet::{Kind as PacketKind, Packet};
use crate::script::Context;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};
use ackclock_units::registry;

static NONE: Entry = Entry {
    name: "none",
    summary: help("Packets are lost only when a queue is full."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};

/// Where packets are lost.
const AT: Param = Param::new(
    "at",
    Kind::Choice(&[
        Choice::new("exit", "after transmission: a lost packet uses buffer and link"),
        Choice::new("entry", "before the queue: a lost packet uses neither, as in Bene"),
    ]),
    "exit",
    "Where packets are lost.",
);

/// Which packets a model sees.
const APPLIES_TO: Param = Param::new(
    "applies_to",
    Kind::Choice(&[
        Choice::new("all", "all packets"),
        Choice::new("data", "data packets: neither ACKs nor messages of a handshake or of routers"),
        Choice::new("acks", "ACKs without data; handshake messages do not count"),
    ]),
    "all",
    "Which packets it may drop; only these are counted.",
);

/// A loss model with its place.
#[derive(Debug, Clone)]
pub struct Loss {
    model: Model,
    /// The one kind of packets that it sees; none for all.
    only: Option<PacketKind>,
    /// Packets are lost before the queue.
    pub at_entry: bool,
}

/// Decides which packets are lost.
pub trait Losses {
    /// Whether this packet, the next one to enter, is lost.
    fn loses(&mut self, packet: &Packet) -> bool;

    /// This packet came and was dropped for another reason.
    fn passes_by(&mut self, _packet: &Packet) {}
}

registry! {
    /// Any model that loses packets.
    enum Model: Losses [context: Context<'_>], a "loss model" beside NONE {
        Bernoulli: bernoulli as bernoulli::Bernoulli,
        GilbertElliott: gilbert_elliott as gilbert_elliott::GilbertElliott,
        Periodic: periodic as periodic::Periodic,
        Packets: packets as packets::Packets,
        Segments: segments as segments::Segments,
        Script: script as script::Script,
    }
    fn loses(&mut self, packet: &Packet) -> bool;
    fn passes_by(&mut self, packet: &Packet);
}

impl Loss {
    /// The model that a scenario chose; nothing for `none`.
    pub fn new(chosen: &Chosen, context: Context<'_>) -> Option<Self> {
        if chosen.kind == NONE.name {
            return None;
        }
        let only = chosen.find("applies_to").and_then(|_| match chosen.word("applies_to") {
            "data" => Some(PacketKind::Data),
            "acks" => Some(PacketKind::Ack),
            _ => None,
        });
        let at_entry = chosen.word("at") == "entry";
        Some(Self { model: Model::new(chosen, context), only, at_entry })
    }

    fn sees(&self, packet: &Packet) -> bool {
        self.only.is_none_or(|kind| kind == packet.kind())
    }

    /// Whether this packet, the next one to enter, is lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        self.sees(packet) && self.model.loses(packet)
    }

    /// This packet came and was dropped for another reason.
    pub fn passes_by(&mut self, packet: &Packet) {
        if self.sees(packet) {
            self.model.passes_by(packet);
        }
    }
}
