//! Dumbbell: senders on one side, receivers on the other, one link between their routers.
//!
//! Source: the usual name and use in the literature on congestion control, for example Floyd and
//! Kohler, "Internet research needs better models", HotNets 2002.

use super::{ACCESS, EGRESS, Plan, PlannedLink, block};
use crate::fitting::fitting;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "dumbbell",
    summary: help(
        "Hosts `S1`, ... at router `R1`, hosts `D1`, ... at router `R2`, one link in between.",
    ),
    references: &["Floyd and Kohler, Internet research needs better models, HotNets 2002"],
    params: &[
        Param::required("leaves", Kind::Count, "Hosts on each side.")
            .at_least("1")
            .at_most("100000"),
        ACCESS,
        block("bottleneck", "The link `bottleneck` from `R1` to `R2`."),
        EGRESS,
    ],
    ..Entry::BLANK
};

pub(super) fn plan(chosen: &Chosen) -> Plan {
    let leaves = fitting(chosen.int("leaves"));
    let mut plan = Plan::default();
    plan.add_hosts("S", leaves);
    plan.add_hosts("D", leaves);
    plan.add_routers(2);
    plan.add_senders(leaves);
    plan.links.push(PlannedLink {
        id: "bottleneck".into(),
        between: ["R1".into(), "R2".into()],
        blocks: &["bottleneck"],
        place: 0,
    });
    plan.add_receivers(leaves);
    plan
}
