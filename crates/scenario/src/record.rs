//! What is recorded of a run: the words of a document, and what they mean.

use ackclock_trace::{Keep, OF_SENDERS, TABLES};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Entry, Kind, Param};
use ackclock_units::quantity::{self, Dimension, Quantity};
use serde_json::{Map, Value};
use std::sync::LazyLock;

const WHETHER: &[Choice] =
    &[Choice::new("changes", "a row for each change or event"), Choice::new("off", "no rows")];
/// Of tables in which each row counts.
const CHANGES: Kind = Kind::Choice(WHETHER);
const HOW_OFTEN: &[Choice] = &[
    Choice::new("changes", "a row for each change or event"),
    Choice::new(
        SAMPLES,
        "every 100 ms; in shorter runs more often, so that the time until `stop.at_latest` gives 200 to 500 samples, fewer with more than 2,500 flows and links",
    ),
    Choice::new("off", "no rows"),
];
/// Of tables of values that change or are measured, for which fewer rows may do.
const SAMPLED: Kind = Kind::Sampling(HOW_OFTEN);
/// As often as fits the length of the run: replaced by [`fitting_interval`] when a document is read.
pub(crate) const SAMPLES: &str = "samples";

macro_rules! recorded {
    ($default:literal) => {
        recorded!($default, $default, $default)
    };
    ($default:literal, $sampled:literal, $few:literal) => {
        &[
            Param::new("cwnd", SAMPLED, $sampled, "Congestion windows."),
            Param::new("rtt", SAMPLED, $sampled, "Samples of the round-trip time."),
            Param::new("queue", SAMPLED, $sampled, "Lengths of queues."),
            Param::new("transmissions", CHANGES, $default, "Transmissions of links."),
            Param::new("packets", CHANGES, $default, "Packets sent and received by hosts."),
            Param::new("drops", CHANGES, $default, "Dropped packets."),
            Param::new("marks", CHANGES, $default, "Packets that queues have marked."),
            Param::new("aqm", SAMPLED, $sampled, "What queue disciplines compute."),
            Param::new("waiting", CHANGES, $default, "Packets in queues at the end of the run."),
            Param::new("routes", CHANGES, $few, "Changes of routes."),
            Param::new("rto", CHANGES, $default, "Retransmission timers of classic senders."),
            Param::new("events", CHANGES, $few, "Starts, ends, timeouts, retransmissions."),
            Param::new("headers", CHANGES, $default, "ECN, flags and SACK blocks in headers."),
            Param::new("tcp_info", SAMPLED, $sampled, "State of modern senders."),
            Param::new(
                "window_rules",
                CHANGES,
                $default,
                "Which rule set the window, of modern senders.",
            ),
            Param::optional(
                "limit",
                Kind::Size,
                "unlimited",
                "The run ends when its records hold this much, counted before they are compressed.",
            )
            .at_least("1 MB"),
        ]
    };
}

/// What a scenario can say of its records, with the defaults of the first of [`RECORD`].
pub(crate) static BLOCK: (&str, &str, &[Param]) = (
    "record",
    "What is recorded of a run, if not one of the words `all`, `sampled` and `none`. `kind: none` and `kind: sampled` \
     have other defaults.",
    recorded!("changes"),
);

const SAMPLED_KIND: &str = "sampled";

/// With more flows than these, a scenario that does not say what to record gets samples: all tables would fill a disk, or
/// the memory, and take several times as long as the run.
pub const MOST_FLOWS_RECORDED: usize = 1000;

/// The default of a scenario with so many flows that all records would be too many.
pub(crate) static OF_LARGE: LazyLock<Map<String, Value>> =
    LazyLock::new(|| Map::from_iter([("record".to_owned(), SAMPLED_KIND.into())]));

/// Sets of recorded tables; single tables can be switched on or off.
pub static RECORD: &[&Entry] = &[
    &Entry {
        name: "all",
        summary: "All tables but those that are switched off.",
        references: &[],
        params: recorded!("changes"),
        ..Entry::BLANK
    },
    &Entry {
        name: SAMPLED_KIND,
        summary: "Windows, round-trip times, queues and states of senders at intervals that fit the length of the run, events and routes; no packets.",
        references: &[],
        params: recorded!("off", "samples", "changes"),
        ..Entry::BLANK
    },
    &Entry {
        name: "none",
        summary: "No tables but those that are switched on; the fastest.",
        references: &[],
        params: recorded!("off"),
        ..Entry::BLANK
    },
];

/// What is recorded of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record {
    /// Which rows of each table, in the order of [`TABLES`].
    tables: [Keep; TABLES.len()],
    /// The run ends when the columns hold this many bytes.
    pub limit_bytes: Option<u64>,
}

impl Record {
    /// Every row of every table.
    pub const ALL: Self = Self { tables: [Keep::All; TABLES.len()], limit_bytes: None };

    /// What `keep` says of each table.
    pub fn new(keep: impl Fn(&str) -> Keep) -> Self {
        let mut record = Self::default();
        for (kept, table) in record.tables.iter_mut().zip(TABLES) {
            *kept = keep(table.name);
        }
        record
    }

    /// Which rows of the table of this name are kept.
    pub fn keep(&self, table: &str) -> Keep {
        let found = TABLES.iter().position(|known| known.name == table);
        self.tables[found.unwrap_or_else(|| panic!("no table is named `{table}`"))]
    }

    /// Whether nothing is recorded beside what senders know of themselves, if that.
    pub fn is_of_senders(&self) -> bool {
        TABLES
            .iter()
            .zip(&self.tables)
            .all(|(table, kept)| *kept == Keep::None || OF_SENDERS.contains(&table.name))
    }

    /// Whether nothing is recorded.
    pub fn is_off(&self) -> bool {
        self.tables.iter().all(|kept| *kept == Keep::None)
    }
}

/// Samples of one flow or link that show how it went, and of all flows and links together.
const SAMPLES_OF_EACH: u64 = 200;
const SAMPLES_OF_ALL: u64 = 500_000;

/// The interval of samples in a run of this length with so many flows and links: the longest of 1, 2 or 5 times a power of
/// ten nanoseconds that is at most a two-hundredth of the run (of large networks a larger part), and at most 100 ms.
pub(crate) fn fitting_interval(span_ns: u64, elements: u64) -> u64 {
    let samples = (SAMPLES_OF_ALL / elements.max(1)).clamp(1, SAMPLES_OF_EACH);
    let most = (span_ns / samples).clamp(1, 100_000_000);
    let power = 10_u64.pow(most.ilog10());
    [5, 2, 1].map(|step| step * power).into_iter().find(|interval| *interval <= most).unwrap_or(1)
}

/// Which rows of a table a checked document asks for.
pub(crate) fn kept(text: &str) -> Keep {
    let interval = |time: &str| match quantity::parse(time, &[Dimension::Time]) {
        Ok(Quantity::Time(ns)) => Time::from_ns(ns),
        _ => panic!("`{time}` is not a time of the model"),
    };
    match (text, text.strip_prefix("every "), text.strip_prefix("min-max every ")) {
        ("off", ..) => Keep::None,
        ("changes", ..) => Keep::All,
        (_, Some(time), _) => Keep::Last(interval(time)),
        (_, _, Some(time)) => Keep::Extremes(interval(time)),
        _ => panic!("`{text}` is not a word of the model"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_fit_the_length_of_a_run() {
        for (span_ns, interval_ns) in [
            (0, 1),
            (1_000, 5),
            (1_000_000, 5_000),
            (10_000_000, 50_000),
            (15_000_000, 50_000),
            (1_000_000_000, 5_000_000),
            (19_999_999_999, 50_000_000),
            (20_000_000_000, 100_000_000),
            (u64::MAX, 100_000_000),
        ] {
            assert_eq!(fitting_interval(span_ns, 2_500), interval_ns, "{span_ns}");
        }
        // Fewer of each where there are many: 50 of 10,000, and 2 of 250,000.
        assert_eq!(fitting_interval(200_000_000, 10_000), 2_000_000);
        assert_eq!(fitting_interval(200_000_000, 250_000), 100_000_000);
        assert_eq!(fitting_interval(10_000_000, 250_000), 5_000_000);
    }

    #[test]
    fn every_table_of_records_can_be_switched() {
        let mut tables: Vec<&str> = ackclock_trace::TABLES.iter().map(|table| table.name).collect();
        tables.sort_unstable();
        for entry in RECORD {
            let tables_of = entry.params.iter().filter(|param| param.name != "limit");
            let mut names: Vec<&str> = tables_of.map(|param| param.name).collect();
            names.sort_unstable();
            assert_eq!(names, tables);
        }
    }
}
