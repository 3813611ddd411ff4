//! Random scenarios for the tests of the engine, and what these tests share.
#![allow(dead_code, reason = "each program of tests uses a part")]

pub mod settings;

use ackclock_engine::Stream;
use ackclock_sim::model::Scenario;
use ackclock_sim::tables::{STOP, TCP, UDP};
use ackclock_sim::{Output, Shortcuts, Simulation, check};
use ackclock_tcp::connection::ENTRIES as FAMILIES;
use ackclock_trace::Column;
use ackclock_units::param::{Chosen, Value as Setting};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};
use settings::{random, random_entry, random_table};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// All of the engine's shortcuts switched off.
pub const ALL_OFF: Shortcuts =
    Shortcuts { fused: false, packed: false, walked: false, received: false };

/// How many random networks a test tries, which are the same every time. `make fuzz` asks for more of them,
/// and for others, by variables of the environment.
pub fn networks(usual: u32) -> ProptestConfig {
    let given = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: given("ACKCLOCK_CASES").unwrap_or(u64::from(usual)) as u32,
        rng_seed: RngSeed::Fixed(given("ACKCLOCK_SEED").unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A chosen entry with its parameters.
pub fn chosen(kind: &str, values: &[(&str, Setting)]) -> Chosen {
    let values = values.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Chosen { kind: kind.into(), values }
}

/// Runs to the end.
pub fn run(mut simulation: Simulation) -> Output {
    while !simulation.advance(10_000) {}
    simulation.finish()
}

/// The summary without what a shortcut may change: the number of events.
pub fn result(mut summary: Value) -> Value {
    summary.as_object_mut().expect("a summary is a mapping").remove("events");
    summary
}

/// The records with real numbers as bits, so that NaN equals itself.
pub fn bits(output: &Output) -> Vec<(&str, &str, Vec<u64>)> {
    let columns = output
        .tables
        .iter()
        .flat_map(|(table, columns)| columns.iter().map(|(name, column)| (*table, *name, column)));
    columns.map(|(table, name, column)| (table, name, bits_of(column))).collect()
}

/// A column, as bits.
pub fn bits_of(column: &Column) -> Vec<u64> {
    match column {
        Column::F64(values) => values.iter().map(|v| v.to_bits()).collect(),
        Column::I64(values) => values.iter().map(|v| *v as u64).collect(),
        Column::I32(values) => values.iter().map(|v| *v as u64).collect(),
        Column::Bool(values) => values.iter().map(|v| u64::from(*v)).collect(),
    }
}

/// Packets are neither lost nor made on the way.
pub fn assert_conserved(simulation: &Simulation, what: &str) {
    let counters = simulation.counters();
    let held: u64 =
        simulation.network().channels.iter().map(|channel| u64::from(channel.held())).sum();
    assert_eq!(
        counters.created,
        counters.delivered
            + counters.dropped.iter().sum::<u64>()
            + counters.waiting_to_enter
            + held,
        "{what}: at {}",
        simulation.now()
    );
}

/// A connected network of up to six routers with up to six hosts, all links half or full duplex, up to
/// six flows of any kind, three simulated seconds at most. All settings come from the tables.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    any::<u64>().prop_filter_map("a document without errors", |seed| {
        static KNOWN: Known = Known::new(BTreeMap::new());
        known(&KNOWN, seed, document)
    })
}

/// Hosts on both sides of a row of routers, up to five flows from side to side, mostly to a host of their own: networks
/// in which packets may often be ahead of time, since the end is known and most links have nothing to decide later.
pub fn orderly() -> impl Strategy<Value = Scenario> {
    any::<u64>().prop_filter_map("a document without errors", |seed| {
        static KNOWN: Known = Known::new(BTreeMap::new());
        known(&KNOWN, seed, orderly_document)
    })
}

/// Scenarios of random documents by their seeds, of which several tests try the same: they take longer to find than to run.
type Known = Mutex<BTreeMap<u64, Arc<OnceLock<Option<Scenario>>>>>;

const MOST_KNOWN: usize = 1000;

fn known(all: &Known, seed: u64, document: fn(u64, u64) -> Value) -> Option<Scenario> {
    let cell = {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MOST_KNOWN {
            all.clear();
        }
        Arc::clone(all.entry(seed).or_default())
    };
    // Some settings exclude each other.
    let find = || (0..50).find_map(|attempt| check(&document(seed, attempt)).scenario);
    cell.get_or_init(find).clone()
}

fn orderly_document(seed: u64, attempt: u64) -> Value {
    let draw = &mut Stream::new(seed, &format!("orderly/{attempt}"));
    let routers: Vec<String> = (0..1 + draw.below(3)).map(|i| format!("R{i}")).collect();
    let count = 1 + draw.below(4);
    let [from, to] = ["S", "D"].map(|side| (0..count).map(move |i| format!("{side}{i}")));
    let [from, to]: [Vec<String>; 2] = [from.collect(), to.collect()];
    let sides = [(&from, &routers[0]), (&to, &routers[routers.len() - 1])];
    let access =
        sides.iter().flat_map(|(hosts, router)| hosts.iter().map(move |host| [host, router]));
    let mut pairs: Vec<[&String; 2]> = access.collect();
    pairs.extend(routers.windows(2).map(|pair| [&pair[0], &pair[1]]));
    let simple = |draw: &mut Stream| {
        let mut all = direction(draw);
        for key in ["queue", "jitter", "corruption"] {
            if draw.uniform() < 0.9 {
                all.remove(key);
            }
        }
        if draw.uniform() < 0.9 {
            all.insert("rate".into(), format!("{} bps", RATES[draw.below(RATES.len())]).into());
        }
        if draw.uniform() < 0.5 {
            let limit = format!("{} packets", 1 + draw.below(20));
            all.insert("queue".into(), json!({"kind": "droptail", "limit": limit}));
        }
        all
    };
    let mut links = Vec::new();
    for (i, between) in pairs.iter().enumerate() {
        let mut all = simple(draw);
        all.insert("id".into(), format!("L{i}").into());
        all.insert("between".into(), json!(between));
        all.insert("backward".into(), Value::Object(simple(draw)));
        links.push(Value::Object(all));
    }
    let mut flows = Vec::new();
    for i in 0..count + draw.below(2) {
        let own = draw.uniform() < 0.8;
        let mut all = flow(i, &from, draw);
        all["from"] = from[i % count].clone().into();
        all["to"] = to[if own { i % count } else { draw.below(count) }].clone().into();
        flows.push(all);
    }
    let hosts = [from, to].concat();
    json!({
        "hosts": hosts,
        "routers": routers,
        "links": links,
        "flows": flows,
        "record": "none",
        "stop": {"when": "time", "at_latest": "3 s"},
    })
}

/// A random document.
pub fn document(seed: u64, attempt: u64) -> Value {
    let draw = &mut Stream::new(seed, &format!("document/{attempt}"));
    let routers: Vec<String> = (0..1 + draw.below(5)).map(|i| format!("R{i}")).collect();
    let hosts: Vec<String> = (0..2 + draw.below(4)).map(|i| format!("H{i}")).collect();
    let mut pairs: Vec<[&String; 2]> = Vec::new();
    for (i, router) in routers.iter().enumerate().skip(1) {
        pairs.push([router, &routers[draw.below(i)]]);
    }
    for host in &hosts {
        pairs.push([host, &routers[draw.below(routers.len())]]);
    }
    for _ in 0..draw.below(4) {
        let [a, b] = [0; 2].map(|_| &routers[draw.below(routers.len())]);
        if a != b {
            pairs.push([a, b]);
        }
    }
    let links = pairs.iter().enumerate().map(|(i, between)| link(i, between, draw)).collect();
    let flows = (0..1 + draw.below(5)).map(|i| flow(i, &hosts, draw)).collect();
    let mut whole = Map::from_iter([
        ("hosts".to_owned(), json!(hosts)),
        ("routers".to_owned(), json!(routers)),
        ("links".to_owned(), Value::Array(links)),
        ("flows".to_owned(), Value::Array(flows)),
        ("record".to_owned(), json!("none")),
    ]);
    let routing = ackclock_sim::tables::SCENARIO.iter().find(|param| param.name == "routing");
    if let Some(value) = random(routing.expect("a key of scenarios"), draw) {
        whole.insert("routing".into(), value);
    }
    let when = STOP.iter().find(|param| param.name == "when").expect("a key of `stop`");
    let when = random(when, draw).unwrap_or_else(|| json!("flows-complete"));
    whole.insert("stop".into(), json!({"when": when, "at_latest": "3 s"}));
    Value::Object(whole)
}

/// Rates with and without whole nanoseconds a byte.
const RATES: [u64; 5] = [1_000_000, 1_544_000, 3_333_333, 10_485_760, 13_107_200];

/// Random settings of a direction, each valid by itself; together they may exclude each other.
fn direction(draw: &mut Stream) -> Map<String, Value> {
    // Most are valid together, which is seen at once.
    let mut first = draw.clone();
    let all = drawn(&mut first, |_, random| random());
    if is_valid(&all) {
        *draw = first;
        return all;
    }
    drawn(draw, alone)
}

/// Random settings of a direction, of which `choose` draws each.
fn drawn(
    draw: &mut Stream,
    choose: impl Fn(&str, &mut dyn FnMut() -> Option<Value>) -> Option<Value>,
) -> Map<String, Value> {
    let rules = ackclock_net::rate::ENTRIES;
    let rule = (draw.uniform() < 0.2)
        .then(|| choose("rate", &mut || Some(random_entry(rules[draw.below(rules.len())], draw))));
    let rate = format!("{} bps", RATES[draw.below(RATES.len())]);
    let rate = rule.flatten().unwrap_or_else(|| rate.into());
    let delay = format!("{} ns", draw.below(20_000_000));
    let mut all =
        Map::from_iter([("rate".to_owned(), json!(rate)), ("delay".to_owned(), json!(delay))]);
    for param in ackclock_sim::tables::DIRECTION {
        if !all.contains_key(param.name)
            && let Some(value) = choose(param.name, &mut || random(param, draw))
        {
            all.insert(param.name.into(), value);
        }
    }
    all
}

/// A random value that is valid by itself on a link; single settings often exclude each other.
fn alone(name: &str, random: &mut dyn FnMut() -> Option<Value>) -> Option<Value> {
    let valid = |value: &Value| is_valid(&Map::from_iter([(name.to_owned(), value.clone())]));
    (0..20).find_map(|_| match random() {
        Some(value) if !valid(&value) => None,
        any => Some(any),
    })?
}

/// Whether a link can have these settings.
fn is_valid(settings: &Map<String, Value>) -> bool {
    let mut link = json!({"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"});
    link.as_object_mut().expect("a mapping").extend(settings.clone());
    let flow = json!({"id": "F", "from": "A", "to": "B", "send": "1 MB"});
    let document = json!({"hosts": ["A", "B"], "links": [link], "flows": [flow]});
    check(&document).problems.is_empty()
}

fn link(index: usize, between: &[&String; 2], draw: &mut Stream) -> Value {
    let mut all = direction(draw);
    all.insert("id".into(), json!(format!("L{index}")));
    all.insert("between".into(), json!(between));
    if draw.uniform() < 0.5 {
        all.insert("duplex".into(), json!("half"));
    } else if draw.uniform() < 0.5 {
        all.insert("backward".into(), Value::Object(direction(draw)));
    }
    if draw.uniform() < 0.3 {
        all.insert("rounding".into(), json!("double"));
    }
    let changes: Vec<Value> = (0..draw.below(3)).map(|_| change(draw)).collect();
    if draw.uniform() < 0.3 && !changes.is_empty() {
        all.insert("changes".into(), Value::Array(changes));
    }
    Value::Object(all)
}

fn change(draw: &mut Stream) -> Value {
    let mut all = json!({"at": format!("{} ns", draw.below(2_000_000_000))});
    match draw.below(3) {
        0 => all["up"] = (draw.uniform() < 0.5).into(),
        1 => all["rate"] = format!("{} bps", RATES[draw.below(RATES.len())]).into(),
        _ => all["delay"] = format!("{} ns", draw.below(30_000_000)).into(),
    }
    all
}

fn flow(index: usize, hosts: &[String], draw: &mut Stream) -> Value {
    let from = draw.below(hosts.len());
    let to = (from + 1 + draw.below(hosts.len().max(2) - 1)) % hosts.len();
    let mut all = json!({
        "id": format!("F{index}"),
        "from": hosts[from],
        "to": hosts[to],
        "start": format!("{} ns", draw.below(1_000_000_000)),
    });
    if draw.uniform() < 0.5 {
        // Some fit into the first window, so that the end of the flow leaves by itself.
        let amount = draw.below(400_000);
        let amount = if amount % 10 < 3 { amount % 12_000 } else { amount };
        all["send"] = format!("{} B", 1_000 + amount).into();
    }
    if draw.uniform() < 0.15 {
        all["udp"] = Value::Object(random_table(UDP, draw));
    } else {
        all["tcp"] = Value::Object(transport(draw));
    }
    all
}

/// A reliable transport of any family of senders.
fn transport(draw: &mut Stream) -> Map<String, Value> {
    let family = FAMILIES[draw.below(FAMILIES.len())];
    let mut all = random_table(TCP, draw);
    // A preset chooses the family, too.
    all.remove("preset");
    all.append(&mut random_table(family.params, draw));
    // A buffer and the rate at which it is read are given together or not at all.
    let pair = ["receive_buffer", "reads"];
    if !pair.iter().all(|key| all.contains_key(*key)) {
        pair.iter().for_each(|key| drop(all.remove(*key)));
    }
    all.insert("sender".into(), family.name.into());
    all
}
