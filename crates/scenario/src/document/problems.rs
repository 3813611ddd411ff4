//! What is wrong with a document, and where.

use super::origins::{Origins, Place};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::rc::Rc;

/// More problems than these are not reported: nobody reads them.
const MOST_PROBLEMS: usize = 1000;

/// One step into a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// Key of a mapping.
    Key(String),
    /// Place in a list, from 0.
    Index(usize),
}

/// Something that is wrong with a document, or probably not meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where.
    pub path: Vec<Step>,
    /// What stands there; null when nothing worth showing does.
    pub value: Value,
    /// What is wrong.
    pub message: String,
    /// What may stand there.
    pub allowed: Option<String>,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Problem {
    /// The path as `--set` writes it, but with indexes: `links.0.rate`.
    pub fn place(&self) -> String {
        dotted(&self.path)
    }

    /// The problem as a JSON object.
    pub fn to_json(&self) -> Value {
        let path: Vec<Value> = self
            .path
            .iter()
            .map(|step| match step {
                Step::Key(key) => json!(key),
                Step::Index(index) => json!(index),
            })
            .collect();
        json!({
            "path": path,
            "value": self.value,
            "message": self.message,
            "allowed": self.allowed,
            "hint": self.hint,
        })
    }
}

/// A place in a document; cheap to extend and to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(Option<Rc<(Path, Step)>>);

impl Path {
    pub fn key(&self, key: &str) -> Self {
        Self(Some(Rc::new((self.clone(), Step::Key(key.to_owned())))))
    }

    pub fn index(&self, index: usize) -> Self {
        Self(Some(Rc::new((self.clone(), Step::Index(index)))))
    }

    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut path = self;
        while let Some(inner) = &path.0 {
            steps.push(inner.1.clone());
            path = &inner.0;
        }
        steps.reverse();
        steps
    }
}

/// What is wrong with a value, whatever its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Fault {
    pub message: String,
    pub allowed: Option<String>,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), allowed: None, hint: None }
    }

    pub fn allowed(self, allowed: impl Into<String>) -> Self {
        Self { allowed: Some(allowed.into()), ..self }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A hint, if there is one.
    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        Self { hint: hint.or(self.hint), ..self }
    }

    fn at(self, path: Vec<Step>, value: &Value) -> Problem {
        Problem {
            path,
            value: shown(value),
            message: self.message,
            allowed: self.allowed,
            hint: self.hint,
        }
    }
}

/// Steps as `--set` writes them, but with indexes: `links.0.rate`.
fn dotted(steps: &[Step]) -> String {
    let names: Vec<String> = steps
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        })
        .collect();
    names.join(".")
}

/// Problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    untold: usize,
    /// How often a problem was added.
    heard: usize,
    /// Where the parts of the document come from.
    origins: Rc<Origins>,
    /// Places of which one fault is enough, because many elements come from there.
    shared: HashSet<Vec<Step>>,
}

impl Problems {
    /// From now on, paths are those of the document as it is written out. What was reported about a short
    /// form is not reported again about what it was written out to.
    pub fn written_out(&mut self, origins: Rc<Origins>) {
        self.shared.extend(self.found.iter().map(|problem| problem.path.clone()));
        self.origins = origins;
    }

    /// The place in the user's document, as `--set` writes it, but with indexes.
    pub fn place(&self, path: &Path) -> String {
        dotted(&self.origins.of(path.steps()).steps)
    }

    /// Adds a problem about `value` at `path`; the same one is not reported twice in a row (both
    /// directions of a link miss what the link does not say).
    pub fn add(&mut self, path: &Path, value: &Value, fault: Fault) {
        self.add_made(path, value, || fault);
    }

    /// The same with a fault that takes time to put into words: it is made only if it is reported.
    pub fn add_made(&mut self, path: &Path, value: &Value, fault: impl FnOnce() -> Fault) {
        self.heard += 1;
        let Place { steps, shared } = self.origins.of(path.steps());
        if shared && !self.shared.insert(steps.clone()) {
            return;
        }
        if self.found.len() >= MOST_PROBLEMS {
            self.untold += 1;
            return;
        }
        let problem = fault().at(steps, value);
        if !self.found.iter().rev().take(8).any(|earlier| *earlier == problem) {
            self.found.push(problem);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How often a problem was added, those that are not reported included.
    pub fn count(&self) -> usize {
        self.heard
    }

    pub fn is_full(&self) -> bool {
        self.untold > 0
    }

    /// All problems, in the order in which they were found.
    pub fn finish(mut self) -> Vec<Problem> {
        if self.untold > 0 {
            let message = format!("and {} more problems", self.untold);
            self.found.push(Fault::new(message).at(Vec::new(), &Value::Null));
        }
        self.found
    }
}

/// A text, cut to what a message can show.
pub(super) fn brief(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("...".chars()).collect()
}

/// A value as a message shows it: scalars, texts cut to a bearable length, small lists and mappings.
fn shown(value: &Value) -> Value {
    const MOST_LETTERS: usize = 200;
    match value {
        Value::String(text) if text.chars().count() > MOST_LETTERS => {
            Value::String(text.chars().take(MOST_LETTERS - 3).chain("...".chars()).collect())
        }
        Value::Array(_) | Value::Object(_) if !is_small(value) => Value::Null,
        value => value.clone(),
    }
}

/// Whether a list or mapping has few values, all of them short scalars.
fn is_small(value: &Value) -> bool {
    let is_short = |value: &Value| match value {
        Value::String(text) => text.len() <= 40,
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    };
    match value {
        Value::Array(values) => values.len() <= 6 && values.iter().all(is_short),
        Value::Object(map) => map.len() <= 6 && map.values().all(is_short),
        _ => true,
    }
}
