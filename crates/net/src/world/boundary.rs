//! Where that ends which one world sets in motion.
//!
//! The whole network is the rule, and asks nothing at run time. A run in several threads divides it: see
//! [`Part`](super::Part).

use ackclock_units::Time;

use crate::packet::Packet;
use ackclock_tcp::{Note, Word};

/// What a world is a part of.
pub trait Boundary: Send + Sync {
    /// Whether this is a part of a network at all.
    const IS_PART: bool;
    /// Whether packets that have gone to another part over this channel are followed to its far end here, too: for records,
    /// which are written when a packet arrives.
    fn shadows(&self, channel: u32) -> bool;
    /// Whether the far end of a channel belongs to another part.
    fn leads_away(&self, channel: u32) -> bool;
    /// Whether the sender of a flow belongs here; so do its writer and its start.
    fn sends(&self, flow: u32) -> bool;
    /// Whether this is the part that counts what all have.
    fn is_first(&self) -> bool;
    /// Whether the arrivals of a channel are events only because it leads to another part.
    fn is_extra(&self, channel: u32) -> bool;
    /// A packet will reach the far end of a channel that leads away, with what it carries besides and its number in the
    /// records, if it has one.
    fn send(
        &mut self,
        arrival: Time,
        channel: u32,
        packet: Packet,
        note: Option<Note>,
        id: Option<i64>,
    );
    /// The part of the receiver of a flow, if it is another one, has to know this from now on.
    fn tell(&mut self, now: Time, flow: u32, word: impl FnOnce() -> Word);
}

/// The whole network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole;

impl Boundary for Whole {
    const IS_PART: bool = false;

    #[inline(always)]
    fn shadows(&self, _channel: u32) -> bool {
        false
    }

    #[inline(always)]
    fn leads_away(&self, _channel: u32) -> bool {
        false
    }

    #[inline(always)]
    fn sends(&self, _flow: u32) -> bool {
        true
    }

    #[inline(always)]
    fn is_first(&self) -> bool {
        true
    }

    #[inline(always)]
    fn is_extra(&self, _channel: u32) -> bool {
        false
    }

    #[inline(always)]
    fn send(
        &mut self,
        _arrival: Time,
        _channel: u32,
        _packet: Packet,
        _note: Option<Note>,
        _id: Option<i64>,
    ) {
    }

    #[inline(always)]
    fn tell(&mut self, _now: Time, _flow: u32, _word: impl FnOnce() -> Word) {}
}
