//! Buffers by time and by the bandwidth-delay product.

use super::*;

/// Two flows of different round trips share a link; its queue has this limit.
fn network(limit: &str) -> Value {
    let access = |id: &str, host: &str, router: &str, delay: &str| json!({"id": id, "between": [host, router], "rate": "100 Mbps", "delay": delay});
    json!({
        "hosts": ["A", "B", "C"],
        "routers": ["R1", "R2"],
        "links": [
            {"id": "L", "between": ["R1", "R2"], "rate": "10 Mbps", "delay": "10 ms",
             "queue": {"limit": limit}},
            access("A1", "A", "R1", "1 ms"), access("B1", "B", "R1", "15 ms"),
            access("C1", "C", "R2", "4 ms"),
        ],
        "flows": [
            {"id": "F", "from": "A", "to": "C", "send": "1 MB"},
            {"id": "G", "from": "B", "to": "C", "send": "1 MB"},
        ],
    })
}

fn limit_of(document: &Value, link: usize) -> [Option<u64>; 2] {
    let checked = check(document);
    assert_eq!(checked.problems, []);
    let scenario = checked.scenario.unwrap();
    let link = &scenario.links[link];
    [&link.forward, &link.backward].map(|side| side.queue.optional_int("limit_bytes"))
}

#[test]
fn a_time_is_what_the_link_transmits_in_it() {
    assert_eq!(limit_of(&network("50 ms"), 0), [Some(62_500); 2]);
    let mut slower = network("50 ms");
    slower["links"][0]["backward"] = json!({"rate": "1 Mbps"});
    assert_eq!(limit_of(&slower, 0), [Some(62_500), Some(6_250)]);
}

#[test]
fn a_product_counts_the_longest_round_trip_that_crosses_the_link() {
    // G: 2 x (15 + 10 + 4) ms at 10 Mbit/s.
    assert_eq!(limit_of(&network("1 BDP"), 0), [Some(72_500); 2]);
    assert_eq!(limit_of(&network("0.25 BDP"), 0), [Some(18_125); 2]);
    let mut all = network("2 BDP");
    all["defaults"] = json!({"link": {"queue": {"limit": "2 BDP"}}});
    // F alone crosses the first access link: 2 x 15 ms at 100 Mbit/s.
    assert_eq!(limit_of(&all, 1), [Some(750_000); 2]);
    assert_eq!(limit_of(&all, 3), [Some(1_450_000); 2]);
}

/// Two ways of equal delay, between routers: a flow counts on that which it takes, whatever the seed of the run.
#[test]
fn with_a_hash_a_product_counts_the_routes_that_the_seed_of_the_hash_gives() {
    let mut document = network("1 BDP");
    document["links"].as_array_mut().unwrap().push(json!(
        {"id": "M", "between": ["R1", "R2"], "rate": "10 Mbps", "delay": "10 ms", "queue": {"limit": "1 BDP"}}
    ));
    document["routing"] = json!("ecmp");
    assert_eq!(
        messages(&check(&document).problems),
        [
            "links.0.queue.limit: a multiple of the BDP needs routes that are known before the run | \
          `limit: 50 ms` says how long the buffer takes to drain; or fix the routes: \
          `routing: {kind: ecmp, seed: 1}`"
        ]
    );
    let (f, g) = (37_500, 72_500);
    for seed in 0..16 {
        document["routing"] = json!({"kind": "ecmp", "seed": seed});
        let scenario = check(&document).scenario.unwrap();
        let ways = crate::compile::ways(&scenario);
        for link in [0, 4] {
            let crossed = |flow: usize| ways[flow].iter().flatten().filter(|hop| hop.0 == link);
            let limit = |back: u8| {
                let by = |flow: usize, limit: u64| {
                    crossed(flow).any(|hop| hop.1 == back).then_some(limit)
                };
                by(1, g).or(by(0, f)).unwrap_or(0)
            };
            assert_eq!(limit_of(&document, link), [Some(limit(0)), Some(limit(1))]);
        }
    }
}

#[test]
fn the_document_keeps_its_words() {
    let canonical = check(&network("2 BDP")).canonical().unwrap();
    assert_eq!(canonical["links"][0]["queue"]["limit"], "2 BDP");
}

#[test]
fn what_cannot_be_worked_out_is_refused() {
    let mut dynamic = network("2 BDP");
    dynamic["routing"] = json!("distance-vector");
    let messages = messages(&check(&dynamic).problems);
    assert_eq!(messages.len(), 1);
    assert!(
        messages[0].contains("links.0.queue.limit")
            && messages[0].contains("routing: shortest-path"),
        "{messages:?}"
    );
    // Too small for any packet.
    assert!(!check(&network("0.001 BDP")).problems.is_empty());
    assert!(!check(&network("0.0001 BDP")).problems.is_empty());
}

#[test]
fn queues_that_drop_later_cannot_exempt_the_routers_packets() {
    let mut document = network("50 ms");
    document["routing"] = json!({"kind": "distance-vector", "control": "exempt"});
    assert_eq!(check(&document).problems, []);
    document["links"][0]["queue"] = json!("red");
    assert_eq!(check(&document).problems, []);
    document["links"][0]["backward"] = json!({"queue": "codel"});
    let messages = messages(&check(&document).problems);
    assert_eq!(messages.len(), 1);
    assert!(
        messages[0].starts_with("links.0.backward.queue: `codel` may drop the routers' packets"),
        "{messages:?}"
    );
    document["routing"]["control"] = json!("queued");
    assert_eq!(check(&document).problems, []);
}
