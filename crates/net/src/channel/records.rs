//! What a channel writes down.

use super::{Channel, Service};
use crate::packet::Packet;
use ackclock_trace::{QueueRow, Recorder, TransmissionRow, WaitingRow, direction};
use ackclock_units::Time;

impl Channel {
    #[inline(always)]
    pub(super) fn record_queue<R: Recorder>(&self, time: Time, recorder: &mut R) {
        recorder.queue(QueueRow {
            time,
            link: self.link,
            direction: self.direction as i8,
            packets: self.queued() as i32,
            data_packets: self.waiting_data as i32,
            bytes: self.waiting_bytes as i64,
        });
    }

    /// Where the numbers of this channel's packets are kept.
    #[inline(always)]
    pub(crate) fn lane(&self) -> usize {
        2 * self.link as usize + usize::from(self.direction == direction::BACKWARD)
    }

    pub(super) fn record_transmission<R: Recorder>(
        &mut self,
        time: Time,
        arrival: Time,
        packet: Packet,
        recorder: &mut R,
    ) {
        let stays = self.service != Service::Walked && !self.overtakes;
        let known = recorder.ids().start(self.lane(), stays);
        if self.overtakes {
            self.number_on_line(known.0);
        }
        self.record_start(time, arrival, packet, known, recorder);
    }

    /// The same for a packet that need not wait.
    #[inline(always)]
    pub(super) fn record_passing<R: Recorder>(
        &mut self,
        now: Time,
        arrival: Time,
        packet: Packet,
        recorder: &mut R,
    ) {
        let stays = self.service != Service::Walked && !self.overtakes;
        let known = recorder.ids().pass(self.lane(), now, stays);
        if self.overtakes {
            self.number_on_line(known.0);
        }
        self.record_start(now, arrival, packet, known, recorder);
    }

    /// The same for a packet whose number and time of entry are known.
    #[inline(always)]
    pub(super) fn record_start<R: Recorder>(
        &self,
        time: Time,
        arrival: Time,
        packet: Packet,
        (id, entered): (i64, Time),
        recorder: &mut R,
    ) {
        recorder.transmission(TransmissionRow {
            time,
            link: self.link,
            direction: self.direction as i8,
            flow: packet.flow_code(),
            kind: packet.kind_code() as i8,
            bytes: packet.size(),
            seq: packet.seq,
            reverse: packet.is_reverse(),
            entered,
            arrival,
            id,
        });
    }

    /// A packet waits at the end of the run; `known` are its number and the time of its entry.
    pub(super) fn record_waiting<R: Recorder>(
        &self,
        packet: Packet,
        (id, time): (i64, Time),
        recorder: &mut R,
    ) {
        recorder.waiting(WaitingRow {
            time,
            link: self.link,
            direction: self.direction,
            flow: packet.flow_code(),
            kind: packet.kind_code(),
            bytes: i32::from(packet.size()),
            seq: i64::from(packet.seq),
            reverse: packet.is_reverse(),
            id,
        });
    }
}
