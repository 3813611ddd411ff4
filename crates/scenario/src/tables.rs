//! What a scenario document can hold: the tables behind validation, schema, help and reference pages.
//!
//! The tables of registered things (congestion controls, queues, ...) stand next to their code; these
//! here put them together to a document.

use crate::record::RECORD;
use crate::{preset, profile, shape, start};
use ackclock_units::param::{Choice, Kind, Param};

/// Greatest number of hosts, of routers, of links and of flows: a million flows fit in memory, more is
/// a slip of a generator.
pub const MOST_ELEMENTS: usize = 1_000_000;

// Every flow has a number that fits into a packet.
const _: () = assert!(MOST_ELEMENTS < ackclock_net::Packet::NO_FLOW as usize);

/// Greatest number of bytes of a packet on the wire, headers included.
pub const MOST_PACKET_BYTES: u64 = 65_535;

/// The whole document.
pub static SCENARIO: &[Param] = &[
    Param::new(
        "name",
        Kind::Text,
        "unnamed",
        "Name of the experiment: letters, digits, `-`, `_`, `.`, with `/` between topics.",
    ),
    Param::optional("title", Kind::Text, "", "One line for lists and plots."),
    Param::optional("question", Kind::Text, "", "The question that the experiment answers."),
    Param::optional("expectation", Kind::Text, "", "The expected result, and why."),
    Param::optional("source", Kind::Text, "", "Source of the experiment."),
    Param::optional(
        "profile",
        Kind::Choice(profile::CHOICES),
        "",
        "Named set of defaults, for everything that neither the object itself nor `defaults` sets.",
    ),
    Param::optional(
        "defaults",
        Kind::Object(DEFAULTS),
        "",
        "Defaults of this scenario for all its links and flows.",
    ),
    Param::optional(
        "topology",
        Kind::Registered(shape::ENTRIES),
        "",
        "Short form of a network; its hosts, routers and links precede those listed explicitly.",
    ),
    Param::optional(
        "hosts",
        Kind::NameList,
        "",
        "Hosts: flows start and end here; hosts never forward. Must be given without `topology`.",
    ),
    Param::optional("routers", Kind::NameList, "", "Routers: they forward packets."),
    Param::optional(
        "links",
        Kind::ObjectList(LINK),
        "",
        "Links between hosts and routers. Must be given without `topology`.",
    ),
    Param::required("flows", Kind::ObjectList(FLOW), "Flows from host to host."),
    Param::optional(
        "set",
        Kind::ObjectList(SET),
        "",
        "Values of single links and flows, applied after short forms are expanded.",
    ),
    Param::new(
        "routing",
        Kind::Registered(ackclock_net::routing::ENTRIES),
        "shortest-path",
        "How packets are routed.",
    ),
    Param::new(
        "ties",
        Kind::Registered(ackclock_engine::ties::ENTRIES),
        "entity",
        "Order of simultaneous events.",
    ),
    Param::optional("stop", Kind::Object(STOP), "", "When the run ends."),
    Param::optional(
        "warmup",
        Kind::Time,
        "none",
        "Figures of the run count from this time on; records hold the whole run.",
    )
    .at_least("1 ns"),
    Param::new("seed", Kind::Count, "1", "Seed of all random streams."),
    Param::new("record", Kind::Registered(RECORD), "all", "Which tables are recorded."),
];

/// Defaults of a scenario for its links and flows.
pub static DEFAULTS: &[Param] = &[
    Param::optional("link", Kind::Object(LINK_DEFAULTS), "", "Defaults of all links."),
    Param::optional("tcp", Kind::Object(TCP), "", "Defaults of the `tcp` block of all flows."),
];

// The fastest ports of today carry 1.6 Tbps. A light-day is far beyond the planets.
const RATE: Param = Param::required(
    "rate",
    Kind::RateOr(ackclock_net::rate::ENTRIES),
    "Bits per second on the wire, or a rule by which the rate changes.",
)
.at_least("1 bps")
.at_most("100 Tbps");
const DELAY: Param = Param::required("delay", Kind::Time, "Propagation delay.").at_most("1 d");
const QUEUE: Param = Param::new(
    "queue",
    Kind::Registered(ackclock_net::queue::ENTRIES),
    "droptail",
    "Queue in front of the transmitter.",
);
const DUPLEX: Param = Param::new(
    "duplex",
    Kind::Choice(&[
        Choice::new("full", "each direction has a transmitter and a queue of its own"),
        Choice::new("half", "both directions share one transmitter and one queue"),
    ]),
    "full",
    "Whether both directions can be used at once.",
);

const ROUNDING: Param = Param::new(
    "rounding",
    Kind::Choice(&[
        Choice::new(
            "carried",
            "the remainder is carried over to the next transmission, so that the total time is exact",
        ),
        Choice::defect(
            "double",
            "each is computed in 64-bit floating-point seconds and truncated to nanoseconds (ns-3)",
        ),
    ]),
    "carried",
    "How transmission times are rounded to nanoseconds.",
);

const LOSS: Param = Param::new(
    "loss",
    Kind::Registered(ackclock_net::loss::ENTRIES),
    "none",
    "Packet loss for reasons other than a full queue.",
);

const JITTER: Param = Param::new(
    "jitter",
    Kind::Registered(ackclock_net::jitter::ENTRIES),
    "none",
    "How the propagation delay differs from packet to packet.",
);
const CORRUPTION: Param = Param::new(
    "corruption",
    Kind::Real,
    "0",
    "Probability that a packet is corrupted: it is forwarded, and the receiving host drops it.",
)
.at_least("0")
.at_most("1");
const DUPLICATION: Param = Param::new(
    "duplication",
    Kind::Real,
    "0",
    "Probability that a packet reaches the link twice, the copy right after the original.",
)
.at_least("0")
.at_most("1");

/// A link.
pub static LINK: &[Param] = &[
    Param::required("id", Kind::Name, "Name of the link."),
    Param::required(
        "between",
        Kind::NodePair,
        "The two nodes; `forward` is from the first to the second.",
    ),
    RATE,
    DELAY,
    DUPLEX,
    ROUNDING,
    QUEUE,
    LOSS,
    JITTER,
    CORRUPTION,
    DUPLICATION,
    FORWARD,
    BACKWARD,
    LINK_CHANGES,
];

const FORWARD: Param = Param::optional(
    "forward",
    Kind::Object(DIRECTION),
    "",
    "Settings that differ from the first node to the second (full duplex only).",
);
const BACKWARD: Param = Param::optional(
    "backward",
    Kind::Object(DIRECTION),
    "",
    "Settings that differ from the second node to the first (full duplex only).",
);
const LINK_CHANGES: Param = Param::optional(
    "changes",
    Kind::ObjectList(CHANGE),
    "",
    "Changes and failures of the link at given times.",
);

/// What a short form of a network says about its links: all but names and ends.
pub static LINK_OF_SHAPE: &[Param] = &[
    RATE,
    DELAY,
    DUPLEX,
    QUEUE,
    LOSS,
    JITTER,
    CORRUPTION,
    DUPLICATION,
    FORWARD,
    BACKWARD,
    LINK_CHANGES,
];

/// Something that happens to a link at a time.
pub static CHANGE: &[Param] = &[
    Param::required("at", Kind::Time, "When; after everything else that is due then."),
    Param::new(
        "direction",
        Kind::Choice(&[
            Choice::new("both", "both directions"),
            Choice::new("forward", "from the first node to the second (full duplex only)"),
            Choice::new("backward", "from the second node to the first (full duplex only)"),
        ]),
        "both",
        "Which direction it concerns.",
    ),
    Param::optional(
        "state",
        Kind::Choice(&[
            Choice::new(
                "down",
                "packets that reach the link are dropped; those already on it continue",
            ),
            Choice::new("up", "the link takes packets again"),
        ]),
        "same",
        "Whether the link works from now on.",
    ),
    Param::optional(
        "rate",
        Kind::Rate,
        "same",
        "Rate of the transmissions that begin from now on.",
    )
    .at_least("1 bps")
    .at_most("100 Tbps"),
    Param::optional(
        "delay",
        Kind::Time,
        "same",
        "Propagation delay of the packets that leave from now on; they do not overtake others.",
    )
    .at_most("1 d"),
];

/// What a scenario can say for all its links.
pub static LINK_DEFAULTS: &[Param] =
    &[RATE, DELAY, DUPLEX, ROUNDING, QUEUE, LOSS, JITTER, CORRUPTION, DUPLICATION];

/// One direction of a link.
pub static DIRECTION: &[Param] = &[RATE, DELAY, QUEUE, LOSS, JITTER, CORRUPTION, DUPLICATION];

/// A flow.
pub static FLOW: &[Param] = &[
    Param::required("id", Kind::Name, "Name of the flow."),
    Param::optional(
        "count",
        Kind::Count,
        "",
        "Creates this many flows; `*` in `id`, `from` and `to` is the number of the flow, from 1.",
    )
    .at_least("1")
    .at_most("1000000"),
    Param::required("from", Kind::HostRef, "Host that sends."),
    Param::required("to", Kind::HostRef, "Host that receives."),
    Param::new(
        "pattern",
        Kind::Registered(crate::pattern::ENTRIES),
        "pairs",
        "With `count`: which number `*` in `to` is.",
    ),
    Param::optional(
        "path",
        Kind::RouterRefs,
        "",
        "Routers on the path of the data, in order; default: as routed. With `count`, `*` is the number of the flow.",
    ),
    Param::optional(
        "ack_path",
        Kind::RouterRefs,
        "",
        "The same for its ACKs, from the receiver to the sender.",
    ),
    Param::new(
        "start",
        Kind::TimeOr(start::ENTRIES),
        "0 s",
        "Start time; with `count` also a list with one time per flow.",
    ),
    Param::optional(
        "stop",
        Kind::Time,
        "never",
        "Stop time: the sender sends nothing more; packets in the network still arrive, until the run ends.",
    ),
    Param::optional(
        "send",
        Kind::SizeOr(crate::transfer::ENTRIES),
        "unlimited",
        "Bytes to send; `unlimited` sends until the run ends.",
    )
    .at_least("1 B"),
    Param::optional(
        "tcp",
        Kind::Object(TCP),
        "",
        "Reliable transport with congestion control; the default of a flow.",
    ),
    Param::optional(
        "udp",
        Kind::Object(UDP),
        "",
        "A UDP source without congestion control, instead of `tcp`.",
    ),
];

/// A value of a single link or flow.
pub static SET: &[Param] = &[
    Param::required(
        "path",
        Kind::Text,
        "Path: `links.ID.KEY` or `flows.ID.KEY`, with further keys for nested values; `*` for all.",
    ),
    Param::required("value", Kind::Any, "Its new value."),
];

/// Reliable transport: what all families of senders have in common.
pub static TCP: &[Param] = &[
    Param::optional(
        "preset",
        Kind::Preset(preset::ENTRIES),
        "",
        "A named combination of sender, recovery and cc, such as `newreno`. `tcp: newreno` is short for `tcp: {preset: newreno}`.",
    ),
    Param::new(
        "sender",
        Kind::Family(ackclock_tcp::connection::ENTRIES),
        "modern",
        "Family of sender and receiver, which has keys of its own.",
    ),
    Param::new(
        "segment",
        Kind::Size,
        "1448 B",
        "Payload of a full segment: 1500 B minus 52 B of headers; without timestamps (`classic`, `selective-repeat`) 1460 B.",
    )
    .at_least("1 B")
    .at_most("65535 B"),
    Param::new(
        "header",
        Kind::Size,
        "52 B",
        "Header size of data packets: IPv4 and TCP with timestamps; without timestamps (`classic`, `selective-repeat`) 40 B.",
    )
    .at_most("65534 B"),
    Param::new(
        "ack",
        Kind::Size,
        "52 B",
        "Size of an ACK on the wire; without timestamps (`classic`, `selective-repeat`) 40 B.",
    )
    .at_most("65535 B"),
    Param::new("initial_window", Kind::Count, "10", "Initial window in segments (RFC 6928).")
        .at_least("1")
        .at_most("1000000"),
    Param::optional(
        "initial_ssthresh",
        Kind::SegmentsOrSize,
        "unlimited",
        "Initial slow-start threshold, in segments or as a size (RFC 5681: arbitrarily high).",
    )
    .at_least("1")
    .at_most("1e9"),
    Param::new(
        "cc",
        Kind::Registered(ackclock_tcp::cc::ENTRIES),
        "cubic",
        "Congestion control; the default is `reno` with `classic` and `selective-repeat`.",
    ),
    Param::new(
        "rto",
        Kind::Registered(ackclock_tcp::rto::ENTRIES),
        "linux",
        "Retransmission timer; the default is `rfc6298` with `classic` and `selective-repeat`.",
    ),
    Param::new(
        "source",
        Kind::Registered(ackclock_net::source::ENTRIES),
        ackclock_net::source::BULK_NAME,
        "What the application writes, and when.",
    ),
    Param::new(
        "writes",
        Kind::Choice(&[
            Choice::new("bytes", "as a byte stream, which is divided into segments"),
            Choice::new("whole-segments", "each write is rounded up to whole segments (ns-2)"),
        ]),
        "bytes",
        "How writes of the application become data.",
    ),
];

/// A flow without feedback.
pub static UDP: &[Param] = &[
    Param::required(
        "source",
        Kind::Registered(ackclock_net::source::ENTRIES),
        "What is sent, and when.",
    ),
    Param::new(
        "ecn",
        Kind::Flag,
        "false",
        "Packets are ECN-capable, so that queues mark them; the source does not react to marks.",
    ),
];

/// When a run ends.
pub static STOP: &[Param] = &[
    Param::new(
        "when",
        Kind::Choice(&[
            Choice::new("flows-complete", "when the last flow is complete, or at `at_latest`"),
            Choice::new("time", "at `at_latest`"),
        ]),
        "flows-complete",
        "When a run ends.",
    ),
    Param::new(
        "at_latest",
        Kind::Time,
        "1000 s",
        "The run ends at this time at the latest; required if a flow is unlimited.",
    ),
    Param::optional(
        "events",
        Kind::Count,
        "",
        "Abort the run after this many events: a safeguard against runs that never end. The \
         number of events that a run needs depends on the version of the engine.",
    )
    .at_least("1"),
    Param::new(
        "max_packets",
        Kind::Count,
        "10000000",
        "Abort the run when more packets are in the network at once. This bounds memory: a packet takes about 100 bytes.",
    )
    .at_least("1")
    .at_most("1000000000"),
];
