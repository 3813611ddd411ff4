//! Controllers in Python that numba has compiled: functions over arrays of numbers, called without the interpreter.
//!
//! `python/ackclock/controllers/compiled/layout.py` says what each place of the arrays means.

use crate::controller::{HOOKS, Hook, Rows, Watch, word_code};
use ackclock_sim::controller::{
    self as foreign, AckEvent, CongestionState, Event as Happening, LossEvent, Signal, Window,
};
use ackclock_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// What numba makes of a method: state, event, rows to record; 0 if no exception ended it.
type Function = unsafe extern "C" fn(*mut f64, *const f64, *mut f64) -> i32;

// Places of the array of state.
const CWND: usize = 0;
const SSTHRESH: usize = 1;
const SEGMENT: usize = 2;
const MSS: usize = 3;
const NOW: usize = 4;
const PACING: usize = 5;
const ANSWER: usize = 6;
const ANSWERED: usize = 7;
const LINE: usize = 8;
const FAULT: usize = 9;
const VALUE: usize = 10;
const TURNS: usize = 11;
const RECORDS: usize = 12;
const ROWS: usize = 13;
const PACES: usize = 14;

/// An event as numbers, NaN for what is not known.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Event {
    now: f64,
    rtt: f64,
    srtt: f64,
    min_rtt: f64,
    newly_acked: f64,
    in_flight: f64,
    una: f64,
    nxt: f64,
    app_limited: f64,
    may_grow: f64,
    marked: f64,
    delivered: f64,
    delivery_rate: f64,
    newly_lost: f64,
    total_lost: f64,
    signal: f64,
    transmissions: f64,
    state: f64,
    before: f64,
}

impl Event {
    fn blank() -> Self {
        let none = f64::NAN;
        Self {
            now: 0.0,
            rtt: none,
            srtt: none,
            min_rtt: none,
            newly_acked: 0.0,
            in_flight: 0.0,
            una: 0.0,
            nxt: 0.0,
            app_limited: 0.0,
            may_grow: 1.0,
            marked: none,
            delivered: none,
            delivery_rate: none,
            newly_lost: 0.0,
            total_lost: 0.0,
            signal: none,
            transmissions: 0.0,
            state: word_code("open"),
            before: none,
        }
    }

    fn of_ack(&mut self, window: &Window, ack: &AckEvent<'_>, mss: u16, rates: bool) {
        let none = f64::NAN;
        self.rtt = ack.rtt.map_or(none, Time::as_secs);
        self.srtt = ack.sender.srtt().map_or(none, Time::as_secs);
        self.min_rtt = if ack.base_rtt == Time::NEVER { none } else { ack.base_rtt.as_secs() };
        self.newly_acked = ack.newly_acked;
        self.in_flight = ack.flight;
        self.una = ack.una as f64;
        self.nxt = ack.nxt as f64;
        self.app_limited = f64::from(ack.is_app_limited(window));
        self.may_grow = f64::from(ack.may_grow);
        self.marked = ack.sender.marked().unwrap_or(none);
        self.state = state_code(ack.sender.state());
        if let Some(sample) = ack.sender.rate().filter(|_| rates) {
            self.delivered = sample.total_delivered as f64;
            self.delivery_rate = crate::controller::delivery_rate(&sample, mss).unwrap_or(none);
            self.newly_lost = sample.newly_lost as f64;
            self.total_lost = sample.total_lost as f64;
        }
    }
}

fn state_code(state: CongestionState) -> f64 {
    word_code(crate::controller::word(state))
}

/// A compiled controller of one flow, as the engine calls it.
#[derive(Debug)]
pub struct Compiled {
    pub flow: String,
    pub watch: Arc<Watch>,
    pub rows: Rows,
    pub rates: bool,
    pub mss: u16,
    functions: [Option<Function>; 9],
    state: Box<[f64]>,
    event: Event,
    written: Box<[f64]>,
    /// What makes an error of a fault: the controller, its program and the name of that.
    object: Py<PyAny>,
    source: String,
    origin: String,
    pacing: Option<u64>,
    now: Time,
}

impl Compiled {
    /// Compiles the controller of a flow.
    #[allow(clippy::too_many_arguments, reason = "all of a flow, in one place")]
    pub fn new(
        py: Python<'_>,
        object: Py<PyAny>,
        program: (String, String),
        flow: String,
        watch: Arc<Watch>,
        rows: Rows,
        (mss, rates, records): (u16, bool, bool),
    ) -> PyResult<Self> {
        let (source, origin) = program;
        let build = py.import("ackclock.controllers.compiled")?.getattr("build")?;
        let made = build.call1((&object, &source, &origin, &flow))?;
        let (addresses, mut state, most): ([Option<usize>; 9], Vec<f64>, usize) = made.extract()?;
        if state.len() <= PACES {
            return Err(PyValueError::new_err(
                "a state of a compiled controller that is too short",
            ));
        }
        state[MSS] = f64::from(mss);
        state[PACING] = f64::NAN;
        state[RECORDS] = f64::from(records);
        state[PACES] = f64::from(rates);
        let functions = addresses.map(|address| address.map(function));
        let written = vec![0.0; 2 * most].into();
        let (pacing, now) = (None, Time::ZERO);
        let (state, event) = (state.into(), Event::blank());
        Ok(Self {
            flow,
            watch,
            rows,
            rates,
            mss,
            functions,
            state,
            event,
            written,
            object,
            source,
            origin,
            pacing,
            now,
        })
    }

    /// Calls a method, if there is one; what it answered, and what became of the window.
    fn call(
        &mut self,
        hook: Hook,
        window: &Window,
        fill: impl FnOnce(&mut Event),
    ) -> Option<(Window, Option<f64>)> {
        let function = self.functions[hook as usize]?;
        if self.watch.has_failed() {
            return None;
        }
        self.event.now = self.now.as_secs();
        fill(&mut self.event);
        let state = &mut self.state;
        state[CWND] = window.cwnd;
        state[SSTHRESH] = window.ssthresh;
        state[SEGMENT] = window.segment;
        state[NOW] = self.event.now;
        state[ANSWERED] = 0.0;
        state[TURNS] = 0.0;
        state[ROWS] = 0.0;
        if !run(function, state, &self.event, &mut self.written) {
            self.fail(hook);
            return None;
        }
        let answered = state[ANSWERED] != 0.0;
        let answer = state[ANSWER];
        if answered && !(matches!(hook, Hook::Loss) && answer >= 0.0) {
            self.refuse(hook, answer);
            return None;
        }
        let rows = self.state[ROWS] as usize;
        if rows > 0 {
            let pairs = self.written.chunks_exact(2).take(rows);
            self.rows.extend(self.event.now, pairs.map(|pair| (pair[0] as usize, pair[1])));
        }
        let state = &self.state;
        let rate = state[PACING];
        self.pacing = (!rate.is_nan()).then(|| rate.round() as u64);
        let after = Window { cwnd: state[CWND], ssthresh: state[SSTHRESH], ..*window };
        Some((after, answered.then_some(answer)))
    }

    /// The exception behind a fault that a method has left in the state.
    fn fail(&self, hook: Hook) {
        let state = &self.state;
        let error = Python::attach(|py| -> PyResult<PyErr> {
            let fault = py.import("ackclock.controllers.compiled")?.getattr("fault")?;
            let place = (state[LINE], state[FAULT], state[VALUE]);
            let at = (&self.origin, &self.flow, self.now.as_secs());
            let hook = HOOKS[hook as usize];
            Ok(PyErr::from_value(fault.call1((&self.object, &self.source, hook, place, at))?))
        });
        let error = error.unwrap_or_else(|error| error);
        self.watch.fail(error, "flow", self.flow.clone(), self.now);
    }

    fn refuse(&self, hook: Hook, answer: f64) {
        let message = match hook {
            Hook::Loss => format!("ssthresh = {answer}: the slow-start threshold is 0 or more"),
            _ => {
                let name = HOOKS[hook as usize];
                format!("{name} returned {answer}: set self.cwnd, and return nothing")
            }
        };
        let error = PyValueError::new_err(message);
        self.watch.fail(error, "flow", self.flow.clone(), self.now);
    }
}

/// A function at an address that numba gave.
#[allow(unsafe_code, reason = "numba gives an address and no more")]
fn function(address: usize) -> Function {
    // SAFETY: `compiled.build` gives addresses of functions that numba has compiled with this signature, and keeps
    // them as long as the process lives.
    unsafe { std::mem::transmute::<usize, Function>(address) }
}

/// Calls a function; false if it has left a fault in the state.
#[allow(unsafe_code, reason = "numba gives an address and no more")]
fn run(function: Function, state: &mut [f64], event: &Event, written: &mut [f64]) -> bool {
    // SAFETY: the function reads and writes these arrays only, at places that `compiled.build` has laid out and whose
    // number it gave; all indices in it are constants, or below the number of rows.
    unsafe {
        function(state.as_mut_ptr(), std::ptr::from_ref(event).cast(), written.as_mut_ptr()) == 0
    }
}

impl foreign::Controller for Compiled {
    fn on_event(&mut self, window: &mut Window, happening: &Happening<'_>) -> bool {
        let (mss, rates, before) = (self.mss, self.rates, *window);
        self.now = crate::controller::time_of(happening, self.now);
        let after = match happening {
            Happening::Start => self.call(Hook::Start, &before, |_| {}),
            Happening::Established(_, rtt) => {
                self.call(Hook::Established, &before, |event| event.rtt = rtt.as_secs())
            }
            Happening::Sample(ack) => {
                self.call(Hook::Sample, &before, |event| event.of_ack(&before, ack, mss, rates))
            }
            Happening::Ack(ack) => {
                self.call(Hook::Ack, &before, |event| event.of_ack(&before, ack, mss, rates))
            }
            Happening::State(change) => self.call(Hook::State, &before, |event| {
                event.state = state_code(change.state);
                event.in_flight = change.flight;
                event.una = change.una as f64;
                event.nxt = change.nxt as f64;
                event.total_lost = change.total_lost as f64;
            }),
            Happening::Undo(cwnd) => self.call(Hook::Undo, &before, |event| event.before = *cwnd),
            Happening::Idle(_) => self.call(Hook::Idle, &before, |_| {}),
            Happening::Tick => self.call(Hook::Tick, &before, |_| {}),
        };
        if let Some((after, _)) = after {
            *window = after;
        }
        after.is_some()
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        self.now = loss.now;
        let (after, answer) = self.call(Hook::Loss, window, |event| {
            event.signal = word_code(match loss.signal {
                Signal::Gap => "gap",
                Signal::Timeout => "timeout",
                Signal::Ecn => "ecn",
            });
            event.in_flight = loss.flight;
            event.transmissions = f64::from(loss.transmissions);
        })?;
        crate::controller::asked_for(window, &after, answer)
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
    }
}
