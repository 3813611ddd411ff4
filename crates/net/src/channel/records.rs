//! What a channel writes down.

use super::{Channel, Service};
use crate::packet::Packet;
use ackclock_trace::{QueueRow, Recorder, TransmissionRow, WaitingRow, direction};
use ackclock_units::Time;

impl Channel {
    pub(super) fn record_queue<R: Recorder>(&self, time: Time, recorder: &mut R) {
        recorder.queue(QueueRow {
            time,
            link: self.link,
            direction: self.direction,
            packets: self.chain.queued() as i32,
            data_packets: self.waiting_data as i32,
            bytes: self.waiting_bytes as i64,
        });
    }

    /// Where the numbers of this channel's packets are kept.
    pub(super) fn lane(&self) -> usize {
        2 * self.link as usize + usize::from(self.direction == direction::BACKWARD)
    }

    pub(super) fn record_transmission<R: Recorder>(
        &self,
        time: Time,
        arrival: Time,
        packet: Packet,
        recorder: &mut R,
    ) {
        let stays = self.service != Service::Walked;
        let (id, entered) = recorder.ids().start(self.lane(), stays);
        recorder.transmission(TransmissionRow {
            time,
            link: self.link,
            direction: self.direction,
            flow: packet.flow_code(),
            kind: packet.kind_code(),
            bytes: i32::from(packet.size()),
            seq: i64::from(packet.seq),
            reverse: packet.is_reverse(),
            entered,
            arrival,
            id,
        });
    }

    pub(super) fn record_waiting<R: Recorder>(&self, packet: Packet, recorder: &mut R) {
        let (id, time) = recorder.ids().start(self.lane(), false);
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
