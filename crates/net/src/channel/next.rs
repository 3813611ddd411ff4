//! Where packets go at the end of a channel.

use super::Channel;

/// Where packets go depends on their flow.
pub const ROUTED: u32 = u32::MAX - 1;

impl Channel {
    /// Sets where all packets go from here, forward and backward; `ROUTED` where that depends on the flow.
    pub fn set_next(&mut self, next: [u32; 2]) {
        [self.next, self.next_back] = next;
    }

    /// Where all packets of a direction go from here, or `ROUTED`.
    #[inline]
    pub fn next(&self, reverse: bool) -> u32 {
        if reverse { self.next_back } else { self.next }
    }
}
