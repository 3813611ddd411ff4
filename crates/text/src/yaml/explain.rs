//! The parser's complaints in words about the file.

use super::place_of;
use crate::places::Places;
use crate::{Place, Problem};
use saphyr_parser::ScanError;

/// Refuses characters that YAML does not allow (section 5.1 of YAML 1.2).
pub(super) fn unprintable(text: &str) -> Result<(), Problem> {
    let is_allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}')
            || matches!(c, '\u{E000}'..='\u{FFFD}' | '\u{1_0000}'..)
    };
    match text.char_indices().find(|(_, c)| !is_allowed(*c)) {
        None => Ok(()),
        Some((at, found)) => {
            let message = format!("the character U+{:04X} is not allowed in YAML", found as u32);
            Err(Problem::new(message, Places::new(text).of(at)))
        }
    }
}

/// The alias that is here.
pub(super) fn alias_at(text: &str, place: Place) -> String {
    let ends = |c: char| c.is_whitespace() || ",[]{}".contains(c);
    split_line(text, place).1.chars().take_while(|c| !ends(*c)).take(40).collect()
}

/// What the parser could not read.
pub(super) fn explain(error: &ScanError, text: &str) -> Problem {
    let place = place_of(error.marker());
    let said = error.info();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let next = split_line(text, place).1.chars().next();
    if has(&["recursion limit"]) {
        return Problem::too_deep(place);
    }
    if has(&["unknown anchor"]) {
        let alias = alias_at(text, place);
        let anchor = alias.replacen('*', "&", 1);
        let message = format!("the alias '{alias}' has no anchor '{anchor}' before it");
        return Problem::new(message, place);
    }
    if let Some(line) = line_indented_by_tab(text, place.line).filter(|_| has(&["tab"])) {
        let place = Place { line, column: 1 };
        return Problem::new("a tab cannot indent YAML", place).hint("indent with spaces");
    }
    if has(&["valid YAML whitespace"]) {
        return Problem::new("a tab cannot stand after ':'", place).hint("write a space");
    }
    let no_key = has(&["simple key expect"]);
    let misplaced = has(&["mapping values are not allowed"]);
    // That a line has no key is noticed on the next one: at its first ':', or at its start.
    let before = last_text_before(text, place.line).filter(|_| no_key || misplaced);
    let slip = before.filter(|_| !split_line(text, place).0.contains(": "));
    if let Some((place, entry)) = slip.and_then(|(place, line)| Some((place, spaced(line)?))) {
        return Problem::new("a space is missing after the ':'", place)
            .hint(format!("write `{entry}`"));
    }
    if misplaced {
        return Problem::new("a ':' where no key can stand", place)
            .hint("is the line indented too far? Text that contains \": \" needs quotes");
    }
    if no_key {
        return Problem::new("a line without ':' or '-'", before.map_or(place, |(place, _)| place))
            .hint("an entry is written KEY: VALUE, or - VALUE in a list");
    }
    if has(&["misplaced bracket"]) || has(&["node content"]) && matches!(next, Some(']' | '}')) {
        return Problem::new("a closing bracket that was not opened", place);
    }
    let cut_short = has(&["node content"]) && next.is_none();
    if cut_short
        || has(&["end of stream", "eof", "expected ',' or", "flow construct", "placement of ':'"])
        || said == "invalid indentation"
    {
        if let Some(opened) = still_open(text) {
            let end = Places::new(text).of(text.len());
            let message = "the file ends inside a list, a mapping or a quoted text";
            let hint = format!("it was opened on line {}, column {}", opened.line, opened.column);
            return Problem::new(message, end).hint(hint);
        }
        return Problem::new("a ',' or a closing bracket was expected", place)
            .hint("lines inside brackets are indented deeper than the line that opens them");
    }
    let (message, hint) = match said {
        _ if has(&["in quoted scalar"]) => (
            "a line of a quoted text is not indented",
            "indent it deeper than the line that opens the quotes",
        ),
        _ if has(&["expected key", "expected '-'", "indentation"]) => (
            "the indentation does not fit the lines before",
            "entries of one mapping or list start in the same column",
        ),
        _ if has(&["trailing content"]) => {
            ("more text after the closing quote", "put all of it in quotes")
        }
        _ if has(&["escape"]) => (
            "an escape that YAML does not know",
            "in single quotes a backslash is an ordinary character",
        ),
        _ if has(&["unexpected character"]) => {
            ("text that starts with '@', '`' or '%'", "put it in quotes")
        }
        _ if has(&["sequence entries are not allowed"]) => {
            ("a '-' where no list can start", "start the list on a line of its own")
        }
        _ if has(&["node content"]) => ("a value was expected", "take the comma out"),
        _ => return Problem::new(format!("not valid YAML: {said}"), place),
    };
    Problem::new(message, place).hint(hint)
}

/// A line before a place, and from there on.
fn split_line(text: &str, place: Place) -> (&str, &str) {
    let line = text.lines().nth(place.line as usize - 1).unwrap_or("");
    let at = line.char_indices().nth(place.column as usize - 1).map_or(line.len(), |(at, _)| at);
    line.split_at(at)
}

/// The last line before this one with text that is no comment: where its text begins, and the text.
fn last_text_before(text: &str, line: u32) -> Option<(Place, &str)> {
    text.lines().zip(1..line).map(entry_of).filter(|(_, text)| !text.is_empty()).last()
}

/// Where the entry of a line begins, and its text; a comment has none.
fn entry_of((whole, line): (&str, u32)) -> (Place, &str) {
    let text = whole.trim_start().trim_start_matches("- ").trim_start();
    let column = whole[..whole.len() - text.len()].chars().count() as u32 + 1;
    (Place { line, column }, if text.starts_with('#') { "" } else { text })
}

/// `KEY: VALUE` for a line that begins with `KEY:VALUE`.
fn spaced(line: &str) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_.*-".contains(c));
    let is_value = value.starts_with(|c: char| !c.is_whitespace() && c != ':' && c != '/');
    (is_key && is_value).then(|| format!("{key}: {}", value.trim_end()))
}

/// The first line, from this one on, whose indentation holds a tab.
fn line_indented_by_tab(text: &str, from: u32) -> Option<u32> {
    let indented = |line: &str| line[..line.len() - line.trim_start().len()].contains('\t');
    let number = text.lines().skip(from as usize - 1).position(indented)?;
    Some(from + number as u32)
}

/// Where the innermost bracket or quote is that is never closed. It looks only at what can
/// open one: the start of a value.
fn still_open(text: &str) -> Option<Place> {
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut starts_value = true;
    let mut before = '\n';
    let mut chars = text.char_indices().peekable();
    while let Some((at, found)) = chars.next() {
        let inside = !open.is_empty();
        match found {
            '#' if before.is_whitespace() => {
                while chars.peek().is_some_and(|(_, c)| *c != '\n') {
                    chars.next();
                }
            }
            '"' | '\'' if starts_value => {
                let mut closed = false;
                while let Some((_, inner)) = chars.next() {
                    let next = chars.peek().map(|(_, c)| *c);
                    if inner == '\\' && found == '"'
                        || inner == found && found == '\'' && next == Some('\'')
                    {
                        chars.next();
                    } else if inner == found {
                        closed = true;
                        break;
                    }
                }
                if !closed {
                    return Some(Places::new(text).of(at));
                }
                starts_value = false;
            }
            '[' | '{' if starts_value => open.push((found, at)),
            ']' | '}' if inside => {
                open.pop();
                starts_value = false;
            }
            ',' if inside => starts_value = true,
            ':' | '-' | '?' if chars.peek().is_none_or(|(_, c)| c.is_whitespace()) => {
                starts_value = true;
            }
            '\n' => starts_value = true,
            ' ' | '\t' | '\r' => {}
            _ => starts_value = false,
        }
        before = found;
    }
    open.last().map(|(_, at)| Places::new(text).of(*at))
}
