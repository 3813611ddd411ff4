//! Tests of whole networks, as one program: each file of its own would hold a world of its own, which takes long to build.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod bene;
mod bursts;
mod changes;
mod common;
mod conformance;
mod disciplines;
mod documents;
mod ecn;
mod endpoints;
mod invariants;
mod kernel;
mod losses;
mod ns2;
mod ns3;
mod packet_ids;
mod shapes;
mod sources;
mod stops;
mod threads;
mod windows;
mod wires;
