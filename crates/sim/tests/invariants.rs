//! What holds in every network, checked on random ones.

use crate::common::{
    ALL_OFF, assert_conserved, bits, bits_of, chosen, networks, orderly, result, run, scenario,
};
use ackclock_sim::model::{Node, Record, Scenario, Stop};
use ackclock_sim::{Output, Shortcuts, Simulation};
use ackclock_trace::{Column, Keep, OF_SENDERS, TABLES, Table, packet_kind};
use ackclock_units::Time;
use ackclock_units::param::Value as Parameter;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The rows of a table, as bits.
fn rows(columns: &[(&str, Column)]) -> Vec<Vec<u64>> {
    let columns: Vec<Vec<u64>> = columns.iter().map(|(_, column)| bits_of(column)).collect();
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// The places of everything that a summary counts of flows and links.
fn places(summary: &Value) -> Vec<String> {
    const COUNTED: [&str; 16] = [
        "bytes_delivered",
        "segments_sent",
        "bytes_sent",
        "retransmissions",
        "timeouts",
        "fast_retransmits",
        "ecn_reductions",
        "segments_dropped",
        "duplicates_received",
        "reordered_received",
        "packets_on_wire",
        "bytes_on_wire",
        "marks_received",
        "bytes_carried",
        "packets_carried",
        "packets_dropped",
    ];
    let members = |place: &str| {
        let found = summary.pointer(place).and_then(Value::as_object);
        let inside = found.into_iter().flatten();
        inside.map(|(name, _)| format!("{place}/{name}")).collect::<Vec<_>>()
    };
    let ways = members("/links").into_iter().flat_map(|link| members(&link));
    let entries: Vec<String> = members("/flows").into_iter().chain(ways).collect();
    let counted = |place: &String| COUNTED.iter().any(|name| place.ends_with(&format!("/{name}")));
    let figures = entries.iter().flat_map(|entry| members(entry)).filter(counted);
    let drops = entries.iter().flat_map(|entry| members(&format!("{entry}/drops")));
    let mut places: Vec<String> = figures.chain(drops).collect();
    places.extend(members("/totals").into_iter().filter(|place| !place.ends_with("goodput_bps")));
    places
}

/// Switching the engine's shortcuts off, one by one and all together, changes no result. A fair share of the
/// networks has walked channels, and receivers that are walked.
#[test]
fn shortcuts_change_nothing() {
    let [channels, receivers] = [Cell::new(0), Cell::new(0)];
    let compare = |scenario: Scenario, shortcuts: Shortcuts, expected: &Output| {
        let other = run(Simulation::with(scenario, shortcuts)).summary;
        let events = |summary: &Value| summary["events"].as_u64().unwrap();
        let saves = events(&other) > events(&expected.summary);
        prop_assert_eq!(result(other), result(expected.summary.clone()), "{:?}", shortcuts);
        Ok(saves)
    };
    let config = networks(100);
    let cases = config.cases;
    let kinds = prop_oneof![scenario(), orderly(), orderly()];
    let outcome = TestRunner::new(config).run(&kinds, |scenario| {
        let expected = run(Simulation::new(scenario.clone()));
        let on = Shortcuts::default();
        let compare = |shortcuts| compare(scenario.clone(), shortcuts, &expected);
        channels.set(channels.get() + u32::from(compare(Shortcuts { walked: false, ..on })?));
        receivers.set(receivers.get() + u32::from(compare(Shortcuts { received: false, ..on })?));
        compare(Shortcuts { packed: false, ..on })?;
        compare(Shortcuts { fused: false, ..on })?;
        compare(ALL_OFF)?;
        Ok(())
    });
    outcome.unwrap();
    assert!(channels.get() >= cases / 3, "walked channels in {} networks", channels.get());
    assert!(receivers.get() >= cases / 8, "walked receivers in {} networks", receivers.get());
}

proptest! {
    #![proptest_config(networks(100))]

    /// Packets are neither lost nor made on the way, at any moment.
    #[test]
    fn packets_are_conserved(scenario in scenario(), order in 0usize..5) {
        let mut scenario = scenario;
        let first_come = |sends: &str, clock: &str| {
            let word = |word: &str| Parameter::Word(word.into());
            chosen("first-come", &[("sends", word(sends)), ("clock", word(clock))])
        };
        scenario.ties = match order {
            0 => chosen("entity", &[]),
            1 => first_come("direct", "exact"),
            2 => first_come("queued", "exact"),
            3 => first_come("queued", "double"),
            _ => chosen("random", &[("seed", Parameter::Int(7))]),
        };
        let mut simulation = Simulation::new(scenario);
        loop {
            let done = simulation.advance(500);
            assert_conserved(&simulation, "random");
            if done {
                break;
            }
        }
    }

    /// Recording changes no result, the same run gives the same records, and a table does not depend on the others.
    #[test]
    fn recording_changes_nothing(scenario in scenario(), some: u16, of_senders: bool) {
        let mut scenario = scenario;
        let plain = run(Simulation::new(scenario.clone()));
        let mut recorded = scenario.clone();
        recorded.record = Record::ALL;
        let first = run(Simulation::new(recorded.clone()));
        let second = run(Simulation::new(recorded));
        prop_assert_eq!(result(first.summary.clone()), result(plain.summary.clone()));
        prop_assert_eq!(bits(&first), bits(&second));
        prop_assert!(plain.tables.is_empty());
        // What senders know of themselves is recorded while packets are walked over receivers.
        let names = TABLES.iter().map(|table| table.name).enumerate();
        let names: Vec<_> = names.filter(|(place, _)| some >> place & 1 == 1).map(|(_, name)| name).collect();
        let kept = |table: &&str| names.contains(table) && (!of_senders || OF_SENDERS.contains(table));
        scenario.record = Record::new(|table| if kept(&table) { Keep::All } else { Keep::None });
        let few = run(Simulation::new(scenario));
        prop_assert_eq!(result(few.summary.clone()), result(plain.summary));
        prop_assert_eq!(few.tables.len(), names.iter().filter(|name| kept(name)).count());
        for (name, columns) in &few.tables {
            let (_, all) = first.tables.iter().find(|(table, _)| table == name).unwrap();
            prop_assert_eq!(rows(columns), rows(all), "{}", name);
        }
    }

    /// A warm-up changes only figures, and those are what came after it: the whole run less a run that ends with the warm-up.
    #[test]
    fn a_warmup_is_left_out(scenario in scenario(), share in 1_u64..100) {
        let end = Time::from_ns(scenario.stop.at_latest.as_ns() * share / 100);
        let warm = Scenario { warmup: Some(end), ..scenario.clone() };
        let stop = Stop { at_latest: end, ..scenario.stop.clone() };
        let short = run(Simulation::new(Scenario { stop, ..scenario.clone() })).summary;
        let whole = run(Simulation::new(scenario.clone())).summary;
        let rest = run(Simulation::new(warm.clone())).summary;
        prop_assert_eq!(&rest["digest"], &whole["digest"]);
        let slow = run(Simulation::with(warm, ALL_OFF)).summary;
        prop_assert_eq!(result(slow), result(rest.clone()));
        for place in places(&whole) {
            let of = |summary: &Value| summary.pointer(&place).unwrap().as_f64().unwrap();
            prop_assert_eq!(of(&rest), of(&whole) - of(&short), "{}", place);
        }
        let span = |summary: &Value, from: f64| summary["end_s"].as_f64().unwrap() - from;
        for link in scenario.links.iter() {
            // Where the rate follows a rule, the utilisation is a share of what the link could have carried.
            let steady = [&link.forward, &link.backward].iter().all(|way| way.rates.is_none());
            let figures: &[&str] =
                if steady { &["queue_packets/mean", "utilization"] } else { &["queue_packets/mean"] };
            let places = whole["links"][&link.id].as_object().unwrap().keys();
            let places = places.flat_map(|way| figures.iter().map(move |name| (way, name)));
            for place in places.map(|(way, name)| format!("/links/{}/{way}/{name}", link.id)) {
                let area = |summary: &Value, from: f64| {
                    summary.pointer(&place).unwrap().as_f64().unwrap() * span(summary, from)
                };
                let from = end.as_secs().min(span(&whole, 0.0));
                let mut after = area(&whole, 0.0) - area(&short, 0.0);
                let found = area(&rest, from);
                if place.ends_with("utilization") {
                    // A busy link that rounds times down carries slightly more than its rate, and is used to the full.
                    after = after.min(span(&rest, from));
                }
                prop_assert!((found - after).abs() < 1e-6, "{}: {} {}", place, found, after);
            }
        }
    }

    /// Sampled records are a part of all records; taking them out in parts changes nothing.
    #[test]
    fn sampled_records_are_a_part_of_all(scenario in scenario(), ms in 1_u64..500, extremes: bool) {
        let interval = Time::from_ms(ms);
        let keep = if extremes { Keep::Extremes(interval) } else { Keep::Last(interval) };
        let mut all = scenario.clone();
        all.record = Record::ALL;
        let mut some = scenario;
        some.record = Record::new(|table| match table {
            "cwnd" | "rtt" | "queue" => keep,
            _ => Keep::All,
        });
        let all = run(Simulation::new(all));
        let mut parts = Simulation::new(some.clone());
        let mut tables: BTreeMap<&str, Vec<Vec<u64>>> = BTreeMap::new();
        let mut add = |taken: Vec<Table>| {
            for (name, columns) in taken {
                tables.entry(name).or_default().extend(rows(&columns));
            }
        };
        while !parts.advance(130) {
            add(parts.take_records(10));
        }
        let output = parts.finish();
        add(output.tables);
        prop_assert_eq!(&output.summary, &all.summary);
        let whole = run(Simulation::new(some));
        for (name, columns) in &whole.tables {
            let kept = rows(columns);
            prop_assert_eq!(&tables[name], &kept, "{}", name);
            let (_, columns) = all.tables.iter().find(|(table, _)| table == name).unwrap();
            let mut full = rows(columns);
            if !["cwnd", "rtt", "queue"].contains(name) {
                prop_assert_eq!(&kept, &full);
                continue;
            }
            prop_assert!(kept.is_empty() == full.is_empty());
            full.sort_unstable();
            prop_assert!(kept.iter().all(|row| full.binary_search(row).is_ok()));
        }
    }

    /// The records agree with the summary: they count the same things.
    #[test]
    fn records_agree_with_the_summary(scenario in scenario()) {
        let mut scenario = scenario;
        scenario.record = Record::ALL;
        let output = run(Simulation::new(scenario));
        let rows = |name: &str| {
            let (_, columns) = output.tables.iter().find(|(table, _)| *table == name).unwrap();
            match &columns[0].1 {
                Column::F64(times) => times.len() as u64,
                other => panic!("times are real numbers, not {other:?}"),
            }
        };
        let count = |value: &Value| value.as_u64().unwrap();
        let summary = &output.summary;
        let dropped: u64 =
            summary["packets_dropped"].as_object().unwrap().values().map(count).sum();
        prop_assert_eq!(rows("drops"), dropped);
        let on_links: u64 = summary["links"].as_object().unwrap().values()
            .flat_map(|ways| ways.as_object().unwrap().values())
            .map(|way| count(&way["packets_dropped"])).sum();
        prop_assert_eq!(on_links + count(&summary["packets_dropped"]["no-route"]), dropped);
        let acks: u64 = summary["flows"].as_object().unwrap().values()
            .filter(|flow| flow["transport"] == "tcp")
            .map(|flow| count(&flow["segments_sent"]) - count(&flow["retransmissions"]))
            .sum();
        let handshakes = summary["flows"].as_object().unwrap().len() as u64;
        prop_assert!(rows("rtt") <= acks * 50 + handshakes, "more ACKs than packets could cause");
        // Every packet carried was recorded at its start; at most one a channel is still going.
        let channels: u64 = summary["links"].as_object().unwrap().values()
            .map(|ways| ways.as_object().unwrap().len() as u64).sum();
        let carried = count(&summary["packet_hops"]);
        prop_assert!((carried..=carried + channels).contains(&rows("transmissions")));
    }

    /// What flows put on their first link and lost anywhere, counted without records and in them.
    #[test]
    fn flows_count_what_leaves_their_host_and_what_is_dropped(scenario in scenario()) {
        let mut scenario = scenario;
        scenario.record = Record::ALL;
        let flows = scenario.flows.clone();
        let links = scenario.links.clone();
        let output = run(Simulation::new(scenario));
        let whole = |table: &str, column: &str| {
            let (_, columns) = output.tables.iter().find(|(name, _)| *name == table).unwrap();
            match &columns.iter().find(|(name, _)| *name == column).unwrap().1 {
                Column::I32(values) => values.clone(),
                other => panic!("{column} holds codes, not {other:?}"),
            }
        };
        let back = [packet_kind::ACK, packet_kind::ROUTER, packet_kind::SYN_ACK];
        let ahead = |kind: i32| !back.contains(&kind);
        let (flow, link, kind, bytes) = (
            whole("transmissions", "flow"),
            whole("transmissions", "link"),
            whole("transmissions", "kind"),
            whole("transmissions", "bytes"),
        );
        let (dropped, place, dropped_kind) =
            (whole("drops", "flow"), whole("drops", "link"), whole("drops", "kind"));
        for (index, model) in flows.iter().enumerate() {
            let summary = &output.summary["flows"][&model.id];
            let index = index as i32;
            // Hosts do not forward: data on a link of their host are about to leave it.
            let own = |link: i32| links[link as usize].ends.contains(&Node::Host(model.from));
            let sent: Vec<u64> = (0..flow.len())
                .filter(|&row| flow[row] == index && ahead(kind[row]) && own(link[row]))
                .map(|row| bytes[row] as u64)
                .collect();
            prop_assert_eq!(&summary["packets_on_wire"], sent.len(), "{}", model.id);
            prop_assert_eq!(&summary["bytes_on_wire"], sent.iter().sum::<u64>(), "{}", model.id);
            let all: u64 = summary["drops"].as_array().unwrap().iter()
                .map(|drops| drops["packets"].as_u64().unwrap()).sum();
            prop_assert_eq!(&summary["segments_dropped"], all);
            for code in -1..links.len() as i32 {
                let name = usize::try_from(code).ok().map(|link| &links[link].id);
                let reported: u64 = summary["drops"].as_array().unwrap().iter()
                    .filter(|drops| drops["link"].as_str() == name.map(String::as_str))
                    .map(|drops| drops["packets"].as_u64().unwrap()).sum();
                let rows = (0..dropped.len()).filter(|&row| {
                    dropped[row] == index && ahead(dropped_kind[row]) && place[row] == code
                });
                prop_assert_eq!(reported, rows.count() as u64, "{} at {:?}", model.id, name);
            }
        }
    }

    /// Little's law and work conservation: the queue's integral is the sum of waits, and no link is
    /// busy for longer than the run.
    #[test]
    fn links_obey_little_and_are_never_busier_than_time(scenario in scenario()) {
        let mut scenario = scenario;
        scenario.record = Record::ALL;
        let links: Vec<String> = scenario.links.iter().map(|link| link.id.clone()).collect();
        let output = run(Simulation::new(scenario));
        let end = output.summary["end_s"].as_f64().unwrap();
        let (_, columns) = output.tables.iter().find(|(table, _)| *table == "queue").unwrap();
        let (Column::F64(times), Column::I32(link), Column::I32(way), Column::I32(packets)) =
            (&columns[0].1, &columns[1].1, &columns[2].1, &columns[3].1) else { panic!("columns") };
        for (index, id) in links.iter().enumerate() {
            for (code, name) in ["both", "forward", "backward"].iter().enumerate() {
                let summary = &output.summary["links"][id][name];
                if summary.is_null() {
                    continue;
                }
                prop_assert!(summary["utilization"].as_f64().unwrap() <= 1.0 + 1e-9);
                let (mut area, mut since, mut level) = (0.0, 0.0, 0);
                for row in 0..times.len() {
                    if link[row] == index as i32 && way[row] == code as i32 {
                        prop_assert!(times[row] >= since, "rows of a link are in order of time");
                        area += f64::from(level) * (times[row] - since);
                        (since, level) = (times[row], packets[row]);
                    }
                }
                area += f64::from(level) * (end - since);
                let mean = summary["queue_packets"]["mean"].as_f64().unwrap();
                if end > 0.0 {
                    prop_assert!((area / end - mean).abs() < 1e-6 * (1.0 + mean), "{} {}", id, name);
                }
            }
        }
    }
}
