//! What a controller outside the engine has to be, and what it is told.

pub use crate::compile::Controllers;
pub use ackclock_tcp::cc::python::{Controller, Event};
pub use ackclock_tcp::cc::{AckEvent, CongestionState, LossEvent, RateSample, Signal, Window};
