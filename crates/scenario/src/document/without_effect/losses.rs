//! Losses, and packets that are held, where the packets that are chosen never come.

use super::super::problems::Fault;
use super::{Findings, Place, Routes, none};
use crate::model::{Direction, Flow, Scenario, Tcp, Transport};
use crate::transfer::Transfer;
use ackclock_net::source::BULK_NAME;
use ackclock_tcp::Numbering;
use ackclock_tcp::connection::numbering;
use ackclock_units::param::{Chosen, Value as Setting};

/// Kinds of packets, as scripts name them.
const KINDS: [&str; 3] = ["data", "retransmissions", "acks"];

pub(super) fn check(scenario: &Scenario, routes: &Routes<'_>, findings: &mut Findings<'_, '_>) {
    let mut crossing = None;
    for (index, link) in scenario.links.iter().enumerate() {
        let sides = [&link.forward, &link.backward];
        let sides = &sides[..if link.half_duplex { 1 } else { 2 }];
        for (side, direction) in sides.iter().enumerate().filter(|(_, way)| chooses(way)) {
            let crossing = crossing.get_or_insert_with(|| Crossing::new(routes));
            let place = (index, side);
            Side { place, direction, flows: crossing.flows(scenario, place) }.check(findings);
        }
    }
}

/// Whether a direction treats some packets differently from others.
fn chooses(direction: &Direction) -> bool {
    let loss = &direction.loss;
    let some = loss.find("applies_to").is_some_and(|to| *to != Setting::Word("all".into()));
    some || direction.jitter.kind == "script" || ["script", "segments"].contains(&&*loss.kind)
}

/// The flows whose data, and whose ACKs, cross the directions of each link.
type Flows = Vec<[[Vec<usize>; 2]; 2]>;

/// The same; none where that is not known.
struct Crossing(Option<Flows>);

impl Crossing {
    fn new(routes: &Routes<'_>) -> Self {
        Self(routes.are_known().then(|| {
            let mut all = Flows::new();
            all.resize_with(routes.scenario.links.len(), Default::default);
            for (flow, way) in (0..routes.scenario.flows.len()).flat_map(|f| [(f, 0), (f, 1)]) {
                for (link, side) in routes.of(flow, way) {
                    all[link][side][way].push(flow);
                }
            }
            all
        }))
    }

    /// The flows whose data, and whose ACKs, may cross here.
    fn flows<'s>(&self, scenario: &'s Scenario, place: Place) -> [Vec<&'s Flow>; 2] {
        match &self.0 {
            None => [0, 1].map(|_| scenario.flows.iter().collect()),
            Some(all) => [0, 1].map(|way| {
                let here = all[place.0][place.1][way].iter();
                here.map(|flow| &scenario.flows[*flow]).collect()
            }),
        }
    }
}

/// A direction of a link, and the flows whose data, and whose ACKs, may cross it.
struct Side<'s> {
    place: Place,
    direction: &'s Direction,
    flows: [Vec<&'s Flow>; 2],
}

impl Side<'_> {
    fn check(&self, findings: &mut Findings<'_, '_>) {
        let Direction { loss, jitter, .. } = self.direction;
        match loss.kind.as_str() {
            "script" => self.script(loss, ["loss", "drop"], findings),
            "segments" => self.segments(loss, findings),
            _ => self.kinds(loss, findings),
        }
        if jitter.kind == "script" {
            self.script(jitter, ["jitter", "hold"], findings);
        }
    }

    /// Whether packets of this kind come, of all flows or of one.
    fn comes(&self, kind: &str, of: Option<&str>) -> bool {
        let mut flows = self.flows[usize::from(kind == "acks")].iter();
        flows.any(|flow| {
            let is_sent = kind == "data" || matches!(flow.transport, Transport::Tcp(_));
            is_sent && of.is_none_or(|id| flow.id == id)
        })
    }

    /// Rows of a script.
    fn script(&self, chosen: &Chosen, keys: [&str; 2], findings: &mut Findings<'_, '_>) {
        let written = findings.document.of_side(self.place, &chosen.kind, keys);
        let Some((path, value)) = written else { return };
        for (index, row) in chosen.rows(keys[1]).iter().enumerate() {
            let flow = row.optional_word("flow");
            let named = KINDS.iter().filter(|kind| !row.optional_list(kind).is_empty());
            let why = (!named.clone().any(|kind| self.comes(kind, flow))).then(|| {
                let packets: Vec<&str> = named.map(|kind| shown(kind)).collect();
                let of = flow.map(|flow| format!(" of `{flow}`")).unwrap_or_default();
                never(keys[1], &format!("{}{of}", packets.join(" or ")))
            });
            let value = value.get(index).cloned().unwrap_or_default();
            findings.note((path.index(index), value), why);
        }
    }

    /// Losses of data, or of ACKs, alone.
    fn kinds(&self, loss: &Chosen, findings: &mut Findings<'_, '_>) {
        let Some(Setting::Word(kind)) = loss.find("applies_to") else { return };
        let keys = ["loss", "applies_to"];
        let written = findings.document.of_side(self.place, &loss.kind, keys);
        if let Some(written) = written.filter(|_| kind != "all") {
            let why = (!self.comes(kind, None)).then(|| never(&loss.kind, shown(kind)));
            findings.note(written, why);
        }
    }

    /// Segments by their numbers.
    fn segments(&self, loss: &Chosen, findings: &mut Findings<'_, '_>) {
        let keys = ["loss", "numbers"];
        let written = findings.document.of_side(self.place, &loss.kind, keys);
        let Some((path, value)) = written else { return };
        for (index, number) in loss.list("numbers").iter().enumerate() {
            let begins = self.flows[0].iter().any(|flow| may_begin(flow, *number));
            let why = (!begins).then(|| {
                let segments = self.flows[0].first().and_then(|flow| segments_of(flow));
                let why = none("numbers", &format!("no segment begins at {number}"));
                segments.map_or(why.clone(), |segments| why.hint(segments))
            });
            let value = value.get(index).cloned().unwrap_or_default();
            findings.note((path.index(index), value), why);
        }
    }
}

fn shown(kind: &str) -> &str {
    if kind == "acks" { "ACKs" } else { kind }
}

fn never(key: &str, packets: &str) -> Fault {
    none(key, &format!("no {packets} cross this link in this direction"))
}

/// What a flow sends with any seed, if that is the same.
fn sent_bytes(flow: &Flow) -> Option<u64> {
    if let Transfer::Bytes(bytes) = flow.send { Some(bytes) } else { None }
}

/// Whether a segment, or a packet, of a flow may have this number.
fn may_begin(flow: &Flow, number: u64) -> bool {
    let Transport::Tcp(tcp) = &flow.transport else { return true };
    let whole = are_full(tcp);
    let is_multiple = !whole || number.is_multiple_of(tcp.segment_bytes);
    let is_sent = |of| sent_bytes(flow).is_none_or(|bytes| number < bytes.div_ceil(of)) || !whole;
    match numbering(&tcp.sender.kind) {
        Numbering::Packets => is_sent(tcp.segment_bytes),
        Numbering::Bytes => is_multiple && is_sent(1),
    }
}

/// Whether all segments but the last are full: not where an application writes piece by piece, or the window cuts.
fn are_full(tcp: &Tcp) -> bool {
    let cut = tcp.sender.find("framing").is_some_and(|how| *how == Setting::Word("fill".into()));
    tcp.source.kind == BULK_NAME && !cut
}

/// The numbers of the segments of a flow, in words.
fn segments_of(flow: &Flow) -> Option<String> {
    let Transport::Tcp(tcp) = &flow.transport else { return None };
    let id = &flow.id;
    let last = |of| sent_bytes(flow).map(|bytes| (bytes - 1) / of);
    Some(match numbering(&tcp.sender.kind) {
        Numbering::Packets => {
            let last = last(tcp.segment_bytes)?;
            format!("the packets of `{id}` have the numbers 0 to {last}")
        }
        Numbering::Bytes => {
            let most = last(1).map(|last| format!(", up to {last}")).unwrap_or_default();
            format!("those of `{id}` begin at multiples of {}{most}", tcp.segment_bytes)
        }
    })
}
