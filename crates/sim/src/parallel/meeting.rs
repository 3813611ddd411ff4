//! Where threads wait for each other.

use core::time::Duration; // of `core`, which has no clock
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the clock tower before a thread goes to sleep. Threads wait for microseconds, as a rule; to sleep and be woken
/// takes longer than that. Where there are fewer cores than threads, though, nobody moves while one looks: it looks half as
/// often after each time that it looked in vain, and twice as often after each that it did not.
const MOST_LOOKS: u32 = 2_000;
const FEWEST_LOOKS: u32 = 16;
/// For how long a thread sleeps that nobody wakes: as short as systems can.
const NAP: Duration = Duration::from_micros(1);

/// Lets all threads of a run go on when the last one has come.
#[derive(Debug)]
pub(super) struct Meeting {
    threads: usize,
    /// Threads that have come to the present meeting.
    here: AtomicUsize,
    /// Meetings that are over.
    over: AtomicUsize,
    /// A thread will not come any more.
    broken: AtomicBool,
    asleep: AtomicUsize,
    door: Mutex<()>,
    opens: Condvar,
}

impl Meeting {
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            here: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            door: Mutex::new(()),
            opens: Condvar::new(),
        }
    }

    /// Waits until all have come. False if one will not.
    pub fn attend(&self, patience: &mut Patience) -> bool {
        let number = self.over.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.over.store(number + 1, Ordering::SeqCst);
            self.wake();
        } else {
            self.wait(number, patience);
        }
        !self.broken.load(Ordering::Acquire)
    }

    /// A thread has failed: nobody waits for it any longer.
    pub fn fail(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.over.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    fn is_over(&self, number: usize) -> bool {
        self.over.load(Ordering::SeqCst) != number || self.broken.load(Ordering::SeqCst)
    }

    fn wait(&self, number: usize, patience: &mut Patience) {
        while patience.looks() {
            if self.is_over(number) {
                return patience.rest();
            }
        }
        patience.rest();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_over(number) {
            guard = self.opens.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // Whoever is about to sleep has the lock, or will see that the meeting is over.
            drop(self.door.lock().unwrap_or_else(PoisonError::into_inner));
            self.opens.notify_all();
        }
    }
}

/// How long a thread looks for others before it sleeps.
#[derive(Debug)]
pub(super) struct Patience {
    most: u32,
    looked: u32,
}

impl Patience {
    pub fn new() -> Self {
        Self { most: MOST_LOOKS, looked: 0 }
    }

    /// Waits for a moment before the next look. False if it has looked often enough.
    fn looks(&mut self) -> bool {
        self.looked += 1;
        spin_loop();
        self.looked <= self.most
    }

    /// The wait is over.
    pub fn rest(&mut self) {
        if self.looked > self.most {
            self.most = (self.most / 2).max(FEWEST_LOOKS);
        } else if self.looked > 0 {
            self.most = (self.most * 2).min(MOST_LOOKS);
        }
        self.looked = 0;
    }

    /// Waits a little for the clocks of others, between meetings. False if a thread has failed.
    pub fn wait(&mut self, meeting: &Meeting) -> bool {
        if self.looked > self.most || !self.looks() {
            std::thread::sleep(NAP);
        }
        !meeting.broken.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let (meeting, sum) = (Meeting::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let patience = &mut Patience::new();
                    for round in 1..=2000 {
                        sum.fetch_add(1, Ordering::Relaxed);
                        assert!(meeting.attend(patience));
                        assert_eq!(sum.load(Ordering::Relaxed), 3 * round);
                        assert!(meeting.attend(patience));
                    }
                });
            }
        });
    }

    #[test]
    fn who_waits_for_a_thread_that_has_failed_is_let_go() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| meeting.attend(&mut Patience::new()));
            meeting.fail();
            assert!(!waits.join().unwrap());
        });
    }
}
