//! Routing: which links a packet takes.
//!
//! Static routes are worked out before the run and kept by flow. A dynamic protocol has state in every
//! router, and its messages travel the links like all other packets.
//!
//! Hosts never forward: a path leads from a host through routers to a host.

pub mod distance_vector;
pub mod ecmp;
pub mod graph;
pub mod shortest_path;

pub use distance_vector::DistanceVector;
pub use graph::{Attachment, Graph};

use ackclock_units::param::Entry;

/// Routing protocols that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&shortest_path::ENTRY, &ecmp::ENTRY, &distance_vector::ENTRY];
