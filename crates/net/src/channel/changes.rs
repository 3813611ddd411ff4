//! What can happen to a channel while it runs.

use super::{Channel, Service};
use ackclock_units::Time;
use std::sync::Arc;

impl Channel {
    /// The link takes packets or not from now on.
    pub fn set_up(&mut self, up: bool) {
        self.down = !up;
        self.gated = self.loss.is_some() || self.down;
    }

    /// Transmissions that begin from now on have this rate; only for channels served by events.
    pub fn set_rate(&mut self, rate_bps: u64) {
        debug_assert!(self.service == Service::Events);
        let (bytes, ns) = self.earlier();
        let present = self.stats.bytes;
        self.served().earlier = (present, ns + self.serial.exact_ns(present - bytes));
        self.serial = Arc::new(self.serial.with_rate(rate_bps));
        self.carry = 0;
    }

    /// Packets that leave from now on have this delay; only for channels served by events.
    pub fn set_delay(&mut self, delay: Time) {
        debug_assert!(self.service == Service::Events);
        self.delay = delay;
    }
}
