//! Rules of the classic sender's one retransmission timer.
//!
//! Source: RFC 6298 section 5 for the default, as the choices say; how long the wait is, [`crate::rto`] says.

/// Rules of the retransmission timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerRules {
    /// When it starts anew.
    pub restart: Restart,
    /// The wait is doubled whenever a segment starts the timer, not when the timer expires.
    pub backs_off_at_start: bool,
}

/// When the retransmission timer is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// On each ACK of new data while data are outstanding (RFC 6298 section 5.3).
    OnAck,
    /// The same, but with the RTO as it was before the ACK's sample.
    OnAckOldRto,
    /// On each ACK of new data and with each fast retransmit.
    OnAckAndRepair,
    /// The same as the first, and also while nothing is outstanding but more is to be sent.
    OnAckAlways,
    /// An ACK of new data stops it, and only the next segment sent starts it: defective, for a lost last
    /// segment then has no timer.
    OnSend,
}

impl Restart {
    /// The rule that a scenario named.
    pub fn new(word: &str) -> Self {
        match word {
            "on-ack" => Self::OnAck,
            "on-ack-old-rto" => Self::OnAckOldRto,
            "on-ack-always" => Self::OnAckAlways,
            "on-ack-and-repair" => Self::OnAckAndRepair,
            "on-send" => Self::OnSend,
            other => panic!("no timer rule is named `{other}`"),
        }
    }
}
