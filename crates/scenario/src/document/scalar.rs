//! Single values: reading, ranges, and what to say about wrong ones.

use super::block::Setting;
use super::meant::{unknown_word, usual_word};
use super::problems::Fault;
pub(super) use super::problems::brief;
use ackclock_units::param::{Choice, Default, Entry, Kind, Param};
use ackclock_units::quantity::{self, Dimension, Quantity};
use serde_json::Value;
use std::cmp::Ordering;

/// What a quantity of this kind may measure; nothing for kinds without unit.
pub(crate) fn dimensions(kind: Kind) -> &'static [Dimension] {
    match kind {
        Kind::Time | Kind::TimeOr(_) => &[Dimension::Time],
        Kind::Rate | Kind::RateOr(_) => &[Dimension::Rate],
        Kind::Size | Kind::SizeOr(_) | Kind::SegmentsOrSize => &[Dimension::Size],
        Kind::SizeOrPackets => &[Dimension::Size, Dimension::Packets],
        Kind::Buffer => {
            &[Dimension::Size, Dimension::Packets, Dimension::Time, Dimension::Products]
        }
        _ => &[],
    }
}

/// Reads the value of a parameter that is not a mapping, list or registered thing.
pub(super) fn read(param: &Param, value: &Value) -> Result<Setting, Fault> {
    if value.is_null() {
        return Err(nothing(param));
    }
    if let (Some(word), Value::String(text)) = (param.word, value)
        && text == word
    {
        return Ok(Setting::Absent);
    }
    let setting = match param.kind {
        Kind::Time
        | Kind::TimeOr(_)
        | Kind::Rate
        | Kind::RateOr(_)
        | Kind::Size
        | Kind::SizeOr(_)
        | Kind::SizeOrPackets
        | Kind::Buffer => read_quantity(param, value)?,
        Kind::Count => Setting::Count(whole_number(param, value)?),
        Kind::CountList => Setting::Counts(whole_numbers(param, value)?),
        Kind::SegmentsOrSize if value.is_string() => read_quantity(param, value)?,
        Kind::Real | Kind::SegmentsOrSize => real_number(param, value)?,
        Kind::Flag => match value {
            Value::Bool(flag) => Setting::Flag(*flag),
            other => return Err(wrong_type(param, other)),
        },
        Kind::Choice(choices) => {
            Setting::Text(word(param, choices.iter().map(|choice| choice.name), value)?.into())
        }
        Kind::Sampling(choices) => Setting::Text(sampling(param, choices, value)?),
        Kind::Family(entries) | Kind::Preset(entries) => {
            Setting::Text(word(param, entries.iter().map(|entry| entry.name), value)?.into())
        }
        Kind::Name | Kind::HostRef | Kind::FlowRef => Setting::Text(name(value)?.into()),
        _ => match value {
            Value::String(text) => Setting::Text(text.trim().into()),
            other => return Err(wrong_type(param, other)),
        },
    };
    check_range(param, &setting)?;
    Ok(setting)
}

/// The value that stands for a parameter when none is given; none if one must be given.
pub(super) fn default(param: &Param) -> Option<Setting> {
    match param.default {
        Default::Required => None,
        Default::Absent => Some(Setting::Absent),
        Default::Is(text) => {
            let value = match param.kind {
                Kind::Count | Kind::Real | Kind::Flag => {
                    serde_json::from_str(text).expect("a default is a number or a flag")
                }
                _ => Value::from(text),
            };
            Some(read(param, &value).expect("a default is within its range"))
        }
    }
}

fn read_quantity(param: &Param, value: &Value) -> Result<Setting, Fault> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(wrong_type(param, other)),
    };
    let quantity = quantity::parse(&text, dimensions(param.kind)).map_err(|error| {
        let endless = ["inf", "infinite", "infinity", "none"].contains(&text.trim());
        let word = param.word.filter(|_| endless).map(|word| format!("write `{word}`"));
        let hint = word.or_else(|| with_usual_unit(param, &text)).or(error.hint);
        Fault::new(error.message).allowed(allowed(param)).maybe_hint(hint)
    })?;
    Ok(Setting::Quantity(quantity))
}

/// For a number without unit: the number with the unit of the default, `120 s` where that is `1000 s`.
fn with_usual_unit(param: &Param, text: &str) -> Option<String> {
    let Default::Is(default) = param.default else { return None };
    let [_] = dimensions(param.kind) else { return None };
    let (_, unit) = default.split_once(' ')?;
    let number = text.trim();
    let meant = format!("{number} {unit}");
    let is_bare = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_quantity = quantity::parse(&meant, dimensions(param.kind)).is_ok();
    (is_bare && is_quantity).then(|| format!("for example `{meant}`"))
}

fn whole_number(param: &Param, value: &Value) -> Result<u64, Fault> {
    let Value::Number(number) = value else { return Err(wrong_type(param, value)) };
    if let Some(whole) = number.as_u64() {
        return Ok(whole);
    }
    let real = number.as_f64().unwrap_or(f64::NAN);
    let fault = if real < 0.0 {
        Fault::new(format!("`{number}` is negative"))
    } else if real.fract() != 0.0 {
        Fault::new(format!("`{number}` is not a whole number"))
    } else if real < 9_007_199_254_740_992.0 {
        // Some languages write 1e6 for a million.
        #[expect(clippy::cast_possible_truncation, reason = "whole, and small enough")]
        return Ok(real as u64);
    } else {
        Fault::new(format!("`{number}` is too large"))
    };
    Err(fault.allowed(allowed(param)))
}

fn real_number(param: &Param, value: &Value) -> Result<Setting, Fault> {
    let Value::Number(number) = value else { return Err(wrong_type(param, value)) };
    let real = number.as_f64().filter(|real| real.is_finite()).ok_or_else(|| {
        Fault::new(format!("`{number}` is not a finite number")).allowed(allowed(param))
    })?;
    // Negative zero is zero.
    Ok(Setting::Real(if real == 0.0 { 0.0 } else { real }))
}

fn word(
    param: &Param,
    mut names: impl Iterator<Item = &'static str> + Clone,
    value: &Value,
) -> Result<&'static str, Fault> {
    let Value::String(text) = value else { return Err(wrong_type(param, value)) };
    let all = names.clone();
    names.find(|name| name == text).ok_or_else(|| {
        let message = format!("`{}` is not a value of `{}`", brief(text), param.name);
        Fault { message, ..unknown_word(param.name, text, all, None) }
    })
}

/// A word, or how often something is written down, as [`Keep`] spells it.
fn sampling(param: &Param, choices: &'static [Choice], value: &Value) -> Result<String, Fault> {
    let Value::String(text) = value else { return Err(wrong_type(param, value)) };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (extremes, time) = match words.as_slice() {
        ["every", time @ ..] => (false, time),
        ["min-max", "every", time @ ..] => (true, time),
        _ => {
            let names = choices.iter().map(|choice| choice.name);
            let fault = match word(param, names, value) {
                Ok(word) => return Ok(word.to_owned()),
                Err(fault) => Fault { allowed: Some(allowed(param)), ..fault },
            };
            if words == ["min-max"] {
                return Err(fault.hint("for example `min-max every 10 ms`"));
            }
            let time = words.strip_prefix(&["min-max"]).unwrap_or(&words).join(" ");
            let is_time = quantity::parse(&time, &[Dimension::Time]).is_ok();
            return Err(if is_time {
                let prefix = if words[0] == "min-max" { "min-max " } else { "" };
                fault.hint(format!("did you mean `{prefix}every {time}`?"))
            } else {
                fault
            });
        }
    };
    let time = quantity::parse(&time.join(" "), &[Dimension::Time]).map_err(|error| {
        Fault::new(error.message).allowed(allowed(param)).maybe_hint(error.hint)
    })?;
    match time {
        Quantity::Time(0) => {
            Err(Fault::new("an interval is longer than no time").allowed(allowed(param)))
        }
        time => Ok(format!("{}every {time}", if extremes { "min-max " } else { "" })),
    }
}

/// For a quantity where a model belongs: the model with it.
pub(super) fn value_alone(text: &str, known: &[&str]) -> Option<String> {
    if known.contains(&"bernoulli") {
        return share(text);
    }
    if !known.contains(&"droptail") {
        return None;
    }
    let text = text.trim();
    let limit = if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
        format!("{text} packets")
    } else {
        quantity::parse(text, dimensions(Kind::Buffer)).ok()?;
        text.to_owned()
    };
    Some(format!("write `{{limit: {limit}}}`"))
}

/// For a share such as `1%` or `0.01` where a model of loss belongs: that loss.
pub(super) fn share(text: &str) -> Option<String> {
    let share = percent(text.trim()).or_else(|| text.trim().parse().ok())?;
    let hint = format!("random loss is `{{kind: bernoulli, p: {share}}}`");
    (0.0..=1.0).contains(&share).then_some(hint)
}

/// The share that a percentage is.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    Some(number / 100.0)
}

/// A new name, or one that is declared elsewhere.
pub(super) fn name(value: &Value) -> Result<&str, Fault> {
    const RULE: &str = "letters, digits, `-`, `_`, `/`, `:` and `+`, at most 100 of them";
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => {
            return Err(Fault::new("a name is text, not a number")
                .allowed(RULE)
                .hint(format!("in quotes it is text: \"{number}\"")));
        }
        Value::Bool(_) => {
            return Err(Fault::new("a name is text, not `true` or `false`")
                .allowed(RULE)
                .hint("in quotes it is text"));
        }
        other => {
            return Err(Fault::new(format!("a name is text, not {}", found(other))).allowed(RULE));
        }
    };
    if text.is_empty() {
        return Err(Fault::new("a name is not empty").allowed(RULE));
    }
    if text.chars().count() > 100 {
        return Err(Fault::new("a name has at most 100 letters").allowed(RULE));
    }
    // A point would end a step of `--set flows.F1.tcp`, an asterisk stands for all.
    let is_good = |c: char| c.is_alphanumeric() || "-_/:+".contains(c);
    match text.chars().find(|c| !is_good(*c)) {
        None => Ok(text),
        Some(' ') => {
            let words: Vec<&str> = text.split(|c| !is_good(c)).filter(|w| !w.is_empty()).collect();
            let hint = (!words.is_empty()).then(|| format!("for example `{}`", words.join("-")));
            let fault = Fault::new(format!("a name has no spaces: `{text}`"));
            Err(fault.allowed(RULE).maybe_hint(hint))
        }
        Some('*') => Err(Fault::new("`*` cannot be part of a name")
            .allowed(RULE)
            .hint("in `id`, `from` and `to` of a flow with `count` it is the number of each flow")),
        Some(c) => {
            Err(Fault::new(format!("`{}` cannot be part of a name", c.escape_debug()))
                .allowed(RULE))
        }
    }
}

fn whole_numbers(param: &Param, value: &Value) -> Result<Vec<u64>, Fault> {
    let Value::Array(items) = value else {
        return Err(wrong_type(param, value).hint(format!("for example `{}: [3, 17]`", param.name)));
    };
    items.iter().map(|item| whole_number(param, item)).collect()
}

fn check_range(param: &Param, setting: &Setting) -> Result<(), Fault> {
    // How a value compares with a bound; nothing for values that the bound is not about.
    let beside = |bound: &str| match setting {
        Setting::Real(value) => value.partial_cmp(&bound.parse().expect("a bound is a number")),
        Setting::Count(value) => {
            Some(value.cmp(&bound.parse().expect("a bound is a whole number")))
        }
        // The bound of a list is that of its numbers, and only a least one.
        Setting::Counts(values) => {
            let bound = bound.parse().expect("a bound is a whole number");
            values.iter().min().map(|least| least.cmp(&bound))
        }
        // Bounds in segments.
        Setting::Quantity(_) if matches!(param.kind, Kind::SegmentsOrSize) => None,
        Setting::Quantity(value) => {
            let bound = quantity::parse(bound, dimensions(param.kind));
            let bound = bound.expect("a bound is a quantity");
            let same = std::mem::discriminant(value) == std::mem::discriminant(&bound);
            same.then(|| value.amount().cmp(&bound.amount()))
        }
        _ => None,
    };
    let side = if param.min.and_then(beside) == Some(Ordering::Less) {
        "small"
    } else if param.max.and_then(beside) == Some(Ordering::Greater) {
        "large"
    } else {
        return Ok(());
    };
    let text = match setting.spelled(param) {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Err(Fault::new(format!("`{text}` is too {side}")).allowed(allowed(param)))
}

/// The range of a parameter in words.
pub(crate) fn range(param: &Param) -> Option<String> {
    match (param.min, param.max) {
        (None, None) => None,
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
    }
}

/// What may stand for a parameter, in words.
pub(super) fn allowed(param: &Param) -> String {
    let mut text = match param.kind {
        Kind::Choice(choices) => {
            choices.iter().map(|choice| choice.name).collect::<Vec<_>>().join(", ")
        }
        Kind::Sampling(choices) => {
            let words = choices.iter().map(|choice| choice.name).collect::<Vec<_>>().join(", ");
            format!("{words}, `every 10 ms`, `min-max every 10 ms`")
        }
        Kind::Family(entries) | Kind::Preset(entries) => names(entries),
        Kind::SegmentsOrSize => {
            let sizes = quantity::allowed(dimensions(param.kind));
            format!("a number of segments without unit, or a size: {sizes}")
        }
        kind => match dimensions(kind) {
            [] => noun(param).to_owned(),
            some => quantity::allowed(some),
        },
    };
    if let Kind::TimeOr(entries) | Kind::RateOr(entries) | Kind::SizeOr(entries) = param.kind {
        text.push_str(&format!("; or a mapping with `kind`: {}", names(entries)));
    } else if let Some(presets) = param.presets() {
        text.push_str(&format!("; presets: {}", names(presets)));
    }
    if let Some(range) = range(param) {
        text.push_str(if dimensions(param.kind).is_empty() { ", " } else { "; " });
        text.push_str(&range);
    }
    // A default in figures is in the range.
    if let Some(word) = param.word.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())) {
        text.push_str(&format!("; or `{word}`"));
    }
    text
}

fn names(entries: &[&Entry]) -> String {
    entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// What a value of this parameter is in a sentence.
fn noun(param: &Param) -> &'static str {
    match param.kind {
        Kind::Time => "a time with its unit",
        Kind::Rate => "a rate with its unit",
        Kind::Size => "an amount of data with its unit",
        Kind::SizeOrPackets => "an amount of data or a number of packets",
        Kind::Buffer => "an amount of data, a number of packets, a time, or a multiple of the BDP",
        Kind::SegmentsOrSize => "a number of segments without unit or an amount of data",
        Kind::Count => "a whole number without unit",
        Kind::CountList => "a list of whole numbers",
        Kind::Real => "a number without unit",
        Kind::Flag => "true or false",
        Kind::Text => "text",
        Kind::Choice(_) | Kind::Family(_) | Kind::Preset(_) | Kind::Sampling(_) => "a word",
        Kind::Registered(_) if param.value_of.is_some() => {
            "a quantity with its unit, or a mapping with `kind`"
        }
        Kind::Registered(_) => "a word, or a mapping with `kind`",
        Kind::TimeOr(_) => "a time with its unit, or a mapping with `kind`",
        Kind::RateOr(_) => "a rate with its unit, or a mapping with `kind`",
        Kind::SizeOr(_) => "an amount of data with its unit, or a mapping with `kind`",
        Kind::Object(_) if param.presets().is_some() => "a preset or a mapping",
        Kind::Object(_) | Kind::ObjectEach(_) => "a mapping",
        Kind::ObjectList(_) => "a list of mappings",
        Kind::Rows(_) => "a list of rows",
        Kind::NameList => "a list of names",
        Kind::NodePair => "two names of hosts or routers",
        Kind::RouterRefs => "a list of names of routers",
        Kind::HostRef => "the name of a host",
        Kind::FlowRef => "the name of a flow",
        Kind::Name => "a name",
        Kind::Any => "a value",
    }
}

/// What a value is, where it is not what it should be.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text `{}`", brief(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a mapping".into(),
    }
}

/// A value of a kind that cannot stand here.
pub(super) fn wrong_type(param: &Param, value: &Value) -> Fault {
    let fault = Fault::new(format!("`{}` needs {}, not {}", param.name, noun(param), found(value)))
        .allowed(allowed(param));
    match (param.kind, value) {
        (Kind::Count | Kind::Real, Value::String(text)) => {
            let trimmed = text.trim();
            if trimmed.parse::<f64>().is_ok_and(f64::is_finite) {
                fault.hint("write it without quotes")
            } else if let Some(share) = percent(trimmed) {
                fault.hint(format!("write {share}"))
            } else if let Some(digits) = leading_number(trimmed) {
                fault.hint(format!("it has no unit: write {digits}"))
            } else {
                fault
            }
        }
        (Kind::Text, Value::Number(_) | Value::Bool(_)) => fault.hint("in quotes it is text"),
        (Kind::Choice(choices) | Kind::Sampling(choices), Value::Bool(false))
            if choices.iter().any(|c| c.name == "off") =>
        {
            fault.hint("write \"off\" in quotes")
        }
        (Kind::Choice(choices) | Kind::Sampling(choices), Value::Bool(true)) => {
            let names: Vec<_> = choices.iter().map(|choice| choice.name).collect();
            let meant = usual_word("true", &names);
            fault.maybe_hint(meant.map(|name| format!("did you mean `{name}`?")))
        }
        (Kind::Object(params), Value::String(text)) => {
            let fits = |inner: &&Param| match inner.kind {
                Kind::Registered(entries) => entries.iter().any(|entry| entry.name == text),
                Kind::Text | Kind::Name | Kind::HostRef | Kind::NameList | Kind::NodePair => false,
                Kind::RouterRefs => false,
                Kind::Object(_) | Kind::ObjectEach(_) | Kind::ObjectList(_) => false,
                Kind::Rows(_) | Kind::FlowRef => false,
                _ => read(inner, value).is_ok(),
            };
            let meant = params.iter().find(fits);
            fault.maybe_hint(
                meant.map(|param| format!("did you mean `{{{}: {text}}}`?", param.name)),
            )
        }
        _ => fault,
    }
}

/// The number at the start of a text like `10 packets`.
fn leading_number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number.parse::<f64>().is_ok() && unit.trim().chars().all(char::is_alphabetic))
        .then_some(number)
}

/// A key without a value.
fn nothing(param: &Param) -> Fault {
    let fault = Fault::new(format!("`{}` has no value", param.name)).allowed(allowed(param));
    match (param.word, param.default) {
        (Some(word), _) => fault.hint(format!("write `{word}`, or leave the key out")),
        (None, Default::Required) => fault,
        (None, Default::Absent) => fault.hint("leave the key out"),
        (None, Default::Is(text)) => {
            fault.hint(format!("leave the key out to get the default, `{text}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;
    use serde_json::json;

    /// All parameters of a table and of what it contains.
    fn all(table: &'static [Param]) -> Vec<&'static Param> {
        let mut found = Vec::new();
        for param in table {
            found.push(param);
            match param.kind {
                Kind::Object(inner)
                | Kind::ObjectEach(inner)
                | Kind::ObjectList(inner)
                | Kind::Rows(inner) => found.extend(all(inner)),
                Kind::Registered(entries)
                | Kind::TimeOr(entries)
                | Kind::RateOr(entries)
                | Kind::SizeOr(entries)
                | Kind::Family(entries) => {
                    for entry in entries {
                        found.extend(all(entry.params));
                    }
                }
                _ => {}
            }
        }
        found
    }

    #[test]
    fn every_default_and_bound_of_the_tables_reads() {
        for param in all(tables::SCENARIO) {
            assert!(param.summary.ends_with('.'), "{}: {}", param.name, param.summary);
            assert_eq!(param.name, param.name.to_lowercase().replace('-', "_"));
            match param.kind {
                Kind::Object(_) | Kind::ObjectEach(_) | Kind::ObjectList(_) => {}
                Kind::Rows(_) | Kind::NameList | Kind::NodePair => {}
                Kind::RouterRefs | Kind::Any => {}
                Kind::Registered(entries) => {
                    if let Default::Is(word) = param.default {
                        assert!(entries.iter().any(|entry| entry.name == word), "{word}");
                    }
                }
                _ => {
                    default(param);
                    for bound in [param.min, param.max].into_iter().flatten() {
                        let inside = match param.kind {
                            Kind::CountList => json!([bound.parse::<u64>().unwrap()]),
                            Kind::Count | Kind::Real | Kind::SegmentsOrSize => {
                                // JSON has no other way to write 1e9 as a number.
                                let number: f64 = bound.parse().unwrap();
                                json!(number)
                            }
                            _ => json!(bound),
                        };
                        assert!(read(param, &inside).is_ok(), "{}: {bound}", param.name);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_without_unit_are_read_in_every_spelling() {
        let count = Param::new("samples", Kind::Count, "40", "Samples.").at_least("1");
        for value in [json!(1_000_000), json!(1e6)] {
            assert_eq!(read(&count, &value).unwrap(), Setting::Count(1_000_000));
        }
        let real = Param::new("alpha", Kind::Real, "20", "Packets.");
        let fifty = read(&real, &json!(50)).unwrap();
        assert_eq!((fifty.spelled(&real), fifty), (json!(50), Setting::Real(50.0)));
        assert_eq!(read(&real, &json!(-0.0)).unwrap().spelled(&real), json!(0));
    }
}
