//! What the page has before it: a text, its scenario, a run, and what came out.

use crate::document::Document;
use crate::reader;
use ackclock_sim::model::{Record, Scenario};
use ackclock_sim::{Output, Shortcuts, Simulation};
use ackclock_trace::{CATEGORIES, Column, Keep, Table};
use ackclock_units::Time;
use serde_json::{Map, Value, json};
use std::mem::take;

/// The tables that a page shows something of.
const SHOWN: [&str; 11] = [
    "packets",
    "cwnd",
    "rtt",
    "queue",
    "transmissions",
    "drops",
    "marks",
    "waiting",
    "events",
    "tcp_info",
    "window_rules",
];

/// Those of which a page still shows enough when it has the extremes of short intervals only.
const LEVELS: [&str; 3] = ["rtt", "queue", "tcp_info"];

/// A run that is expected to fill the records to this share keeps the extremes of this many intervals.
const MOST_EXPECTED: f64 = 0.6;
const INTERVALS: u64 = 20_000;

/// What is recorded for a page.
fn shown(interval: Option<Time>, most_bytes: f64) -> Record {
    let mut record = Record::new(|table| match interval {
        _ if !SHOWN.contains(&table) => Keep::None,
        Some(interval) if LEVELS.contains(&table) => Keep::Extremes(interval),
        _ => Keep::All,
    });
    record.limit_bytes = Some(most_bytes as u64);
    record
}

fn begun(scenario: Scenario) -> Simulation {
    let mut players: Vec<_> = scenario.flows.iter().map(reader::of).collect();
    Simulation::with_controllers(scenario, Shortcuts::default(), &mut |flow| players[flow].take())
}

/// The page's desk.
#[derive(Default)]
pub struct Desk {
    /// What JavaScript writes into.
    pub input: Vec<u8>,
    /// What was answered last.
    pub answer: Vec<u8>,
    document: Document,
    run: Option<Simulation>,
    tables: Vec<Table>,
}

impl Desk {
    fn say(&mut self, answer: &Value) {
        self.answer = answer.to_string().into_bytes();
    }

    /// See [`crate::read`].
    pub fn read(&mut self) {
        let (document, answer) = Document::of(&String::from_utf8_lossy(&take(&mut self.input)));
        self.document = document;
        self.say(&answer);
    }

    /// See [`crate::outline`].
    pub fn outline(&mut self) {
        self.say(&self.document.outline());
    }

    /// See [`crate::model`].
    pub fn model(&mut self) {
        let checked = self.document.checked.as_ref();
        let model = checked.and_then(|checked| checked.model());
        self.say(&model.unwrap_or_default());
    }

    /// See [`crate::start`].
    pub fn start(&mut self, most_bytes: Option<f64>) -> f64 {
        // What the last run has left goes first: memory that a page has taken it never gives back.
        (self.run, self.tables) = (None, Vec::new());
        let checked = self.document.checked.as_ref().expect("a scenario without problems");
        let mut scenario = checked.scenario.clone().expect("a scenario without problems");
        let Some(most) = most_bytes else {
            scenario.record = Record::default();
            self.run = Some(begun(scenario));
            return 0.0;
        };
        scenario.record = shown(None, most);
        let run = begun(scenario.clone());
        if run.outlook().record_bytes < MOST_EXPECTED * most {
            self.run = Some(run);
            return 0.0;
        }
        let interval = Time::from_ns(scenario.stop.at_latest.as_ns().div_ceil(INTERVALS));
        scenario.record = shown(Some(interval), most);
        self.run = Some(begun(scenario));
        interval.as_secs()
    }

    /// The present run.
    pub fn run(&mut self) -> &mut Simulation {
        self.run.as_mut().expect("a run that was started")
    }

    /// See [`crate::advance`].
    pub fn advance(&mut self, until_s: f64, events: u32) -> bool {
        /// Few enough that a moment of simulated time is met well.
        const TURN: u32 = 20;
        let run = self.run();
        let mut left = events;
        while left > 0 && run.now().as_secs() < until_s {
            let turn = left.min(if until_s.is_finite() { TURN } else { left });
            if run.advance(turn.into()) {
                return true;
            }
            left -= turn;
        }
        false
    }

    /// See [`crate::take_records`].
    pub fn take_records(&mut self) {
        self.tables = self.run().take_records(1);
        let answer = described(&self.tables);
        self.say(&answer);
    }

    /// See [`crate::finish`].
    pub fn finish(&mut self) {
        let run = self.run.take().expect("a run that was started");
        let categories = categories(run.scenario());
        let Output { summary, tables } = run.finish();
        self.tables = tables;
        let tables = described(&self.tables);
        self.say(&json!({ "summary": summary, "tables": tables, "categories": categories }));
    }
}

/// Where columns are: `[type, place, length]`.
fn described(tables: &[Table]) -> Value {
    let place = |column: &Column| match column {
        Column::F64(values) => json!(["float64", values.as_ptr() as usize, values.len()]),
        Column::I64(values) => json!(["int64", values.as_ptr() as usize, values.len()]),
        Column::I32(values) => json!(["int32", values.as_ptr() as usize, values.len()]),
        Column::Bool(values) => json!(["bool", values.as_ptr() as usize, values.len()]),
    };
    let columns = |columns: &[(&str, Column)]| {
        columns.iter().map(|(name, column)| ((*name).to_owned(), place(column))).collect()
    };
    let tables = tables.iter().map(|(name, own)| ((*name).to_owned(), Value::Object(columns(own))));
    Value::Object(tables.collect())
}

/// Words that the codes of categories stand for.
fn categories(scenario: &Scenario) -> Value {
    let words = CATEGORIES.iter().map(|(name, words)| ((*name).to_owned(), json!(words)));
    let mut all: Map<String, Value> = words.collect();
    let flows: Value = scenario.flows.iter().map(|flow| flow.id.as_str()).collect();
    let links: Value = scenario.links.iter().map(|link| link.id.as_str()).collect();
    all.extend([("flow".to_owned(), flows), ("link".to_owned(), links)]);
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: two\nhosts: [A, B]\nlinks: [{id: L1, between: [A, B], rate: 1 Mbps, delay: 1 ms}]\n\
                        flows: [{id: F1, from: A, to: B, send: 100 kB}]\n\
                        stop: {at_latest: 9 s}\n";

    fn answer(desk: &Desk) -> Value {
        serde_json::from_slice(&desk.answer).expect("JSON")
    }

    #[test]
    fn slices_and_records_change_nothing() {
        let digest = |recorded: bool, slice: f64| {
            let mut desk = Desk { input: TEXT.into(), ..Desk::default() };
            desk.read();
            desk.start(recorded.then_some(1e8));
            let mut until = slice;
            while !desk.advance(until, 1000) {
                until += slice;
            }
            desk.finish();
            let answer = answer(&desk);
            assert_eq!(answer["tables"].get("cwnd").is_some(), recorded);
            answer["summary"]["digest"].clone()
        };
        let whole = digest(false, f64::INFINITY);
        assert!(whole.is_string());
        assert_eq!(whole, digest(true, 0.01));
    }

    #[test]
    fn a_long_run_keeps_extremes_and_says_so() {
        let mut desk = Desk { input: TEXT.into(), ..Desk::default() };
        desk.read();
        assert_eq!(desk.start(Some(1e9)), 0.0);
        assert_eq!(desk.start(Some(1e4)), 0.000_45);
        assert_eq!(
            desk.run().scenario().record.keep("rtt"),
            Keep::Extremes(Time::from_ns(450_000))
        );
        assert_eq!(desk.run().scenario().record.keep("packets"), Keep::All);
    }

    #[test]
    fn the_reader_sets_the_window() {
        let cc = "tcp: {cc: {kind: python, class: Reader, source: '', origin: the reader, owns_window: true}}";
        let mut desk = Desk { input: TEXT.replace("send: 100 kB", cc).into(), ..Desk::default() };
        desk.read();
        assert_eq!(answer(&desk)["problems"], json!([]));
        desk.start(Some(1e8));
        reader::set_window(7.0);
        desk.advance(1.0, u32::MAX);
        reader::set_window(3.0);
        desk.advance(2.0, u32::MAX);
        desk.finish();
        let (_, columns) = desk.tables.iter().find(|(name, _)| *name == "tcp_info").expect("rows");
        let Some((_, Column::F64(windows))) = columns.iter().find(|(name, _)| *name == "cwnd")
        else {
            panic!("windows of modern senders");
        };
        assert!(windows.contains(&7.0), "{windows:?}");
        assert_eq!(windows.last(), Some(&3.0));
    }
}
