//! Ackclock in a browser: a scenario goes in as text, a run is advanced bit by bit, figures come out as JSON and
//! records as columns in the memory of the module.
//!
//! JavaScript asks for room with `input`, writes UTF-8 there, and calls `read`. What a function answers in words is at
//! `answer`, `answer_length` bytes of JSON; it and all columns stay where they are until the next call. After a panic
//! the module is of no use any more; what went wrong is at `fault`.
//!
//! No files, no clock: the caller decides how long to go on.

#![expect(unsafe_code, reason = "a name that JavaScript can call is an unsafe attribute")]

mod desk;
mod document;
mod reader;

use desk::Desk;
use std::cell::RefCell;
use std::panic::set_hook;

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
    static FAULT: RefCell<String> = const { RefCell::new(String::new()) };
}

fn desk<T>(act: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(act)
}

/// Room for a text of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    set_hook(Box::new(|panic| FAULT.set(panic.to_string())));
    desk(|desk| {
        desk.input = vec![0; length];
        desk.input.as_mut_ptr()
    })
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    desk(|desk| desk.answer.as_ptr())
}

/// Its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    desk(|desk| desk.answer.len())
}

/// Where the words of the last panic are.
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    FAULT.with_borrow(|words| words.as_ptr())
}

/// Their length in bytes; 0 if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn fault_length() -> usize {
    FAULT.with_borrow(String::len)
}

/// Reads the input as a scenario in YAML or JSON. Answers `{problems, warnings}`, each with its place; a scenario
/// without problems is kept.
#[unsafe(no_mangle)]
pub extern "C" fn read() {
    desk(Desk::read);
}

/// Answers the values of the last text: `[path, line, column, value]` each, null for lists and mappings.
#[unsafe(no_mangle)]
pub extern "C" fn outline() {
    desk(Desk::outline);
}

/// Answers the kept scenario in numbers.
#[unsafe(no_mangle)]
pub extern "C" fn model() {
    desk(Desk::model);
}

/// Begins a run of the kept scenario. With 1 all that a page shows is recorded, up to `most_bytes`; with 0 nothing.
/// Answers 0, or, where that would be too much, the length in seconds of the intervals of which the extremes of
/// round-trip times, queues and data in flight are kept.
#[unsafe(no_mangle)]
pub extern "C" fn start(recorded: u32, most_bytes: f64) -> f64 {
    desk(|desk| desk.start((recorded != 0).then_some(most_bytes)))
}

/// Goes on to a time in seconds, or for this many events; 1 if the run is over.
#[unsafe(no_mangle)]
pub extern "C" fn advance(until_s: f64, events: u32) -> u32 {
    desk(|desk| desk.advance(until_s, events)).into()
}

/// Present simulated time, seconds.
#[unsafe(no_mangle)]
pub extern "C" fn now() -> f64 {
    desk(|desk| desk.run().now().as_secs())
}

/// Simulated time at which the run ends at the latest, seconds.
#[unsafe(no_mangle)]
pub extern "C" fn stop() -> f64 {
    desk(|desk| desk.run().scenario().stop.at_latest.as_secs())
}

/// Events handled so far.
#[unsafe(no_mangle)]
pub extern "C" fn events() -> f64 {
    desk(|desk| desk.run().counters().events as f64)
}

/// Takes out what was recorded so far. Answers where: `{table: {column: [type, place, length]}}`.
#[unsafe(no_mangle)]
pub extern "C" fn take_records() {
    desk(Desk::take_records);
}

/// Ends the run, wherever it is. Answers its summary and its records: `{summary, tables, categories}`.
#[unsafe(no_mangle)]
pub extern "C" fn finish() {
    desk(Desk::finish);
}

/// Sets the window, in segments, of the flow that the reader of the page controls.
#[unsafe(no_mangle)]
pub extern "C" fn set_window(segments: f64) {
    reader::set_window(segments);
}
