//! Chain: routers in a row between senders and receivers, for paths whose links differ.

use super::{ACCESS, EGRESS, Plan, block};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "chain",
    summary: help(
        "Routers `R1`, ... in a row, hosts `S1`, ... at the first and `D1`, ... at the last.",
    ),
    references: &[],
    params: &[
        Param::required("routers", Kind::Count, "Routers.").at_least("1").at_most("100"),
        Param::new("leaves", Kind::Count, "1", "Hosts at each end.")
            .at_least("1")
            .at_most("100000"),
        ACCESS,
        block("hop", "Links `hop1`, ... from each router to the next."),
        EGRESS,
    ],
    ..Entry::BLANK
};

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let routers = fitting(chosen.int("routers"));
    let leaves = fitting(chosen.int("leaves"));
    let mut plan = Plan::default();
    plan.add_hosts("S", leaves);
    plan.add_hosts("D", leaves);
    plan.add_routers(routers);
    plan.add_senders(leaves);
    let row = |i| [format!("R{i}"), format!("R{}", i + 1)];
    plan.add_links("hop", routers - 1, &["hop"], row);
    plan.add_receivers(leaves);
    plan
}
