//! What the sender writes down while it is recorded.

use super::Sender;
use crate::cc::{CongestionControl, CongestionState, RateSample};
use crate::journal::{Episode, Journal, Rule};

impl Sender {
    /// From now on it is recorded. Delivery rates are measured, also for a congestion control that does not ask.
    pub fn watch(&mut self) {
        self.journal = Some(Box::default());
        self.rate.get_or_insert_default();
    }

    /// What it has written down.
    pub fn journal(&mut self) -> Option<&mut Journal> {
        let (window, phase) = (self.window, self.cc.phase());
        let journal = self.journal.as_deref_mut()?;
        if self.started {
            journal.settle(window, phase);
        }
        Some(journal)
    }

    /// A rule has set the window.
    #[inline]
    pub(super) fn note(&mut self, rule: Rule) {
        if let Some(journal) = &mut self.journal {
            journal.rule(rule, self.window);
        }
    }

    /// An episode, and the byte that it is about.
    #[inline]
    pub(super) fn note_episode(&mut self, episode: Episode, seq: u64) {
        if let Some(journal) = &mut self.journal {
            journal.episode(episode, seq);
        }
    }

    /// The state is about to change: what that begins or ends. A timeout is recorded as the retransmission that it
    /// brings about.
    pub(super) fn note_state(&mut self, state: CongestionState) {
        let is_episode = |state| state >= CongestionState::Cwr;
        let una = self.board.una;
        match state {
            CongestionState::Recovery => self.note_episode(Episode::Recovery, una),
            CongestionState::Cwr => self.note_episode(Episode::Reduction, una),
            CongestionState::Loss => {}
            _ if is_episode(self.state) => self.note_episode(Episode::End, una),
            _ => {}
        }
    }

    /// A delivery rate was measured (`tcp_rate_gen`): one that the application limits counts if it is higher.
    pub(super) fn note_rate(&mut self, sample: &RateSample) {
        let Some(journal) = &mut self.journal else { return };
        let Some(delivered) = sample.delivered else { return };
        let interval = sample.interval.as_ns();
        let higher = journal.rate.is_none_or(|(most, during)| {
            u128::from(delivered) * u128::from(during) >= u128::from(most) * u128::from(interval)
        });
        if !sample.app_limited || higher {
            journal.rate = Some((delivered, interval));
        }
    }
}
