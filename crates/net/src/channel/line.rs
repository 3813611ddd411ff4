//! A wire on which packets overtake each other.
//!
//! The chain of a channel holds packets in the order in which they arrive, which is the order of their transmission.
//! With jitter that reorders it is not: then the chain holds what waits, and the wire is kept here, in order of
//! arrival. Such channels are served by events.

use super::Channel;
use crate::packet::Packet;
use ackclock_engine::Stamp;
use ackclock_trace::Recorder;
use ackclock_units::Time;
use std::collections::VecDeque;

/// A packet on its way.
#[derive(Debug, Clone)]
struct Flight {
    arrival: Time,
    packet: Packet,
    /// Its number in the record tables.
    id: i64,
    stamp: Stamp,
}

/// The packets on a wire, the one that arrives next first.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    flights: VecDeque<Flight>,
    /// Place of the packet that was put on the wire last.
    newest: usize,
    /// Entries in the event queue, the latest first: for each moment at most one.
    entries: Vec<Time>,
}

impl Line {
    /// Packets of one arrival keep the order of their transmission.
    fn put(&mut self, arrival: Time, packet: Packet) {
        self.newest = self.flights.partition_point(|flight| flight.arrival <= arrival);
        let flight = Flight { arrival, packet, id: 0, stamp: Stamp::default() };
        self.flights.insert(self.newest, flight);
    }

    fn newest(&mut self) -> &mut Flight {
        &mut self.flights[self.newest]
    }

    /// Packets on the wire.
    pub fn held(&self) -> u32 {
        self.flights.len() as u32
    }

    /// The next arrival, if it has to be put into the event queue; from now on it is there.
    pub fn next_entry(&mut self) -> Option<(Time, Stamp)> {
        let Flight { arrival, stamp, .. } = *self.flights.front()?;
        let earlier = self.entries.last().is_none_or(|first| arrival < *first);
        earlier.then(|| {
            self.entries.push(arrival);
            (arrival, stamp)
        })
    }

    /// Notes the stamp of the arrival of the packet put on the wire last.
    pub fn set_stamp(&mut self, stamp: Stamp) {
        self.newest().stamp = stamp;
    }
}

impl Channel {
    /// Lets packets overtake each other on the wire.
    pub(super) fn let_overtake(&mut self) {
        self.overtakes = true;
        self.served().line = Some(Line::default());
    }

    fn line(&mut self) -> &mut Line {
        self.served().line.as_mut().expect("a wire on which packets overtake")
    }

    /// Packets may overtake each other on the wire.
    #[inline]
    pub(crate) fn overtakes(&self) -> bool {
        self.overtakes
    }

    /// A packet whose transmission has begun.
    #[cold]
    pub(super) fn put_on_line(&mut self, arrival: Time, packet: Packet) {
        self.line().put(arrival, packet);
    }

    /// Its number.
    pub(super) fn number_on_line(&mut self, id: i64) {
        self.line().newest().id = id;
    }

    /// The packet that reaches the far end now.
    #[cold]
    pub(super) fn take_from_line<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Packet {
        let line = self.line();
        line.entries.pop();
        let flight = line.flights.pop_front().expect("an entry for each arrival");
        debug_assert!(flight.arrival == now);
        if R::PACKETS {
            recorder.ids().arrive_as(flight.id);
        }
        flight.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    #[test]
    fn each_arrival_has_its_entry_and_no_moment_has_two() {
        let mut line = Line::default();
        let mut put = |ms: u64, seq: u32| {
            let mut packet = Packet::new(Kind::Data, 0, 1);
            packet.seq = seq;
            line.put(Time::from_ms(ms), packet);
            line.next_entry().map(|(time, _)| time)
        };
        assert_eq!(put(20, 0), Some(Time::from_ms(20)));
        // Later ones wait, earlier ones need an entry of their own.
        assert_eq!(put(30, 1), None);
        assert_eq!(put(10, 2), Some(Time::from_ms(10)));
        assert_eq!(put(10, 3), None);
        let mut taken = Vec::new();
        while let Some(now) = line.entries.pop() {
            let flight = line.flights.pop_front().unwrap();
            assert_eq!(flight.arrival, now);
            taken.push(flight.packet.seq);
            line.next_entry();
        }
        assert_eq!(taken, [2, 3, 0, 1]);
    }
}
