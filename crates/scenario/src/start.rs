//! Rules that make the start of a flow.

use ackclock_engine::Stream;
use ackclock_units::Time;
use ackclock_units::param::{Entry, Kind, Param, help};

/// Rules that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&UNIFORM, &SPREAD];

static UNIFORM: Entry = Entry {
    name: "uniform",
    summary: help("Drawn uniformly from a time span; each seed and flow has its own start."),
    references: &[],
    params: &[
        Param::new("from", Kind::Time, "0 s", "Earliest start."),
        Param::required("to", Kind::Time, "Latest start (exclusive).").at_least("1 ns"),
    ],
    ..Entry::BLANK
};

/// The rule that is worked out when a short form of flows is written out.
pub(crate) static SPREAD: Entry = Entry {
    name: "spread",
    summary: help(
        "Spread evenly over a time span: flow i of n starts at (i - 1) / n of the span after `from`.",
    ),
    references: &[],
    params: &[
        Param::new("from", Kind::Time, "0 s", "Start of the first flow."),
        Param::required("over", Kind::Time, "Length of the span."),
    ],
    ..Entry::BLANK
};

/// When a flow starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Time),
    /// At a time that is drawn for each seed.
    Uniform {
        /// Earliest start.
        from: Time,
        /// Latest start (exclusive).
        to: Time,
    },
}

impl Start {
    /// The start of the flow of this name in a run with this seed.
    pub fn time(self, seed: u64, flow: &str) -> Time {
        match self {
            Self::At(time) => time,
            Self::Uniform { from, to } => {
                let mut stream = Stream::new(seed, &format!("start/{flow}"));
                from + Time::from_ns(stream.below_u64(to.since(from).as_ns()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_and_flow_only_and_fill_the_span() {
        let start = Start::Uniform { from: Time::from_ms(20), to: Time::from_ms(120) };
        assert_eq!(start.time(1, "F1"), start.time(1, "F1"));
        assert_ne!(start.time(1, "F1"), start.time(2, "F1"));
        assert_ne!(start.time(1, "F1"), start.time(1, "F2"));
        let draws: Vec<f64> = (0..10_000).map(|seed| start.time(seed, "F1").as_secs()).collect();
        assert!(draws.iter().all(|s| (0.02..0.12).contains(s)));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        // Standard error 0.1 / sqrt(12 * 10000) = 0.0003.
        assert!((mean - 0.07).abs() < 0.0012, "mean {mean}");
        assert_eq!(Start::At(Time::from_ms(3)).time(1, "F1"), Time::from_ms(3));
    }

    /// The draws are part of the contract: results depend on them.
    #[test]
    fn a_draw_is_pinned() {
        let start = Start::Uniform { from: Time::ZERO, to: Time::from_ms(100) };
        assert_eq!(start.time(1, "F1").as_ns(), 88_881_622);
    }
}
