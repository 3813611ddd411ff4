//! Star: hosts round one router, each sending or receiving, as behind one switch.

use super::{Plan, block};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "star",
    summary: help("Hosts `H1`, ... around one router `R1`."),
    references: &[],
    params: &[
        Param::required("leaves", Kind::Count, "Hosts.").at_least("2").at_most("100000"),
        block("access", "Links `access1`, ... from `H1`, ... to `R1`."),
    ],
    ..Entry::BLANK
};

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let leaves = fitting(chosen.int("leaves"));
    let mut plan = Plan::default();
    plan.add_hosts("H", leaves);
    plan.add_routers(1);
    plan.add_links("access", leaves, &["access"], |i| [format!("H{i}"), "R1".into()]);
    plan
}
