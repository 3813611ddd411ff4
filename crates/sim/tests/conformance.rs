//! Every setting that a document can hold, made from the tables: each registered thing with its defaults,
//! each choice, each bound, on three small networks. Nothing panics, packets are conserved, the run ends,
//! shortcuts and recording change nothing, and what is refused is refused with a place.

use crate::common::settings::variants;
use crate::common::{ALL_OFF, assert_conserved, result, run};
use ackclock_sim::model::{Record, Scenario};
use ackclock_sim::tables::{CHANGE, DIRECTION, FLOW, LINK, SCENARIO, STOP, TCP, UDP};
use ackclock_sim::{Simulation, check};
use ackclock_tcp::{classic, selective};
use ackclock_units::param::{Kind, Param};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Two hosts, a short queue, one flow of 60 kB.
fn pair() -> Value {
    json!({
        "hosts": ["A", "B"],
        "links": [
            {"id": "L1", "between": ["A", "B"], "rate": "2 Mbps", "delay": "5 ms",
             "queue": {"limit": "8 packets"}},
        ],
        "flows": [{"id": "F1", "from": "A", "to": "B", "send": "60 kB", "tcp": {}}],
        "stop": {"at_latest": "2 s"},
        "record": "none",
    })
}

/// Two senders of both kinds and a source without feedback share a lossy link that changes, for a second.
fn shared() -> Value {
    let access = |id: &str, host: &str, router: &str| json!({"id": id, "between": [host, router], "rate": "10 Mbps", "delay": "1 ms"});
    json!({
        "hosts": ["A", "B", "C"],
        "routers": ["R1", "R2"],
        "links": [
            {"id": "L1", "between": ["R1", "R2"], "rate": "3 Mbps", "delay": "7 ms",
             "queue": {"limit": "12 packets"}, "loss": {"kind": "periodic", "every": 40},
             "changes": [{"at": "600 ms", "rate": "1 Mbps"}]},
            access("L2", "A", "R1"), access("L3", "B", "R1"), access("L4", "C", "R2"),
        ],
        "flows": [
            {"id": "F1", "from": "A", "to": "C", "tcp": {}},
            {"id": "F2", "from": "B", "to": "C", "tcp": {"sender": "classic"}},
            {"id": "F3", "from": "C", "to": "A", "udp": {"source": {"kind": "cbr", "rate": "200 kbps"}}},
        ],
        "stop": {"when": "time", "at_latest": "1 s"},
        "record": "none",
    })
}

/// A half-duplex chain whose routers find the way.
fn chain() -> Value {
    json!({
        "hosts": ["A", "B"],
        "routers": ["R1", "R2"],
        "links": [
            {"id": "L1", "between": ["A", "R1"], "rate": "2 Mbps", "delay": "5 ms", "duplex": "half",
             "queue": {"limit": "16 kB"}},
            {"id": "L2", "between": ["R1", "R2"], "rate": "2 Mbps", "delay": "5 ms", "duplex": "half",
             "queue": {"limit": "16 kB"}},
            {"id": "L3", "between": ["R2", "B"], "rate": "2 Mbps", "delay": "5 ms"},
        ],
        "flows": [
            {"id": "F1", "from": "A", "to": "B", "send": "60 kB", "tcp": {"sender": "selective-repeat"}},
            {"id": "F2", "from": "B", "to": "A", "send": "60 kB", "tcp": {"sender": "classic", "cc": "fast"}},
        ],
        "routing": {"kind": "distance-vector", "period": "500 ms"},
        "stop": {"at_latest": "2 s"},
        "record": "none",
    })
}

/// A modern flow over a short queue that marks.
fn marking() -> Value {
    let mut network = pair();
    network["links"][0]["queue"] =
        json!({"kind": "threshold", "limit": "8 packets", "mark_from": "4 packets"});
    network["flows"][0]["tcp"] = json!({"sender": "modern", "ecn": true});
    network
}

/// Puts each value of each parameter of a table at its place, below `place`.
fn each(table: &[Param], place: &str, mut take: impl FnMut(String, Value)) {
    for param in table {
        for value in variants(param) {
            take(format!("{place}/{}", param.name), value);
        }
    }
}

/// All settings of single values: where they are, and what is there.
fn settings() -> Vec<(String, Value)> {
    // A network needs names, and lists of links and flows; these are what the settings are put into.
    let given = ["hosts", "routers", "links", "flows", "set", "topology", "defaults"];
    let whole: Vec<Param> =
        SCENARIO.iter().filter(|param| !given.contains(&param.name)).copied().collect();
    let mut all = Vec::new();
    let mut take = |place: String, value: Value| all.push((place, value));
    each(&whole, "", &mut take);
    each(STOP, "/stop", &mut take);
    each(LINK, "/links/0", &mut take);
    each(DIRECTION, "/links/0/forward", &mut take);
    each(DIRECTION, "/links/0/backward", &mut take);
    each(CHANGE, "/links/0/changes/0", &mut take);
    for (flow, family) in [selective::ENTRY, classic::ENTRY].iter().enumerate() {
        each(TCP, &format!("/flows/{flow}/tcp"), &mut take);
        each(family.params, &format!("/flows/{flow}/tcp"), &mut take);
    }
    each(UDP, "/flows/2/udp", &mut take);
    let paths: Vec<Param> =
        FLOW.iter().filter(|param| matches!(param.kind, Kind::RouterRefs)).copied().collect();
    each(&paths, "/flows/0", &mut take);
    all
}

/// The document with a value at a place; none if the place is not there.
fn with(document: &Value, place: &str, value: &Value) -> Option<Value> {
    let mut document = document.clone();
    let (parent, key) = place.rsplit_once('/')?;
    // A direction of a link is made where none is.
    if let Some((link, side @ ("forward" | "backward"))) = parent.rsplit_once('/') {
        let link = document.pointer_mut(link)?.as_object_mut()?;
        link.entry(side).or_insert_with(|| json!({})).as_object_mut()?;
    }
    document.pointer_mut(parent)?.as_object_mut()?.insert(key.into(), value.clone());
    Some(document)
}

/// A run with more events is not followed to its end.
const MANY_EVENTS: u64 = 100_000;

/// Runs a scenario in small steps; the summary without the number of events. None for one that needs very many
/// events: it is enough that its time goes on.
fn stepped(scenario: Scenario, what: &str) -> Option<Value> {
    let mut simulation = Simulation::new(scenario);
    let mut early = simulation.now();
    while simulation.counters().events < MANY_EVENTS {
        let done = simulation.advance(500);
        assert_conserved(&simulation, what);
        if done {
            return Some(result(simulation.finish().summary));
        }
        if simulation.counters().events < MANY_EVENTS / 2 {
            early = simulation.now();
        }
    }
    assert!(simulation.now() > early, "{what}: time stands still");
    None
}

#[test]
fn every_setting_runs_or_is_refused_with_a_place() {
    let (mut ran, mut refused) = (0, 0);
    let (mut differ, mut long) = (Vec::new(), Vec::new());
    for (name, network) in [("pair", pair()), ("shared", shared()), ("chain", chain())] {
        for (place, value) in settings() {
            let Some(document) = with(&network, &place, &value) else { continue };
            let what = format!("{name}{place}: {value}");
            let checked = check(&document);
            let Some(scenario) = checked.scenario else {
                refused += 1;
                assert!(!checked.problems.is_empty(), "{what}: refused without a word");
                for problem in &checked.problems {
                    assert!(!problem.path.is_empty(), "{what}: {problem:?}");
                }
                continue;
            };
            ran += 1;
            let Some(expected) = stepped(scenario.clone(), &what) else {
                long.push(what);
                continue;
            };
            let slow = run(Simulation::with(scenario.clone(), ALL_OFF)).summary;
            if result(slow) != expected {
                differ.push(format!("{what}: shortcuts"));
            }
            let mut recorded = scenario;
            recorded.record = Record::ALL;
            if result(run(Simulation::new(recorded)).summary) != expected {
                differ.push(format!("{what}: records"));
            }
        }
    }
    assert_eq!(differ, Vec::<String>::new());
    assert!(ran > 500 && ran > 2 * refused, "{ran} settings ran, {refused} were refused");
    assert!(long.len() < 20, "{long:?}");
}

/// The registered things in a document, each with the key under which it stands.
fn things(document: &Value, key: &str, found: &mut BTreeSet<(String, String)>) {
    match document {
        Value::Object(map) => {
            if let Some(Value::String(kind)) = map.get("kind") {
                found.insert((key.to_owned(), kind.clone()));
            }
            map.iter().for_each(|(key, value)| things(value, key, found));
        }
        Value::Array(values) => values.iter().for_each(|value| things(value, key, found)),
        _ => {}
    }
}

/// Each thing that is registered runs somewhere, here and among the random scenarios of the other tests.
#[test]
fn nothing_that_is_registered_is_always_refused() {
    let networks = [pair(), shared(), chain(), marking()];
    let (mut all, mut ran, mut drawn) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (place, value) in settings() {
        let (_, key) = place.rsplit_once('/').expect("a place has a key");
        let mut here = BTreeSet::new();
        things(&value, key, &mut here);
        let runs = |network| {
            with(network, &place, &value).is_some_and(|all| check(&all).problems.is_empty())
        };
        if !here.is_subset(&ran) && networks.iter().any(runs) {
            ran.append(&mut here.clone());
        }
        all.append(&mut here);
    }
    assert!(all.len() > 30, "{all:?}");
    assert_eq!(all.difference(&ran).collect::<Vec<_>>(), Vec::<&(String, String)>::new());

    // What is recorded, and in which order, the other tests say for themselves.
    all.retain(|(key, _)| !["record", "ties", "start"].contains(&key.as_str()));
    let (mut seeds, mut valid) = (0, 0);
    while seeds < 4000 && !all.is_subset(&drawn) {
        let document = crate::common::document(seeds, 0);
        if check(&document).problems.is_empty() {
            valid += 1;
            things(&document, "", &mut drawn);
        }
        seeds += 1;
    }
    assert!(valid > seeds / 10, "{valid} of {seeds} random documents are valid");
    let left: Vec<_> = all.difference(&drawn).collect();
    assert_eq!(left, Vec::<&(String, String)>::new(), "{valid} of {seeds} are valid");
}
