//! Options that several recoveries of the classic sender share.

use ackclock_units::param::{Choice, Chosen, Kind, Param};

/// Whether data sent after a lost segment count as unsent.
pub const GO_BACK_N: Param = Param::new(
    "later_data",
    Kind::Choice(&[
        Choice::new("unsent", "retransmitted after the lost segment (go-back-N)"),
        Choice::new("in-flight", "only the lost segment is retransmitted"),
    ]),
    "unsent",
    "How data sent after a lost segment are treated.",
);

/// The same, for recoveries that keep later data in flight.
pub const AFTER_TIMEOUT: Param = Param::new(
    "later_data",
    Kind::Choice(&[
        Choice::new("unsent", "retransmitted after the lost segment (go-back-N)"),
        Choice::new("in-flight", "only the lost segment is retransmitted"),
    ]),
    "unsent",
    "How data sent after a segment whose timer has expired are treated.",
);

/// Number of duplicate ACKs that make a loss.
pub const THRESHOLD: Param = Param::new(
    "threshold",
    Kind::Count,
    "3",
    "Duplicate ACKs after which a segment counts as lost (RFC 5681 section 3.2).",
);

/// Guard against a second fast retransmit for the same window.
pub const GUARD: Param = Param::new(
    "guard",
    Kind::Choice(&[
        Choice::new(
            "recover",
            "no second fast retransmit until more is acknowledged than was sent before the first one, or before a timeout (RFC 6582 section 3.2, ns-2's bugFix_)",
        ),
        Choice::new(
            "recover-or-first",
            "the same, but the first segment of a flow is exempt (ns-2's bugFix_ with bugfix_ss_)",
        ),
        Choice::new(
            "outstanding",
            "until all that is acknowledged: duplicates of the ACK that does it count again",
        ),
        Choice::defect(
            "none",
            "a third duplicate ACK always counts as a new loss, as in ns-3.24 and the 2015 Bene lab",
        ),
    ]),
    "recover",
    "Whether one window of losses can trigger several fast retransmits.",
);

/// Whether duplicate ACKs beyond the threshold count again.
pub const REPEAT: Param = Param::new(
    "repeat",
    Kind::Choice(&[
        Choice::new("once", "exactly the third duplicate ACK"),
        Choice::new("every", "every third duplicate ACK: the third, the sixth, ..."),
    ]),
    "once",
    "Which duplicates of one ACK trigger a fast retransmit, as far as `guard` allows.",
);

/// Whether a timeout ends the count of duplicate ACKs.
pub const COUNT_AFTER_TIMEOUT: Param = Param::new(
    "count_after_timeout",
    Kind::Choice(&[
        Choice::new("anew", "from zero: further duplicates belong to the retransmitted data"),
        Choice::defect(
            "on",
            "the count continues until new data are acknowledged, so the third duplicate may never come (ns-3.24, Tahoe of ns-2)",
        ),
    ]),
    "anew",
    "How duplicate ACKs are counted after a timeout.",
);

/// New data on the first duplicate ACKs.
pub const LIMITED_TRANSMIT: Param = Param::new(
    "limited_transmit",
    Kind::Flag,
    "false",
    "Whether the first two duplicate ACKs each release a new segment (RFC 3042).",
);

/// What becomes of a segment that a repair sends while the sender goes back.
pub const REPAIRED: Param = Param::new(
    "repaired",
    Kind::Choice(&[
        Choice::new("sent", "it counts as sent: the next one follows"),
        Choice::defect("unsent", "it does not count as sent, and is sent twice (ns-2)"),
    ]),
    "sent",
    "How a repaired segment is treated while all data after it count as unsent.",
);

/// Growth with the ACK that ends a recovery.
pub const GROW_ON_EXIT: Param = Param::new(
    "grow_on_exit",
    Kind::Flag,
    "false",
    "Whether the ACK that ends the recovery also lets the window grow (ns-3.24; Vegas of ns-2).",
);

/// Which ACKs belong to a window of losses that was reacted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Recover,
    RecoverOrFirst,
    Outstanding,
    None,
}

/// When the third duplicate ACK has come.
#[derive(Debug, Clone)]
pub struct Trigger {
    threshold: u32,
    guard: Guard,
    every: bool,
    limited_transmit: bool,
}

impl Trigger {
    /// The rules that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        Self {
            threshold: chosen.int("threshold") as u32,
            guard: match chosen.word("guard") {
                "none" => Guard::None,
                "recover-or-first" => Guard::RecoverOrFirst,
                "outstanding" => Guard::Outstanding,
                _ => Guard::Recover,
            },
            every: chosen.word("repeat") == "every",
            limited_transmit: chosen.flag("limited_transmit"),
        }
    }

    /// Whether this duplicate ACK makes a loss.
    pub fn fires(&self, state: &super::interface::State) -> bool {
        let due = if self.every {
            state.duplicates.is_multiple_of(self.threshold)
        } else {
            state.duplicates == self.threshold
        };
        let same_window = match self.guard {
            Guard::None => false,
            Guard::Outstanding => state.recover.is_some_and(|recover| state.una < recover),
            Guard::RecoverOrFirst => {
                state.una > 0 && state.recover.is_some_and(|recover| state.una <= recover)
            }
            Guard::Recover => state.recover.is_some_and(|recover| state.una <= recover),
        };
        due && !same_window
    }

    /// Segments beyond the window on this duplicate ACK (RFC 3042).
    pub fn extra_segments(&self, state: &super::interface::State) -> u64 {
        if self.limited_transmit && state.duplicates < self.threshold {
            u64::from(state.duplicates)
        } else {
            0
        }
    }
}
