//! Static shortest paths: least propagation delay, then fewest links, then earliest links of the file.
//!
//! Source: E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959. One search per
//! router that a destination is attached to, over routers only.

use super::graph::{Attachment, Graph, Node};
use crate::hop::Hop;
use ackclock_units::param::{Entry, help};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub(super) static ENTRY: Entry = Entry {
    name: "shortest-path",
    summary: help("Static: smallest propagation delay, then fewest links, then file order."),
    references: &["Dijkstra 1959"],
    params: &[],
    ..Entry::BLANK
};

/// (delay in ns, links).
type Distance = (u64, u32);

/// Finds paths, and remembers the searches it has made.
#[derive(Debug)]
pub struct ShortestPaths<'a> {
    graph: &'a Graph,
    /// Attachments between routers only, by router.
    between: Vec<Vec<Attachment>>,
    /// Routers with a channel into a router, and its delay in ns.
    into: Vec<Vec<(u32, u64)>>,
    /// Shortest channel from a router to a host on one of its links.
    last: BTreeMap<(u32, u32), Attachment>,
    /// Distances to a router from all routers that reach it, by router.
    searches: BTreeMap<u32, Vec<(u32, Distance)>>,
    /// Room for a search: the least distance of each router that is known so far.
    known: Vec<Option<Distance>>,
}

impl<'a> ShortestPaths<'a> {
    /// A finder on this graph.
    pub fn new(graph: &'a Graph) -> Self {
        let routers = graph.routers.len();
        let mut between = vec![Vec::new(); routers];
        let mut into = vec![Vec::new(); routers];
        let mut last: BTreeMap<(u32, u32), Attachment> = BTreeMap::new();
        for (from, attachments) in graph.routers.iter().enumerate() {
            for attachment in attachments {
                match attachment.to {
                    Node::Router(router) => {
                        between[from].push(*attachment);
                        into[router as usize].push((from as u32, attachment.delay.as_ns()));
                    }
                    Node::Host(host) => {
                        let best = last.entry((from as u32, host)).or_insert(*attachment);
                        if attachment.delay < best.delay {
                            *best = *attachment;
                        }
                    }
                }
            }
        }
        Self { graph, between, into, last, searches: BTreeMap::new(), known: vec![None; routers] }
    }

    /// The hops from one host to another, or nothing if there is no path.
    ///
    /// Each step takes the first link in file order among those on a least path.
    pub fn path(&mut self, from: u32, to: u32) -> Option<Vec<Hop>> {
        self.path_by(from, to, |_| 0)
    }

    /// The same where `choose` takes one of several links on least paths: it gets their number and answers with
    /// a place among them, in file order.
    pub fn path_by(
        &mut self,
        from: u32,
        to: u32,
        mut choose: impl FnMut(usize) -> usize,
    ) -> Option<Vec<Hop>> {
        // The doors of the destination: routers next to it, and their last step.
        let mut doors: Vec<(u32, Distance)> = Vec::new();
        for back in &self.graph.hosts[to as usize] {
            if let Node::Router(router) = back.to
                && let Some(last) = self.last.get(&(router, to))
            {
                doors.push((router, (last.delay.as_ns(), 1)));
            }
        }
        for (router, _) in &doors {
            self.search(*router);
        }
        let distance = |node: Node| -> Option<Distance> {
            match node {
                Node::Host(host) => (host == to).then_some((0, 0)),
                Node::Router(router) => doors
                    .iter()
                    .filter_map(|(door, last)| {
                        let search = &self.searches[door];
                        let place = search.binary_search_by_key(&router, |(at, _)| *at).ok()?;
                        let first = search[place].1;
                        Some((first.0 + last.0, first.1 + last.1))
                    })
                    .min(),
            }
        };
        let mut path = Vec::new();
        let mut node = Node::Host(from);
        let mut least: Vec<&Attachment> = Vec::new();
        while node != Node::Host(to) {
            let (attachments, last) = match node {
                Node::Host(host) => (&self.graph.hosts[host as usize], None),
                Node::Router(router) => {
                    (&self.between[router as usize], self.last.get(&(router, to)))
                }
            };
            let mut shortest = (u64::MAX, u32::MAX);
            least.clear();
            for out in last.into_iter().chain(attachments) {
                let Some(rest) = distance(out.to) else { continue };
                let total = (rest.0 + out.delay.as_ns(), rest.1 + 1);
                if total < shortest {
                    shortest = total;
                    least.clear();
                }
                if total == shortest {
                    least.push(out);
                }
            }
            let step = match least.as_slice() {
                [] => return None,
                [one] => one,
                several => several[choose(several.len())],
            };
            path.push(step.hop());
            node = step.to;
        }
        Some(path)
    }

    /// The hops over these routers in this order, by the first link in file order of each step; nothing where a link
    /// is missing.
    pub fn over(&self, from: u32, routers: &[u32], to: u32) -> Option<Vec<Hop>> {
        let mut node = Node::Host(from);
        let nodes = routers.iter().map(|router| Node::Router(*router)).chain([Node::Host(to)]);
        nodes
            .map(|next| {
                let attachments = match node {
                    Node::Host(host) => &self.graph.hosts[host as usize],
                    Node::Router(router) => &self.graph.routers[router as usize],
                };
                node = next;
                attachments.iter().find(|out| out.to == next).map(Attachment::hop)
            })
            .collect()
    }

    fn search(&mut self, target: u32) {
        if self.searches.contains_key(&target) {
            return;
        }
        let mut heap = BinaryHeap::from([Reverse(((0, 0), target))]);
        let mut found = Vec::new();
        self.known[target as usize] = Some((0, 0));
        while let Some(Reverse((distance, router))) = heap.pop() {
            if self.known[router as usize] != Some(distance) {
                continue;
            }
            found.push((router, distance));
            for &(from, delay) in &self.into[router as usize] {
                let further = (distance.0 + delay, distance.1 + 1);
                let known = &mut self.known[from as usize];
                if known.is_none_or(|known| further < known) {
                    *known = Some(further);
                    heap.push(Reverse((further, from)));
                }
            }
        }
        for (router, _) in &found {
            self.known[*router as usize] = None;
        }
        found.sort_unstable();
        self.searches.insert(target, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::Time;

    /// Hosts 0 and 1; routers in a diamond 0 - {1, 2} - 3, with these delays of the two ways.
    fn diamond(upper: u64, lower: u64) -> Graph {
        let mut graph = Graph::new(2, 4);
        let mut channel = 0;
        let mut link = |a: Node, b: Node, delay: u64| {
            for (from, to) in [(a, b), (b, a)] {
                let delay = Time::from_ms(delay);
                graph.add(from, Attachment { channel, reverse: false, to, delay });
                channel += 1;
            }
        };
        link(Node::Host(0), Node::Router(0), 1);
        link(Node::Router(0), Node::Router(1), upper);
        link(Node::Router(0), Node::Router(2), lower);
        link(Node::Router(1), Node::Router(3), 1);
        link(Node::Router(2), Node::Router(3), 1);
        link(Node::Router(3), Node::Host(1), 1);
        graph
    }

    /// A path over these channels.
    fn over(channels: &[u32]) -> Vec<Hop> {
        channels.iter().map(|channel| Hop::new(*channel, false)).collect()
    }

    #[test]
    fn the_shorter_way_wins_and_file_order_decides_ties() {
        let path = |graph: &Graph| ShortestPaths::new(graph).path(0, 1);
        assert_eq!(path(&diamond(2, 2)), Some(over(&[0, 2, 6, 10])));
        assert_eq!(path(&diamond(3, 2)), Some(over(&[0, 4, 8, 10])));
    }

    #[test]
    fn one_of_several_least_ways_is_chosen_and_a_given_way_is_taken() {
        let (same, other) = (diamond(2, 2), diamond(3, 2));
        let mut paths = ShortestPaths::new(&same);
        let mut asked = Vec::new();
        let path = paths.path_by(0, 1, |ways| {
            asked.push(ways);
            ways - 1
        });
        assert_eq!((path, asked), (Some(over(&[0, 4, 8, 10])), vec![2]));
        let mut paths = ShortestPaths::new(&other);
        assert_eq!(paths.path_by(0, 1, |_| unreachable!()), Some(over(&[0, 4, 8, 10])));
        assert_eq!(paths.over(0, &[0, 1, 3], 1), Some(over(&[0, 2, 6, 10])));
        assert_eq!(paths.over(0, &[0, 3], 1), None);
    }

    #[test]
    fn hosts_do_not_forward() {
        let mut graph = Graph::new(3, 0);
        for (i, (a, b)) in [(0, 1), (1, 2)].into_iter().enumerate() {
            let delay = Time::from_ms(1);
            let to = Node::Host(b);
            let channel = i as u32;
            graph.add(Node::Host(a), Attachment { channel, reverse: false, to, delay });
        }
        let mut paths = ShortestPaths::new(&graph);
        assert_eq!(paths.path(0, 1), Some(over(&[0])));
        assert_eq!(paths.path(0, 2), None);
    }
}
