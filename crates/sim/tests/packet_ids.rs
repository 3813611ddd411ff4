//! Every packet can be followed through the records by its number.

use crate::common::{chosen, networks, run, scenario};
use ackclock_sim::model::Record;
use ackclock_sim::{Output, Shortcuts, Simulation, check};
use ackclock_trace::{Column, drop_reason, packet_event};
use ackclock_units::param::Value as Parameter;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a packet is, equal in all rows that name it.
type Identity = (i32, i32, i64, i32);

/// One row about a packet. Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Sent { time: f64 },
    Carried { entered: f64, start: f64, arrival: f64, link: i32, reverse: bool },
    Dropped { entered: f64, time: f64, reason: i32 },
    Waiting { entered: f64 },
    Received { time: f64 },
}

impl Step {
    /// Order in which the steps of a packet come.
    fn place(&self) -> (f64, u8) {
        match *self {
            Self::Sent { time } => (time, 0),
            Self::Carried { entered, .. } => (entered, 1),
            Self::Dropped { time, .. } => (time, 2),
            Self::Waiting { entered } => (entered, 3),
            Self::Received { time } => (time, 4),
        }
    }
}

struct Table<'a>(&'a [(&'static str, Column)]);

impl Table<'_> {
    fn rows(&self) -> usize {
        self.reals("time_s").len()
    }

    fn column(&self, name: &str) -> &Column {
        &self.0.iter().find(|(column, _)| *column == name).expect("a column").1
    }

    fn reals(&self, name: &str) -> &[f64] {
        let Column::F64(values) = self.column(name) else { panic!("`{name}` is not real") };
        values
    }

    fn codes(&self, name: &str) -> &[i32] {
        let Column::I32(values) = self.column(name) else { panic!("`{name}` has no codes") };
        values
    }

    fn numbers(&self, name: &str) -> &[i64] {
        let Column::I64(values) = self.column(name) else { panic!("`{name}` is not whole") };
        values
    }

    fn flags(&self, name: &str) -> &[bool] {
        let Column::Bool(values) = self.column(name) else { panic!("`{name}` has no flags") };
        values
    }

    fn identity(&self, row: usize) -> Identity {
        let codes = |name: &str| self.codes(name)[row];
        (codes("flow"), codes("kind"), self.numbers("seq")[row], codes("bytes"))
    }
}

/// What the records say about each packet, in order.
fn journeys(output: &Output) -> BTreeMap<i64, Vec<(Identity, Step)>> {
    let table =
        |name: &str| Table(&output.tables.iter().find(|(table, _)| *table == name).unwrap().1);
    let mut journeys = BTreeMap::<i64, Vec<(Identity, Step)>>::new();
    let mut add = |table: &Table, step: &dyn Fn(usize) -> Step| {
        for row in 0..table.rows() {
            let id = table.numbers("packet_id")[row];
            journeys.entry(id).or_default().push((table.identity(row), step(row)));
        }
    };
    let packets = table("packets");
    add(&packets, &|row| {
        let time = packets.reals("time_s")[row];
        if packets.codes("event")[row] == packet_event::SENT {
            Step::Sent { time }
        } else {
            Step::Received { time }
        }
    });
    let carried = table("transmissions");
    add(&carried, &|row| Step::Carried {
        entered: carried.reals("entered_s")[row],
        start: carried.reals("time_s")[row],
        arrival: carried.reals("arrival_s")[row],
        link: carried.codes("link")[row],
        reverse: carried.flags("reverse")[row],
    });
    let drops = table("drops");
    add(&drops, &|row| Step::Dropped {
        entered: drops.reals("entered_s")[row],
        time: drops.reals("time_s")[row],
        reason: drops.codes("reason")[row],
    });
    let waiting = table("waiting");
    add(&waiting, &|row| Step::Waiting { entered: waiting.reals("time_s")[row] });
    for steps in journeys.values_mut() {
        steps.sort_by(|(_, a), (_, b)| a.place().partial_cmp(&b.place()).expect("times compare"));
    }
    journeys
}

proptest! {
    #![proptest_config(networks(50))]

    /// A packet enters its first link when it is sent and each further link when it has come to the end
    /// of the one before; then it is received, dropped, still waiting, or still on the wire.
    #[test]
    fn every_packet_can_be_followed(scenario in scenario(), order in 0usize..4) {
        let mut scenario = scenario;
        let queued = [("sends", Parameter::Word("queued".into()))];
        scenario.ties = match order {
            0 => chosen("entity", &[]),
            1 => chosen("first-come", &[
                ("sends", Parameter::Word("direct".into())),
                ("clock", Parameter::Word("exact".into())),
            ]),
            2 => chosen("first-come", &[
                queued[0].clone(),
                ("clock", Parameter::Word("exact".into())),
            ]),
            _ => chosen("random", &[("seed", Parameter::Int(7))]),
        };
        scenario.record = Record::ALL;
        let output = run(Simulation::new(scenario));
        let end = output.summary["end_s"].as_f64().unwrap();
        for (expected, (id, steps)) in journeys(&output).into_iter().enumerate() {
            prop_assert_eq!(id, expected as i64, "numbers have gaps");
            let (identity, _) = steps[0];
            let mut due = None;
            let mut over = false;
            for (other, step) in &steps {
                prop_assert_eq!(*other, identity);
                prop_assert!(!over, "{:?}", steps);
                match *step {
                    Step::Sent { time } => {
                        prop_assert_eq!(due, None);
                        due = Some(time);
                    }
                    Step::Carried { entered, start, arrival, .. } => {
                        // Routers' packets begin on a link.
                        prop_assert_eq!(due.unwrap_or(entered), entered, "{:?}", steps);
                        prop_assert!(entered <= start && start < arrival && start <= end);
                        due = Some(arrival);
                    }
                    Step::Dropped { entered, time, .. } => {
                        // Some queues also drop what has waited.
                        prop_assert_eq!(due.unwrap_or(entered), entered, "{:?}", steps);
                        prop_assert!(entered <= time);
                        over = true;
                    }
                    Step::Waiting { entered } => {
                        prop_assert_eq!(due.unwrap_or(entered), entered);
                        over = true;
                    }
                    Step::Received { time } => {
                        prop_assert_eq!(due, Some(time));
                        over = true;
                    }
                }
            }
            // Routers' packets arrive without a row; what hosts send at the very end may enter no link.
            let router = identity.0 < 0;
            prop_assert!(over || router || due.is_some_and(|due| due >= end), "{:?}", steps);
        }
    }

    /// The engine's shortcuts change nothing in what is recorded about a packet.
    #[test]
    fn shortcuts_change_no_journey(scenario in scenario()) {
        let mut scenario = scenario;
        scenario.record = Record::ALL;
        let expected = journeys(&run(Simulation::new(scenario.clone())));
        let none = Shortcuts { fused: false, packed: false, walked: false, received: false };
        let other = journeys(&run(Simulation::with(scenario, none)));
        prop_assert_eq!(other, expected);
    }
}

/// Copies that a link makes are numbered as they are made, not as somebody looks ahead.
#[test]
fn copies_have_their_numbers_whatever_the_shortcuts() {
    let document = serde_json::json!({
        "hosts": ["A", "B"],
        "routers": ["R"],
        "links": [
            {"id": "L", "between": ["A", "R"], "rate": "1 Mbps", "delay": "10 ms"},
            {"id": "M", "between": ["R", "B"], "rate": "1 Mbps", "delay": "10 ms", "duplication": 0.5},
        ],
        "flows": [{"id": "F", "from": "A", "to": "B", "tcp": {"sender": "classic"}}],
        "stop": {"when": "time", "at_latest": "1 s"},
    });
    let mut scenario = check(&document).scenario.unwrap();
    scenario.record = Record::ALL;
    let expected = journeys(&run(Simulation::new(scenario.clone())));
    let none = Shortcuts { fused: false, packed: false, walked: false, received: false };
    assert_eq!(journeys(&run(Simulation::with(scenario, none))), expected);
}

/// A packet that the loss model takes at the end of a link was transmitted on it.
#[test]
fn lost_packets_were_transmitted() {
    let document = serde_json::json!({
        "hosts": ["A", "B"],
        "links": [{
            "id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "10 ms",
            "forward": {"loss": {"kind": "packets", "numbers": [3], "at": "exit"}},
        }],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "20 kB", "tcp": {"sender": "classic"}}],
    });
    let checked = check(&document);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let output = run(Simulation::new(checked.scenario.unwrap()));
    let lost: Vec<_> = journeys(&output)
        .into_values()
        .filter(|steps| {
            steps.iter().any(|(_, step)| {
                matches!(step, Step::Dropped { reason, .. } if *reason == drop_reason::LOSS)
            })
        })
        .collect();
    assert_eq!(lost.len(), 1);
    let steps: Vec<Step> = lost[0].iter().map(|(_, step)| *step).collect();
    let [Step::Sent { .. }, Step::Carried { arrival, .. }, Step::Dropped { time, .. }] = steps[..]
    else {
        panic!("{steps:?}")
    };
    assert_eq!(arrival, time);
}
