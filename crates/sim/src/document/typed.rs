//! From the numeric model as JSON to the typed scenario. The model is complete and valid here.

use crate::model::{
    Amount, Change, Direction, Flow, Link, Node, Record, Scenario, Stop, Tcp, Transport,
};
use crate::start::Start;
use ackclock_net::serial::Rounding;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Value as Setting};
use serde_json::{Map, Value};

/// The scenario of a model; `ends` and `pairs` are the nodes of links and the hosts of flows.
pub(super) fn scenario(
    model: &Map<String, Value>,
    ends: &[[Node; 2]],
    pairs: &[(usize, usize)],
) -> Scenario {
    let links = list(model, "links").zip(ends).map(|(link, ends)| Link {
        id: text(link, "id"),
        ends: *ends,
        half_duplex: text(link, "duplex") == "half",
        rounding: Rounding::named(&text(link, "rounding")),
        forward: direction(object(link, "forward")),
        backward: direction(object(link, "backward")),
        changes: list(link, "changes").map(change).collect(),
    });
    let flows = list(model, "flows").zip(pairs).map(|(flow, pair)| Flow {
        id: text(flow, "id"),
        from: pair.0,
        to: pair.1,
        start: start(flow),
        send_bytes: flow["send_bytes"].as_u64(),
        transport: match &flow["tcp"] {
            Value::Object(settings) => Transport::Tcp(tcp(settings)),
            _ => Transport::Udp { source: chosen(object(object(flow, "udp"), "source")) },
        },
    });
    let stop = object(model, "stop");
    Scenario {
        name: text(model, "name"),
        hosts: names(model, "hosts"),
        routers: names(model, "routers"),
        links: links.collect(),
        flows: flows.collect(),
        routing: chosen(object(model, "routing")),
        ties: chosen(object(model, "ties")),
        stop: Stop {
            flows_complete: text(stop, "when") == "flows-complete",
            at_latest: time(stop, "at_latest_ns"),
            events: stop.get("events").and_then(Value::as_u64),
            max_packets: stop["max_packets"].as_u64().unwrap_or(u64::MAX),
        },
        seed: int(model, "seed"),
        record: record(object(model, "record")),
    }
}

/// A registered thing with its parameters.
pub(super) fn chosen(map: &Map<String, Value>) -> Chosen {
    let setting = |value: &Value| match value {
        Value::Bool(flag) => Setting::Flag(*flag),
        Value::Number(number) => match number.as_u64() {
            Some(whole) => Setting::Int(whole),
            None => Setting::Real(number.as_f64().expect("a finite number")),
        },
        Value::String(word) => Setting::Word(word.clone()),
        Value::Array(items) => Setting::List(items.iter().filter_map(Value::as_u64).collect()),
        Value::Object(map) => Setting::Chosen(chosen(map)),
        _ => Setting::Null,
    };
    Chosen {
        kind: text(map, "kind"),
        values: map
            .iter()
            .filter(|(key, _)| *key != "kind")
            .map(|(key, value)| (key.clone(), setting(value)))
            .collect(),
    }
}

fn start(flow: &Map<String, Value>) -> Start {
    match &flow["start_draw"] {
        Value::Object(draw) => {
            Start::Uniform { from: time(draw, "from_ns"), to: time(draw, "to_ns") }
        }
        _ => Start::At(time(flow, "start_ns")),
    }
}

fn direction(map: &Map<String, Value>) -> Direction {
    Direction {
        rate_bps: int(map, "rate_bps"),
        delay: time(map, "delay_ns"),
        queue: chosen(object(map, "queue")),
        loss: chosen(object(map, "loss")),
    }
}

fn change(map: &Map<String, Value>) -> Change {
    let way = text(map, "direction");
    Change {
        at: time(map, "at_ns"),
        forward: way != "backward",
        backward: way != "forward",
        up: map["state"].as_str().map(|state| state == "up"),
        rate_bps: map["rate_bps"].as_u64(),
        delay: map["delay_ns"].as_u64().map(Time::from_ns),
    }
}

fn tcp(map: &Map<String, Value>) -> Tcp {
    Tcp {
        sender: text(map, "sender"),
        segment_bytes: int(map, "segment_bytes"),
        header_bytes: int(map, "header_bytes"),
        ack_bytes: int(map, "ack_bytes"),
        initial_window: int(map, "initial_window"),
        initial_ssthresh: amount(map, "initial_ssthresh"),
        cc: chosen(object(map, "cc")),
        recovery: chosen(object(map, "recovery")),
        rto: chosen(object(map, "rto")),
        ack_view: text(map, "ack_view"),
        ack_duplicates: text(map, "ack_duplicates"),
        handshake: chosen(object(map, "handshake")),
        receiver: chosen(object(map, "receiver")),
        receive_window_bytes: map["receive_window_bytes"].as_u64(),
        window_unit: text(map, "window_unit"),
        framing: text(map, "framing"),
        ssthresh_floor: map["ssthresh_floor"].as_f64().expect("a number of the model"),
        initial_ssthresh_limit: text(map, "initial_ssthresh_limit"),
        ssthresh_rounding: text(map, "ssthresh_rounding"),
        zero_ack: text(map, "zero_ack"),
        timer_restart: text(map, "timer_restart"),
        timer_backoff: text(map, "timer_backoff"),
        send_delay: time(map, "send_delay_ns"),
        flight: text(map, "flight"),
        source: chosen(object(map, "source")),
        writes: text(map, "writes"),
        nagle: map["nagle"] == true,
        idle_restart: text(map, "idle_restart"),
        unused_window: text(map, "unused_window"),
    }
}

/// Segments or bytes; none where there is no limit.
fn amount(map: &Map<String, Value>, key: &str) -> Option<Amount> {
    let bytes = map.get(&format!("{key}_bytes")).and_then(Value::as_u64).map(Amount::Bytes);
    bytes.or_else(|| map.get(key).and_then(Value::as_f64).map(Amount::Segments))
}

fn record(map: &Map<String, Value>) -> Record {
    let on = |table: &str| text(map, table) == "changes";
    Record {
        cwnd: on("cwnd"),
        rtt: on("rtt"),
        queue: on("queue"),
        transmissions: on("transmissions"),
        packets: on("packets"),
        drops: on("drops"),
        marks: on("marks"),
        waiting: on("waiting"),
        routes: on("routes"),
        rto: on("rto"),
        events: on("events"),
    }
}

fn list<'m>(
    map: &'m Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'m Map<String, Value>> {
    map[key].as_array().into_iter().flatten().filter_map(Value::as_object)
}

fn names(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let names = map[key].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn object<'m>(map: &'m Map<String, Value>, key: &str) -> &'m Map<String, Value> {
    map[key].as_object().unwrap_or_else(|| panic!("`{key}` is no mapping of the model"))
}

fn text(map: &Map<String, Value>, key: &str) -> String {
    map[key].as_str().unwrap_or_else(|| panic!("`{key}` is no text of the model")).to_owned()
}

fn int(map: &Map<String, Value>, key: &str) -> u64 {
    map[key].as_u64().unwrap_or_else(|| panic!("`{key}` is no whole number of the model"))
}

fn time(map: &Map<String, Value>, key: &str) -> Time {
    Time::from_ns(int(map, key))
}
