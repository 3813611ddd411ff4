//! What is wrong with a text.

use crate::{Place, Step};

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// What is there, if it helps to see it.
    pub value: Option<String>,
    /// Keys and indices that lead to a value; empty for what is wrong with the text itself.
    pub path: Vec<Step>,
    /// Where it is, as far as that is known.
    pub place: Option<Place>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, place: impl Into<Option<Place>>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            value: None,
            path: Vec::new(),
            place: place.into(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Adds a key that was given before to problems of this kind.
    pub(crate) fn duplicate(problems: &mut Vec<Self>, key: &str, place: Place, first: Place) {
        if problems.len() < crate::MAX_PROBLEMS {
            let hint = format!("it was first given on line {}; keep one of the two", first.line);
            problems.push(Self::new(format!("duplicate key '{key}'"), place).hint(hint));
        }
    }

    pub(crate) fn too_deep(place: impl Into<Option<Place>>) -> Self {
        Self::new(format!("nested more than {} levels deep", crate::MAX_DEPTH), place)
    }

    /// `who` says how a sentence begins that goes on with the limit.
    pub(crate) fn too_many(who: &str, most: usize, place: Place) -> Self {
        Self::new("holds far too many values", place).hint(format!("{who} at most {most} values"))
    }
}
