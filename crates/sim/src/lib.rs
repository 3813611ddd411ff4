//! Scenarios: the model, how it becomes a network, and how it runs.
//!
//! Invariant: no printing, no files, no clock. Documents come in as JSON values; results go out as
//! values and columns.

pub mod compile;
pub mod model;
pub mod run;
mod summary;

pub use compile::Shortcuts;
pub use run::{Output, Simulation};
