//! Loss recovery: when data count as lost, and what the window does while they are repaired.
//!
//! To add one: a new file with an [`Entry`](ackclock_units::param::Entry) and a type that implements
//! [`interface::LossRecovery`], and one line in [`registry!`] below.

mod inflation;
pub mod interface;
mod newreno;
mod options;
mod reno;
mod tahoe;
mod timeout;
mod vegas;

use crate::senders::classic::send_times::SendTimes;
use ackclock_units::{Time, registry};
use interface::{Cut, LossRecovery, State, Verdict};

registry! {
    /// Any recovery of the classic sender.
    pub enum Recovery: LossRecovery, a "recovery of the classic sender" {
        Timeout: timeout as timeout::Timeout,
        Tahoe: tahoe as tahoe::Tahoe,
        Reno: reno as reno::Reno,
        NewReno: newreno as newreno::NewReno,
        Vegas: vegas as Box<vegas::Vegas>,
    }
    fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict;
    fn on_new_ack(&mut self, state: &mut State, acked: u64) -> Verdict;
    fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>);
    fn on_established(&mut self, rtt: Time);
    fn send_times(&self, mss: u64, receive_window: u64, handshake: bool) -> Option<SendTimes>;
    fn repairs_twice(&self) -> bool;
    fn times_out_idle(&self) -> bool;
    fn deflated(&self, state: &State) -> f64;
    fn is_active(&self) -> bool;
}
