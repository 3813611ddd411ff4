//! Short forms: what they stand for, and what is reported about faulty ones.

use super::*;

fn dumbbell() -> Value {
    json!({
        "topology": {
            "kind": "dumbbell",
            "leaves": 3,
            "access": {"rate": "100 Mbps", "delay": ["1 ms", "2 ms"]},
            "bottleneck": {"rate": "10 Mbps", "delay": "10 ms", "queue": {"limit": "50 packets"}},
            "egress": {"delay": "3 ms"}
        },
        "flows": [{"id": "F", "count": 3, "from": "S*", "to": "D*", "send": "200 kB"}],
        "seed": 7
    })
}

/// `dumbbell` with the value at `pointer` replaced or added; null removes it.
fn with(pointer: &str, value: Value) -> Value {
    changed(dumbbell(), pointer, value)
}

fn changed(mut document: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match document.pointer_mut(parent).expect("the parent exists") {
        Value::Object(map) if value.is_null() => {
            map.shift_remove(key);
        }
        Value::Object(map) => {
            map.insert(key.into(), value);
        }
        Value::Array(values) => values[key.parse::<usize>().expect("an index")] = value,
        other => panic!("{parent} is {other}"),
    }
    document
}

pub(super) fn problems(document: &Value) -> Vec<String> {
    let checked = check(document);
    assert!(
        checked.scenario.is_none() && checked.model().is_none() && checked.canonical().is_none()
    );
    messages(&checked.problems)
}

pub(super) fn canonical(document: &Value) -> Value {
    let checked = check(document);
    assert_eq!(messages(&checked.problems), Vec::<String>::new());
    checked.canonical().expect("a document without problems has a canonical form")
}

/// The long form of `dumbbell`, written by hand.
fn long() -> Value {
    let link = |id: &str, a: &str, b: &str, delay: &str| json!({"id": id, "between": [a, b], "rate": "100 Mbps", "delay": delay});
    let flow = |id: &str, a: &str, b: &str| json!({"id": id, "from": a, "to": b, "send": "200 kB"});
    json!({
        "hosts": ["S1", "S2", "S3", "D1", "D2", "D3"],
        "routers": ["R1", "R2"],
        "links": [
            link("access1", "S1", "R1", "1 ms"),
            link("access2", "S2", "R1", "2 ms"),
            link("access3", "S3", "R1", "1 ms"),
            {
                "id": "bottleneck", "between": ["R1", "R2"], "rate": "10 Mbps", "delay": "10 ms",
                "queue": {"limit": "50 packets"}
            },
            link("egress1", "R2", "D1", "3 ms"),
            link("egress2", "R2", "D2", "3 ms"),
            link("egress3", "R2", "D3", "3 ms")
        ],
        "flows": [flow("F1", "S1", "D1"), flow("F2", "S2", "D2"), flow("F3", "S3", "D3")],
        "seed": 7
    })
}

#[test]
fn a_short_form_is_its_long_form() {
    assert_eq!(canonical(&dumbbell()), canonical(&long()));
    assert_eq!(model(&dumbbell()), model(&long()));
    let resolved = canonical(&dumbbell());
    assert_eq!(canonical(&resolved), resolved);
}

#[test]
fn every_value_of_a_link_can_differ_by_leaf() {
    let document = with(
        "/topology/access",
        json!({
            "rate": ["100 Mbps", "1 Gbps", "10 Mbps"],
            "delay": "1 ms",
            "queue": [{"limit": "5 packets"}, {"limit": "6 packets"}],
            "forward": [{"rate": "1 Mbps"}],
            "changes": [[{"at": "1 s", "state": "down"}], []]
        }),
    );
    let model = model(&document);
    let rates: Vec<_> = (0..3).map(|i| &model["links"][i]["backward"]["rate_bps"]).collect();
    assert_eq!(rates, [100_000_000, 1_000_000_000, 10_000_000]);
    let limits = (0..3).map(|i| &model["links"][i]["forward"]["queue"]["limit_packets"]);
    assert_eq!(limits.collect::<Vec<_>>(), [5, 6, 5]);
    assert_eq!(model["links"][2]["forward"]["rate_bps"], 1_000_000);
    let changes = (0..3).map(|i| model["links"][i]["changes"].as_array().unwrap().len());
    assert_eq!(changes.collect::<Vec<_>>(), [1, 0, 1]);
    // The egress links take what they do not say from `access`.
    assert_eq!(model["links"][5]["backward"]["rate_bps"], 1_000_000_000);
    assert_eq!(model["links"][5]["forward"]["delay_ns"], 3_000_000);
    // One list of changes is one value.
    let document = with("/topology/bottleneck/changes", json!([{"at": "1 s", "rate": "1 Mbps"}]));
    assert_eq!(self::model(&document)["links"][3]["changes"].as_array().unwrap().len(), 1);
}

#[test]
fn shapes_stand_beside_written_parts() {
    let mut document = dumbbell();
    document["hosts"] = json!(["M"]);
    document["routers"] = json!(["R3"]);
    document["links"] = json!([
        {"id": "L1", "between": ["R2", "R3"], "rate": "1 Mbps", "delay": "1 ms"},
        {"id": "L2", "between": ["R3", "M"], "rate": "1 Mbps", "delay": "1 ms"}
    ]);
    document["flows"].as_array_mut().unwrap().push(json!({"id": "G", "from": "S1", "to": "M"}));
    document["stop"] = json!({"at_latest": "1 s"});
    let model = model(&document);
    assert_eq!(model["hosts"], json!(["S1", "S2", "S3", "D1", "D2", "D3", "M"]));
    assert_eq!(model["routers"], json!(["R1", "R2", "R3"]));
    assert_eq!(model["links"][7]["id"], "L1");
    assert_eq!(model["flows"][3]["id"], "G");
    // Faults of written parts are reported where they are written.
    document["links"][1]["rate"] = json!("1");
    document["flows"][1]["to"] = json!("N");
    let found = problems(&document);
    assert_eq!(found[0], "links.1.rate: `1` has no unit | for example `1 Mbps`");
    assert_eq!(found[1], "flows.1.to: unknown host `N`");
}

#[test]
fn defaults_hold_for_short_forms() {
    let mut document = with("/topology/access", Value::Null);
    document["topology"]["egress"] = json!({});
    document["defaults"] =
        json!({"link": {"rate": "5 Mbps", "delay": "4 ms"}, "tcp": {"cc": "fast"}});
    let model = model(&document);
    assert_eq!(model["links"][0]["forward"]["delay_ns"], 4_000_000);
    assert_eq!(model["flows"][2]["tcp"]["cc"]["kind"], "fast");
}

#[test]
fn faults_of_a_topology() {
    for (pointer, value, expected) in [
        (
            "/topology/kind",
            json!("dumbell"),
            "topology.kind: unknown topology `dumbell` | did you mean `dumbbell`?",
        ),
        (
            "/topology",
            json!("dumbbell"),
            "topology.leaves: `leaves` is missing | Hosts on each side.",
        ),
        ("/topology/leaves", json!(0), "topology.leaves: `0` is too small"),
        ("/topology/leaves", json!(100_001), "topology.leaves: `100001` is too large"),
        (
            "/topology/leafs",
            json!(3),
            "topology.leafs: unknown key `leafs` | did you mean `leaves`?",
        ),
        (
            "/topology/hop",
            json!({}),
            "topology.hop: unknown key `hop` | `hop` belongs to `chain`, this is `dumbbell`",
        ),
        (
            "/topology/access",
            json!("10 Mbps"),
            "topology.access: `access` needs a mapping, not the text `10 Mbps`",
        ),
        (
            "/topology/access/bandwidth",
            json!("1 Mbps"),
            "topology.access.bandwidth: unknown key `bandwidth` | did you mean `rate`?",
        ),
        (
            "/topology/access/rate",
            json!("10"),
            "topology.access.rate: `10` has no unit | for example `10 Mbps`",
        ),
        (
            "/topology/access/rate",
            Value::Null,
            "topology.access.rate: `rate` is missing | Bits per second on the wire, or a rule by which the rate changes.",
        ),
        (
            "/topology/access/delay",
            json!(["1 ms", "2"]),
            "topology.access.delay.1: `2` has no unit | for example `2 ms`",
        ),
        (
            "/topology/access/delay",
            json!(["1 ms", "2 ms", "3 ms", "4 ms"]),
            "topology.access.delay: 4 values for 3 links | a shorter list is repeated",
        ),
        (
            "/topology/access/delay",
            json!([]),
            "topology.access.delay: a list without values | a shorter list is repeated",
        ),
        (
            "/topology/bottleneck/queue/limit",
            json!("1000"),
            "topology.bottleneck.queue.limit: `1000` has no unit | for example `1000 KiB` or \
             `1000 packets` or `1000 ms` or `1000 BDP`",
        ),
        (
            "/topology/bottleneck/queue/limit",
            json!("100 B"),
            "topology.bottleneck.queue.limit: no packet ever fits: data packets of flow `F1` have \
             1500 B | `limit: 0 packets` makes a link without waiting room",
        ),
        (
            "/hosts",
            json!(["S2"]),
            "hosts.0: `S2` is a host of `topology` already | each node has a \
          name of its own",
        ),
        (
            "/routers",
            json!(["X", "S1"]),
            "routers.1: `S1` is a host of `topology` already | each \
          node has a name of its own",
        ),
        (
            "/links",
            json!([{"id": "access2", "between": ["S1", "D1"], "rate": "1 bps", "delay": "0 s"}]),
            "links.0.id: duplicate id `access2` | `topology.access` has it already",
        ),
    ] {
        assert_eq!(problems(&with(pointer, value)), [expected], "{pointer}");
    }
}

#[test]
fn a_scenario_needs_a_network() {
    let found = problems(&with("/topology", Value::Null));
    assert!(found[0].starts_with("hosts: `hosts` is missing"), "{found:?}");
    assert!(found[1].starts_with("links: `links` is missing"), "{found:?}");
    assert_eq!(problems(&with("/topology", json!(3))).len(), 1);
}

#[test]
fn names_of_templates() {
    let mut document = with("/flows/0/id", json!("x*y"));
    document["flows"][0]["from"] = json!("S2");
    let model = model(&document);
    let ids: Vec<_> = (0..3).map(|i| model["flows"][i]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["x1y", "x2y", "x3y"]);
    assert!((0..3).all(|i| model["flows"][i]["from"] == "S2"));
    assert_eq!(model["flows"][2]["to"], "D3");
    assert!(model["flows"][0].get("count").is_none());
}

#[test]
fn faults_of_templates() {
    let mut twice = dumbbell();
    twice["flows"].as_array_mut().unwrap().push(json!({"id": "F2", "from": "S1", "to": "D1"}));
    assert_eq!(problems(&twice)[0], "flows.1.id: duplicate id `F2` | `flows.0` has it already");
    for (pointer, value, expected) in [
        ("/flows/0/count", json!(0), "flows.0.count: `0` is too small"),
        (
            "/flows/0/count",
            json!("3"),
            "flows.0.count: `count` needs a whole number without unit, \
          not the text `3` | write it without quotes",
        ),
        (
            "/flows/0/count",
            json!(20),
            "flows.0.from: unknown host `S4` | `*` in `S*` is the number of the flow, 1 to 20",
        ),
        (
            "/flows/0/from",
            json!("H*"),
            "flows.0.from: unknown host `H1` | `*` in `H*` is the number of the flow, 1 to 3",
        ),
        (
            "/flows/0/tcp",
            json!({"cc": "ren"}),
            "flows.0.tcp.cc: unknown cc `ren` | did you mean `reno`?",
        ),
        ("/flows/0/to", json!("R1"), "flows.0.to: `R1` is a router; flows run from host to host"),
        (
            "/flows/0/start",
            json!(["0 s", "1 s"]),
            "flows.0.start: 2 starts for 3 flows | evenly: `{kind: spread, over: 1 s}`; drawn: \
             `{kind: uniform, to: 1 s}`",
        ),
        (
            "/flows/0/start",
            json!(["0 s", "1", "2 s"]),
            "flows.0.start.1: `1` has no unit | for example `1 s`",
        ),
        (
            "/flows/0/start",
            json!({"kind": "spread"}),
            "flows.0.start.over: `over` is missing | Length of the span.",
        ),
        (
            "/flows/0/start",
            json!({"kind": "uniform", "from": "1 s", "to": "1 s"}),
            "flows.0.start.to: `to` (1 s) is not after `from` (1 s)",
        ),
        (
            "/flows/0/start",
            json!({"kind": "uniform", "until": "1 s"}),
            "flows.0.start.until: unknown key `until` | did you mean `to`?",
        ),
        ("/flows/0/start", json!({"kind": "normal"}), "flows.0.start.kind: unknown start `normal`"),
    ] {
        assert_eq!(problems(&with(pointer, value))[0], expected, "{pointer}");
    }
    // The other end misses its hosts, too; more is not reported.
    assert_eq!(problems(&with("/flows/0/count", json!(20))).len(), 2);
    let mut alone = with("/flows/0/count", Value::Null);
    alone["flows"][0]["to"] = json!("D1");
    assert_eq!(
        problems(&alone),
        ["flows.0.from: `*` cannot be part of a name | in `id`, `from` and `to` of a flow with \
          `count` it is the number of each flow"]
    );
    let many = [1, 1_000_000].map(|n| json!({"id": "F", "count": n, "from": "S1", "to": "D1"}));
    let found = problems(&with("/flows", many.to_vec().into()));
    assert_eq!(found[0], "flows.1.count: 1000001 flows are too many");
}

#[test]
fn starts() {
    let starts = |start: Value| {
        let model = model(&with("/flows/0/start", start));
        (0..3).map(|i| model["flows"][i]["start_ns"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(starts(json!("2 ms")), [2_000_000; 3]);
    assert_eq!(starts(json!(["1 ns", "0 s", "3 s"])), [1, 0, 3_000_000_000]);
    assert_eq!(starts(json!({"kind": "spread", "over": "30 ms"})), [0, 10_000_000, 20_000_000]);
    let spread = json!({"kind": "spread", "over": "10 ns", "from": "5 ns"});
    assert_eq!(starts(spread), [5, 8, 11]);
    let drawn = starts(json!({"kind": "uniform", "from": "1 s", "to": "2 s"}));
    assert!(drawn.iter().all(|ns| (1_000_000_000..2_000_000_000).contains(ns)), "{drawn:?}");
    assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
    // A single flow may have a rule as well.
    let mut one = with("/flows/0/count", Value::Null);
    one["flows"][0]["from"] = json!("S1");
    one["flows"][0]["to"] = json!("D1");
    one["flows"][0]["start"] = json!({"kind": "spread", "over": "30 ms", "from": "1 s"});
    assert_eq!(model(&one)["flows"][0]["start_ns"], 1_000_000_000);
}

#[test]
fn patterns() {
    let flows = |count: usize, more: Value| {
        let mut flow = json!({"id": "F", "count": count, "from": "H*", "to": "H*"});
        flow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({
            "topology": {"kind": "fat-tree", "ports": 4, "access": {"rate": "1 Gbps", "delay": "2 us"}},
            "flows": [flow],
            "stop": {"at_latest": "1 ms"},
        })
    };
    let ends = |document: &Value| {
        let model = model(document);
        let flows = model["flows"].as_array().unwrap().clone();
        let name = |flow: &Value, end: &str| flow[end].as_str().unwrap()[1..].parse().unwrap();
        flows
            .iter()
            .map(|flow| (name(flow, "from"), name(flow, "to")))
            .collect::<Vec<(usize, usize)>>()
    };
    let stride = flows(16, json!({"pattern": {"kind": "stride", "by": 8}}));
    assert!(ends(&stride).into_iter().eq((1..=16).map(|from| (from, (from + 7) % 16 + 1))));
    let drawn = |seed: u64| {
        let document = flows(16, json!({"pattern": {"kind": "permutation", "seed": seed}}));
        // Written out, it is the same network, whatever seed the run has.
        assert_eq!(model(&canonical(&document))["flows"], model(&document)["flows"]);
        ends(&document)
    };
    assert_eq!(ends(&flows(16, json!({"pattern": "permutation"}))), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    let mut reached: Vec<usize> = drawn(1).iter().map(|(_, to)| *to).collect();
    reached.sort_unstable();
    assert!(reached.into_iter().eq(1..=16));
    assert!(drawn(1).iter().all(|(from, to)| from != to));

    // The first of several paths for all of them is hardly meant.
    let mut routed = flows(2, json!({"to": "H16"}));
    let expected = "routing: all flows take the first of several shortest paths | `routing: ecmp` spreads them by a hash, \
                    `routing: shortest-path` says that it is meant";
    assert_eq!(warnings(&routed), [expected]);
    assert_eq!(warnings(&flows(1, json!({"to": "H16"}))), Vec::<String>::new());
    for meant in ["ecmp", "shortest-path"] {
        routed["routing"] = json!(meant);
        assert_eq!(warnings(&routed), Vec::<String>::new());
    }

    let hint = "for example `{id: F, count: 16, from: H*, to: H*, pattern: permutation}`";
    for (count, more, expected) in [
        (
            1,
            json!({"pattern": "permutation"}),
            format!("flows.0.pattern: one flow makes no pattern | {hint}"),
        ),
        (
            4,
            json!({"pattern": "permutation", "to": "H5"}),
            format!(
                "flows.0.pattern: a pattern says which number `*` in `to` is, and there is none | {hint}"
            ),
        ),
        (4, json!({"pattern": "incast"}), "flows.0.pattern: unknown pattern `incast`".into()),
        (
            4,
            json!({"pattern": {"kind": "stride"}}),
            "flows.0.pattern.by: `by` is missing | How far it is from sender to receiver.".into(),
        ),
        (
            4,
            json!({"pattern": {"kind": "stride", "by": 4}}),
            "flows.0.to: a flow from `H1` to itself".into(),
        ),
        (
            2_000_000,
            json!({"pattern": "permutation"}),
            "flows.0.count: `2000000` is too large".into(),
        ),
    ] {
        assert_eq!(problems(&flows(count, more))[0], expected);
    }
    let mut alone = flows(4, json!({"pattern": "permutation"}));
    alone["flows"][0].as_object_mut().unwrap().remove("count");
    let expected =
        format!("flows.0.pattern: a pattern needs several flows: `count` is missing | {hint}");
    assert!(problems(&alone).contains(&expected), "{:?}", problems(&alone));
}

#[test]
fn the_rule_of_drawn_starts_stays_in_the_resolved_document() {
    let document = with("/flows/0/start", json!({"kind": "uniform", "to": "100 ms"}));
    let resolved = canonical(&document);
    // The rule stays, and says the same again.
    assert_eq!(
        resolved["flows"][0]["start"],
        json!({"kind": "uniform", "from": "0 s", "to": "100 ms"})
    );
    assert_eq!(canonical(&resolved), resolved);
    assert_eq!(model(&resolved), model(&document));
    // Another flow changes nothing about the starts of these.
    let mut more = document.clone();
    more["flows"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"id": "G", "from": "S1", "to": "D1", "send": "1 MB"}));
    assert_eq!(model(&more)["flows"][1]["start_ns"], model(&document)["flows"][0]["start_ns"]);
}

fn set(entries: &[(&str, Value)]) -> Value {
    let one = |(path, value): &(&str, Value)| json!({"path": path, "value": value});
    with("/set", entries.iter().map(one).collect())
}

#[test]
fn single_values_are_set_last() {
    let model = model(&set(&[
        ("links.bottleneck.rate", json!("2 Mbps")),
        ("links.*.queue.limit", json!("9 packets")),
        ("links.egress2.queue", json!({"kind": "droptail", "limit": "8 packets"})),
        ("flows.F3.tcp.cc", json!("fast")),
        ("flows.F3.tcp.cc.alpha", json!(7)),
        ("flows.0.start", json!("1 s")),
    ]));
    assert_eq!(model["links"][3]["forward"]["rate_bps"], 2_000_000);
    let limits = (0..7).map(|i| &model["links"][i]["forward"]["queue"]["limit_packets"]);
    assert_eq!(limits.collect::<Vec<_>>(), [9, 9, 9, 9, 9, 8, 9]);
    assert_eq!(model["flows"][2]["tcp"]["cc"]["alpha"], 7.0);
    assert_eq!(model["flows"][1]["tcp"]["cc"]["kind"], "cubic");
    assert_eq!(model["flows"][0]["start_ns"], 1_000_000_000);
}

#[test]
fn faults_of_set_values() {
    for (path, value, expected) in [
        (
            "links.bottelneck.rate",
            json!("1 Mbps"),
            "set.0.path: there is no `bottelneck` in `links` | did you mean `bottleneck`?",
        ),
        (
            "flows.F9.send",
            json!("1 MB"),
            "set.0.path: there is no `F9` in `flows` | did you mean `F1`?",
        ),
        ("seed", json!(3), "set.0.path: this is not a value of a link or flow"),
        ("flows.F1", json!({}), "set.0.path: this is not a value of a link or flow"),
        (
            "links.bottleneck.rate",
            json!("7"),
            "set.0.value: `7` has no unit | for example `7 Mbps`",
        ),
        (
            "flows.*.tcp.cc",
            json!({"kind": "fast", "alfa": 3}),
            "set.0.value.alfa: unknown key `alfa` | did you mean `alpha`?",
        ),
        (
            "links.access2.rat",
            json!("1 Mbps"),
            "set.0.value: unknown key `rat` | did you mean `rate`?",
        ),
        ("links.access2.between.2", json!("R1"), "set.0.path: `2` is not a place in a list of 2"),
    ] {
        assert_eq!(problems(&set(&[(path, value)])), [expected], "{path}");
    }
    let found = problems(&with("/set", json!([{"path": "links.access1.rate"}, 3])));
    assert_eq!(found[0], "set.0.value: `value` is missing | Its new value.");
    assert_eq!(found[1], "set.1: a mapping is needed, not the number 3");
}

/// What is remembered of equal links and flows must not hide faults, or mix up what differs.
#[test]
fn equal_parts_are_resolved_once_and_told_each() {
    let mut document = long();
    for link in [0, 2] {
        document["links"][link]["queue"] = json!({"limit": "7"});
    }
    for flow in [0, 1] {
        document["flows"][flow]["tcp"] = json!({"cc": "ren"});
    }
    let found = problems(&document);
    let places: Vec<&str> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        ["links.0.queue.limit", "links.2.queue.limit", "flows.0.tcp.cc", "flows.1.tcp.cc"]
    );
    // More kinds than are remembered, twice round.
    let delays: Vec<String> = (1..=12).map(|i| format!("{i} ms")).collect();
    let mut many = with("/topology/leaves", json!(24));
    many["topology"]["access"]["delay"] = json!(delays);
    let model = model(&many);
    for leaf in 0..24 {
        let delay = (leaf as u64 % 12 + 1) * 1_000_000;
        assert_eq!(model["links"][leaf]["forward"]["delay_ns"], delay);
    }
}
