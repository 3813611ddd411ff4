//! Many runs in one call: scenarios that take microseconds must not wait for Python between them.

use crate::controllers::Controllers;
use crate::fault::guarded;
use crate::scenario::Scenario;
use ackclock_sim::model::{self, Record};
use ackclock_sim::rows::Rows;
use ackclock_sim::{LOOK_AFTER, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs a scenario with `count` seeds from `first_seed` on, without records.
///
/// Answers `(done, columns, error)`: how many runs were done, their figures as JSON text, one list of
/// values for each column of `layout` (see `sim::rows`), and why the run after these was given up, None if
/// all were done. A run is given up after `time_limit_s` seconds.
#[pyfunction]
#[pyo3(signature = (scenario, first_seed, count, layout_json, time_limit_s=None))]
pub fn rows(
    py: Python<'_>,
    scenario: &Scenario,
    first_seed: u64,
    count: u64,
    layout_json: &str,
    time_limit_s: Option<f64>,
) -> PyResult<(u64, String, Option<String>)> {
    let mut scenario =
        Arc::new(model::Scenario { record: Record::default(), ..scenario.get().clone() });
    let layout = serde_json::from_str(layout_json)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    guarded(py, || {
        let limit = time_limit_s.map(Duration::from_secs_f64);
        let mut rows = Rows::new(&layout);
        let foreign = Controllers::wanted(&scenario);
        for index in 0..count {
            // No run holds it any more, so this copies nothing.
            Arc::make_mut(&mut scenario).seed = first_seed + index;
            let made = match foreign {
                false => Ok(Controllers::default()),
                true => Python::attach(|py| {
                    Controllers::of(py, &scenario).map_err(|error| error.value(py).to_string())
                }),
            };
            let mut controllers = match made {
                Ok(controllers) => controllers,
                Err(error) => return (index, rows.into_json(), Some(error)),
            };
            let mut run = controllers.start(scenario.clone());
            let started = Instant::now();
            let watch = &controllers.watch;
            while !run.advance(LOOK_AFTER) && !watch.has_failed() {
                if limit.is_some_and(|limit| started.elapsed() > limit) {
                    return (index, rows.into_json(), Some(given_up(&run, limit)));
                }
            }
            if watch.has_failed() {
                let error = Python::attach(|py| match watch.raise(py) {
                    Ok(error) | Err(error) => error.value(py).to_string(),
                });
                return (index, rows.into_json(), Some(error));
            }
            rows.push(&run.figures());
        }
        (count, rows.into_json(), None)
    })
}

fn given_up(run: &Simulation, limit: Option<Duration>) -> String {
    format!(
        "not done after {} s, the limit of time: {} s of {} s were simulated, with {} events",
        limit.unwrap_or_default().as_secs_f64(),
        run.now().as_secs(),
        run.scenario().stop.at_latest.as_secs(),
        run.counters().events,
    )
}
