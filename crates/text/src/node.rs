//! Values with the places where they stand.
//!
//! A document is one array of items in the order of the text, where what is inside a list or a mapping follows
//! it. No value has memory of its own: a scenario of a hundred thousand flows has millions of them.

use crate::Problem;
use serde_json::Value as Json;
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

/// A document that was read.
#[derive(Debug, Default, PartialEq)]
pub struct Tree {
    pub(crate) items: Vec<Item>,
    /// All texts, one after the other.
    pub(crate) texts: String,
    /// All keys, each once.
    pub(crate) keys: Vec<Arc<str>>,
    /// Lists and mappings around the innermost value.
    pub(crate) depth: usize,
}

/// What a reader found: a value, or the key of the value that follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item {
    pub place: Place,
    pub holds: Holds,
}

const _: () = assert!(size_of::<Item>() == 20);

/// Numbers of 64 bits are split, so that an item has no gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Holds {
    Null,
    Bool(bool),
    Integer([u32; 2]),
    Natural([u32; 2]),
    Real([u32; 2]),
    Beyond(Span),
    Text(Span),
    List(Extent),
    Map(Extent),
    /// The key as the grammar spells it, and as it is in the text: places in the list of keys.
    Key {
        name: u32,
        written: u32,
    },
    /// The list or mapping at another item.
    Alias(u32),
}

/// A part of the texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

/// How many values a list or a mapping has, and the item after the last.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Extent {
    pub count: u32,
    pub end: u32,
}

/// A value and where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node<'t> {
    tree: &'t Tree,
    at: usize,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'t> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number from 2^63 on.
    Natural(u64),
    /// A whole number that 64 bits do not hold, as it can be parsed in base ten or with a prefix.
    Beyond(&'t str),
    /// A number with a fraction or an exponent; may be infinite or NaN, which `read` refuses.
    Real(f64),
    /// Text.
    Text(&'t str),
    /// A list.
    List(List<'t>),
    /// A mapping.
    Map(Map<'t>),
}

/// A list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct List<'t>(Inside<'t>);

/// A mapping, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Map<'t>(Inside<'t>);

/// The items inside a list or a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inside<'t> {
    tree: &'t Tree,
    next: usize,
    extent: Extent,
}

/// A value of a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'t> {
    /// The key, spelled with underscores.
    pub key: &'t str,
    /// The key as it is in the text, where it is spelled otherwise (`new-reno`).
    pub written: Option<&'t str>,
    /// Where the key is.
    pub place: Place,
    /// The value.
    pub node: Node<'t>,
}

impl Tree {
    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, at: 0 }
    }

    /// How many lists and mappings are around the innermost value.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a key is this word, or a text holds it. Texts are looked through as one, so that a word may be
    /// found where one text ends and the next begins.
    pub fn mentions(&self, word: &str) -> bool {
        self.keys.iter().any(|key| key.as_ref() == word) || self.texts.contains(word)
    }

    /// Everything in it that JSON, as which it goes to the simulator, cannot hold.
    pub(crate) fn flaws(&self) -> Vec<Problem> {
        let is_flaw = |item: &Item| match item.holds {
            Holds::Real(halves) => !f64::from_bits(joined(halves)).is_finite(),
            Holds::Beyond(_) => true,
            _ => false,
        };
        let mut found = Vec::new();
        if self.items.iter().any(is_flaw) {
            collect_flaws(self.root(), &mut Vec::new(), &mut found);
        }
        found
    }
}

impl<'t> Node<'t> {
    /// The node at an item, or that for which it stands.
    fn new(tree: &'t Tree, at: usize) -> Self {
        match tree.items[at].holds {
            Holds::Alias(other) => Self { tree, at: other as usize },
            _ => Self { tree, at },
        }
    }

    /// Where it starts.
    pub fn place(self) -> Place {
        self.tree.items[self.at].place
    }

    /// The value.
    pub fn value(self) -> Value<'t> {
        let tree = self.tree;
        let text = |span: Span| &tree.texts[span.start as usize..span.end as usize];
        let inside = |extent| Inside { tree, next: self.at + 1, extent };
        match tree.items[self.at].holds {
            Holds::Null => Value::Null,
            Holds::Bool(flag) => Value::Bool(flag),
            Holds::Integer(halves) => Value::Integer(joined(halves).cast_signed()),
            Holds::Natural(halves) => Value::Natural(joined(halves)),
            Holds::Real(halves) => Value::Real(f64::from_bits(joined(halves))),
            Holds::Beyond(span) => Value::Beyond(text(span)),
            Holds::Text(span) => Value::Text(text(span)),
            Holds::List(extent) => Value::List(List(inside(extent))),
            Holds::Map(extent) => Value::Map(Map(inside(extent))),
            Holds::Key { .. } | Holds::Alias(_) => unreachable!("a node is a value"),
        }
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(self, key: &str) -> Option<Entry<'t>> {
        match self.value() {
            Value::Map(map) => map.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The value behind a step, and the place of its key.
    pub fn child(self, step: &Step) -> Option<(Place, Self)> {
        match (self.value(), step) {
            (Value::Map(_), Step::Key(key)) => self.get(key).map(|entry| (entry.place, entry.node)),
            (Value::List(list), Step::Index(index)) => {
                list.iter().nth(*index).map(|node| (node.place(), node))
            }
            _ => None,
        }
    }

    /// Where the value (or its key) at `path` is. Where the path leaves the document (a missing
    /// key), it is the place of the innermost value that exists.
    pub fn locate(self, path: &[Step], key: bool) -> Place {
        let (mut node, mut place) = (self, self.place());
        for step in path {
            let Some((key_place, inner)) = node.child(step) else { return place };
            place = if key { key_place } else { inner.place() };
            node = inner;
        }
        place
    }

    /// Whether there is a value at `path`.
    pub fn holds(self, path: &[Step]) -> bool {
        path.iter().try_fold(self, |node, step| node.child(step).map(|(_, inner)| inner)).is_some()
    }

    /// The value as JSON: all that passed [`read`](crate::read) can be said in it.
    pub fn json(self) -> Json {
        match self.value() {
            Value::Null => Json::Null,
            Value::Bool(flag) => flag.into(),
            Value::Integer(number) => number.into(),
            Value::Natural(number) => number.into(),
            Value::Real(number) => number.into(),
            Value::Beyond(text) | Value::Text(text) => text.into(),
            Value::List(list) => list.iter().map(Self::json).collect(),
            Value::Map(map) => {
                map.iter().map(|entry| (entry.key.to_owned(), entry.node.json())).collect()
            }
        }
    }
}

impl<'t> List<'t> {
    /// Its elements.
    pub fn iter(self) -> impl Iterator<Item = Node<'t>> {
        let Self(mut inside) = self;
        std::iter::from_fn(move || inside.value())
    }
}

impl<'t> Map<'t> {
    /// Its entries.
    pub fn iter(self) -> impl Iterator<Item = Entry<'t>> {
        let Self(mut inside) = self;
        std::iter::from_fn(move || {
            let Inside { tree, next, .. } = inside;
            let Holds::Key { name, written } = tree.items.get(next)?.holds else { return None };
            inside.next += 1;
            let key = |number: u32| tree.keys[number as usize].as_ref();
            Some(Entry {
                key: key(name),
                written: (written != name).then(|| key(written)),
                place: tree.items[next].place,
                node: inside.value()?,
            })
        })
    }
}

impl<'t> Inside<'t> {
    /// The next value.
    fn value(&mut self) -> Option<Node<'t>> {
        self.extent.count = self.extent.count.checked_sub(1)?;
        let at = self.next;
        self.next = match self.tree.items[at].holds {
            Holds::List(extent) | Holds::Map(extent) => extent.end as usize,
            _ => at + 1,
        };
        Some(Node::new(self.tree, at))
    }
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The lower and the upper half of a number.
pub(crate) fn split(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn collect_flaws(node: Node<'_>, path: &mut Vec<Step>, found: &mut Vec<Problem>) {
    if found.len() >= crate::MAX_PROBLEMS {
        return;
    }
    let mut flaw = |problem: Problem| {
        found.push(Problem { path: path.clone(), ..problem });
    };
    match node.value() {
        Value::Real(number) if !number.is_finite() => {
            let shown = if number.is_nan() {
                "nan"
            } else if number > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            flaw(Problem::new("not a finite number", node.place()).value(shown));
        }
        Value::Beyond(_) => flaw(Problem::new("a number beyond 64 bits", node.place())),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                collect_flaws(item, path, found);
                path.pop();
            }
        }
        Value::Map(map) => {
            for entry in map.iter() {
                path.push(Step::Key(entry.key.into()));
                collect_flaws(entry.node, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
