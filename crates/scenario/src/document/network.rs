//! Who can reach whom: over links and routers, never through a host.

use crate::model::Node;

/// The network as far as reachability goes. Links lead both ways.
#[derive(Debug)]
pub(super) struct Network {
    /// Union-find over routers.
    parents: Vec<usize>,
    /// For each host its neighbours, in file order.
    neighbours: Vec<Vec<Node>>,
}

impl Network {
    /// The network of the links that `passes`.
    pub fn new(
        hosts: usize,
        routers: usize,
        links: impl Iterator<Item = Option<[Node; 2]>>,
        passes: impl Fn(usize) -> bool,
    ) -> Self {
        let mut network =
            Self { parents: (0..routers).collect(), neighbours: vec![Vec::new(); hosts] };
        for (index, ends) in links.enumerate() {
            let Some([a, b]) = ends else { continue };
            if !passes(index) {
                continue;
            }
            match (a, b) {
                (Node::Router(a), Node::Router(b)) => network.join(a, b),
                _ => {
                    for (node, other) in [(a, b), (b, a)] {
                        if let Node::Host(host) = node {
                            network.neighbours[host].push(other);
                        }
                    }
                }
            }
        }
        for router in 0..routers {
            network.parents[router] = network.root(router);
        }
        network
    }

    /// Number of links of a host.
    pub fn links_of(&self, host: usize) -> usize {
        self.neighbours[host].len()
    }

    /// Whether packets can go from one host to another.
    pub fn connects(&self, from: usize, to: usize) -> bool {
        self.neighbours[from].iter().any(|near| match near {
            Node::Host(host) => *host == to,
            Node::Router(router) => self.neighbours[to].iter().any(|far| match far {
                Node::Router(other) => self.parents[*router] == self.parents[*other],
                Node::Host(_) => false,
            }),
        })
    }

    /// The hosts that a host can reach.
    pub fn reachable(&self, from: usize) -> impl Iterator<Item = usize> {
        (0..self.neighbours.len()).filter(move |&to| to != from && self.connects(from, to))
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller number stays the root, so that the order of links does not matter.
        self.parents[a.max(b)] = a.min(b);
    }

    fn root(&mut self, mut router: usize) -> usize {
        while self.parents[router] != router {
            self.parents[router] = self.parents[self.parents[router]];
            router = self.parents[router];
        }
        router
    }
}
