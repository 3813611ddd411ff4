//! Controllers in Python that numba has compiled: functions over arrays of numbers, called without the interpreter.
//!
//! The places of the arrays are declared here, once; `python/ackclock/controllers/compiled/layout.py` asks for them.

use crate::controller::{
    Event, HOOKS, Hook, Methods, Rows, Watch, checked_ssthresh, shown, unwanted,
};
use ackclock_sim::controller::Window;
use ackclock_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// What numba makes of a method: state, event, rows to record; 0 if no exception ended it.
type Function = unsafe extern "C" fn(*mut f64, *const f64, *mut f64) -> i32;

/// Declares the places of the array of state, with the names that `layout.py` gives them.
macro_rules! places {
    ($($place:ident = $name:literal),* $(,)?) => {
        /// Names of the places of the array of state, in their order; a program's own attributes come after these.
        pub const STATE: &[&str] = &[$($name),*];

        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "names of constants")]
        enum Place { $($place),* }

        $(const $place: usize = Place::$place as usize;)*
    };
}

places! {
    CWND = "cwnd", SSTHRESH = "ssthresh", SEGMENT = "segment", MSS = "mss", NOW = "now", PACING = "pacing_rate",
    // What passes between the engine and the functions, beside the attributes of a controller.
    ANSWER = "answer", ANSWERED = "answered", LINE = "line", FAULT = "fault", VALUE = "value", TURNS = "turns",
    RECORDS = "records", ROWS = "rows", PACES = "paces",
}

/// Declares an event as numbers, and the names of these.
macro_rules! numbers {
    ($($field:ident),* $(,)?) => {
        /// Names of the numbers of an event, in their order.
        pub const EVENT: &[&str] = &[$(stringify!($field)),*];

        /// An event as numbers, NaN for what is not known.
        #[derive(Debug, Clone, Copy)]
        #[repr(C)]
        struct Numbers { $($field: f64),* }
    };
}

numbers! {
    now, rtt, srtt, min_rtt, newly_acked, in_flight, una, nxt, app_limited, may_grow, marked, delivered, delivery_rate,
    newly_lost, total_lost, signal, transmissions, state, before,
}

impl From<&Event> for Numbers {
    fn from(event: &Event) -> Self {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Self {
            now: event.now,
            rtt: number(event.rtt),
            srtt: number(event.srtt),
            min_rtt: number(event.min_rtt),
            newly_acked: event.newly_acked,
            in_flight: event.in_flight,
            una: event.una as f64,
            nxt: event.nxt as f64,
            app_limited: f64::from(event.app_limited),
            may_grow: f64::from(event.may_grow),
            marked: number(event.marked),
            delivered: number(event.delivered.map(|delivered| delivered as f64)),
            delivery_rate: number(event.delivery_rate),
            newly_lost: event.newly_lost as f64,
            total_lost: event.total_lost as f64,
            signal: number(event.signal.map(word_code)),
            transmissions: f64::from(event.transmissions),
            state: word_code(event.state),
            before: number(event.before),
        }
    }
}

/// Words of signals and states, in the order of their numbers, from 1 on.
pub const WORDS: [&str; 8] =
    ["gap", "timeout", "ecn", "open", "disorder", "cwr", "recovery", "loss"];

/// The number of a word.
fn word_code(word: &str) -> f64 {
    WORDS.iter().position(|known| *known == word).map_or(f64::NAN, |place| place as f64 + 1.0)
}

/// Methods of a controller of one flow, compiled.
#[derive(Debug)]
pub struct Compiled {
    flow: String,
    watch: Arc<Watch>,
    rows: Rows,
    functions: [Option<Function>; 9],
    state: Box<[f64]>,
    event: Event,
    written: Box<[f64]>,
    /// What makes an error of a fault: the controller, its program and the name of that.
    object: Py<PyAny>,
    source: String,
    origin: String,
    pacing: Option<u64>,
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
        let (state, event) = (state.into(), Event::blank());
        Ok(Self {
            flow,
            watch,
            rows,
            functions,
            state,
            event,
            written,
            object,
            source,
            origin,
            pacing: None,
        })
    }

    /// Ends the run by this exception of a method.
    fn end(&self, error: PyErr, hook: Hook, now: Time) {
        let method = Python::attach(|py| self.object.getattr(py, HOOKS[hook as usize]).ok());
        self.watch.fail(error, method, "flow", self.flow.clone(), now);
    }

    /// The exception behind a fault that a method has left in the state.
    fn fail(&self, hook: Hook, now: Time) {
        let state = &self.state;
        let error = Python::attach(|py| -> PyResult<PyErr> {
            let fault = py.import("ackclock.controllers.compiled")?.getattr("fault")?;
            let place = (state[LINE], state[FAULT], state[VALUE]);
            let at = (&self.origin, &self.flow, now.as_secs());
            let hook = HOOKS[hook as usize];
            Ok(PyErr::from_value(fault.call1((&self.object, &self.source, hook, place, at))?))
        });
        self.end(error.unwrap_or_else(|error| error), hook, now);
    }
}

impl Methods for Compiled {
    fn call(
        &mut self,
        hook: Hook,
        window: &Window,
        now: Time,
        fill: impl FnOnce(&mut Event),
    ) -> Option<(Window, Option<f64>)> {
        let function = self.functions[hook as usize]?;
        if self.watch.has_failed() {
            return None;
        }
        self.event.now = now.as_secs();
        fill(&mut self.event);
        let state = &mut self.state;
        state[CWND] = window.cwnd;
        state[SSTHRESH] = window.ssthresh;
        state[SEGMENT] = window.segment;
        state[NOW] = self.event.now;
        state[ANSWERED] = 0.0;
        state[TURNS] = 0.0;
        state[ROWS] = 0.0;
        if !run(function, state, &Numbers::from(&self.event), &mut self.written) {
            self.fail(hook, now);
            return None;
        }
        let answered = state[ANSWERED] != 0.0;
        let answer = state[ANSWER];
        let refused = match hook {
            _ if !answered => None,
            Hook::Loss => checked_ssthresh(answer).err(),
            _ => Some(unwanted(hook, shown(answer))),
        };
        if let Some(error) = refused {
            self.end(error, hook, now);
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

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
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
fn run(function: Function, state: &mut [f64], event: &Numbers, written: &mut [f64]) -> bool {
    // SAFETY: the function reads and writes these arrays only, at places that `compiled.build` has laid out and whose
    // number it gave; all indices in it are constants, or below the number of rows.
    unsafe {
        function(state.as_mut_ptr(), std::ptr::from_ref(event).cast(), written.as_mut_ptr()) == 0
    }
}
