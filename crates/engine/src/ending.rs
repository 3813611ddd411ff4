//! A queue that leaves out what would happen after the end of the run.
//!
//! While a part of a network waits for others, all that is left in its queue may be events after the end. A
//! [`CalendarQueue`] would move its epoch to them, and could not take the earlier ones that others still send.

use crate::queue::{CalendarQueue, EventQueue};
use ackclock_units::Time;

/// A [`CalendarQueue`] without the events after a time.
#[derive(Debug)]
pub struct EndingQueue {
    queue: CalendarQueue,
    end: Time,
    later: bool,
}

impl EndingQueue {
    /// Runs that end later need another queue. The last moments are kept for what comes after the end.
    pub const LATEST_END: Time = Time::from_ns(CalendarQueue::REACH - 3);

    /// An empty queue for a run that ends then, and for about so many events at a time.
    pub fn new(end: Time, events: usize) -> Self {
        assert!(end <= Self::LATEST_END, "the run is too long");
        Self { queue: CalendarQueue::with_room_for(events), end, later: false }
    }

    /// Whether there were events after the end.
    pub fn has_later_events(&self) -> bool {
        self.later
    }
}

impl EventQueue for EndingQueue {
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
    fn push(&mut self, time: Time, stamp: u64, entity: u32) {
        if time <= self.end {
            self.queue.push(time, stamp, entity);
        } else {
            self.later = true;
        }
    }

    #[inline(always)]
    fn peek(&mut self) -> Option<(Time, u32)> {
        self.queue.peek()
    }

    #[inline(always)]
    fn hold(&mut self) {
        self.queue.hold();
    }

    #[inline(always)]
    fn replace_top(&mut self, time: Time, stamp: u64, entity: u32) {
        if time <= self.end {
            self.queue.replace_top(time, stamp, entity);
        } else {
            self.later = true;
            self.queue.pop();
        }
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.queue.pop();
    }

    #[inline(always)]
    fn foresees(&self) -> bool {
        self.queue.foresees()
    }

    #[inline(always)]
    fn foresee(&self, others: usize) -> u32 {
        self.queue.foresee(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_the_end_does_not_keep_earlier_events_out() {
        let mut queue = EndingQueue::new(Time::from_secs(10), 4);
        queue.push(Time::from_secs(100_000), 0, 1);
        assert_eq!((queue.peek(), queue.has_later_events()), (None, true));
        queue.push(Time::from_secs(3), 0, 2);
        assert_eq!(queue.peek(), Some((Time::from_secs(3), 2)));
        queue.hold();
        queue.replace_top(Time::from_secs(11), 0, 2);
        assert_eq!(queue.peek(), None);
    }
}
