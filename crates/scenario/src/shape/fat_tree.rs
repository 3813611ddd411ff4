//! Fat-tree: three tiers of switches that all have the same number of ports.
//!
//! Source: Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008,
//! section 2.2: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k/2 hosts at each edge switch.

use super::{FABRIC_ACCESS, Plan, block};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "fat-tree",
    summary: help(
        "Pods of routers `edge1`, ... and `agg1`, ..., below routers `core1`, ..., all with `ports` links; hosts `H1`, ... at the edge, ports^3/4 in all.",
    ),
    references: &[
        "Al-Fares, Loukissas, Vahdat, A scalable, commodity data center network architecture, SIGCOMM 2008",
    ],
    params: &[
        Param::required(
            "ports",
            Kind::Count,
            "Links of each router, an even number: 8 make 128 hosts, 32 make 8192; 110 make close to a million links, the most of a scenario.",
        )
        .at_least("2")
        .at_most("110"),
        FABRIC_ACCESS,
        block(
            "aggregate",
            "Links `aggregate1`, ... from each edge router to the aggregation routers of its pod; \
             settings not given are as in `access`.",
        ),
        block(
            "core",
            "Links `core1`, ... from each aggregation router to its core routers; settings not given \
             are as in `aggregate`, then as in `access`.",
        ),
    ],
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let ports = chosen.int("ports");
    if ports % 2 == 1 {
        let message = format!("{ports} is odd: half of the links of a router lead down, half up");
        let hint = Some(format!("write {} or {}", ports - 1, ports + 1));
        return Err(Clash { param: "ports", message, hint });
    }
    Ok(())
}

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let ports: usize = fitting(chosen.int("ports"));
    let half = ports / 2;
    // In each pod, and at each edge router.
    let edges = ports * half;
    let mut plan = Plan::default();
    plan.add_hosts("H", edges * half);
    plan.add_named_routers("edge", edges);
    plan.add_named_routers("agg", edges);
    plan.add_named_routers("core", half * half);
    let lower = |i: usize| (i - 1) / half;
    plan.add_links("access", edges * half, &["access"], |i| {
        [format!("H{i}"), format!("edge{}", 1 + lower(i))]
    });
    plan.add_links("aggregate", edges * half, &["aggregate", "access"], |i| {
        let pod = lower(i) / half;
        [format!("edge{}", 1 + lower(i)), format!("agg{}", 1 + pod * half + (i - 1) % half)]
    });
    // The routers of a place in all pods share the core routers of that place.
    plan.add_links("core", edges * half, &["core", "aggregate", "access"], |i| {
        let place = lower(i) % half;
        [format!("agg{}", 1 + lower(i)), format!("core{}", 1 + place * half + (i - 1) % half)]
    });
    plan
}
