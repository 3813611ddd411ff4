//! The state machine of recoveries (Linux, `tcp_fastretrans_alert`, of which each function here is named).

use super::ack::Acked;
use super::{Leave, Sender};
use crate::cc::{CongestionControl, CongestionState, Signal};
use crate::journal::{Episode, Rule};
use crate::senders::modern::stamps::is_before;
use ackclock_units::Time;

impl Sender {
    /// An ACK that is not simply of new data in order, or a state that is not simply open.
    #[cold]
    pub(super) fn alert(&mut self, acked: &mut Acked) {
        if acked.ece {
            self.undo.ssthresh = None;
        }
        if acked.reneged && acked.advanced {
            return self.wait_for_reneged(acked);
        }
        if self.state == CongestionState::Open {
            self.undo.stamp = None;
        } else if self.board.una >= self.high_seq {
            match self.state {
                CongestionState::Cwr if self.board.una > self.high_seq => {
                    self.end_reduction();
                    self.set_state(acked.now, CongestionState::Open);
                }
                CongestionState::Recovery => {
                    self.forget_counted();
                    if self.finish_recovery(acked) {
                        return;
                    }
                    self.end_reduction();
                    if self.leaves_as_ns3(acked) {
                        return;
                    }
                }
                _ => {}
            }
        }
        match self.state {
            CongestionState::Recovery => {
                if !acked.advanced {
                    self.count_repeated(acked);
                } else if self.undo_partly(acked) {
                    self.leave = Leave::NoHoles;
                    return;
                }
                if self.undo_by_duplicates() {
                    self.try_open(acked);
                }
                self.look_for_losses(acked);
                if self.state != CongestionState::Recovery {
                    if self.board.lost_out == 0 {
                        self.leave = Leave::NoHoles;
                        return;
                    }
                    self.enter_recovery(acked.now, acked.ece);
                }
            }
            CongestionState::Loss => {
                self.on_ack_in_loss(acked);
                self.look_for_losses(acked);
                if self.state != CongestionState::Open && !acked.lost_again {
                    return;
                }
                self.recover_or_open(acked);
            }
            _ => {
                if acked.advanced {
                    self.forget_counted();
                }
                self.count_repeated(acked);
                self.recover_or_open(acked);
            }
        }
    }

    fn recover_or_open(&mut self, acked: &mut Acked) {
        if self.state <= CongestionState::Disorder {
            self.undo_by_duplicates();
        }
        self.look_for_losses(acked);
        if self.board.lost_out == 0 {
            self.try_open(acked);
            return;
        }
        self.enter_recovery(acked.now, acked.ece);
        self.leave = Leave::Holes;
    }

    /// Looks for losses, and arms the timer for those that could come (`tcp_identify_packet_loss`).
    fn look_for_losses(&mut self, acked: &mut Acked) {
        let again = self.board.retrans_out;
        if !self.rules.sack {
            self.lose_first(acked);
        } else if self.rules.uses_rack {
            if self.rack.advanced {
                self.rack.advanced = false;
                if let Some(wait) = self.detect(acked.now) {
                    self.arm_reordering(acked.now, wait);
                    acked.sets_timer = false;
                }
            }
        } else {
            self.board.lose_below_dup_thresh();
        }
        acked.lost_again |= self.board.retrans_out < again;
    }

    /// Counts segments as lost by time; how long to wait for others.
    pub(super) fn detect(&mut self, now: Time) -> Option<Time> {
        let srtt = self.srtt();
        let in_recovery = self.state >= CongestionState::Recovery;
        self.rack.detect(now, &mut self.board, in_recovery, self.min_rtt, srtt)
    }

    /// The receiver has thrown away what it had reported: the timer comes soon (`tcp_check_sack_reneging`).
    fn wait_for_reneged(&mut self, acked: &mut Acked) {
        let wait = Time::from_ns(self.srtt().as_ns() / 2).max(Time::from_ms(10));
        self.arm_timeout(acked.now, wait);
        acked.sets_timer = false;
        self.leave = Leave::NoHoles;
    }

    /// Whether something that was retransmitted may still be on its way (`tcp_any_retrans_done`).
    pub(super) fn may_have_retransmissions(&self) -> bool {
        let (first, end) = self.board.span();
        self.board.retrans_out > 0 || (first < end && self.board.get(first).was_retransmitted())
    }

    /// Nothing is lost (`tcp_try_to_open`).
    fn try_open(&mut self, acked: &Acked) {
        if !self.may_have_retransmissions() {
            self.undo.stamp = None;
        }
        if acked.ece {
            self.enter_cwr(acked.now);
        }
        if self.state != CongestionState::Cwr {
            self.keep_open(acked.now);
        }
    }

    /// Open, or disorder while something is out of order or was retransmitted (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, now: Time) {
        let board = &self.board;
        let orderly = board.sacked_out + board.lost_out == 0 && !self.may_have_retransmissions();
        let state = if orderly { CongestionState::Open } else { CongestionState::Disorder };
        if self.state != state {
            self.set_state(now, state);
            self.high_seq = self.nxt;
        }
    }

    /// A mark was echoed: the window is reduced as for a loss, but nothing is lost (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, now: Time) {
        self.undo.ssthresh = None;
        if self.state < CongestionState::Cwr {
            self.undo.marker = None;
            self.ecn_reductions += 1;
            self.begin_reduction(now, Signal::Ecn);
            self.note(Rule::Mark);
            self.set_state(now, CongestionState::Cwr);
        }
    }

    /// Something counts as lost (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.begin_undo();
        if !self.is_reducing() {
            self.undo.ssthresh = (!ece).then(|| self.current_ssthresh());
            self.begin_reduction(now, Signal::Gap);
            self.note(Rule::Recovery);
        }
        self.fast = true;
        self.set_state(now, CongestionState::Recovery);
    }

    /// What follows may turn out needless (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = self.rules.undo.then_some(self.board.una);
        self.undone = false;
        let probe = self.probe.is_some_and(|(_, again)| again);
        let out = i64::from(self.board.retrans_out) + i64::from(probe);
        // Zero would mean that all were needless.
        self.undo.retransmissions = if out == 0 { -1 } else { out };
    }

    /// The reduction of a recovery, or of a mark, begins (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, now: Time, signal: Signal) {
        self.high_seq = self.nxt;
        self.probe = None;
        self.undo.cwnd = self.window.cwnd;
        self.begin_fall();
        self.ask_ssthresh(now, signal);
        self.cwr = true;
    }

    /// The window is what the threshold says, unless the reduction was undone (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self) {
        let undone = self.state != CongestionState::Cwr && self.undone;
        if !self.cc.owns_window() && self.window.ssthresh.is_finite() && !undone {
            self.window.cwnd = self.window.ssthresh;
            self.note(Rule::Exit);
        }
    }

    /// Whether the timestamp of the ACK is from before the first retransmission (`tcp_packet_delayed`).
    fn is_from_before(&self, acked: &Acked) -> bool {
        match self.undo.stamp {
            Some(stamp) => is_before(acked.echo, stamp),
            // Without SACK the end of a recovery forgets it while its state is held.
            None => self.rules.sack || self.board.una < self.high_seq,
        }
    }

    fn may_undo(&self, acked: &Acked) -> bool {
        self.undo.marker.is_some() && (self.undo.retransmissions == 0 || self.is_from_before(acked))
    }

    /// What shows that the reduction was needless, if something does.
    fn rule_of_undo(&self) -> Rule {
        if self.undo.retransmissions == 0 { Rule::UndoDsack } else { Rule::UndoTimestamps }
    }

    /// Everything is as before (`tcp_undo_cwnd_reduction`).
    fn undo(&mut self, rule: Rule, forgets_losses: bool) {
        if forgets_losses {
            self.board.forget_losses();
        }
        if let Some(ssthresh) = self.undo.ssthresh {
            self.cc.on_undo(&mut self.window, self.undo.cwnd);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.cwr = false;
            }
            self.note(rule);
            self.note_episode(Episode::Undo, self.board.una);
        }
        self.undo.marker = None;
        self.undone = true;
        self.rack.advanced = true;
    }

    /// The recovery, or the repair after a timeout, has reached its end (`tcp_try_undo_recovery`);
    /// whether its state is held nevertheless.
    fn finish_recovery(&mut self, acked: &Acked) -> bool {
        if self.may_undo(acked) {
            self.undo(self.rule_of_undo(), false);
        } else {
            self.rack.on_recovered();
        }
        if self.holds_state() {
            return true;
        }
        self.fast = false;
        self.set_state(acked.now, CongestionState::Open);
        false
    }

    /// A partial ACK of something that was delayed, not lost (`tcp_try_undo_partial`); whether to wait for what is
    /// on its way.
    fn undo_partly(&mut self, acked: &Acked) -> bool {
        if self.undo.marker.is_none() || !self.is_from_before(acked) {
            return false;
        }
        let highest = self.board.highest_sack();
        self.rack.on_reordering(acked.una_before, highest, self.rules.mss);
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.may_have_retransmissions() {
            self.undo.stamp = None;
        }
        self.undo(Rule::UndoTimestamps, true);
        self.keep_open(acked.now);
        false
    }

    /// Every retransmission was reported as a duplicate (`tcp_try_undo_dsack`).
    fn undo_by_duplicates(&mut self) -> bool {
        if self.undo.marker.is_none() || self.undo.retransmissions != 0 {
            return false;
        }
        self.rack.on_needless();
        self.undo(Rule::UndoDsack, false);
        true
    }

    /// After a timeout: undo, F-RTO, or repair (`tcp_process_loss`).
    fn on_ack_in_loss(&mut self, acked: &mut Acked) {
        let recovered = self.board.una >= self.high_seq;
        if acked.advanced && self.may_undo(acked) {
            return self.undo_loss(acked.now, self.rule_of_undo());
        }
        if self.frto {
            if acked.original && self.rules.undo {
                return self.undo_loss(acked.now, Rule::UndoFrto);
            }
            if self.nxt > self.high_seq {
                if acked.sacked || (!acked.advanced && !acked.repeated) {
                    self.frto = false;
                }
            } else if acked.advanced && !recovered {
                self.high_seq = self.nxt;
                if self.nxt < self.end && self.nxt < self.board.una + self.receive_window {
                    self.leave = Leave::New;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.forget_counted();
            self.finish_recovery(acked);
        } else if self.nxt > self.high_seq && acked.plain {
            self.count_repeated(acked);
        } else if acked.advanced {
            self.forget_counted();
        }
    }

    fn undo_loss(&mut self, now: Time, rule: Rule) {
        self.undo(rule, true);
        self.retransmits = 0;
        // Without SACK only F-RTO ends the state, as what arrived cannot be distinguished.
        if self.holds_state() || !(self.rules.sack || rule == Rule::UndoFrto) {
            return;
        }
        self.fast = false;
        self.set_state(now, CongestionState::Open);
    }

    /// An ACK while a probe is out (`tcp_process_tlp_ack`).
    #[cold]
    pub(super) fn on_probe_ack(&mut self, acked: &Acked, ack: u64) {
        let Some((end, again)) = self.probe else { return };
        if ack < end {
            return;
        }
        if !again || acked.repeated_probe {
            self.probe = None;
        } else if ack > end {
            // The probe has repaired a loss.
            self.begin_reduction(acked.now, Signal::Gap);
            self.note(Rule::ProbeRepair);
            self.set_state(acked.now, CongestionState::Cwr);
            self.end_reduction();
            self.keep_open(acked.now);
        } else if !acked.advanced && !acked.sacked {
            self.probe = None;
        }
    }
}
