//! What concerns several values at once.

use super::block::Block;
use super::flows::{FlowPart, TransportPart};
use super::names::{Names, listed};
use super::network::Network;
use super::problems::{Fault, Path, Problems};
use crate::model::Node;
use crate::shape::WITH_EQUAL_PATHS;
use crate::tables::MOST_PACKET_BYTES;
use crate::transfer::Transfer;
use ackclock_net::source::{BULK_NAME, write_sizes};
use ackclock_tcp::selective;
use ackclock_units::Time;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};

/// A document after the walk. Values that were faulty are missing.
pub(super) struct Parts<'d> {
    pub root: &'d Map<String, Value>,
    /// The values outside of the lists.
    pub rest: &'d Block,
    pub names: &'d Names<'d>,
    pub flows: &'d [FlowPart],
    pub ends: &'d [Option<[Node; 2]>],
    pub pairs: &'d [Option<(usize, usize)>],
    pub network: &'d Network,
}

/// Checks all of it.
pub(super) fn check(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    paths(parts, problems, warnings);
    routing(parts, warnings);
    for (index, flow) in parts.flows.iter().enumerate() {
        let path = Path::default().key("flows").index(index);
        match &flow.transport {
            Some(TransportPart::Tcp(tcp)) => {
                let path = path.key("tcp");
                transport(flow, tcp, &path, problems);
                periods(tcp, &path, problems);
            }
            Some(TransportPart::Udp(udp)) => {
                let path = path.key("udp");
                periods(udp, &path, problems);
                datagrams(udp, &path.key("source"), problems);
            }
            None => {}
        }
    }
    end(parts, problems, warnings);
}

/// Checks that every flow has a path, and that routing can do with the network.
fn paths(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    let network = parts.network;
    // With a faulty link, or none at all, the paths say nothing.
    let known = !parts.ends.is_empty() && parts.ends.iter().all(Option::is_some);
    for (index, pair) in parts.pairs.iter().enumerate() {
        let Some((from, to)) = pair.filter(|_| known) else { continue };
        if network.connects(from, to) || problems.is_full() {
            continue;
        }
        let [a, b] = [from, to].map(|host| parts.names.of(Node::Host(host)));
        let alone = [(from, a), (to, b)].into_iter().find(|(host, _)| network.links_of(*host) == 0);
        let hint = || match alone {
            Some((_, name)) => format!("no link ends at `{name}`"),
            None => {
                let near: Vec<String> = network
                    .reachable(from)
                    .take(21)
                    .map(|host| parts.names.of(Node::Host(host)).to_owned())
                    .collect();
                match near.as_slice() {
                    [] => format!("from `{a}` one reaches no other host; hosts do not forward"),
                    some => format!(
                        "from `{a}` one reaches: {}; hosts do not forward",
                        listed(some.iter())
                    ),
                }
            }
        };
        let path = Path::default().key("flows").index(index).key("to");
        problems.add_made(&path, &Value::from(b), || {
            Fault::new(format!("no path leads from `{a}` to `{b}`")).hint(hint())
        });
    }
    let dynamic = parts.rest.word("routing") == Some("distance-vector");
    let mut used = vec![0_usize; parts.names.hosts().len()];
    for (index, ends) in parts.ends.iter().enumerate() {
        for (end, node) in ends.iter().flatten().enumerate() {
            let Node::Host(host) = node else { continue };
            used[*host] += 1;
            if dynamic && used[*host] == 2 {
                let name = parts.names.of(*node);
                let message = format!(
                    "`{name}` has a second link; with distance-vector routing a host has one"
                );
                let path = Path::default().key("links").index(index).key("between").index(end);
                let hint = "hosts take no part in the protocol and could not choose; \
                            put a router in between, or write `routing: shortest-path`";
                problems.add(&path, &Value::from(name), Fault::new(message).hint(hint));
            }
        }
    }
    if known {
        for (host, _) in used.iter().enumerate().filter(|(_, links)| **links == 0) {
            let name = parts.names.of(Node::Host(host));
            let path = Path::default().key("hosts").index(host);
            warnings.add(
                &path,
                &Value::from(name),
                Fault::new(format!("no link ends at `{name}`")),
            );
        }
    }
}

/// Checks the settings of the routing protocol against one another.
fn routing(parts: &Parts<'_>, warnings: &mut Problems) {
    let Some(routing) = parts.rest.block("routing") else { return };
    let path = Path::default().key("routing");
    let shape = parts.root.get("topology").and_then(|topology| topology.get("kind"));
    let is_fabric =
        shape.is_some_and(|kind| WITH_EQUAL_PATHS.iter().any(|entry| *kind == entry.name));
    let routed = parts.flows.iter().filter(|flow| flow.routers[0].is_none());
    if is_fabric && !parts.root.contains_key("routing") && routed.take(2).count() == 2 {
        let fault = Fault::new("all flows take the first of several shortest paths").hint(
            "`routing: ecmp` spreads them by a hash, `routing: shortest-path` says that it is meant",
        );
        warnings.add(&path, &Value::Null, fault);
    }
    if let (Some(settling), Some(period)) = (routing.int("settling"), routing.int("period"))
        && settling >= period
    {
        let text = Quantity::Time(settling).to_string();
        let fault = Fault::new(format!("`settling` ({text}) is not below `period`")).hint(
            "new tables never come into use: the next update starts before they have settled",
        );
        warnings.add(&path.key("settling"), &Value::from(text), fault);
    }
    if let (Some(least), Some(samples)) = (routing.int("min_samples"), routing.int("samples"))
        && least > samples
    {
        let fault = Fault::new(format!("`min_samples` ({least}) is above `samples` ({samples})"))
            .hint("queueing delay never counts");
        warnings.add(&path.key("min_samples"), &Value::from(least), fault);
    }
}

/// Checks the settings of a reliable flow against one another.
fn transport(flow: &FlowPart, tcp: &Block, path: &Path, problems: &mut Problems) {
    let size = |bytes: u64| Quantity::Size(bytes).to_string();
    let segment = tcp.int("segment");
    if let (Some(segment), Some(header)) = (segment, tcp.int("header"))
        && segment + header > MOST_PACKET_BYTES
    {
        let fault =
            Fault::new(format!("packets of {segment} B and a header of {header} B are too large"))
                .allowed(format!("`segment` and `header` together at most {MOST_PACKET_BYTES} B"));
        problems.add(&path.key("segment"), &Value::from(size(segment)), fault);
    }
    if let (Some(segment), Some(bytes)) = (segment, flow.send.as_ref().and_then(Transfer::most))
        && packets(tcp, bytes, segment) > selective::Sender::MAX_PACKETS
    {
        let fault = Fault::new(format!(
            "{} in segments of {} are more packets than a flow can number",
            size(bytes),
            size(segment)
        ))
        .allowed(format!("at most {} packets", selective::Sender::MAX_PACKETS))
        .hint("larger segments, several flows, or `send: unlimited`");
        problems.add(&path.key("segment"), &Value::from(size(segment)), fault);
    }
}

/// Packets of a flow, as far as nothing is cut into smaller ones.
fn packets(tcp: &Block, bytes: u64, segment: u64) -> u64 {
    match tcp.block("source").and_then(|source| source.int("write")) {
        Some(write) if tcp.word("writes") == Some("whole-segments") => {
            bytes.div_ceil(write).saturating_mul(write.div_ceil(segment))
        }
        _ => bytes.div_ceil(segment),
    }
}

/// Checks the source of a flow without feedback.
fn datagrams(udp: &Block, path: &Path, problems: &mut Problems) {
    let Some(source) = udp.block("source") else { return };
    if let Some(kind) = source.kind().filter(|kind| *kind == BULK_NAME) {
        let others = ackclock_net::source::ENTRIES.iter().map(|entry| entry.name);
        let others: Vec<&str> = others.filter(|name| *name != BULK_NAME).collect();
        let fault = Fault::new(format!("`{kind}` has no rate, and `udp` no window to limit it"))
            .allowed(others.join(", "))
            .hint("or write `tcp` instead of `udp`");
        problems.add(path, &Value::from(kind), fault);
    }
    let sizes = write_sizes(&source.chosen());
    if let Some(row) = sizes.iter().position(|bytes| *bytes > MOST_PACKET_BYTES) {
        let fault = Fault::new("over `udp` a write is a packet, and this one is too large")
            .allowed(format!("at most {MOST_PACKET_BYTES} B"));
        let text = Quantity::Size(sizes[row]).to_string();
        let place = match source.get("writes") {
            Some(_) => path.key("writes").index(row).key("size"),
            None => path.key("write"),
        };
        problems.add(&place, &Value::from(text), fault);
    }
}

/// Checks that a source with on-periods of no length does not wait for ever at one moment. Where
/// on-periods are rounded to whole writes they hold at least one.
fn periods(transport: &Block, path: &Path, problems: &mut Problems) {
    let Some(source) = transport.block("source") else { return };
    let never_on = source.block("on").is_some_and(|on| on.int("mean") == Some(0))
        && source.word("remainder") != Some("whole-writes");
    if never_on {
        let fault = Fault::new("on-periods of no length hold no write")
            .allowed("a mean above 0 s")
            .hint("or `remainder: whole-writes`, where each on-period has at least one");
        problems.add(&path.key("source").key("on").key("mean"), &Value::from("0 s"), fault);
    }
}

/// Checks that a flow is cut off between its start and the end of the run, if it is at all.
fn cut(
    flow: &FlowPart,
    index: usize,
    start: u64,
    latest: u64,
    problems: &mut Problems,
    warnings: &mut Problems,
) {
    let Some(stop) = flow.stop.map(Time::as_ns) else { return };
    let path = Path::default().key("flows").index(index).key("stop");
    let [text, from, end] = [stop, start, latest].map(|time| Quantity::Time(time).to_string());
    if stop <= start {
        let fault = Fault::new(format!("`stop` ({text}) is not after the start ({from})"));
        problems.add(&path, &Value::from(text), fault);
    } else if stop >= latest {
        let fault = Fault::new(format!("stops at {text}, when the run is over ({end})"))
            .hint("a later `stop.at_latest`, or leave `stop` of the flow out");
        warnings.add(&path, &Value::from(text), fault);
    }
}

/// Checks that the run ends, and that all flows start before.
fn end(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    let Some(stop) = parts.rest.block("stop") else { return };
    let path = Path::default().key("stop").key("at_latest");
    let given = match parts.root.get("stop") {
        Some(Value::Object(stop)) => stop.contains_key("at_latest"),
        // Something else was reported already.
        other => other.is_some(),
    };
    let hint = "for example `stop: {at_latest: 60 s}`";
    if !given && stop.word("when") == Some("time") {
        let fault = Fault::new("`at_latest` is missing: `when: time` needs a time").hint(hint);
        problems.add(&path, &Value::Null, fault);
    } else if !given {
        let endless =
            |flow: &&FlowPart| flow.send == Some(Transfer::Unlimited) && flow.stop.is_none();
        let endless = parts.flows.iter().find(endless);
        if let Some(flow) = endless {
            let id = flow.id.as_deref().unwrap_or("?");
            let fault = Fault::new(format!(
                "`at_latest` is missing: flow `{id}` sends without end, so the run needs one"
            ))
            .hint(format!("{hint}, or give the flow an amount, `send: 10 MB`"));
            problems.add(&path, &Value::Null, fault);
        }
    }
    let Some(latest) = stop.int("at_latest") else { return };
    if let Some(warmup) = parts.rest.int("warmup").filter(|warmup| *warmup >= latest) {
        let [text, end] = [warmup, latest].map(|time| Quantity::Time(time).to_string());
        let fault = Fault::new(format!("nothing is left after {text}: the run is over at {end}"))
            .hint("a shorter warm-up, or a later `stop.at_latest`");
        problems.add(&Path::default().key("warmup"), &Value::from(text), fault);
    }
    let seed = parts.rest.int("seed").unwrap_or_default();
    for (index, flow) in parts.flows.iter().enumerate() {
        let Some(start) = flow.start else { continue };
        let start = start.time(seed, flow.id.as_deref().unwrap_or_default()).as_ns();
        cut(flow, index, start, latest, problems, warnings);
        if start >= latest {
            let [start, latest] = [start, latest].map(|time| Quantity::Time(time).to_string());
            let path = Path::default().key("flows").index(index).key("start");
            let fault = Fault::new(format!("starts at {start}, when the run is over ({latest})"))
                .hint("a later `stop.at_latest`");
            warnings.add(&path, &Value::from(start), fault);
        }
    }
}
