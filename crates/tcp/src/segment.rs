//! A segment that leaves its sender, and why.

use crate::handshake::Message;

/// Why a segment is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// For the first time.
    New,
    /// ACKs showed a gap, and the congestion control reacts to it.
    FastRetransmit,
    /// ACKs showed a gap.
    GapRetransmit,
    /// Its timer expired.
    Timeout,
    /// It is a probe for the loss of the last segments (RFC 8985 section 7).
    Probe,
    /// It is a message of the handshake.
    Handshake(Message),
}

/// Flags of a data segment: the ECN field of the IP header (RFC 3168 section 5), and some of the TCP header.
///
/// A packet carries these bits as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// How many bits there are.
    pub const BITS: u32 = 7;
    /// Nothing: congestion means a drop.
    pub const NONE: Self = Self(0);
    /// It may be marked instead of dropped (ECT(0)).
    pub const CAPABLE: Self = Self(0b10);
    /// The same of a scalable flow (ECT(1)).
    pub const SCALABLE: Self = Self(0b01);
    /// It is marked (CE).
    pub const MARKED: Self = Self(0b11);
    /// The window was reduced since the last new segment (CWR).
    pub const REDUCED: Self = Self(1 << 3);
    /// It ends what the application has written so far (PSH).
    pub const PUSH: Self = Self(1 << 4);
    /// It ends the data of the flow (FIN).
    pub const FIN: Self = Self(1 << 5);
    /// For counters, no part of a header: the data were sent before.
    pub const AGAIN: Self = Self(1 << 6);
    /// For the network, no part of the packet: nothing follows at this moment, so that the sender need not be asked.
    pub const LAST: Self = Self(1 << 7);

    /// The flags of these bits.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & ((1 << Self::BITS) - 1))
    }

    /// Those that a packet carries.
    #[inline]
    #[must_use]
    pub const fn of_packet(self) -> Self {
        Self::from_bits(self.0)
    }

    /// The bits.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// These and others.
    #[inline]
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// These and others, if they are wanted.
    #[inline]
    #[must_use]
    pub const fn with_if(self, wanted: bool, others: Self) -> Self {
        Self(self.0 | (others.0 * wanted as u8))
    }

    /// Whether all of these are set.
    #[inline]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether it has nothing that a receiver reacts to: neither a mark, nor CWR, nor FIN.
    #[inline]
    pub const fn are_plain(self) -> bool {
        self.0 & (0b01 | Self::REDUCED.0 | Self::FIN.0) == 0
    }

    /// Whether it says anything about congestion that a receiver reacts to.
    #[inline]
    pub const fn concern_ecn(self) -> bool {
        self.has(Self::MARKED) || self.has(Self::REDUCED)
    }
}

/// A packet to send now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Packet number.
    pub seq: u32,
    /// Payload bytes; of a message of the handshake, all its bytes.
    pub payload: u16,
    /// Why.
    pub cause: Cause,
    /// What it says besides.
    pub flags: Flags,
}

// It is handed on in a register.
const _: () = assert!(size_of::<Option<Segment>>() == 8);
