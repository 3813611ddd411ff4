//! One step of a route.

/// A channel, and on a half-duplex link the direction of travel: what routes and forwarding tables hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Hop(u32);

impl Hop {
    /// Ends a route: the packet has come to its host.
    pub const DELIVER: Self = Self(u32::MAX);
    /// Stands in a forwarding table for a route that is missing.
    pub const NO_ROUTE: Self = Self(u32::MAX);
    /// Stands for the next hop of a channel where it depends on the flow.
    pub const ROUTED: Self = Self(u32::MAX - 1);

    /// Over a channel; `reverse` from the second end of a half-duplex link to the first.
    #[inline]
    pub const fn new(channel: u32, reverse: bool) -> Self {
        Self(channel << 1 | reverse as u32)
    }

    /// The channel.
    #[inline]
    pub const fn channel(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it leads from the second end of a half-duplex link to the first.
    #[inline]
    pub const fn is_reverse(self) -> bool {
        self.0 & 1 == 1
    }
}
