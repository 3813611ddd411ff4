//! One transmitter with its queue and its wire: a direction of a full-duplex link, or a half-duplex
//! link as a whole.
//!
//! Queue and wire are one chain of packets ([`chain`]). How a channel finds out that a transmission ends is its
//! [`Service`]:
//!
//! **Fused.** With a first-in-first-out queue in front of a wire of known rate, the departure time is known
//! on arrival. So a packet costs one event, its arrival at
//! the far end, and the link has one entry in the event queue however many packets it holds. The queue
//! length is worked out when somebody asks (`settle`). **Served by events** is the same link with an
//! event at the end of each transmission, for orders of simultaneous events in which the moment of
//! scheduling counts; by default both give identical results.
//!
//! **Walked.** Where all packets that leave a channel go on to channels that nobody else feeds, not even
//! the arrival needs an event: the packet enters the next channel at once, with the time at which it will
//! get there. What waits is then only of interest as a number of packets and bytes ([`backlog`]), unless each packet is
//! recorded: then the chain holds it.
//!
//! At one moment, departures come before arrivals: a packet that arrives just when another one starts
//! to be transmitted finds its place free.

mod away;
mod backlog;
mod chain;
mod changes;
mod close;
mod fused;
mod harm;
mod held;
mod line;
mod managed;
mod next;
mod peaks;
mod records;
pub(crate) mod served;
mod stats;
mod waits;

pub use harm::{Chance, Harm};
pub use stats::ChannelStats;

use crate::hop::Hop;
use crate::jitter::Jitter;
use crate::packet::{Kind, Packet, Parcel};
use crate::queue::{Decides, Discipline, DropTail, Occupancy, Queue};
use crate::rate::Varying;
use crate::serial::Serial;
use crate::slots::Slots;
use ackclock_engine::Stamp;
use ackclock_trace::Recorder;
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use backlog::Backlog;
use chain::Chain;
use managed::Managed;
use served::Served;
use std::sync::Arc;
use waits::Waits;

/// How a channel finds out that a transmission ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Departures are computed when packets enter.
    Fused,
    /// The same, and packets go on to the next channel at once.
    Walked,
    /// An event ends each transmission.
    Events,
}

/// What became of a packet that was offered to a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// It was dropped for the reason of this code.
    Dropped(i32),
    /// When it reaches the far end is settled.
    Scheduled(Time),
    /// When it would reach the far end is settled, but it is lost on the way.
    LostInTransit(Time),
    /// Served by events: it waits.
    Waiting,
    /// Served by events: its transmission has begun.
    Started,
    /// It is in the hands of a discipline that keeps its packets. A transmission has begun or not; and packets
    /// may have been dropped ([`Channel::take_dropped`]).
    Kept {
        /// A transmission has begun.
        started: bool,
    },
}

impl Offer {
    /// In the place of a reason: it is duplicated, and it and its copy have to be offered one after the other. This is
    /// no variant of its own, since every packet would pay for the arm.
    pub(crate) const TWICE: i32 = -1;
    /// In the same way: it is in the hands of a discipline that lets no packet go yet, so that the transmitter rests.
    pub(crate) const RESTS: i32 = -2;
}

/// A transmitter with its queue and its wire.
///
/// An arrival touches the first cache line, a packet that enters and need not wait the second one, too;
/// large networks are slow because of what does not fit into the cache.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Channel {
    chain: Chain,
    service: Service,
    /// An entry for the next arrival is in the event queue.
    armed: bool,
    /// Served by events: a transmission is going on.
    busy: bool,
    /// The queue takes any packet that meets an idle transmitter.
    takes_when_idle: bool,
    /// Where all packets go from here; [`Hop::ROUTED`] where that depends on the flow or the direction.
    next: Hop,
    // Second line.
    /// End of transmission of the packet before the first waiting one: when that one starts.
    next_start: Time,
    /// End of the last transmission, whole nanoseconds; the rest is `carry`.
    free_at: Time,
    delay: Time,
    /// Shared by channels of the same rate.
    serial: Arc<Serial>,
    carry: u64,
    /// Size of the packet in transmission, or of the last one.
    serving: u16,
    /// Packets that come may not be taken: there is another discipline than drop-tail or a loss model, or the link
    /// is down.
    gated: bool,
    /// Packets that come are dropped.
    down: bool,
    /// All `waits` are kept for a while, not only the longest ones.
    keeps_waits: bool,
    /// Packets may overtake each other on the wire.
    overtakes: bool,
    /// The rate changes by a rule, or packets do not all travel for the same time.
    unsteady: bool,
    /// The counters of packets and bytes are still in the second line.
    stats: ChannelStats,
    // The rest.
    /// Which packets are taken where there is no other discipline.
    tail: DropTail,
    waiting_bytes: u64,
    waiting_data: u32,
    /// Walked: packets that reach the far end after the end of the run.
    late: u32,
    managed: Option<Box<Managed>>,
    waits: Option<Box<Waits>>,
    backlog: Option<Box<Backlog>>,
    harm: Option<Box<Harm>>,
    served: Option<Box<Served>>,
    link: i32,
    direction: i32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Channel, next_start) == 64);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Channel, stats) == 112);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Channel>() == 320);

impl Channel {
    /// An idle channel. `link` and `direction` are its codes in the record tables.
    pub fn new(
        serial: Arc<Serial>,
        delay: Time,
        queue: Queue,
        service: Service,
        link: i32,
        direction: i32,
    ) -> Self {
        debug_assert!(service == Service::Events || !queue.needs_events());
        let (tail, managed) = match queue {
            Queue::DropTail(tail) => (tail, None),
            Queue::Managed(discipline) => {
                (DropTail::UNLIMITED, Some(Box::new(Managed::new(*discipline))))
            }
        };
        Self {
            chain: Chain::new(),
            service,
            armed: false,
            busy: false,
            takes_when_idle: tail.takes_when_idle(),
            next: Hop::ROUTED,
            next_start: Time::ZERO,
            free_at: Time::ZERO,
            delay,
            serial,
            carry: 0,
            serving: 0,
            gated: managed.is_some(),
            down: false,
            keeps_waits: false,
            overtakes: false,
            unsteady: false,
            stats: ChannelStats::default(),
            tail,
            waiting_bytes: 0,
            waiting_data: 0,
            late: 0,
            managed,
            waits: None,
            backlog: None,
            harm: None,
            served: (service == Service::Events).then(Box::default),
            link,
            direction,
        }
    }

    /// Hands in what decides where the discipline of the queue lives outside the engine, by link and direction.
    pub fn attach(&mut self, decides: &mut dyn FnMut(i32, i32) -> Option<Box<dyn Decides>>) {
        let (link, direction) = (self.link, self.direction);
        if let Some(managed) = &mut self.managed {
            managed.discipline.attach(|| decides(link, direction));
        }
    }

    /// Sets how long packets travel; only for channels served by events.
    pub fn set_jitter(&mut self, jitter: Jitter) {
        if jitter.reorders {
            self.let_overtake();
        }
        self.served().jitter = Some(jitter);
        self.unsteady = true;
        self.set_gated();
    }

    /// Lets the rate change in the course of the run; only for channels served by events.
    pub fn set_rates(&mut self, rates: Varying) {
        self.served().rates = Some(rates);
        self.unsteady = true;
    }

    fn set_gated(&mut self) {
        let jitters = self.served.as_ref().is_some_and(|served| served.jitter.is_some());
        self.gated = self.managed.is_some() || self.harm.is_some() || self.down || jitters;
    }

    /// Keeps the waits of the last `keep` packets, for [`Channel::mean_wait`].
    pub fn keep_waits(&mut self, keep: usize) {
        self.keeps_waits = true;
        self.waits.get_or_insert_default().keep(keep);
    }

    /// Propagation delay.
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// What was counted.
    pub fn stats(&self) -> &ChannelStats {
        &self.stats
    }

    /// Code of the link in the record tables.
    pub fn link(&self) -> i32 {
        self.link
    }

    /// Code of the direction in the record tables.
    pub fn direction(&self) -> i32 {
        self.direction
    }

    /// Gives the channel its first slots, if it will need any.
    pub(crate) fn open<R: Recorder>(&mut self, slots: &mut Slots) {
        if !self.has_backlog::<R>() {
            self.chain.open(slots);
        }
    }

    /// The first waiting packet has left the queue.
    #[inline]
    fn leave_queue<R: Recorder>(
        &mut self,
        start: Time,
        arrival: Time,
        packet: Packet,
        recorder: &mut R,
    ) {
        self.serving = packet.size();
        self.waiting_bytes -= u64::from(packet.size());
        if R::PACKETS {
            self.waiting_data -= u32::from(packet.kind() == Kind::Data);
            self.record_queue(start, recorder);
            self.record_transmission(start, arrival, packet, recorder);
        }
    }

    /// Whether the queue takes this packet now.
    #[inline(always)]
    fn admits(&self, now: Time, packet: Packet) -> bool {
        let serving = match self.service {
            Service::Events => self.busy,
            _ => self.next_start > now,
        };
        let occupancy = Occupancy {
            packets: self.chain.queued(),
            bytes: self.waiting_bytes,
            in_service: serving.then_some(self.serving),
        };
        self.tail.admit(occupancy, packet.size())
    }

    /// A packet arrives at the queue. `exempt` packets are always taken.
    #[inline(always)]
    pub(crate) fn offer<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        exempt: bool,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Offer {
        if self.service == Service::Events {
            return self.offer_served(now, packet.pack(), exempt, slots, recorder);
        }
        let idle = self.free_at <= now;
        if self.chain.queued() > 0 && (R::PACKETS || self.gated || idle) {
            self.settle(now, slots, recorder);
        }
        if self.gated {
            return self.offer_gated(now, packet.pack(), exempt, slots, recorder);
        }
        if idle {
            // Nothing waits behind an idle transmitter, so most queues need not be asked.
            if !self.takes_when_idle && !exempt && !self.admits(now, packet) {
                return self.full();
            }
            return Offer::Scheduled(self.enter_idle(now, packet, slots, recorder));
        }
        // A queue that has not been settled is longer than it should be: if it takes the packet all the same, nobody has
        // to look when the others have left.
        if !exempt && !self.admits(now, packet) {
            self.settle(now, slots, recorder);
            if !self.admits(now, packet) {
                return self.full();
            }
        }
        Offer::Scheduled(self.enter_waiting(now, packet, slots, recorder))
    }

    /// The queue is full.
    #[inline]
    fn full(&mut self) -> Offer {
        self.stats.drops += 1;
        Offer::Dropped(drop_reason::QUEUE_FULL)
    }

    /// The same where it may not be taken for other reasons than a full queue.
    #[cold]
    fn offer_gated<R: Recorder>(
        &mut self,
        now: Time,
        parcel: Parcel,
        exempt: bool,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Offer {
        let mut packet = parcel.open();
        if let Some(twice) = self.duplicates(&packet) {
            return twice;
        }
        if let Some(served) = &mut self.served
            && let Some(jitter) = &mut served.jitter
        {
            jitter.comes(&packet);
        }
        if self.down {
            if let Some(harm) = &mut self.harm {
                harm.passes_by(&packet);
            }
            self.stats.drops_down += 1;
            return Offer::Dropped(drop_reason::LINK_DOWN);
        }
        let refused = match self.managed.as_ref().map(|managed| &managed.discipline) {
            None => (!exempt && !self.admits(now, packet)).then_some(drop_reason::QUEUE_FULL),
            Some(Discipline::OnArrival(_)) => self.ask(now, &mut packet, exempt, recorder),
            Some(Discipline::Store(_)) => return self.keep(now, packet, slots, recorder),
        };
        if let Some(reason) = refused {
            if let Some(harm) = &mut self.harm {
                harm.passes_by(&packet);
            }
            self.count_drop(reason);
            return Offer::Dropped(reason);
        }
        if let Some(harm) = &mut self.harm {
            if harm.loses(&packet, true) {
                return self.lose_at_entry();
            }
            if harm.loses(&packet, false) {
                self.stats.losses += 1;
                packet.set_lost();
            }
            harm.spoil(&mut packet);
        }
        match self.service {
            Service::Events => self.enter(now, packet, slots, recorder),
            _ if packet.is_lost() => {
                Offer::LostInTransit(self.enter_fused(now, packet, slots, recorder))
            }
            _ => Offer::Scheduled(self.enter_fused(now, packet, slots, recorder)),
        }
    }

    fn lose_at_entry(&mut self) -> Offer {
        self.stats.losses += 1;
        self.stats.lost += 1;
        Offer::Dropped(drop_reason::LOSS)
    }

    #[inline]
    fn join_queue<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) {
        self.waiting_bytes += u64::from(packet.size());
        self.note_length();
        if R::PACKETS {
            self.waiting_data += u32::from(packet.kind() == Kind::Data);
            self.record_queue(now, recorder);
        }
    }

    #[inline(always)]
    fn note_length(&mut self) {
        self.stats.packets_max = self.stats.packets_max.max(self.chain.queued());
        self.stats.bytes_max = self.stats.bytes_max.max(self.waiting_bytes);
    }

    /// What a transmission that ended at this moment leaves over of its last nanosecond, if it took less than one:
    /// packets that come at one moment to a very fast link leave one after the other all the same.
    #[inline]
    fn unfinished(&self, now: Time) -> u64 {
        let instant = self.free_at == now && self.serial.time(self.serving, 0).0 == 0;
        if instant { self.carry } else { 0 }
    }

    /// Counts a transmission from `start` of a packet that entered at `entered`; answers its end.
    #[inline(always)]
    fn transmit(&mut self, start: Time, carry: u64, entered: Time, packet: Packet) -> Time {
        let (span, carry) = self.serial.time(packet.size(), carry);
        let departure = start + Time::from_ns(span);
        self.count_transmission(start, (departure, carry), entered, packet);
        departure
    }

    /// Counts a transmission that ends then and leaves this over.
    #[inline(always)]
    fn count_transmission(
        &mut self,
        start: Time,
        (departure, carry): (Time, u64),
        entered: Time,
        packet: Packet,
    ) {
        self.free_at = departure;
        self.carry = carry;
        let stats = &mut self.stats;
        stats.packets += 1;
        stats.bytes += u64::from(packet.size());
        let wait = start - entered;
        if wait > Time::ZERO {
            stats.wait_ns += u128::from(wait.as_ns());
            stats.wait_byte_ns += u128::from(wait.as_ns()) * u128::from(packet.size());
            if wait > stats.wait_max {
                stats.wait_max = wait;
                self.waits.get_or_insert_default().peaks.add(entered, start);
            }
        }
        if self.keeps_waits
            && let Some(waits) = &mut self.waits
        {
            waits.add(entered, start);
        }
    }

    /// Whether the next arrival has to be scheduled; from now on it counts as scheduled.
    #[inline]
    pub fn arm(&mut self) -> bool {
        !std::mem::replace(&mut self.armed, true)
    }

    /// The packet that reaches the far end now.
    #[inline(always)]
    pub(crate) fn deliver<R: Recorder>(
        &mut self,
        now: Time,
        slots: &mut Slots,
        recorder: &mut R,
    ) -> Packet {
        if self.chain.queued() == self.chain.held() {
            if self.overtakes {
                return self.take_from_line(now, recorder);
            }
            self.settle(now, slots, recorder);
        }
        if R::PACKETS {
            recorder.ids().arrive(self.lane());
        }
        self.chain.pop(slots)
    }

    /// When the next packet on the wire arrives, and the stamp of that event.
    #[inline]
    pub(crate) fn next_arrival(&mut self) -> Option<(Time, Stamp)> {
        debug_assert!(self.service != Service::Walked);
        if self.service == Service::Events {
            return self.next_served_arrival();
        }
        if self.chain.held() == 0 {
            self.armed = false;
            return None;
        }
        Some((self.chain.front().time, Stamp::default()))
    }

    /// How the channel is served.
    #[inline]
    pub fn service(&self) -> Service {
        self.service
    }

    /// Mean queueing delay of the packets among the last kept ones that started within `age` before now; zero if
    /// they are fewer than `least`.
    pub fn mean_wait(&self, now: Time, age: Time, least: usize) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.mean(now, age, least))
    }
}
