//! Puts a document together, value by value, for readers of all formats.

use crate::node::{Extent, Holds, Item, Place, Span, Tree, split};
use crate::{MAX_DEPTH, MAX_REPEATED, MAX_VALUES, Problem, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// So many keys of a mapping are looked through one by one.
const FEW_KEYS: usize = 16;

/// A document in the making.
#[derive(Default)]
pub(crate) struct Builder {
    tree: Tree,
    /// Places of keys in the list of keys.
    numbers: HashMap<Arc<str>, u32>,
    open: Vec<Open>,
    /// Keys of all open mappings, those of the innermost last.
    seen: Vec<(u32, Place)>,
    /// Values so far, aliases counted as what they stand for.
    values: usize,
    /// Those of them that aliases stand for.
    repeated: usize,
    duplicates: Vec<Problem>,
}

/// A mapping or a list whose end has not been read yet.
struct Open {
    item: usize,
    count: u32,
    is_map: bool,
    /// Whether the last thing read was a key.
    has_key: bool,
    /// Where its keys begin among those seen, and these by number once they are many.
    first_key: usize,
    many: HashMap<u32, Place>,
    /// Values read before it, to know how many it holds.
    before: usize,
    /// Levels of nesting inside it.
    height: usize,
}

/// A value that can be put into the document once more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Again {
    item: Item,
    values: usize,
    height: usize,
}

impl Builder {
    /// The document, or all keys that were given twice.
    pub fn finish(self) -> Result<Option<Tree>, Vec<Problem>> {
        let mut tree = self.tree;
        tree.items.shrink_to_fit();
        match self.duplicates.is_empty() {
            true => Ok((!tree.items.is_empty()).then_some(tree)),
            false => Err(self.duplicates),
        }
    }

    /// Whether a key has to come next.
    pub fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_map && !open.has_key)
    }

    /// Adds a value that is neither a list nor a mapping.
    pub fn scalar(&mut self, value: Value<'_>, place: Place) -> Result<Again, Problem> {
        self.take(1, 0, place)?;
        let holds = match value {
            Value::Null | Value::List(_) | Value::Map(_) => Holds::Null,
            Value::Bool(flag) => Holds::Bool(flag),
            Value::Integer(number) => Holds::Integer(split(number.cast_unsigned())),
            Value::Natural(number) => Holds::Natural(split(number)),
            Value::Real(number) => Holds::Real(split(number.to_bits())),
            Value::Beyond(text) => Holds::Beyond(self.text(text)),
            Value::Text(text) => Holds::Text(self.text(text)),
        };
        let item = Item { place, holds };
        self.add(item);
        Ok(Again { item, values: 1, height: 0 })
    }

    /// Begins a list or a mapping.
    pub fn start(&mut self, is_map: bool, place: Place) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Problem::too_deep(place));
        }
        let before = self.values;
        self.take(1, 0, place)?;
        self.open.push(Open {
            item: self.tree.items.len(),
            count: 0,
            is_map,
            has_key: false,
            first_key: self.seen.len(),
            many: HashMap::new(),
            before,
            height: 0,
        });
        self.tree.depth = self.tree.depth.max(self.open.len());
        let extent = Extent::default();
        let holds = if is_map { Holds::Map(extent) } else { Holds::List(extent) };
        self.tree.items.push(Item { place, holds });
        Ok(())
    }

    /// Ends the list or mapping that was begun last.
    pub fn end(&mut self) -> Option<Again> {
        let open = self.open.pop()?;
        self.seen.truncate(open.first_key);
        let extent = Extent { count: open.count, end: self.tree.items.len() as u32 };
        let item = &mut self.tree.items[open.item];
        item.holds = if open.is_map { Holds::Map(extent) } else { Holds::List(extent) };
        let item = Item { place: item.place, holds: Holds::Alias(open.item as u32) };
        let height = open.height + 1;
        self.counted(height);
        Some(Again { item, values: self.values - open.before, height })
    }

    /// Puts a value there once more.
    pub fn alias(&mut self, again: Again, place: Place) -> Result<(), Problem> {
        self.take(again.values, again.height, place)?;
        self.repeated += again.values;
        if self.repeated > MAX_REPEATED {
            return Err(Problem::too_many("aliases stand for", MAX_REPEATED, place));
        }
        self.tree.depth = self.tree.depth.max(self.open.len() + again.height);
        self.tree.items.push(again.item);
        self.counted(again.height);
        Ok(())
    }

    /// Adds a key; one that its mapping has is reported.
    pub fn key(&mut self, written: &str, place: Place) {
        let number = self.number(written);
        // A key as the grammar spells it: `at-latest` is read as `at_latest`.
        let name =
            if written.contains('-') { self.number(&written.replace('-', "_")) } else { number };
        let Some(open) = self.open.last_mut() else { return };
        open.has_key = true;
        let own = &self.seen[open.first_key..];
        if own.len() == FEW_KEYS {
            open.many = own.iter().rev().copied().collect();
        }
        let first = match own.len() < FEW_KEYS {
            true => own.iter().find(|(key, _)| *key == name).map(|(_, place)| *place),
            false => open.many.get(&name).copied(),
        };
        if own.len() >= FEW_KEYS && first.is_none() {
            open.many.insert(name, place);
        }
        self.seen.push((name, place));
        if let Some(first) = first {
            Problem::duplicate(&mut self.duplicates, written, place, first);
        }
        let holds = Holds::Key { name, written: number };
        self.tree.items.push(Item { place, holds });
    }

    /// A text that is no value by itself, such as a key with an anchor.
    pub fn aside(&mut self, text: &str, place: Place) -> Again {
        let item = Item { place, holds: Holds::Text(self.text(text)) };
        Again { item, values: 1, height: 0 }
    }

    fn number(&mut self, key: &str) -> u32 {
        self.numbers.get(key).copied().unwrap_or_else(|| {
            let (key, number): (Arc<str>, _) = (key.into(), self.tree.keys.len() as u32);
            self.tree.keys.push(Arc::clone(&key));
            self.numbers.insert(key, number);
            number
        })
    }

    fn text(&mut self, text: &str) -> Span {
        let start = self.tree.texts.len() as u32;
        self.tree.texts.push_str(text);
        Span { start, end: self.tree.texts.len() as u32 }
    }

    fn add(&mut self, item: Item) {
        self.tree.items.push(item);
        self.counted(0);
    }

    /// Counts a value with so many levels inside it for the list or mapping around it.
    fn counted(&mut self, height: usize) {
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
            open.has_key = false;
            open.height = open.height.max(height);
        }
    }

    /// Takes this many values with so many levels.
    fn take(&mut self, count: usize, height: usize, place: Place) -> Result<(), Problem> {
        self.values = self.values.saturating_add(count);
        if self.open.len() + height > MAX_DEPTH {
            return Err(Problem::too_deep(place));
        }
        if self.values > MAX_VALUES {
            return Err(Problem::too_many("a document holds", MAX_VALUES, place));
        }
        Ok(())
    }
}
