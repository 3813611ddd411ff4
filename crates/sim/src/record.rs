//! What is recorded of a run: the words of a document, and what they mean.

use ackclock_trace::{Keep, TABLES};
use ackclock_units::Time;
use ackclock_units::param::{Choice, Entry, Kind, Param};
use ackclock_units::quantity::{self, Dimension, Quantity};

const WHETHER: &[Choice] =
    &[Choice::new("changes", "a row for each change or event"), Choice::new("off", "no rows")];
/// Of tables in which each row counts.
const CHANGES: Kind = Kind::Choice(WHETHER);
/// Of tables of values that change or are measured, for which fewer rows may do.
const SAMPLED: Kind = Kind::Sampling(WHETHER);

macro_rules! recorded {
    ($default:literal) => {
        &[
            Param::new("cwnd", SAMPLED, $default, "Congestion windows."),
            Param::new("rtt", SAMPLED, $default, "Samples of the round-trip time."),
            Param::new("queue", SAMPLED, $default, "Lengths of queues."),
            Param::new("transmissions", CHANGES, $default, "Transmissions of links."),
            Param::new("packets", CHANGES, $default, "Packets sent and received by hosts."),
            Param::new("drops", CHANGES, $default, "Dropped packets."),
            Param::new("marks", CHANGES, $default, "Packets that queues have marked."),
            Param::new("waiting", CHANGES, $default, "Packets in queues at the end of the run."),
            Param::new("routes", CHANGES, $default, "Changes of routes."),
            Param::new("rto", CHANGES, $default, "Retransmission timers of classic senders."),
            Param::new("events", CHANGES, $default, "Starts, ends, timeouts, retransmissions."),
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

    /// Whether nothing is recorded.
    pub fn is_off(&self) -> bool {
        self.tables.iter().all(|kept| *kept == Keep::None)
    }
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
