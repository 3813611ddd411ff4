//! Quantities, names and parameter tables that every other part of Ackclock speaks in.
//!
//! Invariant: nothing here knows packets, events or files.

pub mod param;
pub mod quantity;
pub mod registry;
pub mod spelling;
pub mod time;

pub use time::Time;
