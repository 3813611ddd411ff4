//! One run in several threads.
//!
//! Each thread runs a part of the network ([`Part`]), and may be ahead of the others by a span of simulated time in which no
//! packet can come from one part to another. The results are those of one thread, bit by bit, however many there are.

mod division;
mod meeting;
mod partition;
mod work;

pub use division::Undivided;

use crate::compile::{Built, Shortcuts, build};
use crate::fitting;
use crate::model::Scenario;
use crate::run::{AnyWorld, Queues, Recording};
use ackclock_engine::EndingQueue;
use ackclock_net::{Counters, Crowd, Network, Part, World};
use ackclock_trace::{Columns, NoRecord, Numbers};
use ackclock_units::Time;
use division::Cut;
use std::sync::Arc;

type PartWorld<R> = World<EndingQueue, R, Part>;

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
pub(crate) struct Divided<R> {
    parts: Vec<PartWorld<R>>,
    /// What all parts have recorded, and the numbers of packets in it.
    records: Option<Columns>,
    numbers: Numbers,
    lookahead: Time,
    end: Time,
    /// The present moment; all events before are handled, and none of it or later.
    now: Time,
    done: bool,
    /// The run ends when all flows are complete: it may be over soon, it is, or nothing is left that could go on.
    completes: bool,
    completing: bool,
    complete: bool,
    idle: bool,
    /// How many packets there were at most.
    crowd: Crowd,
    /// Why only one thread can say where the run ends.
    doubt: Option<Undivided>,
    most_packets: u64,
    threads: Threads,
}

/// The parts of a scenario's network, at most one for each thread; or why it has none.
pub(crate) fn divided(
    scenario: &Scenario,
    shortcuts: Shortcuts,
    threads: usize,
) -> Result<Box<dyn AnyWorld>, Undivided> {
    if scenario.record.is_off() {
        return Ok(Box::new(Divided::new(scenario, shortcuts, threads, |_, _| NoRecord)?));
    }
    let keep = |table: &str| scenario.record.keep(table);
    let columns = |part, parts| Columns::of_part(keep, part, parts);
    let mut divided = Divided::new(scenario, shortcuts, threads, columns)?;
    divided.records = Some(Columns::new(keep));
    Ok(Box::new(divided))
}

impl<R: Recording> Divided<R> {
    fn new(
        scenario: &Scenario,
        shortcuts: Shortcuts,
        threads: usize,
        recorder: impl Fn(usize, usize) -> R,
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
        let (end, completes) = (network.end, network.stop_when_complete);
        // Not by the part: room for twice as much spares the calendar's heap most of what comes from elsewhere.
        let events = network.channels.len() + network.flows.len();
        let mut networks = vec![network; division.parts].into_iter();
        let numbers = 0..fitting::<_, u16>(division.parts);
        let parts = numbers.map(|number| {
            let network = networks.next().expect("one for each part");
            let recorder = recorder(number.into(), division.parts);
            let shadows = !scenario.record.is_of_senders();
            let part = Part::new(number, Arc::clone(&division), shadows);
            World::of_part(network, EndingQueue::new(end, events), recorder, part)
        });
        let parts: Vec<_> = parts.collect();
        Ok(Self {
            numbers: Numbers::new(parts.len()),
            parts,
            records: None,
            lookahead,
            end,
            now: Time::ZERO,
            done: false,
            completes,
            completing: false,
            complete: false,
            idle: false,
            crowd: Crowd::default(),
            doubt: None,
            most_packets: scenario.stop.max_packets,
            threads,
        })
    }

    /// Puts what the parts have recorded in order.
    fn gather(&mut self) {
        let Some(records) = &mut self.records else { return };
        let parts = self.parts.iter_mut().filter_map(|part| part.recorder().columns());
        records.absorb(&mut parts.collect::<Vec<_>>(), &mut self.numbers);
    }

    /// Flows that are not complete.
    fn active(&self) -> usize {
        let flows = self.parts[0].network().flows.len();
        flows - self.parts.iter().map(|part| flows - part.active_flows()).sum::<usize>().min(flows)
    }

    /// How it is divided.
    pub fn threads(&self) -> Threads {
        let events = self.parts.iter().map(|part| part.counters().events).collect();
        Threads { events, ..self.threads.clone() }
    }
}

impl<R: Recording> AnyWorld for Divided<R> {
    fn run(&mut self, budget: u64) -> bool {
        if !self.done {
            self.done = self.run_to(self.end, budget);
            self.gather();
        }
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
        self.active()
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn is_idle(&self) -> bool {
        self.idle
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn is_doubtful(&self) -> bool {
        self.doubt.is_some()
    }

    fn catch_up(&mut self, budget: u64) -> bool {
        let ahead = self.parts.iter().map(World::ahead).max().unwrap_or_default();
        ahead <= self.now || {
            let reached = self.run_to(ahead, budget);
            self.gather();
            reached
        }
    }

    fn close(&mut self) {
        self.catch_up(u64::MAX);
        self.parts.iter_mut().for_each(World::close);
        for part in &mut self.parts {
            part.recorder().columns().into_iter().for_each(Columns::finish_part);
        }
        self.gather();
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
        self.records.as_mut()
    }

    fn into_columns(self: Box<Self>) -> Option<Columns> {
        self.records
    }

    fn threads(&self) -> Option<Threads> {
        Some(Self::threads(self))
    }

    fn undivided(&self) -> Option<Undivided> {
        self.doubt.clone()
    }
}
