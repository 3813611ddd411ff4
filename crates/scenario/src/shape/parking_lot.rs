//! Parking lot: bottlenecks in a row; long flows pass all of them, short ones one each.
//!
//! Source: the multi-hop topology of Floyd, "Connections with multiple congested gateways in
//! packet-switched networks part 1: one-way traffic", ACM CCR 21(5), 1991.

use super::{ACCESS, EGRESS, Plan, block};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "parking-lot",
    summary: help(
        "Routers `R1`, ... in a row; hosts `S1`, ... at the first and `D1`, ... at the last; for \
              each bottleneck a host `X1`, ... before it and a host `Y1`, ... behind it.",
    ),
    references: &[
        "Floyd, Connections with multiple congested gateways in packet-switched networks, part 1, \
         ACM CCR 21(5), 1991",
    ],
    params: &[
        Param::required("bottlenecks", Kind::Count, "Bottlenecks; there is one router more.")
            .at_least("1")
            .at_most("100"),
        Param::new("leaves", Kind::Count, "1", "Hosts at each end.")
            .at_least("1")
            .at_most("100000"),
        ACCESS,
        block("bottleneck", "Links `bottleneck1`, ... from each router to the next."),
        EGRESS,
        block(
            "cross",
            "Links `entry1`, ... from `X1`, ... to the router before a bottleneck, and `exit1`, ... \
             from the router behind it to `Y1`, ...; settings not given are as in `access`.",
        ),
    ],
    ..Entry::BLANK
};

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let bottlenecks = fitting(chosen.int("bottlenecks"));
    let leaves = fitting(chosen.int("leaves"));
    let mut plan = Plan::default();
    plan.add_hosts("S", leaves);
    plan.add_hosts("D", leaves);
    plan.add_hosts("X", bottlenecks);
    plan.add_hosts("Y", bottlenecks);
    plan.add_routers(bottlenecks + 1);
    plan.add_senders(leaves);
    let row = |i| [format!("R{i}"), format!("R{}", i + 1)];
    plan.add_links("bottleneck", bottlenecks, &["bottleneck"], row);
    plan.add_receivers(leaves);
    let blocks = &["cross", "access"];
    plan.add_links("entry", bottlenecks, blocks, |i| [format!("X{i}"), format!("R{i}")]);
    plan.add_links("exit", bottlenecks, blocks, |i| [format!("R{}", i + 1), format!("Y{i}")]);
    plan
}
