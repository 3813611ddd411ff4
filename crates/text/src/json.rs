//! JSON (RFC 8259), with places and without duplicate keys.

use crate::builder::Builder;
use crate::scalar::integer;
use crate::{Place, Problem, Tree, Value};
use std::borrow::Cow;

const MAX_DIGITS: usize = 400;

/// Reads the text from this byte on, where a line starts.
pub(crate) fn read(text: &str, start: usize) -> Result<Option<Tree>, Vec<Problem>> {
    let lines = text[..start].bytes().filter(|byte| *byte == b'\n').count();
    let mut reader = Reader {
        text,
        at: start,
        line: lines as u32 + 1,
        line_start: start,
        builder: Builder::default(),
    };
    reader.document().map_err(|problem| vec![problem])?;
    reader.builder.finish()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Number of the present line.
    line: u32,
    /// Where it starts, less the bytes in it that continue a character, as these take no column.
    line_start: usize,
    builder: Builder,
}

impl<'t> Reader<'t> {
    fn document(&mut self) -> Result<(), Problem> {
        if self.peek().is_none() {
            return Ok(());
        }
        self.value()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong("more text after the end of the document")),
        }
    }

    fn wrong(&self, message: impl Into<String>) -> Problem {
        Problem::new(message, self.here())
    }

    fn here(&self) -> Place {
        // Texts are smaller than 4 GiB: their readers limit them to some megabytes.
        Place { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                _ => return Some(*byte),
            }
        }
        None
    }

    fn value(&mut self) -> Result<(), Problem> {
        let first = self.peek();
        let place = self.here();
        let value = match first {
            None => return Err(self.wrong("the file ends in the middle")),
            Some(b'{') => return self.object(place),
            Some(b'[') => return self.array(place),
            Some(b'"') => {
                let text = self.string()?;
                return self.builder.scalar(Value::Text(&text), place).map(|_| ());
            }
            Some(_) => match self.number() {
                Some(number) => number,
                None => self.word()?,
            },
        };
        self.builder.scalar(value, place).map(|_| ())
    }

    fn object(&mut self, place: Place) -> Result<(), Problem> {
        self.builder.start(true, place)?;
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.builder.end();
            return Ok(());
        }
        loop {
            let next = self.peek();
            if next != Some(b'"') {
                let problem = self.wrong("a key in double quotes was expected");
                return Err(if next == Some(b'}') {
                    problem.hint("no comma after the last entry")
                } else {
                    problem
                });
            }
            let place = self.here();
            let written = self.string()?;
            if self.peek() != Some(b':') {
                return Err(self.wrong("':' was expected after the key"));
            }
            self.at += 1;
            self.builder.key(&written, place);
            self.value()?;
            if self.ends(b'}')? {
                self.builder.end();
                return Ok(());
            }
        }
    }

    fn array(&mut self, place: Place) -> Result<(), Problem> {
        self.builder.start(false, place)?;
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            self.builder.end();
            return Ok(());
        }
        loop {
            self.value()?;
            if self.ends(b']')? {
                self.builder.end();
                return Ok(());
            }
        }
    }

    /// Steps over ',' or the closing bracket; whether it was the bracket.
    fn ends(&mut self, bracket: u8) -> Result<bool, Problem> {
        match self.peek() {
            Some(found) if found == b',' || found == bracket => {
                self.at += 1;
                Ok(found == bracket)
            }
            Some(_) => Err(self.wrong(format!("',' or '{}' was expected", bracket as char))),
            None => Err(self.wrong("the file ends in the middle")),
        }
    }

    fn number(&mut self) -> Option<Value<'t>> {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        let digits = |end: &mut usize| {
            let start = *end;
            while bytes.get(*end).is_some_and(u8::is_ascii_digit) {
                *end += 1;
            }
            *end > start
        };
        if bytes.get(end) == Some(&b'-') {
            end += 1;
        }
        // A number has no leading zeros: what follows one is text after the number.
        if bytes.get(end) == Some(&b'0') {
            end += 1;
        } else if !digits(&mut end) {
            return None;
        }
        let mut is_real = false;
        if bytes.get(end) == Some(&b'.') {
            let mut after = end + 1;
            if digits(&mut after) {
                (end, is_real) = (after, true);
            }
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let mut after = end + 1;
            if matches!(bytes.get(after), Some(b'-' | b'+')) {
                after += 1;
            }
            if digits(&mut after) {
                (end, is_real) = (after, true);
            }
        }
        let text: &'t str = &self.text[self.at..end];
        self.at = end;
        Some(if is_real || text.len() > MAX_DIGITS {
            Value::Real(text.parse().unwrap_or(f64::INFINITY))
        } else {
            integer(text, 10, text)
        })
    }

    fn word(&mut self) -> Result<Value<'t>, Problem> {
        let rest = &self.text[self.at..];
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = &rest[..rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len())];
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                let shown = if word.is_empty() { rest.chars().next().unwrap_or(' ') } else { ' ' };
                let shown: Cow<str> =
                    if word.is_empty() { shown.to_string().into() } else { word.into() };
                let problem = self.wrong(format!("a value cannot start with '{shown}'"));
                return Err(if !word.is_empty() || shown == "'" {
                    problem.hint("text is written in double quotes")
                } else {
                    problem
                });
            }
        };
        self.at += word.len();
        Ok(value)
    }

    /// The text between two double quotes.
    fn string(&mut self) -> Result<Cow<'t, str>, Problem> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut end = start;
        let mut is_plain = true;
        let mut continuing = 0;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') if bytes.get(end + 1).is_some_and(|b| *b >= 0x20) => {
                    is_plain = false;
                    end += 2;
                }
                Some(byte) if *byte >= 0x20 && *byte != b'\\' => {
                    continuing += usize::from(byte & 0xC0 == 0x80);
                    end += 1;
                }
                _ => {
                    let message =
                        "a text that does not end on its line, or holds a control character";
                    return Err(self.wrong(message));
                }
            }
        }
        let raw = &self.text[start..end];
        let text = if is_plain { raw.into() } else { self.unescaped(raw)?.into() };
        self.at = end + 1;
        self.line_start += continuing;
        Ok(text)
    }

    fn unescaped(&self, raw: &str) -> Result<String, Problem> {
        let mut text = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((before, after)) = rest.split_once('\\') {
            text.push_str(before);
            let escape = after.chars().next().unwrap_or('\\');
            rest = &after[escape.len_utf8().min(after.len())..];
            text.push(match escape {
                '"' | '\\' | '/' => escape,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let (found, left) = self.code_point(rest)?;
                    rest = left;
                    found
                }
                _ => return Err(self.wrong("an escape that JSON does not know")),
            });
        }
        text.push_str(rest);
        Ok(text)
    }

    /// The character after `\u`; two halves of a surrogate pair are one.
    fn code_point<'r>(&self, text: &'r str) -> Result<(char, &'r str), Problem> {
        let (first, mut rest) =
            hexadecimal(text).ok_or_else(|| self.wrong("an escape that JSON does not know"))?;
        let mut code = first;
        if (0xD800..0xDC00).contains(&first)
            && let Some((second, after)) = rest.strip_prefix("\\u").and_then(hexadecimal)
            && (0xDC00..0xE000).contains(&second)
        {
            code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            rest = after;
        }
        char::from_u32(code)
            .map(|found| (found, rest))
            .ok_or_else(|| self.wrong("text with half of a surrogate pair"))
    }
}

/// The four hexadecimal digits with which a text starts.
fn hexadecimal(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4)?;
    let is_hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
    Some((u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?, &text[4..]))
}
