//! What the next events will use is on its way into the cache while an event is handled.
//!
//! Each event of a large network is about another flow, whose links, packets and ends are in no cache. What an arrival uses
//! is found step by step: the channel has the packet, that has the flow, and that has the channels where it goes on. Each
//! step would wait for memory. Here the steps are taken while events before it are handled, one for each event. If
//! something else comes between them or the packet is another one, what was prefetched is not used, and nothing else changes.

use super::{Boundary, World};
use crate::channel::Channel;
use crate::hop::Hop;
use crate::packet::Kind;
use ackclock_engine::EventQueue;
use ackclock_trace::Recorder;

/// Events between the one at which the first step is taken and the arrival: one for each of the others, and one for
/// what the last of them has asked for.
const BETWEEN: usize = 3;

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// Goes a step for each of the next arrivals. Events of other kinds are few.
    #[inline(always)]
    pub(super) fn prefetch(&mut self) {
        let foreseen = self.queue.foresee(BETWEEN).wrapping_sub(self.arrivals);
        let [second, third] = self.foreseen;
        self.foreseen = [foreseen, second];
        let channels = &self.net.channels;
        if let Some(channel) = channels.get(foreseen as usize) {
            channel.prefetch();
        }
        if let Some(channel) = channels.get(second as usize) {
            self.prefetch_flow(channel);
        }
        if let Some(channel) = channels.get(third as usize) {
            self.prefetch_way(channel);
        }
    }

    /// The packet that follows, and the end of the flow to which the arriving one goes. ACKs that have not come to their last
    /// link are in the hands of links only, while data may come to a receiver that is walked.
    #[inline(always)]
    fn prefetch_flow(&self, channel: &Channel) {
        channel.prefetch_second(&self.slots);
        let packet = channel.front_packet();
        let Some(flow) = self.net.flows.get(packet.flow() as usize) else { return };
        if packet.kind() == Kind::Data {
            flow.prefetch_receiver();
        } else if channel.next() == Hop::DELIVER {
            flow.prefetch_sender();
        }
    }

    /// Where the packet goes on, or the answer to it. The channel that it enters is shared by many flows in most networks, and
    /// in the cache; the one after it, which may be walked, is not.
    #[inline(always)]
    fn prefetch_way(&self, channel: &Channel) {
        let packet = channel.front_packet();
        let Some(flow) = self.net.flows.get(packet.flow() as usize) else { return };
        let ends_here = channel.next() == Hop::DELIVER;
        if !ends_here {
            self.prefetch_channel(self.net.hop(packet.flow(), packet.hops() + 2));
        }
        if packet.kind() == Kind::Data {
            flow.prefetch_receiver_elsewhere();
            self.prefetch_channel(Some(flow.first[1]));
        } else if ends_here {
            flow.prefetch_sender_elsewhere();
            self.prefetch_channel(Some(flow.first[0]));
        }
    }

    #[inline(always)]
    fn prefetch_channel(&self, hop: Option<Hop>) {
        if let Some(hop) = hop
            && let Some(channel) = self.net.channels.get(hop.channel() as usize)
        {
            channel.prefetch_for_entry();
        }
    }
}
