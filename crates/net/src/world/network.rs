//! A network before its first event, and what is counted over all of it.

use crate::channel::Channel;
use crate::flow::Flow;
use crate::hop::Hop;
use crate::routing::distance_vector::DistanceVector;
use crate::routing::graph::Node;
use ackclock_engine::Stream;
use ackclock_trace::drop_reason;
use ackclock_units::Time;

/// Something that happens to a channel at a time.
#[derive(Debug, Clone, Copy)]
pub struct ChannelChange {
    /// When.
    pub at: Time,
    /// The channel.
    pub channel: u32,
    /// Whether it takes packets from now on.
    pub up: Option<bool>,
    /// Rate from now on.
    pub rate_bps: Option<u64>,
    /// Propagation delay from now on.
    pub delay: Option<Time>,
}

/// A network before its first event.
#[derive(Debug, Clone)]
pub struct Network {
    /// Transmitters.
    pub channels: Vec<Channel>,
    /// Node at the far end of each channel, forward and backward.
    pub ends: Vec<[Node; 2]>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Static routes: hops by flow, data in the first half of a flow's row, ACKs in the second.
    pub routes: Vec<Hop>,
    /// Binary logarithm of the length of a row.
    pub row_bits: u32,
    /// Dynamic routing, if there is any.
    pub distance_vector: Option<DistanceVector>,
    /// Number of routers.
    pub routers: usize,
    /// Random order of the packets of a burst, if the scenario asks for it.
    pub burst_order: Option<Stream>,
    /// Packets that hosts send enter their links by events of their own.
    pub queues_sends: bool,
    /// What happens to channels, in order of time.
    pub changes: Vec<ChannelChange>,
    /// When flows are cut off, in order of time, with their numbers.
    pub stops: Vec<(Time, u32)>,
    /// End when all flows are complete, or when nothing can happen any more.
    pub stop_when_complete: bool,
    /// End at this time in any case.
    pub end: Time,
    /// End when more packets are in the network at once.
    pub most_packets: u64,
}

impl Network {
    /// The channels from the sender of a flow to its receiver, and those of the ACKs back; nothing
    /// if routing is dynamic.
    pub fn paths(&self, flow: usize) -> Option<[Vec<&Channel>; 2]> {
        let channels = |path: Vec<usize>| path.into_iter().map(|at| &self.channels[at]).collect();
        self.path_channels(flow).map(|paths| paths.map(channels))
    }

    /// The same by their numbers.
    pub fn path_channels(&self, flow: usize) -> Option<[Vec<usize>; 2]> {
        let row = self.routes.get(flow << self.row_bits..(flow + 1) << self.row_bits)?;
        let (there, back) = row.split_at(row.len() / 2);
        let channels = |hops: &[Hop]| {
            let hops = hops.iter().take_while(|hop| **hop != Hop::DELIVER);
            hops.map(|hop| hop.channel() as usize).collect()
        };
        self.distance_vector.is_none().then(|| [channels(there), channels(back)])
    }
}

impl Network {
    /// Where the way back begins in a flow's row of hops.
    #[inline]
    pub(super) fn way_back(&self) -> usize {
        1 << self.row_bits.saturating_sub(1)
    }

    /// A hop of a flow's row, if there is such a one.
    #[inline(always)]
    pub(super) fn hop(&self, flow: u32, at: usize) -> Option<Hop> {
        self.routes.get(((flow as usize) << self.row_bits) + at).copied()
    }

    /// When something changes next, after so many changes of channels and ends of flows.
    pub(super) fn next_change(&self, changed: usize, cut_off: usize) -> Option<Time> {
        let change = self.changes.get(changed).map(|change| change.at);
        let stop = self.stops.get(cut_off).map(|(at, _)| *at);
        change.into_iter().chain(stop).min()
    }
}

impl Counters {
    /// Packets that were delivered or dropped.
    pub fn gone(&self) -> u64 {
        self.delivered + self.dropped.iter().sum::<u64>()
    }
}

/// What is counted over the whole network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets made by hosts and routers, and copies made by links.
    pub created: u64,
    /// Of these, copies made by links.
    pub duplicated: u64,
    /// Packets that reached their destination.
    pub delivered: u64,
    /// Packets dropped, by the code of the reason.
    pub dropped: [u64; drop_reason::NAMES.len()],
    /// Packets that hosts have sent and that enter their links by events still to come.
    pub waiting_to_enter: u64,
}
