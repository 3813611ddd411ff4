//! What a recorder holds of one table.

use crate::Keep;
use crate::parts::{Moment, Moments};
use crate::rows::Rows;
use crate::sampling::{Sampled, Sampler};

/// The rows of one table.
#[derive(Debug)]
pub(crate) struct Store<R> {
    pub on: bool,
    /// Every row is kept.
    plain: bool,
    /// Where not every row is kept.
    pub sampler: Option<Sampler<R>>,
    pub rows: Rows<R>,
    /// In a part of a network: when rows were written.
    pub moments: Option<Moments>,
    /// Rows that were taken out.
    pub taken: usize,
    /// Rows that somebody has already.
    pub left_out: usize,
}

impl<R: Sampled> Store<R> {
    pub fn new(kept: Keep) -> Self {
        Self {
            on: kept != Keep::None,
            plain: kept == Keep::All,
            sampler: Sampler::new(kept),
            rows: Rows::default(),
            moments: None,
            taken: 0,
            left_out: 0,
        }
    }

    pub fn of_part(kept: Keep) -> Self {
        Self { plain: false, moments: Some(Moments::default()), ..Self::new(kept) }
    }

    #[inline(always)]
    pub fn add(&mut self, row: R, moment: Moment) {
        if !self.on {
            return;
        }
        // Handed to a function that is not inlined, a row would be put together on the stack and copied from there.
        self.rows.push(row);
        if !self.plain {
            self.sample_last(moment);
        }
    }

    /// Of the row that was added last: whether it stays.
    #[cold]
    #[inline(never)]
    fn sample_last(&mut self, moment: Moment) {
        let Some(row) = self.rows.pop() else { return };
        let mut keep = |row| {
            if let Some(moments) = &mut self.moments {
                moments.add(moment);
            }
            self.rows.push(row);
        };
        match &mut self.sampler {
            Some(sampler) => sampler.add(row, keep),
            None => keep(row),
        }
    }

    /// What the sampler holds back.
    pub fn finish(&mut self) {
        if let Some(mut sampler) = self.sampler.take() {
            sampler.finish(|row| {
                if let Some(moments) = &mut self.moments {
                    moments.add(Moment::of_last_row(row.subject()));
                }
                self.rows.push(row);
            });
        }
    }
}

/// Of this many rows, those to pass over; they are no longer left out then.
pub(crate) fn pass(left_out: &mut usize, rows: usize) -> usize {
    let passed = rows.min(*left_out);
    *left_out -= passed;
    passed
}
