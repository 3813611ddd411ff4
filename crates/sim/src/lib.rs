//! Scenarios: the model, how it becomes a network, and how it runs.
//!
//! Invariant: no printing, no files, no clock. Documents come in as JSON values; results go out as
//! values and columns.

#![warn(clippy::cast_possible_truncation)]

pub mod compile;
pub mod controller;
pub mod document;
pub mod endpoint;
pub mod figures;
mod fitting;
pub mod model;
mod outlook;
pub mod parallel;
mod pattern;
pub mod preset;
pub mod profile;
pub mod record;
pub mod registry;
pub mod rows;
pub mod run;
pub mod schema;
pub mod shape;
mod spaced;
pub mod start;
mod summary;
pub mod tables;

pub use compile::Shortcuts;
pub use document::{Checked, check, check_text};
pub use outlook::Outlook;
pub use run::{LOOK_AFTER, Output, Simulation};
