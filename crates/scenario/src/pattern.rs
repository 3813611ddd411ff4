//! Which hosts the flows of a short form connect: the usual traffic patterns of fabrics.
//!
//! Source: M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
//! section 5 (stride, random permutation).
//!
//! To add one: an [`Entry`] and an arm of [`Pattern::of`] here.

use crate::fitting::fitting;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

/// Patterns that a scenario can name.
pub(crate) static ENTRIES: &[&Entry] = &[&PAIRS, &STRIDE, &PERMUTATION];

static PAIRS: Entry = Entry {
    name: "pairs",
    summary: help("Flow i goes to number i."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};

static STRIDE: Entry = Entry {
    name: "stride",
    summary: help("Flow i of n goes to number i + `by`, counted from 1 again after n."),
    references: &["Al-Fares, Loukissas, Vahdat, SIGCOMM 2008"],
    params: &[Param::required("by", Kind::Count, "How far it is from sender to receiver.")
        .at_least("1")
        .at_most("999999")],
    ..Entry::BLANK
};

static PERMUTATION: Entry = Entry {
    name: "permutation",
    summary: help(
        "Each number is the destination of one flow, in an order that is drawn; none is that of the flow itself.",
    ),
    references: &["Al-Fares, Loukissas, Vahdat, SIGCOMM 2008"],
    params: &[Param::new(
        "seed",
        Kind::Count,
        "1",
        "Seed of the order, which does not depend on the seed of the run.",
    )],
    ..Entry::BLANK
};

/// The number of the destination of each flow of a short form, both from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    Pairs,
    /// This much further, of so many.
    Stride(usize, usize),
    /// By the number of the flow.
    Drawn(Vec<u32>),
}

impl Pattern {
    /// What a checked entry says of so many flows of a short form with this `id`.
    pub fn of(chosen: &Chosen, id: &str, count: usize) -> Self {
        match chosen.kind.as_str() {
            "stride" => Self::Stride(fitting(chosen.int("by")), count),
            "permutation" => Self::permutation(chosen.int("seed"), id, count),
            _ => Self::Pairs,
        }
    }

    /// A permutation of at least two numbers that leaves none at its place.
    fn permutation(seed: u64, id: &str, count: usize) -> Self {
        let mut stream = Stream::new(seed, &format!("pattern/{id}"));
        let mut numbers: Vec<u32> = (1..=fitting(count)).collect();
        // About one order in e leaves none: each of these is as likely as any other.
        while numbers.iter().zip(1..).any(|(number, own)| *number == own) {
            stream.shuffle(&mut numbers);
        }
        Self::Drawn(numbers)
    }

    /// Where the flow of this number goes.
    pub fn to(&self, flow: usize) -> usize {
        match self {
            Self::Pairs => flow,
            Self::Stride(by, count) => (flow - 1 + by) % count + 1,
            Self::Drawn(numbers) => numbers[flow - 1] as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_leaves_no_number_at_its_place_and_depends_on_its_seed() {
        for count in [2, 3, 16, 1000] {
            let pattern = Pattern::permutation(1, "F", count);
            let mut reached: Vec<usize> = (1..=count).map(|flow| pattern.to(flow)).collect();
            assert!(reached.iter().zip(1..).all(|(to, flow)| *to != flow));
            reached.sort_unstable();
            assert!(reached.into_iter().eq(1..=count));
        }
        assert_eq!(Pattern::permutation(1, "F", 16), Pattern::permutation(1, "F", 16));
        assert_ne!(Pattern::permutation(1, "F", 16), Pattern::permutation(2, "F", 16));
        assert_ne!(Pattern::permutation(1, "F", 16), Pattern::permutation(1, "G", 16));
    }

    #[test]
    fn each_permutation_of_three_numbers_is_as_likely() {
        let of = |seed| Pattern::permutation(seed, "F", 3) == Pattern::Drawn(vec![2, 3, 1]);
        let found = (0..1000).filter(|seed| of(*seed)).count();
        // Two there are; the standard error is 16.
        assert!((440..560).contains(&found), "{found}");
    }

    #[test]
    fn a_stride_goes_on_from_the_first() {
        let pattern = Pattern::Stride(3, 4);
        assert!((1..=4).map(|flow| pattern.to(flow)).eq([4, 1, 2, 3]));
    }
}
