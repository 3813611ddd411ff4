//! Settings of a sender that its congestion control, or another setting, leaves without effect.

use super::super::block::{Block, Setting};
use super::super::flows::TransportPart;
use super::super::problems::Fault;
use super::super::scalar;
use super::super::written::Values;
use super::{Findings, none};
use crate::preset;
use crate::profile;
use ackclock_tcp::cc::{Cc, CongestionControl};
use ackclock_tcp::classic;
use ackclock_units::param::Param;
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
    if known.values().all(Vec::is_empty) {
        return;
    }
    for (flow, transport) in values.flows.iter().enumerate() {
        let Some(tcp) = tcp_of(transport) else { continue };
        let idle = &known[&Arc::as_ptr(tcp)];
        for keys in KEYS.iter().filter(|keys| find(tcp, keys).is_some()) {
            if let Some(written) = findings.document.of_flow(flow, &[&["tcp"], *keys].concat()) {
                let why = idle.iter().find(|(idle, _)| idle == keys);
                findings.note(written, why.map(|(_, why)| why.clone()));
            }
        }
    }
}

/// Keys that lead from a `tcp` block to a value.
type Keys = &'static [&'static str];

/// Those that may have no effect.
const KEYS: [Keys; 8] = [
    &["pacing"],
    &["pacing_burst"],
    &["reduce"],
    &["initial_ssthresh"],
    &["initial_ssthresh_limit"],
    &["rto", "sampling"],
    &["rto", "timestamp_tick"],
    &["rto", "backoff_ends"],
];

fn find<'b>(tcp: &'b Block, keys: &[&str]) -> Option<(&'static Param, &'b Setting)> {
    let (last, outer) = keys.split_last()?;
    outer.iter().try_fold(tcp, |block, key| block.block(key))?.find(last)
}

/// The keys of a `tcp` block that have no effect in it, as far as they do not say what they would be anyway.
fn idle(tcp: &Block, profile: Option<&Value>) -> Vec<(Keys, Fault)> {
    let chosen = tcp.block("cc").expect("a checked flow has a congestion control").chosen();
    let cc = Cc::new(&chosen);
    let kind = &chosen.kind;
    let sender = tcp.word("sender").expect("a checked flow has a family");
    let by_window = tcp.word("pacing") == Some("window");
    let owns_samples = sender != classic::ENTRY.name;
    let samples = || format!("the {sender} sender has its own rules for round-trip samples");
    // In the order of `KEYS`: why it has no effect, where it has none.
    let idle: [Option<String>; KEYS.len()] = [
        cc.pacing_rate().map(|_| format!("`{kind}` sets the pacing rate itself")),
        // What takes rate samples may pace, too.
        (!by_window && !cc.needs().rate).then(|| "nothing is paced".into()),
        cc.owns_window().then(|| format!("`{kind}` sets the window itself, also during recovery")),
        // The pace depends on the threshold.
        (!cc.uses_ssthresh() && !by_window)
            .then(|| format!("`{kind}` has no slow start up to a threshold")),
        tcp.int("receive_window").is_none().then(|| "the receive window has no limit".into()),
        owns_samples.then(samples),
        owns_samples.then(samples),
        owns_samples.then(|| format!("with the {sender} sender a sample ends the doubling")),
    ];
    let idle = KEYS.into_iter().zip(idle).filter_map(|(keys, why)| Some((keys, why?)));
    let idle = idle.filter(|(keys, _)| !is_usual(tcp, keys, profile));
    idle.map(|(keys, why)| (keys, none(keys[keys.len() - 1], &why).hint(hint(keys)))).collect()
}

/// What to do about a key that has no effect.
fn hint(keys: Keys) -> &'static str {
    match keys {
        ["pacing_burst"] => "write `pacing: window`, or leave it out",
        ["initial_ssthresh_limit"] => "give `receive_window`, or leave it out",
        _ => "leave it out",
    }
}

/// Whether a value is what it would be if nobody had written it, or is not there at all.
fn is_usual(tcp: &Block, keys: &[&str], profile: Option<&Value>) -> bool {
    let Some((param, setting)) = find(tcp, keys) else { return true };
    let base = preset::base(tcp.word("sender").expect("a checked flow has a family"));
    let inside = |value: &Value| {
        let found = keys[1..].iter().try_fold(value, |value, key| value.get(key))?;
        scalar::read(param, found).ok()
    };
    let below = [profile.and_then(|tcp| tcp.get(keys[0])), base.get(keys[0])];
    let below = below.into_iter().flatten().filter_map(inside);
    below.chain(scalar::default(param)).any(|usual| *setting == usual)
}
