//! The event queue: a four-ary heap whose top is replaced in place.
//!
//! While an event is handled its entry stays at the top as a placeholder; afterwards it is replaced
//! by the entity's next event, or removed. That saves the walk of a removal followed by an insertion.
//! Events that the handler schedules for this same moment may be smaller than the placeholder: they
//! stop below it, and the replacement restores the order.
//!
//! Three queues share the heap. [`PackedQueue`] packs time and entity into 64 bits, which halves what
//! the heap moves about; [`WideQueue`] uses 128 bits and can also order equal times by a number;
//! [`ClockQueue`] imitates simulators whose clock is a floating-point number, too.

use crate::calendar::{Calendar, MANY};
use crate::heap::Heap;
use crate::ties::Ties;
use ackclock_units::Time;

const ENTITY_BITS: u32 = 20;
const WIDE_ENTITY_BITS: u32 = 24;

/// A stamp of any queue, for those who keep it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Bits of the event's time by a floating-point clock, in seconds.
    clock: u64,
    number: u64,
}

impl From<u64> for Stamp {
    #[inline]
    fn from(number: u64) -> Self {
        Self { clock: 0, number }
    }
}

impl From<Stamp> for u64 {
    #[inline]
    fn from(stamp: Stamp) -> Self {
        stamp.number
    }
}

/// A queue of pending events in a total order.
pub trait EventQueue {
    /// What an event is given when it is scheduled; orders equal times.
    type Stamp: Copy + Default + From<Stamp> + Into<Stamp> + std::fmt::Debug + Send + Sync;

    /// Whether the stamp of a timer has to be that of the moment in which the timer was set, even if
    /// it enters the queue later.
    #[inline(always)]
    fn stamps_timers(&self) -> bool {
        false
    }

    /// The stamp of an event that is scheduled now and due after `wait` seconds; passed to
    /// [`EventQueue::push`] with it.
    fn stamp(&mut self, wait: f64) -> Self::Stamp;

    /// Whether stamps say anything about the order of events.
    const ORDERS: bool = true;

    /// The stamp of an event due then that was scheduled before the run began, the `rank`-th of them.
    fn stamp_planned(&mut self, due: Time, rank: u32) -> Self::Stamp;

    /// Schedules an event of `entity`.
    fn push(&mut self, time: Time, stamp: Self::Stamp, entity: u32);

    /// The earliest event.
    fn peek(&mut self) -> Option<(Time, u32)>;

    /// Declares that the earliest event is being handled. Ends with [`EventQueue::replace_top`] or
    /// [`EventQueue::pop`].
    fn hold(&mut self);

    /// Replaces the event being handled by the entity's next one.
    fn replace_top(&mut self, time: Time, stamp: Self::Stamp, entity: u32);

    /// Removes the event being handled.
    fn pop(&mut self);

    /// Whether it is worth while to ask what else will happen soon.
    #[inline(always)]
    fn foresees(&self) -> bool {
        false
    }

    /// While an event is handled: whose event is likely to follow after so many others. It may be anybody's.
    #[inline(always)]
    fn foresee(&self, _others: usize) -> u32 {
        0
    }
}

/// Keeps the keys of events that are due within an epoch. Its methods are those of [`EventQueue`].
pub trait Keys {
    /// Schedules an event.
    fn push(&mut self, key: u64);
    /// The least key.
    fn peek(&mut self) -> Option<u64>;
    /// Declares that the event that was peeked at is being handled.
    fn hold(&mut self);
    /// Replaces it.
    fn replace_top(&mut self, key: u64);
    /// Removes it.
    fn pop(&mut self);
    /// As in [`EventQueue`].
    #[inline(always)]
    fn foresees(&self) -> bool {
        false
    }
    /// The key of an event that is likely to follow after so many others, or any other one that was entered.
    #[inline(always)]
    fn foresee(&self, _others: usize) -> u64 {
        0
    }
    /// Another epoch begins; nothing is left of the one before.
    fn restart(&mut self) {}
}

impl Keys for Heap<u64> {
    #[inline(always)]
    fn push(&mut self, key: u64) {
        self.push(key);
    }

    #[inline(always)]
    fn peek(&mut self) -> Option<u64> {
        Self::peek(self)
    }

    #[inline(always)]
    fn hold(&mut self) {
        self.hold();
    }

    #[inline(always)]
    fn replace_top(&mut self, key: u64) {
        self.replace_top(key);
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.pop();
    }
}

/// Orders by (time, entity), packed into 64 bits: 44 bits of nanoseconds (4.9 hours) since an epoch and
/// 20 bits of entity. Events beyond the epoch's reach wait in a side heap; when all others are done
/// the epoch moves on to the earliest of them.
#[derive(Debug)]
pub struct PackedQueue<K = Heap<u64>> {
    near: K,
    far: Heap<u128>,
    epoch: u64,
}

/// A [`PackedQueue`] for many events.
pub type CalendarQueue = PackedQueue<Calendar>;

impl PackedQueue {
    /// Number of entities that a key can distinguish.
    pub const ENTITIES: usize = 1 << ENTITY_BITS;

    /// An empty queue.
    pub const fn new() -> Self {
        Self { near: Heap::new(), far: Heap::new(), epoch: 0 }
    }
}

impl Default for PackedQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl CalendarQueue {
    /// Events at a time from which it foresees the next ones.
    pub const FORESEES_FROM: usize = MANY;

    /// An empty queue for about so many events at a time.
    pub fn with_room_for(events: usize) -> Self {
        Self { near: Calendar::with_room_for(events), far: Heap::new(), epoch: 0 }
    }
}

impl<K: Keys> PackedQueue<K> {
    pub(crate) const REACH: u64 = 1 << (64 - ENTITY_BITS);

    #[inline]
    fn near_key(&self, time: Time, entity: u32) -> Option<u64> {
        debug_assert!(time.as_ns() >= self.epoch, "an event was scheduled in the past");
        let offset = time.as_ns() - self.epoch;
        (offset < Self::REACH).then(|| (offset << ENTITY_BITS) | u64::from(entity))
    }

    /// Moves the epoch on. Only when the earliest event is asked for: until then somebody may still
    /// schedule an earlier one.
    #[cold]
    fn refill(&mut self) -> Option<u64> {
        let first = self.far.peek()?;
        self.epoch = (first >> 64) as u64;
        self.near.restart();
        while let Some(key) = self.far.peek() {
            let (time, entity) = (Time::from_ns((key >> 64) as u64), key as u32);
            let Some(near) = self.near_key(time, entity) else { break };
            self.far.pop();
            self.near.push(near);
        }
        self.near.peek()
    }
}

impl<K: Keys> EventQueue for PackedQueue<K> {
    type Stamp = u64;

    const ORDERS: bool = false;

    #[inline]
    fn stamp(&mut self, _wait: f64) -> u64 {
        0
    }

    fn stamp_planned(&mut self, _due: Time, _rank: u32) -> u64 {
        0
    }

    #[inline]
    fn push(&mut self, time: Time, _number: u64, entity: u32) {
        match self.near_key(time, entity) {
            Some(key) => self.near.push(key),
            None => self.far.push((u128::from(time.as_ns()) << 64) | u128::from(entity)),
        }
    }

    #[inline(always)]
    fn peek(&mut self) -> Option<(Time, u32)> {
        let key = match self.near.peek() {
            Some(key) => key,
            None => self.refill()?,
        };
        let entity = (key & ((1 << ENTITY_BITS) - 1)) as u32;
        Some((Time::from_ns(self.epoch + (key >> ENTITY_BITS)), entity))
    }

    #[inline(always)]
    fn hold(&mut self) {
        self.near.hold();
    }

    #[inline(always)]
    fn replace_top(&mut self, time: Time, number: u64, entity: u32) {
        match self.near_key(time, entity) {
            Some(key) => self.near.replace_top(key),
            None => {
                self.near.pop();
                self.push(time, number, entity);
            }
        }
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.near.pop();
    }

    #[inline(always)]
    fn foresees(&self) -> bool {
        self.near.foresees()
    }

    #[inline(always)]
    fn foresee(&self, others: usize) -> u32 {
        (self.near.foresee(others) & ((1 << ENTITY_BITS) - 1)) as u32
    }
}

/// Orders by (time, number, entity) in 128 bits.
#[derive(Debug)]
pub struct WideQueue {
    heap: Heap<u128>,
    ties: Ties,
}

impl WideQueue {
    /// Number of entities that a key can distinguish.
    pub const ENTITIES: usize = 1 << WIDE_ENTITY_BITS;

    /// An empty queue with this order of simultaneous events.
    pub const fn new(ties: Ties) -> Self {
        Self { heap: Heap::new(), ties }
    }

    #[inline]
    fn key(time: Time, number: u64, entity: u32) -> u128 {
        debug_assert!(number < 1 << (64 - WIDE_ENTITY_BITS));
        (u128::from(time.as_ns()) << 64)
            | (u128::from(number) << WIDE_ENTITY_BITS)
            | u128::from(entity)
    }
}

impl EventQueue for WideQueue {
    type Stamp = u64;

    #[inline]
    fn stamp(&mut self, _wait: f64) -> u64 {
        self.ties.number()
    }

    fn stamp_planned(&mut self, _due: Time, rank: u32) -> u64 {
        self.ties.planned(rank)
    }

    #[inline]
    fn push(&mut self, time: Time, number: u64, entity: u32) {
        self.heap.push(Self::key(time, number, entity));
    }

    #[inline]
    fn peek(&mut self) -> Option<(Time, u32)> {
        let key = self.heap.peek()?;
        let entity = (key & ((1 << WIDE_ENTITY_BITS) - 1)) as u32;
        Some((Time::from_ns((key >> 64) as u64), entity))
    }

    #[inline]
    fn hold(&mut self) {
        self.heap.hold();
    }

    #[inline]
    fn replace_top(&mut self, time: Time, number: u64, entity: u32) {
        self.heap.replace_top(Self::key(time, number, entity));
    }

    #[inline]
    fn pop(&mut self) {
        self.heap.pop();
    }
}

/// Orders by (time, time of a floating-point clock, number, entity).
///
/// Bene's clock holds seconds in 64 bits, and each event adds its wait to it. Two sums of waits that are
/// equal on paper differ by rounding errors, so the clock has its own opinion on the order of events that
/// belong to the same nanosecond. Those errors are far below a nanosecond in runs of less than a day.
///
/// By other rules the clock stands still, and the order is that of [`WideQueue`]: one queue for all rules.
#[derive(Debug)]
pub struct ClockQueue {
    heap: Heap<(u128, u64)>,
    ties: Ties,
    /// Present time by the clock, in seconds.
    clock: f64,
    count: u64,
}

impl ClockQueue {
    /// An empty queue with this order of simultaneous events.
    pub const fn new(ties: Ties) -> Self {
        Self { heap: Heap::new(), ties, clock: 0.0, count: 0 }
    }

    #[inline]
    fn key(time: Time, stamp: Stamp, entity: u32) -> (u128, u64) {
        debug_assert!(stamp.number < 1 << (64 - WIDE_ENTITY_BITS));
        let time = (u128::from(time.as_ns()) << 64) | u128::from(stamp.clock);
        (time, (stamp.number << WIDE_ENTITY_BITS) | u64::from(entity))
    }
}

impl EventQueue for ClockQueue {
    type Stamp = Stamp;

    #[inline]
    fn stamps_timers(&self) -> bool {
        self.ties == Ties::FloatingClock
    }

    #[inline]
    fn stamp(&mut self, wait: f64) -> Stamp {
        if self.ties != Ties::FloatingClock {
            return self.ties.number().into();
        }
        self.count += 1;
        // Times are not negative, so their bits are in the order of the numbers.
        Stamp { clock: (self.clock + wait).to_bits(), number: self.count }
    }

    fn stamp_planned(&mut self, due: Time, rank: u32) -> Stamp {
        if self.ties != Ties::FloatingClock {
            return self.ties.planned(rank).into();
        }
        Stamp { clock: due.as_secs().to_bits(), number: u64::from(rank) }
    }

    #[inline]
    fn push(&mut self, time: Time, stamp: Stamp, entity: u32) {
        self.heap.push(Self::key(time, stamp, entity));
    }

    #[inline]
    fn peek(&mut self) -> Option<(Time, u32)> {
        let (time, place) = self.heap.peek()?;
        let entity = (place & ((1 << WIDE_ENTITY_BITS) - 1)) as u32;
        Some((Time::from_ns((time >> 64) as u64), entity))
    }

    /// Python's `sched`, on which Bene is built, waits for the difference until an event is due, and the
    /// clock adds that up: after a long wait it may be off the event's time by a rounding error.
    #[inline]
    fn hold(&mut self) {
        if let Some((time, _)) = self.heap.peek() {
            let due = f64::from_bits(time as u64);
            while due > self.clock {
                self.clock += due - self.clock;
            }
        }
        self.heap.hold();
    }

    #[inline]
    fn replace_top(&mut self, time: Time, stamp: Stamp, entity: u32) {
        self.heap.replace_top(Self::key(time, stamp, entity));
    }

    #[inline]
    fn pop(&mut self) {
        self.heap.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_math::random::Stream;
    use std::collections::BTreeSet;

    /// Runs a random schedule and checks each event against a sorted set. Handlers schedule events
    /// for the same moment, near and beyond the packed epoch, and replace or remove themselves.
    fn check(queue: &mut impl EventQueue<Stamp = u64>, seed: u64) {
        let mut random = Stream::new(seed, "schedule");
        let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
        for entity in 0..200 {
            let time = random.below(1000) as u64;
            queue.push(Time::from_ns(time), 0, entity);
            model.insert((time, entity));
        }
        let mut fresh = 200;
        for _ in 0..20_000 {
            let Some((time, entity)) = queue.peek() else { break };
            let now = time.as_ns();
            assert_eq!(model.pop_first(), Some((now, entity)));
            queue.hold();
            let later = |random: &mut Stream| match random.below(4) {
                0 => now,
                1 => now + random.below(1_000) as u64,
                2 => now + random.below(20_000_000_000_000) as u64,
                _ => now + 40_000_000_000_000 + random.below(1_000) as u64,
            };
            for _ in 0..random.below(3) {
                if model.len() < 400 {
                    fresh += 1;
                    // Small and large entities, so that some come before the one being handled.
                    let other = if random.below(2) == 0 { fresh } else { 900_000 - fresh };
                    let at = later(&mut random);
                    queue.push(Time::from_ns(at), 0, other);
                    model.insert((at, other));
                }
            }
            if random.below(3) > 0 {
                let at = later(&mut random);
                queue.replace_top(Time::from_ns(at), 0, entity);
                model.insert((at, entity));
            } else {
                queue.pop();
            }
        }
    }

    #[test]
    fn all_queues_keep_the_total_order() {
        for seed in 0..20 {
            check(&mut PackedQueue::new(), seed);
            check(&mut CalendarQueue::with_room_for(100), seed);
            check(&mut WideQueue::new(Ties::Entity), seed);
        }
    }

    #[test]
    fn a_calendar_keeps_the_order_of_more_events_than_a_day_holds() {
        for crowd in [10, 60, 300] {
            let mut queue = CalendarQueue::with_room_for(4_000);
            for entity in 0..4_000 {
                let moment = u64::from(entity * 7919 % 4_000) / crowd;
                queue.push(Time::from_ns(moment * 500), 0, entity);
            }
            let mut before = (Time::ZERO, 0);
            for _ in 0..40_000 {
                let event = queue.peek().expect("they all go on");
                assert!(event > before || before == (Time::ZERO, 0), "{event:?} after {before:?}");
                before = event;
                queue.hold();
                queue.replace_top(event.0 + Time::from_ns(100_000), 0, event.1);
            }
        }
    }

    #[test]
    fn a_large_calendar_foresees_most_events() {
        const OTHERS: usize = 3;
        let entities = 10_000;
        let mut queue = CalendarQueue::with_room_for(entities as usize);
        let mut random = Stream::new(1, "schedule");
        for entity in 0..entities {
            queue.push(Time::from_ns(random.below(1_000_000) as u64), 0, entity);
        }
        let mut foreseen = std::collections::VecDeque::new();
        let mut met = 0;
        let events = 100_000;
        for _ in 0..events {
            let (now, entity) = queue.peek().expect("they all go on");
            queue.hold();
            assert!(queue.foresees());
            if foreseen.len() > OTHERS {
                met += u32::from(foreseen.pop_front() == Some(entity));
            }
            foreseen.push_back(queue.foresee(OTHERS));
            queue.replace_top(now + Time::from_ns(1 + random.below(1_000_000) as u64), 0, entity);
        }
        // The others were not known when they were so near.
        assert!(met > events * 8 / 10, "{met} of {events}");
    }

    #[test]
    fn numbers_come_before_entities() {
        let mut queue = WideQueue::new(Ties::FirstCome { count: 0 });
        for entity in [5, 3, 9] {
            let stamp = queue.stamp(0.0);
            queue.push(Time::from_ns(1), stamp, entity);
        }
        let mut order = Vec::new();
        while let Some((_, entity)) = queue.peek() {
            order.push(entity);
            queue.hold();
            queue.pop();
        }
        assert_eq!(order, [5, 3, 9]);
    }

    #[test]
    fn a_floating_point_clock_tells_a_time_from_itself() {
        // 0.1 s three times is later than 0.3 s by a rounding error, in the same nanosecond.
        let mut queue = ClockQueue::new(Ties::FloatingClock);
        let stamp = queue.stamp(0.1);
        queue.push(Time::from_ms(100), stamp, 7);
        let stamp = queue.stamp(0.3);
        for step in 2..=3 {
            assert_eq!(queue.peek(), Some((Time::from_ms(100 * (step - 1)), 7)));
            queue.hold();
            let next = queue.stamp(0.1);
            queue.replace_top(Time::from_ms(100 * step), next, 7);
        }
        queue.push(Time::from_ms(300), stamp, 9);
        let mut order = Vec::new();
        while let Some((time, entity)) = queue.peek() {
            assert_eq!(time, Time::from_ms(300));
            order.push(entity);
            queue.hold();
            queue.pop();
        }
        assert_eq!(order, [9, 7]);
        assert_eq!(queue.clock, 0.1 + 0.1 + 0.1);
    }

    #[test]
    fn centuries_pass() {
        let mut queue = PackedQueue::new();
        let year = Time::from_secs(31_557_600);
        queue.push(year.times(500), 0, 1);
        queue.push(year, 0, 2);
        assert_eq!(queue.peek(), Some((year, 2)));
        queue.hold();
        queue.pop();
        assert_eq!(queue.peek(), Some((year.times(500), 1)));
    }
}
