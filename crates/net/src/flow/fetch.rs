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
    pub(crate) fn fetch_receiver(&self) {
        memory::fetch(self, RECEIVER);
    }

    /// What an ACK uses at the sender will be read soon.
    #[inline(always)]
    pub(crate) fn fetch_sender(&self) {
        memory::fetch(self, HOPS);
        memory::fetch(self, SENDER);
    }

    /// Beyond [`Flow::fetch_receiver`], of families that keep their ends elsewhere.
    #[inline(always)]
    pub(crate) fn fetch_receiver_elsewhere(&self) {
        if let Endpoint::Tcp(tcp) = &self.endpoint {
            tcp.connection.fetch_receiver();
        }
    }

    /// Beyond [`Flow::fetch_sender`], the same.
    #[inline(always)]
    pub(crate) fn fetch_sender_elsewhere(&self) {
        if let Endpoint::Tcp(tcp) = &self.endpoint {
            tcp.connection.fetch_sender();
        }
    }
}
