//! Which channels are walked, and which receivers: where a packet may go on at once, ahead of time, because nothing can meet
//! it there.

use super::routes::Routes;
use crate::model::Flow as FlowModel;
use ackclock_net::{Channel, Endpoint, Flow, Hop, Service};
use ackclock_tcp::{Answers, Ends};

/// How packets come to the receiver of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reception {
    /// By events.
    Awaited,
    /// It may be walked, and answers nothing.
    Silent,
    /// It may be walked, and answers at once.
    Prompt,
    /// It may be walked, and its own timer has a part in its answers: they must not share a channel with others.
    Timed,
}

impl Reception {
    /// That of a flow, by the paths of its data and of its answers.
    pub fn of(model: &FlowModel, flow: &Flow, paths: [&[Hop]; 2], channels: &[Channel]) -> Self {
        let on = |hop: &Hop| &channels[hop.channel() as usize];
        let [there, back] = paths;
        let (links, _end) = there.split_at(there.len() - 1);
        // A host drops what is damaged; a flow may end, or its application write, meanwhile.
        if model.stop.is_some() || links.iter().any(|hop| on(hop).corrupts()) {
            return Self::Awaited;
        }
        match &flow.endpoint {
            Endpoint::Udp(_) => Self::Silent,
            Endpoint::Tcp(tcp) if tcp.writer.is_none() && on(&back[0]).takes_time() => {
                match tcp.connection.answers() {
                    Answers::AtOnce => Self::Prompt,
                    Answers::InTime => Self::Timed,
                    Answers::Entangled => Self::Awaited,
                }
            }
            _ => Self::Awaited,
        }
    }
}

/// What feeds a channel.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    Nobody,
    One(u32),
    Several,
}

/// Which of the channels can be walked: all packets that leave them go on, over a receiver or not, to channels that no
/// other channel and no host feeds, that need no event at the end of a transmission, and that make no copies; and they
/// leave as they came, without a mark and undamaged.
pub(super) fn walkable(
    routes: &Routes,
    channels: &[Channel],
    receptions: &[Reception],
) -> Vec<bool> {
    if routes.rows.is_empty() {
        return vec![false; channels.len()];
    }
    let trips = trips(routes, channels.len(), receptions);
    let mut feeders = vec![Feeder::Nobody; channels.len()];
    for Trip { hops, .. } in &trips {
        feeders[hops[0].channel() as usize] = Feeder::Several;
        for step in hops.windows(2) {
            let from = Feeder::One(step[0].channel());
            let feeder = &mut feeders[step[1].channel() as usize];
            if *feeder == Feeder::Nobody {
                *feeder = from;
            } else if *feeder != from {
                *feeder = Feeder::Several;
            }
        }
    }
    let fused = |channel: &Channel| channel.service() == Service::Fused;
    let unchanged = |channel: &Channel| !channel.is_managed() && !channel.corrupts();
    let walkable = channels.iter().map(|channel| fused(channel) && unchanged(channel));
    let mut walkable: Vec<bool> = walkable.collect();
    for Trip { hops, ends_silently } in &trips {
        for step in hops.windows(2) {
            let [from, to] = [0, 1].map(|i| step[i].channel());
            let next = &channels[to as usize];
            walkable[from as usize] &=
                fused(next) && !next.makes_copies() && feeders[to as usize] == Feeder::One(from);
        }
        let last = hops[hops.len() - 1].channel();
        walkable[last as usize] &= ends_silently;
    }
    walkable
}

/// The way of packets from a host that sends them to one where an event awaits them, or that answers nothing.
struct Trip {
    hops: Vec<Hop>,
    ends_silently: bool,
}

fn trips(routes: &Routes, channels: usize, receptions: &[Reception]) -> Vec<Trip> {
    let mut answering = vec![0u32; channels];
    for ([_, back], reception) in routes.paths().zip(receptions) {
        answering[back[0].channel() as usize] += u32::from(*reception != Reception::Silent);
    }
    let mut trips = Vec::new();
    for ([there, back], reception) in routes.paths().zip(receptions) {
        let [there, back] = [there, back].map(|path| &path[..path.len() - 1]);
        let alone = answering[back[0].channel() as usize] == 1;
        let trip = |hops: Vec<Hop>| Trip { hops, ends_silently: false };
        match reception {
            Reception::Silent => trips.push(Trip { hops: there.to_vec(), ends_silently: true }),
            Reception::Prompt => trips.push(trip([there, back].concat())),
            Reception::Timed if alone => trips.push(trip([there, back].concat())),
            _ => trips.extend([there, back].map(|path| trip(path.to_vec()))),
        }
    }
    trips
}
