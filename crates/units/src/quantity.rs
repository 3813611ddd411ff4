//! Quantities as documents spell them: one number, an optional space, one unit.
//!
//! Reading and writing are exact: `0.5 s` is 500 000 000 ns and `12.5 Mibps` is 13 107 200 bit/s by
//! decimal arithmetic, and a quantity that is not a whole number of ns, bit/s, bytes or packets is refused
//! rather than rounded. `parse(print(x)) == x` for every x.

mod decimal;
mod teach;
mod units;

use decimal::Decimal;
use std::fmt;
use units::{UNITS, Unit};

/// What a quantity measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Multiples of a bandwidth-delay product.
    Products,
    /// Nanoseconds.
    Time,
}

/// A quantity in the unit of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bits per second.
    Rate(u64),
    /// Bytes.
    Size(u64),
    /// Packets.
    Packets(u64),
    /// Thousandths of a bandwidth-delay product.
    Products(u64),
    /// Nanoseconds.
    Time(u64),
}

/// Why a text is not a quantity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityError {
    /// What is wrong.
    pub message: String,
    /// How to fix it, where that can be guessed.
    pub hint: Option<String>,
}

impl Dimension {
    /// The quantity of `value` in the unit of the model.
    fn of(self, value: u64) -> Quantity {
        match self {
            Self::Rate => Quantity::Rate(value),
            Self::Size => Quantity::Size(value),
            Self::Packets => Quantity::Packets(value),
            Self::Products => Quantity::Products(value),
            Self::Time => Quantity::Time(value),
        }
    }

    /// What it is in a sentence.
    fn noun(self) -> &'static str {
        match self {
            Self::Rate => "a rate",
            Self::Size => "an amount of data",
            Self::Packets => "a number of packets",
            Self::Products => "a multiple of the bandwidth-delay product",
            Self::Time => "a time",
        }
    }

    /// An example of the usual spelling with the number `number`.
    fn example(self, number: &str) -> String {
        let unit = match self {
            Self::Rate => "Mbps",
            Self::Size => "KiB",
            Self::Packets => "packets",
            Self::Products => "BDP",
            Self::Time => "ms",
        };
        format!("{number} {unit}")
    }

    /// The unit below which nothing can be distinguished.
    fn resolution(self) -> &'static str {
        match self {
            Self::Rate => "bits per second",
            Self::Size => "bytes",
            Self::Packets => "packets",
            Self::Products => "thousandths of a BDP",
            Self::Time => "nanoseconds",
        }
    }
}

/// The units of `dimension` that a document may use, the usual ones first.
pub fn unit_names(dimension: Dimension) -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter(move |unit| unit.dimension == dimension).map(|unit| unit.name)
}

/// What a document may write for a quantity of one of `dimensions`, in words.
pub fn allowed(dimensions: &[Dimension]) -> String {
    let shown: Vec<&str> = dimensions
        .iter()
        .flat_map(|dimension| UNITS.iter().filter(|unit| unit.dimension == *dimension))
        .filter(|unit| !unit.alias)
        .map(|unit| unit.name)
        .collect();
    let examples: Vec<String> =
        dimensions.iter().map(|dimension| format!("`{}`", dimension.example("10"))).collect();
    format!("a number and a unit, such as {}; units: {}", examples.join(" or "), shown.join(" "))
}

/// Reads a quantity of one of `dimensions`.
///
/// # Errors
/// The text has no number, no unit, an unknown or a wrong unit, or is negative, not finite, finer than
/// the resolution, or too large for 64 bits.
pub fn parse(text: &str, dimensions: &[Dimension]) -> Result<Quantity, QuantityError> {
    let text = text.trim();
    let (number, rest) = decimal::split(text);
    if number.is_empty() {
        return Err(teach::no_number(text, dimensions));
    }
    let unit = rest.trim_start();
    if unit.is_empty() {
        return Err(teach::no_unit(number, dimensions));
    }
    let Some(known) = units::find(unit, dimensions) else {
        return Err(teach::wrong_unit(text, number, unit, dimensions));
    };
    if let Some(size) = number.strip_prefix('-') {
        let zero = Decimal::read(size).is_some_and(Decimal::is_zero);
        return Err(QuantityError {
            message: format!("`{}` is negative", teach::shown(text)),
            hint: zero.then(|| format!("write `0 {unit}`")),
        });
    }
    let digits = number.strip_prefix('+').unwrap_or(number);
    let Some(value) = Decimal::read(digits) else {
        return Err(QuantityError {
            message: format!("`{}` has more digits than any quantity needs", teach::shown(number)),
            hint: None,
        });
    };
    match value.times(known.factor, known.divisor) {
        Ok(value) => Ok(known.dimension.of(value)),
        Err(decimal::Inexact::TooLarge) => Err(QuantityError {
            message: format!("`{}` is too large", teach::shown(text)),
            hint: None,
        }),
        Err(decimal::Inexact::Fraction) => Err(QuantityError {
            message: format!(
                "`{}` is not a whole number of {}, which is the resolution",
                teach::shown(text),
                known.dimension.resolution()
            ),
            hint: None,
        }),
    }
}

impl Quantity {
    /// The number in the unit of the model.
    pub const fn amount(self) -> u64 {
        let (Self::Rate(value)
        | Self::Size(value)
        | Self::Packets(value)
        | Self::Products(value)
        | Self::Time(value)) = self;
        value
    }
}

impl fmt::Display for Quantity {
    /// The shortest exact spelling; `parse` reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dimension, value) = match *self {
            Self::Rate(value) => (Dimension::Rate, value),
            Self::Size(value) => (Dimension::Size, value),
            Self::Packets(1) => return f.write_str("1 packet"),
            Self::Packets(value) => (Dimension::Packets, value),
            Self::Products(0) => return f.write_str("0 BDP"),
            Self::Products(value) => (Dimension::Products, value),
            Self::Time(value) => (Dimension::Time, value),
        };
        f.write_str(&shortest(value, dimension))
    }
}

/// The shortest spelling whose number is at least one; of equally short ones a whole number wins, then
/// the earlier unit of the table.
fn shortest(value: u64, dimension: Dimension) -> String {
    UNITS
        .iter()
        .filter(|unit| unit.dimension == dimension && unit.printed)
        .filter_map(|unit| spelled(value, unit))
        .min_by_key(|text| (text.chars().count(), text.contains('.')))
        .expect("the smallest unit can spell every value")
}

fn spelled(value: u64, unit: &Unit) -> Option<String> {
    let value = u128::from(value);
    // Of products there is no smaller unit: half of one is `0.5 BDP`.
    let smallest = unit.factor == 1 || unit.dimension == Dimension::Products;
    (value >= unit.factor || smallest || (value == 0 && unit.name == "s"))
        .then(|| decimal::quotient(value, unit.factor))
        .flatten()
        .map(|number| format!("{number} {}", unit.name))
}

#[cfg(test)]
mod tests;
