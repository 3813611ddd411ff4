//! Scenarios: documents, what they may hold and mean, and how they become networks.
//!
//! Invariant: nothing runs here. Documents come in as JSON values; checked scenarios and networks go out.

#![warn(clippy::cast_possible_truncation)]

pub mod compile;
pub mod document;
mod fitting;
pub mod model;
mod pattern;
pub mod preset;
pub mod profile;
pub mod record;
pub mod registry;
pub mod schema;
pub mod shape;
pub mod spaced;
pub mod start;
pub mod tables;
pub mod transfer;

pub use compile::Shortcuts;
pub use document::{Checked, check, check_text};
pub use fitting::fitting;
