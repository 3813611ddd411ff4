//! What the threads do.

use super::meeting::Meeting;
use super::{Divided, PartWorld};
use crate::run::AnyWorld;
use ackclock_net::Mail;
use ackclock_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a thread says of itself at a meeting; alone in its cache lines.
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
}

/// What all threads see. At each meeting the other half of the reports and the mail boxes is in use, so that who is
/// quick does not write what others still read.
struct Shared {
    meeting: Meeting,
    reports: [Vec<Report>; 2],
    /// From each part to each part.
    boxes: [Vec<Mutex<Mail>>; 2],
    lookahead: Time,
    end: Time,
    budget: u64,
    most_packets: u64,
}

/// Where a run has stopped.
#[derive(Debug, Clone, Copy)]
struct Stop {
    now: Time,
    done: bool,
    crowded: bool,
    windows: u64,
}

impl Divided {
    /// Runs all events until `end`, or a little more than `budget` of them. True if the end is reached.
    pub(super) fn run_to(&mut self, end: Time, budget: u64) -> bool {
        let count = self.parts.len();
        let boxes = || (0..count * count).map(|_| Mutex::default()).collect();
        let reports = || (0..count).map(|_| Report::default()).collect();
        let shared = Shared {
            meeting: Meeting::new(count),
            reports: [reports(), reports()],
            boxes: [boxes(), boxes()],
            lookahead: self.lookahead,
            end,
            budget: self.counters().events.saturating_add(budget),
            most_packets: self.most_packets,
        };
        let now = self.now;
        let stops: Vec<Stop> = std::thread::scope(|scope| {
            let shared = &shared;
            let mut parts = self.parts.iter_mut().enumerate();
            let own = parts.next();
            let others: Vec<_> = parts
                .map(|(number, part)| scope.spawn(move || work(shared, number, part, now)))
                .collect();
            let own = own.map(|(number, part)| work(shared, number, part, now));
            let others = others.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|fault| std::panic::resume_unwind(fault))
            });
            own.into_iter().chain(others).collect()
        });
        let stop = stops[0];
        self.now = stop.now;
        self.threads.windows += stop.windows;
        self.crowded |= stop.crowded;
        stop.done || stop.crowded
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

fn work(shared: &Shared, own: usize, world: &mut PartWorld, mut now: Time) -> Stop {
    let _guard = Guard(&shared.meeting);
    let count = shared.reports[0].len();
    let (mut windows, mut known) = (0, None);
    let stopped = |now, windows| Stop { now, done: false, crowded: false, windows };
    loop {
        let half = (windows % 2) as usize;
        let boxes = &shared.boxes[half];
        let mut next = world.next_event();
        for to in (0..count).filter(|to| *to != own) {
            let mail = world.mail_to(to);
            if !mail.is_empty() {
                next = next.min(mail.earliest());
                std::mem::swap(mail, &mut open(&boxes[own * count + to]));
            }
        }
        let report = &shared.reports[half][own];
        report.next.store(next.as_ns(), Ordering::Relaxed);
        let counters = world.counters();
        report.events.store(counters.events, Ordering::Relaxed);
        report.created.store(counters.created, Ordering::Relaxed);
        report.gone.store(counters.gone(), Ordering::Relaxed);
        if !shared.meeting.attend() {
            return stopped(now, windows);
        }
        let (mut next, mut events, mut created, mut gone) = (u64::MAX, 0, 0, 0);
        for report in &shared.reports[half] {
            next = next.min(report.next.load(Ordering::Relaxed));
            events += report.events.load(Ordering::Relaxed);
            created += report.created.load(Ordering::Relaxed);
            gone += report.gone.load(Ordering::Relaxed);
        }
        // At no moment since the last meeting were more packets in the network than if none had left it.
        if created - known.replace(gone).unwrap_or(gone) > shared.most_packets {
            return Stop { crowded: true, ..stopped(now, windows) };
        }
        for from in (0..count).filter(|from| *from != own) {
            world.receive_mail(&mut open(&boxes[from * count + own]));
        }
        let next = Time::from_ns(next);
        if next > shared.end {
            world.run_before(shared.end + Time::from_ns(1));
            return Stop { done: true, ..stopped(shared.end, windows) };
        }
        if events >= shared.budget {
            return stopped(now, windows);
        }
        let bound = (next + shared.lookahead).min(shared.end + Time::from_ns(1));
        world.run_before(bound);
        now = bound - Time::from_ns(1);
        windows += 1;
    }
}
