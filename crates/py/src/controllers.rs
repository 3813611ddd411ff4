//! The programs of a run: made of what a scenario says, handed to the engine, asked for what they wrote down.

use crate::compiled::Compiled;
use crate::controller::{Caller, Controller, Plain, Rows, Watch};
use crate::queue::QueueCaller;
use ackclock_sim::controller as foreign;
use ackclock_sim::model::{self, Transport};
use ackclock_sim::{Shortcuts, Simulation};
use ackclock_trace::{Column, Table, direction};
use ackclock_units::param::Chosen;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// The controllers of a run.
#[derive(Default)]
pub struct Controllers {
    pub watch: Arc<Watch>,
    flows: Vec<(i32, Rows, Vec<i32>)>,
    objects: Vec<(usize, Py<Controller>)>,
    callers: Vec<(usize, Box<dyn foreign::Controller>)>,
    queues: Vec<((i32, i32), QueueCaller)>,
    /// Whether there are any.
    some: bool,
    /// Names of what they write down.
    pub variables: Vec<String>,
}

impl Controllers {
    /// A run of a scenario with them, in so many threads at most.
    pub fn start(
        &mut self,
        scenario: impl Into<Arc<model::Scenario>>,
        threads: usize,
    ) -> Simulation {
        if threads > 1 && self.is_empty() {
            return Simulation::in_threads(scenario, Shortcuts::default(), threads);
        }
        let with = &mut |flow| self.take(flow);
        let mut run = Simulation::with_controllers(scenario, Shortcuts::default(), with);
        run.attach(&mut |link, side| {
            let place = self.queues.iter().position(|(of, _)| *of == (link, side))?;
            Some(Box::new(self.queues.swap_remove(place).1))
        });
        run
    }

    /// Makes those that a scenario asks for.
    pub fn of(py: Python<'_>, scenario: &model::Scenario) -> PyResult<Self> {
        let mut made = Self { some: scenario.has_programs(), ..Self::default() };
        let records = !scenario.record.is_off();
        for (i, flow) in scenario.flows.iter().enumerate() {
            let Transport::Tcp(tcp) = &flow.transport else { continue };
            if tcp.cc.kind != "python" {
                continue;
            }
            let words = ["source", "origin", "class", "parameters"].map(|key| tcp.cc.word(key));
            let stream = format!("{}/cc/{}", scenario.seed, flow.id);
            let build = py.import("ackclock.controllers.loading")?.getattr("build")?;
            let (object, variables): (Py<Controller>, Vec<String>) =
                build.call1((words, stream))?.extract()?;
            let (mss, rates) = (tcp.segment_bytes as u16, tcp.cc.flag("needs_rate"));
            let rows = object.borrow(py).rows();
            let codes = variables.iter().map(|name| made.code(name)).collect();
            made.flows.push((i as i32, rows.clone(), codes));
            made.objects.push((i, object.clone_ref(py)));
            if tcp.cc.flag("compile") {
                let [source, origin, ..] = words.map(str::to_owned);
                let (object, watch) = (object.into_any(), made.watch.clone());
                let (program, flow) = ((source, origin), flow.id.clone());
                let of_flow = (mss, rates, records);
                let compiled = Compiled::new(py, object, program, flow, watch, rows, of_flow)?;
                made.callers.push((i, Box::new(Caller::new(compiled, mss, rates))));
                continue;
            }
            object.borrow_mut(py).prepare(mss, rates, records, variables);
            let watch = made.watch.clone();
            let plain = Plain::new(py, object, flow.id.clone(), watch)?;
            made.callers.push((i, Box::new(Caller::new(plain, mss, rates))));
        }
        for (link, side, queue, rate) in queues(scenario) {
            let words = ["source", "origin", "class", "parameters"].map(|key| queue.word(key));
            let id = &scenario.links[link as usize].id;
            let word = direction::NAMES[side as usize];
            let stream = format!("{}/queue/{id}/{word}", scenario.seed);
            let build = py.import("ackclock.controllers.loading")?.getattr("build_queue")?;
            let object = build.call1((words, stream, id))?;
            let caller = QueueCaller::new(py, &object, id.clone(), rate, made.watch.clone())?;
            made.queues.push(((link, side), caller));
        }
        Ok(made)
    }

    /// The code of a variable: flows share those of one name.
    fn code(&mut self, name: &str) -> i32 {
        let known = self.variables.iter().position(|known| known == name);
        let code = known.unwrap_or(self.variables.len());
        if known.is_none() {
            self.variables.push(name.to_owned());
        }
        code as i32
    }

    /// The object that a program has made for the flow at this place.
    pub fn object(&self, py: Python<'_>, flow: usize) -> Option<Py<PyAny>> {
        let (_, object) = self.objects.iter().find(|(place, _)| *place == flow)?;
        Some(object.clone_ref(py).into_any())
    }

    pub fn is_empty(&self) -> bool {
        !self.some
    }

    /// The controller of the flow at this place, once.
    fn take(&mut self, flow: usize) -> Option<Box<dyn foreign::Controller>> {
        let place = self.callers.iter().position(|(i, _)| *i == flow)?;
        Some(self.callers.swap_remove(place).1)
    }

    /// Adds what the controllers have written down since the last time to the other tables.
    pub fn add_rows(&self, tables: &mut Vec<Table>) {
        let (mut times, mut flows, mut names, mut values) = (vec![], vec![], vec![], vec![]);
        for (flow, rows, codes) in &self.flows {
            for (time, name, value) in rows.take() {
                times.push(time);
                flows.push(*flow);
                names.push(codes[name]);
                values.push(value);
            }
        }
        if !self.variables.is_empty() {
            tables.push((
                "variables",
                vec![
                    ("time_s", Column::F64(times)),
                    ("flow", Column::I32(flows)),
                    ("name", Column::I32(names)),
                    ("value", Column::F64(values)),
                ],
            ));
        }
    }
}

/// The queues of a scenario with a discipline in Python: places of link and direction, and the rate of the wire.
fn queues(scenario: &model::Scenario) -> impl Iterator<Item = (i32, i32, &Chosen, u64)> {
    scenario.links.iter().zip(0..).flat_map(|(link, place)| {
        let sides = if link.half_duplex {
            vec![(direction::BOTH, &link.forward)]
        } else {
            vec![(direction::FORWARD, &link.forward), (direction::BACKWARD, &link.backward)]
        };
        let own = sides.into_iter().filter(|(_, model)| model.queue.kind == "python");
        own.map(move |(side, model)| (place, side, &model.queue, model.rate_bps))
    })
}

/// Description of the table of what controllers write down.
pub fn variables() -> Value {
    let column = |name: &str,
                  kind: &str,
                  unit: Option<&str>,
                  summary: &str,
                  category: Option<&str>| {
        json!({
            "name": name, "type": kind, "unit": unit, "summary": summary, "category": category, "optional": false,
        })
    };
    json!({
        "summary": "Values that controllers in Python record by `self.record(name, value)`.",
        "columns": [
            column("time_s", "float64", Some("s"), "Simulated time.", None),
            column("flow", "int32", None, "Flow of the controller.", Some("flow")),
            column("name", "int32", None, "Name of the variable.", Some("variable")),
            column("value", "float64", None, "Its value.", None),
        ],
    })
}
