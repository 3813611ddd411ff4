//! Recovery of the selective-repeat sender: gaps in the receiver's list of packets.
//!
//! Source: Bhasin, Luo, Su, Yang, "Configurable Network Simulation for TCP Reno and FAST Flows",
//! Caltech 2015, section 2.5, and their program. Every ACK shows which packets have arrived; a packet
//! that is missing below the highest one is a *gap*. A packet that was reported missing `threshold`
//! times is retransmitted at once, whatever the window.
//!
//! The defaults are what RFC 5681 and RFC 6675 ask for, as far as they apply to a list of packets:
//! one reduction per window of data, no inflation (acknowledged packets leave the flight one by one, so
//! there is nothing to make up for). The program's own rules are options.

use crate::cc::Window;
use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

/// Registry entry.
pub static ENTRY: Entry = Entry {
    name: "selective-repeat",
    summary: help("Each ACK lists what has arrived; packets reported missing are retransmitted."),
    references: &["Bhasin, Luo, Su, Yang 2015, section 2.5", "RFC 6675 (for the defaults)"],
    params: &[
        Param::new(
            "threshold",
            Kind::Count,
            "3",
            "Number of reports after which a gap counts as a loss.",
        )
        .at_least("1")
        .at_most("10000"),
        Param::new(
            "reduction",
            Kind::Choice(&[
                Choice::new("per-window", "one reduction per window of data (RFC 5681, RFC 6582)"),
                Choice::defect("per-packet", "every lost packet reduces the window again"),
            ]),
            "per-window",
            "How often losses reduce the window.",
        ),
        Param::new(
            "inflation",
            Kind::Choice(&[
                Choice::new("none", "the window stays at ssthresh during recovery (RFC 6675)"),
                Choice::defect(
                    "gapless",
                    "ssthresh + 3, then one more for each ACK that shows no gap at all",
                ),
            ]),
            "none",
            "What the window does during recovery.",
        ),
        Param::new(
            "growth",
            Kind::Choice(&[
                Choice::new("any-ack", "every ACK of new data outside recovery"),
                Choice::new("gapless", "only ACKs that show no gap, as in the Caltech simulator"),
            ]),
            "any-ack",
            "Which ACKs let the window grow.",
        ),
        Param::new(
            "resend",
            Kind::Choice(&[
                Choice::new("once", "a gap is repaired once, then only by the timer"),
                Choice::defect("every-report", "each report of a gap retransmits the packet"),
            ]),
            "once",
            "How often a gap is repaired.",
        ),
        Param::new(
            "settles",
            Kind::Choice(&[
                Choice::new("listed", "an ACK acknowledges every packet on its list"),
                Choice::new(
                    "own",
                    "an ACK acknowledges only the packet that caused it, as in the Caltech simulator",
                ),
            ]),
            "listed",
            "Which packets an ACK acknowledges; matters when ACKs are lost.",
        ),
        Param::new(
            "timeout_floor",
            Kind::Choice(&[
                Choice::new(
                    "two-segments",
                    "ssthresh is at least two segments (RFC 5681 equation 4)",
                ),
                Choice::defect("none", "a timeout halves ssthresh without a floor"),
            ]),
            "two-segments",
            "Minimum ssthresh after a timeout.",
        ),
    ],
    label: "selective repeat",
    ..Entry::BLANK
};

/// Rules and state of one flow.
#[derive(Debug, Clone)]
pub struct Recovery {
    pub(crate) threshold: u16,
    pub(crate) resend_every_report: bool,
    pub(crate) settles_listed: bool,
    per_packet: bool,
    inflate: bool,
    grow_gapless_only: bool,
    floor_on_timeout: bool,
    /// Inside fast recovery.
    active: bool,
    /// Losses of packets below this number belong to a window that was cut already.
    recover: u32,
}

impl Recovery {
    /// The rules that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        Self {
            threshold: chosen.int("threshold") as u16,
            resend_every_report: chosen.word("resend") == "every-report",
            settles_listed: chosen.word("settles") == "listed",
            per_packet: chosen.word("reduction") == "per-packet",
            inflate: chosen.word("inflation") == "gapless",
            grow_gapless_only: chosen.word("growth") == "gapless",
            floor_on_timeout: chosen.word("timeout_floor") == "two-segments",
            active: false,
            recover: 0,
        }
    }

    /// Whether the flow is in fast recovery.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// The window without its inflation.
    #[inline]
    pub fn deflated(&self, window: &Window) -> f64 {
        if self.active && self.inflate { window.ssthresh } else { window.cwnd }
    }

    /// Handles the window on an ACK of new data; true if the congestion control may let it grow.
    ///
    /// `base` is the lowest packet not settled, `repairs` the number of gap repairs outstanding.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        window: &mut Window,
        gapless: bool,
        base: u32,
        repairs: u32,
    ) -> bool {
        if !self.active {
            return gapless || !self.grow_gapless_only;
        }
        if self.inflate {
            if gapless {
                if repairs == 0 {
                    self.active = false;
                    window.cwnd = window.ssthresh;
                } else {
                    window.cwnd += window.segment;
                }
            }
        } else if base >= self.recover {
            self.active = false;
        }
        false
    }

    /// Whether the loss of this packet cuts the window. `repaired` says that the lost copy was itself
    /// a retransmission.
    pub(crate) fn cuts(&self, seq: u32, repaired: bool) -> bool {
        self.per_packet || seq >= self.recover || repaired
    }

    /// Cuts the window after a gap; `next` is the next new packet.
    pub(crate) fn on_gap(&mut self, window: &mut Window, target: f64, next: u32) {
        window.ssthresh = target.max(2.0 * window.segment);
        window.cwnd = window.ssthresh;
        if self.inflate {
            window.cwnd += 3.0 * window.segment;
        }
        self.active = true;
        self.recover = next;
    }

    /// Cuts the window after a timeout.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, target: f64, next: u32) {
        let floor = if self.floor_on_timeout { 2.0 * window.segment } else { 0.0 };
        window.ssthresh = target.max(floor);
        window.cwnd = window.segment;
        self.active = false;
        self.recover = next;
    }
}
