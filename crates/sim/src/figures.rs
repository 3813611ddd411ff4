//! Figures of a run, named and grouped: what a summary is made of.
//!
//! A run of microseconds must not pay for text and hash maps, so names are borrowed and a group is a list.

use crate::spaced;
use serde_json::Value;

/// A figure, or a group of figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure<'a> {
    /// There is none.
    None,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A real number.
    Real(f64),
    /// A word of the scenario or of the program.
    Word(&'a str),
    /// Any text.
    Text(String),
    /// Several without names.
    List(Vec<Figure<'a>>),
    /// Several with names, in the order of the summary.
    Group(Vec<(&'a str, Figure<'a>)>),
}

/// A [`Figure::Group`]: names and values as in JSON.
macro_rules! group {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::figures::Figure::Group(vec![$(($name, $crate::figures::Figure::from($value))),*])
    };
}
pub(crate) use group;

impl<'a> Figure<'a> {
    /// Adds a figure to a group.
    pub(crate) fn add(&mut self, name: &'a str, value: impl Into<Figure<'a>>) {
        let Figure::Group(members) = self else { unreachable!("only a group has members") };
        members.push((name, value.into()));
    }

    /// What a group holds; nothing for all else.
    pub fn members(&self) -> &[(&'a str, Figure<'a>)] {
        if let Figure::Group(members) = self { members } else { &[] }
    }

    /// The member of a group with this name; none if there is none.
    pub fn get(&self, name: &str) -> &Figure<'a> {
        let found = self.members().iter().find(|(own, _)| *own == name);
        found.map_or(&Figure::None, |(_, figure)| figure)
    }

    /// A whole number, if it is one.
    pub fn count(&self) -> Option<u64> {
        if let Figure::Count(count) = self { Some(*count) } else { None }
    }

    /// Appends the figure as JSON.
    pub fn write(&self, text: &mut Vec<u8>) {
        self.write_as(text, false);
    }

    /// Appends the figure as Python writes it (see [`crate::spaced`]).
    pub(crate) fn write_spaced(&self, text: &mut Vec<u8>) {
        self.write_as(text, true);
    }

    fn write_as(&self, text: &mut Vec<u8>, spaced: bool) {
        let [comma, colon]: [&[u8]; 2] = if spaced { [b", ", b": "] } else { [b",", b":"] };
        let written = match self {
            Figure::None => serde_json::to_writer(text, &()),
            Figure::Flag(flag) => serde_json::to_writer(text, flag),
            Figure::Count(count) => serde_json::to_writer(text, count),
            Figure::Real(real) if spaced => return spaced::append_real(text, *real),
            Figure::Real(real) => serde_json::to_writer(text, real),
            Figure::Word(word) => serde_json::to_writer(text, word),
            Figure::Text(word) => serde_json::to_writer(text, word),
            Figure::List(figures) => {
                text.push(b'[');
                for (place, figure) in figures.iter().enumerate() {
                    text.extend_from_slice(if place > 0 { comma } else { b"" });
                    figure.write_as(text, spaced);
                }
                text.push(b']');
                return;
            }
            Figure::Group(members) => {
                text.push(b'{');
                for (place, (name, figure)) in members.iter().enumerate() {
                    text.extend_from_slice(if place > 0 { comma } else { b"" });
                    Figure::Word(name).write(text);
                    text.extend_from_slice(colon);
                    figure.write_as(text, spaced);
                }
                text.push(b'}');
                return;
            }
        };
        written.expect("memory takes what is written to it");
    }
}

impl From<Figure<'_>> for Value {
    fn from(figure: Figure<'_>) -> Value {
        match figure {
            Figure::None => Value::Null,
            Figure::Flag(flag) => flag.into(),
            Figure::Count(count) => count.into(),
            Figure::Real(real) => real.into(),
            Figure::Word(word) => word.into(),
            Figure::Text(text) => text.into(),
            Figure::List(figures) => figures.into_iter().map(Value::from).collect(),
            Figure::Group(members) => {
                let members = members.into_iter();
                members.map(|(name, figure)| (name.to_owned(), Value::from(figure))).collect()
            }
        }
    }
}

macro_rules! from {
    ($($kind:ty => $make:expr),* $(,)?) => {
        $(impl<'a> From<$kind> for Figure<'a> {
            fn from(value: $kind) -> Self {
                $make(value)
            }
        })*
    };
}

from! {
    bool => Figure::Flag,
    u64 => Figure::Count,
    u32 => |count: u32| Figure::Count(count.into()),
    u16 => |count: u16| Figure::Count(count.into()),
    f64 => Figure::Real,
    &'a str => Figure::Word,
    &'a String => |text: &'a String| Figure::Word(text),
    String => Figure::Text,
    Vec<Figure<'a>> => Figure::List,
    Vec<(&'a str, Figure<'a>)> => Figure::Group,
}

impl<'a, T: Into<Figure<'a>>> From<Option<T>> for Figure<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Figure::None, Into::into)
    }
}

impl<'a, T: Into<Figure<'a>>> FromIterator<T> for Figure<'a> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Figure::List(values.into_iter().map(Into::into).collect())
    }
}
