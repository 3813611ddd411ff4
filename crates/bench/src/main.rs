//! Runs scenario documents and prints what each cost, as one line of JSON a run.
//!
//! `ackclock-bench [--rounds N] [--hold] [--threads N] [--loop] FILE.json ...` where each file holds a scenario document.
//! With several rounds or files the runs take turns in one process, so that a busy moment of the machine does not hit one
//! of them alone. Records are handed out during the run, as `ackclock run` does, or held until its end (`--hold`). With
//! `--threads` the seconds of the longest thread are those that count. With `--loop` each run is timed beside a loop of
//! known cost: the ratio depends less on the machine and its clock than the time.

use ackclock_sim::model::Scenario;
use ackclock_sim::{Shortcuts, Simulation, check_text};
use cap::Cap;
use cpu_time::{ProcessTime, ThreadTime};
use std::alloc::System;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Counts what is allocated.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Rows at which records are handed out, and of the tables that are: as `record_stream.py` has it.
const HELD_ROWS: usize = 1 << 19;
const LEAST_ROWS: usize = 1 << 15;

struct Options {
    rounds: usize,
    hold: bool,
    threads: usize,
    beside: bool,
    files: Vec<String>,
}

fn options() -> Option<Options> {
    let mut options =
        Options { rounds: 1, hold: false, threads: 1, beside: false, files: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => options.rounds = words.next()?.parse().ok()?,
            "--hold" => options.hold = true,
            "--threads" => {
                options.threads = words.next()?.parse().ok().filter(|count| *count > 0)?
            }
            "--loop" => options.beside = true,
            file => options.files.push(file.to_owned()),
        }
    }
    (!options.files.is_empty()).then_some(options)
}

fn read(path: &str) -> Result<Arc<Scenario>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let checked = check_text(&text);
    let problems = checked.problems.iter();
    let problems = problems.map(|problem| format!("{}: {}", problem.place(), problem.message));
    checked.scenario.map(Arc::from).ok_or_else(|| problems.collect::<Vec<_>>().join("\n"))
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!(
            "usage: ackclock-bench [--rounds N] [--hold] [--threads N] [--loop] FILE.json ..."
        );
        return ExitCode::from(2);
    };
    let mut scenarios = Vec::new();
    for path in &options.files {
        match read(path) {
            Ok(scenario) => scenarios.push(scenario),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    for _ in 0..options.rounds {
        for (path, scenario) in options.files.iter().zip(&scenarios) {
            let step = options.beside.then(step_s);
            let mut figures = run(scenario, &options);
            if let Some(seconds) = step {
                figures["loop_step_s"] = seconds.into();
            }
            if options.rounds * options.files.len() > 1 {
                figures["file"] = path.as_str().into();
            }
            println!("{figures}");
        }
    }
    ExitCode::SUCCESS
}

/// Seconds that a step of the loop takes: three shifts and three exclusive ors, each of which waits for the one before.
/// That is six cycles on most processors of today, whatever their caches and units.
fn step_s() -> f64 {
    const STEPS: u32 = 20_000_000;
    let start = ProcessTime::now();
    // Marsaglia's xorshift (2003): a compiler folds steps of multiplication and addition into one.
    let last = (0..STEPS).fold(std::hint::black_box(1_u64), |mut state, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^ (state << 17)
    });
    std::hint::black_box(last);
    start.elapsed().as_secs_f64() / f64::from(STEPS)
}

/// A turn of the events, and nothing else: callgrind counts what this function does (`benches/bench.py`).
#[inline(never)]
fn events(simulation: &mut Simulation, turn: u64) -> bool {
    simulation.advance(turn)
}

/// What a run cost.
fn run(scenario: &Arc<Scenario>, options: &Options) -> serde_json::Value {
    let flows = scenario.flows.len();
    let before = MEMORY.allocated();
    let start = ProcessTime::now();
    let shortcuts = Shortcuts::default();
    let mut simulation = Simulation::in_threads(Arc::clone(scenario), shortcuts, options.threads);
    let setup = start.elapsed();
    let built = MEMORY.allocated() - before;
    let [mut cpu, mut own, mut wall, mut handing_out] = [Duration::ZERO; 4];
    let turn = if scenario.record.is_off() { u64::MAX } else { simulation.turn() };
    loop {
        let (start, thread, clock) = (ProcessTime::now(), ThreadTime::now(), Instant::now());
        let done = events(&mut simulation, turn);
        cpu += start.elapsed();
        own += thread.elapsed();
        wall += clock.elapsed();
        if done {
            break;
        }
        if !options.hold && simulation.records().rows >= HELD_ROWS {
            let start = ProcessTime::now();
            drop(simulation.take_records(LEAST_ROWS));
            handing_out += start.elapsed();
        }
    }
    let ran = MEMORY.allocated() - before;
    let record_bytes = simulation.records().bytes;
    if record_bytes > 0 {
        let start = ProcessTime::now();
        drop(simulation.take_records(0));
        handing_out += start.elapsed();
    }
    if let Some(reason) = simulation.undivided() {
        eprintln!("one thread runs it: {reason}");
    }
    let shape = simulation.threads();
    let output = simulation.finish();

    let summary = &output.summary;
    let segment = |flow: &serde_json::Value| flow["segment_bytes"].as_u64().unwrap_or(1).max(1);
    let sum = |value: &dyn Fn(&serde_json::Value) -> u64| -> u64 {
        let flows = summary["flows"].as_object();
        flows.into_iter().flat_map(|flows| flows.values()).map(value).sum()
    };
    let count = |key: &str| sum(&|flow| flow[key].as_u64().unwrap_or(0));
    let threads = shape.map(|shape| {
        serde_json::json!({
            "threads": shape.threads,
            "first_thread_cpu_s": own.as_secs_f64(),
            "cut_channels": shape.cut_channels,
            "lookahead_ns": shape.lookahead_ns,
            "windows": shape.windows,
            "events": shape.events,
        })
    });
    serde_json::json!({
        "flows": flows,
        "threads": threads,
        "wall_s": wall.as_secs_f64(),
        "setup_s": setup.as_secs_f64(),
        "cpu_s": cpu.as_secs_f64(),
        "records_s": handing_out.as_secs_f64(),
        "record_bytes": record_bytes,
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
}
