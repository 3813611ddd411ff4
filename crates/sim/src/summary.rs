//! The summary of a run: `summary.json`.
//!
//! Means are time averages for queues and windows, sample averages for round-trip times. A flow's
//! goodput counts new bytes that arrived in order, from the flow's start to its last new byte, or to
//! the end of the run where it did not finish. After a warm-up all this is of the time since its end, but for moments and
//! for what the scenario says.

use crate::figures::{Figure, group};
use crate::model::{Direction, Flow as FlowModel, Scenario, Tcp, Transport};
use crate::spaced;
use crate::transfer::Transfer;
use ackclock_net::{
    Channel, ChannelCounts, Counters, Drops, Endpoint, Flow, FlowCounts, Mark, Network, Stopped,
    TcpFlow, UdpFlow,
};
use ackclock_tcp::{Ends, SenderStats};
use ackclock_trace::{direction, drop_reason};
use ackclock_units::Time;
use std::cell::RefCell;

/// What is known of the whole run.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    /// End of the run.
    pub end: Time,
    /// Fingerprint.
    pub digest: u64,
    /// Counts over the whole network.
    pub counters: Counters,
    /// Packets transmitted by links.
    pub packet_hops: u64,
    /// All flows are complete and the scenario ends there.
    pub complete: bool,
    /// No event was left.
    pub idle: bool,
    /// More packets were in the network than the scenario allows.
    pub crowded: bool,
    /// The run came to its end by itself.
    pub done: bool,
    /// The run needed more events than it may.
    pub cut_off: bool,
    /// The run ended before because its records were full.
    pub full: bool,
}

/// The summary of a closed run; of the time since the mark, if there is one.
pub fn summarise<'a>(
    scenario: &'a Scenario,
    network: &'a Network,
    mark: Option<&'a Mark>,
    totals: Totals,
) -> Figure<'a> {
    let run = Closed { scenario, network, mark, totals };
    let (mut flows, mut links) = (Vec::new(), Vec::new());
    let whole = run.visit(&mut |name, flow| flows.push((name, flow)), &mut |name, ways| {
        links.push((name, ways));
    });
    run.head(whole, Figure::Group(flows), Figure::Group(links))
}

/// The same with the numbers of flows and links in their places. Their figures go to `rows` as text, piece by
/// piece: each on a line as in `summary.json` (`    "F1": {...},`), first all flows, then all links, the last of
/// both without the comma; an empty line where there are none. There may be more of them than fit into memory as figures.
pub fn summarise_in_rows<'a>(
    scenario: &'a Scenario,
    network: &'a Network,
    mark: Option<&'a Mark>,
    totals: Totals,
    rows: &mut dyn FnMut(&[u8]),
) -> Figure<'a> {
    let run = Closed { scenario, network, mark, totals };
    let pieces = RefCell::new(Pieces { text: Vec::new(), count: 0, rows });
    let mut flows = None;
    let whole =
        run.visit(&mut |name, flow| pieces.borrow_mut().add(name, &flow), &mut |name, ways| {
            let mut pieces = pieces.borrow_mut();
            if flows.is_none() {
                flows = Some(pieces.end());
            }
            pieces.add(name, &ways);
        });
    let mut pieces = pieces.into_inner();
    let flows = flows.unwrap_or_else(|| pieces.end());
    let links = pieces.end();
    pieces.give();
    run.head(whole, flows.into(), links.into())
}

/// Rows on their way out.
struct Pieces<'r> {
    text: Vec<u8>,
    count: u64,
    rows: &'r mut dyn FnMut(&[u8]),
}

impl Pieces<'_> {
    /// Bytes that go out together.
    const PIECE: usize = 1 << 20;

    fn add(&mut self, name: &str, figure: &Figure<'_>) {
        self.text.extend_from_slice(if self.count > 0 { b",\n    " } else { b"    " });
        spaced::append_key(&mut self.text, name);
        figure.write_spaced(&mut self.text);
        self.count += 1;
        if self.text.len() >= Self::PIECE {
            self.give();
        }
    }

    /// Ends the last line; returns how many there were.
    fn end(&mut self) -> u64 {
        self.text.push(b'\n');
        std::mem::take(&mut self.count)
    }

    fn give(&mut self) {
        (self.rows)(&self.text);
        self.text.clear();
    }
}

/// A run that has ended.
struct Closed<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    mark: Option<&'a Mark>,
    totals: Totals,
}

/// What is known of all flows and links together.
struct Whole<'a> {
    goodputs: Vec<f64>,
    got: Option<Got>,
    all_finished: bool,
    retransmissions: u64,
    timeouts: u64,
    bytes_on_wire: u64,
    /// The direction that transmitted for the largest share of the run, and this share; the first of equals.
    busiest: Option<(f64, Figure<'a>)>,
}

impl<'a> Closed<'a> {
    /// Goes through all flows, then through all links, both in the order of the scenario.
    fn visit(
        &self,
        on_flow: &mut dyn FnMut(&'a str, Figure<'a>),
        on_link: &mut dyn FnMut(&'a str, Figure<'a>),
    ) -> Whole<'a> {
        let mut whole = Whole {
            goodputs: Vec::with_capacity(self.scenario.flows.len()),
            got: None,
            all_finished: true,
            retransmissions: 0,
            timeouts: 0,
            bytes_on_wire: 0,
            busiest: None,
        };
        for (index, model) in self.scenario.flows.iter().enumerate() {
            let (figure, got, finished) = self.flow(index, model);
            let count = |name| figure.get(name).count().unwrap_or(0);
            whole.retransmissions += count("retransmissions");
            whole.timeouts += count("timeouts");
            whole.bytes_on_wire += count("bytes_on_wire");
            if let Some(got) = got {
                whole.goodputs.push(got.rate());
                whole.got = Some(whole.got.map_or(got, |others| others.with(got)));
            }
            whole.all_finished &= finished;
            on_flow(&model.id, figure);
        }
        // Channels come in the order of links, both directions of one together.
        let mut earlier = self.mark.map_or(&[][..], |mark| &mark.channels).iter();
        for ways in self.network.channels.chunk_by(|one, next| one.link() == next.link()) {
            let link = &self.scenario.links[ways[0].link() as usize];
            let mut figure = group! {};
            for channel in ways {
                let name = direction::NAMES[channel.direction() as usize];
                let back = channel.direction() == direction::BACKWARD;
                let model = if back { &link.backward } else { &link.forward };
                let counts = ChannelCounts::of(channel);
                let counts = match earlier.next() {
                    Some(before) => counts.since(before),
                    None => counts,
                };
                let way = link_summary(channel, &counts, model, [self.from(), self.totals.end]);
                whole.consider(&link.id, name, &way);
                figure.add(name, way);
            }
            on_link(&link.id, figure);
        }
        whole
    }

    /// Where figures begin.
    fn from(&self) -> Time {
        self.mark.map_or(Time::ZERO, |mark| mark.at)
    }

    /// The figures of a flow, what it got unless it was done before the mark, and whether it is done.
    fn flow(&self, index: usize, model: &'a FlowModel) -> (Figure<'a>, Option<Got>, bool) {
        let Self { scenario, network, mark, totals: Totals { end, .. } } = *self;
        let flow = &network.flows[index];
        let counted = Counted::new(index, flow, mark);
        let (mut summary, got, finished) = match &flow.endpoint {
            Endpoint::Tcp(tcp) => tcp_flow(scenario, model, &counted, tcp, end),
            Endpoint::Stopped(Stopped { tcp, until }) => {
                tcp_flow(scenario, model, &counted, tcp, *until)
            }
            Endpoint::Udp(udp) => udp_flow(scenario, model, &counted, udp, end),
        };
        summary.add("packets_on_wire", counted.counts.wire.packets);
        summary.add("bytes_on_wire", counted.counts.wire.bytes);
        summary.add("stopped_s", secs(flow.stopped));
        let to_end = got.and_then(|_| to_end(&summary, counted.from, end));
        summary.add("goodput_to_end_bytes_per_s", to_end);
        let paths = network.paths(index);
        let link = |channel: &&Channel| &*scenario.links[channel.link() as usize].id;
        let there = paths.as_ref().map(|[there, _]| there.iter().map(link).collect::<Figure>());
        summary.add("path", there);
        if let Transport::Tcp(tcp) = &model.transport {
            summary.add("path_rtt_s", paths.map(|paths| path_rtt(scenario, &paths, tcp)));
        }
        let mut drops = counted.counts.drops;
        // Shortcuts handle drops in another order.
        drops.sort_unstable_by_key(|drops| (drops.link, drops.direction, drops.reason));
        let drops: Figure = drops.iter().map(|drops| drops_of(scenario, drops)).collect();
        summary.add("drops", drops);
        (summary, got, finished || model.send == Transfer::Unlimited || flow.stopped.is_some())
    }

    fn head(&self, whole: Whole<'a>, flows: Figure<'a>, links: Figure<'a>) -> Figure<'a> {
        let Self { scenario, totals, .. } = *self;
        let stop_reason = match (totals.done, totals.complete) {
            (false, _) if totals.full => "record-limit",
            (false, _) if totals.cut_off => "too-many-events",
            (false, _) => "interrupted",
            _ if totals.crowded => "too-many-packets",
            (true, true) => "flows-complete",
            // Flows are unfinished and nothing is left that could go on with them.
            (true, false) if totals.idle && scenario.stop.flows_complete => "stalled",
            (true, false) => "time",
        };
        let counters = &totals.counters;
        let dropped = by_reason(|code| counters.dropped[code as usize]);
        let in_all = |counters: &Counters| counters.dropped.iter().sum::<u64>();
        let dropped_before = self.mark.map_or(0, |mark| in_all(&mark.counters));
        let mut head = group! {
            "ackclock": env!("CARGO_PKG_VERSION"),
            "scenario": &scenario.name,
            "seed": scenario.seed,
            "digest": format!("{:016x}", totals.digest),
            "finished": totals.done && !totals.crowded && whole.all_finished,
            "stop_reason": stop_reason,
            "ties": &scenario.ties.kind,
            "end_s": totals.end.as_secs(),
            "events": counters.events,
            "packet_hops": totals.packet_hops,
            "packets_created": counters.created,
            "packets_duplicated": counters.duplicated,
            "packets_delivered": counters.delivered,
            "packets_dropped": Figure::Group(dropped),
            // What all flows together got, and what was lost anywhere.
            "totals": group! {
                "goodput_bps": whole.got.map_or(0.0, Got::rate),
                "retransmissions": whole.retransmissions,
                "timeouts": whole.timeouts,
                "bytes_on_wire": whole.bytes_on_wire,
                "packets_dropped": in_all(counters) - dropped_before,
            },
            "bottleneck": whole.busiest.map(|(_, figure)| figure),
            "flows": flows,
            "links": links,
            "fairness_jain": jain(&whole.goodputs),
        };
        if let Some(warmup) = scenario.warmup {
            head.add("warmup_s", warmup.as_secs());
        }
        head
    }
}

impl<'a> Whole<'a> {
    /// Takes a direction of a link for the busiest if it is.
    fn consider(&mut self, link: &'a str, direction: &'a str, way: &Figure<'a>) {
        let used = if let Figure::Real(share) = way.get("utilization") { *share } else { 0.0 };
        if self.busiest.as_ref().is_none_or(|(most, _)| used > *most) {
            let figure = group! {
                "link": link,
                "direction": direction,
                "utilization": used,
                "queue_packets_mean": way.get("queue_packets").get("mean").clone(),
                "queueing_delay_s_mean": way.get("queueing_delay_s").get("mean").clone(),
            };
            self.busiest = Some((used, figure));
        }
    }
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): 1 for equal shares, 1/n for one that takes all.
/// Nothing where nobody got anything.
fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    // Rounding must not put it above 1.
    (squares > 0.0).then(|| (sum * sum / (shares.len() as f64 * squares)).min(1.0))
}

/// Seconds that a full segment and its ACK take where nothing waits: propagation and transmission, by
/// what the links are like at the start.
fn path_rtt(scenario: &Scenario, paths: &[Vec<&Channel>; 2], tcp: &Tcp) -> f64 {
    let sizes = [tcp.segment_bytes + tcp.header_bytes, tcp.ack_bytes];
    let hops = paths.iter().zip(sizes).flat_map(|(path, size)| path.iter().map(move |c| (c, size)));
    hops.map(|(channel, size)| {
        let link = &scenario.links[channel.link() as usize];
        let way =
            if channel.direction() == direction::BACKWARD { &link.backward } else { &link.forward };
        way.delay.as_secs() + size as f64 * 8.0 / way.rate_bps as f64
    })
    .sum()
}

fn secs(time: Option<Time>) -> Option<f64> {
    time.map(Time::as_secs)
}

fn secs_since(start: Time, end: Option<Time>) -> Option<f64> {
    end.map(|end| end.since(start).as_secs())
}

/// A flow, and what is counted of it since its figures begin.
struct Counted<'a> {
    flow: &'a Flow,
    counts: FlowCounts,
    from: Time,
    mark: Option<Time>,
}

impl<'a> Counted<'a> {
    fn new(index: usize, flow: &'a Flow, mark: Option<&Mark>) -> Self {
        let counts = FlowCounts::of(flow);
        let (counts, from) = match mark {
            Some(mark) => (counts.since(&mark.flows[index]), flow.start.max(mark.at)),
            None => (counts, flow.start),
        };
        Self { flow, counts, from, mark: mark.map(|mark| mark.at) }
    }

    /// What it got until it was done, or until the end; nothing if it was done before the mark, or all ended with it. Who
    /// has not begun shares nothing yet; who has begun and gets nothing counts.
    fn got(&self, done: Option<Time>, end: Time) -> Option<Got> {
        let last = done.or(self.flow.stopped).unwrap_or(end);
        let (bytes, until) = (self.counts.bytes_delivered, done.unwrap_or(end));
        let has_time = self.flow.start < end && self.mark.is_none_or(|at| last > at);
        has_time.then_some(Got { bytes, from: self.from, until })
    }
}

/// New bytes that a flow, or several, got between two moments.
#[derive(Clone, Copy)]
struct Got {
    bytes: u64,
    from: Time,
    until: Time,
}

impl Got {
    /// Bits per second; zero if there is no time between the moments.
    fn rate(self) -> f64 {
        let span = self.until.since(self.from).as_secs();
        if span > 0.0 { self.bytes as f64 * 8.0 / span } else { 0.0 }
    }

    /// What both got, from the first moment of either to the last one.
    fn with(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            from: self.from.min(other.from),
            until: self.until.max(other.until),
        }
    }
}

/// Bytes that a flow delivered per second from its start to the end of the run, if there was time.
fn to_end(summary: &Figure<'_>, start: Time, end: Time) -> Option<f64> {
    let span = end.as_secs() - start.as_secs();
    let delivered = summary.get("bytes_delivered").count()?;
    (span > 0.0).then(|| delivered as f64 / span)
}

/// Data packets of a flow dropped at one place; a router without a route is not a link.
fn drops_of<'a>(scenario: &'a Scenario, drops: &Drops) -> Figure<'a> {
    let word =
        |names: &[&'static str], code: i32| usize::try_from(code).ok().map(|code| names[code]);
    group! {
        "link": usize::try_from(drops.link).ok().map(|link| &scenario.links[link].id),
        "direction": word(direction::NAMES, drops.direction),
        "reason": word(drop_reason::NAMES, drops.reason),
        "packets": drops.packets,
    }
}

fn ends<'a>(scenario: &'a Scenario, model: &FlowModel) -> (&'a str, &'a str) {
    (&scenario.hosts[model.from], &scenario.hosts[model.to])
}

fn tcp_flow<'a>(
    scenario: &'a Scenario,
    model: &'a FlowModel,
    counted: &Counted<'_>,
    tcp: &TcpFlow,
    end: Time,
) -> (Figure<'a>, Option<Got>, bool) {
    let Transport::Tcp(settings) = &model.transport else { unreachable!("a flow of another kind") };
    let (from, to) = ends(scenario, model);
    let Counted { flow, counts, from: begun, .. } = counted;
    let stats = tcp.connection.stats();
    let window = tcp.connection.window();
    let bytes_per_unit = f64::from(tcp.connection.segment_bytes()) / window.segment;
    let until = tcp.finish_ack.or(flow.stopped).unwrap_or(end);
    let got = counted.got(tcp.finish, end);
    let offered = model.send.bytes(scenario.seed, &model.id);
    let summary = group! {
        "transport": "tcp",
        "cc": &settings.cc.kind,
        "label": settings.label(),
        "from": from,
        "to": to,
        "start_s": flow.start.as_secs(),
        "finish_s": secs(tcp.finish),
        "completion_s": secs_since(flow.start, tcp.finish),
        "finish_ack_s": secs(tcp.finish_ack),
        "segment_bytes": tcp.connection.segment_bytes(),
        "source": &settings.source.kind,
        "bytes_offered": offered,
        "bytes_written": tcp.writer.as_ref().map_or(offered, |w| Some(w.written())),
        "packets_offered": tcp.connection.packets(),
        "bytes_delivered": counts.bytes_delivered,
        "goodput_bps": got.map(Got::rate),
        "segments_sent": counts.sent,
        "bytes_sent": counts.bytes_sent,
        "retransmissions": counts.retransmissions,
        "spurious_retransmissions": counts.spurious,
        "timeouts": counts.timeouts,
        "fast_retransmits": counts.fast_retransmits,
        "ecn_reductions": counts.ecn_reductions,
        "segments_dropped": counts.dropped,
        "duplicates_received": counts.duplicates,
        "reordered_received": counts.reordered,
        "base_rtt_s": (stats.rtt_samples > 0).then(|| stats.base_rtt().as_secs()),
        "rtt_s": (counts.rtt_samples > 0).then(|| group! {
            "min": stats.rtt_min.as_secs(),
            "mean": mean_rtt(stats, counts),
            "max": stats.rtt_max.as_secs(),
        }),
        "cwnd_bytes": stats.cwnd(*begun, until).map(|(mean, max)| group! {
            "mean": mean * bytes_per_unit,
            "max": max * bytes_per_unit,
        }),
    };
    (summary, got, tcp.finish.is_some())
}

fn udp_flow<'a>(
    scenario: &'a Scenario,
    model: &'a FlowModel,
    counted: &Counted<'_>,
    udp: &UdpFlow,
    end: Time,
) -> (Figure<'a>, Option<Got>, bool) {
    let Transport::Udp { source, .. } = &model.transport else {
        unreachable!("a flow of another kind")
    };
    let (from, to) = ends(scenario, model);
    let (Counted { flow, counts, .. }, finished) = (counted, udp.complete);
    let got = counted.got(udp.last_arrival.filter(|_| finished), end);
    let summary = group! {
        "transport": "udp",
        "cc": Figure::None,
        "label": format!("UDP {}", source.kind),
        "from": from,
        "to": to,
        "start_s": flow.start.as_secs(),
        "finish_s": secs(udp.last_arrival.filter(|_| finished)),
        "completion_s": secs_since(flow.start, udp.last_arrival.filter(|_| finished)),
        "source": &source.kind,
        "bytes_offered": model.send.bytes(scenario.seed, &model.id),
        "bytes_written": udp.writer.written(),
        "bytes_delivered": counts.bytes_delivered,
        "marks_received": counts.marked,
        "goodput_bps": got.map(Got::rate),
        "segments_sent": counts.sent,
        "bytes_sent": counts.bytes_sent,
        "segments_dropped": counts.dropped,
    };
    (summary, got, finished)
}

/// Counts of dropped packets by the word of the reason.
fn by_reason<'a>(count: impl Fn(i32) -> u64) -> Vec<(&'a str, Figure<'a>)> {
    let words = (0..).zip(drop_reason::NAMES);
    words.map(|(code, word)| (*word, count(code).into())).collect()
}

/// Seconds; never beyond the samples, whatever the division makes of equal ones.
fn mean_rtt(stats: &SenderStats, counts: &FlowCounts) -> f64 {
    let mean = counts.rtt_sum_ns as f64 / counts.rtt_samples as f64 / 1e9;
    mean.clamp(stats.rtt_min.as_secs(), stats.rtt_max.as_secs())
}

/// The figures of a direction of a link, of which this was counted between two moments.
fn link_summary<'a>(
    channel: &Channel,
    counts: &ChannelCounts,
    model: &Direction,
    [from, end]: [Time; 2],
) -> Figure<'a> {
    let stats = channel.stats();
    let span = end.since(from).as_ns() as f64;
    let over_time = |area: u128| if span > 0.0 { area as f64 / span } else { 0.0 };
    // Each transmission is cut to whole nanoseconds, or rounded to them: at their exact lengths all of them can be longer
    // than the span, by a nanosecond each. Of opportunities to transmit, those count that packets have used which are transmitted to the end.
    let busy = match channel.offered_bytes(end) {
        Some(until) => {
            let offered = until - channel.offered_bytes(from).unwrap_or_default();
            if offered > 0.0 { counts.bytes as f64 / offered * span } else { 0.0 }
        }
        None => {
            let (busy, packets) = (counts.busy_ns, counts.packets);
            debug_assert!(busy <= span * (1.0 + 1e-9) + (packets + 2) as f64, "{busy} of {span}");
            busy
        }
    };
    let entered = counts.entered as f64;
    let mean_wait = if entered > 0.0 { counts.wait_ns as f64 / entered / 1e9 } else { 0.0 };
    let longest = channel.longest_wait(end).as_secs();
    let mut drops = by_reason(|code| counts.dropped[code as usize]);
    let dropped: u64 = drops.iter().filter_map(|(_, count)| count.count()).sum();
    drops.retain(|(word, _)| *word != drop_reason::NAMES[drop_reason::NO_ROUTE as usize]);
    group! {
        "utilization": if span > 0.0 { (busy / span).min(1.0) } else { 0.0 },
        "bytes_carried": counts.bytes,
        "packets_carried": counts.packets,
        "packets_dropped": dropped,
        "queue_limit": group! {
            "packets": model.queue.optional_int("limit_packets"),
            "bytes": model.queue.optional_int("limit_bytes"),
        },
        "drops": drops,
        "marks": counts.marked,
        "corrupted": counts.corrupted,
        "duplicated": counts.duplicated,
        "queue_packets": group! { "mean": over_time(counts.queue_ns), "max": stats.packets_max },
        "queue_bytes": group! { "mean": over_time(counts.queue_byte_ns), "max": stats.bytes_max },
        "queueing_delay_s": group! { "mean": mean_wait.min(longest), "max": longest },
    }
}
