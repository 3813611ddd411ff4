//! Plain scalars by the core schema of YAML 1.2, and by nothing else.
//!
//! YAML 1.1 reads `no` as false, `10:30` as 630 and `1e6` as text. In a document about rates and
//! times these are traps, so the few rules of version 1.2 (section 10.3.2) are written out here.

use crate::Value;

/// Longer integers are never meant, and reading them would take quadratic time.
const MAX_DIGITS: usize = 400;

/// The value of an unquoted scalar.
pub fn scalar(text: &str) -> Value<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Real(f64::NAN),
        _ => {}
    }
    number(text).unwrap_or(Value::Text(text))
}

fn number(text: &str) -> Option<Value<'_>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let infinite = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return Some(Value::Real(infinite));
    }
    if text.len() <= MAX_DIGITS {
        let all = |digits: &str, is_digit: fn(&char) -> bool| {
            !digits.is_empty() && digits.chars().all(|c| is_digit(&c))
        };
        if all(unsigned, char::is_ascii_digit) {
            return Some(integer(text, 10, text));
        }
        if let Some(digits) = text.strip_prefix("0o") {
            return all(digits, |c| ('0'..='7').contains(c)).then(|| integer(digits, 8, text));
        }
        if let Some(digits) = text.strip_prefix("0x") {
            return all(digits, char::is_ascii_hexdigit).then(|| integer(digits, 16, text));
        }
    }
    is_real(unsigned).then(|| Value::Real(text.parse().unwrap_or(f64::INFINITY)))
}

/// A whole number in digits of this base, with a sign or without.
pub(crate) fn integer<'t>(digits: &str, base: u32, text: &'t str) -> Value<'t> {
    match i128::from_str_radix(digits, base) {
        Ok(value) => i64::try_from(value)
            .map(Value::Integer)
            .or_else(|_| u64::try_from(value).map(Value::Natural))
            .unwrap_or(Value::Beyond(text)),
        Err(_) => Value::Beyond(text),
    }
}

/// Digits with at most one point, then perhaps an exponent.
fn is_real(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_is_right = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    digits(whole) && digits(fraction) && whole.len() + fraction.len() > 0 && exponent_is_right
}
