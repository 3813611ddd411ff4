//! Which cache lines of a flow its ends use.

use super::{Endpoint, Flow};
use ackclock_memory as memory;
use ackclock_tcp::Ends;
use std::ops::Range;

/// Where a flow has its hops and both ends of a classic connection.
const HOPS: Range<usize> = 0..1;
const RECEIVER: Range<usize> = 0..3;
const SENDER: Range<usize> = 2..9;

impl Flow {
    /// What a segment uses at the receiver will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_receiver(&self) {
        memory::prefetch(self, RECEIVER);
    }

    /// What an ACK uses at the sender will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_sender(&self) {
        memory::prefetch(self, HOPS);
        memory::prefetch(self, SENDER);
    }

    /// Beyond [`Flow::prefetch_receiver`], of families that keep their ends elsewhere.
    #[inline(always)]
    pub(crate) fn prefetch_receiver_elsewhere(&self) {
        if let Endpoint::Tcp(tcp) = &self.endpoint {
            tcp.connection.prefetch_receiver();
        }
    }

    /// Beyond [`Flow::prefetch_sender`], the same.
    #[inline(always)]
    pub(crate) fn prefetch_sender_elsewhere(&self) {
        if let Endpoint::Tcp(tcp) = &self.endpoint {
            tcp.connection.prefetch_sender();
        }
    }
}
