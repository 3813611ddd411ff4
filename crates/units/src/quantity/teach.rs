//! Messages for text that is not a quantity, with what was probably meant.

use super::Dimension::{self, Packets, Rate, Size, Time};
use super::{QuantityError, units};
use crate::spelling::nearest;

/// The text does not begin with a number.
pub(super) fn no_number(text: &str, dimensions: &[Dimension]) -> QuantityError {
    let example = dimensions[0].example("10");
    if text.is_empty() {
        return error("nothing is written here", Some(format!("for example `{example}`")));
    }
    let bare = text.trim_start_matches(['+', '-', '.']).to_ascii_lowercase();
    let word: String = bare.chars().take_while(char::is_ascii_alphabetic).collect();
    if matches!(word.as_str(), "nan" | "inf" | "infinity") {
        return error(format!("`{}` is not a finite number", shown(text)), None);
    }
    error(
        format!("`{}` does not begin with a number", shown(text)),
        Some(format!("for example `{example}`")),
    )
}

/// The number is alone.
pub(super) fn no_unit(number: &str, dimensions: &[Dimension]) -> QuantityError {
    // Who writes a million and no unit has counted bits.
    let counts_bits = number.parse().is_ok_and(|value: f64| value >= 1e5);
    let example = |dimension: &Dimension| match dimension {
        Rate if counts_bits => format!("`{number} bps`"),
        _ => format!("`{}`", dimension.example(number)),
    };
    let meant: Vec<String> = dimensions.iter().map(example).collect();
    error(format!("`{number}` has no unit"), Some(format!("for example {}", meant.join(" or "))))
}

/// The unit is unknown, or one of something else.
pub(super) fn wrong_unit(
    text: &str,
    number: &str,
    unit: &str,
    dimensions: &[Dimension],
) -> QuantityError {
    if let Some(error) = separators(text, number, unit) {
        return error;
    }
    if let Some(found) = units::dimension_of(unit) {
        return other_dimension(text, number, unit, found, dimensions);
    }
    if let Some(error) = familiar(text, number, unit, dimensions) {
        return error;
    }
    let known = dimensions.iter().flat_map(|dimension| super::unit_names(*dimension));
    let hint = nearest(unit, known).map(|name| format!("did you mean `{number} {name}`?"));
    error(format!("unknown unit `{}` in `{}`", shown(unit), shown(text)), hint)
}

/// `0,5 s` and `1_000 bps`.
fn separators(text: &str, number: &str, unit: &str) -> Option<QuantityError> {
    let rest = unit.strip_prefix([',', '_', '\''])?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return None;
    }
    let hint = if unit.starts_with(',') {
        format!("decimals follow a point: `{number}.{rest}`")
    } else {
        format!("write `{number}{rest}`")
    };
    Some(error(format!("`{}`: a number has digits and a point only", shown(text)), Some(hint)))
}

fn other_dimension(
    text: &str,
    number: &str,
    unit: &str,
    found: Dimension,
    dimensions: &[Dimension],
) -> QuantityError {
    let wanted = dimensions[0];
    let meant = match (found, wanted) {
        (Size, Rate) => rate_of(number, unit),
        (Rate, Size) => {
            let amount = unit.replace("ps", "").replace("/s", "");
            let amount = if unit.ends_with("bps") { format!("{amount}it") } else { amount };
            match units::find(&amount, &[Size]) {
                Some(known) => format!("{number} {}", known.name),
                None => wanted.example(number),
            }
        }
        _ => {
            let example = wanted.example("10");
            return error(
                format!("`{}` is {}, not {}", shown(text), found.noun(), nouns(dimensions)),
                Some(format!("for example `{example}`")),
            );
        }
    };
    error(
        format!("`{}` is {}; {} is `{meant}`", shown(text), found.noun(), nouns(dimensions)),
        None,
    )
}

/// The rate that someone who wrote an amount of data meant.
fn rate_of(number: &str, unit: &str) -> String {
    let unit = if unit == "KB" { "kB" } else { unit };
    match unit.strip_suffix("bit") {
        Some(prefix) => format!("{number} {prefix}bps"),
        None => match units::find(&format!("{unit}/s"), &[Rate]) {
            Some(known) => format!("{number} {}", known.name),
            None => Rate.example(number),
        },
    }
}

/// Units that many programs know and that are not clear enough here, or are spelled otherwise.
fn familiar(
    text: &str,
    number: &str,
    unit: &str,
    dimensions: &[Dimension],
) -> Option<QuantityError> {
    let text = shown(text);
    let binary = unit.chars().nth(1) == Some('i');
    let prefix = match unit.chars().next()? {
        'k' | 'K' if binary => "Ki",
        'k' | 'K' => "k",
        'm' | 'M' if binary => "Mi",
        'm' | 'M' => "M",
        'g' | 'G' if binary => "Gi",
        'g' | 'G' => "G",
        't' | 'T' => "T",
        _ => "",
    };
    let rest = &unit[prefix.len()..];
    let letter = unit.chars().next()?;
    if dimensions.contains(&Rate) {
        return match rest {
            "b" => Some(error(
                format!("`{text}` is an amount of data; a rate is `{number} {prefix}bps`"),
                None,
            )),
            "Bps" | "BPS" => Some(error(
                format!("`{text}`: `{unit}` is not used, since `B` and `b` are easily confused"),
                Some(format!(
                    "bytes per second are `{number} {prefix}B/s`, \
                     bits per second are `{number} {prefix}bps`"
                )),
            )),
            "" => Some(error(
                format!("`{text}` has no unit, only a prefix"),
                Some(format!("bits per second are `{number} {prefix}bps`")),
            )),
            "bps" | "bit/s" | "B/s" if letter != prefix.chars().next().unwrap_or(letter) => {
                Some(error(
                    format!("unknown unit `{unit}` in `{text}`"),
                    Some(format!("did you mean `{number} {prefix}{rest}`?")),
                ))
            }
            _ => None,
        };
    }
    if dimensions.contains(&Size) {
        return match rest {
            "b" if !binary => Some(error(
                format!("`{text}` may be bits or bytes"),
                Some(format!("bits are `{number} {prefix}bit`, bytes are `{number} {prefix}B`")),
            )),
            "" if !prefix.is_empty() => Some(error(
                format!("`{text}` has no unit, only a prefix"),
                Some(format!("bytes are `{number} {prefix}B`")),
            )),
            "byte" | "bytes" | "Byte" | "Bytes" => Some(error(
                format!("unknown unit `{unit}` in `{text}`"),
                Some(format!("bytes are `{number} {prefix}B`")),
            )),
            _ => None,
        };
    }
    if dimensions.contains(&Time) {
        let meant = match unit.to_ascii_lowercase().as_str() {
            "m" => {
                return Some(error(
                    format!("`{text}` may be minutes or milliseconds"),
                    Some(format!("minutes are `{number} min`, milliseconds are `{number} ms`")),
                ));
            }
            "sec" | "secs" | "second" | "seconds" => "s",
            "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
            "usec" | "usecs" | "microsecond" | "microseconds" => "us",
            "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => "ns",
            "mins" | "minute" | "minutes" => "min",
            "hr" | "hrs" | "hour" | "hours" => "h",
            "day" | "days" => "d",
            _ => return None,
        };
        return Some(error(
            format!("unknown unit `{unit}` in `{text}`"),
            Some(format!("did you mean `{number} {meant}`?")),
        ));
    }
    None
}

fn nouns(dimensions: &[Dimension]) -> &'static str {
    match dimensions {
        [Size, Packets, ..] => "a limit",
        [first, ..] => first.noun(),
        [] => "a quantity",
    }
}

/// The text, cut when it is too long to show.
pub(super) fn shown(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(37).chain("...".chars()).collect()
}

fn error(message: impl Into<String>, hint: Option<String>) -> QuantityError {
    QuantityError { message: message.into(), hint }
}
