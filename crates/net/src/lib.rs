//! Packets, links, queues, routing, hosts: the simulated network.
//!
//! A [`World`] is a network at one moment. Invariants: a packet is a small value that moves between
//! the slots of links, never allocated; created = delivered + dropped + queued + in flight; nothing
//! here reads files, prints or looks at a clock.

pub mod channel;
pub mod counts;
pub mod flow;
mod hop;
pub mod jitter;
pub mod loss;
pub mod packet;
pub mod queue;
pub mod rate;
mod recorded;
pub mod routing;
pub mod script;
pub mod serial;
mod slots;
pub mod source;
pub mod world;

pub use channel::{Chance, Channel, ChannelStats, Harm, Service};
pub use counts::{ChannelCounts, FlowCounts};
pub use flow::{Drops, Endpoint, Flow, OnWire, Stopped, TcpFlow, UdpFlow};
pub use hop::Hop;
pub use packet::{Ecn, Kind, Packet};
pub use world::{ChannelChange, Counters, Crowd, Division, Mail, Mark, Network, Part, World};
