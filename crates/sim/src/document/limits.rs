//! What concerns several values at once.

use super::names::{Names, listed};
use super::network::Network;
use super::problems::{Fault, Path, Problems};
use crate::model::Node;
use crate::tables::MOST_PACKET_BYTES;
use ackclock_net::source::BULK_NAME;
use ackclock_tcp::selective;
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};

/// A document after the walk. Values that were faulty are missing.
pub(super) struct Parts<'d> {
    pub root: &'d Map<String, Value>,
    pub model: &'d Map<String, Value>,
    pub names: &'d Names<'d>,
    pub links: &'d [Map<String, Value>],
    pub flows: &'d [Map<String, Value>],
    pub ends: &'d [Option<[Node; 2]>],
    pub pairs: &'d [Option<(usize, usize)>],
    pub network: Network,
}

/// Checks all of it.
pub(super) fn check(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    paths(parts, problems, warnings);
    routing(parts, warnings);
    for (index, flow) in parts.flows.iter().enumerate() {
        let path = Path::default().key("flows").index(index);
        if let Some(Value::Object(tcp)) = flow.get("tcp") {
            transport(flow, tcp, &path.key("tcp"), problems);
        }
        for transport in ["tcp", "udp"] {
            if let Some(source) = flow.get(transport).and_then(|settings| settings.get("source")) {
                periods(source, &path.key(transport).key("source"), problems);
            }
        }
        if let Some(Value::Object(udp)) = flow.get("udp") {
            datagrams(udp, &path.key("udp").key("source"), problems);
        }
    }
    end(parts, problems, warnings);
}

/// Checks that every flow has a path, and that routing can do with the network.
fn paths(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    let network = &parts.network;
    // With a faulty link, or none at all, the paths say nothing.
    let known = !parts.ends.is_empty() && parts.ends.iter().all(Option::is_some);
    for (index, pair) in parts.pairs.iter().enumerate() {
        let Some((from, to)) = pair.filter(|_| known) else { continue };
        if network.connects(from, to) || problems.is_full() {
            continue;
        }
        let [a, b] = [from, to].map(|host| parts.names.of(Node::Host(host)));
        let alone = [(from, a), (to, b)].into_iter().find(|(host, _)| network.links_of(*host) == 0);
        let hint = match alone {
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
        let fault = Fault::new(format!("no path leads from `{a}` to `{b}`")).hint(hint);
        problems.add(&path, &Value::from(b), fault);
    }
    let dynamic = parts.model.get("routing").is_some_and(|r| r["kind"] == "distance-vector");
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
    let Some(Value::Object(routing)) = parts.model.get("routing") else { return };
    let int = |key: &str| routing.get(key).and_then(Value::as_u64);
    let path = Path::default().key("routing");
    if let (Some(settling), Some(period)) = (int("settling_ns"), int("period_ns"))
        && settling >= period
    {
        let text = Quantity::Time(settling).to_string();
        let fault = Fault::new(format!("`settling` ({text}) is not below `period`")).hint(
            "new tables never come into use: the next update starts before they have settled",
        );
        warnings.add(&path.key("settling"), &Value::from(text), fault);
    }
    if let (Some(least), Some(samples)) = (int("min_samples"), int("samples"))
        && least > samples
    {
        let fault = Fault::new(format!("`min_samples` ({least}) is above `samples` ({samples})"))
            .hint("queueing delay never counts");
        warnings.add(&path.key("min_samples"), &Value::from(least), fault);
    }
}

/// Checks the settings of a reliable flow against one another.
fn transport(
    flow: &Map<String, Value>,
    tcp: &Map<String, Value>,
    path: &Path,
    problems: &mut Problems,
) {
    let size = |bytes: u64| Quantity::Size(bytes).to_string();
    let int = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_u64);
    let segment = int(tcp, "segment_bytes");
    if let (Some(segment), Some(header)) = (segment, int(tcp, "header_bytes"))
        && segment + header > MOST_PACKET_BYTES
    {
        let fault =
            Fault::new(format!("packets of {segment} B and a header of {header} B are too large"))
                .allowed(format!("`segment` and `header` together at most {MOST_PACKET_BYTES} B"));
        problems.add(&path.key("segment"), &Value::from(size(segment)), fault);
    }
    if let (Some(segment), Some(bytes)) = (segment, int(flow, "send_bytes"))
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
    if let Some(Value::Object(rto)) = tcp.get("rto")
        && let (Some(min), Some(max)) = (int(rto, "min_ns"), int(rto, "max_ns"))
        && min > max
    {
        let [min, max] = [min, max].map(|time| Quantity::Time(time).to_string());
        let fault = Fault::new(format!("`min` ({min}) is above `max` ({max})"));
        problems.add(&path.key("rto").key("min"), &Value::from(min), fault);
    }
    if let Some(Value::Object(cc)) = tcp.get("cc")
        && let (Some(alpha), Some(beta)) =
            (cc.get("alpha").and_then(Value::as_f64), cc.get("beta").and_then(Value::as_f64))
        && alpha > beta
    {
        let fault = Fault::new(format!("`alpha` ({alpha}) is above `beta` ({beta})"))
            .hint("the window would grow and shrink in turn; `alpha` and `beta` may be equal");
        problems.add(&path.key("cc").key("alpha"), &Value::from(alpha), fault);
    }
}

/// Packets of a flow, as far as nothing is cut into smaller ones.
fn packets(tcp: &Map<String, Value>, bytes: u64, segment: u64) -> u64 {
    let write = tcp.get("source").and_then(|source| source["write_bytes"].as_u64());
    match write {
        Some(write) if tcp.get("writes").is_some_and(|writes| writes == "whole-segments") => {
            bytes.div_ceil(write).saturating_mul(write.div_ceil(segment))
        }
        _ => bytes.div_ceil(segment),
    }
}

/// Checks the source of a flow without feedback.
fn datagrams(udp: &Map<String, Value>, path: &Path, problems: &mut Problems) {
    let Some(Value::Object(source)) = udp.get("source") else { return };
    let kind = source.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind == BULK_NAME {
        let others = ackclock_net::source::ENTRIES.iter().map(|entry| entry.name);
        let others: Vec<&str> = others.filter(|name| *name != BULK_NAME).collect();
        let fault = Fault::new(format!("`{kind}` has no rate, and `udp` no window to limit it"))
            .allowed(others.join(", "))
            .hint("or write `tcp` instead of `udp`");
        problems.add(path, &Value::from(kind), fault);
    }
    let write = source.get("write_bytes").and_then(Value::as_u64);
    if let Some(write) = write.filter(|bytes| *bytes > MOST_PACKET_BYTES) {
        let fault = Fault::new("over `udp` a write is a packet, and this one is too large")
            .allowed(format!("at most {MOST_PACKET_BYTES} B"));
        let text = Quantity::Size(write).to_string();
        problems.add(&path.key("write"), &Value::from(text), fault);
    }
}

/// Checks that a source with on-periods of no length does not wait for ever at one moment. Where
/// on-periods are rounded to whole writes they hold at least one.
fn periods(source: &Value, path: &Path, problems: &mut Problems) {
    let never_on = source["on"]["mean_ns"] == 0 && source["remainder"] != "whole-writes";
    if never_on {
        let fault = Fault::new("on-periods of no length hold no write")
            .allowed("a mean above 0 s")
            .hint("or `remainder: whole-writes`, where each on-period has at least one");
        problems.add(&path.key("on").key("mean"), &Value::from("0 s"), fault);
    }
}

/// Checks that the run ends, and that all flows start before.
fn end(parts: &Parts<'_>, problems: &mut Problems, warnings: &mut Problems) {
    let Some(Value::Object(stop)) = parts.model.get("stop") else { return };
    let path = Path::default().key("stop").key("at_latest");
    let given = match parts.root.get("stop") {
        Some(Value::Object(stop)) => stop.contains_key("at_latest"),
        // Something else was told already.
        other => other.is_some(),
    };
    let hint = "for example `stop: {at_latest: 60 s}`";
    if !given && stop.get("when").is_some_and(|when| when == "time") {
        let fault = Fault::new("`at_latest` is missing: `when: time` needs a time").hint(hint);
        problems.add(&path, &Value::Null, fault);
    } else if !given {
        let endless = parts.flows.iter().find(|flow| flow.get("send_bytes") == Some(&Value::Null));
        if let Some(flow) = endless {
            let id = flow.get("id").and_then(Value::as_str).unwrap_or("?");
            let fault = Fault::new(format!(
                "`at_latest` is missing: flow `{id}` sends without end, so the run needs one"
            ))
            .hint(format!("{hint}, or give the flow an amount, `send: 10 MB`"));
            problems.add(&path, &Value::Null, fault);
        }
    }
    let Some(latest) = stop.get("at_latest_ns").and_then(Value::as_u64) else { return };
    for (index, flow) in parts.flows.iter().enumerate() {
        let Some(start) = flow.get("start_ns").and_then(Value::as_u64) else { continue };
        if start >= latest {
            let [start, latest] = [start, latest].map(|time| Quantity::Time(time).to_string());
            let path = Path::default().key("flows").index(index).key("start");
            let fault = Fault::new(format!("starts at {start}, when the run is over ({latest})"))
                .hint("a later `stop.at_latest`");
            warnings.add(&path, &Value::from(start), fault);
        }
    }
}
