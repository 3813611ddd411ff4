//! Text of a document, in YAML, JSON or TOML, read into values that know their places.
//!
//! Nothing here knows what a scenario means; it knows what a document is. Reading takes time and
//! memory in proportion to the text, whatever the text holds.

mod builder;
mod json;
mod node;
mod places;
mod problem;
mod scalar;
mod toml;
mod yaml;

pub use node::{Entry, List, Map, Node, Place, Step, Tree, Value};
pub use problem::Problem;
pub use scalar::scalar;

/// Deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;

/// The most values that a document may hold: a scenario of a hundred thousand flows, all written out, has four
/// million. More is an accident.
pub const MAX_VALUES: usize = 20_000_000;

/// The most values that aliases may stand for. More is an attack: aliases that contain aliases.
pub const MAX_REPEATED: usize = 4_000_000;

/// The most problems of one kind that are collected: nobody reads more.
const MAX_PROBLEMS: usize = 100;

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2 with the core schema.
    Yaml,
    /// JSON (RFC 8259).
    Json,
    /// TOML 1.1.
    Toml,
}

/// Reads a text. `None`: it holds nothing.
///
/// # Errors
/// All duplicate keys, or all values that no document can hold, or the one place where the text
/// stops making sense.
pub fn read(text: &str, format: Format) -> Result<Option<Tree>, Vec<Problem>> {
    match format {
        Format::Json => sound(json::read(text, 0)?),
        Format::Toml => sound(toml::read(text)?),
        Format::Yaml => read_yaml(text),
    }
}

/// Reads a text in YAML or JSON: what a program needs that is to stay small.
///
/// # Errors
/// As [`read`].
pub fn read_yaml(text: &str) -> Result<Option<Tree>, Vec<Problem>> {
    // JSON is YAML, too: a large resolved scenario is JSON below a few lines of comment.
    let start = comment_lines(text);
    let as_json = text[start..].starts_with('{').then(|| json::read(text, start));
    sound(match as_json {
        Some(Ok(tree)) => tree,
        _ => yaml::read(text)?,
    })
}

/// A document without values that the simulator cannot be given.
fn sound(tree: Option<Tree>) -> Result<Option<Tree>, Vec<Problem>> {
    let flaws = tree.as_ref().map_or_else(Vec::new, Tree::flaws);
    if flaws.is_empty() { Ok(tree) } else { Err(flaws) }
}

/// Length of the comments and empty lines with which a text starts.
fn comment_lines(text: &str) -> usize {
    text.split_inclusive('\n')
        .take_while(|line| *line == "\n" || line.starts_with('#') && line.ends_with('\n'))
        .map(str::len)
        .sum()
}

#[cfg(test)]
mod tests;
