//! Leaf-spine: hosts at leaf switches, each of which has a link to every spine switch.
//!
//! Source: the two-tier folded Clos network of data centres, for example Alizadeh et al., "CONGA: distributed
//! congestion-aware load balancing for datacenters", SIGCOMM 2014, section 2.

use super::{FABRIC_ACCESS, Plan, block, too_large};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "leaf-spine",
    summary: help(
        "Routers `leaf1`, ... with hosts `H1`, ..., the same number at each, and a link from each leaf to each of the routers `spine1`, ...",
    ),
    references: &["Alizadeh et al., CONGA, SIGCOMM 2014, section 2"],
    params: &[
        Param::required("leaves", Kind::Count, "Leaf routers.").at_least("1").at_most("10000"),
        Param::required("spines", Kind::Count, "Spine routers.").at_least("1").at_most("10000"),
        Param::required("hosts", Kind::Count, "Hosts at each leaf.").at_least("1").at_most("10000"),
        FABRIC_ACCESS,
        block(
            "uplink",
            "Links `uplink1`, ... from `leaf1` to each spine, then from `leaf2`, and so on; settings \
             not given are as in `access`.",
        ),
    ],
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let [leaves, spines, hosts] = ["leaves", "spines", "hosts"].map(|name| chosen.int(name));
    too_large("leaves", leaves * (spines + hosts))
}

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let [leaves, spines, hosts] =
        ["leaves", "spines", "hosts"].map(|name| fitting::<_, usize>(chosen.int(name)));
    let mut plan = Plan::default();
    plan.add_hosts("H", leaves * hosts);
    plan.add_named_routers("leaf", leaves);
    plan.add_named_routers("spine", spines);
    plan.add_links("access", leaves * hosts, &["access"], |i| {
        [format!("H{i}"), format!("leaf{}", 1 + (i - 1) / hosts)]
    });
    plan.add_links("uplink", leaves * spines, &["uplink", "access"], |i| {
        [format!("leaf{}", 1 + (i - 1) / spines), format!("spine{}", 1 + (i - 1) % spines)]
    });
    plan
}
