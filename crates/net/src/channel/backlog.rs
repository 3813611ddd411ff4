//! What waits in a walked channel: eight bytes per packet.
//!
//! These packets are on the next channel already, and nobody will take them from here. What counts is how many wait, and
//! at the end of the run which ones; when each of them starts follows from the one before. So a long queue, of which there is one
//! in most networks, leaves the cache to the flows.

use super::{Channel, Service};
use crate::packet::Outline;
use crate::packet::Packet;
use crate::slots::{Entry, Slots};
use ackclock_trace::Recorder;
use ackclock_units::Time;
use std::collections::VecDeque;

/// The packets that wait.
#[derive(Debug, Clone, Default)]
pub(super) struct Backlog {
    packets: VecDeque<Outline>,
    /// What the transmission before that of the first one leaves over of its last nanosecond.
    carry: u64,
}

impl Channel {
    /// Whether what waits is in the backlog and not in the chain, of which only the counters are used then.
    #[inline(always)]
    pub(crate) fn has_backlog<R: Recorder>(&self) -> bool {
        !R::PACKETS && self.service == Service::Walked
    }

    /// A packet waits; `carry` is what the transmission before its own leaves over.
    #[inline(always)]
    pub(super) fn join_backlog(&mut self, packet: Packet, carry: u64) {
        let backlog = self.backlog.get_or_insert_default();
        if self.chain.queued() == 0 {
            backlog.carry = carry;
        }
        backlog.packets.push_back(packet.outline());
        self.chain.count_waiting(backlog.packets.len());
    }

    /// As [`Channel::settle`].
    pub(super) fn settle_backlog(&mut self, now: Time) {
        let Some(backlog) = &mut self.backlog else { return };
        let (mut start, mut carry) = (self.next_start, backlog.carry);
        while start <= now
            && let Some(packet) = backlog.packets.pop_front()
        {
            let (span, rest) = self.serial.time(packet.size(), carry);
            (start, carry) = (start + Time::from_ns(span), rest);
            self.serving = packet.size();
            self.waiting_bytes -= u64::from(packet.size());
        }
        (self.next_start, backlog.carry) = (start, carry);
        self.chain.count_waiting(backlog.packets.len());
    }

    /// The packets that wait, in the order in which they will leave; up to date after [`Channel::close`].
    pub(super) fn waiting(&self, slots: &Slots) -> Vec<Entry> {
        let Some(backlog) = &self.backlog else { return self.chain.waiting(slots).collect() };
        let (mut end, mut carry) = (self.next_start, backlog.carry);
        let entry = |outline: &Outline| {
            let (span, rest) = self.serial.time(outline.size(), carry);
            (end, carry) = (end + Time::from_ns(span), rest);
            Entry { time: end + self.delay, packet: outline.packet() }
        };
        backlog.packets.iter().map(entry).collect()
    }
}
