//! Python bindings: documents go in as JSON text, checked scenarios stay here behind a handle, results come
//! out as JSON text and numpy arrays.

mod compiled;
mod controller;
mod controllers;
mod endpoint;
mod fault;
mod queue;
mod rows;
mod scenario;
mod text;

use ackclock_sim::Simulation as Run;
use ackclock_trace::{CATEGORIES, Column, TABLES, Table};
use ackclock_units::quantity::{Dimension, Quantity, parse};
use controllers::Controllers;
use fault::guarded;
use numpy::IntoPyArray;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::{Handing, Scenario};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Fingerprint of the engine's sources: equal for equal builds of one version.
#[pyfunction]
fn build() -> &'static str {
    env!("ACKCLOCK_BUILD")
}

/// Name of the profile that the engine was built with: `release` is the fastest.
#[pyfunction]
fn profile() -> &'static str {
    env!("ACKCLOCK_PROFILE")
}

/// Everything that a scenario can name, with parameters, as JSON text.
#[pyfunction]
fn registry() -> String {
    ackclock_sim::registry::registry().to_string()
}

/// JSON Schema (draft-07) of scenario files, as JSON text.
#[pyfunction]
fn schema() -> String {
    ackclock_sim::schema::schema().to_string()
}

/// Names, types, units and meanings of the record tables, as JSON text.
#[pyfunction]
fn record_tables() -> String {
    let optional = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let mut tables = Map::new();
    for table in TABLES {
        let columns: Vec<Value> = table
            .columns
            .iter()
            .map(|column| {
                json!({
                    "name": column.name,
                    "type": column.kind,
                    "unit": optional(column.unit),
                    "summary": column.summary,
                    "category": optional(column.category()),
                    "words": CATEGORIES
                        .iter()
                        .find(|(name, _)| *name == column.category())
                        .map(|(_, words)| words),
                    "optional": column.optional(),
                })
            })
            .collect();
        tables.insert(table.name.into(), json!({ "summary": table.summary, "columns": columns }));
    }
    tables.insert("variables".into(), controllers::variables());
    Value::Object(tables).to_string()
}

/// Dimensions by the words for what quantities measure.
const DIMENSIONS: [(&str, Dimension); 5] = [
    ("rate", Dimension::Rate),
    ("time", Dimension::Time),
    ("size", Dimension::Size),
    ("packets", Dimension::Packets),
    ("products", Dimension::Products),
];

/// What a text was probably meant to be that is no quantity of this kind; None where nobody knows.
#[pyfunction]
fn quantity_hint(text: &str, kind: &str) -> Option<String> {
    let (_, dimension) = DIMENSIONS.into_iter().find(|(name, _)| *name == kind)?;
    parse(text, &[dimension]).err()?.hint
}

/// What a quantity such as `64 KiB` measures (`rate`, `size`, `packets`, `time`, `products`), and its amount in
/// bit/s, bytes, packets, nanoseconds or thousandths of a bandwidth-delay product; None for other texts.
#[pyfunction]
fn quantity(text: &str) -> Option<(&'static str, u64)> {
    let dimensions = DIMENSIONS.map(|(_, dimension)| dimension);
    Some(match parse(text, &dimensions).ok()? {
        Quantity::Rate(value) => ("rate", value),
        Quantity::Size(value) => ("size", value),
        Quantity::Packets(value) => ("packets", value),
        Quantity::Products(value) => ("products", value),
        Quantity::Time(value) => ("time", value),
    })
}

/// A run that can be advanced bit by bit, with the seed of the scenario or another.
#[pyclass(module = "ackclock._core")]
struct Simulation {
    run: Option<Run>,
    controllers: Controllers,
}

impl Simulation {
    fn get(&self) -> PyResult<&Run> {
        self.run.as_ref().ok_or_else(finished)
    }

    fn get_mut(&mut self) -> PyResult<&mut Run> {
        self.run.as_mut().ok_or_else(finished)
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, seed = None, threads = 1))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: Option<u64>,
        threads: usize,
    ) -> PyResult<Self> {
        let mut scenario = scenario.get().clone();
        scenario.seed = seed.unwrap_or(scenario.seed);
        let mut controllers = Controllers::of(py, &scenario)?;
        let run = guarded(py, || controllers.start(scenario, threads))?;
        Ok(Self { run: Some(run), controllers })
    }

    /// How many threads run it, and, if these are fewer than were asked for, why: None where the network has no more
    /// parts.
    fn threads(&self) -> PyResult<(usize, Option<&str>)> {
        let run = self.get()?;
        let foreign =
            || (!self.controllers.is_empty()).then_some("programs in Python run in one thread");
        Ok((run.threads().map_or(1, |threads| threads.threads), run.undivided().or_else(foreign)))
    }

    /// Runs for about this many seconds of real time; True when the run is over, or its records are
    /// full. Returns soon after the records hold `rows` rows, or this many events were handled, and at the first
    /// event at or after `until_s` seconds of simulated time.
    #[pyo3(signature = (seconds, rows=usize::MAX, events=u64::MAX, until_s=None))]
    fn advance(
        &mut self,
        py: Python<'_>,
        seconds: f64,
        rows: usize,
        events: u64,
        until_s: Option<f64>,
    ) -> PyResult<bool> {
        let watch = self.controllers.watch.clone();
        // A fault of a controller ends the run where it happens.
        let single = !self.controllers.is_empty() || until_s.is_some();
        let run = self.get_mut()?;
        let whole = run.turn();
        let turn = if single { 1 } else { whole };
        let turns = whole / turn;
        let started = Instant::now();
        let done = guarded(py, || {
            loop {
                for _ in 0..turns {
                    if run.advance(turn) || watch.has_failed() {
                        return true;
                    }
                    if until_s.is_some_and(|until| run.now().as_secs() >= until) {
                        return false;
                    }
                }
                let due = run.records().rows >= rows || run.counters().events >= events;
                if due || started.elapsed().as_secs_f64() >= seconds {
                    return false;
                }
            }
        });
        if done.is_err() {
            self.run = None;
        }
        if watch.has_failed() {
            return Err(watch.raise(py)?);
        }
        done
    }

    /// Packet-hops and bytes of records that the whole run will come to, guessed before it.
    fn outlook(&self) -> PyResult<(f64, f64)> {
        let outlook = self.get()?.outlook();
        Ok((outlook.packet_hops, outlook.record_bytes))
    }

    /// Lets the run end when its records hold this many bytes.
    fn limit_records(&mut self, bytes: u64) -> PyResult<()> {
        self.get_mut()?.limit_records(bytes);
        Ok(())
    }

    /// Rows that the records hold now, and the bytes of all rows so far.
    fn recorded(&mut self) -> PyResult<(usize, u64)> {
        let size = self.get_mut()?.records();
        Ok((size.rows, size.bytes))
    }

    /// Moves out what was recorded in tables that hold at least this many rows, as
    /// `{table: {column: array}}`.
    fn take_records<'py>(
        &mut self,
        py: Python<'py>,
        least_rows: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut tables = self.get_mut()?.take_records(least_rows);
        self.controllers.add_rows(&mut tables);
        as_dict(py, tables)
    }

    /// Words that the codes of category columns stand for.
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scenario = self.get()?.scenario();
        let categories = PyDict::new(py);
        for (name, words) in CATEGORIES {
            categories.set_item(name, PyList::new(py, *words)?)?;
        }
        let ids = |ids: &mut dyn Iterator<Item = &String>| PyList::new(py, ids.collect::<Vec<_>>());
        categories.set_item("flow", ids(&mut scenario.flows.iter().map(|flow| &flow.id))?)?;
        categories.set_item("link", ids(&mut scenario.links.iter().map(|link| &link.id))?)?;
        categories.set_item("host", PyList::new(py, &*scenario.hosts)?)?;
        categories.set_item("router", PyList::new(py, &*scenario.routers)?)?;
        categories.set_item("variable", PyList::new(py, &self.controllers.variables)?)?;
        Ok(categories)
    }

    /// Present simulated time, seconds.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        Ok(self.get()?.now().as_secs())
    }

    /// Simulated time at which the run ends at the latest, seconds.
    #[getter]
    fn stop_s(&self) -> PyResult<f64> {
        Ok(self.get()?.scenario().stop.at_latest.as_secs())
    }

    /// Events handled so far.
    #[getter]
    fn events(&self) -> PyResult<u64> {
        Ok(self.get()?.counters().events)
    }

    /// Packets transmitted by links so far.
    #[getter]
    fn packet_hops(&self) -> PyResult<u64> {
        Ok(self.get()?.packet_hops())
    }

    /// Whether the sender of a flow has nothing more to do: all its data arrived, or it was cut off.
    fn is_complete(&self, flow: &str) -> PyResult<bool> {
        let run = self.get()?;
        let place = run.scenario().flows.iter().position(|one| one.id == flow);
        Ok(place.is_some_and(|place| run.has_finished(place)))
    }

    /// The controller in Python of a flow, to look at and to speak to between two turns; None if it has none.
    fn controller(&self, py: Python<'_>, flow: &str) -> PyResult<Option<Py<PyAny>>> {
        let place = self.get()?.scenario().flows.iter().position(|one| one.id == flow);
        Ok(place.and_then(|place| self.controllers.object(py, place)))
    }

    /// The calls of its controllers; None for a run without any.
    fn calls(&self) -> Option<controller::Calls> {
        let watch = (!self.controllers.is_empty()).then(|| self.controllers.watch.clone());
        watch.map(controller::Calls)
    }

    /// Flows that are complete.
    #[getter]
    fn flows_done(&self) -> PyResult<usize> {
        let run = self.get()?;
        Ok(run.scenario().flows.len() - run.active_flows())
    }

    /// Flows in all.
    #[getter]
    fn flows_total(&self) -> PyResult<usize> {
        Ok(self.get()?.scenario().flows.len())
    }

    /// Ends the run wherever it is, and hands out what it has produced. That may take a while where links are
    /// ahead of the rest: signals are looked for meanwhile.
    ///
    /// With `write`, the figures of flows and links go there, piece by piece: lines as in `summary.json`, of all
    /// flows, then of all links. The summary has their numbers instead.
    #[pyo3(signature = (write=None))]
    fn finish(&mut self, py: Python<'_>, write: Option<Py<PyAny>>) -> PyResult<Output> {
        let mut run = self.run.take().ok_or_else(finished)?;
        while !guarded(py, || run.catch_up(run.turn()))? {
            py.check_signals()?;
        }
        let mut handing = write.map(Handing::to);
        let (summary, mut tables) = guarded(py, || match &mut handing {
            Some(handing) => run.finish_as_text(Some(&mut |piece| handing.give(piece))),
            None => run.finish_as_text(None),
        })?;
        handing.map_or(Ok(()), Handing::end)?;
        self.controllers.add_rows(&mut tables);
        let summary = String::from_utf8(summary).expect("JSON is UTF-8");
        Ok(Output { summary, tables })
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the run has been finished")
}

/// Tables as `{table: {column: array}}`.
fn as_dict(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, columns) in tables {
        let table = PyDict::new(py);
        for (name, column) in columns {
            match column {
                Column::F64(values) => table.set_item(name, values.into_pyarray(py))?,
                Column::I64(values) => table.set_item(name, values.into_pyarray(py))?,
                Column::I32(values) => table.set_item(name, values.into_pyarray(py))?,
                Column::Bool(values) => table.set_item(name, values.into_pyarray(py))?,
            }
        }
        all.set_item(name, table)?;
    }
    Ok(all)
}

/// What a run has produced.
#[pyclass(module = "ackclock._core")]
struct Output {
    summary: String,
    tables: Vec<Table>,
}

#[pymethods]
impl Output {
    /// The summary, as JSON text.
    #[getter]
    fn summary(&self) -> &str {
        &self.summary
    }

    /// The recorded tables as `{table: {column: array}}`. They are moved out: a second call finds none.
    fn tables<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        as_dict(py, std::mem::take(&mut self.tables))
    }
}

/// The engine of Ackclock.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fault::keep_panics();
    module.add_class::<Scenario>()?;
    module.add_class::<Simulation>()?;
    module.add_class::<Output>()?;
    module.add_class::<endpoint::Endpoint>()?;
    module.add_class::<controller::Controller>()?;
    module.add_class::<controller::Event>()?;
    module.add_class::<controller::Calls>()?;
    module.add("HOOKS", controller::HOOKS)?;
    module.add("COMPILED_STATE", compiled::STATE.to_vec())?;
    module.add("COMPILED_EVENT", compiled::EVENT.to_vec())?;
    module.add("COMPILED_WORDS", compiled::WORDS)?;
    module.add_class::<queue::QueuedPacket>()?;
    module.add_class::<queue::QueueState>()?;
    module.add_class::<text::Text>()?;
    module.add_function(wrap_pyfunction!(text::read_text, module)?)?;
    module.add_function(wrap_pyfunction!(text::scalar, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(record_tables, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(quantity_hint, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::identify, module)?)?;
    module.add_function(wrap_pyfunction!(rows::rows, module)?)?;
    Ok(())
}
