//! Changes of links after the end of the run, and links that go down without the routers' notice.

use super::super::block::Setting;
use super::super::problems::{Fault, Path};
use super::super::scalar;
use super::Findings;
use crate::model::{Node, Scenario};
use crate::tables::CHANGE;
use ackclock_units::quantity::Quantity;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings<'_, '_>) {
    let latest = scenario.stop.at_latest;
    let end = Quantity::Time(latest.as_ns());
    let at = CHANGE.iter().find(|param| param.name == "at").expect("a parameter of changes");
    for (index, link) in scenario.links.iter().enumerate() {
        let unnoticed = scenario.routing.kind == "distance-vector"
            && link.ends.iter().all(|end| matches!(end, Node::Router(_)));
        if link
            .changes
            .iter()
            .all(|change| change.at < latest && (change.up.is_none() || !unnoticed))
        {
            continue;
        }
        // In the order in which they were written.
        let element = findings.document.lists.get("links").map(|links| links.get(index));
        let written = element.as_ref().and_then(|element| element.get("changes")?.as_array());
        let path = Path::default().key("links").index(index).key("changes");
        for (place, value) in written.into_iter().flatten().enumerate() {
            if unnoticed && let Some(state) = value.get("state").filter(|state| *state == "down") {
                let why = Fault::new("routers do not notice that a link is down")
                    .hint("its queueing delay counts as zero, and packets routed over it, ACKs too, may wait for good");
                findings.note((path.index(place).key("state"), state.clone()), Some(why));
            }
            let Some(value) = value.get("at") else { continue };
            let Ok(Setting::Quantity(time)) = scalar::read(at, value) else { continue };
            if time.amount() >= latest.as_ns() {
                let why = Fault::new(format!("changes at {time}, when the run is over ({end})"));
                let why = why.hint("a later `stop.at_latest`");
                findings.note((path.index(place).key("at"), value.clone()), Some(why));
            }
        }
    }
}
