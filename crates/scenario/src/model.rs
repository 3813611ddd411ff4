//! The scenario as checked numbers: what the compiler of worlds reads.

pub use crate::record::Record;
use crate::start::Start;
use crate::transfer::Transfer;
use ackclock_net::serial::Rounding;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Value};
use std::ops::Deref;
use std::sync::Arc;

/// A checked scenario. Names are unique, references exist, every value is within its range.
///
/// A copy is cheap: all that is large is shared. So a run with another seed takes a copy with that seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Name of the experiment.
    pub name: String,
    /// Names of hosts, in file order.
    pub hosts: Arc<[String]>,
    /// Names of routers, in file order.
    pub routers: Arc<[String]>,
    /// Links, in file order (the order decides ties of routing).
    pub links: Arc<[Link]>,
    /// Flows, in file order.
    pub flows: Arc<[Flow]>,
    /// Routing protocol.
    pub routing: Chosen,
    /// Order of simultaneous events.
    pub ties: Chosen,
    /// Figures of the run begin here, if that is not its start.
    pub warmup: Option<Time>,
    /// When the run ends.
    pub stop: Stop,
    /// Seed of all random streams.
    pub seed: u64,
    /// Which tables are recorded.
    pub record: Record,
}

impl Scenario {
    /// The name of a node.
    pub fn node_name(&self, node: Node) -> &str {
        match node {
            Node::Host(index) => &self.hosts[index],
            Node::Router(index) => &self.routers[index],
        }
    }

    /// Whether congestion control or a queue is a program outside the engine, which can't be run from the start once more.
    pub fn has_programs(&self) -> bool {
        let controlled = |flow: &Flow| match &flow.transport {
            Transport::Tcp(tcp) => tcp.cc.kind == "python",
            Transport::Udp { .. } => false,
        };
        let mut ways = self.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        self.flows.iter().any(controlled) || ways.any(|way| way.queue.kind == "python")
    }
}

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Name.
    pub id: String,
    /// The two nodes; forward is from the first to the second.
    pub ends: [Node; 2],
    /// What it is like; the same for many links.
    pub nature: Arc<LinkNature>,
}

impl Deref for Link {
    type Target = LinkNature;

    fn deref(&self) -> &LinkNature {
        &self.nature
    }
}

/// What a link is like, whatever it is called and wherever it lies.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkNature {
    /// Whether both directions share one buffer and one transmitter.
    pub half_duplex: bool,
    /// What becomes of fractions of a nanosecond.
    pub rounding: Rounding,
    /// From the first end to the second. A half-duplex link has this one only.
    pub forward: Direction,
    /// From the second end to the first.
    pub backward: Direction,
    /// What happens to it, in order of time.
    pub changes: Vec<Change>,
}

/// Something that happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Whether it concerns the way from the first end to the second.
    pub forward: bool,
    /// Whether it concerns the way back.
    pub backward: bool,
    /// Whether the link works from now on.
    pub up: Option<bool>,
    /// Rate from now on.
    pub rate_bps: Option<u64>,
    /// Propagation delay from now on.
    pub delay: Option<Time>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Bits per second, at least 1; of a rate that changes by a rule the mean.
    pub rate_bps: u64,
    /// The rule by which the rate changes, if there is one.
    pub rates: Option<Chosen>,
    /// Propagation delay.
    pub delay: Time,
    /// Queue discipline.
    pub queue: Chosen,
    /// Loss model.
    pub loss: Chosen,
    /// Law of delays.
    pub jitter: Chosen,
    /// Probability that a packet is corrupted.
    pub corruption: f64,
    /// Probability that a packet is duplicated.
    pub duplication: f64,
}

/// A node by its place in [`Scenario::hosts`] or [`Scenario::routers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// A host.
    Host(usize),
    /// A router.
    Router(usize),
}

/// A flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Name.
    pub id: String,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// Routers that its data, and its ACKs, cross, by index; without them routing decides.
    pub routers: [Option<Box<[usize]>>; 2],
    /// When it starts.
    pub start: Start,
    /// When it is cut off, if it is.
    pub stop: Option<Time>,
    /// How much to send.
    pub send: Transfer,
    /// How it is sent.
    pub transport: Transport,
}

impl Flow {
    /// Whether it goes on for as long as the run lasts: it can't be complete.
    pub fn is_endless(&self) -> bool {
        self.send == Transfer::Unlimited && self.stop.is_none()
    }
}

/// Transport of a flow; flows with equal settings share them.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// Reliable transport with congestion control.
    Tcp(Arc<Tcp>),
    /// A source without feedback.
    Udp {
        /// What it sends and when.
        source: Arc<Chosen>,
        /// Its packets are ECN-capable.
        ecn: bool,
    },
}

/// An amount of data of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Full segments.
    Segments(f64),
    /// Bytes.
    Bytes(u64),
}

impl Amount {
    /// Bytes, with segments of this size.
    pub fn bytes(self, segment: f64) -> f64 {
        match self {
            Self::Segments(segments) => segments * segment,
            Self::Bytes(bytes) => bytes as f64,
        }
    }
}

/// Settings of a reliable transport; see the tables in `crate::tables`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tcp {
    /// Family of sender and receiver, with its own keys.
    pub sender: Chosen,
    /// Payload bytes of a full segment.
    pub segment_bytes: u64,
    /// Bytes added to each data packet.
    pub header_bytes: u64,
    /// Bytes of an ACK on the wire.
    pub ack_bytes: u64,
    /// Initial window, segments.
    pub initial_window: u64,
    /// Initial slow-start threshold; none for no limit.
    pub initial_ssthresh: Option<Amount>,
    /// Window growth.
    pub cc: Chosen,
    /// Retransmission timer.
    pub rto: Chosen,
    /// What the application writes, and when.
    pub source: Chosen,
    /// What a write counts as.
    pub writes: String,
}

impl Tcp {
    /// What the flow is called in tables and plots: its preset, if it is one.
    pub fn label(&self) -> String {
        let recovery = match self.sender.find("recovery") {
            Some(Value::Chosen(recovery)) => recovery.kind.as_str(),
            _ => "",
        };
        let class = (self.cc.kind == "python").then(|| self.cc.word("class"));
        crate::preset::label(&self.sender.kind, recovery, &self.cc.kind, class)
    }
}

/// When a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// End when the last flow is complete.
    pub flows_complete: bool,
    /// End at this time in any case.
    pub at_latest: Time,
    /// A run that needs more events than this is ended in the middle.
    pub events: Option<u64>,
    /// End when more packets are in the network at once.
    pub max_packets: u64,
}
