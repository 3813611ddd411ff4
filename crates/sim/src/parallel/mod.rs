//! One run in several threads.
//!
//! Each thread runs a part of the network ([`Part`]). All run for a span of simulated time in which no packet can come
//! from one part to another, exchange what has set out, and go on from the earliest event that is left. The results are
//! those of one thread, bit by bit, however many there are.

mod division;
mod meeting;
mod partition;
mod work;

pub use division::Undivided;

use crate::compile::{Built, Shortcuts, build};
use crate::model::Scenario;
use crate::run::{AnyWorld, Queues};
use ackclock_engine::EndingQueue;
use ackclock_net::{Counters, Network, Part, World};
use ackclock_trace::{Columns, NoRecord};
use ackclock_units::Time;
use division::Cut;
use std::sync::Arc;

type PartWorld = World<EndingQueue, NoRecord, Part>;

/// How a run is divided, and what that has come to so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads {
    /// Threads that run it.
    pub threads: usize,
    /// Channels between parts.
    pub cut_channels: usize,
    /// Nanoseconds for which parts can run side by side.
    pub lookahead_ns: u64,
    /// Spans of time in which they did.
    pub windows: u64,
    /// Events of each.
    pub events: Vec<u64>,
}

/// The parts of a network, and where they are.
pub(crate) struct Divided {
    parts: Vec<PartWorld>,
    lookahead: Time,
    end: Time,
    /// The present moment; all events before are handled, and none of it or later.
    now: Time,
    done: bool,
    /// There may have been more packets than the scenario allows.
    crowded: bool,
    most_packets: u64,
    threads: Threads,
}

impl Divided {
    /// The parts of a scenario's network, at most one for each thread; or why it has none.
    pub fn new(
        scenario: &Scenario,
        shortcuts: Shortcuts,
        threads: usize,
    ) -> Result<Self, Undivided> {
        division::check(scenario)?;
        let Built { network, walkable } = build(scenario, shortcuts, &mut |_| None);
        let Cut { division, lookahead } = division::cut(scenario, &network, &walkable, threads)?;
        let division = Arc::new(division);
        let cut = |channel: usize| division.channels[channel][0] != division.channels[channel][1];
        let mut network = network;
        for (place, channel) in network.channels.iter_mut().enumerate() {
            if walkable[place] && !cut(place) {
                channel.walk();
            }
        }
        let threads = Threads {
            threads: division.parts,
            cut_channels: (0..network.channels.len()).filter(|channel| cut(*channel)).count(),
            lookahead_ns: lookahead.as_ns(),
            ..Threads::default()
        };
        let end = network.end;
        let events = (network.channels.len() + network.flows.len()) / division.parts;
        let mut networks = vec![network; division.parts].into_iter();
        let numbers = 0..division.parts as u16;
        let parts = numbers.map(|number| {
            let network = networks.next().expect("one for each part");
            let part = Part::new(number, Arc::clone(&division));
            World::of_part(network, EndingQueue::new(end, events), NoRecord, part)
        });
        let parts = parts.collect();
        Ok(Self {
            parts,
            lookahead,
            end,
            now: Time::ZERO,
            done: false,
            crowded: false,
            most_packets: scenario.stop.max_packets,
            threads,
        })
    }

    /// How it is divided.
    pub fn threads(&self) -> Threads {
        let events = self.parts.iter().map(|part| part.counters().events).collect();
        Threads { events, ..self.threads.clone() }
    }
}

impl AnyWorld for Divided {
    fn run(&mut self, budget: u64) -> bool {
        self.done = self.done || self.run_to(self.end, budget);
        self.done
    }

    fn now(&self) -> Time {
        self.now
    }

    fn counters(&self) -> Counters {
        let mut all = Counters::default();
        self.parts.iter().for_each(|part| all.add(&part.counters()));
        all
    }

    fn active_flows(&self) -> usize {
        let flows = self.network().flows.len();
        flows - self.parts.iter().map(|part| flows - part.active_flows()).sum::<usize>().min(flows)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn catch_up(&mut self, budget: u64) -> bool {
        let ahead = self.parts.iter().map(World::ahead).max().unwrap_or_default();
        ahead <= self.now || self.run_to(ahead, budget)
    }

    fn close(&mut self) {
        self.catch_up(u64::MAX);
        self.parts.iter_mut().for_each(World::close);
        self.threads.events = self.threads().events;
        World::join(&mut self.parts);
    }

    fn digest(&self) -> u64 {
        self.parts[0].digest()
    }

    fn network(&self) -> &Network {
        self.parts[0].network()
    }

    fn packet_hops(&self) -> u64 {
        self.parts.iter().map(AnyWorld::packet_hops).sum()
    }

    fn attach(&mut self, _decides: Queues<'_>) {}

    fn columns(&mut self) -> Option<&mut Columns> {
        None
    }

    fn into_columns(self: Box<Self>) -> Option<Columns> {
        None
    }

    fn threads(&self) -> Option<Threads> {
        Some(Divided::threads(self))
    }

    fn undivided(&self) -> Option<Undivided> {
        let most = self.most_packets;
        let reason = || {
            format!(
                "about `stop.max_packets` ({most}) packets were in the network at once, and when it ends by that, only one thread can say"
            )
        };
        self.crowded.then(reason)
    }
}
