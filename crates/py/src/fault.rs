//! Faults of the engine: a panic becomes an exception that says what to do, and not the end of a notebook.

use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

thread_local! {
    /// What the last panic of this thread said, and where.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From now on a panic is kept for [`guarded`], in the place of a message on standard error.
pub fn keep_panics() {
    set_hook(Box::new(|panic| LAST.set(panic.to_string())));
}

/// Does work of the engine without the interpreter lock. After a panic the objects that took part are not to be used
/// any more.
pub fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.take()));
    done.or_else(|panic| {
        let kind = py.import("ackclock.errors")?.getattr("EngineFault")?;
        Err(PyErr::from_value(kind.call1((panic.replace('\n', " "),))?))
    })
}
