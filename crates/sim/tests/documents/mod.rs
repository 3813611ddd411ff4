//! Runs of documents, for tests that state them as JSON.

use ackclock_sim::{Output, Simulation, check};
use serde_json::Value;

/// What a document without errors gives.
pub fn run(document: &Value) -> Output {
    let checked = check(document);
    let problems: Vec<&str> = checked.problems.iter().map(|p| p.message.as_str()).collect();
    let scenario = checked.scenario.unwrap_or_else(|| panic!("{problems:?}"));
    let mut simulation = Simulation::new(scenario);
    assert!(simulation.advance(u64::MAX));
    simulation.finish()
}
