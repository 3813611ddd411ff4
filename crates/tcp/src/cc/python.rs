//! A controller that lives outside the engine, such as a class in Python.
//!
//! The engine knows no interpreter: whoever makes a run hands in an object for each flow that asks for one
//! ([`Foreign::attach`]). What the algorithm needs stands in the document, so that it can be checked without it.

use super::{AckEvent, CongestionControl, LossEvent, StateEvent, Window};
use crate::journal::Rule;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use std::fmt::Debug;

pub(super) static ENTRY: Entry = Entry {
    name: "python",
    summary: help("An algorithm of your own, written in Python."),
    references: &["docs/python-controllers.md"],
    params: &[
        Param::required("class", Kind::Text, "Name of the class."),
        Param::required(
            "source",
            Kind::Text,
            "Source code of the program; `file: PATH` in a scenario file is replaced by it.",
        ),
        Param::new("origin", Kind::Text, "controller.py", "Name of the program in messages."),
        Param::new(
            "parameters",
            Kind::Text,
            "{}",
            "Parameters of the class; written as a mapping.",
        ),
        Param::new("needs_rate", Kind::Flag, "false", "Whether it uses pacing or rate samples."),
        Param::new(
            "owns_window",
            Kind::Flag,
            "false",
            "Whether it also sets the window during recovery.",
        ),
        Param::new(
            "compile",
            Kind::Flag,
            "false",
            "Whether to compile it with numba; results are the same, runs are faster.",
        ),
        Param::optional("tick_period", Kind::Time, "none", "Time between calls of `on_tick`.")
            .at_least("100 us"),
    ],
    label: "Python",
    ..Entry::BLANK
};

/// Something that happens to a flow and that a controller may answer by a change of the window.
#[derive(Debug)]
pub enum Event<'a> {
    /// The flow starts.
    Start,
    /// The handshake is over, and took so long.
    Established(Time, Time),
    /// An ACK of new data, before the sender reacts.
    Sample(&'a AckEvent<'a>),
    /// An ACK.
    Ack(&'a AckEvent<'a>),
    /// The sender's state has changed.
    State(&'a StateEvent),
    /// The last reduction answered no loss; the window of before.
    Undo(f64),
    /// The flow sends again after it was idle for long.
    Idle(Time),
    /// The period has passed.
    Tick,
}

/// What a run hands in for a flow.
pub trait Controller: Debug + Send + Sync {
    /// Something happened; false if the controller has no answer to such things.
    fn on_event(&mut self, window: &mut Window, event: &Event<'_>) -> bool;

    /// As [`CongestionControl::on_loss`].
    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64>;

    /// As [`CongestionControl::pacing_rate`].
    fn pacing_rate(&self) -> Option<u64>;
}

/// What a document says of a controller, and the controller once a run has handed it in.
#[derive(Debug)]
pub struct Foreign {
    needs_rate: bool,
    owns_window: bool,
    tick_period: Option<Time>,
    controller: Option<Box<dyn Controller>>,
}

/// A copy has the same needs, and waits for a controller of its own.
impl Clone for Foreign {
    fn clone(&self) -> Self {
        Self { controller: None, ..*self }
    }
}

impl Foreign {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            needs_rate: chosen.flag("needs_rate"),
            owns_window: chosen.flag("owns_window"),
            tick_period: chosen.optional_int("tick_period_ns").map(Time::from_ns),
            controller: None,
        }
    }

    /// From now on this controller answers.
    pub fn attach(&mut self, controller: Box<dyn Controller>) {
        self.controller = Some(controller);
    }

    fn call(&mut self, window: &mut Window, event: &Event<'_>) -> bool {
        self.controller.as_mut().is_some_and(|controller| controller.on_event(window, event))
    }
}

impl CongestionControl for Foreign {
    fn on_sample(&mut self, window: &mut Window, ack: &AckEvent) {
        self.call(window, &Event::Sample(ack));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        self.call(window, &Event::Ack(ack));
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        self.controller.as_mut().and_then(|controller| controller.on_loss(window, loss))
    }

    fn on_start(&mut self, window: &mut Window) {
        self.call(window, &Event::Start);
    }

    fn on_established(&mut self, window: &mut Window, now: Time, rtt: Time) {
        self.call(window, &Event::Established(now, rtt));
    }

    fn on_state(&mut self, window: &mut Window, change: &StateEvent) {
        self.call(window, &Event::State(change));
    }

    fn on_undo(&mut self, window: &mut Window, before: f64) {
        if !self.call(window, &Event::Undo(before)) {
            window.cwnd = window.cwnd.max(before);
        }
    }

    fn on_idle(&mut self, window: &mut Window, now: Time) {
        self.call(window, &Event::Idle(now));
    }

    fn needs_rate(&self) -> bool {
        self.needs_rate
    }

    fn owns_window(&self) -> bool {
        self.owns_window
    }

    // Nobody can know before the run whether the class asks for the round-trip time.
    fn needs_send_times(&self) -> bool {
        true
    }

    fn tick_period(&self) -> Option<Time> {
        self.tick_period
    }

    fn on_tick(&mut self, window: &mut Window) {
        self.call(window, &Event::Tick);
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.controller.as_ref().and_then(|controller| controller.pacing_rate())
    }

    fn phase(&self) -> Option<Rule> {
        Some(Rule::Own)
    }
}
