//! The elements of a list of a document: as they were written, or made from a short form when somebody
//! asks for them.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A list of a document that somebody else holds, who hands over its elements one at a time, with keys spelled
/// with underscores: of a large scenario nobody needs all at once.
pub struct Listed<'d> {
    /// How many elements there are.
    pub count: usize,
    /// Makes the element of this place, from 0.
    pub get: Box<dyn Fn(usize) -> Value + 'd>,
}

impl Listed<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.count).map(|index| (self.get)(index))
    }
}

impl fmt::Debug for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} listed", self.count)
    }
}

/// The lists of a document by name; there is none where something else stands.
pub(super) type Lists<'d> = BTreeMap<&'static str, Elements<'d>>;

/// A list without short forms.
#[derive(Debug, Default)]
pub(super) struct Elements<'d> {
    /// Parts of the list, each with the index at which it ends.
    parts: Vec<(usize, Part<'d>)>,
    /// Elements that were changed since.
    changed: HashMap<usize, Value>,
}

enum Part<'d> {
    Written(&'d [Value]),
    /// Makes the element of this place in the part, from 0.
    Made(Box<dyn Fn(usize) -> Value + 'd>),
}

impl<'d> Elements<'d> {
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |(end, _)| *end)
    }

    /// Adds written elements.
    pub fn add(&mut self, written: &'d [Value]) {
        self.parts.push((self.len() + written.len(), Part::Written(written)));
    }

    /// Adds this many elements that are made when they are asked for.
    pub fn add_made(&mut self, count: usize, make: impl Fn(usize) -> Value + 'd) {
        self.parts.push((self.len() + count, Part::Made(Box::new(make))));
    }

    pub fn get(&self, index: usize) -> Cow<'_, Value> {
        if let Some(changed) = self.changed.get(&index) {
            return Cow::Borrowed(changed);
        }
        let part = self.parts.partition_point(|(end, _)| *end <= index);
        let start = part.checked_sub(1).map_or(0, |before| self.parts[before].0);
        match &self.parts[part].1 {
            Part::Written(values) => Cow::Borrowed(&values[index - start]),
            Part::Made(make) => Cow::Owned(make(index - start)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Value>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The element at an index, to be changed.
    pub fn change(&mut self, index: usize) -> &mut Value {
        if !self.changed.contains_key(&index) {
            let now = self.get(index).into_owned();
            self.changed.insert(index, now);
        }
        self.changed.get_mut(&index).expect("it was put there")
    }
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(values) => write!(f, "{} written", values.len()),
            Self::Made(_) => f.write_str("made"),
        }
    }
}
