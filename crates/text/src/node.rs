//! Values with the places where they stand.

use crate::{MAX_DEPTH, MAX_VALUES, Problem};
use indexmap::IndexMap;
use std::sync::Arc;

/// A place in a text, both counted from 1. Columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// A step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(Arc<str>),
    /// An element of a list.
    Index(usize),
}

/// A value and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it starts.
    pub place: Place,
}

/// Keys and values in the order of the text; keys are spelled with underscores.
pub type Map = IndexMap<Arc<str>, Entry>;

/// A value. Lists and mappings are shared between the aliases of one anchor.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number from 2^63 on.
    Natural(u64),
    /// A whole number that 64 bits do not hold, as it can be parsed in base ten or with a prefix.
    Beyond(Arc<str>),
    /// A number with a fraction or an exponent; may be infinite or NaN, which `read` refuses.
    Real(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Node>>),
    /// A mapping.
    Map(Arc<Map>),
}

/// A value of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the key is.
    pub place: Place,
    /// The key as it is in the text, where it is spelled otherwise (`new-reno`).
    pub written: Option<Box<str>>,
    /// The value.
    pub node: Node,
}

impl Entry {
    /// An entry whose key is written so.
    pub(crate) fn new(written: &str, key: &str, place: Place, node: Node) -> Self {
        Self { place, written: (written != key).then(|| written.into()), node }
    }
}

impl Node {
    fn child(&self, step: &Step) -> Option<(Place, &Node)> {
        match (&self.value, step) {
            (Value::Map(map), Step::Key(key)) => {
                map.get(key.as_ref()).map(|entry| (entry.place, &entry.node))
            }
            (Value::List(items), Step::Index(index)) => {
                items.get(*index).map(|node| (node.place, node))
            }
            _ => None,
        }
    }

    /// Where the value (or its key) at `path` is. Where the path leaves the document (a missing
    /// key), it is the place of the innermost value that exists.
    pub fn locate(&self, path: &[Step], key: bool) -> Place {
        let (mut node, mut place) = (self, self.place);
        for step in path {
            let Some((key_place, inner)) = node.child(step) else { return place };
            place = if key { key_place } else { inner.place };
            node = inner;
        }
        place
    }

    /// Whether there is a value at `path`.
    pub fn holds(&self, path: &[Step]) -> bool {
        path.iter().try_fold(self, |node, step| node.child(step).map(|(_, inner)| inner)).is_some()
    }
}

/// A key as the grammar spells it: `at-latest` is read as `at_latest`.
pub(crate) fn normal_key(key: &str) -> Arc<str> {
    if key.contains('-') { key.replace('-', "_").into() } else { key.into() }
}

/// How much has been read: a reader asks before each value.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    values: usize,
}

impl Budget {
    /// Takes this many values inside that many lists and mappings.
    pub(crate) fn take(&mut self, count: usize, depth: usize, place: Place) -> Result<(), Problem> {
        self.values = self.values.saturating_add(count);
        if depth > MAX_DEPTH {
            return Err(Problem::too_deep(place));
        }
        if self.values > MAX_VALUES {
            return Err(Problem::too_many(place));
        }
        Ok(())
    }

    pub(crate) fn taken(&self) -> usize {
        self.values
    }
}

/// Everything in a document that JSON, through which it goes to the simulator, cannot hold.
pub(crate) fn flaws(root: &Node) -> Vec<Problem> {
    let (mut found, mut path) = (Vec::new(), Vec::new());
    collect_flaws(root, &mut path, &mut found);
    found
}

fn collect_flaws(node: &Node, path: &mut Vec<Step>, found: &mut Vec<Problem>) {
    if found.len() >= crate::MAX_PROBLEMS {
        return;
    }
    let mut flaw = |problem: Problem| {
        found.push(Problem { path: path.clone(), ..problem });
    };
    match &node.value {
        Value::Real(number) if !number.is_finite() => {
            let shown = if number.is_nan() {
                "nan"
            } else if *number > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            flaw(Problem::new("not a finite number", node.place).value(shown));
        }
        Value::Beyond(_) => flaw(Problem::new("a number beyond 64 bits", node.place)),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                collect_flaws(item, path, found);
                path.pop();
            }
        }
        Value::Map(map) => {
            for (key, entry) in map.iter() {
                path.push(Step::Key(Arc::clone(key)));
                collect_flaws(&entry.node, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
