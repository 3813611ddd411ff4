//! Whether packets can pass the links on their way: whether they fit into the queues, and whether
//! that takes any time.
//!
//! A queue that can never hold a packet makes a flow wait for ever. It is an error where the packets
//! have no other way, and a warning where routing may or may not lead them there. A round trip that
//! takes less than the resolution of time would let a flow send for ever at one moment.

use super::limits::Parts;
use super::network::Network;
use super::problems::{Fault, Path, Problems};
use super::typed;
use crate::model::Node;
use ackclock_net::queue::Queue;
use ackclock_units::param::Chosen;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Scenarios with more sizes of packets and with too small queues are not checked to the end.
const MOST_SIZES: usize = 1000;

/// Packets of one size from one host to another.
struct Stream {
    flow: usize,
    what: &'static str,
    from: usize,
    to: usize,
}

/// Both directions of a link.
struct Queues {
    sides: [Chosen; 2],
}

/// Checks all flows, and the routers' own packets. All values of the parts are valid here.
pub(super) fn check(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    let queues: Vec<Queues> = parts.links.iter().map(queues_of).collect();
    let mut checker = Checker { parts, queues, told: BTreeSet::new(), problems, warnings };
    checker.control();
    let streams = streams(parts);
    checker.instant(&streams);
    let Some((&largest, _)) = streams.last_key_value() else { return };
    let narrow: Vec<usize> =
        (0..parts.links.len()).filter(|&link| !checker.takes_both(link, largest)).collect();
    if narrow.is_empty() {
        return;
    }
    for (&size, streams) in streams.iter().rev().take(MOST_SIZES) {
        checker.size(size, streams, &narrow);
    }
}

struct Checker<'d, 'p> {
    parts: &'d Parts<'d>,
    queues: Vec<Queues>,
    /// Links and directions that were told.
    told: BTreeSet<(usize, usize)>,
    problems: &'p mut Problems,
    warnings: &'p mut Problems,
}

impl Checker<'_, '_> {
    /// Routers' packets, unless they are exempt.
    fn control(&mut self) {
        let routing = &self.parts.model["routing"];
        if routing["control"] != "queued" {
            return;
        }
        let size = routing["packet_bytes"].as_u64().unwrap_or(0);
        for (link, ends) in self.parts.ends.iter().enumerate() {
            if let Some([Node::Router(_), Node::Router(_)]) = ends {
                for side in 0..2 {
                    if !self.takes(link, side, size) {
                        self.tell(link, side, size, "the routers' packets", true);
                    }
                }
            }
        }
    }

    /// Tells flows whose packets can arrive in no time.
    fn instant(&mut self, streams: &BTreeMap<u64, Vec<Stream>>) {
        let parts = self.parts;
        let hosts = parts.names.hosts().len();
        let routers = parts.names.routers().len();
        for (&size, streams) in streams.iter().take(MOST_SIZES) {
            // All bits on the wire within a nanosecond, and no delay on the way.
            let is_instant = |link: usize| {
                ["forward", "backward"].iter().any(|side| {
                    let way = &parts.links[link][*side];
                    let rate = way["rate_bps"].as_u64().unwrap_or(0);
                    way["delay_ns"] == 0 && u128::from(size) * 8_000_000_000 < u128::from(rate)
                })
            };
            let links: Vec<bool> = (0..parts.links.len()).map(is_instant).collect();
            if !links.contains(&true) {
                // Larger packets take longer.
                return;
            }
            let network = Network::new(hosts, routers, parts.ends, |link| links[link]);
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
        let parts = self.parts;
        let narrow: Vec<usize> =
            narrow.iter().copied().filter(|&link| !self.takes_both(link, size)).collect();
        if narrow.is_empty() {
            return;
        }
        let hosts = parts.names.hosts().len();
        let routers = parts.names.routers().len();
        // What passes a link between routers in one direction may come back in the other.
        let open = Network::new(hosts, routers, parts.ends, |link| {
            (0..2).any(|side| self.takes(link, side, size))
        });
        let mut used = false;
        for stream in streams {
            let (link, side) = match self.blocked(size, stream, &narrow) {
                Some(place) => place,
                None if open.connects(stream.from, stream.to) => {
                    used = true;
                    continue;
                }
                // All ways are blocked somewhere; the first narrow link is as good as any.
                None => (narrow[0], usize::from(self.takes(narrow[0], 0, size))),
            };
            let id = parts.flows[stream.flow]["id"].as_str().unwrap_or("?");
            self.tell(link, side, size, &format!("{} of flow `{id}`", stream.what), true);
        }
        if used {
            for &link in &narrow {
                let inner = matches!(parts.ends[link], Some([Node::Router(_), Node::Router(_)]));
                for side in (0..2).filter(|_| inner) {
                    if !self.takes(link, side, size) {
                        self.tell(link, side, size, streams[0].what, false);
                    }
                }
            }
        }
    }

    /// The only link of one of the stream's hosts, if it does not take the packets.
    fn blocked(&self, size: u64, stream: &Stream, narrow: &[usize]) -> Option<(usize, usize)> {
        for (host, leaves) in [(stream.from, true), (stream.to, false)] {
            if self.parts.network.links_of(host) != 1 {
                continue;
            }
            for &link in narrow {
                let Some(ends) = self.parts.ends[link] else { continue };
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

    /// Whether the queue can hold a packet of this size at all.
    ///
    /// A limit of zero means no waiting room, and is meant; a smaller one than a packet is not.
    fn takes(&self, link: usize, side: usize, size: u64) -> bool {
        let chosen = &self.queues[link].sides[side];
        let size16 = u16::try_from(size).unwrap_or(u16::MAX);
        let room = chosen.optional_int("limit_bytes").unwrap_or(0);
        Queue::takes_when_empty(chosen, size16) && (room == 0 || room >= size)
    }

    fn tell(&mut self, link: usize, side: usize, size: u64, what: &str, sure: bool) {
        let queues = &self.queues[link];
        let side = if queues.sides[0] == queues.sides[1] { 0 } else { side };
        if !self.told.insert((link, side)) {
            return;
        }
        let chosen = &queues.sides[side];
        let limit = match (chosen.optional_int("limit_bytes"), chosen.optional_int("limit_packets"))
        {
            (Some(bytes), _) => Quantity::Size(bytes),
            (None, packets) => Quantity::Packets(packets.unwrap_or(0)),
        };
        let size = Quantity::Size(size);
        let message = if sure {
            format!("no packet ever fits: {what} have {size}")
        } else {
            format!("no packet of {size} ever fits: {what} that are led over this link are lost")
        };
        let strict = chosen
            .find("admission")
            .is_some_and(|rule| *rule == ackclock_units::param::Value::Word("strict".into()));
        let hint = if strict {
            "with `admission: strict` a packet must leave room over"
        } else {
            "`limit: 0 packets` makes a link without waiting room"
        };
        let path = Path::default().key("links").index(link);
        let path = if side == 1 { path.key("backward") } else { path };
        let path = path.key("queue").key("limit");
        let list = if sure { &mut *self.problems } else { &mut *self.warnings };
        list.add(&path, &Value::from(limit.to_string()), Fault::new(message).hint(hint));
    }
}

fn queues_of(link: &Map<String, Value>) -> Queues {
    let queue = |side: &str| {
        typed::chosen(link[side]["queue"].as_object().expect("a checked direction has a queue"))
    };
    Queues { sides: [queue("forward"), queue("backward")] }
}

/// What is sent, by size.
fn streams(parts: &Parts<'_>) -> BTreeMap<u64, Vec<Stream>> {
    let mut streams: BTreeMap<u64, Vec<Stream>> = BTreeMap::new();
    for (flow, model) in parts.flows.iter().enumerate() {
        let Some((from, to)) = parts.pairs[flow] else { continue };
        let int = |value: &Value| value.as_u64().unwrap_or(0);
        let mut add = |size: u64, what, from, to| {
            streams.entry(size).or_default().push(Stream { flow, what, from, to });
        };
        match (&model["tcp"], &model["udp"]) {
            (Value::Object(tcp), _) => {
                let data = int(&tcp["segment_bytes"]) + int(&tcp["header_bytes"]);
                add(data, "data packets", from, to);
                add(int(&tcp["ack_bytes"]), "ACKs", to, from);
            }
            (_, udp) => {
                if let Some(size) = udp["source"]["write_bytes"].as_u64() {
                    add(size, "packets", from, to);
                }
            }
        }
    }
    streams
}
