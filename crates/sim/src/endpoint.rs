//! One end of a flow, driven by hand instead of by a network.

use crate::compile::common;
use crate::model::{Scenario, Transport};
pub use ackclock_tcp::cc::CongestionState;
use ackclock_tcp::modern::{ENTRY, Modern};
pub use ackclock_tcp::modern::{Endpoint, Form, Info, Injected, Packet};
pub use ackclock_tcp::sack::Note;
pub use ackclock_tcp::segment::Flags;

/// One end of the first flow of a scenario; none if its family of senders cannot be driven by hand. What the
/// scenario says of the network and of the data does not matter.
pub fn endpoint(scenario: &Scenario) -> Option<Endpoint> {
    let flow = scenario.flows.first()?;
    let Transport::Tcp(tcp) = &flow.transport else { return None };
    let mut common = common(flow, tcp, scenario.seed);
    common.data.given = None;
    (tcp.sender.kind == ENTRY.name).then(|| Modern::new(&tcp.sender, common).into_endpoint())
}
