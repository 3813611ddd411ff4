//! One transmitter with its queue and its wire: a direction of a full-duplex link, or a half-duplex
//! link as a whole.
//!
//! Queue and wire are one ring of packets:
//!
//! ```text
//!   head ........ waiting ........ tail
//!   on the wire    in the queue     free
//! ```
//!
//! **Departure at once.** A first-in-first-out queue in front of a wire of known rate has no secrets:
//! the moment a packet will leave is known when it enters. So a packet costs one event, its arrival at
//! the far end, and the link has one entry in the event queue however many packets it holds. The queue
//! length is worked out when somebody asks (`settle`). **Served by events** is the same link with an
//! event at the end of each transmission, for orders of simultaneous events in which the moment of
//! scheduling counts; by default both give identical results.
//!
//! **Walked.** Where all packets that leave a channel go on to channels that nobody else feeds, not even
//! the arrival needs an event: the packet enters the next channel at once, with the time at which it will
//! get there. The ring then holds only what waits.
//!
//! At one moment, departures come before arrivals: a packet that arrives just when another one starts
//! to be transmitted finds its place free.

mod changes;
mod held;
mod next;
mod records;
mod stats;
mod waits;

pub use next::ROUTED;
pub use stats::ChannelStats;

use crate::loss::Loss;
use crate::packet::{Kind, Packet};
use crate::queue::{Occupancy, Queue};
use crate::serial::Serial;
use ackclock_engine::Stamp;
use ackclock_trace::Recorder;
use ackclock_units::Time;
use std::collections::VecDeque;
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
    /// The queue was full.
    Dropped,
    /// It was lost before the queue.
    Lost,
    /// The link is down.
    Down,
    /// When it reaches the far end is settled.
    Scheduled(Time),
    /// When it would reach the far end is settled, but it is lost on the way.
    Doomed(Time),
    /// Served by events: it waits.
    Waiting,
    /// Served by events: its transmission has begun.
    Started,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// End of transmission. Served by events: when it entered while it waits, when it arrives afterwards.
    departure: Time,
    packet: Packet,
}

/// A transmitter with its queue and its wire.
///
/// An arrival touches the first cache line, a packet that enters and need not wait the second one, too;
/// large networks are slow because of what does not fit into the cache.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Channel {
    ring: Box<[Entry]>,
    head: u32,
    waiting: u32,
    tail: u32,
    service: Service,
    /// An entry for the next arrival is in the event queue.
    armed: bool,
    /// Served by events: a transmission is going on.
    busy: bool,
    /// The queue takes any packet that meets an idle transmitter.
    takes_when_idle: bool,
    /// End of transmission of the packet before the first waiting one: when that one starts.
    next_start: Time,
    /// End of the last transmission, whole nanoseconds; the rest is `carry`.
    free_at: Time,
    delay: Time,
    /// Where all packets go from here, forward and backward; `ROUTED` where that depends on the flow.
    next: [u32; 2],
    // Second line.
    serial: Serial,
    carry: u64,
    /// Size of the packet in transmission, or of the last one.
    serving: u16,
    /// Packets that come may vanish: there is a loss model, or the link is down.
    gated: bool,
    /// Packets that come are dropped.
    down: bool,
    /// There are `waits`.
    keeps_waits: bool,
    /// The counters of packets and bytes are still in the second line.
    stats: ChannelStats,
    // The rest.
    queue: Queue,
    waiting_bytes: u64,
    waiting_data: u32,
    /// Walked: packets that reach the far end after the end of the run.
    late: u32,
    waits: Option<Box<Waits>>,
    loss: Option<Box<Loss>>,
    link: i32,
    direction: i32,
    /// Served by events: when the packet that left last arrives.
    last_arrival: Time,
    /// Bytes transmitted at earlier rates, and the nanoseconds that they took.
    earlier: (u64, f64),
    /// Served by events: stamps of the arrivals of packets on the wire, for orders that need them.
    stamps: VecDeque<Stamp>,
}

const _: () = assert!(std::mem::offset_of!(Channel, serial) == 64);
const _: () = assert!(std::mem::offset_of!(Channel, stats) == 112);

impl Channel {
    /// An idle channel. `link` and `direction` are its codes in the record tables.
    pub fn new(
        serial: Serial,
        delay: Time,
        queue: Queue,
        service: Service,
        link: i32,
        direction: i32,
    ) -> Self {
        let blank = Packet::new(Kind::Data, Packet::NO_FLOW, 0);
        Self {
            ring: vec![Entry { departure: Time::ZERO, packet: blank }; 4].into(),
            head: 0,
            waiting: 0,
            tail: 0,
            service,
            armed: false,
            busy: false,
            takes_when_idle: queue.takes_when_idle(),
            next_start: Time::ZERO,
            free_at: Time::ZERO,
            delay,
            next: [ROUTED; 2],
            serial,
            carry: 0,
            serving: 0,
            gated: false,
            down: false,
            keeps_waits: false,
            stats: ChannelStats::default(),
            queue,
            waiting_bytes: 0,
            waiting_data: 0,
            late: 0,
            waits: None,
            loss: None,
            link,
            direction,
            last_arrival: Time::ZERO,
            earlier: (0, 0.0),
            stamps: VecDeque::new(),
        }
    }

    /// Sets the loss model.
    pub fn set_loss(&mut self, loss: Option<Loss>) {
        self.gated = loss.is_some() || self.down;
        self.loss = loss.map(Box::new);
    }

    /// Lets packets go on to the next channel at once; the channel must be empty.
    pub fn walk(&mut self) {
        debug_assert!(self.service == Service::Fused && self.tail == 0);
        self.service = Service::Walked;
    }

    /// Walked: a packet will not reach the far end before the end of the run.
    pub fn on_late(&mut self) {
        self.late += 1;
    }

    /// Nanoseconds of transmission; exact after [`Channel::close`].
    pub fn busy_ns(&self) -> f64 {
        let (bytes, ns) = self.earlier;
        // Bytes of a transmission that an earlier rate counted may be taken back at the end.
        let present = self.stats.bytes.saturating_sub(bytes);
        ns + self.serial.exact_ns(present) + self.stats.unfinished_ns as f64
    }

    /// Keeps the waits of the last `keep` packets, for [`Channel::mean_wait`].
    pub fn keep_waits(&mut self, keep: usize) {
        self.keeps_waits = true;
        self.waits = Some(Box::new(Waits::new(keep)));
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

    #[inline]
    fn entry(&self, index: u32) -> &Entry {
        &self.ring[index as usize & (self.ring.len() - 1)]
    }

    #[inline]
    fn entry_mut(&mut self, index: u32) -> &mut Entry {
        let mask = self.ring.len() - 1;
        &mut self.ring[index as usize & mask]
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        *self.entry_mut(self.tail) = entry;
        self.tail = self.tail.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.ring.len();
        let mut ring = vec![self.ring[0]; 2 * size];
        for i in 0..size as u32 {
            let index = self.head.wrapping_add(i);
            ring[index as usize & (2 * size - 1)] = *self.entry(index);
        }
        self.ring = ring.into();
    }

    /// Brings the queue up to date: packets whose transmission has started are no longer waiting.
    #[inline(always)]
    fn settle<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        while self.waiting != self.tail && self.next_start <= now {
            let start = self.next_start;
            let Entry { departure, packet } = *self.entry(self.waiting);
            self.next_start = departure;
            self.leave_queue(start, departure + self.delay, &packet, recorder);
        }
        if self.service == Service::Walked {
            self.head = self.waiting;
        }
    }

    /// The first waiting packet leaves the queue.
    #[inline]
    fn leave_queue<R: Recorder>(
        &mut self,
        start: Time,
        arrival: Time,
        packet: &Packet,
        recorder: &mut R,
    ) {
        self.waiting = self.waiting.wrapping_add(1);
        self.serving = packet.size();
        self.waiting_bytes -= u64::from(packet.size());
        self.waiting_data -= u32::from(packet.kind() == Kind::Data);
        if R::ON {
            self.record_queue(start, recorder);
            self.record_transmission(start, arrival, packet, recorder);
        }
    }

    /// Whether the queue takes this packet now.
    #[inline(always)]
    fn admits(&self, now: Time, packet: &Packet) -> bool {
        let serving = match self.service {
            Service::Events => self.busy,
            _ => self.next_start > now,
        };
        let occupancy = Occupancy {
            packets: self.tail.wrapping_sub(self.waiting),
            bytes: self.waiting_bytes,
            in_service: serving.then_some(self.serving),
        };
        self.queue.admit(occupancy, packet.size())
    }

    /// A packet arrives at the queue. `exempt` packets are always taken.
    #[inline(always)]
    pub fn offer<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        exempt: bool,
        recorder: &mut R,
    ) -> Offer {
        if self.service != Service::Events {
            self.settle(now, recorder);
        }
        // Nothing waits behind an idle transmitter, so most queues need not be asked.
        let idle = self.takes_when_idle && self.free_at <= now && !self.busy;
        let admitted = idle || exempt || self.admits(now, &packet);
        if self.gated {
            return self.offer_gated(now, packet, admitted, recorder);
        }
        if !admitted {
            self.stats.drops += 1;
            return Offer::Dropped;
        }
        match self.service {
            Service::Events => self.enter(now, packet, recorder),
            _ => Offer::Scheduled(self.enter_fused(now, packet, recorder)),
        }
    }

    /// The same where packets may vanish for other reasons than a full queue.
    #[cold]
    fn offer_gated<R: Recorder>(
        &mut self,
        now: Time,
        mut packet: Packet,
        admitted: bool,
        recorder: &mut R,
    ) -> Offer {
        if self.down {
            self.stats.drops_down += 1;
            return Offer::Down;
        }
        if !admitted {
            self.stats.drops += 1;
            return Offer::Dropped;
        }
        if let Some(loss) = &mut self.loss
            && loss.loses(&packet)
        {
            self.stats.losses += 1;
            if loss.at_entry {
                return Offer::Lost;
            }
            packet.set_lost();
        }
        match self.service {
            Service::Events => self.enter(now, packet, recorder),
            _ if packet.is_lost() => Offer::Doomed(self.enter_fused(now, packet, recorder)),
            _ => Offer::Scheduled(self.enter_fused(now, packet, recorder)),
        }
    }

    #[inline(always)]
    fn enter_fused<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) -> Time {
        if R::ON {
            recorder.ids().enter(self.lane(), now);
        }
        let idle = self.free_at <= now;
        let (start, carry) = if idle { (now, 0) } else { (self.free_at, self.carry) };
        let departure = self.transmit(start, carry, now, &packet);
        if idle {
            self.next_start = departure;
            self.serving = packet.size();
            // A walked packet that does not wait is gone.
            if self.service != Service::Walked {
                self.push(Entry { departure, packet });
            }
            self.waiting = self.tail;
            if R::ON {
                self.record_transmission(now, departure + self.delay, &packet, recorder);
            }
        } else {
            self.push(Entry { departure, packet });
            self.join_queue(now, &packet, recorder);
        }
        departure + self.delay
    }

    #[inline]
    fn join_queue<R: Recorder>(&mut self, now: Time, packet: &Packet, recorder: &mut R) {
        self.waiting_bytes += u64::from(packet.size());
        self.waiting_data += u32::from(packet.kind() == Kind::Data);
        self.stats.packets_max = self.stats.packets_max.max(self.tail.wrapping_sub(self.waiting));
        self.stats.bytes_max = self.stats.bytes_max.max(self.waiting_bytes);
        if R::ON {
            self.record_queue(now, recorder);
        }
    }

    /// Counts a transmission from `start` of a packet that entered at `entered`; answers its end.
    #[inline(always)]
    fn transmit(&mut self, start: Time, carry: u64, entered: Time, packet: &Packet) -> Time {
        let (span, carry) = self.serial.time(packet.size(), carry);
        let departure = start + Time::from_ns(span);
        self.free_at = departure;
        self.carry = carry;
        let stats = &mut self.stats;
        stats.packets += 1;
        stats.bytes += u64::from(packet.size());
        let wait = start - entered;
        if wait > Time::ZERO {
            stats.wait_ns += u128::from(wait.as_ns());
            stats.wait_byte_ns += u128::from(wait.as_ns()) * u128::from(packet.size());
            stats.wait_max = stats.wait_max.max(wait);
        }
        if self.keeps_waits
            && let Some(waits) = &mut self.waits
        {
            waits.add(entered, start);
        }
        departure
    }

    /// Served by events: the packet starts at once or waits.
    fn enter<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) -> Offer {
        self.push(Entry { departure: now, packet });
        if R::ON {
            recorder.ids().enter(self.lane(), now);
        }
        if self.busy {
            self.join_queue(now, &packet, recorder);
            return Offer::Waiting;
        }
        self.waiting = self.tail;
        self.begin(now, 0, self.tail.wrapping_sub(1));
        if R::ON {
            self.record_transmission(now, self.last_arrival, &packet, recorder);
        }
        Offer::Started
    }

    /// Served by events: starts the transmission of the packet at `index`.
    fn begin(&mut self, now: Time, carry: u64, index: u32) {
        let Entry { departure: entered, packet } = *self.entry(index);
        let departure = self.transmit(now, carry, entered, &packet);
        // A shorter delay does not let packets overtake others.
        self.last_arrival = self.last_arrival.max(departure + self.delay);
        self.entry_mut(index).departure = self.last_arrival;
        self.next_start = departure;
        self.serving = packet.size();
        self.busy = true;
    }

    /// Served by events: a transmission ends. True if another one starts.
    pub fn end_transmission<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> bool {
        debug_assert!(self.busy && self.free_at == now);
        self.busy = false;
        if self.waiting == self.tail {
            return false;
        }
        let index = self.waiting;
        let packet = self.entry(index).packet;
        self.begin(now, self.carry, index);
        self.leave_queue(now, self.last_arrival, &packet, recorder);
        true
    }

    /// Served by events: when the present transmission ends.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Served by events: seconds that the packet in transmission takes.
    pub fn serving_s(&self) -> f64 {
        self.serial.seconds(self.serving)
    }

    /// Served by events: notes the stamp of the arrival of the packet that has just started.
    pub fn push_stamp(&mut self, stamp: Stamp) {
        self.stamps.push_back(stamp);
    }

    /// Whether the next arrival has to be scheduled; from now on it counts as scheduled.
    #[inline]
    pub fn arm(&mut self) -> bool {
        !std::mem::replace(&mut self.armed, true)
    }

    /// The packet that reaches the far end now.
    #[inline]
    pub fn deliver<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Packet {
        if self.waiting == self.head {
            self.settle(now, recorder);
        }
        if R::ON {
            recorder.ids().arrive(self.lane());
        }
        let packet = self.entry(self.head).packet;
        self.head = self.head.wrapping_add(1);
        packet
    }

    /// When the next packet on the wire arrives, and the stamp of that event.
    #[inline]
    pub fn next_arrival(&mut self) -> Option<(Time, Stamp)> {
        debug_assert!(self.service != Service::Walked);
        if self.service == Service::Events {
            return self.next_served_arrival();
        }
        if self.head == self.tail {
            self.armed = false;
            return None;
        }
        Some((self.entry(self.head).departure + self.delay, Stamp::default()))
    }

    /// Served by events: the entries on the wire hold their arrivals.
    fn next_served_arrival(&mut self) -> Option<(Time, Stamp)> {
        if self.head == self.waiting {
            self.armed = false;
            return None;
        }
        let stamp = self.stamps.pop_front().unwrap_or_default();
        Some((self.entry(self.head).departure, stamp))
    }

    /// How the channel is served.
    #[inline]
    pub fn service(&self) -> Service {
        self.service
    }

    /// Mean wait of the packets among the last kept ones that started within `age` before now; zero if
    /// they are fewer than `least`.
    pub fn mean_wait(&self, now: Time, age: Time, least: usize) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.mean(now, age, least))
    }

    /// Ends the run: counts only what has happened until now.
    pub fn close<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        if self.service != Service::Events {
            self.settle(now, recorder);
        }
        if self.next_start > now {
            // The transmission going on.
            let (span, _) = self.serial.time(self.serving, 0);
            self.stats.packets -= 1;
            self.stats.bytes -= u64::from(self.serving);
            let rest = (self.next_start - now).as_ns();
            self.stats.unfinished_ns = span.saturating_sub(rest);
        }
        // Waits that are not over.
        let (mut start, mut carry) = (self.next_start, self.carry);
        let mut index = self.waiting;
        while index != self.tail {
            let Entry { departure, packet } = *self.entry(index);
            if R::ON {
                self.record_waiting(&packet, recorder);
            }
            let size = u128::from(packet.size());
            if self.service == Service::Events {
                let waited = u128::from((now - departure).as_ns());
                self.stats.wait_ns += waited;
                self.stats.wait_byte_ns += waited * size;
                // The longest wait is that of all packets that entered, as in a fused channel.
                self.stats.wait_max = self.stats.wait_max.max(start - departure);
                let (span, rest) = self.serial.time(packet.size(), carry);
                start += Time::from_ns(span);
                carry = rest;
            } else {
                let rest = u128::from((start - now).as_ns());
                self.stats.wait_ns -= rest;
                self.stats.wait_byte_ns -= rest * size;
                self.stats.packets -= 1;
                self.stats.bytes -= u64::from(packet.size());
                start = departure;
            }
            index = index.wrapping_add(1);
        }
    }
}
