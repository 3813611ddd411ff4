//! What a run can write down: typed tables with units, and the recorder that fills them.
//!
//! Invariant: recording never changes a run. The world calls a [`Recorder`]; the one that records
//! nothing is a type of its own, and so is the one for what senders know of themselves, so that the other calls vanish
//! from the compiled code.

mod column;
mod digest;
mod ids;
mod parts;
mod rows;
mod sampling;
mod store;
mod tables;

pub use column::Column;
pub use digest::Digest;
pub use ids::PacketIds;
pub use parts::{Moment, Numbers};
pub use sampling::Keep;
pub use tables::{
    AqmRow, CATEGORIES, ColumnInfo, Columns, CwndRow, DropRow, EventRow, HeaderRow, InfoRow,
    MarkRow, OF_SENDERS, PacketRow, QueueRow, RouteRow, RtoRow, RttRow, RuleRow, SenderColumns,
    Size, TABLES, Table, TableInfo, TransmissionRow, WaitingRow, aqm_variable, cc_state, direction,
    drop_reason, flow_event, packet_event, packet_kind, row_bytes, rto_event, tcp_state,
    window_rule,
};

/// Receives what happens in a run.
pub trait Recorder {
    /// Whether anything is recorded at all.
    const ON: bool;
    /// Whether anything is recorded beside what senders know of themselves.
    const PACKETS: bool;

    /// What comes belongs to this event; called where the rows of several parts of a network are put in order later.
    fn at(&mut self, _moment: Moment) {}
    /// Whether rows of this kind are kept: others need not be worked out.
    fn keeps(&self, what: Costly) -> bool;
    /// Numbers of packets; asked for only where these are recorded.
    fn ids(&mut self) -> &mut PacketIds;
    /// A host sent or received a packet.
    fn packet(&mut self, row: PacketRow);
    /// A congestion window changed.
    fn cwnd(&mut self, row: CwndRow);
    /// A round-trip time was measured.
    fn rtt(&mut self, row: RttRow);
    /// A queue changed.
    fn queue(&mut self, row: QueueRow);
    /// A link began to transmit a packet.
    fn transmission(&mut self, row: TransmissionRow);
    /// A packet was dropped.
    fn drop(&mut self, row: DropRow);
    /// A packet was marked.
    fn mark(&mut self, row: MarkRow);
    /// A packet waits in a queue when the run ends.
    fn waiting(&mut self, row: WaitingRow);
    /// A router changed its next hop.
    fn route(&mut self, row: RouteRow);
    /// Something happened to a retransmission timer.
    fn rto(&mut self, row: RtoRow);
    /// Something happened to a flow.
    fn event(&mut self, row: EventRow);
    /// A header says more than its packet's row.
    fn header(&mut self, row: HeaderRow);
    /// The state of a sender changed.
    fn info(&mut self, row: InfoRow);
    /// A rule changed a window.
    fn rule(&mut self, row: RuleRow);
    /// What a queue discipline computes has changed.
    fn aqm(&mut self, row: AqmRow);
}

/// What takes more to find out than to write down.
#[derive(Debug, Clone, Copy)]
pub enum Costly {
    /// What happens to retransmission timers (`rto`).
    Timers,
    /// What senders write down of themselves (`events`, `tcp_info`, `window_rules`).
    Journals,
    /// The whole state of senders (`tcp_info`).
    States,
    /// What queue disciplines compute (`aqm`).
    Queues,
}

/// Records nothing.
#[derive(Debug, Default)]
pub struct NoRecord;

impl Recorder for NoRecord {
    const ON: bool = false;
    const PACKETS: bool = false;

    fn keeps(&self, _what: Costly) -> bool {
        false
    }
    fn ids(&mut self) -> &mut PacketIds {
        unreachable!("nothing is recorded")
    }
    fn packet(&mut self, _row: PacketRow) {}
    fn cwnd(&mut self, _row: CwndRow) {}
    fn rtt(&mut self, _row: RttRow) {}
    fn queue(&mut self, _row: QueueRow) {}
    fn transmission(&mut self, _row: TransmissionRow) {}
    fn drop(&mut self, _row: DropRow) {}
    fn mark(&mut self, _row: MarkRow) {}
    fn waiting(&mut self, _row: WaitingRow) {}
    fn route(&mut self, _row: RouteRow) {}
    fn rto(&mut self, _row: RtoRow) {}
    fn event(&mut self, _row: EventRow) {}
    fn header(&mut self, _row: HeaderRow) {}
    fn info(&mut self, _row: InfoRow) {}
    fn rule(&mut self, _row: RuleRow) {}
    fn aqm(&mut self, _row: AqmRow) {}
}
