//! Queue disciplines in Python: what a class is asked, and what calls it for a queue.

use crate::controller::{Watch, own_methods, returned};
use ackclock_sim::controller::{Decides, Fate, Found, Held, PacketKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;

/// A packet at a queue; one object for each queue, written anew for each call.
#[pyclass(module = "ackclock._core", get_all)]
#[derive(Default)]
pub struct QueuedPacket {
    bytes: u16,
    ecn: bool,
    marked: bool,
    data: bool,
    sojourn: f64,
}

/// A queue as a packet finds it; one object for each queue.
#[pyclass(module = "ackclock._core", get_all)]
#[derive(Default)]
pub struct QueueState {
    now: f64,
    packets: u32,
    bytes: u64,
    idle: bool,
    rate: f64,
}

/// Names of the methods, in the order of their places.
const METHODS: [&str; 2] = ["on_enqueue", "on_dequeue"];

/// A discipline of one queue, as the engine calls it.
#[derive(Debug)]
pub struct QueueCaller {
    link: String,
    watch: Arc<Watch>,
    packet: Py<QueuedPacket>,
    state: Py<QueueState>,
    methods: [Option<Py<PyAny>>; 2],
    arguments: Py<PyTuple>,
}

impl QueueCaller {
    pub fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        link: String,
        rate_bps: u64,
        watch: Arc<Watch>,
    ) -> PyResult<Self> {
        let base = py.import("ackclock.controllers")?.getattr("QueueDiscipline")?;
        let methods = own_methods(object, &base, METHODS)?;
        let packet = Py::new(py, QueuedPacket::default())?;
        let state = QueueState { rate: rate_bps as f64, ..QueueState::default() };
        let state = Py::new(py, state)?;
        let arguments = PyTuple::new(py, [packet.bind(py).as_any(), state.bind(py).as_any()])?;
        Ok(Self { link, watch, arguments: arguments.unbind(), packet, state, methods })
    }

    fn call(&mut self, place: usize, held: &Held, found: Found) -> Fate {
        let Some(method) = self.methods[place].as_ref().filter(|_| !self.watch.has_failed()) else {
            return Fate::Take;
        };
        let called = Python::attach(|py| -> PyResult<Fate> {
            {
                let mut packet = self.packet.bind(py).borrow_mut();
                packet.bytes = held.packet.size();
                packet.ecn = held.packet.is_ecn_capable();
                packet.marked = held.packet.is_marked();
                packet.data = held.packet.kind() == PacketKind::Data;
                packet.sojourn = held.sojourn(found.now).as_secs();
                let mut state = self.state.bind(py).borrow_mut();
                state.now = found.now.as_secs();
                state.packets = found.packets;
                state.bytes = found.bytes;
                state.idle = found.idle;
            }
            self.watch.begin_or_end();
            let answer = method.bind(py).call1(self.arguments.bind(py).as_borrowed().to_owned());
            self.watch.begin_or_end();
            fate(METHODS[place], &answer?)
        });
        called.unwrap_or_else(|error| {
            let method = Python::attach(|py| method.clone_ref(py));
            self.watch.fail(error, Some(method), "link", self.link.clone(), found.now);
            Fate::Take
        })
    }
}

fn fate(method: &str, answer: &Bound<'_, PyAny>) -> PyResult<Fate> {
    if answer.is_none() {
        return Ok(Fate::Take);
    }
    match answer.cast::<PyString>().ok().and_then(|word| word.to_str().ok()) {
        Some("take") => Ok(Fate::Take),
        Some("mark") => Ok(Fate::Mark),
        Some("drop") => Ok(Fate::Drop),
        Some("full") if method == METHODS[0] => Ok(Fate::Full),
        _ => {
            let words = if method == METHODS[0] { "mark, drop, full" } else { "mark, drop" };
            let answer = returned(answer);
            let message = format!("{method} returned {answer}: take (or nothing), {words}");
            Err(PyValueError::new_err(message))
        }
    }
}

impl Decides for QueueCaller {
    fn on_enqueue(&mut self, held: &Held, found: Found) -> Fate {
        self.call(0, held, found)
    }

    fn on_dequeue(&mut self, held: &Held, found: Found) -> Fate {
        self.call(1, held, found)
    }
}
