//! The network as nodes and directed edges.

use crate::hop::Hop;
use ackclock_units::Time;

/// A node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A host, by number.
    Host(u32),
    /// A router, by number.
    Router(u32),
}

/// A channel out of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    /// Channel that leads there.
    pub channel: u32,
    /// Whether this is the second end of a half-duplex link.
    pub reverse: bool,
    /// Node at the other end.
    pub to: Node,
    /// Propagation delay.
    pub delay: Time,
}

impl Attachment {
    /// The step over it.
    pub const fn hop(&self) -> Hop {
        Hop::new(self.channel, self.reverse)
    }
}

/// All channels out of all nodes, in file order of the links.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// By host.
    pub hosts: Vec<Vec<Attachment>>,
    /// By router.
    pub routers: Vec<Vec<Attachment>>,
}

impl Graph {
    /// A graph without links.
    pub fn new(hosts: usize, routers: usize) -> Self {
        Self { hosts: vec![Vec::new(); hosts], routers: vec![Vec::new(); routers] }
    }

    /// Adds a channel out of `from`.
    pub fn add(&mut self, from: Node, attachment: Attachment) {
        match from {
            Node::Host(host) => self.hosts[host as usize].push(attachment),
            Node::Router(router) => self.routers[router as usize].push(attachment),
        }
    }
}
