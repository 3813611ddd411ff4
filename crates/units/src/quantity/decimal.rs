//! Exact decimal numbers: enough of them to multiply by a unit.

/// A number `mantissa * 10^exponent`; the mantissa is not a multiple of ten, or zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: u128,
    exponent: i32,
}

/// Why a product is not a number of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inexact {
    TooLarge,
    Fraction,
}

/// Splits a text after its leading number: sign, digits with a point, exponent. The number is empty
/// when the text does not begin with one.
pub(super) fn split(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = whole;
    if bytes.get(whole) == Some(&b'.') {
        end = digits(whole + 1);
    }
    let count = bytes[sign..end].iter().filter(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return ("", text);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let after = digits(exponent);
        if after > exponent {
            end = after;
        }
    }
    text.split_at(end)
}

impl Decimal {
    /// Reads a number that [`split`] found, without sign; none when it has more than 38 significant
    /// digits.
    pub fn read(number: &str) -> Option<Self> {
        let (digits, exponent) = match number.find(['e', 'E']) {
            Some(at) => (&number[..at], clamped(&number[at + 1..])),
            None => (number, 0),
        };
        let point = digits.find('.').unwrap_or(digits.len());
        let fraction = digits.len().saturating_sub(point + 1);
        let all: String = digits.chars().filter(char::is_ascii_digit).collect();
        let significant = all.trim_end_matches('0');
        let dropped = all.len() - significant.len();
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self { mantissa: 0, exponent: 0 });
        }
        let mantissa = significant.parse().ok()?;
        let shift = i32::try_from(dropped).ok()? - i32::try_from(fraction).ok()?;
        Some(Self { mantissa, exponent: exponent.saturating_add(shift) })
    }

    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The number times `factor / divisor` as a whole number of 64 bits.
    pub fn times(self, factor: u128, divisor: u128) -> Result<u64, Inexact> {
        if self.mantissa == 0 {
            return Ok(0);
        }
        // Powers of ten beyond these make every product too large, or a fraction: the mantissa is no
        // multiple of ten, and no unit has 60 factors of two or five.
        if self.exponent > 38 {
            return Err(Inexact::TooLarge);
        }
        if self.exponent < -98 {
            return Err(Inexact::Fraction);
        }
        let (mut numerator, mut factor) = (self.mantissa, factor);
        let mut divisors = vec![divisor];
        if self.exponent >= 0 {
            let scale = 10_u128.pow(self.exponent.unsigned_abs());
            numerator = numerator.checked_mul(scale).ok_or(Inexact::TooLarge)?;
        } else {
            divisors.extend([2, 5].repeat(self.exponent.unsigned_abs() as usize));
        }
        for divisor in divisors {
            if numerator % divisor == 0 {
                numerator /= divisor;
            } else if factor % divisor == 0 {
                factor /= divisor;
            } else {
                return Err(Inexact::Fraction);
            }
        }
        let product = numerator.checked_mul(factor).ok_or(Inexact::TooLarge)?;
        u64::try_from(product).map_err(|_| Inexact::TooLarge)
    }
}

/// An exponent, limited to where the answer no longer depends on it.
fn clamped(text: &str) -> i32 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = digits.trim_start_matches('0');
    let size: i32 = if size.is_empty() { 0 } else { size.parse().unwrap_or(i32::MAX) };
    let size = size.min(1_000_000_000);
    if negative { -size } else { size }
}

/// `value / unit` as a decimal number without exponent; none when it has more than 20 decimals.
pub(super) fn quotient(value: u128, unit: u128) -> Option<String> {
    let mut text = (value / unit).to_string();
    let mut rest = value % unit;
    if rest > 0 {
        text.push('.');
    }
    for _ in 0..20 {
        if rest == 0 {
            return Some(text);
        }
        rest *= 10;
        text.push(char::from(b'0' + u8::try_from(rest / unit).expect("one digit")));
        rest %= unit;
    }
    (rest == 0).then_some(text)
}
