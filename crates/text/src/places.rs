//! Places of byte offsets, for parsers that count bytes.

use crate::Place;

/// Finds line and column of a byte offset in logarithmic time, however long the lines are.
pub(crate) struct Places {
    line_starts: Vec<usize>,
    /// Bytes that continue a character: they take no column.
    continuing: Vec<usize>,
}

impl Places {
    pub(crate) fn new(text: &str) -> Self {
        let mut places = Self { line_starts: vec![0], continuing: Vec::new() };
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                places.line_starts.push(at + 1);
            } else if byte & 0xC0 == 0x80 {
                places.continuing.push(at);
            }
        }
        places
    }

    pub(crate) fn of(&self, at: usize) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts[line - 1];
        let before = |at: usize| self.continuing.partition_point(|byte| *byte < at);
        let column = at - start - (before(at) - before(start)) + 1;
        // Texts are smaller than 4 GiB: their readers limit them to some megabytes.
        Place { line: line as u32, column: column as u32 }
    }
}
