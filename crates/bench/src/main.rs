//! Runs one scenario document and prints what it cost, as one line of JSON.
//!
//! `ackclock-bench FILE.json` where the file holds a scenario document. `benches/bench.py` makes the
//! documents, runs this program several times and prints the tables.

use ackclock_sim::{Simulation, check_text};
use cap::Cap;
use cpu_time::ProcessTime;
use std::alloc::System;
use std::process::ExitCode;

/// Counts what is allocated.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: ackclock-bench FILE.json");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let checked = check_text(&text);
    let Some(scenario) = checked.scenario else {
        for problem in &checked.problems {
            eprintln!("{}: {}", problem.place(), problem.message);
        }
        return ExitCode::from(2);
    };
    drop(text);

    let flows = scenario.flows.len();
    let before = MEMORY.allocated();
    let start = ProcessTime::now();
    let mut simulation = Simulation::new(scenario);
    let setup = start.elapsed();
    let built = MEMORY.allocated() - before;
    let start = ProcessTime::now();
    while !simulation.advance(u64::MAX) {}
    let cpu = start.elapsed();
    let ran = MEMORY.allocated() - before;
    let output = simulation.finish();

    let summary = &output.summary;
    let segment = |flow: &serde_json::Value| flow["segment_bytes"].as_u64().unwrap_or(1).max(1);
    let sum = |value: &dyn Fn(&serde_json::Value) -> u64| -> u64 {
        let flows = summary["flows"].as_object();
        flows.into_iter().flat_map(|flows| flows.values()).map(value).sum()
    };
    let count = |key: &str| sum(&|flow| flow[key].as_u64().unwrap_or(0));
    println!(
        "{}",
        serde_json::json!({
            "flows": flows,
            "setup_s": setup.as_secs_f64(),
            "cpu_s": cpu.as_secs_f64(),
            "events": summary["events"],
            "packet_hops": summary["packet_hops"],
            "end_s": summary["end_s"],
            "digest": summary["digest"],
            "segments_sent": count("segments_sent"),
            "segments_delivered": sum(&|flow| flow["bytes_delivered"].as_u64().unwrap_or(0) / segment(flow)),
            "segments_dropped": count("segments_dropped"),
            "built_bytes": built,
            "end_bytes": ran,
        })
    );
    ExitCode::SUCCESS
}
