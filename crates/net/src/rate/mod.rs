//! Rates that change in the course of a run: what a link can carry, and when.
//!
//! A rule answers when a transmission ends that begins at some moment. It is asked in order of time, once for each
//! packet, so nothing happens between packets, however often the rate changes.
//! To add a rule: a new file with an [`Entry`](ackclock_units::param::Entry) and a type that implements [`Rates`], and
//! one line in [`registry!`] below.

mod mahimahi;
mod table;

use ackclock_units::Time;
use ackclock_units::param::Chosen;
use ackclock_units::registry;

/// The transmission of a packet that begins.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// When.
    pub at: Time,
    /// Size of the packet.
    pub bytes: u16,
    /// It has waited for the one before, which ended at this moment.
    pub waited: bool,
    /// What the transmission before left over.
    pub carry: u64,
}

/// A rate in the course of time.
pub trait Rates {
    /// When a transmission ends, and what it leaves over for the next one that follows without a pause.
    fn finish(&mut self, begun: Begun) -> (Time, u64);
    /// Bytes that could be carried from the start of the run until then, where transmissions take no time of their own.
    fn offered_bytes(&self, until: Time) -> Option<f64>;
    /// The mean rate, for what needs one number.
    fn mean_bps(&self) -> f64;
}

registry! {
    /// Any rate that changes.
    pub enum Varying: Rates [], a "rate" {
        Table: table as table::Table,
        Mahimahi: mahimahi as mahimahi::Mahimahi,
    }
    fn finish(&mut self, begun: Begun) -> (Time, u64);
    fn offered_bytes(&self, until: Time) -> Option<f64>;
    fn mean_bps(&self) -> f64;
}

/// The mean rate of a rule in whole bit/s, at least 1.
pub fn mean_bps(chosen: &Chosen) -> u64 {
    (Varying::new(chosen).mean_bps().round() as u64).max(1)
}
