//! The tables: rows with typed fields, stored by columns, described once.

use crate::column::{Cell, Column, extend};
use crate::parts::{Moment, Numbers};
use crate::sampling::Sampled;
use crate::store::{Store, pass};
use crate::{Costly, Keep, PacketIds, Recorder};
use ackclock_units::Time;
use ackclock_units::param::help;

/// Names that number columns stand for, fixed for all runs. Other categories (flow, link, host, router)
/// are named by the scenario.
pub static CATEGORIES: &[(&str, &[&str])] = &[
    ("packet_event", packet_event::NAMES),
    ("packet_kind", packet_kind::NAMES),
    ("direction", direction::NAMES),
    ("cc_state", cc_state::NAMES),
    ("drop_reason", drop_reason::NAMES),
    ("flow_event", flow_event::NAMES),
    ("rto_event", rto_event::NAMES),
    ("tcp_state", tcp_state::NAMES),
    ("window_rule", window_rule::NAMES),
    ("aqm_variable", aqm_variable::NAMES),
];

macro_rules! category {
    ($(#[$doc:meta])* $module:ident: $($name:ident = $word:literal),+ $(,)?) => {
        $(#[$doc])*
        pub mod $module {
            category!(@codes 0; $($name,)+);
            /// The words, in order of their codes.
            pub static NAMES: &[&str] = &[$($word),+];
        }
    };
    (@codes $code:expr; $name:ident, $($rest:ident,)*) => {
        #[allow(missing_docs, reason = "the word says it")]
        pub const $name: i32 = $code;
        category!(@codes $code + 1; $($rest,)*);
    };
    (@codes $code:expr;) => {};
}

category! {
    /// What a host did with a packet.
    packet_event: SENT = "sent", RECEIVED = "received",
}
category! {
    /// Kinds of packets.
    packet_kind: DATA = "data", ACK = "ack", ROUTER = "router", SYN = "syn", SYN_ACK = "syn-ack",
        HANDSHAKE_ACK = "handshake-ack", FIN = "fin", WINDOW_PROBE = "window-probe",
}
category! {
    /// Directions of a link.
    direction: BOTH = "both", FORWARD = "forward", BACKWARD = "backward",
}
category! {
    /// What the window is doing.
    cc_state: SLOW_START = "slow-start", AVOIDANCE = "congestion-avoidance", RECOVERY = "recovery",
}
category! {
    /// Why a packet was dropped or marked.
    drop_reason: QUEUE_FULL = "queue-full", NO_ROUTE = "no-route", LOSS = "loss",
    LINK_DOWN = "link-down", EARLY = "early", FORCED = "forced", CODEL = "codel", OVERLIMIT = "overlimit",
    THRESHOLD = "threshold", CORRUPTED = "corrupted",
}
category! {
    /// What happened to a retransmission timer.
    rto_event: START = "start", SAMPLE = "sample", EXPIRY = "expiry",
}
category! {
    /// What happened to a flow.
    flow_event: START = "start", FINISH = "finish", FINISH_ACK = "finish-ack", TIMEOUT = "timeout",
    FAST_RETRANSMIT = "fast-retransmit", GAP_RETRANSMIT = "gap-retransmit", PROBE = "probe",
    STOP = "stop", RECOVERY = "recovery", REDUCTION = "reduction", RECOVERY_END = "recovery-end",
    UNDO = "undo", SPURIOUS = "spurious",
}
category! {
    /// State of a sender with respect to congestion (Linux, `tcp_ca_state`).
    tcp_state: OPEN = "open", DISORDER = "disorder", CWR = "cwr", RECOVERING = "recovery", LOSS = "loss",
}
category! {
    /// The rules that set a window.
    window_rule: INITIAL = "initial", SLOW_START = "slow-start", AVOIDANCE = "congestion-avoidance",
    SLOW_START_EXIT = "slow-start-exit", RECOVERY = "recovery-entry", MARK = "ecn-reduction",
    PROBE_REPAIR = "probe-repair", PRR = "prr", PIPE = "pipe", EXIT = "recovery-exit", TIMEOUT = "timeout",
    UNDO_DSACK = "undo-dsack", UNDO_TIMESTAMPS = "undo-timestamps", UNDO_FRTO = "undo-frto",
    IDLE = "idle-restart", SYN_LOST = "syn-lost", BBR_STARTUP = "bbr-startup", BBR_DRAIN = "bbr-drain",
    BBR_PROBE_BW = "bbr-probe-bw", BBR_PROBE_RTT = "bbr-probe-rtt", BBR_RECOVERY = "bbr-recovery",
    OWN = "own-rule",
}
category! {
    /// What a queue discipline computes.
    aqm_variable: AVERAGE_PACKETS = "average-packets", AVERAGE_BYTES = "average-bytes", MAX_P = "max-p",
        PROBABILITY = "probability", DROPPING = "dropping", COUNT = "count", TOKENS_BYTES = "tokens-bytes",
}

/// Description of a column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnInfo {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// `float64`, `int64`, `int32` or `bool`.
    pub kind: &'static str,
    /// Unit, or empty.
    pub unit: &'static str,
    /// Category whose codes the column holds, or empty; with a `?` at its end if there may be none (-1).
    category: &'static str,
    /// Meaning.
    pub summary: &'static str,
}

impl ColumnInfo {
    /// Category whose codes the column holds, or empty.
    pub fn category(&self) -> &'static str {
        self.category.trim_end_matches('?')
    }

    /// Whether a row may have none; its code is -1 then.
    pub fn optional(&self) -> bool {
        self.category.ends_with('?')
    }
}

/// Description of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableInfo {
    /// Name.
    pub name: &'static str,
    /// Meaning.
    pub summary: &'static str,
    /// Columns, in order.
    pub columns: &'static [ColumnInfo],
}

/// What a row of a table that can be sampled is about, and its value; of other tables each row counts.
macro_rules! sampled {
    ($subject:expr, $value:expr) => {
        fn subject(&self) -> usize {
            let subject: fn(&Self) -> i32 = $subject;
            subject(self) as usize
        }
        fn value(&self) -> f64 {
            let value: fn(&Self) -> f64 = $value;
            value(self)
        }
    };
    () => {
        fn subject(&self) -> usize {
            unreachable!("each row of this table counts")
        }
        fn value(&self) -> f64 {
            unreachable!("each row of this table counts")
        }
    };
}

/// Gives the packet another number, if that is what the field holds.
macro_rules! renumber {
    ($row:ident id $of:ident) => {
        $row.id = $of($row.id);
    };
    ($row:ident $other:ident $of:ident) => {};
}

/// How much a recorder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Rows of all tables that have not been taken out.
    pub rows: usize,
    /// Bytes of all rows, with those that were taken out.
    pub bytes: u64,
}

/// A table with its columns.
pub type Table = (&'static str, Vec<(&'static str, Column)>);

macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $table:ident / $row:ident / $method:ident $([$subject:expr, $value:expr])?: $summary:literal {
            $($field:ident: $type:ty as $name:literal [$unit:literal $category:literal] $meaning:literal,)+
        }
    )+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq)]
            // Without padding, which is an eighth of what a packet-hop records.
            #[repr(Rust, packed)]
            pub struct $row {
                $(#[doc = $meaning] pub $field: $type,)+
            }

            impl Sampled for $row {
                fn time(&self) -> Time {
                    self.time
                }
                sampled!($($subject, $value)?);
                fn renumber(&mut self, _of: impl Fn(i64) -> i64) {
                    $(renumber!(self $field _of);)+
                }
            }
        )+

        /// Bytes of a row of each table, in the order of [`TABLES`].
        static ROW_BYTES: [usize; TABLES.len()] = [$($(size_of::<<$type as Cell>::Value>() +)+ 0),+];

        /// Descriptions of all tables.
        pub static TABLES: &[TableInfo] = &[$(
            TableInfo {
                name: stringify!($table),
                summary: help($summary),
                columns: &[$(
                    ColumnInfo {
                        name: $name,
                        kind: <$type as Cell>::NAME,
                        unit: $unit,
                        category: $category,
                        summary: help($meaning),
                    },
                )+],
            },
        )+];

        /// Records into columns.
        #[derive(Debug)]
        pub struct Columns {
            ids: PacketIds,
            moment: Moment,
            $($table: Store<$row>,)+
        }

        impl Columns {
            /// A recorder of the rows that `keep` says of each table.
            pub fn new(keep: impl Fn(&str) -> Keep) -> Self {
                let wanted = |table: &&str| keep(table) != Keep::None;
                let ids = PacketIds::new(WITH_PACKET_IDS.iter().any(wanted));
                let moment = Moment::default();
                Self { ids, moment, $($table: Store::new(keep(stringify!($table))),)+ }
            }

            /// The recorder of one of several parts of a network.
            pub fn of_part(keep: impl Fn(&str) -> Keep, part: usize, parts: usize) -> Self {
                let wanted = |table: &&str| keep(table) != Keep::None;
                let on = WITH_PACKET_IDS.iter().any(wanted);
                let (ids, moment) = (PacketIds::of_part(on, part, parts), Moment::default());
                Self { ids, moment, $($table: Store::of_part(keep(stringify!($table))),)+ }
            }

            /// The run of a part is over: what samplers hold back.
            pub fn finish_part(&mut self) {
                $(self.$table.finish();)+
            }

            /// Takes what all parts have recorded, in the order of one thread.
            pub fn absorb(&mut self, parts: &mut [&mut Self], numbers: &mut Numbers) {
                let made: Vec<_> = parts.iter_mut().map(|part| part.ids.take_made()).collect();
                numbers.add(&made);
                $(self.$table.absorb(parts.iter_mut().map(|part| &mut part.$table).collect(), numbers);)+
            }

            /// Rows that are held now, and the bytes of all rows so far.
            pub fn size(&self) -> Size {
                let held = [$((self.$table.rows.len(), self.$table.taken),)+];
                let mut size = Size::default();
                for ((rows, taken), bytes) in held.into_iter().zip(row_bytes()) {
                    size.rows += rows;
                    size.bytes += (rows + taken) as u64 * bytes as u64;
                }
                size
            }

            /// Takes out what the tables hold that have at least this many rows.
            pub fn take(&mut self, least_rows: usize) -> Vec<Table> {
                let mut tables = Vec::new();
                $(
                    let store = &mut self.$table;
                    let count = store.rows.len();
                    if store.on && count >= least_rows {
                        store.taken += count;
                        $(let mut $field = Vec::with_capacity(count);)+
                        for chunk in store.rows.chunks() {
                            let chunk = &chunk[pass(&mut store.left_out, chunk.len())..];
                            $(extend(&mut $field, chunk, |row| row.$field);)+
                        }
                        let columns = vec![$(($name, <$type as Cell>::column($field)),)+];
                        tables.push((stringify!($table), columns));
                        store.rows.clear();
                    }
                )+
                tables
            }

            /// Rows of each table that were taken out.
            pub fn taken(&self) -> [usize; TABLES.len()] {
                [$(self.$table.taken),+]
            }

            /// Rows of each table that need not be taken out: somebody has them from another run of the same scenario.
            pub fn leave_out(&mut self, taken: &[usize; TABLES.len()]) {
                let mut taken = taken.iter();
                $(self.$table.left_out = *taken.next().expect("one for each table");)+
            }

            /// The recorded tables with their columns, in the order of [`TABLES`]; tables that were not
            /// wanted are left out, and so are rows that were taken out before.
            pub fn finish(mut self) -> Vec<Table> {
                $(self.$table.finish();)+
                self.take(0)
            }
        }

        impl Recorder for Columns {
            const ON: bool = true;
            const PACKETS: bool = true;

            fn at(&mut self, moment: Moment) {
                self.moment = moment;
                self.ids.at(moment);
            }

            #[inline]
            fn keeps(&self, what: Costly) -> bool {
                match what {
                    Costly::Timers => self.rto.on,
                    Costly::Journals => self.events.on || self.tcp_info.on || self.window_rules.on,
                    Costly::States => self.tcp_info.on,
                    Costly::Queues => self.aqm.on,
                }
            }

            fn ids(&mut self) -> &mut PacketIds {
                &mut self.ids
            }
            $(
                // In a page one copy for all places.
                #[cfg_attr(target_family = "wasm", inline(never))]
                #[cfg_attr(not(target_family = "wasm"), inline)]
                fn $method(&mut self, row: $row) {
                    self.$table.add(row, self.moment);
                }
            )+
        }

        impl Recorder for SenderColumns {
            const ON: bool = true;
            const PACKETS: bool = false;

            #[inline]
            fn keeps(&self, what: Costly) -> bool {
                self.0.keeps(what)
            }

            fn ids(&mut self) -> &mut PacketIds {
                &mut self.0.ids
            }
            $(
                #[inline]
                fn $method(&mut self, row: $row) {
                    self.0.$table.add(row, self.0.moment);
                }
            )+
        }
    };
}

/// Bytes of a row of each table in memory, in the order of [`TABLES`].
pub fn row_bytes() -> impl Iterator<Item = usize> {
    ROW_BYTES.iter().copied()
}

/// Tables of what senders know of themselves, which is written down when an ACK comes or a timer expires.
pub const OF_SENDERS: [&str; 5] = ["cwnd", "rtt", "rto", "tcp_info", "window_rules"];

/// Records into columns of the tables [`OF_SENDERS`] only.
#[derive(Debug)]
pub struct SenderColumns(pub Columns);

/// Tables whose rows name packets by their numbers.
const WITH_PACKET_IDS: [&str; 6] =
    ["packets", "transmissions", "drops", "marks", "waiting", "headers"];

tables! {
    /// A host sent or received a packet.
    packets / PacketRow / packet: "Packets that hosts sent and received." {
        time: Time as "time_s" ["s" ""] "When.",
        host: i32 as "host" ["" "host"] "The host.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        event: i8 as "event" ["" "packet_event"] "Whether the host sent or received it.",
        kind: i8 as "kind" ["" "packet_kind"] "Data, ACK or handshake packet.",
        seq: u32 as "seq" ["" ""] "Packet number from 0; of an ACK, the packet that caused it.",
        bytes: u16 as "bytes" ["B" ""] "Size on the wire.",
        retransmission: bool as "retransmission" ["" ""] "Whether the data had been sent before.",
        stamp: Time as "stamp_s" ["s" ""] "Data: when sent. ACK: when the data that it echoes were sent.",
        id: i64 as "packet_id" ["" ""] "The packet: all packets of a run are numbered from 0 as they are made.",
    }
    /// A congestion window changed.
    cwnd / CwndRow / cwnd [|row| row.flow, |row| row.cwnd]: "Congestion windows, at each change." {
        time: Time as "time_s" ["s" ""] "When.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        cwnd: f64 as "cwnd_bytes" ["B" ""] "Congestion window from now on, without what duplicate ACKs add during recovery; at least one segment.",
        ssthresh: f64 as "ssthresh_bytes" ["B" ""] "Slow-start threshold from now on; infinite for none.",
        state: i8 as "state" ["" "cc_state"] "Slow start, congestion avoidance or recovery.",
    }
    /// A round-trip time was measured.
    rtt / RttRow / rtt [|row| row.flow, |row| row.rtt.as_secs()]: "Round-trip times, one for each ACK that gave a sample." {
        time: Time as "time_s" ["s" ""] "When the ACK arrived.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        rtt: Time as "rtt_s" ["s" ""] "From sending the packet to the arrival of its ACK.",
    }
    /// A queue changed.
    queue / QueueRow / queue [|row| 3 * row.link + i32::from(row.direction), |row| f64::from(row.packets)]: "Packets waiting at links, after each change; the one in transmission is not waiting." {
        time: Time as "time_s" ["s" ""] "When.",
        link: i32 as "link" ["" "link"] "The link.",
        direction: i8 as "direction" ["" "direction"] "Its direction; `both` for half duplex.",
        packets: i32 as "queue_packets" ["packets" ""] "Packets waiting from now on.",
        data_packets: i32 as "queue_data_packets" ["packets" ""] "Data packets among them.",
        bytes: i64 as "queue_bytes" ["B" ""] "Bytes waiting from now on.",
    }
    /// A link began to transmit a packet.
    transmissions / TransmissionRow / transmission: "Transmissions of links, at their start." {
        time: Time as "time_s" ["s" ""] "Start of the transmission.",
        link: i32 as "link" ["" "link"] "The link.",
        direction: i8 as "direction" ["" "direction"] "Its direction; `both` for half duplex.",
        flow: i32 as "flow" ["" "flow?"] "The flow; none for a router's packet.",
        kind: i8 as "kind" ["" "packet_kind"] "Data, ACK, router or handshake packet.",
        bytes: u16 as "bytes" ["B" ""] "Size on the wire.",
        seq: u32 as "seq" ["" ""] "As in `packets`; of a router's packet, the router.",
        reverse: bool as "reverse" ["" ""] "On a half-duplex link: from its second end to its first.",
        entered: Time as "entered_s" ["s" ""] "When it arrived at the queue.",
        arrival: Time as "arrival_s" ["s" ""] "When it reaches the far end, unless it is lost on the link.",
        id: i64 as "packet_id" ["" ""] "The packet: all packets of a run are numbered from 0 as they are made.",
    }
    /// A packet was dropped.
    drops / DropRow / drop: "Packets dropped." {
        time: Time as "time_s" ["s" ""] "When.",
        link: i32 as "link" ["" "link?"] "The link; none when a router had no route.",
        direction: i32 as "direction" ["" "direction?"] "Its direction; `both` for half duplex, none without a link.",
        flow: i32 as "flow" ["" "flow?"] "The flow; none for a router's packet.",
        kind: i32 as "kind" ["" "packet_kind"] "Data, ACK, router or handshake packet.",
        seq: i64 as "seq" ["" ""] "Packet number; of an ACK, the packet that caused it.",
        bytes: i32 as "bytes" ["B" ""] "Size on the wire.",
        reason: i32 as "reason" ["" "drop_reason"] "Why.",
        reverse: bool as "reverse" ["" ""] "On a half-duplex link: from its second end to its first.",
        entered: Time as "entered_s" ["s" ""] "When it arrived at the queue, if it was queued; else the time of the drop.",
        id: i64 as "packet_id" ["" ""] "The packet: all packets of a run are numbered from 0 as they are made.",
    }
    /// A packet was marked.
    marks / MarkRow / mark: "Packets marked with congestion experienced." {
        time: Time as "time_s" ["s" ""] "When.",
        link: i32 as "link" ["" "link"] "The link.",
        direction: i32 as "direction" ["" "direction"] "Its direction; `both` for half duplex.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        kind: i32 as "kind" ["" "packet_kind"] "Data, ACK or handshake packet.",
        seq: i64 as "seq" ["" ""] "Packet number; of an ACK, the packet that caused it.",
        bytes: i32 as "bytes" ["B" ""] "Size on the wire.",
        reason: i32 as "reason" ["" "drop_reason"] "Why.",
        reverse: bool as "reverse" ["" ""] "On a half-duplex link: from its second end to its first.",
        id: i64 as "packet_id" ["" ""] "The packet: all packets of a run are numbered from 0 as they are made.",
    }
    /// A packet waits in a queue when the run ends.
    waiting / WaitingRow / waiting: "Packets still in queues when the run ends." {
        time: Time as "time_s" ["s" ""] "When it arrived at the queue.",
        link: i32 as "link" ["" "link"] "The link.",
        direction: i32 as "direction" ["" "direction"] "Its direction; `both` for half duplex.",
        flow: i32 as "flow" ["" "flow?"] "The flow; none for a router's packet.",
        kind: i32 as "kind" ["" "packet_kind"] "Data, ACK or router packet.",
        bytes: i32 as "bytes" ["B" ""] "Size on the wire.",
        seq: i64 as "seq" ["" ""] "As in `packets`; of a router's packet, the router.",
        reverse: bool as "reverse" ["" ""] "On a half-duplex link: from its second end to its first.",
        id: i64 as "packet_id" ["" ""] "The packet: all packets of a run are numbered from 0 as they are made.",
    }
    /// A router changed its next hop.
    routes / RouteRow / route: "Next hops of routers, at each change." {
        time: Time as "time_s" ["s" ""] "When.",
        router: i32 as "router" ["" "router"] "The router.",
        host: i32 as "host" ["" "host"] "The destination.",
        link: i32 as "link" ["" "link?"] "The link to it from now on; none when the route is gone.",
        previous_link: i32 as "previous_link" ["" "link?"] "The link until now; none for the first route.",
        cost: f64 as "cost_s" ["s" ""] "Distance to the destination by the protocol's measure.",
    }
    /// Something happened to a retransmission timer.
    rto / RtoRow / rto: "Retransmission timers of classic senders: starts, samples, expiries." {
        time: Time as "time_s" ["s" ""] "When.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        event: i8 as "event" ["" "rto_event"] "What.",
        rtt: f64 as "rtt_s" ["s" ""] "The round-trip time measured; NaN where none was.",
        rto: Time as "rto_s" ["s" ""] "The retransmission timeout from now on.",
    }
    /// Something happened to a flow.
    events / EventRow / event: "Starts and ends of flows, timeouts and retransmissions; for modern senders also recoveries and their undo." {
        time: Time as "time_s" ["s" ""] "When.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        event: i32 as "event" ["" "flow_event"] "What.",
        seq: i64 as "seq" ["" ""] "The packet concerned, -1 for a SYN; for `finish` the number of packets.",
    }
    /// A header says more than `packets`.
    headers / HeaderRow / header: "Header fields beyond `packets`: a row for each packet sent with flags, SACK blocks or a changed window." {
        time: Time as "time_s" ["s" ""] "When it was sent.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        id: i64 as "packet_id" ["" ""] "The packet, as in `packets`.",
        capable: bool as "capable" ["" ""] "It may be marked instead of dropped: ECT(0).",
        ece: bool as "ece" ["" ""] "It echoes a mark, or asks for ECN.",
        cwr: bool as "cwr" ["" ""] "The window was reduced, or ECN is asked for.",
        push: bool as "push" ["" ""] "It ends what was written: PSH.",
        fin: bool as "fin" ["" ""] "It ends the data: FIN.",
        window: i64 as "window_bytes" ["B" ""] "The receiver's window; -1 for the one at the start.",
        from_1: i64 as "sack_1_from" ["" ""] "First block: its first byte; -1 for none.",
        to_1: i64 as "sack_1_to" ["" ""] "The byte after its last; -1 for none.",
        from_2: i64 as "sack_2_from" ["" ""] "Second block.",
        to_2: i64 as "sack_2_to" ["" ""] "Second block.",
        from_3: i64 as "sack_3_from" ["" ""] "Third block.",
        to_3: i64 as "sack_3_to" ["" ""] "Third block.",
        from_4: i64 as "sack_4_from" ["" ""] "Fourth block.",
        to_4: i64 as "sack_4_to" ["" ""] "Fourth block.",
    }
    /// The state of a modern sender changed.
    tcp_info / InfoRow / info [|row| row.flow, |row| f64::from(row.in_flight)]: "State of modern senders, as in `struct tcp_info` of Linux, after each event that changes it." {
        time: Time as "time_s" ["s" ""] "When.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        state: i8 as "state" ["" "tcp_state"] "Congestion state.",
        in_flight: i32 as "in_flight" ["" ""] "Segments in flight: sent, and neither acknowledged, SACKed nor lost, plus retransmissions.",
        sacked: i32 as "sacked" ["" ""] "SACKed segments.",
        lost: i32 as "lost" ["" ""] "Segments that count as lost.",
        retransmitted: i32 as "retransmitted" ["" ""] "Retransmissions in flight.",
        retransmissions: i64 as "retransmissions" ["" ""] "Segments retransmitted so far.",
        cwnd: f64 as "cwnd" ["" ""] "Congestion window, segments.",
        ssthresh: f64 as "ssthresh" ["" ""] "Slow-start threshold, segments; infinite for none.",
        srtt: f64 as "srtt_s" ["s" ""] "Smoothed round-trip time; NaN before the first.",
        rttvar: f64 as "rttvar_s" ["s" ""] "Mean deviation of round-trip times; NaN before the first.",
        min_rtt: f64 as "min_rtt_s" ["s" ""] "Minimum round-trip time; NaN before the first.",
        rto: Time as "rto_s" ["s" ""] "Retransmission timeout.",
        delivered: i64 as "delivered" ["" ""] "Segments delivered so far, the SYN included.",
        delivery_rate: f64 as "delivery_rate_bps" ["bit/s" ""] "Latest valid sample of the delivery rate; NaN before the first.",
        pacing_rate: f64 as "pacing_rate_bps" ["bit/s" ""] "Pacing rate; NaN without pacing.",
        reordering: i32 as "reordering" ["" ""] "Reordering distance seen, segments; at least 3.",
        reo_wnd: Time as "reo_wnd_s" ["s" ""] "Reordering window: how long a segment may be late before it counts as lost (RFC 8985).",
    }
    /// A rule changed a window.
    window_rules / RuleRow / rule: "Window changes of modern senders, each with its rule; simultaneous changes are in order." {
        time: Time as "time_s" ["s" ""] "When.",
        flow: i32 as "flow" ["" "flow"] "The flow.",
        rule: i32 as "rule" ["" "window_rule"] "The rule.",
        cwnd_before: f64 as "cwnd_before_bytes" ["B" ""] "Congestion window before.",
        cwnd: f64 as "cwnd_bytes" ["B" ""] "Congestion window from now on.",
        ssthresh_before: f64 as "ssthresh_before_bytes" ["B" ""] "Slow-start threshold before; infinite for none.",
        ssthresh: f64 as "ssthresh_bytes" ["B" ""] "Slow-start threshold from now on; infinite for none.",
    }
    /// What a queue discipline computes has changed.
    aqm / AqmRow / aqm [|row| (3 * row.link + i32::from(row.direction)) * aqm_variable::NAMES.len() as i32 + i32::from(row.variable), |row| row.value]: "What queue disciplines compute, such as RED's average, after each packet that changes it." {
        time: Time as "time_s" ["s" ""] "When.",
        link: i32 as "link" ["" "link"] "The link.",
        direction: i8 as "direction" ["" "direction"] "Its direction; `both` for half duplex.",
        variable: i8 as "variable" ["" "aqm_variable"] "What it computes.",
        value: f64 as "value" ["" ""] "Its value from now on; of `dropping` 1 or 0.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wanted_tables_are_kept() {
        let mut columns = Columns::new(|name| if name == "rtt" { Keep::All } else { Keep::None });
        columns.rtt(RttRow { time: Time::from_ms(1500), flow: 2, rtt: Time::from_ms(20) });
        columns.event(EventRow { time: Time::ZERO, flow: 0, event: flow_event::START, seq: 0 });
        let tables = columns.finish();
        assert_eq!(tables.len(), 1);
        let (name, columns) = &tables[0];
        assert_eq!(*name, "rtt");
        assert_eq!(columns[0], ("time_s", Column::F64(vec![1.5])));
        assert_eq!(columns[1], ("flow", Column::I32(vec![2])));
        assert_eq!(columns[2], ("rtt_s", Column::F64(vec![0.02])));
    }

    #[test]
    fn every_category_of_a_column_is_known_and_units_end_the_names() {
        let fixed: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
        for table in TABLES {
            for column in table.columns {
                let known = ["", "flow", "link", "host", "router"].contains(&column.category())
                    || fixed.contains(&column.category());
                assert!(known, "{}.{}: {}", table.name, column.name, column.category());
                if column.unit == "s" {
                    assert!(column.name.ends_with("_s"), "{}", column.name);
                }
            }
        }
    }

    #[test]
    fn codes_count_up_with_their_words() {
        assert_eq!(flow_event::NAMES[flow_event::GAP_RETRANSMIT as usize], "gap-retransmit");
        assert_eq!(direction::NAMES[direction::BACKWARD as usize], "backward");
    }
}
