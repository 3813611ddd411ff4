//! Runs of scenarios: worlds, threads, records, summaries.
//!
//! Invariant: no printing, no files, no clock. Scenarios come in; results go out as values and columns.

#![warn(clippy::cast_possible_truncation)]

pub mod controller;
pub mod endpoint;
pub mod figures;
mod outlook;
pub mod parallel;
pub mod rows;
pub mod run;
mod summary;

pub use ackclock_scenario::*;
pub use outlook::Outlook;
pub use run::{LOOK_AFTER, Output, Simulation};
