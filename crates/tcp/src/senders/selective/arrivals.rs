//! What has arrived at a receiver, and what an ACK says of it.
//!
//! An ACK of the selective-repeat transport carries the whole list of packets that have arrived. The
//! list is not copied: packets are numbered in the order of their arrival, and an ACK carries the
//! number of the last one. "Was packet s on the list of the ACK with number k" is then a question to
//! this ledger: did s arrive as number k or before. The answer never reveals what came later, so nothing
//! travels faster than the ACK.

/// Ledger of arrivals of one flow.
#[derive(Debug, Clone)]
pub struct Arrivals {
    /// Arrival number (from 1) of packet `seq` at `seq & mask`; 0 for none. Holds `base..base + size`.
    number_of: Vec<u32>,
    /// Highest packet after the k-th arrival, at `k & mask`.
    highest_after: Vec<u32>,
    /// Packets below this are settled at the sender and forgotten here.
    base: u32,
    /// All packets below this have arrived.
    cumulative: u32,
    /// Distinct packets arrived.
    count: u32,
    /// Highest packet arrived; meaningless before the first arrival.
    highest: u32,
    /// Packets that arrived a second time.
    pub duplicates: u64,
    /// New packets that arrived after a higher one.
    pub reordered: u64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::new()
    }
}

impl Arrivals {
    /// An empty ledger.
    pub fn new() -> Self {
        const SIZE: usize = 64;
        Self {
            number_of: vec![0; SIZE],
            highest_after: vec![0; SIZE],
            base: 0,
            cumulative: 0,
            count: 0,
            highest: 0,
            duplicates: 0,
            reordered: 0,
        }
    }

    /// Distinct packets that have arrived: the number of the last arrival.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Packets that have arrived in order: all below this number.
    #[inline]
    pub fn cumulative(&self) -> u32 {
        self.cumulative
    }

    #[inline]
    fn slot(&self, index: u32) -> usize {
        index as usize & (self.number_of.len() - 1)
    }

    /// Notes the arrival of a packet; false if it had arrived before.
    #[inline]
    pub fn on_data(&mut self, seq: u32) -> bool {
        if seq < self.cumulative {
            self.duplicates += 1;
            return false;
        }
        while (seq - self.base) as usize >= self.number_of.len() {
            self.grow();
        }
        let slot = self.slot(seq);
        if self.number_of[slot] != 0 {
            self.duplicates += 1;
            return false;
        }
        if self.count > 0 && seq < self.highest {
            self.reordered += 1;
        }
        self.count += 1;
        self.number_of[slot] = self.count;
        self.highest = self.highest.max(seq);
        let slot = self.slot(self.count);
        self.highest_after[slot] = self.highest;
        // Packets below the base have arrived for sure; the base follows the sender.
        while self.cumulative <= self.highest && self.number_of[self.slot(self.cumulative)] != 0 {
            self.cumulative += 1;
        }
        true
    }

    /// The sender has settled all packets below `base`: forget them.
    #[inline]
    pub fn forget_below(&mut self, base: u32) {
        debug_assert!(base <= self.cumulative, "settled before it arrived");
        while self.base < base {
            let slot = self.slot(self.base);
            self.number_of[slot] = 0;
            self.base += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.number_of.len();
        let mut number_of = vec![0; 2 * size];
        let mut highest_after = vec![0; 2 * size];
        let last = self.base.saturating_add(size as u32 - 1);
        for seq in self.base..=last {
            number_of[seq as usize & (2 * size - 1)] = self.number_of[self.slot(seq)];
        }
        for number in self.count.saturating_sub(size as u32 - 1)..=self.count {
            highest_after[number as usize & (2 * size - 1)] = self.highest_after[self.slot(number)];
        }
        self.number_of = number_of;
        self.highest_after = highest_after;
    }

    /// The list as it was after the `number`-th arrival.
    #[inline]
    pub fn view(&self, number: u32) -> View<'_> {
        debug_assert!(number <= self.count, "a view of the future");
        View { arrivals: self, number }
    }
}

/// The list that one ACK carries.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    arrivals: &'a Arrivals,
    number: u32,
}

impl View<'_> {
    /// Number of packets on the list.
    #[inline]
    pub fn count(&self) -> u32 {
        self.number
    }

    /// Highest packet on the list, or nothing where the list is so old that all of it is settled.
    #[inline]
    fn highest(&self) -> Option<u32> {
        (self.number > self.arrivals.base)
            .then(|| self.arrivals.highest_after[self.arrivals.slot(self.number)])
    }

    /// Whether no packet below the highest is missing.
    #[inline]
    pub fn is_gapless(&self) -> bool {
        self.highest().is_none_or(|highest| highest + 1 == self.number)
    }

    /// One past the highest packet on the list; 0 where all of it is settled.
    #[inline]
    pub fn end(&self) -> u32 {
        self.highest().map_or(0, |highest| highest + 1)
    }

    /// Whether the list holds this packet, which must not be settled yet.
    #[inline]
    pub fn holds(&self, seq: u32) -> bool {
        debug_assert!(seq >= self.arrivals.base);
        if seq > self.arrivals.highest {
            return false;
        }
        let number = self.arrivals.number_of[self.arrivals.slot(seq)];
        number != 0 && number <= self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shows_the_list_of_its_time() {
        let mut arrivals = Arrivals::new();
        for seq in [0, 1, 3, 4] {
            assert!(arrivals.on_data(seq));
        }
        let before = arrivals.count();
        assert!(!arrivals.on_data(3));
        assert!(arrivals.on_data(2));
        let view = arrivals.view(before);
        assert!(!view.is_gapless());
        assert_eq!(view.end(), 5);
        assert!(!view.holds(2) && view.holds(3));
        let now = arrivals.view(arrivals.count());
        assert!(now.is_gapless() && now.holds(2));
        assert_eq!((arrivals.duplicates, arrivals.reordered, arrivals.cumulative()), (1, 1, 5));
    }

    #[test]
    fn growing_and_forgetting_keep_the_list() {
        let mut arrivals = Arrivals::new();
        // Packet 0 is missing for a long time, so nothing can be forgotten.
        for seq in 1..1000 {
            assert!(arrivals.on_data(seq));
        }
        let view = arrivals.view(arrivals.count());
        assert!(!view.is_gapless());
        assert!((1..1000).all(|seq| view.holds(seq)) && !view.holds(0) && !view.holds(1000));
        assert!(arrivals.on_data(0));
        assert_eq!(arrivals.cumulative(), 1000);
        arrivals.forget_below(1000);
        for seq in 1000..5000 {
            assert!(arrivals.on_data(seq));
            arrivals.forget_below(seq);
            assert!(arrivals.view(arrivals.count()).is_gapless());
        }
        assert!(!arrivals.on_data(7));
    }
}
