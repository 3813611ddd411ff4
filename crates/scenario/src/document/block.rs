//! The values of an object of a document, read along its table.
//!
//! Checks look at them, the typed scenario is made of them, and documents and models are written from them.

use super::problems::Path;
use ackclock_units::param::{Chosen, Entry, Kind, Param, Value as Number};
use ackclock_units::quantity::Quantity;
use serde_json::{Map, Value};

/// A value that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    /// Nothing: no limit, or nothing is said.
    Absent,
    Quantity(Quantity),
    Count(u64),
    Counts(Vec<u64>),
    Real(f64),
    Flag(bool),
    /// A word, a name or another text.
    Text(String),
    /// A mapping or a registered thing.
    Block(Block),
    /// Rows of values.
    Rows(Vec<Block>),
    /// A list of the scenario, whose elements are kept by themselves.
    List,
}

/// The values of an object in the order of its table. What was faulty is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// What was chosen, if it is a registered thing.
    entry: Option<&'static Entry>,
    values: Vec<(&'static Param, Setting)>,
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        let named = |block: &Self| block.entry.map(|entry| entry.name);
        named(self) == named(other)
            && self.values.len() == other.values.len()
            && self
                .values
                .iter()
                .zip(&other.values)
                .all(|((param, one), (its, other))| param.name == its.name && one == other)
    }
}

impl Block {
    /// The values of a registered thing, none so far.
    pub fn of(entry: &'static Entry) -> Self {
        Self { entry: Some(entry), values: Vec::with_capacity(entry.params.len()) }
    }

    pub fn put(&mut self, param: &'static Param, setting: Setting) {
        self.values.push((param, setting));
    }

    pub fn append(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// Puts a text in the place of each text that is this word, in the block of this name.
    pub fn replace_words(&mut self, name: &str, word: &str, text: &str) {
        let blocks = self.values.iter_mut().filter(|(param, _)| param.name == name);
        for (_, setting) in blocks {
            let Setting::Block(block) = setting else { continue };
            for (_, setting) in &mut block.values {
                if *setting == Setting::Text(word.to_owned()) {
                    *setting = Setting::Text(text.to_owned());
                }
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.find(name).map(|(_, setting)| setting)
    }

    /// A value with its parameter.
    pub fn find(&self, name: &str) -> Option<(&'static Param, &Setting)> {
        let found = self.values.iter().find(|(param, _)| param.name == name);
        found.map(|(param, setting)| (*param, setting))
    }

    /// What was chosen, if this is a registered thing.
    pub fn kind(&self) -> Option<&'static str> {
        self.entry.map(|entry| entry.name)
    }

    /// Whether each parameter of the registered thing could be read.
    pub fn is_complete(&self) -> bool {
        self.entry
            .is_some_and(|entry| entry.params.iter().all(|param| self.get(param.name).is_some()))
    }

    /// A whole number: bit/s, bytes, packets, nanoseconds or a count.
    pub fn int(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Setting::Count(value) => Some(*value),
            Setting::Quantity(quantity) => Some(quantity.amount()),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Setting::Flag(value) => Some(*value),
            _ => None,
        }
    }

    /// A word, or the word of a registered thing.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Setting::Text(text) => Some(text),
            Setting::Block(block) => block.kind(),
            _ => None,
        }
    }

    pub fn block(&self, name: &str) -> Option<&Block> {
        match self.get(name)? {
            Setting::Block(block) => Some(block),
            _ => None,
        }
    }

    /// Every name of a flow in here, with its place.
    pub fn flow_names<'b>(&'b self, path: &Path, found: &mut Vec<(Path, &'b str)>) {
        for (param, setting) in &self.values {
            let here = || path.key(param.name);
            match setting {
                Setting::Text(name) if matches!(param.kind, Kind::FlowRef) => {
                    found.push((here(), name));
                }
                Setting::Block(block) => block.flow_names(&here(), found),
                Setting::Rows(rows) => {
                    for (index, row) in rows.iter().enumerate() {
                        row.flow_names(&here().index(index), found);
                    }
                }
                _ => {}
            }
        }
    }

    /// As a resolved document spells it.
    pub fn document(&self) -> Map<String, Value> {
        let values = self.values.iter().filter_map(|(param, setting)| {
            let value = setting.spelled(param);
            (!value.is_null() || *setting == Setting::List).then(|| (param.name.to_owned(), value))
        });
        let kind = self.kind().map(|kind| ("kind".to_owned(), kind.into()));
        kind.into_iter().chain(values).collect()
    }

    /// As numbers, with units in the names (`delay_ns`).
    pub fn model(&self) -> Map<String, Value> {
        object(self.chosen())
    }

    /// A registered thing as its own code reads it.
    pub fn chosen(&self) -> Chosen {
        let values = self.values.iter().map(|(param, setting)| {
            let value = match setting {
                Setting::Absent | Setting::List => Number::Null,
                Setting::Quantity(quantity) => Number::Int(quantity.amount()),
                Setting::Count(value) => Number::Int(*value),
                Setting::Counts(values) => Number::List(values.clone()),
                Setting::Real(value) => Number::Real(*value),
                Setting::Flag(flag) => Number::Flag(*flag),
                Setting::Text(text) => Number::Word(text.clone()),
                Setting::Block(block) => Number::Chosen(block.chosen()),
                Setting::Rows(rows) => Number::Rows(rows.iter().map(Block::chosen).collect()),
            };
            (setting.name(param), value)
        });
        Chosen { kind: self.kind().unwrap_or_default().to_owned(), values: values.collect() }
    }
}

/// Numbers as JSON.
pub(super) fn object(numbers: Chosen) -> Map<String, Value> {
    fn json(number: Number) -> Value {
        match number {
            Number::Null => Value::Null,
            Number::Int(value) => value.into(),
            Number::Real(value) => value.into(),
            Number::Flag(flag) => flag.into(),
            Number::Word(text) => text.into(),
            Number::List(values) => values.into(),
            Number::Chosen(chosen) => Value::Object(object(chosen)),
            Number::Rows(rows) => rows.into_iter().map(|row| Value::Object(object(row))).collect(),
        }
    }
    let kind = (!numbers.kind.is_empty()).then(|| ("kind".to_owned(), numbers.kind.into()));
    let values = numbers.values.into_iter().map(|(name, number)| (name, json(number)));
    kind.into_iter().chain(values).collect()
}

impl Setting {
    /// As a resolved document spells it; null where it leaves the key out.
    pub fn spelled(&self, param: &Param) -> Value {
        match self {
            Self::Absent => param.word.map_or(Value::Null, Value::from),
            Self::Quantity(quantity) => quantity.to_string().into(),
            Self::Count(value) => (*value).into(),
            Self::Counts(values) => values.as_slice().into(),
            // The shortest spelling, as people write it.
            Self::Real(real) if real.fract() == 0.0 && real.abs() < 9_007_199_254_740_992.0 => {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and small enough")]
                let whole = *real as i64;
                whole.into()
            }
            Self::Real(real) => (*real).into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Text(text) => text.as_str().into(),
            Self::Block(block) => Value::Object(block.document()),
            Self::Rows(rows) => rows.iter().map(|row| Value::Object(row.document())).collect(),
            Self::List => Value::Null,
        }
    }

    /// The name of a parameter in the model.
    fn name(&self, param: &Param) -> String {
        let suffix = match (self, param.kind) {
            (Self::Quantity(Quantity::Rate(_)), _)
            | (Self::Absent, Kind::Rate | Kind::RateOr(_)) => "_bps",
            (Self::Quantity(Quantity::Size(_)), _)
            | (Self::Absent, Kind::Size | Kind::SizeOr(_)) => "_bytes",
            (Self::Quantity(Quantity::Packets(_)), _)
            | (Self::Absent, Kind::SizeOrPackets | Kind::Buffer) => "_packets",
            (Self::Quantity(Quantity::Products(_)), _) => "_products",
            (Self::Quantity(Quantity::Time(_)), _)
            | (Self::Absent, Kind::Time | Kind::TimeOr(_)) => "_ns",
            _ => "",
        };
        format!("{}{suffix}", param.name)
    }
}
