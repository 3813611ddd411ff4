//! A packet: 24 bytes, moved by value.

use ackclock_tcp::{Flags, Message};
use ackclock_trace::packet_kind;
use ackclock_units::Time;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Data of a flow.
    Data,
    /// An acknowledgment.
    Ack,
    /// A message between routers.
    Router,
    /// A message of a handshake.
    Handshake,
}

/// What the IP header says about explicit congestion notification (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand marks: congestion means a drop.
    NotEct = 0b00,
    /// ECN-capable, the second code point (RFC 9331 gives it a meaning of its own).
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced: the mark.
    Ce = 0b11,
}

/// A packet.
///
/// Flow, size, hops and flags share one word that is always read and written as a whole: a packet that
/// moves on right after its hop was counted would otherwise wait for the narrow store to reach memory.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Data: when it was sent. ACK: when the packet was sent that caused it.
    pub stamp: Time,
    /// Packet number; of an ACK, the packet that caused it; of a router's message, the router.
    pub seq: u32,
    /// ACK: number of the arrival at the receiver. Router's message: where its content is kept. Handshake:
    /// code of the message.
    pub aux: u32,
    /// From the lowest bit: 16 bits of size, 11 of hops, 2 of kind, 3 flags, 2 bits of ECN in the IP header,
    /// ECE, CWR, PSH and FIN of the TCP header, 2 flags, 24 of flow.
    word: u64,
}

const _: () = assert!(size_of::<Packet>() == 24);
// `kind_code` takes the codes of these from their kinds.
const _: () = assert!(packet_kind::DATA == Kind::Data as i32);
const _: () = assert!(packet_kind::ACK == Kind::Ack as i32);
const _: () = assert!(packet_kind::ROUTER == Kind::Router as i32);

impl Default for Packet {
    fn default() -> Self {
        Self::new(Kind::Data, Self::NO_FLOW, 0)
    }
}

/// A packet handed to a function that is not inlined, in three words.
///
/// Calls hand such values over in memory. A packet that is handed to some rare call as it is lies in memory on all other
/// ways, too; and there it is written in parts and then read as a whole, for which the processor waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parcel {
    stamp: Time,
    numbers: u64,
    word: u64,
}

impl Parcel {
    /// The packet.
    #[inline(always)]
    pub const fn open(self) -> Packet {
        let Self { stamp, numbers, word } = self;
        Packet { stamp, seq: numbers as u32, aux: (numbers >> 32) as u32, word }
    }
}

/// What is left of a packet once it has left: flow, size, direction and what else is in its word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline(u64);

impl Outline {
    /// Bytes on the wire.
    #[inline]
    pub const fn size(self) -> u16 {
        self.0 as u16
    }

    /// The packet, without what it carried for the transport.
    pub const fn packet(self) -> Packet {
        Packet { stamp: Time::ZERO, seq: 0, aux: 0, word: self.0 }
    }
}

impl Packet {
    /// The packet, to be handed over.
    #[inline(always)]
    pub(crate) const fn pack(self) -> Parcel {
        let numbers = self.seq as u64 | (self.aux as u64) << 32;
        Parcel { stamp: self.stamp, numbers, word: self.word }
    }

    /// Its outline. Of a message of a handshake the direction is in what it carries: it becomes data or an ACK.
    #[inline]
    pub(crate) fn outline(&self) -> Outline {
        if self.kind() != Kind::Handshake {
            return Outline(self.word);
        }
        let kind = if self.goes_back() { Kind::Ack } else { Kind::Data };
        Outline(self.word & !(3 << Self::KIND) | (kind as u64) << Self::KIND)
    }

    /// Stands for a flow where there is none; flows have lower numbers.
    pub const NO_FLOW: u32 = (1 << (64 - Self::FLOW)) - 1;
    const HOP: u32 = 16;
    const KIND: u32 = 27;
    const ECN: u32 = 32;
    const FLOW: u32 = 40;
    const HOPS: u64 = (1 << (Self::KIND - Self::HOP)) - 1;
    /// Most links of a route.
    pub const MOST_HOPS: usize = (Self::HOPS / 2) as usize;
    const REVERSE: u64 = 4 << Self::KIND;
    const COPY_OF_RETRANSMISSION: u64 = 8 << Self::KIND;
    const LOST: u64 = 16 << Self::KIND;
    const ECE: u64 = 4 << Self::ECN;
    const CWR: u64 = 8 << Self::ECN;
    const RETRANSMISSION: u64 = (Flags::AGAIN.bits() as u64) << Self::ECN;
    const CORRUPTED: u64 = 1 << (Self::ECN + Flags::BITS);

    /// A packet of this kind, the other fields zero.
    #[inline]
    pub const fn new(kind: Kind, flow: u32, size: u16) -> Self {
        let word = (flow as u64) << Self::FLOW | size as u64 | (kind as u64) << Self::KIND;
        Self { stamp: Time::ZERO, seq: 0, aux: 0, word }
    }

    /// A message of a handshake, with the sending time that it carries.
    pub const fn of_handshake(flow: u32, message: Message, size: u16, stamp: Time) -> Self {
        Self { stamp, aux: message as u32, ..Self::new(Kind::Handshake, flow, size) }
    }

    /// Flow; [`Packet::NO_FLOW`] for a router's message.
    #[inline]
    pub const fn flow(&self) -> u32 {
        (self.word >> Self::FLOW) as u32
    }

    /// Bytes on the wire.
    #[inline]
    pub const fn size(&self) -> u16 {
        self.word as u16
    }

    /// Links travelled, as an index into the flow's route.
    #[inline]
    pub const fn hops(&self) -> usize {
        (self.word >> Self::HOP & Self::HOPS) as usize
    }

    /// Sets the place on the flow's route.
    #[inline]
    pub const fn set_hops(&mut self, hops: usize) {
        self.word = (self.word & !(Self::HOPS << Self::HOP)) | (hops as u64) << Self::HOP;
    }

    /// One more link is travelled.
    #[inline]
    pub const fn advance(&mut self) {
        self.word += 1 << Self::HOP;
    }

    /// What it is.
    #[inline]
    pub const fn kind(&self) -> Kind {
        match (self.word >> Self::KIND) & 3 {
            0 => Kind::Data,
            1 => Kind::Ack,
            2 => Kind::Router,
            _ => Kind::Handshake,
        }
    }

    /// The message of a handshake that it is.
    pub fn message(&self) -> Message {
        Message::from_code(self.aux)
    }

    /// Whether it goes from the receiver of its flow to the sender.
    #[inline]
    pub fn goes_back(&self) -> bool {
        match self.kind() {
            Kind::Handshake => self.message() == Message::SynAck,
            kind => kind == Kind::Ack,
        }
    }

    /// Code of its kind in the record tables.
    #[inline]
    pub fn kind_code(&self) -> i32 {
        // The bits as they are: a match on the kind becomes a jump by a table.
        let code = (self.word >> Self::KIND & 3) as i32;
        if code == Kind::Handshake as i32 { Self::message_code(self.message()) } else { code }
    }

    /// The same of a message.
    #[cold]
    fn message_code(message: Message) -> i32 {
        match message {
            Message::Syn => packet_kind::SYN,
            Message::SynAck => packet_kind::SYN_ACK,
            Message::Ack => packet_kind::HANDSHAKE_ACK,
            Message::Fin => packet_kind::FIN,
            Message::Probe => packet_kind::WINDOW_PROBE,
        }
    }

    /// Whether it travels from the second end of a half-duplex link to the first.
    #[inline]
    pub const fn is_reverse(&self) -> bool {
        self.word & Self::REVERSE != 0
    }

    /// Sets the direction of travel.
    #[inline]
    pub const fn set_reverse(&mut self, reverse: bool) {
        self.word = (self.word & !Self::REVERSE) | (reverse as u64 * Self::REVERSE);
    }

    /// Whether its data were sent before.
    pub const fn is_retransmission(&self) -> bool {
        self.word & (Self::RETRANSMISSION | Self::COPY_OF_RETRANSMISSION) != 0
    }

    /// Marks it as a retransmission.
    pub const fn set_retransmission(&mut self) {
        self.word |= Self::RETRANSMISSION;
    }

    /// A link has made it: its source has not sent it again, so that its flags do not say so.
    pub(crate) const fn set_copy(&mut self) {
        if self.is_retransmission() {
            self.word = self.word & !Self::RETRANSMISSION | Self::COPY_OF_RETRANSMISSION;
        }
    }

    /// Whether it will not arrive at the end of the link that it is on.
    #[inline]
    pub const fn is_lost(&self) -> bool {
        self.word & Self::LOST != 0
    }

    /// Marks it as lost on the link that it is on.
    pub const fn set_lost(&mut self) {
        self.word |= Self::LOST;
    }

    /// What its IP header says about congestion.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        match (self.word >> Self::ECN) & 3 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Sets what its IP header says about congestion.
    #[inline]
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.word = (self.word & !(3 << Self::ECN)) | (ecn as u64) << Self::ECN;
    }

    /// Whether its sender and receiver understand marks.
    #[inline]
    pub const fn is_ecn_capable(&self) -> bool {
        self.word & 3 << Self::ECN != 0
    }

    /// Whether a queue has marked it.
    #[inline]
    pub const fn is_marked(&self) -> bool {
        self.word >> Self::ECN & 3 == Ecn::Ce as u64
    }

    /// Flag ECE of the TCP header: the receiver echoes a mark.
    #[inline]
    pub const fn is_ece(&self) -> bool {
        self.word & Self::ECE != 0
    }

    /// Sets ECE.
    #[inline]
    pub const fn set_ece(&mut self, on: bool) {
        self.word = (self.word & !Self::ECE) | (on as u64 * Self::ECE);
    }

    /// Flag CWR of the TCP header: the sender has reduced its window because of a mark.
    #[inline]
    pub const fn is_cwr(&self) -> bool {
        self.word & Self::CWR != 0
    }

    /// Sets CWR.
    #[inline]
    pub const fn set_cwr(&mut self, on: bool) {
        self.word = (self.word & !Self::CWR) | (on as u64 * Self::CWR);
    }

    /// Flags of a data packet.
    #[inline]
    pub const fn flags(&self) -> Flags {
        Flags::from_bits((self.word >> Self::ECN) as u8)
    }

    /// Sets flags of a packet that has none.
    #[inline]
    pub const fn add_flags(&mut self, flags: Flags) {
        self.word |= (flags.bits() as u64) << Self::ECN;
    }

    /// Whether any flag of its headers is set, or its sender understands marks.
    #[inline]
    pub const fn has_flags(&self) -> bool {
        self.flags().bits() & !Flags::AGAIN.bits() != Flags::NONE.bits()
    }

    /// Whether its content is damaged.
    #[inline]
    pub const fn is_corrupted(&self) -> bool {
        self.word & Self::CORRUPTED != 0
    }

    /// Damages its content.
    pub const fn set_corrupted(&mut self) {
        self.word |= Self::CORRUPTED;
    }

    /// Whether it is lost or corrupted.
    #[inline]
    pub const fn is_harmed(&self) -> bool {
        self.word & (Self::LOST | Self::CORRUPTED) != 0
    }

    /// Flow in the record tables.
    pub const fn flow_code(&self) -> i32 {
        if self.flow() == Self::NO_FLOW { -1 } else { self.flow() as i32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        for flow in [0, 1, 0x0055_5555, Packet::NO_FLOW - 1, Packet::NO_FLOW] {
            let mut packet = Packet::new(Kind::Handshake, flow, u16::MAX);
            packet.set_hops(2 * Packet::MOST_HOPS);
            packet.advance();
            packet.set_reverse(true);
            packet.set_lost();
            assert!(packet.is_harmed() && !packet.is_corrupted());
            packet.set_corrupted();
            packet.set_ecn(Ecn::Ect0);
            assert!(packet.is_ecn_capable() && !packet.is_marked());
            assert!(!packet.is_ece() && !packet.is_cwr() && !packet.is_retransmission());
            packet.set_ecn(Ecn::Ce);
            packet.set_ece(true);
            packet.set_cwr(true);
            packet.set_retransmission();
            assert!(packet.flags().has(Flags::AGAIN));
            packet.set_copy();
            assert!(!packet.flags().has(Flags::AGAIN));
            assert_eq!((packet.flow(), packet.size()), (flow, u16::MAX));
            assert_eq!(packet.hops(), 2 * Packet::MOST_HOPS + 1);
            assert_eq!((packet.kind(), packet.ecn()), (Kind::Handshake, Ecn::Ce));
            assert!(packet.is_marked() && packet.is_ece() && packet.is_cwr());
            assert!(packet.is_reverse() && packet.is_lost() && packet.is_retransmission());
            packet.set_ece(false);
            packet.set_cwr(false);
            packet.set_reverse(false);
            packet.set_ecn(Ecn::NotEct);
            assert!(!packet.is_ece() && !packet.is_cwr() && !packet.is_reverse());
            assert!(!packet.is_ecn_capable() && packet.is_lost() && packet.is_corrupted());
        }
    }
}
