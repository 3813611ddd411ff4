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

    /// Brings the queue up to date: packets whose transmission has started are no longer waiting. So that it is called
    /// seldom and has much to do then, nobody calls it as long as a queue that is too long makes no difference; where
    /// packets are recorded it always does.
    #[inline(always)]
    pub(super) fn settle<R: Recorder>(&mut self, now: Time, slots: &mut Slots, recorder: &mut R) {
        if R::PACKETS {
            self.start_waiting(now, slots, recorder);
        } else {
            self.settle_seldom(now, slots, recorder);
        }
    }

    #[inline(never)]
    fn settle_seldom<R: Recorder>(&mut self, now: Time, slots: &mut Slots, recorder: &mut R) {
        if self.has_backlog::<R>() {
            self.settle_backlog(now);
        } else {
            self.start_waiting(now, slots, recorder);
        }
    }

    #[inline(always)]
    fn start_waiting<R: Recorder>(&mut self, now: Time, slots: &mut Slots, recorder: &mut R) {
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

    /// A packet enters a channel whose queue is settled.
    pub(super) fn enter_fused<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Time {
        if self.free_at <= now {
            self.enter_idle(now, packet, slots, recorder)
        } else {
            self.enter_waiting(now, packet, slots, recorder)
        }
    }

    /// A packet enters while nothing is transmitted; answers when it arrives.
    #[inline(always)]
    pub(super) fn enter_idle<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Time {
        let departure = self.transmit(now, self.unfinished(now), now, packet);
        let arrival = departure + self.delay;
        self.next_start = departure;
        self.serving = packet.size();
        // A walked packet that does not wait is gone.
        if self.service != Service::Walked {
            self.chain.push(Entry { time: arrival, packet }, false, slots);
        }
        if R::PACKETS {
            self.record_passing(now, arrival, packet, recorder);
        }
        arrival
    }

    /// A packet enters while another one is transmitted; answers when it arrives.
    #[inline(always)]
    pub(super) fn enter_waiting<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Time {
        let carry = self.carry;
        let departure = self.transmit(self.free_at, carry, now, packet);
        let arrival = departure + self.delay;
        if R::PACKETS {
            recorder.ids().enter(self.lane(), now);
        }
        if self.has_backlog::<R>() {
            self.join_backlog(packet, carry);
        } else {
            self.chain.push(Entry { time: arrival, packet }, true, slots);
        }
        if R::PACKETS {
            self.join_queue(now, packet, recorder);
            return arrival;
        }
        self.waiting_bytes += u64::from(packet.size());
        let stats = &self.stats;
        if self.chain.queued() > stats.packets_max || self.waiting_bytes > stats.bytes_max {
            self.settle(now, slots, recorder);
            self.note_length();
        }
        arrival
    }
}
