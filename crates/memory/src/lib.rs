//! How the memory of large networks is used: hints to the system and to the processor, which change how long a run takes
//! and nothing else.

mod pages;
mod prefetch;

pub use pages::{with_capacity, with_room};
pub use prefetch::prefetch;
