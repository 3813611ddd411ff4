//! A moment from which on figures count: the end of a warm-up.
//!
//! Marking changes nothing of what comes after it. Counters go on, and who wants the figures of the rest takes those of
//! the mark away; only extremes begin anew, which can't be taken away.

use super::{Boundary, Counters, World};
use crate::channel::Channel;
use crate::flow::{Endpoint, Flow, Stopped};
use ackclock_engine::EventQueue;
use ackclock_tcp::Ends;
use ackclock_trace::Recorder;
use ackclock_units::Time;

/// What was counted until a moment, as if the run had ended there.
#[derive(Debug)]
pub struct Mark {
    /// The moment.
    pub at: Time,
    /// Flows, of which only counters are of use.
    pub flows: Vec<Flow>,
    /// Channels, likewise.
    pub channels: Vec<Channel>,
    /// Over the whole network.
    pub counters: Counters,
}

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// Lets figures begin at the present moment. For networks in which nothing is walked: there counters are ahead of time.
    pub fn mark(&mut self) {
        // Copies are brought to the present moment. They stand in the place of what goes on, which has what cannot be
        // copied, such as controllers from outside.
        let mut flows = self.net.flows.clone();
        let mut channels = self.net.channels.clone();
        let (slots, outbox) = (self.slots.clone(), self.outbox.clone());
        let recorder = std::mem::replace(&mut self.recorder, R::silent());
        std::mem::swap(&mut flows, &mut self.net.flows);
        std::mem::swap(&mut channels, &mut self.net.channels);
        self.count_to_now();
        std::mem::swap(&mut flows, &mut self.net.flows);
        std::mem::swap(&mut channels, &mut self.net.channels);
        (self.slots, self.outbox, self.recorder) = (slots, outbox, recorder);

        for flow in &mut self.net.flows {
            match &mut flow.endpoint {
                Endpoint::Tcp(tcp) => tcp.connection.stats_mut().mark(self.now, false),
                Endpoint::Stopped(Stopped { tcp, .. }) => {
                    tcp.connection.stats_mut().mark(self.now, true);
                }
                Endpoint::Udp(_) => {}
            }
        }
        for (channel, copy) in self.net.channels.iter_mut().zip(&mut channels) {
            channel.mark(self.now, copy);
        }
        self.mark = Some(Box::new(Mark { at: self.now, flows, channels, counters: self.counters }));
    }

    /// Where figures begin, if that is not the start.
    pub fn marked(&self) -> Option<&Mark> {
        self.mark.as_deref()
    }

    /// Most packets that waited in a channel, and the longest wait, of the whole run.
    pub(super) fn extremes(&self, index: usize) -> (u32, Time) {
        let stats = self.net.channels[index].stats();
        let before = self.mark.as_ref().map(|mark| mark.channels[index].stats());
        before.map_or((stats.packets_max, stats.wait_max), |before| {
            (stats.packets_max.max(before.packets_max), stats.wait_max.max(before.wait_max))
        })
    }
}
