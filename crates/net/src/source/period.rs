//! Lengths of the on- and off-periods of a source.
//!
//! Source: Pareto lengths with shape between 1 and 2, whose variance is infinite, add up to self-similar
//! traffic (Willinger, Taqqu, Sherman, Wilson 1997).

use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param};

/// Laws of lengths that a scenario can name.
pub static ENTRIES: &[&Entry] = &[
    &Entry {
        name: "fixed",
        summary: "Always the same length.",
        references: &[],
        params: &[MEAN],
        ..Entry::BLANK
    },
    &Entry {
        name: "exponential",
        summary: "Exponentially distributed lengths.",
        references: &[],
        params: &[MEAN],
        ..Entry::BLANK
    },
    &Entry {
        name: "pareto",
        summary: "Pareto distributed lengths: most are short, a few very long.",
        references: &[
            "Willinger, Taqqu, Sherman, Wilson: Self-Similarity Through High-Variability, 1997",
        ],
        params: &[
            MEAN,
            Param::new(
                "shape",
                Kind::Real,
                "1.5",
                "Shape; at most 2: infinite variance. The least length is mean (shape - 1) / shape.",
            )
            .at_least("1.01")
            .at_most("100"),
        ],
        ..Entry::BLANK
    },
];

const MEAN: Param = Param::required("mean", Kind::Time, "Mean length.");

/// Longer than any run.
pub(super) const LONGEST: Time = Time::from_secs(36_500 * 86_400);

/// A law of lengths with its random numbers.
#[derive(Debug, Clone)]
pub(super) enum Period {
    /// Always the same.
    Fixed(Time),
    /// Mean in ns.
    Exponential(f64, Stream),
    /// Least length in ns and shape.
    Pareto(f64, f64, Stream),
}

impl Period {
    pub fn new(chosen: &Chosen, stream: Stream) -> Self {
        let mean = chosen.int("mean_ns");
        match chosen.kind.as_str() {
            "fixed" => Self::Fixed(Time::from_ns(mean)),
            "exponential" => Self::Exponential(mean as f64, stream),
            "pareto" => {
                let shape = chosen.real("shape");
                Self::Pareto(mean as f64 * (shape - 1.0) / shape, shape, stream)
            }
            other => panic!("no law of periods is named `{other}`"),
        }
    }

    /// The length of the next period.
    pub fn draw(&mut self) -> Time {
        let length = match self {
            Self::Fixed(length) => return *length,
            Self::Exponential(mean, stream) => *mean * stream.exponential(),
            Self::Pareto(least, shape, stream) => *least * stream.pareto(*shape),
        };
        Time::from_ns(length as u64).min(LONGEST)
    }
}
