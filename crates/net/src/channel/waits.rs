//! Recent waits in a queue, for routing protocols that measure delay, and the longest ones.

use super::peaks::Peaks;
use ackclock_units::Time;
use std::collections::VecDeque;

/// Waits of the packets that started last, and the longest ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Waits {
    /// (start of transmission, wait), oldest first.
    recent: VecDeque<(Time, Time)>,
    /// How many to keep beyond those that have not started.
    keep: usize,
    /// The longest ones, whether or not others are kept.
    pub peaks: Peaks,
}

impl Waits {
    pub(super) fn keep(&mut self, count: usize) {
        self.keep = count;
    }

    /// A packet entered and will start, or has started.
    pub(super) fn add(&mut self, entered: Time, start: Time) {
        self.recent.push_back((start, start - entered));
        // Packets that have not started do not count among the kept ones.
        while self.recent.len() > self.keep && self.recent[self.keep].0 <= entered {
            self.recent.pop_front();
        }
    }

    /// Mean queueing delay of the packets among the last kept ones that started within `age` before now; zero if
    /// they are fewer than `least`.
    pub(super) fn mean(&self, now: Time, age: Time, least: usize) -> Time {
        let (mut sum, mut count) = (0u64, 0u64);
        let started = self.recent.iter().rev().filter(|(start, _)| *start <= now);
        for (start, wait) in started.take(self.keep) {
            if *start + age >= now {
                sum += wait.as_ns();
                count += 1;
            }
        }
        if (count as usize) < least.max(1) { Time::ZERO } else { Time::from_ns(sum / count) }
    }
}
