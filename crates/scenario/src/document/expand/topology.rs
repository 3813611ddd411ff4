//! A network from its short form.

use super::super::block::Block;
use super::super::elements::Lists;
use super::super::origins::{LinkBlock, Origins};
use super::super::param;
use super::super::problems::{Fault, Path};
use super::super::walk::{Layer, Resolver};
use crate::shape::{self, Plan, PlannedLink};
use crate::tables::LINK_OF_SHAPE;
use ackclock_units::param::{Entry, Kind, Param};
use serde_json::{Map, Value};
use std::rc::Rc;
use std::sync::LazyLock;

/// A network that can be written out.
pub(super) struct Network<'d> {
    plan: Plan,
    /// The blocks of its links, with the values of their keys.
    blocks: Vec<(Rc<LinkBlock>, Vec<&'d Value>)>,
    /// For each link its block.
    block_of: Vec<usize>,
}

/// The blocks of a short form by name.
type Blocks<'d> = Vec<(&'static str, &'d Map<String, Value>)>;

impl<'d> Network<'d> {
    /// Makes the network the first of the lists, but for lists in whose place something else stands,
    /// which is reported later.
    pub fn put_into(self, root: &Map<String, Value>, lists: &mut Lists<'d>, origins: &mut Origins) {
        let free = |list: &str| root.get(list).is_none_or(Value::is_array);
        let network = Rc::new(self);
        let plan = &network.plan;
        for (kind, list, count) in
            [(0, "hosts", plan.hosts.len()), (1, "routers", plan.routers.len())]
        {
            if free(list) {
                origins.nodes[kind] = count;
                let network = Rc::clone(&network);
                let made = move |index: usize| {
                    let plan = &network.plan;
                    [&plan.hosts, &plan.routers][kind][index].as_str().into()
                };
                lists.entry(list).or_default().add_made(count, made);
            }
        }
        if free("links") {
            let block = |(link, &block): (&PlannedLink, &usize)| {
                (Rc::clone(&network.blocks[block].0), link.place)
            };
            origins.links = plan.links.iter().zip(&network.block_of).map(block).collect();
            let count = plan.links.len();
            lists.entry("links").or_default().add_made(count, move |index| network.link(index));
        }
    }

    fn link(&self, index: usize) -> Value {
        let link = &self.plan.links[index];
        let (block, values) = &self.blocks[self.block_of[index]];
        let mut map = Map::with_capacity(values.len() + 2);
        map.insert("id".into(), link.id.as_str().into());
        map.insert("between".into(), link.between.to_vec().into());
        for ((key, _, each), value) in block.keys.iter().zip(values) {
            let value = match each {
                Some(count) => &value[link.place % count],
                None => value,
            };
            map.insert(key.clone(), value.clone());
        }
        Value::Object(map)
    }
}

/// The network of the document's topology; none if it cannot be written out.
pub(super) fn network<'d>(
    resolver: &mut Resolver,
    root: &'d Map<String, Value>,
) -> Option<Network<'d>> {
    let own = Layer { map: root, path: Path::default(), reported: false };
    let here = Path::default().key("topology");
    let (entry, said) = resolver.chosen(param("topology"), &own)?;
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    let said = said.unwrap_or(Layer { map: &EMPTY, path: here.clone(), reported: false });
    let faults = resolver.problems.count();
    let mut numbers = Block::of(entry);
    for param in entry.params.iter().filter(|param| matches!(param.kind, Kind::Count)) {
        resolver.param(param, std::slice::from_ref(&said), &here, &mut numbers);
    }
    if resolver.problems.count() == faults {
        resolver.check_clash(entry, &numbers, &here);
    }
    let numbers_are_good = resolver.problems.count() == faults;
    let blocks = blocks(resolver, entry, &said)?;
    if !numbers_are_good {
        return None;
    }
    let plan = shape::plan(&numbers.chosen());
    let mut known: Vec<(Rc<LinkBlock>, Vec<&Value>)> = Vec::new();
    let mut block_of = Vec::with_capacity(plan.links.len());
    for link in &plan.links {
        let name = link.blocks[0];
        let index =
            known.iter().position(|(block, _)| block.names == link.blocks).unwrap_or_else(|| {
                let size = plan.links.iter().filter(|other| other.blocks[0] == name);
                let size = size.map(|other| other.place + 1).max().unwrap_or(0);
                known.push(block(resolver, link.blocks, &blocks, size, &here));
                known.len() - 1
            });
        block_of.push(index);
    }
    Some(Network { plan, blocks: known, block_of })
}

/// The blocks that the short form holds; reports unknown keys, and what is not a mapping: then there are none.
fn blocks<'d>(
    resolver: &mut Resolver,
    entry: &'static Entry,
    said: &Layer<'d>,
) -> Option<Blocks<'d>> {
    let mut blocks = Vec::new();
    let mut good = true;
    for param in entry.params.iter().filter(|param| matches!(param.kind, Kind::ObjectEach(_))) {
        for layer in resolver.inner_layers(param, std::slice::from_ref(said)) {
            resolver.check_keys(LINK_OF_SHAPE, layer.map, &layer.path, &[]);
            blocks.push((param.name, layer.map));
        }
        good &= said.map.get(param.name).is_none_or(Value::is_object);
    }
    good.then_some(blocks)
}

/// What `size` links have in common, and the values of its keys: the first block that says something
/// wins.
fn block<'d>(
    resolver: &mut Resolver,
    names: &'static [&'static str],
    blocks: &Blocks<'d>,
    size: usize,
    here: &Path,
) -> (Rc<LinkBlock>, Vec<&'d Value>) {
    let mut block = LinkBlock { names, keys: Vec::new() };
    let mut values: Vec<&Value> = Vec::new();
    for name in names {
        let Some((name, map)) = blocks.iter().find(|(known, _)| known == name) else { continue };
        for (key, value) in *map {
            let param = LINK_OF_SHAPE.iter().find(|param| param.name == key);
            let Some(param) = param else { continue };
            if block.keys.iter().any(|(known, ..)| known == key) {
                continue;
            }
            let each = each(param, value);
            if let Some(count) = each {
                // A list that is inherited was made for others, where its faults are reported.
                let fault = length(count, size).filter(|_| *name == names[0]);
                let bad = count == 0 || fault.is_some();
                if let Some(fault) = fault {
                    resolver.problems.add(&here.key(name).key(key), value, fault);
                }
                if bad {
                    continue;
                }
            }
            block.keys.push((key.clone(), name, each));
            values.push(value);
        }
    }
    (Rc::new(block), values)
}

/// The number of values if there is one a link.
fn each(param: &Param, value: &Value) -> Option<usize> {
    let Value::Array(values) = value else { return None };
    let is_one_value = matches!(param.kind, Kind::ObjectList(_))
        && (values.is_empty() || !values.iter().all(Value::is_array));
    (!is_one_value).then_some(values.len())
}

fn length(count: usize, most: usize) -> Option<Fault> {
    let plural = if most == 1 { "" } else { "s" };
    let fault = match count {
        0 => Fault::new("a list without values"),
        _ if count > most => Fault::new(format!("{count} values for {most} link{plural}")),
        _ => return None,
    };
    Some(
        fault
            .allowed(format!("one value, or a list with one a link, at most {most}"))
            .hint("a shorter list is repeated"),
    )
}
