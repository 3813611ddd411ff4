//! YAML 1.2, with places, without tags and without duplicate keys.
//!
//! The parser's events are taken one by one rather than by a recursive composer, so that no nesting
//! can exhaust the stack.

mod explain;

use crate::builder::{Again, Builder};
use crate::{Place, Problem, Tree, Value, scalar};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) fn read(text: &str) -> Result<Option<Tree>, Vec<Problem>> {
    explain::unprintable(text).map_err(|problem| vec![problem])?;
    let mut reader = Reader { text, ..Reader::default() };
    reader.document().map_err(|problem| vec![problem])?;
    reader.builder.finish()
}

fn place_of(mark: &Marker) -> Place {
    Place { line: mark.line() as u32, column: mark.col() as u32 + 1 }
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    builder: Builder,
    documents: usize,
    /// Anchors of all lists and mappings that are open; 0 for none.
    open: Vec<usize>,
    /// By the parser's numbers of anchors.
    anchors: BTreeMap<usize, Again>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Problem> {
        let mut parser = Parser::new_from_str(self.text);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| explain::explain(&error, self.text))?;
            self.take(event, place_of(&span.start))?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag, place)
            }
            Event::MappingStart(anchor, tag) => self.start(true, anchor, tag, place),
            Event::SequenceStart(anchor, tag) => self.start(false, anchor, tag, place),
            Event::MappingEnd | Event::SequenceEnd => {
                let done = self.builder.end();
                let anchor = self.open.pop().unwrap_or_default();
                self.anchored(anchor, done);
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
        let done = if self.builder.expects_key() {
            self.builder.key(text, place);
            (anchor > 0).then(|| self.builder.aside(text, place))
        } else {
            let value = if means_text { Value::Text(text) } else { scalar(text) };
            Some(self.builder.scalar(value, place)?)
        };
        self.anchored(anchor, done);
        Ok(())
    }

    fn anchored(&mut self, anchor: usize, done: Option<Again>) {
        if let Some(done) = done.filter(|_| anchor > 0) {
            self.anchors.insert(anchor, done);
        }
    }

    fn start(
        &mut self,
        is_map: bool,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        place: Place,
    ) -> Result<(), Problem> {
        if let Some(tag) = tag {
            return Err(meaningless(&tag, place));
        }
        if self.builder.expects_key() {
            return Err(Problem::new("a key must be a word, not a list or a mapping", place));
        }
        self.builder.start(is_map, place)?;
        self.open.push(anchor);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Problem> {
        if self.builder.expects_key() {
            return Err(Problem::new("a key must be a word, not an alias", place));
        }
        let Some(again) = self.anchors.get(&anchor) else {
            let alias = explain::alias_at(self.text, place);
            let message = format!("the alias '{alias}' is inside its own anchor");
            return Err(Problem::new(message, place));
        };
        self.builder.alias(*again, place)
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
