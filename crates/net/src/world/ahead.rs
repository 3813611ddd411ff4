//! Receivers that are walked: a packet reaches its receiver while it is still on its way there, with the time at which it
//! will arrive, and what the receiver answers goes on at once.
//!
//! That is so only where it cannot be distinguished from waiting; the scenario is compiled that way (`Reception` in `sim`).

use super::{Boundary, World};
use crate::flow::Endpoint;
use crate::hop::Hop;
use crate::packet::{Kind, Packet, Parcel};
use ackclock_engine::EventQueue;
use ackclock_tcp::Ends;
use ackclock_trace::Recorder;
use ackclock_units::Time;

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// A packet will have come to its receiver at `time`; what that answers, and its first hop.
    #[inline(always)]
    pub(super) fn receive_ahead(&mut self, time: Time, packet: Packet) -> Option<(Hop, Packet)> {
        let index = packet.flow();
        let Endpoint::Tcp(tcp) = &mut self.net.flows[index as usize].endpoint else {
            self.receive_datagram_ahead(time, packet.pack());
            return None;
        };
        if tcp.connection.receiver_timer() < time {
            self.expire_ahead(time, index);
        }
        self.counters.delivered += 1;
        let way_back = self.net.way_back();
        let flow = &mut self.net.flows[index as usize];
        let Endpoint::Tcp(tcp) = &mut flow.endpoint else { return None };
        let answer = match packet.kind() {
            Kind::Data => tcp.accept(time, packet),
            _ => tcp.accept_message(time, packet.pack()).map(Parcel::open),
        };
        let Some(mut answer) = answer else {
            self.wake(index);
            return None;
        };
        self.counters.created += 1;
        answer.set_hops(way_back);
        Some((flow.first[1], answer))
    }

    #[cold]
    fn receive_datagram_ahead(&mut self, time: Time, parcel: Parcel) {
        let packet = parcel.open();
        self.counters.delivered += 1;
        let flow = &mut self.net.flows[packet.flow() as usize];
        let Endpoint::Udp(udp) = &mut flow.endpoint else {
            unreachable!("receivers of flows that are cut off are not walked")
        };
        if udp.accept(time, packet, flow.dropped) {
            self.complete_flow();
        }
    }

    /// The receiver's timer expires before a packet arrives at `time`: the ACKs that it owes leave first.
    #[cold]
    #[inline(never)]
    fn expire_ahead(&mut self, time: Time, index: u32) {
        let way_back = self.net.way_back();
        loop {
            let flow = &mut self.net.flows[index as usize];
            let Endpoint::Tcp(tcp) = &mut flow.endpoint else { return };
            let due = tcp.connection.receiver_timer();
            if due >= time {
                return;
            }
            let Some(ack) = tcp.connection.on_receiver_timer(due) else { return };
            let mut ack = tcp.packet_of(index, ack);
            self.counters.created += 1;
            ack.set_hops(way_back);
            let first = flow.first[1];
            self.offer_within(due, first, ack);
        }
    }
}
