//! YAML 1.2, with places, without tags and without duplicate keys.
//!
//! The parser's events are taken one by one rather than by a recursive composer, so that no nesting
//! can exhaust the stack.

mod explain;

use crate::node::{Budget, Entry, Map, Node, Place, Value, normal_key};
use crate::{MAX_DEPTH, Problem, scalar};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn read(text: &str) -> Result<Option<Node>, Vec<Problem>> {
    explain::unprintable(text).map_err(|problem| vec![problem])?;
    let mut builder = Builder { text, ..Builder::default() };
    match build(text, &mut builder) {
        Err(problem) => Err(vec![problem]),
        Ok(()) if builder.duplicates.is_empty() => Ok(builder.root),
        Ok(()) => Err(builder.duplicates),
    }
}

fn build(text: &str, builder: &mut Builder<'_>) -> Result<(), Problem> {
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| explain::explain(&error, text))?;
        builder.take(event, place_of(&span.start))?;
    }
    Ok(())
}

fn place_of(mark: &Marker) -> Place {
    Place { line: mark.line() as u32, column: mark.col() as u32 + 1 }
}

/// A mapping or a list whose end has not been read yet.
struct Open {
    holds: Holds,
    place: Place,
    anchor: usize,
    /// Values read before it, to know how many it holds.
    before: usize,
    /// Levels of nesting inside it.
    height: usize,
}

enum Holds {
    List(Vec<Node>),
    /// A mapping, and the key that waits for its value.
    Map(Map, Option<Key>),
}

enum Key {
    New {
        key: Arc<str>,
        written: Box<str>,
        place: Place,
    },
    /// Given before: its value is read and left out.
    Duplicate,
}

/// The value an alias refers to.
struct Anchored {
    node: Node,
    values: usize,
    height: usize,
}

#[derive(Default)]
struct Builder<'t> {
    text: &'t str,
    root: Option<Node>,
    duplicates: Vec<Problem>,
    documents: usize,
    stack: Vec<Open>,
    /// By the parser's numbers of anchors.
    anchors: BTreeMap<usize, Anchored>,
    budget: Budget,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag, place)
            }
            Event::MappingStart(anchor, tag) => {
                self.start(Holds::Map(Map::default(), None), anchor, tag, place)
            }
            Event::SequenceStart(anchor, tag) => {
                self.start(Holds::List(Vec::new()), anchor, tag, place)
            }
            Event::MappingEnd | Event::SequenceEnd => {
                self.end();
                Ok(())
            }
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a file holds one scenario; '---' starts a second document";
                    return Err(Problem::new(message, place));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        place: Place,
    ) -> Result<(), Problem> {
        let means_text = match &tag {
            None => style != ScalarStyle::Plain,
            Some(tag) if is_text(tag) => true,
            Some(tag) => return Err(meaningless(tag, place)),
        };
        let is_key = self.expects_key();
        let value = if means_text || is_key { Value::Text(text.into()) } else { scalar(text) };
        self.budget.take(usize::from(!is_key), self.stack.len(), place)?;
        let node = Node { value, place };
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), values: 1, height: 0 });
        }
        if is_key {
            self.take_key(text, place);
        } else {
            self.add(node);
        }
        Ok(())
    }

    fn start(
        &mut self,
        holds: Holds,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        place: Place,
    ) -> Result<(), Problem> {
        if let Some(tag) = tag {
            return Err(meaningless(&tag, place));
        }
        if self.expects_key() {
            return Err(Problem::new("a key must be a word, not a list or a mapping", place));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(Problem::too_deep(place));
        }
        let before = self.budget.taken();
        self.budget.take(1, self.stack.len(), place)?;
        self.stack.push(Open { holds, place, anchor, before, height: 0 });
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        let value = match open.holds {
            Holds::List(items) => Value::List(Arc::new(items)),
            Holds::Map(map, _) => Value::Map(Arc::new(map)),
        };
        let node = Node { value, place: open.place };
        let height = open.height + 1;
        if open.anchor > 0 {
            let values = self.budget.taken() - open.before;
            self.anchors.insert(open.anchor, Anchored { node: node.clone(), values, height });
        }
        if let Some(around) = self.stack.last_mut() {
            around.height = around.height.max(height);
        }
        self.add(node);
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Problem> {
        if self.expects_key() {
            return Err(Problem::new("a key must be a word, not an alias", place));
        }
        let Some(anchored) = self.anchors.get(&anchor) else {
            let alias = explain::alias_at(self.text, place);
            let message = format!("the alias '{alias}' is inside its own anchor");
            return Err(Problem::new(message, place));
        };
        self.budget.take(anchored.values, self.stack.len() + anchored.height, place)?;
        let node = anchored.node.clone();
        if let Some(around) = self.stack.last_mut() {
            around.height = around.height.max(anchored.height);
        }
        self.add(node);
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Open { holds: Holds::Map(_, None), .. }))
    }

    fn take_key(&mut self, text: &str, place: Place) {
        let Some(Open { holds: Holds::Map(map, waiting), .. }) = self.stack.last_mut() else {
            return;
        };
        let key = normal_key(text);
        *waiting = Some(match map.get(&key) {
            None => Key::New { key, written: text.into(), place },
            Some(first) => {
                Problem::duplicate(&mut self.duplicates, text, place, first.place);
                Key::Duplicate
            }
        });
    }

    fn add(&mut self, node: Node) {
        match self.stack.last_mut().map(|open| &mut open.holds) {
            None => self.root = Some(node),
            Some(Holds::List(items)) => items.push(node),
            Some(Holds::Map(map, waiting)) => {
                if let Some(Key::New { key, written, place }) = waiting.take() {
                    let entry = Entry::new(&written, &key, place, node);
                    map.insert(key, entry);
                }
            }
        }
    }
}

/// Whether a tag only says that a scalar is text.
fn is_text(tag: &Tag) -> bool {
    tag.is_yaml_core_schema() && tag.suffix == "str"
        || tag.handle.is_empty() && matches!(tag.suffix.as_str(), "!" | "tag:yaml.org,2002:str")
        || tag.handle == "!" && tag.suffix.is_empty()
}

fn meaningless(tag: &Tag, place: Place) -> Problem {
    let shown: String = format!("{}{}", tag.handle, tag.suffix).chars().take(60).collect();
    Problem::new(format!("the tag '{shown}' has no meaning here"), place).hint("remove the tag")
}
