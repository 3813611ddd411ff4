//! The longest wait until now, where the start of a transmission is known when a packet enters.

use ackclock_units::Time;
use std::collections::VecDeque;

/// Packets that waited longer than all before them. Of those that have not started at the end counts for how long they have
/// waited; whoever is behind one of them, and is none of them, has waited less.
#[derive(Debug, Clone, Default)]
pub(super) struct Peaks {
    /// The longest wait of those that have started.
    started: Time,
    /// (start of transmission, wait) of those that may not have, oldest first.
    coming: VecDeque<(Time, Time)>,
}

impl Peaks {
    /// All have started, or their waits so far are among this.
    pub(super) fn over(longest: Time) -> Self {
        Self { started: longest, coming: VecDeque::new() }
    }

    /// A packet enters that will wait, or has waited, longer than all before it.
    pub(super) fn add(&mut self, entered: Time, start: Time) {
        while let Some(&(begun, wait)) = self.coming.front()
            && begun <= entered
        {
            self.started = wait;
            self.coming.pop_front();
        }
        self.coming.push_back((start, start - entered));
    }

    /// The longest wait until then.
    pub(super) fn longest(&self, now: Time) -> Time {
        let until = |&(start, wait): &(Time, Time)| {
            if start <= now { wait } else { now.since(start - wait) }
        };
        self.coming.iter().map(until).max().map_or(self.started, |wait| wait.max(self.started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_started_counts_with_its_wait_so_far() {
        let ns = Time::from_ns;
        let mut peaks = Peaks::default();
        peaks.add(ns(10), ns(15));
        peaks.add(ns(20), ns(30));
        peaks.add(ns(25), ns(40));
        assert_eq!(peaks.longest(ns(26)), ns(6));
        assert_eq!(peaks.longest(ns(30)), ns(10));
        assert_eq!(peaks.longest(ns(38)), ns(13));
        assert_eq!(peaks.longest(ns(99)), ns(15));
    }
}
