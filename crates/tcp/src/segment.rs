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

/// What a data segment says about congestion notification (RFC 3168).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Nothing: congestion means a drop.
    #[default]
    Off,
    /// It may be marked instead of dropped (ECT).
    Capable,
    /// The same, and the window was reduced since the last such segment (CWR).
    Reduced,
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
    /// What it says about congestion notification.
    pub ecn: Ecn,
    /// It ends what the application has written (PSH).
    pub push: bool,
    /// It ends the data of the flow (FIN).
    pub fin: bool,
}
