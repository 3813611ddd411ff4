//! Packets that do not fit into the queues on their way.

use super::*;

fn problems(document: &Value) -> Vec<String> {
    messages(&check(document).problems)
}

#[test]
fn packets_that_never_fit() {
    for (limit, hint) in [
        (json!({"limit": "1000 B"}), "`limit: 0 packets` makes a link without waiting room"),
        (
            json!({"limit": "1500 B", "admission": "strict"}),
            "with `admission: strict` a packet must leave room over",
        ),
        (
            json!({"limit": "1 packet", "admission": "strict"}),
            "with `admission: strict` a packet must leave room over",
        ),
    ] {
        // The only link of a host, and the only one between the routers.
        for link in ["/links/0/queue", "/links/1/queue"] {
            let mut document = with(link, limit.clone());
            document["links"][1].as_object_mut().unwrap().remove("backward");
            let place = link[1..].replace('/', ".");
            assert_eq!(
                problems(&document),
                [format!(
                    "{place}.limit: no packet ever fits: data packets of flow `F1` have 1500 B | {hint}"
                )]
            );
        }
    }
    for fine in
        [json!({"limit": "0 packets"}), json!({"limit": "1500 B"}), json!({"limit": "1 packet"})]
    {
        model(&with("/links/0/queue", fine));
    }
    // On one of two ways it is only a warning.
    let mut document = valid();
    let links = document["links"].as_array_mut().unwrap();
    links.push(json!({
        "id": "L5", "between": ["R1", "R2"], "rate": "1 Mbps", "delay": "1 ms",
        "queue": {"limit": "1000 B"},
    }));
    let checked = check(&document);
    assert!(checked.scenario.is_some());
    assert_eq!(
        messages(&checked.warnings),
        [
            "links.4.queue.limit: no packet of 1500 B ever fits: data packets that are led over this \
             link are lost | `limit: 0 packets` makes a link without waiting room"
        ]
    );
}

#[test]
fn the_link_that_blocks_a_flow_is_reported_whatever_the_order() {
    let link = |id: &str, ends: [&str; 2], queue: Value| json!({"id": id, "between": ends, "rate": "10 Mbps", "delay": "1 ms", "queue": queue});
    let plain = || json!("droptail");
    let bucket = || json!({"kind": "tbf", "rate": "1 Mbps", "burst": "1000 B"});
    let small = || json!({"limit": "1000 B"});
    let links = [
        // Leads to a host that has no part in the flow.
        link("aside", ["H3", "R1"], small()),
        link("inner", ["R1", "R2"], bucket()),
        link("first", ["H1", "R1"], plain()),
        link("last", ["R2", "H2"], plain()),
    ];
    let place = |links: &[Value], id: &str| links.iter().position(|link| link["id"] == id).unwrap();
    let document = |links: &[Value]| {
        json!({
            "hosts": ["H1", "H2", "H3"], "routers": ["R1", "R2", "R3"], "links": links,
            "routing": "distance-vector", "flows": [{"id": "F", "from": "H1", "to": "H2"}],
            "stop": {"at_latest": "5 s"},
        })
    };
    for turn in 0..4 {
        let mut links = links.to_vec();
        links.rotate_left(turn);
        let checked = check(&document(&links));
        assert!(checked.scenario.is_some());
        let bucket = format!("links.{}.queue.burst: no packet ever fits", place(&links, "inner"));
        let warnings = messages(&checked.warnings);
        assert!(warnings.len() == 1 && warnings[0].starts_with(&bucket), "{warnings:?}");
        // On the same way is also a queue that is too small, which is an error.
        let last = place(&links, "last");
        links[last]["between"][0] = json!("R3");
        links.push(link("second", ["R2", "R3"], small()));
        links.rotate_left(turn);
        let error = format!("links.{}.queue.limit: no packet ever fits", place(&links, "second"));
        let problems = problems(&document(&links));
        assert!(problems.len() == 1 && problems[0].starts_with(&error), "{problems:?}");
    }
}
