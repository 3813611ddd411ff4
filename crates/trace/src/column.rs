//! Values as they are held while a run goes on, and as finished columns.

use ackclock_units::Time;

/// A finished column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Real numbers; times are in seconds.
    F64(Vec<f64>),
    /// Whole numbers.
    I64(Vec<i64>),
    /// Whole numbers, or codes of a category.
    I32(Vec<i32>),
    /// Flags.
    Bool(Vec<bool>),
}

/// A value of a row: held as small as it can be, written with the type of its column.
pub(crate) trait Cell: Copy {
    /// What the column holds.
    type Value;
    /// Name of the column's type in the description of the tables.
    const NAME: &'static str;
    /// As the column holds it.
    fn value(self) -> Self::Value;
    /// The finished column.
    fn column(values: Vec<Self::Value>) -> Column;
}

/// A column goes on with the cells of these rows.
#[inline]
pub(crate) fn extend<R, C: Cell>(values: &mut Vec<C::Value>, rows: &[R], cell: fn(&R) -> C) {
    values.extend(rows.iter().map(|row| cell(row).value()));
}

macro_rules! cells {
    ($($held:ty => $value:ty, $variant:ident $name:literal |$cell:ident| $convert:expr;)+) => {
        $(impl Cell for $held {
            type Value = $value;
            const NAME: &'static str = $name;

            #[inline]
            fn value(self) -> $value {
                let $cell = self;
                $convert
            }

            fn column(values: Vec<$value>) -> Column {
                Column::$variant(values)
            }
        })+
    };
}

cells! {
    Time => f64, F64 "float64" |time| time.as_secs();
    f64 => f64, F64 "float64" |number| number;
    i64 => i64, I64 "int64" |number| number;
    u32 => i64, I64 "int64" |number| i64::from(number);
    i32 => i32, I32 "int32" |number| number;
    u16 => i32, I32 "int32" |number| i32::from(number);
    i8 => i32, I32 "int32" |code| i32::from(code);
    bool => bool, Bool "bool" |flag| flag;
}
