//! Loss on links: packets that vanish for other reasons than a full queue.
//!
//! A loss model decides packet by packet, in the order in which they enter the link. A packet lost at
//! *entry* takes no room and no time on the wire; one lost at *exit* is transmitted and does not arrive.
//! To add a model: a new file with an [`Entry`] and a type with `loses`, one variant here.

mod bernoulli;
mod gilbert_elliott;
mod packets;
mod periodic;
mod segments;

use crate::packet::Packet;
use ackclock_engine::Stream;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param};

/// Loss models that a scenario can name.
pub static ENTRIES: &[&Entry] = &[
    &NONE,
    &bernoulli::ENTRY,
    &gilbert_elliott::ENTRY,
    &periodic::ENTRY,
    &packets::ENTRY,
    &segments::ENTRY,
];

static NONE: Entry = Entry {
    name: "none",
    summary: "Nothing is lost but for want of room.",
    references: &[],
    params: &[],
    defect: false,
};

/// Where packets are lost.
const AT: Param = Param::new(
    "at",
    Kind::Choice(&[
        Choice::new("exit", "after transmission: a lost packet takes room and time"),
        Choice::new("entry", "before the queue: a lost packet takes neither, as in Bene"),
    ]),
    "exit",
    "Where packets are lost.",
);

/// A loss model with its place.
#[derive(Debug, Clone)]
pub struct Loss {
    model: Model,
    /// Packets are lost before the queue.
    pub at_entry: bool,
}

#[derive(Debug, Clone)]
enum Model {
    Bernoulli(bernoulli::Bernoulli),
    GilbertElliott(gilbert_elliott::GilbertElliott),
    Periodic(periodic::Periodic),
    Packets(packets::Packets),
    Segments(segments::Segments),
}

impl Loss {
    /// The model that a scenario chose, with its own random stream; nothing for `none`.
    pub fn new(chosen: &Chosen, stream: Stream) -> Option<Self> {
        let model = match chosen.kind.as_str() {
            "none" => return None,
            "bernoulli" => Model::Bernoulli(bernoulli::Bernoulli::new(chosen, stream)),
            "gilbert-elliott" => {
                Model::GilbertElliott(gilbert_elliott::GilbertElliott::new(chosen, stream))
            }
            "periodic" => Model::Periodic(periodic::Periodic::new(chosen)),
            "packets" => Model::Packets(packets::Packets::new(chosen)),
            "segments" => Model::Segments(segments::Segments::new(chosen)),
            other => panic!("no loss model is named `{other}`"),
        };
        Some(Self { model, at_entry: chosen.word("at") == "entry" })
    }

    /// Whether this packet, the next one to enter, is lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        match &mut self.model {
            Model::Bernoulli(model) => model.loses(),
            Model::GilbertElliott(model) => model.loses(),
            Model::Periodic(model) => model.loses(),
            Model::Packets(model) => model.loses(),
            Model::Segments(model) => model.loses(packet),
        }
    }
}
