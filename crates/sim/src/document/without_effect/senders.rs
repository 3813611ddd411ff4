//! Settings of a sender that its congestion control, or another setting, leaves without effect.

use super::super::block::Block;
use super::super::flows::TransportPart;
use super::super::problems::Fault;
use super::super::written::Values;
use super::super::{families, scalar};
use super::{Findings, none};
use crate::preset;
use crate::profile;
use crate::tables::TCP;
use ackclock_tcp::cc::{Cc, CongestionControl};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

fn tcp_of(transport: &TransportPart) -> Option<&Arc<Block>> {
    match transport {
        TransportPart::Tcp(tcp) => Some(tcp),
        TransportPart::Udp(_) => None,
    }
}

pub(super) fn check(values: &Values, findings: &mut Findings<'_, '_>) {
    let profile = values.rest.word("profile").and_then(profile::document);
    let profile = profile.and_then(|profile| profile.get("tcp"));
    // Most flows are alike.
    let mut known = HashMap::new();
    for tcp in values.flows.iter().filter_map(tcp_of) {
        known.entry(Arc::as_ptr(tcp)).or_insert_with(|| idle(tcp, profile));
    }
    let mut keys: Vec<&str> = known.values().flatten().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return;
    }
    for (flow, transport) in values.flows.iter().enumerate() {
        let Some(tcp) = tcp_of(transport) else { continue };
        let idle = &known[&Arc::as_ptr(tcp)];
        for key in keys.iter().filter(|key| tcp.get(key).is_some()) {
            if let Some(written) = findings.document.of_flow(flow, &["tcp", key]) {
                let why = idle.iter().find(|(idle, _)| idle == key);
                findings.note(written, why.map(|(_, why)| why.clone()));
            }
        }
    }
}

/// The keys of a `tcp` block that have no effect in it, as far as they do not say what they would be anyway.
fn idle(tcp: &Block, profile: Option<&Value>) -> Vec<(&'static str, Fault)> {
    let chosen = tcp.block("cc").expect("a checked flow has a congestion control").chosen();
    let cc = Cc::new(&chosen);
    let kind = &chosen.kind;
    let by_window = tcp.word("pacing") == Some("window");
    let unlimited = tcp.int("receive_window").is_none();
    let leave = |why: String, key| none(key, &why).hint("leave it out");
    let all = [
        (
            "pacing",
            cc.pacing_rate().is_some(),
            leave(format!("`{kind}` sets the pacing rate itself"), "pacing"),
        ),
        (
            "pacing_burst",
            // What takes rate samples may pace, too.
            !by_window && !cc.needs().rate,
            none("pacing_burst", "nothing is paced")
                .hint("write `pacing: window`, or leave it out"),
        ),
        (
            "reduce",
            cc.owns_window(),
            leave(format!("`{kind}` sets the window itself, also during recovery"), "reduce"),
        ),
        (
            "initial_ssthresh",
            // The pace depends on the threshold.
            !cc.uses_ssthresh() && !by_window,
            leave(format!("`{kind}` has no slow start up to a threshold"), "initial_ssthresh"),
        ),
        (
            "initial_ssthresh_limit",
            unlimited,
            none("initial_ssthresh_limit", "the receive window has no limit")
                .hint("give `receive_window`, or leave it out"),
        ),
    ];
    let idle = all.into_iter().filter(|(key, idle, _)| *idle && !is_usual(tcp, key, profile));
    idle.map(|(key, _, why)| (key, why)).collect()
}

/// Whether a value is what it would be if nobody had written it, or is not there at all.
fn is_usual(tcp: &Block, key: &str, profile: Option<&Value>) -> bool {
    let family = families::family(tcp.word("sender").expect("a checked flow has a family"));
    let mut params = TCP.iter().chain(family.params);
    let Some(param) = params.find(|param| param.name == key) else { return true };
    let below = [profile.and_then(|tcp| tcp.get(key)), preset::base(family.name).get(key)];
    let below = below.into_iter().flatten().filter_map(|value| scalar::read(param, value).ok());
    below.chain(scalar::default(param)).any(|usual| tcp.get(key) == Some(&usual))
}
