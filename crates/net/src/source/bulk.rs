//! Bulk: everything is there from the start, so the window alone limits the flow.
//!
//! Source: the FTP application of ns-2 (The ns Manual, chapter on applications), BulkSendApplication of ns-3.

use ackclock_units::param::{Entry, help};

pub(super) static ENTRY: Entry = Entry {
    name: super::BULK_NAME,
    summary: help("All data are written at the start: `send` bytes, or endless (only over TCP)."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};
