//! Links: what holds for both directions, and what one direction has of its own.

use super::block::Block;
use super::memo::Memo;
use super::problems::{Fault, Path};
use super::scalar;
use super::walk::{Layer, Resolver};
use crate::tables::{CHANGE, DIRECTION, LINK};
use ackclock_units::param::Param;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A link after the walk. What was faulty is missing.
#[derive(Default)]
pub(super) struct LinkPart {
    pub id: Option<String>,
    pub between: Option<[String; 2]>,
    pub nature: Arc<Nature>,
}

/// What a link is like: all but its name and its ends.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Nature {
    /// What holds for both directions.
    pub whole: Block,
    /// Forward and backward.
    pub sides: [Block; 2],
    /// What happens to it, in order of time.
    pub changes: Vec<Block>,
}

/// Resolves the link at `path`; `defaults` are the layers below it. `known` remembers what links of
/// the same layers are like.
pub(super) fn resolve(
    resolver: &mut Resolver,
    map: &Map<String, Value>,
    path: &Path,
    defaults: &[Layer<'_>],
    known: &mut Memo<Nature>,
) -> LinkPart {
    resolver.check_keys(LINK, map, path, &[]);
    let own = Layer { map, path: path.clone(), reported: false };
    LinkPart {
        id: resolver.text(param("id"), &own, path),
        between: pair(resolver, map, path),
        nature: known
            .get(resolver, map, |resolver| Some(nature(resolver, own, defaults)))
            .expect("one"),
    }
}

fn nature(resolver: &mut Resolver, own: Layer<'_>, defaults: &[Layer<'_>]) -> Nature {
    let path = &own.path;
    let layers: Vec<Layer<'_>> =
        std::iter::once(own.clone()).chain(defaults.iter().cloned()).collect();
    let mut whole = Block::default();
    for name in ["duplex", "rounding"] {
        resolver.param(param(name), &layers, path, &mut whole);
    }
    let half = whole.word("duplex") == Some("half");

    let sides = ["forward", "backward"].map(|side| side_layer(resolver, &own, side, half));
    let sides = if sides.iter().all(Option::is_none) {
        let both = resolver.resolve(DIRECTION, &layers, path);
        [both.clone(), both]
    } else {
        // The faults of the link's own values are reported once, not for each direction.
        let partial = std::mem::replace(&mut resolver.partial, true);
        resolver.resolve(DIRECTION, &layers, path);
        resolver.partial = partial;
        sides.map(|side| {
            let side = side.into_iter();
            let reported = layers.iter().map(|layer| Layer { reported: true, ..layer.clone() });
            let layers: Vec<Layer<'_>> = side.chain(reported).collect();
            resolver.resolve(DIRECTION, &layers, path)
        })
    };
    let changes = changes(resolver, &own, half);
    rates(resolver, &own, &whole, &sides, &changes);
    Nature { whole, sides, changes }
}

/// Checks that nothing else speaks about a rate that changes by a rule.
fn rates(
    resolver: &mut Resolver,
    own: &Layer<'_>,
    whole: &Block,
    sides: &[Block; 2],
    changes: &[Block],
) {
    let Some(kind) = sides.iter().find_map(|side| side.block("rate")?.kind()) else { return };
    if whole.word("rounding") == Some("double") {
        let fault = Fault::new(format!("a rate of kind `{kind}` is kept exactly"))
            .allowed("carried")
            .hint("leave `rounding` out");
        resolver.problems.add(&own.path.key("rounding"), &Value::from("double"), fault);
    }
    if let Some(place) = changes.iter().position(|change| change.int("rate").is_some()) {
        let fault = Fault::new(format!("the rate changes by a rule of kind `{kind}` already"))
            .hint(
                "put all rates into a table: `rate: {kind: table, steps: [[0 s, 10 Mbps], ...]}`",
            );
        let path = own.path.key("changes").index(place).key("rate");
        resolver.problems.add(&path, &Value::Null, fault);
    }
}

/// What happens to a link in the course of the run, in order of time.
fn changes(resolver: &mut Resolver, link: &Layer<'_>, half: bool) -> Vec<Block> {
    let mut all = Vec::new();
    let Some(value) = link.map.get("changes") else { return all };
    let place = link.path.key("changes");
    let hint = "for example `changes: [{at: 10 s, state: down}]`";
    let Value::Array(items) = value else {
        resolver.problems.add(
            &place,
            value,
            scalar::wrong_type(param("changes"), value).hint(hint),
        );
        return all;
    };
    for (index, item) in items.iter().enumerate() {
        let path = place.index(index);
        let Value::Object(map) = item else {
            let message = format!("a mapping is needed, not {}", scalar::found(item));
            resolver.problems.add(&path, item, Fault::new(message).hint(hint));
            continue;
        };
        let layer = [Layer { map, path: path.clone(), reported: false }];
        resolver.check_keys(CHANGE, map, &path, &layer);
        let change = resolver.resolve(CHANGE, &layer, &path);
        if ["state", "rate", "delay"].iter().all(|key| !map.contains_key(*key)) {
            let fault = Fault::new("nothing changes").allowed("state, rate, delay").hint(hint);
            resolver.problems.add(&path, item, fault);
        }
        if half && change.word("direction").is_some_and(|way| way != "both") {
            let fault = Fault::new("a half-duplex link has one transmitter for both directions")
                .hint("leave `direction` out");
            resolver.problems.add(&path.key("direction"), &map["direction"], fault);
        }
        all.push(change);
    }
    all.sort_by_key(|change| change.int("at"));
    all
}

fn param(name: &str) -> &'static Param {
    LINK.iter().find(|param| param.name == name).expect("a parameter of links")
}

/// The two names of a link's nodes.
fn pair(resolver: &mut Resolver, map: &Map<String, Value>, path: &Path) -> Option<[String; 2]> {
    let Some(value) = map.get("between") else {
        resolver.missing(param("between"), path);
        return None;
    };
    let place = path.key("between");
    let hint = "for example `between: [H1, R1]`";
    let Value::Array(names) = value else {
        let fault = scalar::wrong_type(param("between"), value).hint(hint);
        resolver.problems.add(&place, value, fault);
        return None;
    };
    if names.len() != 2 {
        let message = format!("a link has two ends, not {}", names.len());
        resolver.problems.add(&place, value, Fault::new(message).hint(hint));
        return None;
    }
    let [one, other] = [0, 1].map(|index| match scalar::name(&names[index]) {
        Ok(name) => Some(name.to_owned()),
        Err(fault) => {
            resolver.problems.add(&place.index(index), &names[index], fault);
            None
        }
    });
    Some([one?, other?])
}

/// What a link says about one of its directions.
fn side_layer<'d>(
    resolver: &mut Resolver,
    own: &Layer<'d>,
    side: &str,
    half: bool,
) -> Option<Layer<'d>> {
    let layer = resolver.inner_layers(param(side), std::slice::from_ref(own)).pop()?;
    if half {
        let fault =
            Fault::new("a half-duplex link has one transmitter and one queue for both ways")
                .hint(format!("leave `{side}` out, or write `duplex: full`"));
        resolver.problems.add(&layer.path, &own.map[side], fault);
        return None;
    }
    resolver.check_keys(DIRECTION, layer.map, &layer.path, &[]);
    Some(layer)
}
