//! Where that ends which one world sets in motion.
//!
//! The whole network is the rule, and asks nothing at run time. A run in several threads divides it: see
//! [`Part`](super::Part).

use ackclock_units::Time;

use crate::packet::Packet;
use ackclock_tcp::{Note, Word};

/// What a world is a part of; what is not said otherwise holds for the whole network.
pub trait Boundary: Send + Sync {
    /// Whether this is a part of a network at all.
    const IS_PART: bool = false;

    /// Whether packets that have gone to another part over this channel are followed to its far end here, too: for records,
    /// which are written when a packet arrives.
    #[inline(always)]
    fn shadows(&self, _channel: u32) -> bool {
        false
    }

    /// Whether the far end of a channel belongs to another part.
    #[inline(always)]
    fn leads_away(&self, _channel: u32) -> bool {
        false
    }

    /// Whether the sender of a flow belongs here; so do its writer and its start.
    #[inline(always)]
    fn sends(&self, _flow: u32) -> bool {
        true
    }

    /// Whether this is the part that counts what all have.
    #[inline(always)]
    fn is_first(&self) -> bool {
        true
    }

    /// Whether the arrivals of a channel are events only because it leads to another part.
    #[inline(always)]
    fn is_extra(&self, _channel: u32) -> bool {
        false
    }

    /// A packet will reach the far end of a channel that leads away, with what it carries besides and its number in the
    /// records, if it has one.
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

    /// The part of the receiver of a flow, if it is another one, has to know this from now on.
    #[inline(always)]
    fn send_word(&mut self, _now: Time, _flow: u32, _word: impl FnOnce() -> Word) {}
}

/// The whole network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole;

impl Boundary for Whole {}
