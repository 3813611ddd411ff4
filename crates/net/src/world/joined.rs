//! Parts of a network put together after the run.

use super::{Counters, Part, World};
use crate::channel::Channel;
use crate::flow::{Drops, Endpoint, Flow};
use ackclock_engine::EventQueue;
use ackclock_trace::Recorder;
use ackclock_units::Time;

impl Counters {
    /// Adds what another part has counted.
    pub fn add(&mut self, other: &Self) {
        let Self { events, created, duplicated, delivered, dropped, waiting_to_enter } = other;
        self.events += events;
        self.created += created;
        self.duplicated += duplicated;
        self.delivered += delivered;
        self.waiting_to_enter += waiting_to_enter;
        for (sum, dropped) in self.dropped.iter_mut().zip(dropped) {
            *sum += dropped;
        }
    }
}

impl<Q: EventQueue, R: Recorder> World<Q, R, Part> {
    /// Joins all parts into the first of them, after all were closed: nothing runs after that. What they have recorded
    /// stays where it is.
    pub fn join(parts: &mut [Self]) {
        let Some((first, others)) = parts.split_first_mut() else { return };
        let division = first.boundary.division.clone();
        let flows = first.net.flows.len();
        for other in others.iter_mut() {
            first.counters.add(&std::mem::take(&mut other.counters));
            first.active -= flows - std::mem::replace(&mut other.active, flows);
        }
        let mut channels: Vec<_> = parts
            .iter_mut()
            .map(|part| std::mem::take(&mut part.net.channels).into_iter())
            .collect();
        let joined = division.channels.iter().map(|[from, _]| {
            let (mut own, others) = copies(&mut channels, *from);
            others.for_each(|(_, other): (usize, Channel)| own.add_far_end(&other));
            own
        });
        let joined = joined.collect();
        let mut flows: Vec<_> =
            parts.iter_mut().map(|part| std::mem::take(&mut part.net.flows).into_iter()).collect();
        parts[0].net.channels = joined;
        let joined = division.flows.iter().map(|[from, to]| {
            let (mut own, others) = copies(&mut flows, *from);
            others.for_each(|(part, other)| own.join(other, part == usize::from(*to)));
            own
        });
        parts[0].net.flows = joined.collect();
    }
}

/// The next copy of each part: that of the part that owns it, and the others with their numbers.
fn copies<T>(
    parts: &mut [std::vec::IntoIter<T>],
    owner: u16,
) -> (T, impl Iterator<Item = (usize, T)> + use<T>) {
    let all = parts.iter_mut().map(|part| part.next().expect("all parts have copies of all"));
    let mut all: Vec<(usize, T)> = all.enumerate().collect();
    let (_, own) = all.remove(owner.into());
    (own, all.into_iter())
}

impl Flow {
    /// The sender of the flow belongs to another part.
    pub(super) fn leave_sending_to_another(&mut self) {
        self.armed = Time::NEVER;
        self.started = true;
        if let Endpoint::Tcp(tcp) = &mut self.endpoint {
            tcp.writer = None;
        }
    }

    /// Adds what another part knows of the flow, and its receiver if that is there.
    fn join(&mut self, other: Self, has_receiver: bool) {
        self.dropped += other.dropped;
        for Drops { link, direction, reason, packets } in other.drops {
            self.add_drops(link, direction, reason, packets);
        }
        match (&mut self.endpoint, other.endpoint) {
            (Endpoint::Udp(udp), Endpoint::Udp(other)) => {
                udp.join(*other, has_receiver);
                udp.settles(self.dropped);
            }
            (Endpoint::Tcp(tcp), Endpoint::Tcp(other)) if has_receiver => {
                tcp.finish = other.finish;
                tcp.connection.join(other.connection);
            }
            _ => {}
        }
    }
}
