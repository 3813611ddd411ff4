//! Whether packets can pass the links on their way: whether they fit into the queues, and whether
//! that takes any time.
//!
//! A queue that can never hold a packet makes a flow wait for ever. It is an error where the packets
//! have no other way, and a warning where routing may or may not lead them there, or where smaller
//! ones of the flow fit. A round trip that takes less than the resolution of time would let a flow
//! send for ever at one moment.

use super::network::Network;
use super::problems::{Fault, Path, Problems};
use crate::model::{Direction, Node, Scenario, Transport};
use ackclock_net::queue::Queue;
use ackclock_net::source::write_sizes;
use ackclock_units::param::{Chosen, Value as Setting};
use ackclock_units::quantity::Quantity;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Scenarios with more sizes of packets and with too small queues are not checked to the end.
const MOST_SIZES: usize = 1000;

/// Packets of one size from one host to another.
struct Stream {
    flow: usize,
    what: &'static str,
    from: usize,
    to: usize,
    /// Size of the smallest packets that are sent with them.
    smallest: u64,
}

/// How sure it is that packets of a size do not pass a link, and what that means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocked {
    /// No packet passes.
    All,
    /// Smaller ones do.
    Large,
    /// They do not if they are led over this link.
    Here,
}

/// Checks all flows, and the routers' own packets.
pub(super) fn check(
    scenario: &Scenario,
    network: &Network,
    problems: &mut Problems,
    warnings: &mut Problems,
) {
    let mut checker = Checker { scenario, network, reported: BTreeSet::new(), problems, warnings };
    checker.control();
    let streams = streams(scenario);
    checker.instant(&streams);
    let Some((&largest, _)) = streams.last_key_value() else { return };
    let narrow: Vec<usize> =
        (0..scenario.links.len()).filter(|&link| !checker.takes_both(link, largest)).collect();
    if narrow.is_empty() {
        return;
    }
    for (&size, streams) in streams.iter().rev().take(MOST_SIZES) {
        checker.size(size, streams, &narrow);
    }
}

struct Checker<'s, 'p> {
    scenario: &'s Scenario,
    network: &'s Network,
    /// Links and directions that were reported, and whether as an error.
    reported: BTreeSet<(usize, usize, bool)>,
    problems: &'p mut Problems,
    warnings: &'p mut Problems,
}

impl Checker<'_, '_> {
    /// Routers' packets, unless they are exempt.
    fn control(&mut self) {
        let routing = &self.scenario.routing;
        match routing.find("control") {
            Some(Setting::Word(word)) if word == "queued" => {}
            Some(_) => return self.exempt(),
            None => return,
        }
        let size = routing.int("packet_bytes");
        for (index, link) in self.scenario.links.iter().enumerate() {
            if let [Node::Router(_), Node::Router(_)] = link.ends {
                for side in 0..2 {
                    if !self.takes(index, side, size) {
                        self.report(index, side, size, "the routers' packets", Blocked::All);
                    }
                }
            }
        }
    }

    /// Queues between routers take all of the routers' packets, so they must not drop them later.
    fn exempt(&mut self) {
        for (index, link) in self.scenario.links.iter().enumerate() {
            let [Node::Router(_), Node::Router(_)] = link.ends else { continue };
            for side in 0..2 {
                let kind = self.side(index, side).queue.kind.clone();
                if Queue::keeps_packets(&kind) && self.reported.insert((index, side, true)) {
                    let fault = Fault::new(format!("`{kind}` may drop the routers' packets"))
                        .allowed("a queue that decides on arrival (`droptail`, `red`, `threshold`) with `control: exempt`")
                        .hint("or `control: queued` in `routing`");
                    let path = Path::default().key("links").index(index);
                    let path = if side == 1 { path.key("backward") } else { path };
                    self.problems.add(&path.key("queue"), &Value::from(kind), fault);
                }
            }
        }
    }

    /// The network of the links that `passes`.
    fn part(&self, passes: impl Fn(usize) -> bool) -> Network {
        let Scenario { hosts, routers, links, .. } = self.scenario;
        let ends = links.iter().map(|link| Some(link.ends));
        Network::new(hosts.len(), routers.len(), ends, passes)
    }

    /// The network without these links.
    fn without(&self, links: &[usize]) -> Network {
        let mut passes = vec![true; self.scenario.links.len()];
        links.iter().for_each(|&link| passes[link] = false);
        self.part(|link| passes[link])
    }

    fn side(&self, link: usize, side: usize) -> &Direction {
        let link = &self.scenario.links[link];
        [&link.forward, &link.backward][side]
    }

    /// Reports flows whose packets can arrive in no time.
    fn instant(&mut self, streams: &BTreeMap<u64, Vec<Stream>>) {
        for (&size, streams) in streams.iter().take(MOST_SIZES) {
            // All bits on the wire within a nanosecond, and no delay on the way.
            let is_instant = |link: usize| {
                (0..2).map(|side| self.side(link, side)).any(|way| {
                    way.delay.as_ns() == 0
                        && u128::from(size) * 8_000_000_000 < u128::from(way.rate_bps)
                })
            };
            let links: Vec<bool> = (0..self.scenario.links.len()).map(is_instant).collect();
            if !links.contains(&true) {
                // Larger packets take longer.
                return;
            }
            let network = self.part(|link| links[link]);
            for stream in streams.iter().filter(|stream| stream.what == "data packets") {
                if network.connects(stream.from, stream.to) {
                    let size = Quantity::Size(size);
                    let fault = Fault::new(format!(
                        "packets of {size} can arrive in less than 1 ns"
                    ))
                    .hint("simulated time would stand still: give a link a delay, or a lower rate");
                    let path = Path::default().key("flows").index(stream.flow);
                    self.problems.add(&path, &Value::Null, fault);
                }
            }
        }
    }

    fn size(&mut self, size: u64, streams: &[Stream], narrow: &[usize]) {
        let narrow: Vec<usize> =
            narrow.iter().copied().filter(|&link| !self.takes_both(link, size)).collect();
        if narrow.is_empty() {
            return;
        }
        // What passes a link between routers in one direction may come back in the other.
        let closed = self.closed(size, &narrow);
        let open = self.without(&closed);
        let mut used = false;
        for stream in streams {
            let (link, side) = match self.blocked(size, stream, &narrow) {
                Some(place) => place,
                None if open.connects(stream.from, stream.to) => {
                    used = true;
                    continue;
                }
                None => (self.last_closed(stream, &closed), 0),
            };
            let id = &self.scenario.flows[stream.flow].id;
            let what = format!("{} of flow `{id}`", stream.what);
            let smaller_pass = self.takes(link, side, stream.smallest);
            let blocked = if smaller_pass { Blocked::Large } else { Blocked::All };
            self.report(link, side, size, &what, blocked);
        }
        if used {
            for &link in &narrow {
                let ends = self.scenario.links[link].ends;
                let inner = matches!(ends, [Node::Router(_), Node::Router(_)]);
                for side in (0..2).filter(|_| inner) {
                    if !self.takes(link, side, size) {
                        self.report(link, side, size, streams[0].what, Blocked::Here);
                    }
                }
            }
        }
    }

    /// Links that take packets of a size in neither direction: those that are an error first.
    fn closed(&self, size: u64, narrow: &[usize]) -> Vec<usize> {
        let takes_none = |link: &usize| (0..2).all(|side| !self.takes(*link, side, size));
        let mut closed: Vec<usize> = narrow.iter().copied().filter(takes_none).collect();
        closed.sort_by_key(|&link| too_small_bucket(&self.side(link, 0).queue, size).is_some());
        closed
    }

    /// All ways of a stream are blocked by closed links: the one with which the last way is closed if they are closed in
    /// this order. Links that lead elsewhere are none of its business.
    fn last_closed(&self, stream: &Stream, closed: &[usize]) -> usize {
        let (mut open, mut shut) = (0, closed.len());
        while shut - open > 1 {
            let middle = usize::midpoint(open, shut);
            if self.without(&closed[..middle]).connects(stream.from, stream.to) {
                open = middle;
            } else {
                shut = middle;
            }
        }
        closed[open]
    }

    /// The only link of one of the stream's hosts, if it does not take the packets.
    fn blocked(&self, size: u64, stream: &Stream, narrow: &[usize]) -> Option<(usize, usize)> {
        for (host, leaves) in [(stream.from, true), (stream.to, false)] {
            if self.network.links_of(host) != 1 {
                continue;
            }
            for &link in narrow {
                let ends = self.scenario.links[link].ends;
                let Some(end) = ends.iter().position(|end| *end == Node::Host(host)) else {
                    continue;
                };
                // Forward leaves the first end.
                let side = if leaves { end } else { 1 - end };
                if !self.takes(link, side, size) {
                    return Some((link, side));
                }
            }
        }
        None
    }

    fn takes_both(&self, link: usize, size: u64) -> bool {
        (0..2).all(|side| self.takes(link, side, size))
    }

    /// Whether the queue, and the bucket of one that has a bucket, can hold a packet of this size at all.
    ///
    /// A limit of zero means no waiting room, and is meant; a smaller one than a packet is not.
    fn takes(&self, link: usize, side: usize, size: u64) -> bool {
        let chosen = &self.side(link, side).queue;
        let size16 = u16::try_from(size).unwrap_or(u16::MAX);
        let room = chosen.optional_int("limit_bytes").unwrap_or(0);
        let has_room = Queue::takes_when_empty(chosen, size16) && (room == 0 || room >= size);
        has_room && bucket(chosen).is_none_or(|burst| burst >= size)
    }

    fn report(&mut self, link: usize, side: usize, size: u64, what: &str, blocked: Blocked) {
        let same = self.side(link, 0).queue == self.side(link, 1).queue;
        let side = if same { 0 } else { side };
        let burst = too_small_bucket(&self.side(link, side).queue, size);
        // What a bucket does not hold may be what a scenario is about.
        let is_error = blocked == Blocked::All && burst.is_none();
        let known = self.reported.contains(&(link, side, true));
        if known || !self.reported.insert((link, side, is_error)) {
            return;
        }
        let chosen = &self.side(link, side).queue;
        let limit = match (
            burst.or(chosen.optional_int("limit_bytes")),
            chosen.optional_int("limit_packets"),
        ) {
            (Some(bytes), _) => Quantity::Size(bytes),
            (None, packets) => Quantity::Packets(packets.unwrap_or(0)),
        };
        let size = Quantity::Size(size);
        let message = match blocked {
            Blocked::All => format!("no packet ever fits: {what} have {size}"),
            Blocked::Large => format!("some packets never fit: {what} have up to {size}"),
            Blocked::Here => {
                format!(
                    "no packet of {size} ever fits: {what} that are led over this link are lost"
                )
            }
        };
        let strict =
            chosen.find("admission").is_some_and(|rule| *rule == Setting::Word("strict".into()));
        let hint = if burst.is_some() {
            "the bucket has to hold a whole packet"
        } else if strict {
            "with `admission: strict` a packet must leave room over"
        } else {
            "`limit: 0 packets` makes a link without waiting room"
        };
        let path = Path::default().key("links").index(link);
        let path = if side == 1 { path.key("backward") } else { path };
        let path = path.key("queue").key(if burst.is_some() { "burst" } else { "limit" });
        let list = if is_error { &mut *self.problems } else { &mut *self.warnings };
        list.add(&path, &Value::from(limit.to_string()), Fault::new(message).hint(hint));
    }
}

/// Bytes of the token bucket of a queue, if it has one.
fn bucket(chosen: &Chosen) -> Option<u64> {
    chosen.optional_int("burst_bytes")
}

/// The same if no packet of a size fits into it.
fn too_small_bucket(chosen: &Chosen, size: u64) -> Option<u64> {
    bucket(chosen).filter(|burst| *burst < size)
}

/// What is sent, by size.
fn streams(scenario: &Scenario) -> BTreeMap<u64, Vec<Stream>> {
    let mut streams: BTreeMap<u64, Vec<Stream>> = BTreeMap::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let mut add = |size: u64, smallest: u64, what, from, to| {
            let stream = Stream { flow: index, what, from, to, smallest };
            streams.entry(size).or_default().push(stream);
        };
        match &flow.transport {
            Transport::Tcp(tcp) => {
                let size = tcp.segment_bytes + tcp.header_bytes;
                add(size, size, "data packets", flow.from, flow.to);
                add(tcp.ack_bytes, tcp.ack_bytes, "ACKs", flow.to, flow.from);
            }
            Transport::Udp { source, .. } => {
                let mut sizes = write_sizes(source);
                sizes.sort_unstable();
                sizes.dedup();
                let smallest = sizes.first().copied().unwrap_or(0);
                for size in sizes {
                    add(size, smallest, "packets", flow.from, flow.to);
                }
            }
        }
    }
    streams
}
