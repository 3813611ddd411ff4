//! Numbers of packets, derived from the order in which things happen to them.
//!
//! A packet carries no number of its own: it would make every packet larger, also in runs that record
//! nothing. Channels are first in, first out, so the number of a packet that starts or arrives is the
//! one that has been in the channel for longest; this module follows along.

use crate::parts::Moment;
use ackclock_units::Time;
use std::collections::VecDeque;

/// Follows packets through channels and knows the number of each.
///
/// The world reports what happens; the *present* packet is the one that was made, or came to the end of a
/// channel, last.
#[derive(Debug, Default)]
pub struct PacketIds {
    on: bool,
    created: i64,
    present: i64,
    /// In a part of a network: its numbers are those of which the remainder by the number of parts is its own.
    step: i64,
    /// In a part of a network: the event in which each packet was made.
    made: Option<Vec<Moment>>,
    moment: Moment,
    /// Packets sent that enter their links by events still to come.
    held: VecDeque<i64>,
    lanes: Vec<Lane>,
}

/// What is in one channel.
#[derive(Debug, Default)]
struct Lane {
    /// Packets whose transmission has not started, and when they entered.
    waiting: VecDeque<(i64, Time)>,
    /// Packets that are transmitted or propagate.
    on_wire: VecDeque<i64>,
}

impl PacketIds {
    /// Ids that follow packets, or that do nothing.
    pub(crate) fn new(on: bool) -> Self {
        Self { on, step: 1, ..Self::default() }
    }

    /// Numbers for one of several parts, until [`Numbers`](crate::Numbers) gives them those of the whole network.
    pub(crate) fn of_part(on: bool, part: usize, parts: usize) -> Self {
        let made = on.then(Vec::new);
        Self { on, created: part as i64, step: parts as i64, made, ..Self::default() }
    }

    pub(crate) fn at(&mut self, moment: Moment) {
        self.moment = moment;
    }

    /// The events in which packets were made since they were asked for last.
    pub(crate) fn take_made(&mut self) -> Vec<Moment> {
        self.made.as_mut().map_or_else(Vec::new, std::mem::take)
    }

    #[inline]
    fn lane(&mut self, channel: usize) -> &mut Lane {
        if self.lanes.len() <= channel {
            self.open(channel);
        }
        &mut self.lanes[channel]
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self, channel: usize) {
        self.lanes.resize_with(channel + 1, Lane::default);
    }

    /// A packet is made; numbers count up from 0.
    #[inline]
    pub fn create(&mut self) {
        self.present = self.created;
        self.created += self.step;
        if let Some(made) = &mut self.made {
            made.push(self.moment);
        }
    }

    /// Number of the present packet.
    #[inline]
    pub fn present(&self) -> i64 {
        self.present
    }

    /// The present packet will enter its link by an event of its own.
    pub fn hold(&mut self) {
        if self.on {
            self.held.push_back(self.present);
        }
    }

    /// The packet held for longest is the present one.
    pub fn release(&mut self) {
        if self.on {
            self.present = self.held.pop_front().expect("a packet was held");
        }
    }

    /// The present packet enters a channel.
    #[inline]
    pub fn enter(&mut self, channel: usize, now: Time) {
        if self.on {
            let entry = (self.present, now);
            self.lane(channel).waiting.push_back(entry);
        }
    }

    /// The present packet enters a channel in which no other one waits, and its transmission begins: its number, and
    /// when it entered. Unless `stays`, nobody will ask for it at the far end.
    #[inline]
    pub fn pass(&mut self, channel: usize, now: Time, stays: bool) -> (i64, Time) {
        if self.on && stays {
            let id = self.present;
            self.lane(channel).on_wire.push_back(id);
        }
        (self.present, now)
    }

    /// A channel begins to transmit the packet that has waited longest: its number, and when it entered.
    /// Unless `stays`, nobody will ask for it at the far end.
    #[inline]
    pub fn start(&mut self, channel: usize, stays: bool) -> (i64, Time) {
        if !self.on {
            return (0, Time::ZERO);
        }
        let lane = self.lane(channel);
        let (id, entered) = lane.waiting.pop_front().expect("a packet waits");
        if stays {
            lane.on_wire.push_back(id);
        }
        (id, entered)
    }

    /// A channel begins to transmit the packet of this number, which its queue has kept.
    pub fn start_kept(&mut self, channel: usize, id: i64) {
        if self.on {
            self.lane(channel).on_wire.push_back(id);
        }
    }

    /// The packet that came onto a channel's wire last goes to another part of the network: its number.
    pub fn take_newest(&mut self, channel: usize) -> i64 {
        if !self.on {
            return 0;
        }
        self.lane(channel).on_wire.pop_back().expect("a packet is on the wire")
    }

    /// The packet of this number reaches the end of a channel on whose wire packets overtake each other.
    pub fn arrive_as(&mut self, id: i64) {
        if self.on {
            self.present = id;
        }
    }

    /// The packet that has been on a channel's wire for longest arrives and is the present one.
    #[inline]
    pub fn arrive(&mut self, channel: usize) {
        if self.on {
            self.present = self.lane(channel).on_wire.pop_front().expect("a packet is on the wire");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_followed_first_in_first_out() {
        let mut ids = PacketIds::new(true);
        for ms in 0..3 {
            ids.create();
            assert_eq!(ids.present(), ms as i64);
            ids.enter(5, Time::from_ms(ms));
        }
        assert_eq!(ids.start(5, true), (0, Time::ZERO));
        assert_eq!(ids.start(5, false), (1, Time::from_ms(1)));
        assert_eq!(ids.start(5, true), (2, Time::from_ms(2)));
        ids.arrive(5);
        ids.hold();
        ids.arrive(5);
        assert_eq!(ids.present(), 2);
        ids.release();
        assert_eq!(ids.present(), 0);
    }

    #[test]
    fn switched_off_nothing_is_kept() {
        let mut ids = PacketIds::default();
        ids.create();
        ids.enter(0, Time::ZERO);
        ids.start(0, true);
        ids.arrive(0);
        assert!(ids.lanes.is_empty());
    }
}
