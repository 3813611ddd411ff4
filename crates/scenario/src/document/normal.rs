//! A document with all keys in one spelling.

use super::problems::{Fault, Path, Problems};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The grammar needs six levels. More are refused here, so that nothing later has to mind the depth.
pub const MOST_LEVELS: usize = 32;

/// The document with hyphens in keys replaced by underscores.
///
/// Reports keys that are then the same, and nesting without end.
pub(super) fn normalised<'d>(value: &'d Value, problems: &mut Problems) -> Cow<'d, Value> {
    if is_normal(value, 0) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(inner(value, &Path::default(), 0, problems))
}

/// Whether there is nothing to replace or to report: large documents need no copy.
fn is_normal(value: &Value, level: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if level >= MOST_LEVELS => false,
        Value::Array(values) => values.iter().all(|value| is_normal(value, level + 1)),
        Value::Object(map) => {
            map.iter().all(|(key, value)| !key.contains('-') && is_normal(value, level + 1))
        }
        _ => true,
    }
}

fn inner(value: &Value, path: &Path, level: usize, problems: &mut Problems) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if level >= MOST_LEVELS => {
            let message = format!("nested more than {MOST_LEVELS} levels deep");
            problems.add(path, &Value::Null, Fault::new(message));
            Value::Null
        }
        Value::Array(values) => {
            let element = |(index, value): (usize, &Value)| match value {
                Value::Array(_) | Value::Object(_) => {
                    inner(value, &path.index(index), level + 1, problems)
                }
                scalar => scalar.clone(),
            };
            Value::Array(values.iter().enumerate().map(element).collect())
        }
        Value::Object(map) => {
            let mut result = Map::new();
            for (key, value) in map {
                let name = key.replace('-', "_");
                let place = path.key(&name);
                let value = inner(value, &place, level + 1, problems);
                if result.insert(name.clone(), value).is_some() {
                    let message = format!("`{name}` occurs here twice (a hyphen is an underscore)");
                    problems.add(&place, &Value::Null, Fault::new(message));
                }
            }
            Value::Object(result)
        }
        scalar => scalar.clone(),
    }
}
