//! What can happen to a channel while it runs.

use super::{Channel, Service};
use ackclock_units::Time;
use std::sync::Arc;

impl Channel {
    /// The link takes packets or not from now on.
    pub fn set_up(&mut self, up: bool) {
        self.down = !up;
        self.set_gated();
    }

    /// Transmissions that begin from now on have this rate; only for channels served by events.
    pub fn set_rate(&mut self, rate_bps: u64) {
        debug_assert!(self.service == Service::Events);
        let (bytes, ns) = self.earlier();
        let present = self.stats.bytes;
        let next = Arc::new(self.serial.with_rate(rate_bps));
        let ns = ns + self.serial.exact_ns(present - bytes);
        let busy = self.busy;
        let before = std::mem::replace(&mut self.serial, next);
        let served = self.served();
        served.earlier = (present, ns);
        // A transmission going on ends when it was going to.
        if busy && served.wire.is_none() {
            served.wire = Some(before);
        }
        self.carry = 0;
        if let Some(managed) = &mut self.managed {
            managed.discipline.set_rate(rate_bps);
        }
    }

    /// Packets that leave from now on have this delay; only for channels served by events.
    pub fn set_delay(&mut self, delay: Time) {
        debug_assert!(self.service == Service::Events);
        self.delay = delay;
    }

    /// Nanoseconds of transmission; exact after [`Channel::close`].
    pub fn busy_ns(&self) -> f64 {
        let (bytes, ns) = self.earlier();
        ns + self.serial.exact_ns(self.stats.bytes - bytes) + self.stats.unfinished_ns as f64
    }

    /// Bytes transmitted at earlier rates, or at one that changes by a rule, and the nanoseconds that they took.
    fn earlier(&self) -> (u64, f64) {
        self.served.as_ref().map_or((0, 0.0), |served| served.earlier)
    }
}
