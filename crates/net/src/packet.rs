//! A packet: 24 bytes, moved by value.

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
}

impl Kind {
    /// Code in the record tables.
    pub const fn code(self) -> i32 {
        match self {
            Self::Data => packet_kind::DATA,
            Self::Ack => packet_kind::ACK,
            Self::Router => packet_kind::ROUTER,
        }
    }
}

/// A packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Data: when it was sent. ACK: when the packet was sent that caused it.
    pub stamp: Time,
    /// Packet number; of an ACK, the packet that caused it; of a router's message, the router.
    pub seq: u32,
    /// ACK: number of the arrival at the receiver. Router's message: where its content is kept.
    pub aux: u32,
    /// Flow; [`Packet::NO_FLOW`] for a router's message.
    pub flow: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// Links travelled, as an index into the flow's route.
    pub hop: u8,
    /// Kind and flags.
    tag: u8,
}

const _: () = assert!(size_of::<Packet>() == 24);

impl Packet {
    /// Stands for a flow where there is none.
    pub const NO_FLOW: u32 = u32::MAX;
    const KIND: u8 = 3;
    const REVERSE: u8 = 4;
    const RETRANSMISSION: u8 = 8;
    const LOST: u8 = 16;

    /// A packet of this kind, the other fields zero.
    #[inline]
    pub const fn new(kind: Kind, flow: u32, size: u16) -> Self {
        Self { stamp: Time::ZERO, seq: 0, aux: 0, flow, size, hop: 0, tag: kind as u8 }
    }

    /// What it is.
    #[inline]
    pub const fn kind(&self) -> Kind {
        match self.tag & Self::KIND {
            0 => Kind::Data,
            1 => Kind::Ack,
            _ => Kind::Router,
        }
    }

    /// Whether it travels from the second end of a half-duplex link to the first.
    #[inline]
    pub const fn is_reverse(&self) -> bool {
        self.tag & Self::REVERSE != 0
    }

    /// Sets the direction of travel.
    #[inline]
    pub const fn set_reverse(&mut self, reverse: bool) {
        self.tag = (self.tag & !Self::REVERSE) | ((reverse as u8) * Self::REVERSE);
    }

    /// Whether its data were sent before.
    pub const fn is_retransmission(&self) -> bool {
        self.tag & Self::RETRANSMISSION != 0
    }

    /// Marks it as a retransmission.
    pub const fn set_retransmission(&mut self) {
        self.tag |= Self::RETRANSMISSION;
    }

    /// Whether it will not arrive at the end of the link that it is on.
    #[inline]
    pub const fn is_lost(&self) -> bool {
        self.tag & Self::LOST != 0
    }

    /// Marks it as lost on the link that it is on.
    pub const fn set_lost(&mut self) {
        self.tag |= Self::LOST;
    }

    /// Flow in the record tables.
    pub const fn flow_code(&self) -> i32 {
        if self.flow == Self::NO_FLOW { -1 } else { self.flow as i32 }
    }
}
