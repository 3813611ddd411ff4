//! Changes of links after the end of the run.

use super::super::block::Setting;
use super::super::problems::{Fault, Path};
use super::super::scalar;
use super::Findings;
use crate::model::Scenario;
use crate::tables::CHANGE;
use ackclock_units::quantity::Quantity;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings<'_, '_>) {
    let latest = scenario.stop.at_latest;
    let end = Quantity::Time(latest.as_ns());
    let at = CHANGE.iter().find(|param| param.name == "at").expect("a parameter of changes");
    for (index, link) in scenario.links.iter().enumerate() {
        if link.changes.iter().all(|change| change.at < latest) {
            continue;
        }
        // In the order in which they were written.
        let element = findings.document.lists.get("links").map(|links| links.get(index));
        let written = element.as_ref().and_then(|element| element.get("changes")?.as_array());
        let path = Path::default().key("links").index(index).key("changes");
        for (place, value) in written.into_iter().flatten().enumerate() {
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
