//! Many documents at once: whether each can be run, and which experiment it is.

use ackclock_sim::document;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is known of a document: its identity, its seed, and its errors as JSON text.
type Identified = (Option<String>, u64, Option<String>);

/// Checks many scenario documents on `workers` threads.
///
/// Answers for each, in their order, `(identity, seed, errors)`. The identity is text that is equal for
/// two documents exactly if their runs are equal for equal seeds; None for a document with errors, which
/// are told as JSON text as by `check`.
#[pyfunction]
pub fn identify(py: Python<'_>, documents: Vec<String>, workers: usize) -> Vec<Identified> {
    py.detach(|| {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                match documents.get(index) {
                    Some(document) => done.push((index, one(document))),
                    None => return done,
                }
            }
        };
        let threads = workers.min(documents.len());
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                all.extend(other.join().expect("checking a document does not panic"));
            }
            all
        });
        all.sort_unstable_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, identified)| identified).collect()
    })
}

fn one(text: &str) -> Identified {
    let checked = document::check_text(text);
    let seed = checked.scenario.as_ref().map_or(0, |scenario| scenario.seed);
    match checked.canonical {
        Some(canonical) => (Some(document::identity(&canonical)), seed, None),
        None => {
            let told: Vec<Value> = checked.problems.iter().map(|p| p.to_json()).collect();
            (None, seed, Some(json!(told).to_string()))
        }
    }
}
