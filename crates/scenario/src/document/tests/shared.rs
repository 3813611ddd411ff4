//! What is alike in a large scenario is there once.

use super::*;
use std::collections::BTreeSet;

/// A dumbbell with three kinds of access links.
fn dumbbell(leaves: usize) -> Value {
    json!({
        "topology": {
            "kind": "dumbbell",
            "leaves": leaves,
            "access": {"rate": "1 Gbps", "delay": ["1 ms", "2 ms", "3 ms"]},
            "bottleneck": {"rate": "1 Gbps", "delay": "10 ms"},
            "egress": {"rate": "1 Gbps", "delay": "1 us"}
        },
        "flows": [{
            "id": "F", "count": leaves, "from": "S*", "to": "D*", "send": "1 MB",
            "start": {"kind": "spread", "over": "1 s"}, "tcp": {"cc": "fast"}
        }]
    })
}

/// How many different natures of links and settings of transports there are.
fn kinds(scenario: &Scenario) -> [usize; 2] {
    let natures = scenario.links.iter().map(|link| Arc::as_ptr(&link.nature));
    let settings = scenario.flows.iter().map(|flow| match &flow.transport {
        crate::model::Transport::Tcp(tcp) => Arc::as_ptr(tcp),
        other => panic!("{other:?}"),
    });
    [natures.collect::<BTreeSet<_>>().len(), settings.collect::<BTreeSet<_>>().len()]
}

#[test]
fn links_and_flows_that_are_alike_share_their_settings() {
    let checked = check(&dumbbell(100));
    assert_eq!(kinds(checked.scenario.as_ref().unwrap()), [5, 1]);
    // The same holds for a document that says everything of each of them.
    let long = checked.canonical().unwrap();
    assert_eq!(long["flows"].as_array().unwrap().len(), 100);
    assert_eq!(kinds(&check(&long).scenario.unwrap()), [5, 1]);
}

#[test]
fn a_value_set_for_one_of_them_concerns_this_one_only() {
    let mut document = dumbbell(100);
    document["set"] = json!([
        {"path": "links.access7.rate", "value": "10 Mbps"},
        {"path": "flows.F9.tcp.cc", "value": "reno"},
        {"path": "flows.F9.id", "value": "G"},
        {"path": "flows.G.send", "value": "2 MB"},
    ]);
    let scenario = check(&document).scenario.unwrap();
    assert_eq!(kinds(&scenario), [6, 2]);
    let rates: Vec<u64> = scenario.links[5..8].iter().map(|link| link.forward.rate_bps).collect();
    assert_eq!(rates, [1_000_000_000, 10_000_000, 1_000_000_000]);
    assert_eq!(
        (scenario.flows[8].id.as_str(), scenario.flows[8].send.most()),
        ("G", Some(2_000_000))
    );
}

#[test]
fn a_copy_with_another_seed_shares_links_and_flows() {
    let scenario = check(&dumbbell(10)).scenario.unwrap();
    let other = Scenario { seed: 2, ..scenario.clone() };
    assert!(Arc::ptr_eq(&scenario.links, &other.links));
    assert!(Arc::ptr_eq(&scenario.flows, &other.flows));
}
