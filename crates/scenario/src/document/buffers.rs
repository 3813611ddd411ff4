//! Buffers that are given by a time or by the bandwidth-delay product, in bytes.
//!
//! `50 ms` is what the link transmits in that time; `2 BDP` is twice what it transmits in the longest round trip of
//! the flows that cross it in that direction, with propagation both ways and nothing else. Where a link changes,
//! its rate and delay at the start count. The routes must be those of every run: a hash by the seed of the run, which
//! replications choose, does not give them.

use super::problems::{Fault, Path, Problems};
use crate::compile::round_trips;
use crate::model::{Direction, Link, LinkNature, Scenario};
use ackclock_net::routing::ecmp;
use ackclock_units::Time;
use ackclock_units::param::Value as Setting;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

const TIME: &str = "limit_ns";
const PRODUCTS: &str = "limit_products";

/// Puts bytes in the place of all such limits.
pub(super) fn resolve(scenario: &mut Scenario, problems: &mut Problems) {
    let asks = |link: &Link, key: &str| {
        [&link.forward, &link.backward].iter().any(|side| side.queue.find(key).is_some())
    };
    let by_product = scenario.links.iter().position(|link| asks(link, PRODUCTS));
    if by_product.is_none() && !scenario.links.iter().any(|link| asks(link, TIME)) {
        return;
    }
    let unknown = match scenario.routing.kind.as_str() {
        "shortest-path" => None,
        ecmp::NAME if scenario.routing.optional_int("seed").is_some() => None,
        ecmp::NAME => Some("or fix the routes: `routing: {kind: ecmp, seed: 1}`"),
        _ => Some("or use `routing: shortest-path`"),
    };
    if let Some((link, instead)) = by_product.zip(unknown) {
        let fault = Fault::new("a multiple of the BDP needs routes that are known before the run")
            .hint(format!("`limit: 50 ms` says how long the buffer takes to drain; {instead}"));
        let path = Path::default().key("links").index(link).key("queue").key("limit");
        return problems.add(&path, &Value::Null, fault);
    }
    let none = || vec![[Time::ZERO; 2]; scenario.links.len()];
    let trips = by_product.map_or_else(none, |_| round_trips(scenario));
    // Links that were alike and have the same round trips stay one.
    let mut known: HashMap<(*const LinkNature, [Time; 2]), Arc<LinkNature>> = HashMap::new();
    let links = scenario.links.iter().zip(trips).map(|(link, trips)| {
        let nature = known.entry((Arc::as_ptr(&link.nature), trips)).or_insert_with(|| {
            let mut nature = LinkNature::clone(&link.nature);
            let [there, back] = trips;
            // Both directions of a half-duplex link share what is in front.
            in_bytes(&mut nature.forward, there);
            in_bytes(&mut nature.backward, if nature.half_duplex { there } else { back });
            Arc::new(nature)
        });
        Link { id: link.id.clone(), ends: link.ends, nature: Arc::clone(nature) }
    });
    scenario.links = links.collect();
}

fn in_bytes(side: &mut Direction, round_trip: Time) {
    for (key, value) in &mut side.queue.values {
        let (Setting::Int(amount), TIME | PRODUCTS) = (&*value, key.as_str()) else { continue };
        let ns = match key.as_str() {
            TIME => u128::from(*amount),
            _ => u128::from(*amount) * u128::from(round_trip.as_ns()) / 1000,
        };
        let bytes = (u128::from(side.rate_bps) * ns + 4_000_000_000) / 8_000_000_000;
        *value = Setting::Int(u64::try_from(bytes).unwrap_or(u64::MAX));
        *key = "limit_bytes".into();
    }
}
