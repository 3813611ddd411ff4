//! Marks: queues that mark where nothing can be marked, and flows whose packets no queue marks.

use super::super::problems::Fault;
use super::super::scalar;
use super::{Findings, Place, Routes, none};
use crate::model::{Flow, Scenario, Transport};
use ackclock_net::queue::{ENTRIES, Queue};
use ackclock_units::param::Value as Setting;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Places with queues that can mark, in order, and the parameters by which they do.
type Marking = Vec<(Place, Vec<&'static str>)>;

pub(super) fn check(scenario: &Scenario, routes: &Routes<'_>, findings: &mut Findings<'_, '_>) {
    let marking = marking(scenario);
    let capable: Vec<usize> =
        (0..scenario.flows.len()).filter(|flow| is_capable(&scenario.flows[*flow])).collect();
    // With none of one of the two, ways do not matter.
    let by_way = routes.are_known() && !marking.is_empty() && !capable.is_empty();
    let is_marked = |flow: usize| match by_way {
        true => routes
            .of(flow, 0)
            .any(|place| marking.binary_search_by_key(&place, |each| each.0).is_ok()),
        false => !marking.is_empty(),
    };
    let marked: Vec<bool> = capable.iter().map(|flow| is_marked(*flow)).collect();
    // Mostly all is well, and nobody needs to know where it is written.
    if marked.contains(&false) {
        for (&flow, &is_marked) in capable.iter().zip(&marked) {
            let transport = match scenario.flows[flow].transport {
                Transport::Tcp(_) => "tcp",
                Transport::Udp { .. } => "udp",
            };
            if let Some(written) = findings.document.of_flow(flow, &[transport, "ecn"]) {
                findings.note(written, (!is_marked).then(unmarked));
            }
        }
    }
    let mut crossed = BTreeSet::new();
    for &flow in capable.iter().filter(|_| by_way) {
        // Not `collect` or `extend`, which bring a sort along that a page would have to load.
        for place in routes.of(flow, 0) {
            crossed.insert(place);
        }
    }
    let is_crossed =
        |place: &Place| if by_way { crossed.contains(place) } else { !capable.is_empty() };
    if marking.iter().all(|(place, _)| is_crossed(place)) {
        return;
    }
    for (place, params) in marking {
        let link = &scenario.links[place.0];
        let kind = &[&link.forward, &link.backward][place.1].queue.kind;
        for key in params {
            let written = findings.document.of_side(place, kind, ["queue", key]);
            if let Some(written) = written.filter(|(_, value)| !is_usual(kind, key, value)) {
                findings.note(written, (!is_crossed(&place)).then(|| uncrossed(key)));
            }
        }
    }
}

fn unmarked() -> Fault {
    // Not quite without effect: a sender that has reduced its window says so, and is acknowledged at once.
    Fault::new("nothing is marked: no queue on the path of the data marks packets")
        .hint("write `ecn: true` for a queue, for example `queue: {kind: red, ecn: true}`")
}

fn uncrossed(key: &str) -> Fault {
    none(key, "no ECN-capable packets cross this queue")
        .hint("write `ecn: true` for a flow that does, or leave it out")
}

fn is_capable(flow: &Flow) -> bool {
    match &flow.transport {
        Transport::Tcp(tcp) => tcp.sender.find("ecn") == Some(&Setting::Flag(true)),
        Transport::Udp { ecn, .. } => *ecn,
    }
}

fn marking(scenario: &Scenario) -> Marking {
    let mut marking = Marking::new();
    let mut last: Option<(&Arc<_>, [_; 2])> = None;
    for (index, link) in scenario.links.iter().enumerate() {
        // Most links are as the one before.
        let known = last.take().filter(|(nature, _)| Arc::ptr_eq(nature, &link.nature));
        let (_, both) = last.insert(known.unwrap_or_else(|| {
            let sides = [&link.forward, &link.backward];
            (&link.nature, sides.map(|side| Queue::marks(&side.queue)))
        }));
        let sides = if link.half_duplex { 1 } else { 2 };
        for (side, params) in both.iter().enumerate().take(sides) {
            if let Some(params) = params {
                marking.push(((index, side), params.clone()));
            }
        }
    }
    marking
}

/// Whether a queue of this kind has this value by default.
fn is_usual(kind: &str, key: &str, value: &Value) -> bool {
    let entry = ENTRIES.iter().find(|entry| entry.name == kind);
    let param = entry.and_then(|entry| entry.params.iter().find(|param| param.name == key));
    param.is_some_and(|param| scalar::read(param, value).ok() == scalar::default(param))
}
