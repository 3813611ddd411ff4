//! What is counted of flows and channels. Counts of a span are those at its end less those at its start.

use crate::channel::Channel;
use crate::flow::{Drops, Endpoint, Flow, OnWire, Stopped};
use ackclock_tcp::Ends;
use ackclock_trace::drop_reason;

/// What is counted of a flow.
#[derive(Debug, Clone, Default)]
pub struct FlowCounts {
    /// New payload bytes at the receiver.
    pub bytes_delivered: u64,
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Their payload bytes.
    pub bytes_sent: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Of these, because of gaps.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Window reductions by ECN.
    pub ecn_reductions: u64,
    /// Data segments that brought nothing new.
    pub duplicates: u64,
    /// Of the packets sent again, those whose data the receiver had.
    pub spurious: u64,
    /// New segments that came after one with a higher number.
    pub reordered: u64,
    /// Packets without feedback that came with a mark.
    pub marked: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// Their sum, nanoseconds.
    pub rtt_sum_ns: u128,
    /// Packets of which the first link began the transmission.
    pub wire: OnWire,
    /// Packets dropped.
    pub dropped: u64,
    /// The same by place and reason.
    pub drops: Vec<Drops>,
}

impl FlowCounts {
    /// What a flow has counted so far; exact where its channels are up to date.
    #[inline(never)]
    pub fn of(flow: &Flow) -> Self {
        let both = Self {
            wire: flow.on_wire(),
            dropped: flow.dropped,
            drops: flow.drops.clone(),
            ..Self::default()
        };
        let tcp = match &flow.endpoint {
            Endpoint::Tcp(tcp) => tcp,
            Endpoint::Stopped(Stopped { tcp, .. }) => tcp,
            Endpoint::Udp(udp) => {
                return Self {
                    bytes_delivered: udp.bytes_received,
                    sent: udp.sent.into(),
                    bytes_sent: udp.writer.written(),
                    marked: udp.marked,
                    ..both
                };
            }
        };
        let stats = tcp.connection.stats();
        Self {
            bytes_delivered: tcp.connection.bytes_delivered(),
            sent: stats.segments_sent,
            bytes_sent: stats.bytes_sent,
            retransmissions: stats.retransmissions,
            fast_retransmits: stats.fast_retransmits.into(),
            timeouts: stats.timeouts.into(),
            ecn_reductions: tcp.connection.ecn_reductions(),
            duplicates: tcp.connection.duplicates(),
            spurious: tcp.connection.spurious(),
            reordered: tcp.connection.reordered(),
            rtt_samples: stats.rtt_samples,
            rtt_sum_ns: stats.rtt_sum_ns,
            ..both
        }
    }

    /// What has been counted since `before`.
    pub fn since(mut self, before: &Self) -> Self {
        self.bytes_delivered -= before.bytes_delivered;
        self.sent -= before.sent;
        self.bytes_sent -= before.bytes_sent;
        self.retransmissions -= before.retransmissions;
        self.fast_retransmits -= before.fast_retransmits;
        self.timeouts -= before.timeouts;
        self.ecn_reductions -= before.ecn_reductions;
        self.duplicates -= before.duplicates;
        self.spurious -= before.spurious;
        self.reordered -= before.reordered;
        self.marked -= before.marked;
        self.rtt_samples -= before.rtt_samples;
        self.rtt_sum_ns -= before.rtt_sum_ns;
        self.wire.packets -= before.wire.packets;
        self.wire.bytes -= before.wire.bytes;
        self.dropped -= before.dropped;
        for earlier in &before.drops {
            let same = self.drops.iter_mut().find(|drops| drops.place() == earlier.place());
            same.expect("drops stay counted").packets -= earlier.packets;
        }
        self.drops.retain(|drops| drops.packets > 0);
        self
    }
}

/// What is counted of a channel.
#[derive(Debug, Clone)]
pub struct ChannelCounts {
    /// Packets transmitted.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Nanoseconds of transmission.
    pub busy_ns: f64,
    /// Packets that entered: those transmitted, and those that wait. Dropped ones do not count.
    pub entered: u64,
    /// How long these have waited, packets times nanoseconds.
    pub wait_ns: u128,
    /// Integral of the queue length, packets times nanoseconds.
    pub queue_ns: u128,
    /// The same in bytes times nanoseconds.
    pub queue_byte_ns: u128,
    /// Packets dropped, by the code of the reason.
    pub dropped: [u64; drop_reason::NAMES.len()],
    /// Packets that the queue has marked.
    pub marked: u64,
    /// Packets that the link has corrupted.
    pub corrupted: u64,
    /// Copies that the link has made.
    pub duplicated: u64,
}

impl ChannelCounts {
    /// What a channel that is up to date has counted.
    #[inline(never)]
    pub fn of(channel: &Channel) -> Self {
        let stats = channel.stats();
        let [dropped_wait, dropped_byte_wait] = channel.dropped_wait();
        Self {
            packets: stats.packets,
            bytes: stats.bytes,
            busy_ns: channel.busy_ns(),
            entered: stats.packets + stats.unfinished,
            wait_ns: stats.wait_ns,
            queue_ns: stats.wait_ns + dropped_wait,
            queue_byte_ns: stats.wait_byte_ns + dropped_byte_wait,
            dropped: std::array::from_fn(|code| channel.dropped(code as i32)),
            marked: channel.marked(),
            corrupted: channel.corrupted(),
            duplicated: channel.duplicated(),
        }
    }

    /// What has been counted since `before`.
    pub fn since(mut self, before: &Self) -> Self {
        self.packets -= before.packets;
        self.bytes -= before.bytes;
        self.busy_ns -= before.busy_ns;
        self.entered -= before.entered;
        self.wait_ns -= before.wait_ns;
        self.queue_ns -= before.queue_ns;
        self.queue_byte_ns -= before.queue_byte_ns;
        for (dropped, earlier) in self.dropped.iter_mut().zip(before.dropped) {
            *dropped -= earlier;
        }
        self.marked -= before.marked;
        self.corrupted -= before.corrupted;
        self.duplicated -= before.duplicated;
        self
    }
}
