//! A flow: its two ends, and what is counted about it.

mod prefetch;

use crate::hop::Hop;
use crate::packet::{Ecn, Kind, Packet, Parcel};
use crate::recorded::Last;
use crate::source::Writer;
use ackclock_tcp::{Ack, AckFields, Connection, Ends, Reply};
use ackclock_trace::{Costly, Digest, Recorder, RtoRow, cc_state, rto_event};
use ackclock_units::Time;

/// A flow.
///
/// A segment at the receiver touches the first two cache lines; what an ACK touches at the sender follows.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Flow {
    /// Earliest entry of its timer in the event queue; an entry for another time is stale.
    pub(crate) armed: Time,
    /// First hop of its data and of its ACKs.
    pub(crate) first: [Hop; 2],
    /// Sending and receiving host.
    pub(crate) hosts: [u32; 2],
    /// The two ends.
    pub endpoint: Endpoint,
    /// When it starts.
    pub start: Time,
    /// When it was cut off, if it was.
    pub stopped: Option<Time>,
    pub(crate) started: bool,
    /// It has more to send at this moment.
    pub(crate) paused: bool,
    /// Packets to the receiver dropped in the network.
    pub dropped: u64,
    /// The same by place and reason.
    pub drops: Vec<Drops>,
    /// What the sending host's link got beside data: messages of the handshake, and copies that the link made.
    pub(crate) extra: OnWire,
    /// Packets that the sending host sent and of which its link did not begin the transmission.
    pub(crate) never_transmitted: OnWire,
}

/// Packets of which a link began the transmission. Exact after [`World::close`](crate::World::close).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnWire {
    /// How many.
    pub packets: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
}

impl OnWire {
    pub(crate) fn add(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
}

/// Packets of a flow to its receiver dropped at one place for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drops {
    /// Code of the link in the record tables; -1 for a router without a route.
    pub link: i32,
    /// Code of the direction; -1 for none.
    pub direction: i32,
    /// Code of the reason.
    pub reason: i32,
    /// How many.
    pub packets: u64,
}

impl Drops {
    /// Where, and why.
    pub fn place(&self) -> (i32, i32, i32) {
        (self.link, self.direction, self.reason)
    }
}

impl Flow {
    /// A flow that has not started.
    pub fn new(start: Time, first: [Hop; 2], hosts: [u32; 2], endpoint: Endpoint) -> Self {
        Self {
            armed: start,
            first,
            hosts,
            endpoint,
            start,
            stopped: None,
            started: false,
            paused: false,
            dropped: 0,
            drops: Vec::new(),
            extra: OnWire::default(),
            never_transmitted: OnWire::default(),
        }
    }

    /// Shares the rules of another flow where they are the same; saves memory, changes nothing else.
    pub fn share_rules(&mut self, other: &Self) {
        if let (Endpoint::Tcp(tcp), Endpoint::Tcp(other)) = (&mut self.endpoint, &other.endpoint) {
            tcp.connection.share_rules(&other.connection);
        }
    }

    /// Packets to the receiver that began to leave the sending host: data, messages of the handshake, and copies that its
    /// link made.
    pub fn on_wire(&self) -> OnWire {
        let (packets, bytes) = match &self.endpoint {
            Endpoint::Udp(udp) => (u64::from(udp.sent), udp.bytes_sent),
            Endpoint::Tcp(tcp) => tcp.on_wire(),
            Endpoint::Stopped(Stopped { tcp, .. }) => tcp.on_wire(),
        };
        OnWire {
            packets: packets + self.extra.packets - self.never_transmitted.packets,
            bytes: bytes + self.extra.bytes - self.never_transmitted.bytes,
        }
    }

    /// Counts a packet to the receiver that was dropped. A flow is dropped at a few places only.
    pub(crate) fn count_drop(&mut self, link: i32, direction: i32, reason: i32) {
        self.dropped += 1;
        self.add_drops(link, direction, reason, 1);
    }

    pub(crate) fn add_drops(&mut self, link: i32, direction: i32, reason: i32, packets: u64) {
        let here = |drops: &&mut Drops| drops.place() == (link, direction, reason);
        match self.drops.iter_mut().find(here) {
            Some(known) => known.packets += packets,
            None => self.drops.push(Drops { link, direction, reason, packets }),
        }
    }

    /// Whether there are data that were never sent.
    pub(crate) fn has_unsent(&self) -> bool {
        match &self.endpoint {
            Endpoint::Tcp(tcp) => tcp.connection.has_unsent(),
            Endpoint::Udp(udp) => !udp.writer.is_finished(),
            Endpoint::Stopped(_) => false,
        }
    }

    /// Whether the next write was planned before the run.
    pub(crate) fn write_is_planned(&self) -> bool {
        match &self.endpoint {
            Endpoint::Tcp(tcp) => tcp.writer.as_ref().is_some_and(|writer| writer.is_planned()),
            Endpoint::Udp(udp) => udp.writer.is_planned(),
            Endpoint::Stopped(_) => false,
        }
    }

    /// When the application writes next.
    #[inline]
    pub(crate) fn next_write(&self) -> Time {
        match &self.endpoint {
            Endpoint::Tcp(tcp) => tcp.next_write(),
            Endpoint::Udp(udp) => udp.writer.next(),
            Endpoint::Stopped(_) => Time::NEVER,
        }
    }
}

/// The two ends of a flow.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly all flows are of the larger kind")]
pub enum Endpoint {
    /// Reliable, with congestion control.
    Tcp(TcpFlow),
    /// A source without feedback.
    Udp(Box<UdpFlow>),
    /// Reliable, and cut off: the receiver goes on with what is still in the network, the sender is gone.
    Stopped(Stopped),
}

/// A reliable flow that was cut off.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// Its two ends.
    pub tcp: Box<TcpFlow>,
    /// When it was cut off, or when its receiver got something last.
    pub until: Time,
}

/// A reliable flow.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct TcpFlow {
    /// Bytes added to each data packet.
    pub header: u16,
    /// Bytes of an ACK.
    pub ack_bytes: u16,
    /// Fingerprint of all ACKs and windows.
    pub digest: Digest,
    /// When the last new byte was in order at the receiver.
    pub finish: Option<Time>,
    /// Sender and receiver.
    pub connection: Connection,
    /// What the application writes; none if everything is there from the start.
    pub writer: Option<Box<Writer>>,
    /// When the sender had the last ACK.
    pub finish_ack: Option<Time>,
    /// Window that was recorded last.
    recorded: (f64, f64, i32),
    /// Expiry of the retransmission timer that was recorded last.
    recorded_deadline: Time,
    /// What was recorded last of a sender that writes down what it does and can say its state, if it is recorded.
    pub(crate) last: Option<Box<Last>>,
}

// The receiver begins the second cache line of a flow.
#[cfg(target_pointer_width = "64")]
const _: () =
    assert!(std::mem::offset_of!(Flow, endpoint) + std::mem::offset_of!(TcpFlow, connection) == 64);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Endpoint>() == size_of::<TcpFlow>());

impl TcpFlow {
    /// A flow that has not started.
    pub fn new(
        connection: Connection,
        header: u16,
        ack_bytes: u16,
        writer: Option<Writer>,
    ) -> Self {
        Self {
            header,
            ack_bytes,
            digest: Digest::default(),
            finish: None,
            connection,
            writer: writer.map(Box::new),
            finish_ack: None,
            recorded: (f64::NAN, f64::NAN, -1),
            recorded_deadline: Time::NEVER,
            last: None,
        }
    }

    /// Data packets that were sent, and their bytes with headers.
    fn on_wire(&self) -> (u64, u64) {
        let stats = self.connection.stats();
        let headers = stats.segments_sent * u64::from(self.header);
        (stats.segments_sent, stats.bytes_sent + headers)
    }

    /// Data reach the receiver; the ACK to send at once, if any.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let payload = packet.size() - self.header;
        let (seq, stamp, flags) = (packet.seq, packet.stamp, packet.flags());
        let ack = self.connection.on_data(now, seq, payload, stamp, flags);
        if self.finish.is_none() && self.connection.is_delivered() {
            self.finish = Some(now);
        }
        Some(self.packet_of(packet.flow(), ack?))
    }

    /// A message of the handshake reaches the receiver; what to send at once, if anything.
    #[cold]
    pub(crate) fn accept_message(&mut self, now: Time, parcel: Parcel) -> Option<Parcel> {
        let packet = parcel.open();
        let flow = packet.flow();
        let answer = match self.connection.on_message(now, packet.message(), packet.stamp)? {
            Reply::Ack(ack) => self.packet_of(flow, ack),
            Reply::Message(message, bytes, stamp) => {
                Packet::of_handshake(flow, message, bytes, stamp)
            }
        };
        Some(answer.pack())
    }

    /// The packet of an ACK.
    #[inline(always)]
    pub(crate) fn packet_of(&self, flow: u32, ack: Ack) -> Packet {
        let mut packet = Packet::new(Kind::Ack, flow, self.ack_bytes);
        packet.stamp = ack.fields.stamp;
        packet.seq = ack.fields.seq;
        packet.aux = ack.fields.aux;
        packet.set_ece(ack.ece);
        packet
    }

    /// What a fingerprint of the run says about the flow.
    pub(crate) fn add_to(&self, digest: &mut Digest) {
        let stats = self.connection.stats();
        for value in [
            self.digest.value(),
            stats.segments_sent,
            stats.retransmissions,
            stats.timeouts.into(),
            self.connection.bytes_delivered(),
            self.finish.unwrap_or(Time::NEVER).as_ns(),
        ] {
            digest.add(value);
        }
    }

    /// When something is due: a timer of the connection, or the next write.
    pub(crate) fn next_timer(&self) -> Time {
        self.connection.next_timer().min(self.next_write())
    }

    /// When the application writes next.
    #[inline]
    pub(crate) fn next_write(&self) -> Time {
        self.writer.as_ref().map_or(Time::NEVER, |writer| writer.next())
    }

    /// A link makes a copy of an ACK.
    pub(crate) fn copy_ack(&mut self, packet: &mut Packet) {
        let ack = AckFields { seq: packet.seq, aux: packet.aux, stamp: packet.stamp };
        let copy = self.connection.duplicate_ack(ack);
        (packet.seq, packet.aux, packet.stamp) = (copy.seq, copy.aux, copy.stamp);
    }

    /// Starts the flow.
    pub(crate) fn start(&mut self, now: Time) {
        self.connection.start(now);
        if let Some(writer) = &mut self.writer {
            writer.start(now);
        }
    }

    /// The application writes what is due.
    pub(crate) fn write(&mut self, now: Time) {
        if let Some(writer) = &mut self.writer {
            let bytes = writer.write(now);
            if bytes > 0 {
                self.connection.write(now, u64::from(bytes), writer.is_finished());
            }
        }
    }

    /// Records a sample of the round-trip time or the expiry of the retransmission timer.
    pub(crate) fn record_rto<R: Recorder>(
        &self,
        time: Time,
        flow: u32,
        event: i32,
        rtt: Option<Time>,
        recorder: &mut R,
    ) {
        if recorder.keeps(Costly::Timers)
            && let Some((rto, _)) = self.connection.rto()
        {
            let rtt = rtt.map_or(f64::NAN, Time::as_secs);
            recorder.rto(RtoRow { time, flow: flow as i32, event: event as i8, rtt, rto });
        }
    }

    /// Records that the retransmission timer was started, if it was.
    pub(crate) fn record_timer<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        if !recorder.keeps(Costly::Timers) {
            return;
        }
        let Some((_, deadline)) = self.connection.rto() else { return };
        let before = std::mem::replace(&mut self.recorded_deadline, deadline);
        if deadline != before && deadline != Time::NEVER {
            self.record_rto(time, flow, rto_event::START, None, recorder);
        }
    }

    /// Records the window if it has changed.
    pub(crate) fn record_window<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        let window = self.connection.window();
        let state = if self.connection.in_recovery() {
            cc_state::RECOVERY
        } else if window.in_slow_start() {
            cc_state::SLOW_START
        } else {
            cc_state::AVOIDANCE
        };
        let cwnd = self.connection.reported_cwnd();
        if (cwnd, window.ssthresh, state) == self.recorded {
            return;
        }
        self.recorded = (cwnd, window.ssthresh, state);
        let bytes = f64::from(self.connection.segment_bytes()) / window.segment;
        recorder.cwnd(ackclock_trace::CwndRow {
            time,
            flow: flow as i32,
            cwnd: cwnd * bytes,
            ssthresh: window.ssthresh * bytes,
            state: state as i8,
        });
    }
}

/// A flow without feedback.
#[derive(Debug, Clone)]
pub struct UdpFlow {
    /// What it sends, and when.
    pub writer: Writer,
    /// Packets sent.
    pub sent: u32,
    /// Copies of them that links made.
    pub copies: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Packets received.
    pub received: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Packets received with a mark.
    pub marked: u64,
    /// When the last packet was received.
    pub last_arrival: Option<Time>,
    /// Everything is written, and each packet has arrived or was dropped.
    pub complete: bool,
    /// What its packets say about congestion.
    pub(crate) ecn: Ecn,
}

impl UdpFlow {
    /// A flow that has not started, whose packets are ECN-capable or not.
    pub fn new(writer: Writer, capable: bool) -> Self {
        Self {
            writer,
            sent: 0,
            copies: 0,
            bytes_sent: 0,
            received: 0,
            bytes_received: 0,
            marked: 0,
            last_arrival: None,
            complete: false,
            ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }

    /// A packet reaches the receiver; the number of those dropped until now. Answers as [`UdpFlow::settles`].
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, dropped: u64) -> bool {
        self.received += 1;
        self.bytes_received += u64::from(packet.size());
        self.marked += u64::from(packet.is_marked());
        self.last_arrival = Some(now);
        self.settles(dropped)
    }

    /// A packet has arrived or was dropped, which were `dropped` until now: whether the flow is complete with it.
    pub(crate) fn settles(&mut self, dropped: u64) -> bool {
        let settled = self.received + dropped >= u64::from(self.sent) + self.copies;
        let completes = settled && !self.complete && self.writer.is_finished();
        self.complete |= completes;
        completes
    }

    /// Adds what another part of the network knows, with the receiver if that is there.
    pub(crate) fn join(&mut self, other: Self, has_receiver: bool) {
        self.copies += other.copies;
        if has_receiver {
            self.received = other.received;
            self.bytes_received = other.bytes_received;
            self.marked = other.marked;
            self.last_arrival = other.last_arrival;
        }
    }

    /// It writes nothing more; answers as [`UdpFlow::settles`].
    pub(crate) fn stop(&mut self, dropped: u64) -> bool {
        self.writer.stop();
        self.settles(dropped)
    }
}
