//! A moment from which on figures count: the end of a warm-up.
//!
//! Marking changes nothing of what comes after it. Counters go on, and who wants the figures of the rest takes those of
//! the mark away; only extremes begin anew, which can't be taken away.

use super::{Boundary, Counters, World};
use crate::counts::{ChannelCounts, FlowCounts};
use crate::flow::{Endpoint, Stopped};
use crate::hop::Hop;
use ackclock_engine::EventQueue;
use ackclock_tcp::Ends;
use ackclock_trace::Recorder;
use ackclock_units::Time;

/// What was counted until a moment, as if the run had ended there.
#[derive(Debug)]
pub struct Mark {
    /// The moment.
    pub at: Time,
    /// Of each flow.
    pub flows: Vec<FlowCounts>,
    /// Of each channel.
    pub channels: Vec<ChannelCounts>,
    /// Over the whole network.
    pub counters: Counters,
    /// Most packets that had waited in each channel, and the longest wait there.
    extremes: Vec<(u32, Time)>,
}

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// Lets figures begin at the present moment. For networks in which nothing is walked: there counters are ahead of time.
    #[cold]
    #[inline(never)]
    pub fn mark(&mut self) {
        let too_early: Vec<_> = self.net.flows.iter().map(|flow| flow.never_transmitted).collect();
        let count = self.net.channels.len();
        let (mut channels, mut extremes) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for index in 0..count {
            let channel = &mut self.net.channels[index];
            let (counts, extreme) = channel.mark(self.now, &mut self.slots, &mut self.recorder);
            channels.push(counts);
            extremes.push(extreme);
            let waiting: Vec<_> = channel.waiting_packets(&self.slots).collect();
            for packet in waiting {
                self.never_transmitted(Hop::new(index as u32, packet.is_reverse()), packet);
            }
        }
        for index in 0..self.outbox.len() {
            let (hop, packet) = self.outbox[index];
            self.never_transmitted(hop, packet);
        }
        let flows = self.net.flows.iter().map(FlowCounts::of).collect();
        for (flow, counted) in self.net.flows.iter_mut().zip(too_early) {
            flow.never_transmitted = counted;
            match &mut flow.endpoint {
                Endpoint::Tcp(tcp) => tcp.connection.stats_mut().mark(self.now, false),
                Endpoint::Stopped(Stopped { tcp, .. }) => {
                    tcp.connection.stats_mut().mark(self.now, true);
                }
                Endpoint::Udp(_) => {}
            }
        }
        let (at, counters) = (self.now, self.counters);
        self.mark = Some(Box::new(Mark { at, flows, channels, counters, extremes }));
    }

    /// Where figures begin, if that is not the start.
    pub fn marked(&self) -> Option<&Mark> {
        self.mark.as_deref()
    }

    /// Most packets that waited in a channel, and the longest wait, of the whole run.
    pub(super) fn extremes(&self, index: usize) -> (u32, Time) {
        let stats = self.net.channels[index].stats();
        let before = self.mark.as_ref().map(|mark| mark.extremes[index]);
        let (packets, wait) = before.unwrap_or_default();
        (stats.packets_max.max(packets), stats.wait_max.max(wait))
    }
}
