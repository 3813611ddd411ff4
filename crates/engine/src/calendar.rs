//! A calendar in front of a heap: what is due soon lies in short days, and only the present day is in order.
//!
//! Most events of a network are due within a few round trips, and there are as many of them as there are busy links.
//! A heap sorts them all, and each event walks through its levels one after the other. Here an event is put into its day
//! without looking at any other, and a day is sorted when it comes, while a few events of the day before are left. Whatever
//! does not fit goes to the heap: what is due later than the last day, or on a day that is full. The next event is
//! the least one of the present day and of the heap, so that the calendar changes how long a run takes and nothing else.
//!
//! Days have some dozens of events. With one or two, as calendars usually have, the processor cannot guess how many there
//! are on the next day, and waits there each time; dozens are sorted without a branch that it could not guess.
//! (R. Brown, Calendar queues, CACM 31(10), 1988; here with one year, and days of bounded size.)

use crate::heap::Heap;
use crate::queue::Keys;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// Most events of a day, how many there should be at most, and how many are as well.
const DAY: usize = 64;
const USUAL: u64 = 40;
const FAIR: RangeInclusive<u64> = 16..=48;
/// Most events of the present day, with those that came to it since it began.
const TODAY: usize = 2 * DAY;
/// Events at a time for each day of the year: most are due within its first half.
const SHARE: usize = 16;
/// Events at a time from which a calendar foresees the next ones: what they are about fills more than the cache of a core.
pub const MANY: usize = 3_000;
/// With so few events left, the next day begins, so that those that follow can be foreseen.
const RESERVE: usize = 4;
/// Days that a word of marks stands for.
const MONTH: usize = u64::BITS as usize;
/// The longest year, in days.
const YEAR: usize = 1 << 15;
/// Events after which the length of a day is looked at, first and later on.
const TRIAL: u32 = 64;
const REVIEW: u32 = 4096;

/// Keys in a total order; the time is in their upper bits.
#[derive(Debug)]
pub struct Calendar {
    /// The events of the present day, the least one last.
    today: [u64; TODAY],
    left: usize,
    /// Events on all days to come.
    coming: usize,
    /// The least event is in the heap.
    in_heap: bool,
    /// There are so many events that what they are about is in no cache.
    foresees: bool,
    /// A day is that many lower bits of a key; the present one, and how many of them are kept apart.
    bits: u32,
    day: u64,
    year: u64,
    heap: Heap<u64>,
    /// Events of the days to come, how many there are on each, and marks for those on which there are any.
    days: Box<[[u64; DAY]]>,
    counts: Box<[u8]>,
    marks: Box<[u64]>,
    /// Events until the length of a day is looked at, of how many, and the key of the one before them.
    until_review: u32,
    period: u32,
    reviewed: u64,
}

impl Calendar {
    /// An empty calendar for about so many events at a time.
    pub fn with_room_for(events: usize) -> Self {
        let days = (events / SHARE).next_power_of_two().clamp(MONTH, YEAR);
        Self {
            today: [0; TODAY],
            left: 0,
            coming: 0,
            in_heap: false,
            foresees: events >= MANY,
            bits: 0,
            day: 0,
            year: days as u64,
            heap: Heap::new(),
            days: vec![[0; DAY]; days].into(),
            counts: vec![0; days].into(),
            marks: vec![0; days / MONTH].into(),
            until_review: TRIAL,
            period: TRIAL,
            reviewed: 0,
        }
    }

    /// Writes an event down on its day, if there is room.
    #[inline]
    fn enter(&mut self, key: u64) -> bool {
        let day = key >> self.bits;
        // What is left of the day before lies in front of the present one.
        if day <= self.day {
            return self.enter_today(key);
        }
        if day - self.day >= self.year {
            return false;
        }
        let place = (day & (self.year - 1)) as usize;
        let count = &mut self.counts[place];
        let Some(free) = self.days[place].get_mut(usize::from(*count)) else { return false };
        *free = key;
        *count += 1;
        self.coming += 1;
        self.marks[place / MONTH] |= 1 << (place % MONTH);
        true
    }

    #[inline]
    fn enter_today(&mut self, key: u64) -> bool {
        let mut place = self.left;
        if place == TODAY {
            return false;
        }
        while place > 0 && self.today[place - 1] < key {
            self.today[place] = self.today[place - 1];
            place -= 1;
        }
        self.today[place] = key;
        self.left += 1;
        true
    }

    /// Goes on to the next day on which there is something; there is one.
    #[inline]
    fn turn_over(&mut self) {
        let next = ((self.day + 1) & (self.year - 1)) as usize;
        let mut month = next / MONTH;
        // In the first month, the days that are over belong to the end of the year.
        let mut marks = self.marks[month] & (u64::MAX << (next % MONTH));
        while marks == 0 {
            month = (month + 1) & (self.marks.len() - 1);
            marks = self.marks[month];
        }
        let place = month * MONTH + marks.trailing_zeros() as usize;
        self.marks[month] &= !(1 << (place % MONTH));
        self.day += ((place.wrapping_sub(next)) as u64 & (self.year - 1)) + 1;
        let count = std::mem::take(&mut self.counts[place]);
        self.coming -= usize::from(count);
        let count = usize::from(count);
        self.today.copy_within(..self.left, count);
        let today = &mut self.today[..count];
        today.copy_from_slice(&self.days[place][..count]);
        today.sort_unstable_by_key(|key| Reverse(*key));
        self.left += count;
    }

    /// Gives days another length if they have become too long or too short.
    #[cold]
    #[inline(never)]
    fn review(&mut self) {
        let now = self.peek().expect("an event is being handled");
        let apart = (now.saturating_sub(self.reviewed) / u64::from(self.period)).max(1);
        self.reviewed = now;
        self.period = (self.period * 4).min(REVIEW);
        self.until_review = self.period;
        if FAIR.contains(&((1 << self.bits) / apart)) {
            return;
        }
        let wanted = apart.saturating_mul(USUAL).ilog2();
        let mut keys = self.today[..self.left].to_vec();
        for (day, count) in self.days.iter().zip(&mut self.counts) {
            keys.extend_from_slice(&day[..usize::from(std::mem::take(count))]);
        }
        self.marks.fill(0);
        (self.left, self.coming) = (0, 0);
        (self.bits, self.day) = (wanted, now >> wanted);
        // In order, so that the event to be handled finds room on its day.
        keys.sort_unstable();
        keys.into_iter().for_each(|key| self.push(key));
        self.peek();
    }
}

impl Keys for Calendar {
    #[inline]
    fn push(&mut self, key: u64) {
        if !self.enter(key) {
            self.heap.push(key);
        }
    }

    #[inline]
    fn peek(&mut self) -> Option<u64> {
        if self.left <= RESERVE {
            if self.coming > 0 {
                self.turn_over();
            } else if self.left == 0 {
                self.in_heap = true;
                return self.heap.peek();
            }
        }
        let first = self.today[self.left - 1];
        let other = self.heap.peek().unwrap_or(u64::MAX);
        self.in_heap = other < first;
        Some(first.min(other))
    }

    #[inline]
    fn hold(&mut self) {
        self.until_review -= 1;
        if self.until_review == 0 {
            self.review();
        }
        if self.in_heap {
            self.heap.hold();
        } else {
            self.left -= 1;
        }
    }

    #[inline]
    fn replace_top(&mut self, key: u64) {
        let entered = self.enter(key);
        match (self.in_heap, entered) {
            (true, true) => self.heap.pop(),
            (true, false) => self.heap.replace_top(key),
            (false, true) => {}
            (false, false) => self.heap.push(key),
        }
    }

    #[inline]
    fn pop(&mut self) {
        if self.in_heap {
            self.heap.pop();
        }
    }

    #[inline(always)]
    fn foresees(&self) -> bool {
        self.foresees
    }

    #[inline(always)]
    fn foresee(&self, others: usize) -> u64 {
        self.today[self.left.wrapping_sub(1 + others) % TODAY]
    }

    fn restart(&mut self) {
        debug_assert!(self.left == 0 && self.coming == 0);
        (self.day, self.reviewed) = (0, 0);
    }
}
