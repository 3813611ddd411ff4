//! What has arrived beyond a gap.

use std::collections::VecDeque;
use std::ops::Range;

/// Bytes, as disjoint ranges in ascending order.
///
/// Nearly all news is of the highest range or of the lowest one. Neither takes longer where there are tens of thousands
/// of them, as after a slow start that has gone far beyond the queue of a long path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The range at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<(u64, u64)> {
        self.0.get(place).copied()
    }

    /// Whether the last range begins after a byte. Bytes that begin there and are not all known then fill a gap.
    #[inline]
    pub fn begin_after(&self, from: u64) -> bool {
        self.0.back().is_some_and(|&(last, _)| from < last)
    }

    /// The ranges themselves, for a receiver that joins them by rules of its own.
    pub fn list(&mut self) -> &mut VecDeque<(u64, u64)> {
        &mut self.0
    }

    /// Place of the first range that does not end before a byte.
    #[inline]
    pub fn first_not_before(&self, from: u64) -> usize {
        match self.0.back() {
            Some(&(low, high)) if low <= from => self.0.len() - usize::from(from <= high),
            _ => self.0.partition_point(|&(_, high)| high < from),
        }
    }

    /// Places of the ranges that overlap these bytes, or that they follow on or precede.
    #[inline]
    pub fn touching(&self, from: u64, to: u64) -> Range<usize> {
        let first = self.first_not_before(from);
        let mut beyond = first;
        while self.0.get(beyond).is_some_and(|&(low, _)| low <= to) {
            beyond += 1;
        }
        first..beyond
    }

    /// The bytes and all ranges that they touch, as one range.
    #[inline]
    pub fn joined(&self, touched: &Range<usize>, (from, to): (u64, u64)) -> (u64, u64) {
        if touched.is_empty() {
            return (from, to);
        }
        (from.min(self.0[touched.start].0), to.max(self.0[touched.end - 1].1))
    }

    /// Whether one range has all these bytes.
    #[inline]
    pub fn hold(&self, from: u64, to: u64) -> bool {
        self.0.get(self.first_not_before(to)).is_some_and(|&(low, _)| low <= from)
    }

    /// The first bytes, of these places, that the ranges there have in common with `from..to`.
    pub fn shared(&self, places: Range<usize>, (from, to): (u64, u64)) -> Option<(u64, u64)> {
        let range = self.0.range(places).find(|&&(low, high)| low < to && from < high);
        range.map(|&(low, high)| (low.max(from), high.min(to)))
    }

    /// The range at a place grows, but not up to the next one.
    #[inline]
    pub fn extend(&mut self, place: usize, to: u64) {
        debug_assert!(self.0.get(place + 1).is_none_or(|next| to < next.0));
        self.0[place].1 = to;
    }

    /// Puts one range in the place of those that it touches.
    pub fn replace(&mut self, touched: Range<usize>, whole: (u64, u64)) {
        if touched.is_empty() {
            self.0.insert(touched.start, whole);
        } else {
            self.0[touched.start] = whole;
            self.remove(touched.start + 1..touched.end);
        }
    }

    /// Takes ranges out.
    #[inline]
    pub fn remove(&mut self, places: Range<usize>) {
        if !places.is_empty() {
            self.0.drain(places);
        }
    }

    /// Forgets everything before a byte.
    pub fn forget_before(&mut self, from: u64) {
        while self.0.front().is_some_and(|&(_, to)| to <= from) {
            self.0.pop_front();
        }
        if let Some(first) = self.0.front_mut() {
            first.0 = first.0.max(from);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Byte by byte, the ranges say the same as a set of bytes.
        #[test]
        fn ranges_are_the_bytes_that_were_put_in(
            steps in prop::collection::vec((0_u64..60, 1_u64..12, prop::bool::weighted(0.2)), 1..60),
        ) {
            let mut ranges = Ranges::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (from, length, forgets) in steps {
                let to = from + length;
                if forgets {
                    ranges.forget_before(from);
                    bytes.retain(|&byte| byte >= from);
                    continue;
                }
                let all = (from..to).all(|byte| bytes.contains(&byte));
                prop_assert_eq!(ranges.hold(from, to), all);
                let highest = bytes.last().copied().unwrap_or(0);
                let fills = (from..to).any(|byte| byte < highest && !bytes.contains(&byte));
                prop_assert_eq!(!all && ranges.begin_after(from), fills);
                let touched = ranges.touching(from, to);
                prop_assert_eq!(touched.start, ranges.first_not_before(from));
                let again = (from..to).find(|byte| bytes.contains(byte));
                let shared = ranges.shared(touched.clone(), (from, to));
                prop_assert_eq!(shared.map(|(low, _)| low), again);
                let whole = ranges.joined(&touched, (from, to));
                ranges.replace(touched, whole);
                bytes.extend(from..to);
                let known: Vec<u64> = ranges.0.iter().flat_map(|&(low, high)| low..high).collect();
                prop_assert!(known.iter().eq(bytes.iter()));
                prop_assert!(ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
