//! Short forms of networks: a word and a few numbers in place of hosts, routers and links.
//!
//! A shape only says which nodes and links there are and what they are called. What a link is like is
//! said by the blocks of the short form (`access`, `bottleneck`, ...), which the document puts in.
//!
//! To add one: a new file with an [`Entry`] and `plan`, its entry and its arm here.

mod chain;
mod dumbbell;
mod fat_tree;
mod leaf_spine;
mod parking_lot;
mod star;

use crate::tables::{LINK_OF_SHAPE, MOST_ELEMENTS};
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param};

/// Shapes that a scenario can name.
pub static ENTRIES: &[&Entry] = &[
    &dumbbell::ENTRY,
    &parking_lot::ENTRY,
    &chain::ENTRY,
    &star::ENTRY,
    &leaf_spine::ENTRY,
    &fat_tree::ENTRY,
];

/// The nodes and links of a shape, in the order in which they come in the scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Names of routers.
    pub routers: Vec<String>,
    /// Links.
    pub links: Vec<PlannedLink>,
}

/// A link of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLink {
    /// Its name.
    pub id: String,
    /// Its nodes; forward is from the first to the second.
    pub between: [String; 2],
    /// The blocks that say what it is like; the first that has a value wins.
    pub blocks: &'static [&'static str],
    /// Its place among the links of the first block, from 0: it takes this value of lists.
    pub place: usize,
}

/// Short forms in which several paths are as short as each other.
pub(crate) static WITH_EQUAL_PATHS: [&Entry; 2] = [&leaf_spine::ENTRY, &fat_tree::ENTRY];

/// The plan of a short form with these numbers.
pub fn plan(chosen: &Chosen) -> Plan {
    match chosen.kind.as_str() {
        "dumbbell" => dumbbell::plan(chosen),
        "parking-lot" => parking_lot::plan(chosen),
        "chain" => chain::plan(chosen),
        "star" => star::plan(chosen),
        "leaf-spine" => leaf_spine::plan(chosen),
        "fat-tree" => fat_tree::plan(chosen),
        other => panic!("no shape is named `{other}`"),
    }
}

impl Plan {
    /// Adds `PREFIX1` to `PREFIXn` to the hosts.
    fn add_hosts(&mut self, prefix: &str, count: usize) {
        self.hosts.extend((1..=count).map(|number| format!("{prefix}{number}")));
    }

    /// Adds routers `R1` to `Rn`.
    fn add_routers(&mut self, count: usize) {
        self.add_named_routers("R", count);
    }

    /// Adds routers `PREFIX1` to `PREFIXn`.
    fn add_named_routers(&mut self, prefix: &str, count: usize) {
        self.routers.extend((1..=count).map(|number| format!("{prefix}{number}")));
    }

    /// Adds links `NAME1` to `NAMEn`; `between` gives the nodes for a number from 1.
    fn add_links(
        &mut self,
        name: &str,
        count: usize,
        blocks: &'static [&'static str],
        between: impl Fn(usize) -> [String; 2],
    ) {
        self.links.extend((1..=count).map(|number| PlannedLink {
            id: format!("{name}{number}"),
            between: between(number),
            blocks,
            place: number - 1,
        }));
    }

    /// Adds links `access1` to `accessn` from the senders `S1` to `Sn` to the first router.
    fn add_senders(&mut self, count: usize) {
        self.add_links("access", count, &["access"], |i| [format!("S{i}"), "R1".into()]);
    }

    /// Adds links `egress1` to `egressn` from the last router to the receivers `D1` to `Dn`.
    fn add_receivers(&mut self, count: usize) {
        let last = self.routers.last().expect("routers come first").clone();
        self.add_links("egress", count, &["egress", "access"], |i| [last.clone(), format!("D{i}")]);
    }
}

const fn block(name: &'static str, summary: &'static str) -> Param {
    Param::optional(name, Kind::ObjectEach(LINK_OF_SHAPE), "", summary)
}

/// Refuses numbers that make more links than a scenario can have.
fn too_large(param: &'static str, links: u64) -> Result<(), Clash> {
    if links <= MOST_ELEMENTS as u64 {
        return Ok(());
    }
    let message = format!("{links} links are too many");
    Err(Clash { param, message, hint: Some(format!("at most {MOST_ELEMENTS}")) })
}

const FABRIC_ACCESS: Param =
    block("access", "Links `access1`, ... from `H1`, ... to their routers.");
const ACCESS: Param = block("access", "Links `access1`, ... from `S1`, ... to the first router.");
const EGRESS: Param = block(
    "egress",
    "Links `egress1`, ... from the last router to `D1`, ...; settings not given are as in `access`.",
);

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::param::Value;
    use std::collections::{BTreeMap, BTreeSet};

    fn planned(kind: &str, counts: &[(&str, u64)]) -> Plan {
        let values = counts.iter().map(|(name, n)| ((*name).to_owned(), Value::Int(*n))).collect();
        plan(&Chosen { kind: kind.into(), values })
    }

    /// `id a-b` of all links.
    fn drawn(plan: &Plan) -> Vec<String> {
        let one = |link: &PlannedLink| {
            format!("{} {}-{} {}", link.id, link.between[0], link.between[1], link.blocks[0])
        };
        plan.links.iter().map(one).collect()
    }

    #[test]
    fn a_dumbbell() {
        let plan = planned("dumbbell", &[("leaves", 2)]);
        assert_eq!(plan.hosts, ["S1", "S2", "D1", "D2"]);
        assert_eq!(plan.routers, ["R1", "R2"]);
        assert_eq!(
            drawn(&plan),
            [
                "access1 S1-R1 access",
                "access2 S2-R1 access",
                "bottleneck R1-R2 bottleneck",
                "egress1 R2-D1 egress",
                "egress2 R2-D2 egress",
            ]
        );
    }

    #[test]
    fn a_parking_lot() {
        let plan = planned("parking-lot", &[("bottlenecks", 2), ("leaves", 1)]);
        assert_eq!(plan.hosts, ["S1", "D1", "X1", "X2", "Y1", "Y2"]);
        assert_eq!(plan.routers, ["R1", "R2", "R3"]);
        assert_eq!(
            drawn(&plan),
            [
                "access1 S1-R1 access",
                "bottleneck1 R1-R2 bottleneck",
                "bottleneck2 R2-R3 bottleneck",
                "egress1 R3-D1 egress",
                "entry1 X1-R1 cross",
                "entry2 X2-R2 cross",
                "exit1 R2-Y1 cross",
                "exit2 R3-Y2 cross",
            ]
        );
    }

    #[test]
    fn a_chain() {
        let plan = planned("chain", &[("routers", 3), ("leaves", 1)]);
        assert_eq!(plan.hosts, ["S1", "D1"]);
        assert_eq!(
            drawn(&plan),
            ["access1 S1-R1 access", "hop1 R1-R2 hop", "hop2 R2-R3 hop", "egress1 R3-D1 egress"]
        );
        let short = planned("chain", &[("routers", 1), ("leaves", 2)]);
        assert_eq!(drawn(&short)[2], "egress1 R1-D1 egress");
    }

    #[test]
    fn a_star() {
        let plan = planned("star", &[("leaves", 3)]);
        assert_eq!(plan.hosts, ["H1", "H2", "H3"]);
        assert_eq!(drawn(&plan)[2], "access3 H3-R1 access");
        assert_eq!(plan.links.iter().map(|link| link.place).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn a_leaf_spine() {
        let plan = planned("leaf-spine", &[("leaves", 2), ("spines", 2), ("hosts", 1)]);
        assert_eq!(plan.hosts, ["H1", "H2"]);
        assert_eq!(plan.routers, ["leaf1", "leaf2", "spine1", "spine2"]);
        assert_eq!(
            drawn(&plan),
            [
                "access1 H1-leaf1 access",
                "access2 H2-leaf2 access",
                "uplink1 leaf1-spine1 uplink",
                "uplink2 leaf1-spine2 uplink",
                "uplink3 leaf2-spine1 uplink",
                "uplink4 leaf2-spine2 uplink",
            ]
        );
    }

    /// Sizes as in the paper; each router has as many links as it has ports, and every two hosts in different pods
    /// as many shortest paths as there are core routers.
    #[test]
    fn a_fat_tree() {
        for ports in [2_usize, 4, 6] {
            let plan = planned("fat-tree", &[("ports", ports as u64)]);
            let half = ports / 2;
            assert_eq!(plan.hosts.len(), 2 * half * half * half);
            assert_eq!(plan.routers.len(), 5 * half * half);
            let mut links: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for link in &plan.links {
                let [a, b] = &link.between;
                links.entry(a).or_default().push(b);
                links.entry(b).or_default().push(a);
            }
            for router in &plan.routers {
                let to: BTreeSet<&str> = links[router.as_str()].iter().copied().collect();
                assert_eq!(to.len(), ports, "{router}");
            }
            // Core routers have one link into each pod.
            for core in plan.routers.iter().filter(|name| name.starts_with("core")) {
                let pod = |agg: &str| (agg[3..].parse::<usize>().unwrap() - 1) / half;
                let pods: BTreeSet<usize> =
                    links[core.as_str()].iter().map(|agg| pod(agg)).collect();
                assert_eq!(pods.len(), ports);
            }
        }
    }

    /// Every link can be described: its blocks are parameters, and every block is of some use.
    #[test]
    fn blocks_and_parameters_are_the_same() {
        for entry in ENTRIES {
            // An even number, which all shapes allow.
            let counts: Vec<(&str, u64)> = entry
                .params
                .iter()
                .filter(|param| matches!(param.kind, Kind::Count))
                .map(|param| (param.name, 4))
                .collect();
            let plan = planned(entry.name, &counts);
            let used: BTreeSet<&str> =
                plan.links.iter().flat_map(|link| link.blocks).copied().collect();
            let blocks = entry.params.iter().filter(|p| matches!(p.kind, Kind::ObjectEach(_)));
            assert_eq!(used, blocks.map(|param| param.name).collect(), "{}", entry.name);
            let names: BTreeSet<&str> = plan.links.iter().map(|link| link.id.as_str()).collect();
            assert_eq!(names.len(), plan.links.len());
            let nodes: BTreeSet<&String> = plan.hosts.iter().chain(&plan.routers).collect();
            assert_eq!(nodes.len(), plan.hosts.len() + plan.routers.len());
            assert!(plan.links.iter().flat_map(|link| &link.between).all(|n| nodes.contains(n)));
        }
    }
}
