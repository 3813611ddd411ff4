//! The discrete-event core: a total order of events, and named random streams.
//!
//! Invariant: nothing here knows packets. An *entity* (one direction of a link, the timer of a
//! flow, a router) has at most a few entries in the queue however many packets wait behind it.

mod calendar;
mod ending;
mod heap;
pub mod queue;
pub mod ties;

pub use ackclock_math::{Stream, random};
pub use ending::EndingQueue;
pub use queue::{CalendarQueue, ClockQueue, EventQueue, PackedQueue, Stamp, WideQueue};
pub use ties::Ties;
