//! Channels served by events: an event ends each transmission.

use super::line::Line;
use super::{Channel, Offer};
use crate::jitter::Jitter;
use crate::packet::{Packet, Parcel};
use crate::rate::{Begun, Rates, Varying};
use crate::serial::Serial;
use crate::slots::{Entry, Slots};
use ackclock_engine::Stamp;
use ackclock_trace::Recorder;
use ackclock_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// What has happened when the event came that ends a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing waits.
    Idle,
    /// Another transmission has begun.
    Next,
    /// It had ended before, and the one that has begun since goes on.
    Before,
}

/// What only a channel served by events keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Served {
    /// When the packet that left last arrives.
    pub last_arrival: Time,
    /// Bytes transmitted at earlier rates, or at one that changes by a rule, and the nanoseconds that they took.
    pub earlier: (u64, f64),
    /// The wire as it was when the transmission going on began, if its rate has changed since.
    pub wire: Option<Arc<Serial>>,
    /// The rate, where it changes in the course of the run, and how long the last transmission takes.
    pub rates: Option<Varying>,
    span: Time,
    /// What waited last did not wait for a transmission, but for a discipline that had nothing to send.
    pub rested: bool,
    /// How long packets travel, where that differs.
    pub jitter: Option<Jitter>,
    /// The wire, where packets overtake each other on it.
    pub line: Option<Line>,
    /// At one moment departures come before arrivals, whichever event is handled first.
    pub departures_first: bool,
    /// The event that ends a transmission is in the event queue.
    ending: bool,
    /// Stamps of the arrivals of packets on the wire, for orders that need them.
    pub stamps: VecDeque<Stamp>,
    /// What is known since figures began, if that was not at the start.
    pub since_mark: Option<SinceMark>,
}

/// Waits of packets that have left the queue since figures began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SinceMark {
    /// When figures began.
    pub at: Time,
    /// The longest wait of a packet that has entered since.
    pub longest: Time,
    /// Packets that had entered before, and how long they waited in all.
    pub earlier: u64,
    pub earlier_wait_ns: u128,
}

impl Channel {
    /// What a channel served by events keeps.
    pub(super) fn served(&mut self) -> &mut Served {
        self.served.as_mut().expect("a channel served by events")
    }

    /// Served by events: at one moment departures come before arrivals, whichever event is handled first. So it is
    /// in all channels of a run in the default order of events.
    pub fn let_departures_come_first(&mut self) {
        if let Some(served) = &mut self.served {
            served.departures_first = true;
        }
    }

    /// Served by events: a packet arrives at the queue.
    #[inline(never)]
    pub(super) fn offer_served<R: Recorder>(
        &mut self,
        now: Time,
        parcel: Parcel,
        exempt: bool,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Offer {
        if self.busy && self.free_at <= now {
            self.catch_up(now, slots, recorder);
        }
        if self.gated {
            return self.offer_gated(now, parcel, exempt, slots, recorder);
        }
        let packet = parcel.open();
        let idle = self.takes_when_idle && !self.busy;
        if !idle && !exempt && !self.admits(now, packet) {
            return self.full();
        }
        self.enter(now, packet, slots, recorder)
    }

    /// Served by events: the packet starts at once or waits.
    pub(super) fn enter<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Offer {
        if self.busy {
            if R::PACKETS {
                recorder.ids().enter(self.lane(), now);
            }
            self.chain.push(Entry { time: now, packet }, true, slots);
            self.join_queue(now, packet, recorder);
            return Offer::Waiting;
        }
        let arrival = self.begin(now, self.unfinished(now), now, packet);
        self.put_on_wire(arrival, packet, slots);
        if R::PACKETS {
            self.record_passing(now, arrival, packet, recorder);
        }
        Offer::Started
    }

    /// Served by events: starts the transmission of a packet that entered at `entered`; answers when it
    /// arrives.
    pub(super) fn begin(&mut self, now: Time, carry: u64, entered: Time, packet: Packet) -> Time {
        self.note_wait(entered, now);
        if self.unsteady {
            return self.begin_unsteady(now, carry, entered, packet);
        }
        let departure = self.transmit(now, carry, entered, packet);
        self.next_start = departure;
        self.serving = packet.size();
        self.busy = true;
        // A shorter delay does not let packets overtake others.
        let arrival = departure + self.delay;
        let served = self.served();
        served.wire = None;
        served.last_arrival = served.last_arrival.max(arrival);
        served.last_arrival
    }

    /// The same where the rate changes by a rule, or packets do not all travel for the same time.
    #[cold]
    #[inline(never)]
    fn begin_unsteady(&mut self, now: Time, carry: u64, entered: Time, packet: Packet) -> Time {
        let departure = match self.varying_end(now, carry, entered, packet.size()) {
            None => self.transmit(now, carry, entered, packet),
            Some(end) => {
                self.count_transmission(now, end, entered, packet);
                let earlier = &mut self.served().earlier;
                earlier.0 += u64::from(packet.size());
                earlier.1 += (end.0 - now).as_ns() as f64;
                end.0
            }
        };
        self.next_start = departure;
        self.serving = packet.size();
        self.busy = true;
        let (usual, overtakes) = (self.delay, self.overtakes);
        let served = self.served();
        served.wire = None;
        let delay = served.jitter.as_mut().map_or(usual, |jitter| jitter.delay(usual, &packet));
        let arrival = departure + delay;
        if overtakes {
            return arrival;
        }
        served.last_arrival = served.last_arrival.max(arrival);
        served.last_arrival
    }

    /// Served by events: a packet that did not wait in the chain is on the wire.
    pub(super) fn put_on_wire(&mut self, arrival: Time, packet: Packet, slots: &mut Slots) {
        if self.overtakes {
            self.put_on_line(arrival, packet);
        } else {
            self.chain.push(Entry { time: arrival, packet }, false, slots);
        }
    }

    /// Served by events: whether the end of the present transmission has to be put into the event queue;
    /// from now on it is there.
    pub(crate) fn awaits_end(&mut self) -> bool {
        !std::mem::replace(&mut self.served().ending, true)
    }

    /// Served by events: a packet comes at the very moment at which a transmission ends. Where departures come
    /// first the transmission is over, and so are those after it that take less than a nanosecond.
    #[cold]
    pub(super) fn catch_up<R: Recorder>(&mut self, now: Time, slots: &mut Slots, recorder: &mut R) {
        while self.served().departures_first && self.busy && self.free_at <= now {
            self.next_transmission(now, slots, recorder);
        }
    }

    /// Served by events: the event has come that ends a transmission.
    pub(crate) fn end_transmission<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Ended {
        let ended = if !self.busy {
            Ended::Idle
        } else if self.free_at > now {
            Ended::Before
        } else if self.next_transmission(now, slots, recorder) {
            Ended::Next
        } else if self.busy {
            // It rests until its discipline lets a packet go.
            Ended::Before
        } else {
            Ended::Idle
        };
        self.served().ending = ended != Ended::Idle;
        ended
    }

    /// Ends a transmission. True if another one starts.
    fn next_transmission<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> bool {
        debug_assert!(self.busy && self.free_at == now);
        self.busy = false;
        if self.keeps() {
            return self.next_kept(now, slots, recorder);
        }
        if self.chain.queued() == 0 {
            return false;
        }
        let Entry { time: entered, packet } = *self.chain.first_waiting(slots);
        let arrival = self.begin(now, self.carry, entered, packet);
        if self.overtakes {
            self.chain.drop_first(slots);
            self.put_on_line(arrival, packet);
        } else {
            self.chain.first_waiting(slots).time = arrival;
            self.chain.start_first(slots);
        }
        self.leave_queue(now, arrival, packet, recorder);
        true
    }

    /// Served by events: when the present transmission ends.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// When a transmission ends that begins now, and what it leaves over, where the rate changes in the course of
    /// the run.
    pub(super) fn varying_end(
        &mut self,
        now: Time,
        carry: u64,
        entered: Time,
        bytes: u16,
    ) -> Option<(Time, u64)> {
        let served = self.served();
        let waited = entered < now && !std::mem::take(&mut served.rested);
        let begun = Begun { at: now, bytes, waited, carry };
        let end = served.rates.as_mut()?.finish(begun);
        served.span = end.0 - now;
        Some(end)
    }

    /// Whether the rate changes in the course of the run.
    pub(super) fn varies(&self) -> bool {
        self.served.as_ref().is_some_and(|served| served.rates.is_some())
    }

    /// Served by events: seconds that the packet in transmission takes.
    pub fn serving_s(&self) -> f64 {
        match &self.served {
            Some(served) if served.rates.is_some() => served.span.as_secs(),
            _ => self.serial.seconds(self.serving),
        }
    }

    /// What the link could have carried until then, bytes; none where the time of its transmissions says how busy it is.
    pub fn offered_bytes(&self, until: Time) -> Option<f64> {
        self.served.as_ref()?.rates.as_ref()?.offered_bytes(until)
    }

    /// Served by events: notes the stamp of the arrival of the packet that has just started.
    pub fn push_stamp(&mut self, stamp: Stamp) {
        match &mut self.served().line {
            Some(line) => line.set_stamp(stamp),
            None => self.served().stamps.push_back(stamp),
        }
    }

    /// Served by events: only packets on the wire know their arrivals.
    pub(super) fn next_served_arrival(&mut self) -> Option<(Time, Stamp)> {
        if self.overtakes {
            return self.served().line.as_mut()?.next_entry();
        }
        if self.chain.held() == self.chain.queued() {
            self.armed = false;
            return None;
        }
        let stamp = self.served().stamps.pop_front().unwrap_or_default();
        Some((self.chain.front().time, stamp))
    }
}
