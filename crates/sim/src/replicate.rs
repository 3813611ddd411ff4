//! Many runs of one scenario that differ in their seed.
//!
//! Each run is a value of its own, so the results do not depend on the number of threads.

use crate::compile::Shortcuts;
use crate::model::{Record, Scenario};
use crate::run::world;
use crate::summary::rate;
use ackclock_net::Endpoint;
use ackclock_tcp::Ends;
use ackclock_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// Figures of one flow in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowFigures {
    /// When the last new byte was in order at the receiver.
    pub finish: Option<Time>,
    /// When the sender had the last ACK.
    pub finish_ack: Option<Time>,
    /// New bytes in order at the receiver per second, from the start to `finish` or the end, bit/s.
    pub goodput_bps: f64,
    /// Timeouts.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Segments that reached the receiver without bringing anything new.
    pub spurious_retransmissions: u64,
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    /// Its seed.
    pub seed: u64,
    /// End of the run.
    pub end: Time,
    /// Nothing was left to happen, and flows were unfinished.
    pub stalled: bool,
    /// Fingerprint, the same as that of a single run with this seed.
    pub digest: u64,
    /// Figures of the flows, in the order of the scenario.
    pub flows: Vec<FlowFigures>,
}

/// Runs `scenario` with the seeds `first_seed` to `first_seed + count - 1` on `workers` threads. The
/// answers are in the order of the seeds. Nothing is recorded.
pub fn replicate(
    scenario: &Scenario,
    first_seed: u64,
    count: u64,
    workers: usize,
) -> Vec<Replication> {
    // Small enough to share out evenly, large enough that the counter costs nothing.
    const CHUNK: u64 = 64;
    let next = AtomicU64::new(0);
    let work = || {
        let mut scenario = Scenario { record: Record::default(), ..scenario.clone() };
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= count {
                return done;
            }
            for index in start..count.min(start + CHUNK) {
                scenario.seed = first_seed.wrapping_add(index);
                done.push((index, once(&scenario)));
            }
        }
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..workers.max(1)).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for thread in threads {
            all.extend(thread.join().expect("a run does not panic"));
        }
        all
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, replication)| replication).collect()
}

fn once(scenario: &Scenario) -> Replication {
    let mut world = world(scenario, Shortcuts::default());
    while !world.run(u64::MAX) {}
    world.close();
    let end = world.now();
    let flows = world.network().flows.iter().map(|flow| {
        let rate = |bytes: u64, until: Time| rate(bytes, flow.start, until);
        match &flow.endpoint {
            Endpoint::Tcp(tcp) => {
                let stats = tcp.connection.stats();
                FlowFigures {
                    finish: tcp.finish,
                    finish_ack: tcp.finish_ack,
                    goodput_bps: rate(tcp.connection.bytes_delivered(), tcp.finish.unwrap_or(end)),
                    timeouts: stats.timeouts,
                    retransmissions: stats.retransmissions,
                    spurious_retransmissions: tcp.connection.duplicates(),
                    segments_sent: stats.segments_sent,
                }
            }
            Endpoint::Udp(udp) => {
                let finish = if udp.complete { udp.last_arrival } else { None };
                FlowFigures {
                    finish,
                    finish_ack: None,
                    goodput_bps: rate(udp.bytes_received, finish.unwrap_or(end)),
                    timeouts: 0,
                    retransmissions: 0,
                    spurious_retransmissions: 0,
                    segments_sent: u64::from(udp.sent),
                }
            }
        }
    });
    Replication {
        seed: scenario.seed,
        end,
        stalled: world.is_idle() && !world.is_complete() && scenario.stop.flows_complete,
        digest: world.digest(),
        flows: flows.collect(),
    }
}
