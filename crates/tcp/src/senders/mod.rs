//! Families of senders, each with its own kind of receiver and its own keys in scenarios.
//!
//! To add one: a folder with an `ENTRY`, its `NUMBERING`, what it `GIVES` congestion controls, whether it `KEEPS_JOURNAL`, and a type that implements
//! [`Ends`](crate::ends::Ends) and is made from the family's keys and [`Common`]; then one line in
//! [`connection`](crate::connection).

pub mod classic;
pub mod modern;
pub mod selective;

use crate::cc::Cc;
use crate::data::Data;
use crate::rto::Rto;

/// What senders of all families are made from.
#[derive(Debug, Clone)]
pub struct Common {
    /// Payload bytes of a full segment, at most 65535.
    pub segment: u16,
    /// What there is to send.
    pub data: Data,
    /// Initial window, segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, bytes; infinite if there is none.
    pub initial_ssthresh: f64,
    /// Congestion control.
    pub cc: Cc,
    /// Retransmission timer.
    pub rto: Rto,
}
