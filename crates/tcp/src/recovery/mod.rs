//! Loss recovery: when data count as lost, and what the window does while they are repaired.
//!
//! `selective-repeat` belongs to the sender of that name. The others belong to the classic sender; to
//! add one of them: a new file with an [`Entry`] and a type that implements
//! [`window::LossRecovery`], and one line in [`registry!`] below.

mod inflation;
mod newreno;
mod options;
mod reno;
pub mod selective_repeat;
mod tahoe;
mod timeout;
mod vegas;
pub mod window;

use crate::send_log::SendLog;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry};
use window::{Cut, LossRecovery, State, Verdict};

/// Loss recoveries that a scenario can name.
pub static ENTRIES: &[&Entry] = &[
    &selective_repeat::ENTRY,
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
        pub enum Classic {
            $(
                #[allow(missing_docs, reason = "documented by the entry")]
                $variant($holder),
            )*
        }

        impl Classic {
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

        impl LossRecovery for Classic {
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

            fn send_log(&self, mss: u64, receive_window: u64, handshake: bool) -> Option<SendLog> {
                match self {
                    $(Self::$variant(recovery) => {
                        recovery.send_log(mss, receive_window, handshake)
                    })*
                }
            }

            fn repairs_twice(&self) -> bool {
                match self { $(Self::$variant(recovery) => recovery.repairs_twice()),* }
            }

            fn times_out_idle(&self) -> bool {
                match self { $(Self::$variant(recovery) => recovery.times_out_idle()),* }
            }

            fn deflated(&self, state: &State) -> f64 {
                match self { $(Self::$variant(recovery) => recovery.deflated(state)),* }
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
