//! Families of senders, each with its own kind of receiver.

pub mod classic;
pub mod selective;
