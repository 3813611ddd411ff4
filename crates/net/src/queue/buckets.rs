//! Which of many queues a flow has: by a hash, or by its number.

use ackclock_engine::Stream;
use ackclock_engine::random::mix;
use ackclock_units::param::{Choice, Chosen, Kind, Param};

/// How flows come to their queues.
pub(super) const QUEUES: Param = Param::new(
    "queues",
    Kind::Choice(&[
        Choice::new("hashed", "by a hash that the seed of the run perturbs"),
        Choice::new("by-flow", "flow i of the file in queue i modulo `flows`"),
    ]),
    "hashed",
    "How flows are assigned to queues.",
);

/// The number of queues.
pub(super) const fn flows(default: &'static str, summary: &'static str) -> Param {
    Param::new("flows", Kind::Count, default, summary).at_least("1").at_most("65536")
}

/// Buckets, each with the place of its queue once it has one.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    count: u64,
    /// What perturbs the hash; none where flows have queues by number.
    salt: Option<u64>,
    /// One more than the place of each bucket's queue; 0 for a bucket that was never used. Empty until the first
    /// packet comes.
    places: Vec<u32>,
    /// The bucket of each queue.
    owners: Vec<u32>,
}

impl Buckets {
    pub fn new(chosen: &Chosen, stream: &mut Stream) -> Self {
        let hashed = chosen.word("queues") == "hashed";
        Self {
            count: chosen.int("flows"),
            salt: hashed.then(|| stream.next_u64()),
            places: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// Another hash from now on; no bucket has a queue.
    pub fn perturb(&mut self, stream: &mut Stream) {
        if let Some(salt) = &mut self.salt {
            *salt = stream.next_u64();
        }
        self.places.clear();
        self.owners.clear();
    }

    /// The queue of a flow. One that is new has the next place: `lanes` grows by it.
    pub fn lane_of<L: Default>(&mut self, flow: u32, lanes: &mut Vec<L>) -> u32 {
        let bucket = match self.salt {
            None => u64::from(flow) % self.count,
            // The upper half of the hash, scaled, as in Linux.
            Some(salt) => ((mix(salt ^ u64::from(flow)) >> 32) * self.count) >> 32,
        };
        self.places.resize(self.count as usize, 0);
        let place = &mut self.places[bucket as usize];
        if *place == 0 {
            self.owners.push(bucket as u32);
            *place = self.owners.len() as u32;
            lanes.resize_with(lanes.len().max(self.owners.len()), L::default);
        }
        *place - 1
    }

    /// The bucket of a queue where a hash chose it; none where flows have queues by number.
    pub fn hashed(&self, lane: u32) -> Option<u32> {
        self.salt.map(|_| self.owners[lane as usize])
    }
}
