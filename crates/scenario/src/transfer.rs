//! Rules that make the amount of data of a flow: the sizes of transfers in a mix of many.
//!
//! To add one: an [`Entry`], an arm of [`Sizes::new`] and [`Sizes::draw`], and its line in [`ENTRIES`] here.

use ackclock_engine::Stream;
use ackclock_math::elementary::{ln, pow};
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};
use ackclock_units::quantity::Quantity;
use serde_json::{Value, json};

/// Rules that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&EXPONENTIAL, &PARETO, &EMPIRICAL, &WEB_SEARCH];

static EXPONENTIAL: Entry = Entry {
    name: "exponential",
    summary: help("Exponentially distributed sizes; each seed and flow has its own."),
    references: &[],
    params: &[Param::required("mean", Kind::Size, "Mean size.").at_least("1 B")],
    ..Entry::BLANK
};

static PARETO: Entry = Entry {
    name: "pareto",
    summary: help(
        "Pareto distributed sizes: most are small, a few very large; each seed and flow has its own.",
    ),
    references: &["Crovella, Bestavros, IEEE/ACM ToN 5(6), 1997"],
    params: &[
        Param::required("mean", Kind::Size, "Mean size, were there no largest one.")
            .at_least("1 B"),
        Param::new(
            "shape",
            Kind::Real,
            "1.2",
            "The smaller, the heavier the tail; below 2 the variance is infinite.",
        )
        .at_least("1.01")
        .at_most("100"),
        Param::new("largest", Kind::Size, "1 GB", "No size is larger than this."),
    ],
    check: Some(check_pareto),
    ..Entry::BLANK
};

static EMPIRICAL: Entry = Entry {
    name: "empirical",
    summary: help(
        "Sizes by a measured distribution, linear between its points; each seed and flow has its own.",
    ),
    references: &["The ns Manual, RandomVariable/Empirical; ns-3, EmpiricalRandomVariable"],
    params: &[Param::required(
        "points",
        Kind::Rows(&[
            Param::required("size", Kind::Size, "A size."),
            Param::required("share", Kind::Real, "Share of the transfers that are not larger.")
                .at_least("0")
                .at_most("1"),
        ]),
        "Points of the cumulative distribution in ascending order; the last share is 1.",
    )],
    check: Some(check_empirical),
    ..Entry::BLANK
};

static WEB_SEARCH: Entry = Entry {
    name: "web-search",
    summary: help(
        "Sizes of a data centre for web search: 30 % below 28 kB, mean 1.7 MB; each seed and flow has its own.",
    ),
    references: &[
        "Alizadeh et al., DCTCP, SIGCOMM 2010, figure 4; the points of Alizadeh et al., pFabric, SIGCOMM 2013, in packets of 1460 B",
    ],
    params: &[],
    ..Entry::BLANK
};

/// Packets of 1460 B, and the share of transfers that are not larger.
const WEB_SEARCH_POINTS: [(u64, f64); 12] = [
    (6, 0.0),
    (6, 0.15),
    (13, 0.2),
    (19, 0.3),
    (33, 0.4),
    (53, 0.53),
    (133, 0.6),
    (667, 0.7),
    (1333, 0.8),
    (3333, 0.9),
    (6667, 0.97),
    (20_000, 1.0),
];

fn check_pareto(chosen: &Chosen) -> Result<(), Clash> {
    let least = least(chosen.int("mean_bytes"), chosen.real("shape"));
    if chosen.int("largest_bytes") as f64 > least {
        return Ok(());
    }
    let least = Quantity::Size(whole(least));
    let message = format!("no size is below {least}, by `mean` and `shape`");
    Err(Clash { param: "largest", message, hint: None })
}

/// The least size of a Pareto distribution with this mean.
fn least(mean: u64, shape: f64) -> f64 {
    mean as f64 * (shape - 1.0) / shape
}

fn points(chosen: &Chosen) -> Vec<(u64, f64)> {
    let point = |row: &Chosen| (row.int("size_bytes"), row.real("share"));
    chosen.rows("points").iter().map(point).collect()
}

fn check_empirical(chosen: &Chosen) -> Result<(), Clash> {
    let points = points(chosen);
    let clash = |message: String| {
        let hint = Some("for example `points: [[1 kB, 0], [10 kB, 0.5], [1 MB, 1]]`".into());
        Err(Clash { param: "points", message, hint })
    };
    match points.last() {
        None => return clash("there are no points".into()),
        Some((_, share)) if *share != 1.0 => {
            return clash(format!("the last share is {share}, not 1"));
        }
        _ => {}
    }
    let falls = |pair: &[(u64, f64)]| pair[0].0 > pair[1].0 || pair[0].1 > pair[1].1;
    match points.windows(2).position(falls) {
        Some(place) => clash(format!("point {} is below the one before it", place + 2)),
        None => Ok(()),
    }
}

/// What a flow has to send.
#[derive(Debug, Clone, PartialEq)]
pub enum Transfer {
    /// Without end.
    Unlimited,
    /// So many bytes.
    Bytes(u64),
    /// Bytes that are drawn for each seed.
    Drawn(Box<Sizes>),
}

impl Transfer {
    /// The bytes of the flow of this name in a run with this seed; none without end.
    pub fn bytes(&self, seed: u64, flow: &str) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Bytes(bytes) => Some(*bytes),
            Self::Drawn(sizes) => {
                Some(sizes.draw(Stream::new(seed, &format!("send/{flow}")).uniform()))
            }
        }
    }

    /// The most bytes that it can be; none without end.
    pub fn most(&self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Bytes(bytes) => Some(*bytes),
            Self::Drawn(sizes) => Some(sizes.draw(1.0 - f64::EPSILON)),
        }
    }

    /// As a document says it.
    pub fn document(&self) -> Value {
        match self {
            Self::Unlimited => "unlimited".into(),
            Self::Bytes(bytes) => Quantity::Size(*bytes).to_string().into(),
            Self::Drawn(sizes) => sizes.document(),
        }
    }
}

/// A distribution of sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum Sizes {
    /// With this mean.
    Exponential(u64),
    /// Mean, shape, and the largest size.
    Pareto(u64, f64, u64),
    /// Sizes, and the shares of transfers that are not larger.
    Empirical(Vec<(u64, f64)>),
    /// As in a data centre for web search.
    WebSearch,
}

impl Sizes {
    /// The distribution of a checked rule.
    pub(crate) fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "exponential" => Self::Exponential(chosen.int("mean_bytes")),
            "pareto" => Self::Pareto(
                chosen.int("mean_bytes"),
                chosen.real("shape"),
                chosen.int("largest_bytes"),
            ),
            "empirical" => Self::Empirical(points(chosen)),
            "web-search" => Self::WebSearch,
            other => panic!("no distribution of sizes is named `{other}`"),
        }
    }

    /// The size below which this share of all sizes is, in whole bytes and at least one.
    fn draw(&self, share: f64) -> u64 {
        let bytes = match self {
            Self::Exponential(mean) => -(*mean as f64) * ln(1.0 - share),
            Self::Pareto(mean, shape, largest) => {
                let least = least(*mean, *shape);
                // The part of the distribution up to the largest size.
                let beyond = pow(least / *largest as f64, *shape);
                least * pow(1.0 - share * (1.0 - beyond), -1.0 / shape)
            }
            Self::Empirical(points) => between(points.iter().copied(), share),
            Self::WebSearch => 1460.0 * between(WEB_SEARCH_POINTS.iter().copied(), share),
        };
        whole(bytes)
    }

    fn document(&self) -> Value {
        let size = |bytes: &u64| Quantity::Size(*bytes).to_string();
        match self {
            Self::Exponential(mean) => json!({ "kind": "exponential", "mean": size(mean) }),
            Self::Pareto(mean, shape, largest) => {
                let largest = size(largest);
                json!({ "kind": "pareto", "mean": size(mean), "shape": shape, "largest": largest })
            }
            Self::Empirical(points) => {
                let point =
                    |(bytes, share): &(u64, f64)| json!({ "size": size(bytes), "share": share });
                let points: Vec<Value> = points.iter().map(point).collect();
                json!({ "kind": "empirical", "points": points })
            }
            Self::WebSearch => json!({ "kind": "web-search" }),
        }
    }
}

/// Whole bytes, at least one.
#[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest number")]
fn whole(bytes: f64) -> u64 {
    (bytes.ceil() as u64).max(1)
}

/// The value at this share of a cumulative distribution.
fn between(points: impl Iterator<Item = (u64, f64)>, share: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    for (size, upto) in points {
        let size = size as f64;
        if share <= upto {
            return match before {
                Some((least, from)) if upto > from => {
                    least + (size - least) * (share - from) / (upto - from)
                }
                // All that is below the first point has its size.
                _ => size,
            };
        }
        before = Some((size, upto));
    }
    before.map_or(0.0, |(size, _)| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(sizes: Sizes) -> f64 {
        let amount = Transfer::Drawn(Box::new(sizes));
        let draws = (0..100_000).map(|seed| amount.bytes(seed, "F1").unwrap() as f64);
        draws.sum::<f64>() / 1e5
    }

    #[test]
    fn means_are_those_of_the_distributions() {
        // Standard errors: 1/sqrt(1e5) of the mean is 0.3 %.
        assert!((mean(Sizes::Exponential(100_000)) / 1e5 - 1.0).abs() < 0.012);
        // Of a Pareto distribution with shape a up to L: l a / (a - 1) (1 - (l/L)^(a-1)) / (1 - (l/L)^a).
        let (shape, largest) = (1.2, 10e6);
        let least: f64 = 1e5 * 0.2 / 1.2;
        let ratio = least / largest;
        let expected = 1e5 * (1.0 - ratio.powf(0.2)) / (1.0 - ratio.powf(1.2));
        let found = mean(Sizes::Pareto(100_000, shape, 10_000_000));
        assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        // Trapezoids between the points.
        let points = WEB_SEARCH_POINTS.windows(2);
        let parts = points.map(|p| (p[1].1 - p[0].1) * (p[0].0 + p[1].0) as f64 / 2.0 * 1460.0);
        let expected: f64 = parts.sum();
        assert!((expected / 1.67e6 - 1.0).abs() < 0.02, "{expected}");
        assert!((mean(Sizes::WebSearch) / expected - 1.0).abs() < 0.03);
    }

    #[test]
    fn no_size_is_beyond_the_bounds() {
        let sizes = Sizes::Pareto(100_000, 1.2, 200_000);
        assert_eq!(sizes.draw(0.0), 16_667);
        assert!((199_990..=200_000).contains(&sizes.draw(1.0 - f64::EPSILON)));
        assert_eq!(Sizes::Exponential(1).draw(0.0), 1);
        let sizes = Sizes::Empirical(vec![(1000, 0.5), (3000, 0.5), (5000, 1.0)]);
        let drawn = [0.0, 0.3, 0.5, 0.75, 1.0].map(|share| sizes.draw(share));
        assert_eq!(drawn, [1000, 1000, 1000, 4000, 5000]);
    }

    /// The draws are part of the contract: results depend on them.
    #[test]
    fn a_draw_is_pinned() {
        let amount = Transfer::Drawn(Box::new(Sizes::WebSearch));
        assert_eq!(amount.bytes(1, "F1"), amount.bytes(1, "F1"));
        assert_ne!(amount.bytes(1, "F1"), amount.bytes(2, "F1"));
        assert_ne!(amount.bytes(1, "F1"), amount.bytes(1, "F2"));
        assert_eq!(amount.bytes(1, "F1"), Some(92_422));
    }
}
