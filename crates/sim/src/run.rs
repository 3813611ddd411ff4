//! Running a scenario.

use crate::compile::{Controllers, Shortcuts, compile};
use crate::figures::Figure;
use crate::model::{Record, Scenario};
use crate::outlook::{Outlook, outlook};
use crate::parallel::{Threads, Undivided, divided};
use crate::summary::{Totals, summarise, summarise_in_rows};
use ackclock_engine::{CalendarQueue, ClockQueue, EventQueue, PackedQueue, Ties, WideQueue};
use ackclock_net::queue::Decides;
use ackclock_net::world::{Boundary, FEW_COPIES};
use ackclock_net::{Counters, Endpoint, Mark, Network, Service, World};
use ackclock_trace::{Columns, NoRecord, Recorder, SenderColumns, Size, Table};
use ackclock_units::Time;
use serde_json::Value;
use std::sync::Arc;

/// Makes what decides for queues whose discipline lives outside the engine, by places of link and direction.
pub type Queues<'a> = &'a mut dyn FnMut(i32, i32) -> Option<Box<dyn Decides>>;

/// Takes text piece by piece.
pub type Rows<'a> = &'a mut dyn FnMut(&[u8]);

/// A world of any kind of queue and recorder.
pub(crate) trait AnyWorld: Send + Sync {
    fn run(&mut self, budget: u64) -> bool;
    /// See [`World::run_until`], [`World::mark`], [`World::marked`]. What has a warm-up is not divided.
    fn run_until(&mut self, _end: Time, _budget: u64) -> bool {
        unreachable!("one thread runs to the end of a warm-up")
    }
    fn mark(&mut self) {
        unreachable!("one thread ends a warm-up")
    }
    fn marked(&self) -> Option<&Mark> {
        None
    }
    fn now(&self) -> Time;
    fn counters(&self) -> Counters;
    fn active_flows(&self) -> usize;
    fn is_complete(&self) -> bool;
    fn is_idle(&self) -> bool;
    fn is_crowded(&self) -> bool;
    /// Whether too many packets may be in the network, and only a run in one thread in which nothing is walked can say.
    fn is_doubtful(&self) -> bool;
    fn catch_up(&mut self, budget: u64) -> bool;
    fn close(&mut self);
    fn digest(&self) -> u64;
    fn network(&self) -> &Network;
    /// How the run is divided among threads, if it is.
    fn threads(&self) -> Option<Threads> {
        None
    }
    /// Why it can't go on divided: one thread has to run it from the start.
    fn undivided(&self) -> Option<Undivided> {
        None
    }
    fn packet_hops(&self) -> u64 {
        self.network().channels.iter().map(|channel| channel.stats().packets).sum()
    }
    fn attach(&mut self, decides: Queues<'_>);
    fn columns(&mut self) -> Option<&mut Columns>;
    fn into_columns(self: Box<Self>) -> Option<Columns>;
}

/// A recorder that may hold columns.
pub(crate) trait Recording: Recorder + Send + Sync {
    fn columns(&mut self) -> Option<&mut Columns>;
    fn into_columns(self) -> Option<Columns>;
}

impl Recording for NoRecord {
    fn columns(&mut self) -> Option<&mut Columns> {
        None
    }

    fn into_columns(self) -> Option<Columns> {
        None
    }
}

impl Recording for SenderColumns {
    fn columns(&mut self) -> Option<&mut Columns> {
        Some(&mut self.0)
    }

    fn into_columns(self) -> Option<Columns> {
        Some(self.0)
    }
}

impl Recording for Columns {
    fn columns(&mut self) -> Option<&mut Columns> {
        Some(self)
    }

    fn into_columns(self) -> Option<Columns> {
        Some(self)
    }
}

impl<Q: EventQueue + Send + Sync, R: Recording, B: Boundary> AnyWorld for World<Q, R, B> {
    fn run(&mut self, budget: u64) -> bool {
        World::run(self, budget)
    }

    fn run_until(&mut self, end: Time, budget: u64) -> bool {
        World::run_until(self, end, budget)
    }

    fn mark(&mut self) {
        World::mark(self);
    }

    fn marked(&self) -> Option<&Mark> {
        World::marked(self)
    }

    fn now(&self) -> Time {
        World::now(self)
    }

    fn counters(&self) -> Counters {
        World::counters(self)
    }

    fn active_flows(&self) -> usize {
        World::active_flows(self)
    }

    fn is_complete(&self) -> bool {
        World::is_complete(self)
    }

    fn is_idle(&self) -> bool {
        World::is_idle(self)
    }

    fn is_crowded(&self) -> bool {
        World::is_crowded(self)
    }

    fn is_doubtful(&self) -> bool {
        World::is_doubtful(self)
    }

    fn catch_up(&mut self, budget: u64) -> bool {
        World::catch_up(self, budget)
    }

    fn close(&mut self) {
        World::close(self);
    }

    fn digest(&self) -> u64 {
        World::digest(self)
    }

    fn network(&self) -> &Network {
        World::network(self)
    }

    fn attach(&mut self, decides: Queues<'_>) {
        World::attach(self, decides);
    }

    fn columns(&mut self) -> Option<&mut Columns> {
        self.recorder().columns()
    }

    fn into_columns(self: Box<Self>) -> Option<Columns> {
        self.into_parts().1.into_columns()
    }
}

/// A run that can be advanced bit by bit.
pub struct Simulation {
    scenario: Arc<Scenario>,
    world: Box<dyn AnyWorld>,
    done: bool,
    /// The records hold as much as they may.
    full: bool,
    /// Why one thread runs it, if more were wanted.
    undivided: Option<Undivided>,
}

/// Records are looked at after this many events, wherever a caller makes pauses: where a limit ends a run
/// must not depend on that. Few enough that even events that cost a millisecond each do not make an
/// endless turn.
pub const LOOK_AFTER: u64 = 500;

/// Threads start and end with each turn.
const TURN_OF_THREADS: u64 = 400 * LOOK_AFTER;

/// What a run leaves behind.
pub struct Output {
    /// The summary, as documented for `summary.json`.
    pub summary: Value,
    /// Recorded tables with their columns.
    pub tables: Vec<Table>,
}

impl Simulation {
    /// A run of this scenario, before its first event.
    pub fn new(scenario: impl Into<Arc<Scenario>>) -> Self {
        Self::with(scenario, Shortcuts::default())
    }

    /// The same with some of the engine's shortcuts switched off.
    pub fn with(scenario: impl Into<Arc<Scenario>>, shortcuts: Shortcuts) -> Self {
        Self::with_controllers(scenario, shortcuts, &mut |_| None)
    }

    /// The same with controllers for the flows whose congestion control lives outside the engine.
    pub fn with_controllers(
        scenario: impl Into<Arc<Scenario>>,
        shortcuts: Shortcuts,
        controllers: Controllers<'_>,
    ) -> Self {
        let scenario = scenario.into();
        let world = world(&scenario, shortcuts, controllers);
        Self { scenario, world, done: false, full: false, undivided: None }
    }

    /// The same in so many threads at most. What can't be divided runs in one: see [`Simulation::undivided`].
    pub fn in_threads(
        scenario: impl Into<Arc<Scenario>>,
        shortcuts: Shortcuts,
        threads: usize,
    ) -> Self {
        let scenario = scenario.into();
        if threads < 2 {
            return Self::with(scenario, shortcuts);
        }
        match divided(&scenario, shortcuts, threads) {
            Err(reason) => Self { undivided: Some(reason), ..Self::with(scenario, shortcuts) },
            Ok(world) => Self { scenario, world, done: false, full: false, undivided: None },
        }
    }

    /// Why one thread runs it, or runs it again from the start, if more were wanted.
    pub fn undivided(&self) -> Option<&str> {
        self.undivided.as_deref()
    }

    /// How the run is divided among threads, if it is.
    pub fn threads(&self) -> Option<Threads> {
        self.world.threads()
    }

    /// Events of a turn that is worth its beginning and its end, and still short.
    pub fn turn(&self) -> u64 {
        if self.world.threads().is_some() { TURN_OF_THREADS } else { LOOK_AFTER }
    }

    /// Hands in what decides for queues whose discipline lives outside the engine; before the first event.
    pub fn attach(&mut self, queues: Queues<'_>) {
        self.world.attach(queues);
    }

    /// Runs at most `budget` events. True if the run is over, or its records hold as much as they may.
    pub fn advance(&mut self, budget: u64) -> bool {
        let budget = budget.min(self.events_left());
        if !FEW_COPIES && self.world.threads().is_some() {
            self.done = self.done || self.world.run(budget);
            match self.world.undivided().or_else(|| self.has_too_many_records()) {
                Some(reason) => self.undivided = Some(reason),
                None => return self.done,
            }
            self.start_again();
        }
        if self.scenario.record.is_off() {
            self.done = self.done || (budget > 0 && self.run(budget));
            if self.world.is_doubtful() {
                self.start_again();
            }
            return self.done || self.events_left() == 0;
        }
        let mut left = budget;
        while left > 0 && !self.done && !self.full {
            let turn = left.min(LOOK_AFTER - self.world.counters().events % LOOK_AFTER);
            self.done = self.run(turn);
            left -= turn;
            if self.world.is_doubtful() {
                self.start_again();
            }
            if let Some(most) = self.scenario.record.limit_bytes
                && self.world.counters().events.is_multiple_of(LOOK_AFTER)
            {
                self.full = self.records().bytes >= most;
            }
        }
        self.done || self.full || self.events_left() == 0
    }

    /// Runs at most `budget` events in one thread, and takes note where the warm-up ends. True if the run is over.
    fn run(&mut self, budget: u64) -> bool {
        let Some(warmup) = self.scenario.warmup.filter(|_| self.world.marked().is_none()) else {
            return self.world.run(budget);
        };
        let before = self.world.counters().events;
        if !self.world.run_until(warmup, budget) {
            return false;
        }
        if self.world.now() < warmup {
            return true;
        }
        self.world.mark();
        self.world.run(budget.saturating_sub(self.world.counters().events - before))
    }

    /// Why one thread has to say where the limit of records ends the run.
    fn has_too_many_records(&mut self) -> Option<Undivided> {
        let most = self.scenario.record.limit_bytes?;
        let reason =
            "the records reach their limit, and when the run ends by that, only one thread can say";
        (self.records().bytes >= most).then(|| reason.to_owned())
    }

    /// One thread runs all from the beginning, and walks nothing if it has to count packets. It records the same rows: those
    /// that were taken out come no second time.
    fn start_again(&mut self) {
        let taken = self.world.columns().map(|columns| columns.taken());
        let walked = !self.world.is_doubtful();
        let shortcuts = Shortcuts { walked, received: walked, ..Shortcuts::default() };
        self.world = world(&self.scenario, shortcuts, &mut |_| None);
        if let (Some(taken), Some(columns)) = (taken, self.world.columns()) {
            columns.leave_out(&taken);
        }
        self.done = false;
    }

    /// Events that the scenario still allows.
    fn events_left(&self) -> u64 {
        let most = self.scenario.stop.events.unwrap_or(u64::MAX);
        most.saturating_sub(self.counters().events)
    }

    /// What the whole run will come to, guessed before it.
    pub fn outlook(&self) -> Outlook {
        outlook(&self.scenario, self.world.network())
    }

    /// How much has been recorded.
    pub fn records(&mut self) -> Size {
        self.world.columns().map_or_else(Size::default, |columns| columns.size())
    }

    /// Takes out what was recorded so far in tables that hold at least this many rows.
    pub fn take_records(&mut self, least_rows: usize) -> Vec<Table> {
        self.world.columns().map_or_else(Vec::new, |columns| columns.take(least_rows))
    }

    /// Sets how many bytes the records may hold; the run ends there.
    pub fn limit_records(&mut self, bytes: u64) {
        Arc::make_mut(&mut self.scenario).record.limit_bytes = Some(bytes);
    }

    /// Present time.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        self.world.counters()
    }

    /// Packets that links have transmitted so far.
    pub fn packet_hops(&self) -> u64 {
        self.world.packet_hops()
    }

    /// Flows that are not complete.
    pub fn active_flows(&self) -> usize {
        self.world.active_flows()
    }

    /// Whether the sender at this place has nothing more to do: all its data arrived, or it was cut off.
    pub fn has_finished(&self, flow: usize) -> bool {
        match &self.network().flows[flow].endpoint {
            Endpoint::Tcp(tcp) => tcp.finish_ack.is_some(),
            Endpoint::Udp(_) => false,
            Endpoint::Stopped(_) => true,
        }
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        self.world.network()
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Goes on to a moment at which a run that was not advanced to its end can be summed up, for at most `budget`
    /// events; true if it is reached. [`Simulation::figures`] goes there in one turn.
    pub fn catch_up(&mut self, budget: u64) -> bool {
        self.world.catch_up(budget)
    }

    /// Ends the run, wherever it is, and sums it up.
    pub fn figures(&mut self) -> Figure<'_> {
        let totals = self.close();
        summarise(&self.scenario, self.world.network(), self.world.marked(), totals)
    }

    /// Ends the run, wherever it is.
    fn close(&mut self) -> Totals {
        if self.scenario.warmup.is_some() && self.world.marked().is_none() {
            // It ends within its warm-up.
            self.world.mark();
        }
        self.world.close();
        Totals {
            end: self.world.now(),
            digest: self.world.digest(),
            counters: self.world.counters(),
            packet_hops: self.packet_hops(),
            complete: self.world.is_complete(),
            idle: self.world.is_idle(),
            crowded: self.world.is_crowded(),
            done: self.done,
            full: self.full && !self.done,
            cut_off: !self.done && self.events_left() == 0,
        }
    }

    /// Ends the run, wherever it is.
    pub fn finish(mut self) -> Output {
        let summary = self.figures().into();
        Output { summary, tables: self.into_tables() }
    }

    /// The same with the summary as JSON text, which takes less memory. With `rows`, the figures of flows and
    /// links go there, line by line (see [`summarise_in_rows`]).
    pub fn finish_as_text(mut self, rows: Option<Rows<'_>>) -> (Vec<u8>, Vec<Table>) {
        let mut text = Vec::new();
        let totals = self.close();
        let (network, mark) = (self.world.network(), self.world.marked());
        match rows {
            Some(rows) => summarise_in_rows(&self.scenario, network, mark, totals, rows),
            None => summarise(&self.scenario, network, mark, totals),
        }
        .write(&mut text);
        (text, self.into_tables())
    }

    fn into_tables(self) -> Vec<Table> {
        self.world.into_columns().map_or_else(Vec::new, Columns::finish)
    }
}

/// Events at a time from which a calendar takes less time than a heap: with fewer the heap has few levels. Where packets are
/// recorded, events take longer, and it pays only where it foresees them.
const FOR_CALENDAR: usize = 200;

/// The world of a scenario, of the kinds of queue and recorder that suit it.
pub(crate) fn world(
    scenario: &Scenario,
    shortcuts: Shortcuts,
    controllers: Controllers<'_>,
) -> Box<dyn AnyWorld> {
    let ties = Ties::new(&scenario.ties);
    let network = compile(scenario, shortcuts, controllers);
    let entities = 2 * network.channels.len() + network.routers + network.flows.len() + 2;
    if shortcuts.packed && ties == Ties::Entity && entities <= PackedQueue::ENTITIES && !FEW_COPIES
    {
        let by_events =
            network.channels.iter().filter(|channel| channel.service() != Service::Walked);
        let events = by_events.count() + network.flows.len();
        let of_senders = scenario.record.is_of_senders();
        let fewest = if of_senders { FOR_CALENDAR } else { CalendarQueue::FORESEES_FROM };
        if events >= fewest {
            with_records(scenario.record, network, CalendarQueue::with_room_for(events))
        } else {
            with_records(scenario.record, network, PackedQueue::new())
        }
    } else {
        assert!(entities <= WideQueue::ENTITIES, "too many links and flows");
        if FEW_COPIES || ties == Ties::FloatingClock {
            with_recorder(scenario.record, network, ClockQueue::new(ties))
        } else {
            with_recorder(scenario.record, network, WideQueue::new(ties))
        }
    }
}

/// With shortcuts through receivers where only what senders know of themselves is recorded.
fn with_records<Q>(record: Record, network: Network, queue: Q) -> Box<dyn AnyWorld>
where
    Q: EventQueue + Send + Sync + 'static,
{
    if record.is_of_senders() && !record.is_off() {
        let columns = Columns::new(|table| record.keep(table));
        return Box::new(World::new(network, queue, SenderColumns(columns)));
    }
    with_recorder(record, network, queue)
}

fn with_recorder<Q>(record: Record, network: Network, queue: Q) -> Box<dyn AnyWorld>
where
    Q: EventQueue + Send + Sync + 'static,
{
    if record.is_off() && !FEW_COPIES {
        Box::new(World::new(network, queue, NoRecord))
    } else {
        Box::new(World::new(network, queue, Columns::new(|table| record.keep(table))))
    }
}
