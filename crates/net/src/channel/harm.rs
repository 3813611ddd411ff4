//! What a link does to packets beyond keeping them waiting: it loses, corrupts and duplicates them.
//!
//! Source: the options `loss`, `corrupt` and `duplicate` of tc-netem(8). A corrupted packet travels on, takes room and
//! time as any other, and is dropped by the host that it reaches, whose checksum is wrong. Of a packet that is
//! duplicated the copy arrives at the link right after it; it needs a place in the queue of its own.
//!
//! DEVIATION: netem flips a bit and leaves it to the receiver's checksums to notice; here they always do, in hosts, and
//! in routers for the routers' own messages. Routers' messages are not duplicated.

use super::{Channel, Offer};
use crate::loss::Loss;
use crate::packet::{Kind, Packet};
use ackclock_engine::Stream;

/// Something that happens to each packet with the same probability.
#[derive(Debug, Clone)]
pub struct Chance {
    p: f64,
    stream: Stream,
}

impl Chance {
    /// With this probability and random stream; none if it never happens.
    pub fn new(p: f64, stream: impl FnOnce() -> Stream) -> Option<Self> {
        (p > 0.0).then(|| Self { p, stream: stream() })
    }

    fn happens(&mut self) -> bool {
        self.stream.uniform() < self.p
    }
}

/// What a link does to packets.
#[derive(Debug, Clone, Default)]
pub struct Harm {
    loss: Option<Loss>,
    corruption: Option<Chance>,
    duplication: Option<Chance>,
    corrupted: u64,
    duplicated: u64,
    /// Packets to come that were asked for duplication already.
    asked: u8,
    /// The last packet as it entered.
    pub(super) entered: Packet,
}

impl Harm {
    /// What the three do.
    pub fn new(
        loss: Option<Loss>,
        corruption: Option<Chance>,
        duplication: Option<Chance>,
    ) -> Self {
        Self { loss, corruption, duplication, ..Self::default() }
    }

    fn is_none(&self) -> bool {
        self.loss.is_none() && self.corruption.is_none() && self.duplication.is_none()
    }

    /// This packet came and was dropped for another reason.
    pub(super) fn passes_by(&mut self, packet: &Packet) {
        if let Some(loss) = &mut self.loss {
            loss.passes_by(packet);
        }
    }

    /// The same where it had passed the entry of the link.
    pub(super) fn passes_by_exit(&mut self, packet: &Packet) {
        if let Some(loss) = self.loss.as_mut().filter(|loss| !loss.at_entry) {
            loss.passes_by(packet);
        }
    }

    /// Whether the loss model takes a packet, at the entry of the link or not.
    pub(super) fn loses(&mut self, packet: &Packet, at_entry: bool) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.at_entry == at_entry && loss.loses(packet))
    }

    /// What becomes of the content of a packet that the link transmits.
    pub(super) fn spoil(&mut self, packet: &mut Packet) {
        let spoils = self.corruption.as_mut().is_some_and(Chance::happens);
        if spoils && !packet.is_lost() && !packet.is_corrupted() {
            packet.set_corrupted();
            self.corrupted += 1;
        }
        self.entered = *packet;
    }
}

impl Channel {
    /// Sets what the link does to packets.
    pub fn set_harm(&mut self, harm: Harm) {
        self.harm = (!harm.is_none()).then(|| Box::new(harm));
        self.set_gated();
    }

    /// Whether packets may leave as others than they came, which a walk over the channel would not see.
    pub fn corrupts(&self) -> bool {
        self.harm.as_ref().is_some_and(|harm| harm.corruption.is_some())
    }

    /// Whether packets may come twice: copies are numbered as they are made, which must not be ahead of time.
    pub fn makes_copies(&self) -> bool {
        self.harm.as_ref().is_some_and(|harm| harm.duplication.is_some())
    }

    /// A packet that the loss model has chosen would have come to the far end now.
    pub(crate) fn count_lost(&mut self) {
        self.stats.lost += 1;
    }

    /// Packets that were corrupted here.
    pub fn corrupted(&self) -> u64 {
        self.harm.as_ref().map_or(0, |harm| harm.corrupted)
    }

    /// Packets that were duplicated here.
    pub fn duplicated(&self) -> u64 {
        self.harm.as_ref().map_or(0, |harm| harm.duplicated)
    }

    /// A corrupted packet came over this link to the host that drops it.
    pub(crate) fn count_corrupted(&mut self) {
        self.stats.drops_corrupted += 1;
    }

    /// Whether a packet comes twice; then the next two offers are not asked.
    pub(super) fn duplicates(&mut self, packet: &Packet) -> Option<Offer> {
        let harm = self.harm.as_mut()?;
        if harm.asked > 0 {
            harm.asked -= 1;
            return None;
        }
        let twice =
            packet.kind() != Kind::Router && harm.duplication.as_mut().is_some_and(Chance::happens);
        if twice {
            harm.asked = 2;
            harm.duplicated += 1;
        }
        twice.then_some(Offer::Dropped(Offer::TWICE))
    }
}
