//! Loss recovery: when data count as lost, and what the window does while they are repaired.
//!
//! To add one: a new file with an [`Entry`] and a type that implements
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
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};
use interface::{Cut, LossRecovery, State, Verdict};

/// Loss recoveries that a scenario can name.
pub static ENTRIES: &[&Entry] = &[
    &crate::selective::recovery::selective_repeat::ENTRY,
    &timeout::ENTRY,
    &tahoe::ENTRY,
    &reno::ENTRY,
    &newreno::ENTRY,
    &vegas::ENTRY,
];

/// Declares an enum in place of a virtual call. Large kinds stand in a box: every flow has room for the largest
/// that does not.
macro_rules! registry {
    ($($variant:ident: $module:ident as $holder:ty),* $(,)?) => {
        /// Any recovery of the classic sender.
        #[derive(Debug, Clone)]
        pub enum Recovery {
            $(
                #[allow(missing_docs, reason = "documented by the entry")]
                $variant($holder),
            )*
        }

        impl Recovery {
            /// The recovery that a scenario chose.
            pub fn new(chosen: &Chosen) -> Self {
                $(
                    if chosen.kind == $module::ENTRY.name {
                        return Self::$variant(<$holder>::from($module::$variant::new(chosen)));
                    }
                )*
                panic!("the classic sender has no recovery named `{}`", chosen.kind)
            }
        }

        impl LossRecovery for Recovery {
            fn on_duplicate(&mut self, state: &mut State, cut: Cut<'_>) -> Verdict {
                match self { $(Self::$variant(recovery) => recovery.on_duplicate(state, cut)),* }
            }

            #[inline]
            fn on_new_ack(&mut self, state: &mut State, acked: u64) -> Verdict {
                match self { $(Self::$variant(recovery) => recovery.on_new_ack(state, acked)),* }
            }

            fn on_timeout(&mut self, state: &mut State, cut: Cut<'_>) {
                match self { $(Self::$variant(recovery) => recovery.on_timeout(state, cut)),* }
            }

            fn on_established(&mut self, rtt: Time) {
                match self { $(Self::$variant(recovery) => recovery.on_established(rtt)),* }
            }

            fn send_times(&self, mss: u64, receive_window: u64) -> Option<SendTimes> {
                match self {
                    $(Self::$variant(recovery) => recovery.send_times(mss, receive_window)),*
                }
            }

            #[inline]
            fn is_active(&self) -> bool {
                match self { $(Self::$variant(recovery) => recovery.is_active()),* }
            }
        }
    };
}

registry! {
    Timeout: timeout as timeout::Timeout,
    Tahoe: tahoe as tahoe::Tahoe,
    Reno: reno as reno::Reno,
    NewReno: newreno as newreno::NewReno,
    Vegas: vegas as Box<vegas::Vegas>,
}
