//! Congestion control in Python: the base class of controllers, and what calls it for a flow.
//!
//! A run goes on without the interpreter lock, which is taken for each call and for no longer. An event is one
//! object for each flow, written in place; what a method asks for becomes a Python number then and not before.

use ackclock_sim::controller::{
    self as foreign, AckEvent, CongestionState, Event as Happening, LossEvent, RateSample, Signal,
    Window,
};
use ackclock_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::fmt::{Debug, Display};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// More segments than that are no window of a network on Earth.
const MOST_SEGMENTS: f64 = 1e9;

/// What an algorithm holds: the base class of `ackclock.CongestionControl`.
#[pyclass(subclass, module = "ackclock._core")]
pub struct Controller {
    cwnd: f64,
    ssthresh: f64,
    #[pyo3(get)]
    segment: f64,
    /// Payload bytes of a full segment.
    #[pyo3(get)]
    mss: u16,
    pacing_rate: Option<f64>,
    #[pyo3(get)]
    now: f64,
    paces: bool,
    variables: Vec<String>,
    rows: Rows,
    records: bool,
}

/// What a controller has written down since it was last asked: times, places of the names, values.
#[derive(Debug, Clone, Default)]
pub struct Rows(Arc<Mutex<Vec<(f64, usize, f64)>>>);

impl Rows {
    pub fn extend(&self, now: f64, values: impl Iterator<Item = (usize, f64)>) {
        if let Ok(mut rows) = self.0.lock() {
            rows.extend(values.map(|(name, value)| (now, name, value)));
        }
    }

    /// What was written down since the last time.
    pub fn take(&self) -> Vec<(f64, usize, f64)> {
        self.0.lock().map_or_else(|_| Vec::new(), |mut rows| std::mem::take(&mut *rows))
    }
}

impl Controller {
    pub fn rows(&self) -> Rows {
        self.rows.clone()
    }

    pub fn prepare(&mut self, mss: u16, paces: bool, records: bool, variables: Vec<String>) {
        (self.mss, self.paces, self.records) = (mss, paces, records);
        self.variables = variables;
    }

    fn checked_cwnd(&self, cwnd: f64) -> PyResult<f64> {
        let most = MOST_SEGMENTS * self.segment;
        if cwnd > 0.0 && cwnd <= most {
            return Ok(cwnd);
        }
        let allowed = format!("a number above 0 and up to {most:e} (segment is {})", self.segment);
        Err(PyValueError::new_err(format!("cwnd = {}: the window is {allowed}", shown(cwnd))))
    }
}

/// A number as messages show it.
pub fn shown(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

/// The threshold that a method has returned, or set.
pub fn checked_ssthresh(ssthresh: f64) -> PyResult<f64> {
    if ssthresh >= 0.0 {
        return Ok(ssthresh);
    }
    let message = format!("ssthresh = {}: the slow-start threshold is 0 or more", shown(ssthresh));
    Err(PyValueError::new_err(message))
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (*_args, **_settings))]
    fn new(_args: &Bound<'_, PyTuple>, _settings: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            segment: 1.0,
            mss: 0,
            pacing_rate: None,
            now: 0.0,
            paces: false,
            variables: Vec::new(),
            rows: Rows::default(),
            records: false,
        }
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, cwnd: f64) -> PyResult<()> {
        self.cwnd = self.checked_cwnd(cwnd)?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, ssthresh: f64) -> PyResult<()> {
        self.ssthresh = checked_ssthresh(ssthresh)?;
        Ok(())
    }

    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    #[setter]
    fn set_pacing_rate(&mut self, rate: Option<f64>) -> PyResult<()> {
        match rate {
            Some(_) if !self.paces => {
                let message = "pacing_rate has no effect: write `needs_rate = True` in the class";
                return Err(PyValueError::new_err(message));
            }
            Some(rate) if !(1.0..=1e15).contains(&rate) => {
                let message = format!("pacing_rate = {}: 1 to 1e15 bit/s, or None", shown(rate));
                return Err(PyValueError::new_err(message));
            }
            _ => self.pacing_rate = rate,
        }
        Ok(())
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Writes down a value of the algorithm's own.
    fn record(&mut self, name: &str, value: f64) -> PyResult<()> {
        let Some(code) = self.variables.iter().position(|known| known == name) else {
            let message = format!("'{name}' is not declared: add it to `variables` of the class");
            return Err(PyValueError::new_err(message));
        };
        if self.records {
            self.rows.extend(self.now, std::iter::once((code, value)));
        }
        Ok(())
    }
}

/// What an algorithm hears of; one for each flow, written anew for each call.
#[pyclass(module = "ackclock._core", get_all)]
#[derive(Debug, Default)]
pub struct Event {
    pub now: f64,
    pub rtt: Option<f64>,
    pub srtt: Option<f64>,
    pub min_rtt: Option<f64>,
    pub newly_acked: f64,
    pub in_flight: f64,
    pub una: u64,
    pub nxt: u64,
    pub app_limited: bool,
    pub may_grow: bool,
    pub marked: Option<f64>,
    pub delivered: Option<u64>,
    pub delivery_rate: Option<f64>,
    pub newly_lost: u64,
    pub total_lost: u64,
    pub signal: Option<&'static str>,
    pub transmissions: u32,
    pub state: &'static str,
    pub before: Option<f64>,
}

fn secs(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.as_secs())
}

fn word(state: CongestionState) -> &'static str {
    match state {
        CongestionState::Open => "open",
        CongestionState::Disorder => "disorder",
        CongestionState::Cwr => "cwr",
        CongestionState::Recovery => "recovery",
        CongestionState::Loss => "loss",
    }
}

/// What a sample says of the rate, bit/s.
fn delivery_rate(sample: &RateSample, mss: u16) -> Option<f64> {
    let delivered = sample.delivered.filter(|_| sample.interval > Time::ZERO);
    delivered.map(|n| n as f64 * f64::from(mss) * 8.0 / sample.interval.as_secs())
}

/// When something happened; what knows no time happened at that of the last event.
fn time_of(happening: &Happening<'_>, last: Time) -> Time {
    match happening {
        Happening::Established(now, _) | Happening::Idle(now) => *now,
        Happening::Sample(ack) | Happening::Ack(ack) => ack.now,
        Happening::State(change) => change.now,
        Happening::Start | Happening::Undo(_) | Happening::Tick => last,
    }
}

/// The threshold that a method asks for: its answer, or what it has set. A method that sets the window, or the
/// threshold, means what it leaves there.
fn asked_for(before: &Window, after: &Window, answer: Option<f64>) -> Option<f64> {
    let set = |before: f64, after: f64| (before != after).then_some(after);
    answer.or(set(before.ssthresh, after.ssthresh)).or(set(before.cwnd, after.cwnd))
}

impl Event {
    /// That of a flow to which nothing has happened.
    pub fn blank() -> Self {
        Self { may_grow: true, state: "open", ..Self::default() }
    }

    fn of_ack(&mut self, window: &Window, ack: &AckEvent<'_>, mss: u16, rates: bool) {
        self.now = ack.now.as_secs();
        self.rtt = ack.rtt.map(|rtt| rtt.as_secs());
        self.srtt = ack.sender.srtt().map(|srtt| srtt.as_secs());
        self.min_rtt = secs(ack.base_rtt);
        self.newly_acked = ack.newly_acked;
        self.in_flight = ack.flight;
        self.una = ack.una;
        self.nxt = ack.nxt;
        self.app_limited = ack.is_app_limited(window);
        self.may_grow = ack.may_grow;
        self.marked = ack.sender.marked();
        self.state = word(ack.sender.state());
        if let Some(sample) = ack.sender.rate().filter(|_| rates) {
            self.delivered = Some(sample.total_delivered);
            self.delivery_rate = delivery_rate(&sample, mss);
            self.newly_lost = sample.newly_lost;
            self.total_lost = sample.total_lost;
        }
    }
}

/// What all controllers of a run share.
#[derive(Debug, Default)]
pub struct Watch {
    failed: AtomicBool,
    calls: AtomicU64,
    fault: Mutex<Option<Fault>>,
}

/// For a thread that looks whether calls come to an end.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Calls(pub Arc<Watch>);

#[pymethods]
impl Calls {
    /// Calls that have begun or ended: an odd number while one is under way.
    #[getter]
    fn count(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct Fault {
    /// Flow or link, and its name.
    what: &'static str,
    error: PyErr,
    flow: String,
    at: Time,
    /// What was called.
    method: Option<Py<PyAny>>,
}

impl Watch {
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A call begins, or has ended.
    pub fn begin_or_end(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the run by this exception of a method.
    pub fn fail(
        &self,
        error: PyErr,
        method: Option<Py<PyAny>>,
        what: &'static str,
        flow: String,
        at: Time,
    ) {
        if let Ok(mut fault) = self.fault.lock() {
            *fault = Some(Fault { what, error, flow, at, method });
        }
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The exception that ends the run, for the caller of it.
    pub fn raise(&self, py: Python<'_>) -> PyResult<PyErr> {
        let fault = self.fault.lock().map_or(None, |mut fault| fault.take());
        let Some(Fault { what, error, flow, at, method }) = fault else {
            return Ok(PyValueError::new_err("the run has ended by a fault of its controller"));
        };
        let explain = py.import("ackclock.controllers.faults")?.getattr("explain")?;
        let arguments = (error.into_value(py), flow, at.as_secs(), what, method);
        Ok(PyErr::from_value(explain.call1(arguments)?))
    }
}

/// The methods that a controller may have.
#[derive(Debug, Clone, Copy)]
pub enum Hook {
    Start,
    Established,
    Sample,
    Ack,
    Loss,
    State,
    Undo,
    Idle,
    Tick,
}

/// Their names, in this order.
pub const HOOKS: [&str; 9] = [
    "on_start",
    "on_established",
    "on_sample",
    "on_ack",
    "on_loss",
    "on_state",
    "on_undo",
    "on_idle",
    "on_tick",
];

/// Those of the methods that are not those of the base class.
pub fn own_methods<const N: usize>(
    object: &Bound<'_, PyAny>,
    base: &Bound<'_, PyAny>,
    names: [&str; N],
) -> PyResult<[Option<Py<PyAny>>; N]> {
    let mut methods = [const { None }; N];
    for (name, method) in names.iter().zip(&mut methods) {
        if !object.get_type().getattr(*name)?.is(&base.getattr(*name)?) {
            *method = Some(object.getattr(*name)?.unbind());
        }
    }
    Ok(methods)
}

/// The fault of a method that returns what nobody asks for.
pub fn unwanted(hook: Hook, answer: impl Display) -> PyErr {
    let name = HOOKS[hook as usize];
    let wanted = match hook {
        Hook::Loss => "return the slow-start threshold, a number, or nothing",
        _ => "set self.cwnd, and return nothing",
    };
    PyValueError::new_err(format!("{name} returned {answer}: {wanted}"))
}

/// What a method has returned, as messages show it.
pub fn returned(answer: &Bound<'_, PyAny>) -> String {
    let shown = answer.py().import("reprlib").and_then(|lib| lib.call_method1("repr", (answer,)));
    shown.map_or_else(|_| format!("a {}", answer.get_type()), |shown| shown.to_string())
}

/// The methods of a controller, in Python or compiled.
pub trait Methods: Debug + Send + Sync {
    /// Calls a method, if there is one; what it answered, and what became of the window.
    fn call(
        &mut self,
        hook: Hook,
        window: &Window,
        now: Time,
        fill: impl FnOnce(&mut Event),
    ) -> Option<(Window, Option<f64>)>;

    /// Bits per second at which packets leave, as it has set them.
    fn pacing_rate(&self) -> Option<u64>;
}

/// Methods in Python.
#[derive(Debug)]
pub struct Plain {
    flow: String,
    watch: Arc<Watch>,
    object: Py<Controller>,
    event: Py<Event>,
    methods: [Option<Py<PyAny>>; 9],
    arguments: Py<PyTuple>,
    pacing: Option<u64>,
}

impl Plain {
    pub fn new(
        py: Python<'_>,
        object: Py<Controller>,
        flow: String,
        watch: Arc<Watch>,
    ) -> PyResult<Self> {
        let base = py.import("ackclock.controllers")?.getattr("CongestionControl")?;
        let methods = own_methods(object.bind(py).as_any(), &base, HOOKS)?;
        let event = Py::new(py, Event::blank())?;
        let arguments = PyTuple::new(py, [&event])?.unbind();
        Ok(Self { flow, watch, object, event, methods, arguments, pacing: None })
    }
}

impl Methods for Plain {
    fn call(
        &mut self,
        hook: Hook,
        window: &Window,
        now: Time,
        fill: impl FnOnce(&mut Event),
    ) -> Option<(Window, Option<f64>)> {
        let method = self.methods[hook as usize].as_ref()?;
        if self.watch.has_failed() {
            return None;
        }
        let called = Python::attach(|py| -> PyResult<_> {
            {
                let mut event = self.event.bind(py).borrow_mut();
                event.now = now.as_secs();
                fill(&mut event);
                let mut object = self.object.bind(py).try_borrow_mut()?;
                object.cwnd = window.cwnd;
                object.ssthresh = window.ssthresh;
                object.segment = window.segment;
                object.now = event.now;
            }
            self.watch.begin_or_end();
            let answer = method.bind(py).call1(self.arguments.bind(py).as_borrowed().to_owned());
            self.watch.begin_or_end();
            let answer = answer?;
            let object = self.object.bind(py).try_borrow()?;
            let answer = if answer.is_none() {
                None
            } else if let Hook::Loss = hook {
                let number = answer.extract().map_err(|_| unwanted(hook, returned(&answer)))?;
                Some(checked_ssthresh(number)?)
            } else {
                return Err(unwanted(hook, returned(&answer)));
            };
            self.pacing = object.pacing_rate.map(|rate| rate.round() as u64);
            Ok((Window { cwnd: object.cwnd, ssthresh: object.ssthresh, ..*window }, answer))
        });
        match called {
            Ok(answer) => Some(answer),
            Err(error) => {
                let method = Python::attach(|py| method.clone_ref(py));
                self.watch.fail(error, Some(method), "flow", self.flow.clone(), now);
                None
            }
        }
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
    }
}

/// A controller of one flow, as the engine calls it.
#[derive(Debug)]
pub struct Caller<M> {
    methods: M,
    mss: u16,
    rates: bool,
    now: Time,
}

impl<M> Caller<M> {
    pub fn new(methods: M, mss: u16, rates: bool) -> Self {
        Self { methods, mss, rates, now: Time::ZERO }
    }
}

impl<M: Methods> foreign::Controller for Caller<M> {
    fn on_event(&mut self, window: &mut Window, happening: &Happening<'_>) -> bool {
        let (mss, rates, before) = (self.mss, self.rates, *window);
        let methods = &mut self.methods;
        let now = time_of(happening, self.now);
        self.now = now;
        let after = match happening {
            Happening::Start => methods.call(Hook::Start, &before, now, |_| {}),
            Happening::Established(_, rtt) => {
                methods
                    .call(Hook::Established, &before, now, |event| event.rtt = Some(rtt.as_secs()))
            }
            Happening::Sample(ack) => methods
                .call(Hook::Sample, &before, now, |event| event.of_ack(&before, ack, mss, rates)),
            Happening::Ack(ack) => methods
                .call(Hook::Ack, &before, now, |event| event.of_ack(&before, ack, mss, rates)),
            Happening::State(change) => methods.call(Hook::State, &before, now, |event| {
                event.state = word(change.state);
                event.in_flight = change.flight;
                event.una = change.una;
                event.nxt = change.nxt;
                event.total_lost = change.total_lost;
            }),
            Happening::Undo(cwnd) => {
                methods.call(Hook::Undo, &before, now, |event| event.before = Some(*cwnd))
            }
            Happening::Idle(_) => methods.call(Hook::Idle, &before, now, |_| {}),
            Happening::Tick => methods.call(Hook::Tick, &before, now, |_| {}),
        };
        if let Some((after, _)) = after {
            *window = after;
        }
        after.is_some()
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        self.now = loss.now;
        let (after, answer) = self.methods.call(Hook::Loss, window, loss.now, |event| {
            event.signal = Some(match loss.signal {
                Signal::Gap => "gap",
                Signal::Timeout => "timeout",
                Signal::Ecn => "ecn",
            });
            event.in_flight = loss.flight;
            event.transmissions = loss.transmissions;
        })?;
        asked_for(window, &after, answer)
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.methods.pacing_rate()
    }
}
