//! Fused and walked channels: departures are computed when packets enter.

use super::{Channel, Service};
use crate::packet::Packet;
use crate::slots::{Entry, Slots};
use ackclock_trace::Recorder;
use ackclock_units::Time;

impl Channel {
    /// Lets packets go on to the next channel at once; the channel must be empty.
    pub fn walk(&mut self) {
        debug_assert!(self.service == Service::Fused && self.chain.held() == 0);
        self.service = Service::Walked;
    }

    /// Walked: a packet will not reach the far end before the end of the run.
    pub fn on_late(&mut self) {
        self.late += 1;
    }

    /// Brings the queue up to date: packets whose transmission has started are no longer waiting.
    #[inline(always)]
    pub(super) fn settle<R: Recorder>(&mut self, now: Time, slots: &mut Slots, recorder: &mut R) {
        while self.chain.queued() > 0 && self.next_start <= now {
            let start = self.next_start;
            let Entry { time: arrival, packet } = *self.chain.first_waiting(slots);
            self.next_start = arrival - self.delay;
            match self.service {
                Service::Walked => self.chain.drop_first(slots),
                _ => self.chain.start_first(slots),
            }
            self.leave_queue(start, arrival, packet, recorder);
        }
    }

    #[inline(always)]
    pub(super) fn enter_fused<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Time {
        let idle = self.free_at <= now;
        let (start, carry) =
            if idle { (now, self.unfinished(now)) } else { (self.free_at, self.carry) };
        let departure = self.transmit(start, carry, now, packet);
        let arrival = departure + self.delay;
        if idle {
            self.next_start = departure;
            self.serving = packet.size();
            // A walked packet that does not wait is gone.
            if self.service != Service::Walked {
                self.chain.push(Entry { time: arrival, packet }, false, slots);
            }
            if R::PACKETS {
                self.record_passing(now, arrival, packet, recorder);
            }
        } else {
            if R::PACKETS {
                recorder.ids().enter(self.lane(), now);
            }
            self.chain.push(Entry { time: arrival, packet }, true, slots);
            self.join_queue(now, packet, recorder);
        }
        arrival
    }
}
