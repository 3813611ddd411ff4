//! A congestion control whose window somebody sets by hand while the run goes on.

use ackclock_sim::controller::{Controller, Event, LossEvent, Window};
use ackclock_sim::model::{Flow, Transport};
use std::cell::Cell;

/// The `origin` of the controllers that a page gives to its reader; all others are programs in Python.
const ORIGIN: &str = "the reader";

thread_local! {
    static SEGMENTS: Cell<f64> = const { Cell::new(10.0) };
}

/// From the next ACK on the window has this many segments.
pub fn set_window(segments: f64) {
    SEGMENTS.set(segments);
}

/// Whether the congestion control of a flow is a program in Python.
pub fn is_program(flow: &Flow) -> bool {
    origin(flow).is_some_and(|origin| origin != ORIGIN)
}

/// The controller of a flow that the reader controls.
pub fn of(flow: &Flow) -> Option<Box<dyn Controller>> {
    (origin(flow)? == ORIGIN).then(|| Box::new(Reader) as Box<dyn Controller>)
}

fn origin(flow: &Flow) -> Option<&str> {
    match &flow.transport {
        Transport::Tcp(tcp) if tcp.cc.kind == "python" => Some(tcp.cc.word("origin")),
        _ => None,
    }
}

/// Losses leave the window as it is: the reader decides.
#[derive(Debug)]
struct Reader;

impl Controller for Reader {
    fn on_event(&mut self, window: &mut Window, _: &Event<'_>) -> bool {
        window.cwnd = SEGMENTS.get().max(1.0) * window.segment;
        window.ssthresh = f64::INFINITY;
        true
    }

    fn on_loss(&mut self, _: &Window, _: &LossEvent) -> Option<f64> {
        None
    }

    fn pacing_rate(&self) -> Option<u64> {
        None
    }
}
