//! Fewer rows than there are changes: of each interval the last row, or the extremes as well.

use ackclock_units::Time;

/// Which rows of a table are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// No row.
    #[default]
    None,
    /// Every row.
    All,
    /// Of each interval the last row.
    Last(Time),
    /// Of each interval the rows with the least and the greatest value, and the last row.
    Extremes(Time),
}

/// A row of a table that can be sampled.
pub(crate) trait Sampled: Copy {
    /// Number of the flow, or of the direction of a link, that the row is about.
    fn subject(&self) -> usize;
    /// When.
    fn time(&self) -> Time;
    /// What the extremes are taken of.
    fn value(&self) -> f64;
    /// Gives the packet that the row is about, if it names one, the number that `of` answers for its own.
    fn renumber(&mut self, of: impl Fn(i64) -> i64);
}

/// Holds the rows of an interval back until it is over.
///
/// Intervals are multiples of one length from the start of the run, the same for all subjects. What
/// comes out is a part of what goes in: the rows of a subject stay in their order and as they were.
#[derive(Debug)]
pub(crate) struct Sampler<R> {
    interval_ns: u64,
    extremes: bool,
    /// By subject; boxed, since in large networks most subjects of some tables never have a row.
    held: Vec<Option<Box<Held<R>>>>,
}

/// What is kept of the present interval of one subject; each row with its place among all.
#[derive(Debug, Clone, Copy)]
struct Held<R> {
    interval: u64,
    rows: u64,
    low: (u64, R),
    high: (u64, R),
    last: R,
}

impl<R: Sampled> Sampler<R> {
    /// A sampler, where not every row is kept.
    pub fn new(keep: Keep) -> Option<Self> {
        let (interval, extremes) = match keep {
            Keep::None | Keep::All => return None,
            Keep::Last(interval) => (interval, false),
            Keep::Extremes(interval) => (interval, true),
        };
        Some(Self { interval_ns: interval.as_ns(), extremes, held: Vec::new() })
    }

    /// A row comes; what is left of an interval that is over goes to `out`.
    pub fn add(&mut self, row: R, out: impl FnMut(R)) {
        let subject = row.subject();
        if self.held.len() <= subject {
            self.held.resize_with(subject + 1, || None);
        }
        let interval = row.time().as_ns() / self.interval_ns;
        let slot = &mut self.held[subject];
        match slot {
            Some(held) if held.interval == interval => {
                if row.value() < held.low.1.value() {
                    held.low = (held.rows, row);
                }
                if row.value() > held.high.1.value() {
                    held.high = (held.rows, row);
                }
                held.last = row;
                held.rows += 1;
            }
            _ => {
                let first = (0, row);
                let next = Held { interval, rows: 1, low: first, high: first, last: row };
                match slot {
                    Some(held) => std::mem::replace(&mut **held, next).give(self.extremes, out),
                    None => *slot = Some(Box::new(next)),
                }
            }
        }
    }

    /// The run is over: the intervals that are not go to `out` as they are.
    pub fn finish(&mut self, mut out: impl FnMut(R)) {
        for held in self.held.drain(..).flatten() {
            held.give(self.extremes, &mut out);
        }
    }
}

impl<R: Sampled> Held<R> {
    fn give(self, extremes: bool, mut out: impl FnMut(R)) {
        if extremes {
            let (first, second) = if self.low.0 < self.high.0 {
                (self.low, self.high)
            } else {
                (self.high, self.low)
            };
            let last = self.rows - 1;
            if first.0 != last && first.0 != second.0 {
                out(first.1);
            }
            if second.0 != last {
                out(second.1);
            }
        }
        out(self.last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Row(usize, u64, f64);

    impl Sampled for Row {
        fn subject(&self) -> usize {
            self.0
        }
        fn time(&self) -> Time {
            Time::from_ms(self.1)
        }
        fn value(&self) -> f64 {
            self.2
        }
        fn renumber(&mut self, _of: impl Fn(i64) -> i64) {}
    }

    fn sampled(keep: Keep, rows: &[Row]) -> Vec<Row> {
        let mut sampler = Sampler::new(keep).unwrap();
        let mut out = Vec::new();
        for row in rows {
            sampler.add(*row, |row| out.push(row));
        }
        sampler.finish(|row| out.push(row));
        out
    }

    #[test]
    fn the_last_row_of_each_interval_is_kept() {
        let rows =
            [Row(0, 0, 1.0), Row(0, 9, 5.0), Row(1, 9, 7.0), Row(0, 10, 2.0), Row(0, 35, 3.0)];
        let kept = sampled(Keep::Last(Time::from_ms(10)), &rows);
        assert_eq!(kept, [rows[1], rows[3], rows[4], rows[2]]);
    }

    #[test]
    fn extremes_stay_in_their_order_and_no_row_comes_twice() {
        let values = |values: &[f64]| -> Vec<Row> {
            values.iter().enumerate().map(|(i, v)| Row(0, i as u64, *v)).collect()
        };
        let kept = |of: &[f64]| -> Vec<f64> {
            let rows = sampled(Keep::Extremes(Time::from_ms(100)), &values(of));
            rows.iter().map(|row| row.2).collect()
        };
        assert_eq!(kept(&[1.0, 5.0, 2.0, 0.0, 3.0]), [5.0, 0.0, 3.0]);
        assert_eq!(kept(&[1.0, 0.0, 2.0, 5.0, 3.0]), [0.0, 5.0, 3.0]);
        assert_eq!(kept(&[2.0, 1.0, 3.0]), [1.0, 3.0]);
        assert_eq!(kept(&[3.0, 2.0, 1.0]), [3.0, 1.0]);
        assert_eq!(kept(&[4.0, 4.0, 4.0]), [4.0, 4.0]);
        assert_eq!(kept(&[4.0]), [4.0]);
    }
}
