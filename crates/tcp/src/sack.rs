//! What an ACK carries beyond its number: blocks of data that have arrived out of order, and a window that has
//! changed.
//!
//! Source: RFC 2018 (SACK), RFC 2883 (D-SACK). A packet has no room for it, so the connection keeps it while the ACK
//! is on its way; the ACK carries the number of its place.

/// Blocks that fit into the options of an ACK.
pub const MOST_BLOCKS: usize = 4;

/// Blocks that an ACK carries at most: with SACK or without, beside timestamps or not.
pub const fn most_blocks(sack: bool, timestamps: bool) -> usize {
    match (sack, timestamps) {
        (false, _) => 0,
        (true, true) => 3,
        (true, false) => MOST_BLOCKS,
    }
}

/// What an ACK carries beyond its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Note {
    /// Blocks, first and one past the last byte; the one that was reported last comes first.
    blocks: [(u64, u64); MOST_BLOCKS],
    count: u8,
    /// The receiver's window, if it is another than at the start.
    pub window: Option<u32>,
}

impl Note {
    /// A note of these blocks, of which the first ones fit.
    pub fn new(blocks: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut note = Self::default();
        for block in blocks.into_iter().take(MOST_BLOCKS) {
            note.blocks[usize::from(note.count)] = block;
            note.count += 1;
        }
        note
    }

    /// The blocks.
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// The block that reports data that had arrived before (RFC 2883 section 4), if there is one: it comes first,
    /// and lies below the number of the ACK or within the second block.
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let first = *self.blocks().first()?;
        let within = |outer: &(u64, u64)| first.0 >= outer.0 && first.1 <= outer.1;
        (first.0 < ack || self.blocks().get(1).is_some_and(within)).then_some(first)
    }
}

/// The notes of the ACKs that are on their way.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    kept: Vec<Note>,
    free: Vec<u32>,
}

impl Notes {
    /// Keeps a note; answers what the ACK carries: 1 and its place.
    pub fn keep(&mut self, note: Note) -> u32 {
        if let Some(place) = self.free.pop() {
            self.kept[place as usize] = note;
            return place + 1;
        }
        self.kept.push(note);
        self.kept.len() as u32
    }

    /// The note that an ACK carries.
    #[inline]
    pub fn get(&self, carried: u32) -> Option<&Note> {
        self.kept.get((carried as usize).checked_sub(1)?)
    }

    /// The ACK has arrived, or was dropped: its note, if it carries one, is not kept any longer.
    #[inline]
    pub fn release(&mut self, carried: u32) {
        if let Some(place) = carried.checked_sub(1) {
            self.free.push(place);
        }
    }

    /// The note that an ACK carries, which is not kept any longer.
    pub fn take(&mut self, carried: u32) -> Option<Note> {
        let note = self.get(carried).copied();
        self.release(carried);
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_notes_that_were_taken_are_used_again() {
        let mut notes = Notes::default();
        let first = notes.keep(Note::new([(10, 20)]));
        let second = notes.keep(Note::new([(30, 40), (10, 20)]));
        assert_eq!((first, second), (1, 2));
        assert_eq!(notes.take(first), Some(Note::new([(10, 20)])));
        assert_eq!(notes.keep(Note::new([(50, 60)])), first);
        assert_eq!(notes.get(second).map(|note| note.blocks().len()), Some(2));
        assert_eq!(notes.take(0), None);
    }

    #[test]
    fn a_first_block_below_the_ack_or_within_the_second_reports_a_duplicate() {
        assert_eq!(Note::new([(10, 20)]).duplicate(20), Some((10, 20)));
        assert_eq!(Note::new([(30, 40)]).duplicate(20), None);
        assert_eq!(Note::new([(30, 40), (30, 60)]).duplicate(20), Some((30, 40)));
        assert_eq!(Note::new([(30, 40), (50, 60)]).duplicate(20), None);
    }

    #[test]
    fn no_more_blocks_are_carried_than_fit() {
        let many = (0..9).map(|at| (100 * at, 100 * at + 10));
        assert_eq!(Note::new(many).blocks().len(), MOST_BLOCKS);
    }
}
