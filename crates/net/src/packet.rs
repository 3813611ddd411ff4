//! A packet: 24 bytes, moved by value.

use ackclock_tcp::Message;
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

/// A packet.
///
/// Flow, size, hop and flags share one word that is always read and written as a whole: a packet that
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
    /// From the lowest bit: 32 bits of flow, 16 of size, 11 of hop, 5 of kind and flags.
    word: u64,
}

const _: () = assert!(size_of::<Packet>() == 24);

impl Packet {
    /// Stands for a flow where there is none.
    pub const NO_FLOW: u32 = u32::MAX;
    const SIZE: u32 = 32;
    const HOP: u32 = 48;
    const KIND: u32 = 59;
    const HOPS: u64 = (1 << (Self::KIND - Self::HOP)) - 1;
    /// Most links of a route.
    pub const MOST_HOPS: usize = (Self::HOPS / 2) as usize;
    const REVERSE: u64 = 4 << Self::KIND;
    const RETRANSMISSION: u64 = 8 << Self::KIND;
    const LOST: u64 = 16 << Self::KIND;

    /// A packet of this kind, the other fields zero.
    #[inline]
    pub const fn new(kind: Kind, flow: u32, size: u16) -> Self {
        let word = flow as u64 | (size as u64) << Self::SIZE | (kind as u64) << Self::KIND;
        Self { stamp: Time::ZERO, seq: 0, aux: 0, word }
    }

    /// Flow; [`Packet::NO_FLOW`] for a router's message.
    #[inline]
    pub const fn flow(&self) -> u32 {
        self.word as u32
    }

    /// Bytes on the wire.
    #[inline]
    pub const fn size(&self) -> u16 {
        (self.word >> Self::SIZE) as u16
    }

    /// Links travelled, as an index into the flow's route.
    #[inline]
    pub const fn hop(&self) -> usize {
        (self.word >> Self::HOP & Self::HOPS) as usize
    }

    /// Sets the place on the flow's route.
    #[inline]
    pub const fn set_hop(&mut self, hop: usize) {
        self.word = (self.word & !(Self::HOPS << Self::HOP)) | (hop as u64) << Self::HOP;
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
    pub fn kind_code(&self) -> i32 {
        match self.kind() {
            Kind::Data => packet_kind::DATA,
            Kind::Ack => packet_kind::ACK,
            Kind::Router => packet_kind::ROUTER,
            Kind::Handshake => match self.message() {
                Message::Syn => packet_kind::SYN,
                Message::SynAck => packet_kind::SYN_ACK,
                Message::Ack => packet_kind::HANDSHAKE_ACK,
            },
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
        self.word & Self::RETRANSMISSION != 0
    }

    /// Marks it as a retransmission.
    pub const fn set_retransmission(&mut self) {
        self.word |= Self::RETRANSMISSION;
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

    /// Flow in the record tables.
    pub const fn flow_code(&self) -> i32 {
        if self.flow() == Self::NO_FLOW { -1 } else { self.flow() as i32 }
    }
}
