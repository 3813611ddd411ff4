//! Scenario documents: checked one by one, or many at once.

use crate::fault::guarded;
use crate::text::Text;
use ackclock_sim::document::{self, Checked, Problem};
use ackclock_sim::model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A checked scenario. It does not change; runs and replications take it as it is.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Scenario {
    checked: Checked,
}

impl Scenario {
    /// The scenario as the simulator runs it.
    pub fn get(&self) -> &model::Scenario {
        self.checked.scenario.as_ref().expect("only valid documents become scenarios")
    }
}

#[pymethods]
impl Scenario {
    /// The scenario of a document that is known to be valid: ValueError for one with errors.
    #[new]
    fn new(py: Python<'_>, document_json: &str) -> PyResult<Self> {
        let checked = guarded(py, || document::check_text(document_json))?;
        let messages: Vec<&str> = checked.problems.iter().map(|p| p.message.as_str()).collect();
        match messages.as_slice() {
            [] => Ok(Self { checked }),
            _ => Err(PyValueError::new_err(messages.join("\n"))),
        }
    }

    /// Name of the experiment.
    #[getter]
    fn name(&self) -> &str {
        &self.get().name
    }

    /// Seed of all random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.get().seed
    }

    /// Names of the flows.
    #[getter]
    fn flows(&self) -> Vec<&str> {
        self.get().flows.iter().map(|flow| flow.id.as_str()).collect()
    }

    /// Names of the links.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.get().links.iter().map(|link| link.id.as_str()).collect()
    }

    /// Names of the hosts.
    #[getter]
    fn hosts(&self) -> &[String] {
        &self.get().hosts
    }

    /// Names of the routers.
    #[getter]
    fn routers(&self) -> &[String] {
        &self.get().routers
    }

    /// Flows and links.
    #[getter]
    fn elements(&self) -> usize {
        self.get().flows.len() + self.get().links.len()
    }

    /// The document with all defaults filled in, as JSON text.
    fn canonical(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.checked.canonical().map(|document| document.to_string()))
    }

    /// Hands the same to `write`, piece by piece, spelled as by Python's `json` with sorted keys.
    fn write_canonical(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        let mut handing = Handing::to(write);
        guarded(py, || self.checked.canonical_text(&mut |piece| handing.give(piece)))?;
        handing.end()
    }

    /// Hands the scenario as numbers to `write`, piece by piece, as JSON text. What links or flows have in common
    /// stands once, in `natures` and `transports`; `like` of each is the number of its entry there.
    fn write_model(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        let mut handing = Handing::to(write);
        guarded(py, || self.checked.model_text(&mut |piece| handing.give(piece)))?;
        handing.end()
    }

    /// Hands to `write` what differs from another document, lines of JSON: the place, as an override spells it, and
    /// what each has there, or null.
    fn write_differences(&self, py: Python<'_>, other: &Self, write: Py<PyAny>) -> PyResult<()> {
        let mut handing = Handing::to(write);
        guarded(py, || {
            self.checked.differences(&other.checked, &mut |place, first, second| {
                handing.give(format!("{}\n", json!([place, first, second])).as_bytes());
            });
        })?;
        handing.end()
    }

    /// The part of it that is no longer for a larger network, as JSON text.
    fn head(&self) -> Option<String> {
        self.checked.head().map(|head| head.to_string())
    }
}

/// Hands pieces of text to a function of Python, until it fails.
pub struct Handing {
    write: Py<PyAny>,
    fault: Option<PyErr>,
}

impl Handing {
    pub fn to(write: Py<PyAny>) -> Self {
        Self { write, fault: None }
    }

    pub fn give(&mut self, piece: &[u8]) {
        if self.fault.is_none() {
            let given = Python::attach(|py| self.write.call1(py, (PyBytes::new(py, piece),)));
            self.fault = given.err();
        }
    }

    pub fn end(self) -> PyResult<()> {
        self.fault.map_or(Ok(()), Err)
    }
}

/// Checks a scenario document, given as JSON text or as it was read: the scenario if nothing is wrong, all errors
/// and all warnings, these as JSON text.
#[pyfunction]
pub fn check(py: Python<'_>, document: Given<'_>) -> PyResult<(Option<Scenario>, String, String)> {
    let mut checked = match document {
        Given::Json(text) => guarded(py, || document::check_text(&text))?,
        Given::Read(text) => {
            let text = text.get();
            guarded(py, || text.check())?
        }
    };
    let errors = problems_json(&std::mem::take(&mut checked.problems));
    let warnings = problems_json(&std::mem::take(&mut checked.warnings));
    Ok((checked.scenario.is_some().then_some(Scenario { checked }), errors, warnings))
}

/// A document for the check.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Read(Bound<'py, Text>),
    Json(String),
}

fn problems_json(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_json).collect::<Value>().to_string()
}

/// What is known of a document: its identity, its seed, and its errors as JSON text.
type Identified = (Option<String>, u64, Option<String>);

/// Checks many scenario documents on `workers` threads.
///
/// Answers for each, in their order, `(identity, seed, errors)`. The identity is text that is equal for
/// two documents exactly if their runs are equal for equal seeds; None for a document with errors, which
/// are returned as JSON text as by `check`.
#[pyfunction]
pub fn identify(py: Python<'_>, documents: Vec<String>, workers: usize) -> Vec<Identified> {
    py.detach(|| {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                match documents.get(index) {
                    Some(document) => done.push((index, one(document))),
                    None => return done,
                }
            }
        };
        let threads = workers.min(documents.len());
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                all.extend(other.join().expect("checking a document does not panic"));
            }
            all
        });
        all.sort_unstable_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, identified)| identified).collect()
    })
}

fn one(text: &str) -> Identified {
    let checked = document::check_text(text);
    match (&checked.scenario, checked.canonical()) {
        (Some(scenario), Some(canonical)) => {
            (Some(document::identity(&canonical)), scenario.seed, None)
        }
        _ => (None, 0, Some(problems_json(&checked.problems))),
    }
}
