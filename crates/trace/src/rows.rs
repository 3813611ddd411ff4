//! The rows of a table while a run goes on.

/// Bytes of a chunk. Small enough for the nearer caches while it becomes columns, and for the allocator to give
/// its memory out again.
const CHUNK_BYTES: usize = 1 << 16;

/// Rows in chunks of one size: a row is written once, in one place, and never moved to make room for more.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    /// The chunk that is being filled.
    last: Vec<R>,
    full: Vec<Vec<R>>,
    /// Rows of the full chunks.
    in_full: usize,
    /// Empty chunks to be filled again.
    spare: Vec<Vec<R>>,
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self { last: Vec::new(), full: Vec::new(), in_full: 0, spare: Vec::new() }
    }
}

impl<R: Copy> Rows<R> {
    const CHUNK: usize = CHUNK_BYTES / size_of::<R>();

    /// Adds a row.
    #[inline(always)]
    pub fn push(&mut self, row: R) {
        if self.last.len() == self.last.capacity() {
            self.open();
        }
        self.last.push(row);
    }

    /// Takes back the row that was added last, unless its chunk is empty.
    pub fn pop(&mut self) -> Option<R> {
        self.last.pop()
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self) {
        let next = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(Self::CHUNK));
        let full = std::mem::replace(&mut self.last, next);
        if !full.is_empty() {
            self.in_full += full.len();
            self.full.push(full);
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.in_full + self.last.len()
    }

    /// The rows, in order: a chunk at a time, which stays in the nearer caches while it becomes columns.
    pub fn chunks(&self) -> impl Iterator<Item = &[R]> {
        self.full.iter().chain([&self.last]).map(Vec::as_slice)
    }

    /// Forgets all rows and keeps their room.
    pub fn clear(&mut self) {
        self.last.clear();
        self.in_full = 0;
        self.spare.extend(self.full.drain(..).map(|mut chunk| {
            chunk.clear();
            chunk
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_in_order_and_room_is_used_again() {
        let mut rows = Rows::<u64>::default();
        let most = 3 * Rows::<u64>::CHUNK as u64 + 5;
        for _ in 0..2 {
            (0..most).for_each(|row| rows.push(row));
            assert_eq!(rows.len() as u64, most);
            assert!(rows.chunks().flatten().copied().eq(0..most));
            rows.clear();
            assert_eq!((rows.len(), rows.chunks().flatten().count()), (0, 0));
        }
        assert_eq!(rows.spare.len(), 3);
    }
}
