//! The three-way handshake: SYN, SYN-ACK, ACK.
//!
//! Source: RFC 9293 section 3.5; for the timer RFC 6298 section 5 (rules 5.5 and 5.7), with the values of
//! ns-3.24 (`TcpSocket`: ConnTimeout 3 s, ConnCount 6) as defaults: the SYN is retransmitted after 3 s, 6 s, 12 s
//! and so on, at most five times, and then the flow gives up. Linux waits 1 s five times before it doubles
//! (`tcp_retransmit_timer`, `tcp_syn_linear_timeouts`), and repeats the SYN ten times (`tcp_write_timeout`).
//!
//! DEVIATION: the receiver does not send its SYN-ACK again by itself; each SYN brings one. Data that arrive
//! without the ACK before them are taken.

use super::{Answer, Message, Rules};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

const fn size(name: &'static str, summary: &'static str) -> Param {
    Param::new(name, Kind::Size, "40 B", summary).at_least("1 B").at_most("65535 B")
}

pub(super) static ENTRY: Entry = Entry {
    name: "three-way",
    summary: help("SYN, SYN-ACK, ACK; the data follow the ACK."),
    references: &["RFC 9293 section 3.5", "RFC 6298 section 5"],
    params: &[
        size("syn", "A SYN on the wire."),
        size("syn_ack", "A SYN-ACK on the wire."),
        size("ack", "The sender's ACK on the wire."),
        Param::new(
            "timeout",
            Kind::Time,
            "3 s",
            "Wait for the SYN-ACK, doubled with each repetition (ns-3.24; 1 s in RFC 6298 section 2.1).",
        )
        .at_least("1 us"),
        Param::new(
            "linear_timeouts",
            Kind::Count,
            "0",
            "Repetitions whose wait is not doubled (4 in Linux since 6.5, `tcp_syn_linear_timeouts`).",
        )
        .at_most("30"),
        Param::new("repetitions", Kind::Count, "5", "How often the SYN is retransmitted at most.")
            .at_most("30"),
    ],
    ..Entry::BLANK
};

/// Lengths and waits.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreeWay {
    syn: u16,
    syn_ack: u16,
    ack: u16,
    timeout: Time,
    linear_timeouts: u32,
    repetitions: u32,
}

impl ThreeWay {
    pub(super) fn new(chosen: &Chosen) -> Self {
        Self {
            syn: chosen.int("syn_bytes") as u16,
            syn_ack: chosen.int("syn_ack_bytes") as u16,
            ack: chosen.int("ack_bytes") as u16,
            timeout: Time::from_ns(chosen.int("timeout_ns")),
            linear_timeouts: chosen.int("linear_timeouts") as u32,
            repetitions: chosen.int("repetitions") as u32,
        }
    }
}

impl Rules for ThreeWay {
    fn happens(&self) -> bool {
        true
    }

    fn bytes(&self, message: Message) -> u16 {
        match message {
            Message::Syn => self.syn,
            Message::SynAck => self.syn_ack,
            Message::Ack | Message::Fin | Message::Probe => self.ack,
        }
    }

    fn answer(&self, message: Message) -> Answer {
        match message {
            Message::Syn => Answer::Message(Message::SynAck),
            _ => Answer::Silence,
        }
    }

    fn confirmation(&self) -> Option<Message> {
        Some(Message::Ack)
    }

    fn wait(&self, tries: u32) -> Option<Time> {
        Some(self.timeout.times(1 << tries.saturating_sub(self.linear_timeouts).min(30)))
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn loss_counts(&self) -> bool {
        false
    }
}
