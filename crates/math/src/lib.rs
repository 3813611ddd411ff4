//! Named random streams, and elementary functions, the same to the bit on every machine.
//!
//! Invariant: nothing here depends on the C library, on the order of calls, or on the machine.

pub mod elementary;
pub mod random;

pub use random::Stream;
