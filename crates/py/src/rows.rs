//! Many runs in one call: scenarios that take microseconds must not wait for Python between them.

use crate::controller::Calls;
use crate::controllers::Controllers;
use crate::fault::guarded;
use ackclock_sim::document::{self, check_text};
use ackclock_sim::model::{Record, Scenario};
use ackclock_sim::rows::Layout;
use ackclock_sim::{LOOK_AFTER, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs of one document: the document, the seed of the first run, and the key of each.
type Job = (String, u64, Vec<String>);
/// Runs that came to an end in the same way: how, how many, and the seconds that they took.
type End = (&'static str, usize, f64);

/// Simulates runs of several documents, one after the other and without records, until all are done or
/// `turn_s` seconds have passed.
///
/// Answers their rows as lines of JSON with the columns of `layout` (see `sim::rows`), and for each job that
/// was begun how its runs ended. A run is given up after `time_limit_s` seconds.
#[pyfunction]
#[pyo3(signature = (jobs, layout, time_limit_s=None, turn_s=f64::INFINITY))]
pub fn rows(
    py: Python<'_>,
    jobs: Vec<Job>,
    layout: &str,
    time_limit_s: Option<f64>,
    turn_s: f64,
) -> PyResult<(Vec<u8>, Vec<Vec<End>>)> {
    let layout = Layout::read(layout).map_err(PyValueError::new_err)?;
    guarded(py, || {
        let limit = time_limit_s.map(Duration::from_secs_f64);
        let mut turn = Turn { started: Instant::now(), most_s: turn_s, text: Vec::new() };
        let mut ends = Vec::new();
        for job in &jobs {
            ends.push(turn.work(job, &layout, limit));
            if turn.is_over() {
                break;
            }
        }
        (turn.text, ends)
    })
}

struct Turn {
    started: Instant,
    most_s: f64,
    text: Vec<u8>,
}

impl Turn {
    fn is_over(&self) -> bool {
        self.started.elapsed().as_secs_f64() >= self.most_s
    }

    fn work(&mut self, job: &Job, layout: &Layout, limit: Option<Duration>) -> Vec<End> {
        let (text, first_seed, keys) = job;
        let mut scenario = scenario(text);
        let mut ends: Vec<End> = Vec::new();
        let mut since = Instant::now();
        for (seed, key) in (*first_seed..).zip(keys) {
            let done = scenario.as_mut().map_err(|error| error.clone()).and_then(|scenario| {
                // No run holds it any more, so this copies nothing.
                Arc::make_mut(scenario).seed = seed;
                simulate(scenario, limit)
            });
            let how = match done {
                Ok(mut run) => {
                    layout.done(&mut self.text, key, seed, &run.figures());
                    "done"
                }
                Err(error) => {
                    layout.failed(&mut self.text, key, seed, &error);
                    "failed"
                }
            };
            let wall_s = std::mem::replace(&mut since, Instant::now()).elapsed().as_secs_f64();
            match ends.last_mut() {
                Some((last, count, all_s)) if *last == how && how == "done" => {
                    *count += 1;
                    *all_s += wall_s;
                }
                _ => ends.push((how, 1, wall_s)),
            }
            if self.is_over() {
                break;
            }
        }
        ends
    }
}

fn scenario(text: &str) -> Result<Arc<Scenario>, String> {
    let document::Checked { scenario, problems, .. } = check_text(text);
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    let scenario = scenario.filter(|_| messages.is_empty()).ok_or_else(|| messages.join("\n"))?;
    Ok(Arc::new(Scenario { record: Record::default(), ..scenario }))
}

/// A run at its end, or why it came to none.
fn simulate(scenario: &Arc<Scenario>, limit: Option<Duration>) -> Result<Simulation, String> {
    if !scenario.has_programs() {
        return advanced(scenario, Controllers::default(), limit);
    }
    let text = |py: Python<'_>, error: PyErr| match error.value(py).to_string() {
        words if words.is_empty() => error.to_string(),
        words => words,
    };
    let (controllers, watching) = Python::attach(|py| {
        let made = Controllers::of(py, scenario)?;
        // Ends calls that take too long.
        let watching = py.import("ackclock.controllers.watching")?.getattr("watching")?;
        let watching = watching.call1((Calls(made.watch.clone()),))?;
        watching.call_method0("__enter__")?;
        Ok((made, watching.unbind()))
    })
    .map_err(|error| Python::attach(|py| text(py, error)))?;
    let watch = controllers.watch.clone();
    let run = advanced(scenario, controllers, limit);
    Python::attach(|py| {
        let none = py.None();
        let over = watching.bind(py).call_method1("__exit__", (&none, &none, &none));
        over.map_err(|error| text(py, error))?;
        if watch.has_failed() {
            return match watch.raise(py) {
                Ok(error) | Err(error) => Err(text(py, error)),
            };
        }
        run
    })
}

fn advanced(
    scenario: &Arc<Scenario>,
    mut controllers: Controllers,
    limit: Option<Duration>,
) -> Result<Simulation, String> {
    let started = Instant::now();
    let watch = controllers.watch.clone();
    let mut run = controllers.start(scenario.clone(), 1);
    while !run.advance(LOOK_AFTER) && !watch.has_failed() {
        if let Some(limit) = limit
            && started.elapsed() > limit
        {
            return Err(given_up(&run, limit));
        }
    }
    Ok(run)
}

fn given_up(run: &Simulation, limit: Duration) -> String {
    format!(
        "not done after {} s, the limit of time: {} s of {} s were simulated, with {} events",
        limit.as_secs_f64(),
        run.now().as_secs(),
        run.scenario().stop.at_latest.as_secs(),
        run.counters().events,
    )
}
