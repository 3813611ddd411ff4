//! JSON as Python's standard library writes it: `", "` and `": "` between values, reals as `repr` spells them.
//!
//! Large documents and summaries go from here into files and checksums without becoming objects of Python
//! between; the bytes are those that it would write of them.

use serde_json::Value;
use std::fmt::Display;

/// Appends a value.
pub fn append(text: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push(b'[');
            for (place, item) in items.iter().enumerate() {
                text.extend_from_slice(if place > 0 { b", " } else { b"" });
                append(text, item);
            }
            text.push(b']');
        }
        Value::Object(members) => {
            text.push(b'{');
            for (place, (key, member)) in members.iter().enumerate() {
                text.extend_from_slice(if place > 0 { b", " } else { b"" });
                append_key(text, key);
                append(text, member);
            }
            text.push(b'}');
        }
        Value::String(word) => append_text(text, word),
        Value::Number(number) if number.is_f64() => {
            append_real(text, number.as_f64().expect("it is one"));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => write(text, value),
    }
}

/// Appends the key of a member, with its colon.
pub fn append_key(text: &mut Vec<u8>, key: &str) {
    append_text(text, key);
    text.extend_from_slice(b": ");
}

/// Appends a text in quotation marks.
pub fn append_text(text: &mut Vec<u8>, word: &str) {
    serde_json::to_writer(text, word).expect("memory takes what is written to it");
}

/// Appends a real number: its shortest digits, with an exponent below 1e-4 and from 1e16.
pub fn append_real(text: &mut Vec<u8>, real: f64) {
    let size = real.abs();
    if !real.is_finite() {
        write(text, Value::Null);
    } else if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let spelled = format!("{real:e}");
        let (digits, exponent) = spelled.split_once('e').expect("this form has an exponent");
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        write(text, format_args!("{digits}e{sign}{exponent:0>2}"));
    } else if real.fract() == 0.0 {
        write(text, format_args!("{real:.1}"));
    } else {
        write(text, real);
    }
}

fn write(text: &mut Vec<u8>, what: impl Display) {
    text.extend_from_slice(what.to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &Value) -> String {
        let mut text = Vec::new();
        append(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn reals_are_spelled_as_python_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (1e-7, "1e-07"),
            (5e-324, "5e-324"),
            (123_456_789.125, "123456789.125"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (-1.5e300, "-1.5e+300"),
        ] {
            assert_eq!(written(&json!(value)), text);
        }
    }

    #[test]
    fn values_have_a_blank_between_them() {
        let value = json!({"a": [1, 2.5, null], "b": {}, "c": [], "d": "é\n"});
        assert_eq!(
            written(&value),
            "{\"a\": [1, 2.5, null], \"b\": {}, \"c\": [], \"d\": \"é\\n\"}"
        );
    }
}
