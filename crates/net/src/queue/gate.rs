//! Disciplines that decide on arrival alone.

use super::{Arrival, OnArrival, Place, Verdict, blue, policer, red, threshold};
use ackclock_units::registry;

registry! {
    /// A discipline that decides on arrival.
    pub enum Gate: OnArrival [place: Place], a "queue" {
        Red: red as red::Red,
        Blue: blue as blue::Blue,
        Policer: policer as policer::Policer,
        Threshold: threshold as threshold::Threshold,
    }
    fn admit(&mut self, arrival: &Arrival<'_>) -> Verdict;
    fn set_rate(&mut self, rate_bps: u64);
    fn state(&self, show: &mut dyn FnMut(i32, f64));
}

impl Gate {
    /// Whether the discipline of this name is one of them.
    pub(super) fn has(kind: &str) -> bool {
        ENTRIES.iter().any(|entry| entry.name == kind)
    }
}
