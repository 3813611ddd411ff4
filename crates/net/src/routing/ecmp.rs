//! Equal-cost multipath: static shortest paths, of which each flow takes one.
//!
//! Source: C. Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, 2000: a router that knows several next
//! hops of the same cost takes one by a hash of the packet's flow, so that the packets of a flow stay in order. Data and
//! ACKs of a flow are hashed apart, as by addresses and ports in their order.
//!
//! DEVIATION: the hash is a random stream, keyed by the seed and the name of the flow, with a draw at each router where
//! there is a choice. So the choices of routers are independent (no polarisation), and another flow changes none of them.

use ackclock_units::param::{Entry, Kind, Param, help};

/// The word for it in a document.
pub const NAME: &str = "ecmp";

pub(super) static ENTRY: Entry = Entry {
    name: NAME,
    summary: help(
        "Static: a seeded hash assigns each flow to one of the paths with the smallest propagation delay and fewest links.",
    ),
    references: &["RFC 2992"],
    params: &[Param::optional(
        "seed",
        Kind::Count,
        "",
        "Seed of the hash; by default that of the run.",
    )],
    ..Entry::BLANK
};
