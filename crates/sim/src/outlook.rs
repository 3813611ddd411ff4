//! How long a run is going to be, guessed before it from rates, times and amounts of data.
//!
//! Every flow is taken to send as fast as the slowest link of its path lets it, or as its source
//! writes, and links that would carry more than they can are shared in proportion. Windows, losses
//! and queues make it less, as a rule: the guess is an upper bound, but for packets that are sent
//! again.

use crate::model::{Flow, Scenario, Transport};
use ackclock_net::source::write_sizes;
use ackclock_net::{Channel, Network};
use ackclock_tcp::connection::keeps_journal;
use ackclock_trace::{Keep, TABLES, direction, row_bytes};
use ackclock_units::Time;

/// What a run will come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outlook {
    /// Packets transmitted by links.
    pub packet_hops: f64,
    /// Bytes of the columns of all records, before they are compressed.
    pub record_bytes: f64,
}

/// Links on a path that nobody knows before the run.
const HOPS_OF_DYNAMIC_ROUTES: f64 = 3.0;

/// Rows of `queue` for each packet-hop. A packet that has to wait makes two; most wait at one link only.
const QUEUE_ROWS: f64 = 0.7;

/// Rows of `aqm` for each data packet at a queue that is not drop-tail: RED has two.
const AQM_ROWS: f64 = 2.0;

/// What one flow would do alone.
struct Load {
    channels: Vec<usize>,
    hops: f64,
    packets: f64,
    bytes: f64,
    acks: f64,
    /// Of senders that report their state.
    reported: bool,
}

/// Data packets and ACKs that each flow will send, as far as links have room for them.
pub(crate) fn packets_of_flows(scenario: &Scenario, network: &Network) -> Vec<[f64; 2]> {
    let loads = loads(scenario, network).into_iter();
    loads.map(|(load, part)| [part * load.packets, part * load.acks]).collect()
}

/// What each flow would do alone, and the part of it for which its links have room.
fn loads(scenario: &Scenario, network: &Network) -> Vec<(Load, f64)> {
    let end_s = scenario.stop.at_latest.as_secs();
    let rate = |channel: &Channel| {
        let link = &scenario.links[channel.link() as usize];
        let backward = channel.direction() == direction::BACKWARD;
        (if backward { &link.backward } else { &link.forward }).rate_bps as f64
    };
    let loads: Vec<Load> = scenario
        .flows
        .iter()
        .zip(&network.flows)
        .enumerate()
        .map(|(place, (model, flow))| {
            let [channels, _] = network.path_channels(place).unwrap_or_default();
            let rates = channels.iter().map(|channel| rate(&network.channels[*channel]));
            let slowest = rates.fold(f64::INFINITY, f64::min);
            let slowest = if slowest.is_finite() { slowest } else { slowest_link(scenario) };
            let hops =
                if channels.is_empty() { HOPS_OF_DYNAMIC_ROUTES } else { channels.len() as f64 };
            let life_s = scenario.stop.at_latest.since(flow.start).as_secs();
            let sent = model.send.bytes(scenario.seed, &model.id);
            load(model, sent, slowest, life_s, hops, channels)
        })
        .collect();
    let mut carried = vec![0.0; network.channels.len()];
    for load in &loads {
        load.channels.iter().for_each(|channel| carried[*channel] += load.bytes);
    }
    let share: Vec<f64> = network
        .channels
        .iter()
        .zip(&carried)
        .map(|(channel, bytes)| (rate(channel) * end_s / 8.0 / bytes).min(1.0))
        .collect();
    let part = |load: &Load| load.channels.iter().map(|at| share[*at]).fold(1.0, f64::min);
    loads.into_iter().map(|load| (part(&load), load)).map(|(part, load)| (load, part)).collect()
}

/// The outlook of a scenario with its compiled network.
pub(crate) fn outlook(scenario: &Scenario, network: &Network) -> Outlook {
    let end_s = scenario.stop.at_latest.as_secs();
    let loads = loads(scenario, network);
    let (mut hops, mut ends, mut acks, mut reports, mut managed) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let is_managed = |at: &&usize| network.channels[**at].is_managed();
    for (load, part) in &loads {
        hops += part * load.hops * (load.packets + load.acks);
        ends += part * 2.0 * (load.packets + load.acks);
        acks += part * load.acks;
        managed += part * load.packets * load.channels.iter().filter(is_managed).count() as f64;
        reports += if load.reported { part * load.acks } else { 0.0 };
    }
    let rows = |table: &str| match table {
        "transmissions" => hops,
        "packets" => ends,
        "queue" => QUEUE_ROWS * hops,
        "cwnd" | "rtt" | "rto" => acks,
        "tcp_info" | "window_rules" => reports,
        "aqm" => AQM_ROWS * managed,
        _ => 0.0,
    };
    let subjects = |table: &str| match table {
        "queue" => network.channels.len(),
        "aqm" => network.channels.iter().filter(|channel| channel.is_managed()).count(),
        _ => loads.len(),
    };
    let kept = |table: &str| match scenario.record.keep(table) {
        Keep::None => 0.0,
        Keep::All => rows(table),
        Keep::Last(interval) => {
            rows(table).min(intervals(end_s, interval) * subjects(table) as f64)
        }
        Keep::Extremes(interval) => {
            rows(table).min(3.0 * intervals(end_s, interval) * subjects(table) as f64)
        }
    };
    let bytes =
        TABLES.iter().zip(row_bytes()).map(|(table, bytes)| kept(table.name) * bytes as f64);
    Outlook { packet_hops: hops, record_bytes: bytes.sum() }
}

fn intervals(end_s: f64, interval: Time) -> f64 {
    end_s / interval.as_secs()
}

fn slowest_link(scenario: &Scenario) -> f64 {
    let rates = scenario.links.iter().map(|link| link.forward.rate_bps);
    rates.min().unwrap_or_default() as f64
}

/// What a flow sends that has the slowest link of its path for itself.
fn load(
    model: &Flow,
    sent: Option<u64>,
    rate_bps: f64,
    life_s: f64,
    hops: f64,
    channels: Vec<usize>,
) -> Load {
    let (payload, wire, source_bps, acks) = match &model.transport {
        Transport::Tcp(tcp) => {
            let payload = tcp.segment_bytes as f64;
            (payload, payload + tcp.header_bytes as f64, f64::INFINITY, 1.0)
        }
        Transport::Udp { source, .. } => {
            let sizes = write_sizes(source);
            let payload = sizes.iter().sum::<u64>() as f64 / sizes.len().max(1) as f64;
            let rate = source.optional_int("rate_bps").map_or(f64::INFINITY, |rate| rate as f64);
            (payload, payload, rate, 0.0)
        }
    };
    let most = rate_bps.min(source_bps) * life_s / 8.0 / wire;
    let packets = sent.map_or(most, |bytes| (bytes as f64 / payload).min(most));
    let reported = match &model.transport {
        Transport::Tcp(tcp) => keeps_journal(&tcp.sender.kind),
        Transport::Udp { .. } => false,
    };
    Load { channels, hops, packets, bytes: packets * wire, acks: acks * packets, reported }
}
