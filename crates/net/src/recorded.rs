//! What is recorded of senders and of headers; nothing of it runs where nothing is recorded.

use crate::flow::TcpFlow;
use crate::packet::{Ecn, Kind, Packet};
use ackclock_tcp::cc::{CongestionState, Window};
use ackclock_tcp::journal::{Entry, Episode, Rule};
use ackclock_tcp::modern::Info;
use ackclock_tcp::{AckFields, Connection, Ends, Flags};
use ackclock_trace::{
    Costly, EventRow, HeaderRow, InfoRow, Recorder, RuleRow, flow_event, tcp_state, window_rule,
};
use ackclock_units::Time;

/// What was recorded of a flow last, so that only changes are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Last {
    window: Option<Window>,
    info: Option<Info>,
}

impl TcpFlow {
    /// From now on it is recorded.
    pub(crate) fn watch(&mut self) {
        self.connection.watch();
        self.last = self.connection.info().is_some().then(Box::default);
    }

    /// Records what the sender has written down.
    #[inline(always)]
    pub(crate) fn record_journal<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        if self.last.is_some() {
            self.record_entries(time, flow, recorder);
        }
    }

    fn record_entries<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        let bytes = f64::from(self.connection.segment_bytes());
        let (Some(journal), Some(last)) = (self.connection.journal(), &mut self.last) else {
            return;
        };
        let flow = flow as i32;
        for entry in journal.take() {
            match entry {
                Entry::Rule(rule, window) => {
                    let before = last.window.replace(window).unwrap_or(window);
                    recorder.rule(RuleRow {
                        time,
                        flow,
                        rule: code_of(rule),
                        cwnd_before: before.cwnd * bytes,
                        cwnd: window.cwnd * bytes,
                        ssthresh_before: before.ssthresh * bytes,
                        ssthresh: window.ssthresh * bytes,
                    });
                }
                Entry::Episode(episode, seq) => {
                    let event = match episode {
                        Episode::Recovery => flow_event::RECOVERY,
                        Episode::Reduction => flow_event::REDUCTION,
                        Episode::End => flow_event::RECOVERY_END,
                        Episode::Undo => flow_event::UNDO,
                        Episode::Spurious => flow_event::SPURIOUS,
                        Episode::Probe => flow_event::PROBE,
                    };
                    recorder.event(EventRow { time, flow, event, seq: i64::from(seq as u32) });
                }
            }
        }
    }

    /// Records the state of the sender if it has changed.
    #[inline(always)]
    pub(crate) fn record_info<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        if self.last.is_some() && recorder.keeps(Costly::States) {
            self.record_state(time, flow, recorder);
        }
    }

    fn record_state<R: Recorder>(&mut self, time: Time, flow: u32, recorder: &mut R) {
        let (Some(info), Some(last)) = (self.connection.info(), &mut self.last) else { return };
        if last.info.as_ref() == Some(&info) {
            return;
        }
        last.info = Some(info);
        let secs = |time: Time| if time == Time::ZERO { f64::NAN } else { time.as_secs() };
        let in_flight = info.packets_out + info.retrans_out - info.sacked_out - info.lost_out;
        recorder.info(InfoRow {
            time,
            flow: flow as i32,
            state: match info.state {
                CongestionState::Open => tcp_state::OPEN,
                CongestionState::Disorder => tcp_state::DISORDER,
                CongestionState::Cwr => tcp_state::CWR,
                CongestionState::Recovery => tcp_state::RECOVERING,
                CongestionState::Loss => tcp_state::LOSS,
            } as i8,
            in_flight: in_flight as i32,
            sacked: info.sacked_out as i32,
            lost: info.lost_out as i32,
            retransmitted: info.retrans_out as i32,
            retransmissions: info.retransmissions as i64,
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            srtt: secs(info.srtt),
            rttvar: if info.srtt == Time::ZERO { f64::NAN } else { info.rttvar.as_secs() },
            min_rtt: info.min_rtt.map_or(f64::NAN, Time::as_secs),
            rto: info.rto,
            delivered: info.delivered as i64,
            delivery_rate: info.delivery_rate.unwrap_or(f64::NAN),
            pacing_rate: info.pacing_rate.map_or(f64::NAN, |rate| rate as f64),
            reordering: info.reordering as i32,
            reo_wnd: info.reo_wnd,
        });
    }
}

fn code_of(rule: Rule) -> i32 {
    match rule {
        Rule::Initial => window_rule::INITIAL,
        Rule::SlowStart => window_rule::SLOW_START,
        Rule::Avoidance => window_rule::AVOIDANCE,
        Rule::SlowStartExit => window_rule::SLOW_START_EXIT,
        Rule::Recovery => window_rule::RECOVERY,
        Rule::Mark => window_rule::MARK,
        Rule::ProbeRepair => window_rule::PROBE_REPAIR,
        Rule::Prr => window_rule::PRR,
        Rule::Pipe => window_rule::PIPE,
        Rule::Exit => window_rule::EXIT,
        Rule::Timeout => window_rule::TIMEOUT,
        Rule::UndoDsack => window_rule::UNDO_DSACK,
        Rule::UndoTimestamps => window_rule::UNDO_TIMESTAMPS,
        Rule::UndoFrto => window_rule::UNDO_FRTO,
        Rule::Idle => window_rule::IDLE,
        Rule::SynLost => window_rule::SYN_LOST,
        Rule::BbrStartup => window_rule::BBR_STARTUP,
        Rule::BbrDrain => window_rule::BBR_DRAIN,
        Rule::BbrProbeBw => window_rule::BBR_PROBE_BW,
        Rule::BbrProbeRtt => window_rule::BBR_PROBE_RTT,
        Rule::BbrRecovery => window_rule::BBR_RECOVERY,
        Rule::Own => window_rule::OWN,
    }
}

/// The row of a packet that is sent, if its headers say more than `packets` does.
#[inline(always)]
pub(crate) fn header_row(
    time: Time,
    id: i64,
    packet: &Packet,
    connection: Option<&Connection>,
) -> Option<HeaderRow> {
    let flags = if packet.kind() == Kind::Data { packet.flags() } else { Flags::NONE };
    let note = match (packet.kind(), connection) {
        (Kind::Ack, Some(connection)) => {
            let (seq, aux, stamp) = (packet.seq, packet.aux, packet.stamp);
            connection.note(AckFields { seq, aux, stamp })
        }
        _ => None,
    };
    let capable = packet.ecn() != Ecn::NotEct;
    if flags == Flags::NONE && !capable && !packet.is_ece() && note.is_none() {
        return None;
    }
    let block = |at: usize| note.and_then(|note| note.blocks().get(at).copied());
    let from = |at| block(at).map_or(-1, |(from, _)| from as i64);
    let to = |at| block(at).map_or(-1, |(_, to)| to as i64);
    Some(HeaderRow {
        time,
        flow: packet.flow_code(),
        id,
        capable,
        ece: packet.is_ece(),
        cwr: packet.is_cwr(),
        push: flags.has(Flags::PUSH),
        fin: flags.has(Flags::FIN),
        window: note.and_then(|note| note.window).map_or(-1, i64::from),
        from_1: from(0),
        to_1: to(0),
        from_2: from(1),
        to_2: to(1),
        from_3: from(2),
        to_3: to(2),
        from_4: from(3),
        to_4: to(3),
    })
}
