//! Runs in several threads give what one thread gives, bit by bit.

mod common;

use ackclock_sim::model::Scenario;
use ackclock_sim::{Shortcuts, Simulation};
use ackclock_units::param::Chosen;
use common::{orderly, result, run, scenario};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use serde_json::Value;
use std::cell::Cell;

fn in_threads(scenario: &Scenario, threads: usize) -> Result<Simulation, String> {
    let (run, reason) = Simulation::in_threads(scenario.clone(), Shortcuts::default(), threads);
    reason.map_or(Ok(run), Err)
}

/// A random network that nothing but its links keeps from being divided.
fn divisible(mut scenario: Scenario) -> Scenario {
    scenario.stop.flows_complete = false;
    scenario.stop.max_packets = u64::MAX;
    if scenario.routing.kind == "distance-vector" {
        scenario.routing = Chosen { kind: "shortest-path".into(), values: Vec::new() };
    }
    scenario
}

/// The places in which two summaries differ.
fn differences(place: &str, one: &Value, other: &Value) -> Vec<String> {
    match (one, other) {
        (Value::Object(members), Value::Object(others)) if members.len() == others.len() => {
            let inner = |(key, value)| differences(&format!("{place}/{key}"), value, &others[key]);
            members.iter().flat_map(inner).collect()
        }
        _ if one == other => Vec::new(),
        _ => vec![format!("{place}: {one} is now {other}")],
    }
}

/// Random networks of all kinds in 2, 3 and 5 threads. A fair share of them can be divided.
#[test]
fn threads_change_nothing() {
    let divided = Cell::new(0);
    let config = ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    let networks = prop_oneof![scenario(), orderly(), orderly()];
    let outcome = TestRunner::new(config).run(&networks, |scenario| {
        let scenario = divisible(scenario);
        let expected = result(run(Simulation::new(scenario.clone())).summary);
        for threads in [2, 3, 5] {
            let Ok(simulation) = in_threads(&scenario, threads) else { break };
            let shape = simulation.threads();
            let differs = differences("", &expected, &result(run(simulation).summary));
            prop_assert!(differs.is_empty(), "{:#?} in {:?}: {:?}", differs, shape, scenario.flows);
            divided.set(divided.get() + u32::from(threads == 2));
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(divided.get() >= 100, "{} networks were divided", divided.get());
}
