//! CAKE: a shaper, fair among hosts and among the flows of each, with COBALT for each flow.
//!
//! Source: Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: A comprehensive queue management solution for home gateways",
//! IEEE LANMAN 2018; Linux `net/sched/sch_cake.c`, whose order of steps this is.
//!
//! - **Shaper**, with `rate`: no bucket, but a clock. `next += size / rate` for each packet; one leaves where the clock is not
//!   in the future; where nothing waits the clock is set to now. `overhead`, `least_size` and `framing` say what a packet
//!   takes on the wire behind.
//! - **Queues**: a set-associative hash of eight ways, so that flows share a queue only where eight others have its set.
//!   Queues take turns of a quantum: rate / 4096, 300 to 1514 bytes. New ones go first, as in FQ-CoDel.
//! - **Hosts**: a queue's quantum is divided by the number of backlogged queues of its sender, or of its receiver, whichever is
//!   more (`isolation: triple`).
//! - **COBALT** in each queue: target `rtt` / 20, interval `rtt`; at low rates the target is one and a half packets at least.
//! - **Overflow**: the queue with most bytes loses its head, and its BLUE drops more.
//!
//! DEVIATION: packets have no class of service: there is one tin (`besteffort`), and neither its thresholds nor ACK filter,
//! NAT, autorate and ingress mode are there.
//! DEVIATION: the hash has a flow's number as its tag, and hosts are known, never hashed: they are not confused.
//! DEVIATION: of queues with equally many bytes the one whose turn comes first loses its head; in Linux it is the one that a heap
//! has at its top, which is built anew now and then.
//! DEVIATION: memory is bytes on the wire, not those of the kernel's buffers.
//! DEVIATION: offloaded packets are not there, so none is split.

use super::buckets::QUEUES;
use super::cobalt::{Control, Rules};
use super::fifo::Fifo;
use super::limit::{self, Limit};
use super::shaper::Shaper;
use super::turns::first_longest;
use super::{Fates, Held, Place, Store};
use ackclock_engine::Stream;
use ackclock_engine::random::mix;
use ackclock_trace::drop_reason;
use ackclock_units::Time;
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "cake",
    summary: help("A shaper, fair among hosts and their flows, with CoDel and BLUE for each flow."),
    marks: true,
    references: &["Høiland-Jørgensen, Täht and Morton 2018", "Linux net/sched/sch_cake.c"],
    params: &[
        limit::param("10240 packets"),
        Param::optional(
            "rate",
            Kind::Rate,
            "none",
            "Rate of the shaper; none for that of the link.",
        )
        .at_least("1 bps"),
        Param::new(
            "rtt",
            Kind::Time,
            "100 ms",
            "Usual round-trip time: interval of CoDel, and 20 times its target.",
        )
        .at_least("20 us")
        .at_most("1000 s"),
        Param::new(
            "isolation",
            Kind::Choice(&[
                Choice::new("triple", "among senders and receivers, then among flows"),
                Choice::new("senders", "among senders, then among flows (dual-srchost)"),
                Choice::new("receivers", "among receivers, then among flows (dual-dsthost)"),
                Choice::new("flows", "among flows alone"),
            ]),
            "triple",
            "Among whom the link is shared.",
        ),
        super::buckets::flows("1024", "Number of queues, in sets of eight."),
        QUEUES,
        Param::optional(
            "memory",
            Kind::Size,
            "automatic",
            "Bytes that may wait: with `rate` 4 MiB, or four times rate · rtt if that is more; never more than 10240 packets of 1514 B, which is also the value without `rate`.",
        )
        .at_least("1 B"),
        Param::new("overhead", Kind::Size, "0 B", "Bytes more that the shaper counts a packet.")
            .at_most("1000 B"),
        Param::new("least_size", Kind::Size, "0 B", "It counts no packet as fewer (mpu).")
            .at_most("1000 B"),
        Param::new(
            "framing",
            Kind::Choice(&[
                Choice::new("none", "as it is"),
                Choice::new("atm", "in cells of 48 bytes that take 53"),
                Choice::new("ptm", "a byte more for each 64"),
            ]),
            "none",
            "How the wire behind the shaper carries a packet.",
        ),
    ],
    native: true,
    label: "CAKE",
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    if chosen.optional_int("rate_bps").is_some() {
        return Ok(());
    }
    let unused = [("overhead", "overhead_bytes"), ("least_size", "least_size_bytes")]
        .into_iter()
        .find(|(_, name)| chosen.int(name) != 0)
        .map(|(param, _)| param)
        .or((chosen.word("framing") != "none").then_some("framing"));
    unused.map_or(Ok(()), |param| Err(Clash::without_effect(param, "`rate`")))
}

/// Ways of the hash.
const WAYS: usize = 8;
/// Ethernet's longest frame, in which the kernel counts.
const MTU: u64 = 1514;
/// Least quantum of a turn.
const LEAST_QUANTUM: u64 = 300;
/// Bytes that may wait with a slow shaper, and without one: the kernel's 10240 packets.
const MEMORY: [u64; 2] = [4 << 20, 10_240 * MTU];
/// What BLUE's probability changes by.
const BLUE: [f64; 2] = [1.0 / 256.0, 1.0 / 4096.0];

/// Where a queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Set {
    /// On no list.
    #[default]
    None,
    /// New: few packets, so far.
    Sparse,
    /// It has used its first turn, and has run empty.
    SparseWait,
    /// It keeps a backlog.
    Bulk,
    /// Empty, with a control that has not forgotten yet.
    Decaying,
}

/// A queue of one flow, or of several that share it.
#[derive(Debug, Clone, Default)]
struct Lane {
    fifo: Fifo,
    control: Control,
    deficit: i64,
    set: Set,
    /// Sender and receiver of what came last.
    hosts: [u32; 2],
}

/// Queues, their order, shaper and limits.
#[derive(Debug, Clone)]
pub struct Cake {
    limit: Limit,
    memory: u64,
    rules: Rules,
    quantum: u64,
    shaper: Option<Shaper>,
    /// Whether senders count, and receivers.
    isolates: [bool; 2],
    hosts: Arc<[[u32; 2]]>,
    /// Backlogged queues of each host, as sender and as receiver.
    bulk: [Vec<u32>; 2],
    /// What perturbs the hash; none where flows have queues by number.
    salt: Option<u64>,
    /// One more than the flow that each queue belongs to.
    tags: Vec<u32>,
    lanes: Vec<Lane>,
    fresh: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    packets: u32,
    bytes: u64,
    stream: Stream,
}

impl Cake {
    pub(super) fn new(chosen: &Chosen, mut place: Place) -> Self {
        let rate = chosen.optional_int("rate_bps");
        let rtt = chosen.int("rtt_ns");
        // A packet's time without a rate is nothing, as in Linux.
        let packet_ns = rate.map_or(0, |rate| MTU * 8_000_000_000 / rate.max(1));
        let usual = rtt / 20;
        let target = usual.max(packet_ns * 3 / 2);
        let interval = (rtt + target - usual).max(2 * target);
        let by_rate = |rate: u64| (rate / 8) >> 12;
        let [least, most] = MEMORY;
        let memory = rate.map_or(most, |rate| {
            let needed = u128::from(rate) * u128::from(rtt) * 4 / 8_000_000_000;
            needed.clamp(least.into(), most.into()) as u64
        });
        let [senders, receivers] = match chosen.word("isolation") {
            "senders" => [true, false],
            "receivers" => [false, true],
            "flows" => [false, false],
            _ => [true, true],
        };
        let count = place.hosts.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let queues = (chosen.int("flows") as usize).next_multiple_of(WAYS);
        Self {
            limit: Limit::new(chosen),
            memory: chosen.optional_int("memory_bytes").unwrap_or(memory),
            rules: Rules {
                target: Time::from_ns(target),
                interval: Time::from_ns(interval),
                packet_time: Time::from_ns(packet_ns),
                ecn: true,
                increment: BLUE[0],
                decrement: BLUE[1],
            },
            quantum: rate.map_or(MTU, |rate| by_rate(rate).clamp(LEAST_QUANTUM, MTU)),
            shaper: rate.map(|rate_bps| Shaper::new(chosen, rate_bps)),
            isolates: [senders, receivers],
            hosts: place.hosts,
            bulk: [vec![0; count], vec![0; count]],
            salt: (chosen.word("queues") == "hashed").then(|| place.stream.next_u64()),
            tags: vec![0; queues],
            lanes: vec![Lane::default(); queues],
            fresh: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            packets: 0,
            bytes: 0,
            stream: place.stream,
        }
    }

    /// The queue of a flow: the one that is its own, an idle one of its set, or else the one of its hash.
    fn lane_of(&mut self, flow: u32) -> usize {
        let count = self.lanes.len() as u64;
        let home = match self.salt {
            None => u64::from(flow) % count,
            Some(salt) => ((mix(salt ^ u64::from(flow)) >> 32) * count) >> 32,
        } as usize;
        let tag = flow + 1;
        let (set, first) = (home - home % WAYS, home % WAYS);
        let ways = || (0..WAYS).map(move |way| set + (first + way) % WAYS);
        let own = ways().find(|place| self.tags[*place] == tag);
        let place = own.or_else(|| ways().find(|place| self.lanes[*place].set == Set::None));
        let place = place.unwrap_or(home);
        self.tags[place] = tag;
        place
    }

    /// Sender and receiver of a packet.
    fn hosts_of(&self, held: &Held) -> [u32; 2] {
        match self.hosts.get(held.packet.flow() as usize) {
            Some([from, to]) if held.packet.goes_back() => [*to, *from],
            Some(hosts) => *hosts,
            None => [u32::MAX; 2],
        }
    }

    /// A queue begins, or ceases, to keep a backlog.
    fn count(&mut self, hosts: [u32; 2], begins: bool) {
        for (bulk, host) in self.bulk.iter_mut().zip(hosts) {
            if let Some(count) = bulk.get_mut(host as usize) {
                *count = if begins { *count + 1 } else { *count - 1 };
            }
        }
    }

    /// What a queue may send in its turn.
    fn quantum(&mut self, hosts: [u32; 2]) -> i64 {
        let load = |side: usize| {
            let count = self.bulk[side].get(hosts[side] as usize);
            if self.isolates[side] { count.copied().unwrap_or(0) } else { 0 }
        };
        let most = u64::from(load(0).max(load(1)).max(1));
        if most == 1 {
            return self.quantum as i64;
        }
        // What the division leaves comes by chance, so that it is not lost for good.
        let rest = self.stream.below_u64(most);
        ((self.quantum + rest) / most) as i64
    }

    fn is_too_long(&self) -> bool {
        self.bytes > self.memory || !self.limit.holds(self.packets, self.bytes)
    }

    /// The queue with most bytes loses its head.
    fn drop_from_longest(&mut self, now: Time, fates: &mut Fates) {
        let by_turn = self.fresh.iter().chain(&self.old);
        let longest = first_longest(by_turn, |index| self.lanes[index as usize].fifo.bytes());
        let Some(index) = longest else { return };
        let lane = &mut self.lanes[index as usize];
        lane.control.on_overflow(now, &self.rules);
        if let Some(held) = lane.fifo.pop() {
            self.packets -= 1;
            self.bytes -= held.size();
            fates.drop(held, drop_reason::OVERLIMIT);
        }
    }

    /// The queue whose turn it is, and whether it is looked at only to forget.
    fn next_lane(&mut self, first: bool) -> Option<usize> {
        let stale = |lanes: &[Lane], index: u32| lanes[index as usize].set != Set::Decaying;
        while self.decaying.front().is_some_and(|index| stale(&self.lanes, *index)) {
            self.decaying.pop_front();
        }
        let decaying = self.decaying.front().filter(|_| first);
        let list = [self.fresh.front(), self.old.front(), self.decaying.front()];
        let index = decaying.or_else(|| list.into_iter().flatten().next())?;
        Some(*index as usize)
    }

    /// Takes a queue, which is the first of its list, from it.
    fn unlist(&mut self, index: usize) {
        let list = match self.lanes[index].set {
            Set::Sparse if self.fresh.front() == Some(&(index as u32)) => &mut self.fresh,
            Set::Decaying => &mut self.decaying,
            _ => &mut self.old,
        };
        list.pop_front();
    }

    /// A queue has run empty.
    fn rest(&mut self, now: Time, index: usize) {
        self.unlist(index);
        let lane = &mut self.lanes[index];
        lane.control.on_empty(now, &self.rules);
        let was = lane.set;
        lane.set = if lane.control.remembers(now) { Set::Decaying } else { Set::None };
        let (set, hosts) = (lane.set, lane.hosts);
        if was == Set::Bulk {
            self.count(hosts, false);
        }
        if set == Set::Decaying {
            self.decaying.push_back(index as u32);
        }
    }

    /// A queue's turn is over.
    fn renew(&mut self, index: usize) {
        self.unlist(index);
        let lane = &mut self.lanes[index];
        let hosts = lane.hosts;
        if lane.set == Set::Sparse {
            lane.set = if lane.fifo.is_empty() { Set::SparseWait } else { Set::Bulk };
            if lane.set == Set::Bulk {
                self.count(hosts, true);
            }
        }
        let quantum = self.quantum(hosts);
        self.lanes[index].deficit += quantum;
        self.old.push_back(index as u32);
    }
}

impl Store for Cake {
    fn enqueue(&mut self, now: Time, held: Held, idle: bool, fates: &mut Fates) {
        if self.packets == 0
            && let Some(shaper) = &mut self.shaper
        {
            shaper.wake(now);
        }
        let size = held.size();
        let hosts = self.hosts_of(&held);
        let index = self.lane_of(held.packet.flow());
        let set = self.lanes[index].set;
        let before = std::mem::replace(&mut self.lanes[index].hosts, hosts);
        if set == Set::Bulk && before != hosts {
            self.count(before, false);
            self.count(hosts, true);
        }
        self.lanes[index].fifo.push(held);
        self.packets += 1;
        self.bytes += size;
        match set {
            Set::None | Set::Decaying => {
                self.lanes[index].set = Set::Sparse;
                self.lanes[index].deficit = self.quantum(hosts);
                self.fresh.push_back(index as u32);
            }
            Set::SparseWait => {
                self.lanes[index].set = Set::Bulk;
                self.count(hosts, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        while !idle && self.is_too_long() {
            self.drop_from_longest(now, fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<Held> {
        if self.packets == 0 || self.ready_at().is_some_and(|at| at > now) {
            return None;
        }
        let mut first = true;
        loop {
            let index = self.next_lane(std::mem::take(&mut first))?;
            if self.lanes[index].deficit <= 0 && self.lanes[index].set != Set::Decaying {
                self.renew(index);
                continue;
            }
            let lane = &mut self.lanes[index];
            let before = (lane.fifo.packets(), lane.fifo.bytes());
            let (fifo, random) = (&mut lane.fifo, &mut self.stream);
            let sent = lane.control.next(now, &self.rules, fifo, random, fates);
            self.packets -= before.0 - lane.fifo.packets();
            self.bytes -= before.1 - lane.fifo.bytes();
            let Some(held) = sent else {
                self.rest(now, index);
                continue;
            };
            let size =
                self.shaper.as_ref().map_or(held.size(), |shaper| shaper.wire_size(held.size()));
            lane.deficit -= size as i64;
            if let Some(shaper) = &mut self.shaper {
                shaper.advance(held.size());
            }
            return Some(held);
        }
    }

    fn ready_at(&self) -> Option<Time> {
        self.shaper.as_ref().filter(|_| self.packets > 0).map(Shaper::next)
    }

    fn waiting(&self) -> Vec<Held> {
        self.lanes.iter().flat_map(|lane| lane.fifo.iter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind as PacketKind, Packet};
    use ackclock_units::param::Value;

    fn cake(isolation: &str, rate_bps: Option<u64>, hosts: &[[u32; 2]]) -> Cake {
        let words = [("isolation", isolation), ("queues", "hashed"), ("framing", "none")]
            .map(|(key, word)| (key, Value::Word(word.into())));
        let counts = [("rtt_ns", 100_000_000), ("flows", 1024), ("overhead_bytes", 0)]
            .into_iter()
            .chain([("least_size_bytes", 0)])
            .chain(rate_bps.map(|rate| ("rate_bps", rate)))
            .map(|(key, count)| (key, Value::Int(count)));
        let values = words.into_iter().chain(counts).map(|(key, value)| (key.into(), value));
        let chosen = Chosen { kind: "cake".into(), values: values.collect() };
        let stream = Stream::new(1, "queue/L/forward");
        let place = Place { rate_bps: 100_000_000, delay: Time::ZERO, stream, hosts: hosts.into() };
        Cake::new(&chosen, place)
    }

    fn put(queue: &mut Cake, now: Time, flow: u32, size: u16) {
        let packet = Packet::new(PacketKind::Data, flow, size);
        queue.enqueue(now, Held { packet, entered: now, id: 0 }, false, &mut Fates::default());
    }

    /// Bytes that each of ten backlogged flows gets of 20,000 packets.
    fn shares(isolation: &str, hosts: &[[u32; 2]]) -> Vec<f64> {
        let mut queue = cake(isolation, None, hosts);
        let mut sent = vec![0.0; hosts.len()];
        let sizes = |flow: u32| if flow.is_multiple_of(2) { 1500 } else { 600 };
        (0..hosts.len() as u32)
            .for_each(|flow| (0..9).for_each(|_| put(&mut queue, Time::ZERO, flow, sizes(flow))));
        for _ in 0..20_000 {
            let held = queue.dequeue(Time::ZERO, &mut Fates::default()).unwrap();
            sent[held.packet.flow() as usize] += held.size() as f64;
            put(&mut queue, Time::ZERO, held.packet.flow(), held.packet.size());
        }
        let all: f64 = sent.iter().sum();
        sent.iter().map(|bytes| bytes / all).collect()
    }

    #[test]
    fn hosts_share_alike_and_their_flows_among_themselves() {
        // One flow of sender 0, nine of sender 1, all to one receiver.
        let mut hosts = vec![[1, 9]; 10];
        hosts[0] = [0, 9];
        let near =
            |share: f64, expected: f64| assert!((share / expected - 1.0).abs() < 0.03, "{share}");
        let by_sender = shares("senders", &hosts);
        near(by_sender[0], 0.5);
        by_sender[1..].iter().for_each(|share| near(*share, 0.5 / 9.0));
        // One receiver has ten flows, so that all have a tenth of its share.
        for isolation in ["flows", "receivers", "triple"] {
            shares(isolation, &hosts).iter().for_each(|share| near(*share, 0.1));
        }
        // With receivers apart, too, triple isolation is that of senders.
        let apart: Vec<[u32; 2]> =
            hosts.iter().zip(10..).map(|([from, _], to)| [*from, to]).collect();
        near(shares("triple", &apart)[0], 0.5);
    }

    #[test]
    fn the_clock_lets_packets_go_at_its_rate_to_the_nanosecond() {
        let mut queue = cake("flows", Some(7_000_000), &[[0, 1]]);
        let start = Time::from_secs(1);
        for _ in 0..15 {
            put(&mut queue, start, 0, 1000);
        }
        let mut fates = Fates::default();
        let mut now = start;
        let mut sent = Vec::new();
        while queue.dequeue(now, &mut fates).is_some() {
            sent.push(now.since(start).as_ns());
            assert!(queue.dequeue(now, &mut fates).is_none(), "no second one at {now:?}");
            now = queue.ready_at().unwrap_or(now);
        }
        // 8000 bits at 7 Mbps: 1,142,857.14 ns; none is ever rounded away.
        let expected: Vec<u64> = (0..15).map(|count| count * 8_000_000 / 7).collect();
        assert_eq!(sent, expected);
        // After an idle time nothing has been saved up.
        let late = Time::from_secs(10);
        put(&mut queue, late, 0, 1000);
        put(&mut queue, late, 0, 1000);
        assert!(queue.dequeue(late, &mut fates).is_some());
        assert_eq!(queue.ready_at(), Some(late + Time::from_ns(1_142_857)));
    }

    #[test]
    fn slow_links_have_longer_targets_and_shorter_turns() {
        let of = |rate| {
            let queue = cake("triple", Some(rate), &[]);
            (queue.rules.target.as_ns() / 1000, queue.rules.interval.as_ns() / 1000, queue.quantum)
        };
        assert_eq!(of(1_000_000), (18_168, 113_168, 300));
        assert_eq!(of(10_000_000), (5000, 100_000, 305));
        assert_eq!(of(1_000_000_000), (5000, 100_000, 1514));
    }

    /// `cake_reconfigure` of Linux: 4 MiB at least, 10240 packets of 1514 B at most and without a rate.
    #[test]
    fn the_memory_is_that_of_linux() {
        let of = |rate| cake("triple", rate, &[]).memory;
        assert_eq!(of(Some(10_000_000)), 4 << 20);
        assert_eq!(of(Some(200_000_000)), 10_000_000);
        assert_eq!(of(Some(1_000_000_000)), 15_503_360);
        assert_eq!(of(None), 15_503_360);
    }

    #[test]
    fn a_hundred_flows_have_queues_of_their_own() {
        let mut queue = cake("flows", None, &[]);
        let mut places: Vec<usize> = (0..100)
            .map(|flow| {
                put(&mut queue, Time::ZERO, flow, 1000);
                queue.lane_of(flow)
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100);
    }
}
