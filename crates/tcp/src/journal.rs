//! What a sender writes down while it is recorded: the rules that set its window, and the episodes it goes through.
//!
//! A sender that is not recorded has no journal. What happens at nearly every ACK is not written down but worked out
//! afterwards: a window that has changed without a rule has grown.

use crate::cc::Window;

/// What set the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The initial window (RFC 6928).
    Initial,
    /// Growth below the threshold.
    SlowStart,
    /// Growth above it, as the congestion control says.
    Avoidance,
    /// A law of the congestion control that knows neither, or that makes the window smaller (Vegas, FAST).
    Own,
    /// The congestion control ends slow start without a loss (HyStart).
    SlowStartExit,
    /// A recovery begins: the congestion control gives a threshold (RFC 5681, RFC 6675).
    Recovery,
    /// A mark was echoed (RFC 3168).
    Mark,
    /// A probe has repaired a loss (RFC 8985 section 7.4).
    ProbeRepair,
    /// Proportional rate reduction (RFC 6937).
    Prr,
    /// The threshold at once (RFC 6675).
    Pipe,
    /// The reduction is over: the window is the threshold.
    Exit,
    /// The retransmission timer has expired (RFC 5681 equation 4).
    Timeout,
    /// Each retransmission was reported as a duplicate (RFC 3708).
    UndoDsack,
    /// The echoed timestamp is from before the retransmission (RFC 3522).
    UndoTimestamps,
    /// An original was acknowledged after the timeout (RFC 5682).
    UndoFrto,
    /// The flow was idle (RFC 2861).
    Idle,
    /// The first message of the handshake was lost (RFC 6298 section 5.7).
    SynLost,
    /// Phases of BBR.
    BbrStartup,
    /// See [`Rule::BbrStartup`].
    BbrDrain,
    /// See [`Rule::BbrStartup`].
    BbrProbeBw,
    /// See [`Rule::BbrStartup`].
    BbrProbeRtt,
    /// BBR keeps to what is in flight after a loss, or has lost something.
    BbrRecovery,
}

/// What a sender goes through; the byte that it is about is given with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Episode {
    /// Fast recovery begins.
    Recovery,
    /// The window is reduced without a recovery.
    Reduction,
    /// A recovery, a reduction, or the repair after a timeout ends.
    End,
    /// A reduction turned out needless and was undone.
    Undo,
    /// A retransmission was needless: the receiver had the data.
    Spurious,
    /// A new segment leaves as a probe for the loss of the last ones.
    Probe,
}

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// A rule has set the window and the threshold to this.
    Rule(Rule, Window),
    /// An episode, and the byte that it is about.
    Episode(Episode, u64),
}

/// The journal of a sender.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    entries: Vec<Entry>,
    /// The window as it was written down last.
    known: Option<Window>,
    /// Segments and nanoseconds of the delivery rate (Linux, `rate_delivered`, `rate_interval_us`).
    pub rate: Option<(u64, u64)>,
}

impl Journal {
    /// A rule has set the window.
    pub fn rule(&mut self, rule: Rule, window: Window) {
        if self.known != Some(window) {
            self.known = Some(window);
            self.entries.push(Entry::Rule(rule, window));
        }
    }

    /// The window is this; if it has changed without a rule, it has grown, or `phase` has set it, or another law
    /// of the congestion control.
    pub fn settle(&mut self, window: Window, phase: Option<Rule>) {
        let rule = match self.known {
            None => Rule::Initial,
            Some(known) if known == window => return,
            Some(known) => phase.unwrap_or({
                if window.ssthresh < known.ssthresh {
                    Rule::SlowStartExit
                } else if window.cwnd < known.cwnd {
                    Rule::Own
                } else if known.in_slow_start() {
                    Rule::SlowStart
                } else {
                    Rule::Avoidance
                }
            }),
        };
        self.rule(rule, window);
    }

    /// An episode, and the byte that it is about.
    pub fn episode(&mut self, episode: Episode, seq: u64) {
        self.entries.push(Entry::Episode(episode, seq));
    }

    /// The entries, which are taken out with it.
    pub fn take(&mut self) -> impl Iterator<Item = Entry> {
        self.entries.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, segment: 1.0 }
    }

    #[test]
    fn what_no_rule_explains_is_growth_or_the_work_of_the_congestion_control() {
        let mut journal = Journal::default();
        journal.settle(window(10.0, f64::INFINITY), None);
        journal.settle(window(12.0, f64::INFINITY), None);
        journal.settle(window(12.0, f64::INFINITY), None);
        journal.settle(window(12.0, 12.0), None);
        journal.settle(window(13.0, 12.0), None);
        journal.settle(window(12.5, 12.0), None);
        journal.settle(window(13.0, 12.0), None);
        journal.rule(Rule::Recovery, window(13.0, 9.0));
        journal.episode(Episode::Recovery, 7);
        journal.settle(window(13.0, 9.0), None);
        let rules: Vec<Entry> = journal.take().collect();
        assert_eq!(
            rules,
            [
                Entry::Rule(Rule::Initial, window(10.0, f64::INFINITY)),
                Entry::Rule(Rule::SlowStart, window(12.0, f64::INFINITY)),
                Entry::Rule(Rule::SlowStartExit, window(12.0, 12.0)),
                Entry::Rule(Rule::Avoidance, window(13.0, 12.0)),
                Entry::Rule(Rule::Own, window(12.5, 12.0)),
                Entry::Rule(Rule::Avoidance, window(13.0, 12.0)),
                Entry::Rule(Rule::Recovery, window(13.0, 9.0)),
                Entry::Episode(Episode::Recovery, 7),
            ]
        );
        assert_eq!(journal.take().count(), 0);
    }

    #[test]
    fn a_phase_of_the_congestion_control_explains_the_rest() {
        let mut journal = Journal::default();
        journal.settle(window(10.0, f64::INFINITY), Some(Rule::BbrStartup));
        journal.settle(window(4.0, f64::INFINITY), Some(Rule::BbrProbeRtt));
        let last = journal.take().last();
        assert_eq!(last, Some(Entry::Rule(Rule::BbrProbeRtt, window(4.0, f64::INFINITY))));
    }
}
