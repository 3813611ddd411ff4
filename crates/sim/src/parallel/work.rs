//! What the threads do.
//!
//! They meet now and then, to agree on the earliest event that is left and on how far they go until they meet again. In
//! between each part has a clock: it has handled all events before. A part may be ahead of all the others' clocks by the
//! shortest journey between parts, so that one which has more to do for a moment holds nobody up as long as it has less to
//! do in the next (asynchronous conservative synchronization: Chandy and Misra 1979).

use super::meeting::{Meeting, Patience};
use super::{Divided, PartWorld};
use crate::run::{AnyWorld, Recording};
use ackclock_net::{Crowd, Mail};
use ackclock_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a thread says of itself; alone in its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Report {
    /// When something happens next, in its part or by its mail, nanoseconds.
    next: AtomicU64,
    /// Events handled in all.
    events: AtomicU64,
    /// Packets made, and those that are gone.
    created: AtomicU64,
    gone: AtomicU64,
    /// The latest moment to which one was walked, nanoseconds.
    ahead: AtomicU64,
    /// For how long the run cannot be over by completion, nanoseconds.
    lasts: AtomicU64,
}

/// All events before are handled, and what they have sent is in the mail; nanoseconds.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Clock(AtomicU64);

/// What all threads see. At each meeting the other half of the reports is in use, so that who is quick does not write what
/// others still read.
struct Shared {
    meeting: Meeting,
    reports: [Vec<Report>; 2],
    clocks: Vec<Clock>,
    /// From each part to each part.
    boxes: Vec<Mutex<Mail>>,
    lookahead: Time,
    end: Time,
    budget: u64,
    most_packets: u64,
    /// The run is over when all flows are complete.
    completes: bool,
}

/// Where a run has stopped.
#[derive(Debug, Clone, Copy)]
struct Stop {
    now: Time,
    why: Why,
    windows: u64,
    crowd: Crowd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Budget,
    /// The end is reached; `idle` if nothing was left before.
    End {
        idle: bool,
    },
    Crowded,
    /// All flows may be complete soon.
    Completing,
}

/// Threads meet after this many journeys at most, and events in about; with fewer events within a journey after each one.
const MOST_JOURNEYS: u64 = 32;
const MOST_EVENTS: u64 = 40_000;
const MANY_EVENTS: u64 = 256;
/// A part shows its clock this often within a journey.
const STEPS: u64 = 4;

impl<R: Recording> Divided<R> {
    /// Runs all events until `end`, or a little more than `budget` of them. True if the end is reached.
    pub(super) fn run_to(&mut self, end: Time, budget: u64) -> bool {
        let budget = self.events().saturating_add(budget);
        if self.completing {
            return self.run_in_turn(end, budget);
        }
        let count = self.parts.len();
        let reports = || (0..count).map(|_| Report::default()).collect();
        let shared = Shared {
            meeting: Meeting::new(count),
            reports: [reports(), reports()],
            clocks: (0..count).map(|_| Clock::default()).collect(),
            boxes: (0..count * count).map(|_| Mutex::default()).collect(),
            lookahead: self.lookahead,
            end,
            budget,
            most_packets: self.most_packets,
            completes: self.completes,
        };
        let (now, crowd) = (self.now, self.crowd);
        let stops: Vec<Stop> = std::thread::scope(|scope| {
            let shared = &shared;
            let mut parts = self.parts.iter_mut().enumerate();
            let own = parts.next();
            let others: Vec<_> = parts
                .map(|(number, part)| scope.spawn(move || work(shared, number, part, now, crowd)))
                .collect();
            let own = own.map(|(number, part)| work(shared, number, part, now, crowd));
            let others = others.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|fault| std::panic::resume_unwind(fault))
            });
            own.into_iter().chain(others).collect()
        });
        let stop = stops[0];
        (self.now, self.crowd) = (stop.now, stop.crowd);
        self.threads.windows += stop.windows;
        let over = match stop.why {
            Why::Budget => false,
            Why::End { idle } => {
                self.end_run(idle);
                true
            }
            Why::Crowded => true,
            Why::Completing => {
                self.completing = true;
                self.run_in_turn(end, budget)
            }
        };
        // What was made since they met last counts, too.
        let most = self.most_packets;
        if self.crowd.most_since(self.counters().created) > most {
            self.doubt = Some(format!(
                "about `stop.max_packets` ({most}) packets were in the network at once, and when it ends by that, only one thread can say"
            ));
        }
        over
    }

    /// Events so far.
    fn events(&self) -> u64 {
        self.parts.iter().map(|part| part.counters().events).sum()
    }

    /// The end is reached. Where nothing was left before, a run that ends with its flows was over with the last event.
    fn end_run(&mut self, idle: bool) {
        if idle && self.completes && !self.parts.iter().any(PartWorld::has_later_events) {
            self.idle = true;
            if self.parts.iter().any(PartWorld::walks) {
                let reason = "nothing was left to do before the end, and when that was, only one thread can say";
                self.doubt = Some(reason.to_owned());
            }
            self.now = self.parts.iter().map(PartWorld::last_change).max().unwrap_or_default();
            self.parts.iter_mut().for_each(|part| part.stop_at(self.now));
        }
    }

    /// One thread handles the events of all parts in their order, since each may be the last one of the run.
    fn run_in_turn(&mut self, end: Time, budget: u64) -> bool {
        while self.events() < budget {
            let moments = self.parts.iter_mut().enumerate();
            let moments = moments.filter_map(|(number, part)| Some((part.next_moment()?, number)));
            let Some(((_, time), number)) = moments.min_by_key(|((moment, _), _)| *moment) else {
                self.now = end;
                self.parts.iter_mut().for_each(|part| part.run_before(end + Time::from_ns(1)));
                self.end_run(true);
                return true;
            };
            self.parts[number].run_next();
            self.now = time;
            for to in (0..self.parts.len()).filter(|to| *to != number) {
                let mut mail = std::mem::take(self.parts[number].mail_to(to));
                if !mail.is_empty() {
                    self.parts[to].receive_mail(&mut mail, Time::NEVER);
                }
                *self.parts[number].mail_to(to) = mail;
            }
            if self.active() == 0 {
                self.complete = true;
                self.parts.iter_mut().for_each(|part| part.stop_at(time));
                return true;
            }
        }
        false
    }
}

/// Lets the others go when a thread fails.
struct Guard<'a>(&'a Meeting);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail();
        }
    }
}

fn open(mail: &Mutex<Mail>) -> MutexGuard<'_, Mail> {
    mail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Events within a journey decide how long parts run side by side until they meet.
fn journeys(before: u64, events: u64) -> u64 {
    let within_one = events / before;
    if within_one < MANY_EVENTS {
        return 1;
    }
    (2 * before).min(MOST_JOURNEYS).min(MOST_EVENTS / within_one).max(1)
}

fn work<R: Recording>(
    shared: &Shared,
    own: usize,
    world: &mut PartWorld<R>,
    mut now: Time,
    mut crowd: Crowd,
) -> Stop {
    let _guard = Guard(&shared.meeting);
    let mut worker = Worker { shared, own, world, patience: Patience::new(), sent: Time::NEVER };
    let (mut windows, mut events_before) = (0, None);
    let mut span = 1;
    loop {
        let stop = |why| Stop { now, why, windows, crowd };
        let reports = &shared.reports[(windows % 2) as usize];
        worker.report(&reports[own]);
        if !shared.meeting.attend(&mut worker.patience) {
            return stop(Why::Budget);
        }
        worker.receive(now + Time::from_ns(1));
        let (mut next, mut events, mut created, mut gone, mut ahead, mut lasts) =
            (u64::MAX, 0, 0, 0, 0, 0);
        for report in reports {
            next = next.min(report.next.load(Ordering::Relaxed));
            events += report.events.load(Ordering::Relaxed);
            created += report.created.load(Ordering::Relaxed);
            gone += report.gone.load(Ordering::Relaxed);
            ahead = ahead.max(report.ahead.load(Ordering::Relaxed));
            lasts = lasts.max(report.lasts.load(Ordering::Relaxed));
        }
        if crowd.most_since(created) > shared.most_packets {
            return stop(Why::Crowded);
        }
        crowd.look(now, Time::from_ns(ahead), gone);
        let stop = |why| Stop { now, why, windows, crowd };
        let next = Time::from_ns(next);
        let after_end = shared.end + Time::from_ns(1);
        if next > shared.end {
            worker.world.run_before(after_end);
            return Stop { now: shared.end, ..stop(Why::End { idle: next == Time::NEVER }) };
        }
        if events >= shared.budget {
            return stop(Why::Budget);
        }
        span = events_before.replace(events).map_or(1, |before| journeys(span, events - before));
        let mut bound = next + shared.lookahead.times(span);
        if shared.completes {
            if lasts < shared.lookahead.as_ns() {
                return stop(Why::Completing);
            }
            bound = bound.min(next + Time::from_ns(lasts));
        }
        bound = bound.min(after_end);
        if !worker.run_between(next, bound, span) {
            return stop(Why::Budget);
        }
        now = bound - Time::from_ns(1);
        windows += 1;
    }
}

/// A thread with its part.
struct Worker<'a, R: Recording> {
    shared: &'a Shared,
    own: usize,
    world: &'a mut PartWorld<R>,
    patience: Patience,
    /// When the first packet arrives that it has sent and that nobody had to handle before the next meeting.
    sent: Time,
}

impl<R: Recording> Worker<'_, R> {
    fn others(&self) -> impl Iterator<Item = usize> + use<R> {
        let own = self.own;
        (0..self.shared.clocks.len()).filter(move |other| *other != own)
    }

    fn report(&mut self, report: &Report) {
        let next = self.world.next_event().min(self.sent);
        report.next.store(next.as_ns(), Ordering::Relaxed);
        let counters = self.world.counters();
        report.events.store(counters.events, Ordering::Relaxed);
        report.created.store(counters.created, Ordering::Relaxed);
        report.gone.store(counters.gone(), Ordering::Relaxed);
        report.ahead.store(self.world.ahead().as_ns(), Ordering::Relaxed);
        if self.shared.completes {
            let lasts = self.world.lasts(self.shared.lookahead);
            report.lasts.store(lasts.as_ns(), Ordering::Relaxed);
        }
    }

    /// Takes what others have sent; this part has handled all events before `clock`.
    fn receive(&mut self, clock: Time) {
        let count = self.shared.clocks.len();
        for from in self.others() {
            let mail = &self.shared.boxes[from * count + self.own];
            self.world.receive_mail(&mut open(mail), clock);
        }
    }

    /// Sends what is for others; of what arrives at `bound` or later, nobody has to handle anything before they meet.
    fn send(&mut self, bound: Time) {
        let count = self.shared.clocks.len();
        for to in self.others() {
            let mail = self.world.mail_to(to);
            if !mail.is_empty() {
                self.sent = self.sent.min(mail.earliest_from(bound));
                open(&self.shared.boxes[self.own * count + to]).append(mail);
            }
        }
    }

    /// Handles all events from `start` until `bound`, where all parts meet. False if another thread has failed.
    fn run_between(&mut self, start: Time, bound: Time, span: u64) -> bool {
        let Shared { lookahead, clocks, meeting, .. } = self.shared;
        let steps = if span > 1 { STEPS } else { 1 };
        let step = Time::from_ns((lookahead.as_ns() / steps).max(1));
        self.sent = Time::NEVER;
        let mut clock = start;
        while clock < bound {
            let others = self.others().map(|other| clocks[other].0.load(Ordering::Acquire)).min();
            let others = others.map_or(Time::NEVER, Time::from_ns).max(start);
            let limit = if others >= bound { bound } else { bound.min(others + *lookahead) };
            if limit <= clock {
                if !self.patience.wait(meeting) {
                    return false;
                }
                continue;
            }
            self.patience.rest();
            self.receive(clock);
            clock = limit.min(clock + step);
            self.world.run_before(clock);
            self.send(bound);
            clocks[self.own].0.store(clock.as_ns(), Ordering::Release);
        }
        true
    }
}
