//! What a controller or a queue discipline outside the engine has to be, and what it learns.

pub use crate::compile::Controllers;
pub use crate::run::Queues;
pub use ackclock_net::Kind as PacketKind;
pub use ackclock_net::queue::{Decides, Fate, Found, Held};
pub use ackclock_tcp::cc::python::{Controller, Event};
pub use ackclock_tcp::cc::{AckEvent, CongestionState, LossEvent, RateSample, Signal, Window};
