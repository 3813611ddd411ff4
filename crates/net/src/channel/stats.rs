//! What a channel counts.

use ackclock_units::Time;

/// What a channel counted. By the present moment only after [`Channel::close`].
///
/// The order of the fields is that of the channel's cache lines.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub struct ChannelStats {
    /// Packets transmitted.
    pub packets: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Sum of waiting times, packets times nanoseconds: the integral of the queue length.
    pub wait_ns: u128,
    /// The same in bytes times nanoseconds.
    pub wait_byte_ns: u128,
    /// Longest queueing delay of the packets that entered.
    pub wait_max: Time,
    /// Most bytes waiting.
    pub bytes_max: u64,
    /// Most packets waiting.
    pub packets_max: u32,
    /// Packets dropped because the queue was full.
    pub drops: u64,
    /// Packets that the loss model has chosen.
    pub losses: u64,
    /// Of these, those that have come to where they are lost: the entry of the link, or its far end.
    pub lost: u64,
    /// Packets that arrived while the link was down.
    pub drops_down: u64,
    /// Corrupted packets that came over the link to the host that dropped them.
    pub drops_corrupted: u64,
    /// Nanoseconds that the transmission going on at the end has taken; the others took their bytes
    /// over the rate.
    pub unfinished_ns: u64,
    /// Packets that had entered and were not transmitted at the end.
    pub unfinished: u64,
}
