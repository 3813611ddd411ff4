//! A four-ary heap with a placeholder at its top.
//!
//! The four children of an entry lie side by side in one group, and a group of 64-bit keys in half a cache
//! line, so that each level of the heap costs one line. Places of the last group that are not taken hold
//! the greatest key: a group is always compared as a whole, without a branch.

/// Children of an entry.
const ARITY: usize = 4;

/// What orders the entries.
pub trait Key: Copy + Ord {
    /// Greater than any key in use.
    const LAST: Self;
}

impl Key for u64 {
    const LAST: Self = u64::MAX;
}

impl Key for u128 {
    const LAST: Self = u128::MAX;
}

impl Key for (u128, u64) {
    const LAST: Self = (u128::MAX, u64::MAX);
}

/// The children of one entry.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Group<K>([K; ARITY]);

impl<K: Key> Group<K> {
    const EMPTY: Self = Self([K::LAST; ARITY]);

    /// The place of the least key, and the key.
    #[inline(always)]
    fn least(&self) -> (usize, K) {
        let [a, b, c, d] = self.0;
        let (left, x) = if b < a { (1, b) } else { (0, a) };
        let (right, y) = if d < c { (3, d) } else { (2, c) };
        if y < x { (right, y) } else { (left, x) }
    }
}

/// A heap of keys. While the top is held, it is not displaced by smaller ones.
#[derive(Debug)]
pub struct Heap<K> {
    top: K,
    /// Whether the top is being handled.
    held: bool,
    len: usize,
    /// The children of the top, then those of each entry below it in turn.
    groups: Vec<Group<K>>,
}

impl<K: Key> Default for Heap<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Key> Heap<K> {
    pub(crate) const fn new() -> Self {
        Self { top: K::LAST, held: false, len: 0, groups: Vec::new() }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<K> {
        (self.len > 0).then_some(self.top)
    }

    /// Declares that the top is being handled, until it is replaced or removed.
    #[inline]
    pub(crate) fn hold(&mut self) {
        self.held = true;
    }

    #[inline]
    pub(crate) fn push(&mut self, key: K) {
        if self.len == 0 {
            self.top = key;
            self.len = 1;
            return;
        }
        let mut hole = self.len - 1;
        self.len += 1;
        if hole.is_multiple_of(ARITY) {
            self.groups.push(Group::EMPTY);
        }
        loop {
            let group = hole / ARITY;
            let above = match group.checked_sub(1) {
                Some(parent) => self.groups[parent / ARITY].0[parent % ARITY],
                None => self.top,
            };
            if above <= key || (group == 0 && self.held) {
                self.groups[group].0[hole % ARITY] = key;
                return;
            }
            self.groups[group].0[hole % ARITY] = above;
            match group.checked_sub(1) {
                Some(parent) => hole = parent,
                None => break,
            }
        }
        self.top = key;
    }

    /// Puts another key in the place of the top.
    #[inline(always)]
    pub(crate) fn replace_top(&mut self, key: K) {
        self.held = false;
        self.sift_down(key);
    }

    /// Removes the top.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.held = false;
        self.len = self.len.checked_sub(1).expect("an entry is being handled");
        let Some(last) = self.len.checked_sub(1) else { return };
        let group = &mut self.groups[last / ARITY].0;
        let key = std::mem::replace(&mut group[last % ARITY], K::LAST);
        if last.is_multiple_of(ARITY) {
            self.groups.pop();
        }
        self.sift_down(key);
    }

    /// Puts `key` where it belongs, starting from the top.
    #[inline]
    fn sift_down(&mut self, key: K) {
        let groups = self.groups.as_mut_slice();
        let Some((mut hole, least)) = groups.first().map(Group::least) else {
            self.top = key;
            return;
        };
        if key <= least {
            self.top = key;
            return;
        }
        self.top = least;
        while let Some(group) = groups.get(hole + 1) {
            let (child, least) = group.least();
            if key <= least {
                break;
            }
            groups[hole / ARITY].0[hole % ARITY] = least;
            hole = (hole + 1) * ARITY + child;
        }
        groups[hole / ARITY].0[hole % ARITY] = key;
    }
}
