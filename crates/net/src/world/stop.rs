//! Flows that are cut off.
//!
//! The sender is gone from one moment to the next: nothing more is sent, its timers stop, ACKs find nobody. What is
//! in the network travels on, and the receiver counts and acknowledges it.
//!
//! DEVIATION: a host that closes a connection in the middle of a transfer sends one segment with the flag RST
//! (RFC 9293 section 3.10.5). It is left out. It would reach the receiver after all data, take its place in the
//! queues, and spare the network nothing but an ACK that the receiver delays; such an ACK is left out, too.

use super::{Boundary, World};
use crate::flow::{Endpoint, Stopped};
use crate::packet::Parcel;
use ackclock_engine::EventQueue;
use ackclock_trace::{Recorder, flow_event};
use ackclock_units::Time;

impl<Q: EventQueue, R: Recorder, B: Boundary> World<Q, R, B> {
    /// Cuts a flow off, unless it is over.
    pub(super) fn stop_flow(&mut self, index: u32) {
        let now = self.now;
        let flow = &mut self.net.flows[index as usize];
        let completes = match &mut flow.endpoint {
            Endpoint::Tcp(tcp) if tcp.finish_ack.is_none() => {
                self.leave(index);
                true
            }
            Endpoint::Udp(udp) if !udp.writer.is_finished() => udp.stop(flow.dropped),
            _ => return,
        };
        let flow = &mut self.net.flows[index as usize];
        flow.stopped = Some(now);
        flow.armed = Time::NEVER;
        flow.paused = false;
        self.last_change = now;
        self.record_event(index, flow_event::STOP, 0);
        if completes {
            self.complete_flow();
        }
    }

    /// Of a TCP flow that is cut off the receiver stays.
    fn leave(&mut self, index: u32) {
        let (index, until) = (index as usize, self.now);
        let last = self.net.flows.len() - 1;
        // Out of its place and back again: it becomes another kind of thing.
        let mut flow = self.net.flows.swap_remove(index);
        flow.endpoint = match flow.endpoint {
            Endpoint::Tcp(tcp) => Endpoint::Stopped(Stopped { tcp: Box::new(tcp), until }),
            other => other,
        };
        self.net.flows.push(flow);
        self.net.flows.swap(index, last);
    }

    /// Data of a flow that was cut off reach its receiver.
    #[cold]
    pub(super) fn receive_late(&mut self, parcel: Parcel) {
        let packet = parcel.open();
        let now = self.now;
        let Endpoint::Stopped(stopped) = &mut self.net.flows[packet.flow() as usize].endpoint
        else {
            unreachable!("only flows that were cut off")
        };
        stopped.until = now;
        let finish = stopped.tcp.finish;
        let answer = stopped.tcp.accept(now, packet);
        if stopped.tcp.finish != finish {
            self.record_event(packet.flow(), flow_event::FINISH, packet.seq);
        }
        if let Some(ack) = answer {
            self.send(ack.pack());
        }
    }
}
