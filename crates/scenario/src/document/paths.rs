//! Explicit paths of flows: routers that exist, with a link from each node to the next.

use super::flows::{FlowPart, ROUTERS};
use super::names::Names;
use super::problems::{Fault, Path, Problems};
use crate::model::Node;
use std::collections::HashSet;

/// The routers of each flow's data and ACKs, by index; reports those that do not exist, that come twice, and links that
/// are missing.
pub(super) fn resolve(
    flows: &[FlowPart],
    names: &Names<'_>,
    ends: &[Option<[Node; 2]>],
    pairs: &[Option<(usize, usize)>],
    dynamic: bool,
    problems: &mut Problems,
) -> Vec<[Option<Box<[usize]>>; 2]> {
    let given = |flow: &FlowPart| flow.routers.iter().any(Option::is_some);
    // Most scenarios have no such path; with a faulty link nobody knows which steps there are.
    let complete = ends.iter().all(Option::is_some);
    let steps: HashSet<[Node; 2]> = match flows.iter().any(given) && complete {
        true => ends.iter().flatten().flat_map(|&[a, b]| [[a, b], [b, a]]).collect(),
        false => HashSet::new(),
    };
    let mut paths = Vec::with_capacity(flows.len());
    for (index, flow) in flows.iter().enumerate() {
        let mut both = [None, None];
        for (way, key) in ROUTERS.into_iter().enumerate() {
            let Some(written) = &flow.routers[way] else { continue };
            let place = Path::default().key("flows").index(index).key(key);
            if dynamic {
                let fault = Fault::new("with distance-vector routing routers choose the path")
                    .hint("write `routing: shortest-path`, or leave the path out");
                problems.add(&place, &written.clone().into(), fault);
                continue;
            }
            let Some(routers) = names.routers_of(written, &place, problems) else { continue };
            let Some((from, to)) = pairs.get(index).copied().flatten().filter(|_| complete) else {
                continue;
            };
            let [first, last] = if way == 0 { [from, to] } else { [to, from] };
            let inner = routers.iter().map(|router| Node::Router(*router));
            let nodes: Vec<Node> =
                [Node::Host(first)].into_iter().chain(inner).chain([Node::Host(last)]).collect();
            let missing = nodes.windows(2).find(|step| !steps.contains(*step));
            if let Some(step) = missing {
                let [a, b] = [step[0], step[1]].map(|node| names.of(node));
                let fault = Fault::new(format!("no link leads from `{a}` to `{b}`"))
                    .hint("name the routers between the hosts of the flow, in order");
                problems.add(&place, &written.clone().into(), fault);
                continue;
            }
            both[way] = Some(routers.into());
        }
        paths.push(both);
    }
    paths
}
