//! Profiles: named sets of defaults that make a scenario behave as another simulator does.
//!
//! A profile is a document of defaults in the grammar of scenarios, with `link` and `tcp` as in
//! `defaults`. What an object says itself wins over `defaults`, which win over the profile, which wins
//! over the defaults of the tables. For a registered thing (`cc`) a profile may hold a list: the first
//! is the default kind, the others apply when a scenario chooses their kind.

use ackclock_units::param::{Choice, Entry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A profile.
#[derive(Debug)]
pub struct Profile {
    /// Name, summary and references.
    pub entry: Entry,
    /// The defaults, as JSON text.
    pub document: &'static str,
}

static CALTECH2015: Profile = Profile {
    entry: Entry {
        name: CALTECH2015_NAME,
        summary: CALTECH2015_SUMMARY,
        references: &[
            "Bhasin, Luo, Su, Yang: Configurable Network Simulation for TCP Reno and FAST Flows, \
             Caltech CS/EE 143, December 2015",
        ],
        params: &[],
        ..Entry::BLANK
    },
    document: include_str!("profile/caltech2015.json"),
};

const CALTECH2015_NAME: &str = "caltech2015";
const CALTECH2015_SUMMARY: &str = "As the Caltech CS/EE 143 simulator of 2015: half-duplex links, \
     1 KiB packets without headers, a fixed timer, ACKs that show the receiver's present state.";

static BENE: Profile = Profile {
    entry: Entry {
        name: BENE_NAME,
        summary: BENE_SUMMARY,
        references: &[
            "Zappala: Bene, network simulator of BYU CS 460, 2014 to 2017",
            "BYU CS 460, labs on reliable transport and congestion control, winter 2015",
        ],
        params: &[],
        ..Entry::BLANK
    },
    document: include_str!("profile/bene.json"),
};

const BENE_NAME: &str = "bene";
const BENE_SUMMARY: &str = "As the Bene simulator with the labs of 2015: segments without headers, \
     ACKs of no length, losses before the queue, go-back-N, windows in bytes, first come first served.";

static REALISTIC: Profile = Profile {
    entry: Entry {
        name: REALISTIC_NAME,
        summary: REALISTIC_SUMMARY,
        references: &[
            "RFC 5681, RFC 6582, RFC 3042, RFC 6928, RFC 6298",
            "Linux for the timers: delayed ACKs of 40 ms, rto = srtt + max(200 ms, 4 rttvar)",
        ],
        params: &[],
        ..Entry::BLANK
    },
    document: include_str!("profile/realistic.json"),
};

const REALISTIC_NAME: &str = "realistic";
const REALISTIC_SUMMARY: &str = "As a host of today without SACK: NewReno, limited transmit, delayed \
     ACKs, headers, a first window of ten segments, timers as in Linux.";

static NS3_24: Profile = Profile {
    entry: Entry {
        name: NS3_24_NAME,
        summary: NS3_24_SUMMARY,
        references: &[
            "ns-3.24: TcpSocketBase, TcpTahoe, TcpReno, RttMeanDeviation, PointToPointNetDevice, \
             DropTailQueue",
        ],
        params: &[],
        ..Entry::BLANK
    },
    document: include_str!("profile/ns-3.24.json"),
};

const NS3_24_NAME: &str = "ns-3.24";
const NS3_24_SUMMARY: &str = "As ns-3.24 with TcpReno or TcpTahoe over point-to-point links: three-way \
     handshake, windows in whole bytes, no guard against repeated fast retransmits.";

static NS2_35: Profile = Profile {
    entry: Entry {
        name: NS2_35_NAME,
        summary: NS2_35_SUMMARY,
        references: &[
            "ns-2.35: tcp/tcp.cc, tcp-reno.cc, tcp-newreno.cc, tcp-vegas.cc, tcp-sink.cc, drop-tail.cc, \
             ns-default.tcl",
        ],
        params: &[],
        ..Entry::BLANK
    },
    document: include_str!("profile/ns-2.35.json"),
};

const NS2_35_NAME: &str = "ns-2.35";
const NS2_35_SUMMARY: &str = "As the one-way TCP agents of ns-2.35 with their defaults: windows in packets, \
     a receiver's window of 20, a first segment for the handshake, a timer in ticks of 10 ms.";

/// All profiles.
pub static PROFILES: &[&Profile] = &[&CALTECH2015, &BENE, &REALISTIC, &NS3_24, &NS2_35];

/// The names of all profiles, as a scenario chooses them.
pub static CHOICES: &[Choice] = &[
    Choice::new(CALTECH2015_NAME, CALTECH2015_SUMMARY),
    Choice::new(BENE_NAME, BENE_SUMMARY),
    Choice::new(REALISTIC_NAME, REALISTIC_SUMMARY),
    Choice::new(NS3_24_NAME, NS3_24_SUMMARY),
    Choice::new(NS2_35_NAME, NS2_35_SUMMARY),
];

static DOCUMENTS: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let parse = |profile: &&Profile| {
        let document = serde_json::from_str(profile.document).expect("a profile is valid JSON");
        (profile.entry.name, document)
    };
    PROFILES.iter().map(parse).collect()
});

/// The defaults of a profile.
pub fn document(name: &str) -> Option<&'static Value> {
    DOCUMENTS.get(name)
}
