//! The data that an application gives to a sender.
//!
//! Either everything is there from the start, or the application writes piece by piece, and the sender
//! may run dry in between (application-limited).

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Bytes that are there from the start, `u64::MAX` for without end; none if they are written later.
    pub given: Option<u64>,
    /// Each write counts as as many whole segments as hold its bytes.
    pub whole_segments: bool,
}

/// What was written so far.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Written {
    /// Bytes that it will have been given at the end; `u64::MAX` for without end or while it is not known.
    pub total: u64,
    /// Bytes that the sender was given.
    pub bytes: u64,
    /// What a write is rounded up to, bytes.
    unit: u64,
}

impl Written {
    pub fn new(data: &Data, segment: u64) -> Self {
        let mut written = Self { bytes: 0, total: u64::MAX, unit: 1 };
        if data.whole_segments {
            written.unit = segment;
        }
        match data.given {
            None => {}
            Some(u64::MAX) => written.bytes = u64::MAX,
            Some(bytes) => written.add(bytes, true),
        }
        written
    }

    /// The application writes; with the last write the total is known.
    pub fn add(&mut self, bytes: u64, last: bool) {
        self.bytes += bytes.next_multiple_of(self.unit);
        if last {
            self.total = self.bytes;
        }
    }

    /// Whether the application will write nothing more.
    pub fn is_complete(&self) -> bool {
        self.bytes == self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_add_up() {
        let mut bytes = Written::new(&Data { given: None, whole_segments: false }, 1000);
        bytes.add(210, false);
        bytes.add(210, false);
        assert_eq!((bytes.bytes, bytes.is_complete()), (420, false));
        bytes.add(80, true);
        assert_eq!((bytes.bytes, bytes.total, bytes.is_complete()), (500, 500, true));
    }

    #[test]
    fn writes_are_rounded_up_one_by_one() {
        let mut whole = Written::new(&Data { given: None, whole_segments: true }, 1000);
        for bytes in [210, 1000, 1001] {
            whole.add(bytes, false);
        }
        assert_eq!(whole.bytes, 4000);
        let bulk = Written::new(&Data { given: Some(2500), whole_segments: true }, 1000);
        assert_eq!((bulk.bytes, bulk.total), (3000, 3000));
    }

    #[test]
    fn without_end_there_is_no_total() {
        let endless = Written::new(&Data { given: Some(u64::MAX), whole_segments: false }, 1000);
        assert_eq!((endless.bytes, endless.total), (u64::MAX, u64::MAX));
    }
}
