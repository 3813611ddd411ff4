"""What the columns of results mean and how a summary gives them: defined here and nowhere else.

Headers of tables, `--json`, metadata of Parquet files, the rows of sweeps and the reference page
are made from here. Importing this loads no Arrow, so that a process that only simulates starts
quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["word", "count", "real", "flag"]
Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: Its word, with the unit at its end where it has one.
        title: Its heading for people.
        kind: `word`, `count` (a whole number, always shown in full), `real`, or `flag`.
        unit: Unit of the values: `bit/s`, `B`, `B/s`, `s`, `packets`, or none.
        meaning: What it is, in a sentence.
        formula: How it is computed, where that is not plain.
        source: Who defined it so.
        shown: Unit for people where it is another one: `ms` for short times, `%` for shares. Rates
            in bit/s choose their own.
        digits: Significant digits of the largest value of a column for people.
        path: Where it stands in an entry (a summary, a flow or a link of it), where that is not its
            name; the engine finds it there, too, for many runs at once.
        usual: Whether it is shown unasked.
    """

    name: str
    title: str
    kind: Kind = "real"
    unit: str = ""
    meaning: str = ""
    formula: str = ""
    source: str = ""
    shown: str = ""
    digits: int = 4
    path: str = ""
    usual: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the definition as a document of plain values."""
        fields = ("name", "title", "kind", "unit", "meaning", "formula", "source")
        return {field: getattr(self, field) for field in fields}

    @property
    def keys(self) -> list[str]:
        """The keys that lead to the value in an entry."""
        return (self.path or self.name).split(".")

    def of(self, entry: Mapping[str, Any]) -> Any:
        """Return the value in a summary, or in an entry of `flow_entries` or `link_entries`.

        None where there is none.
        """
        value: Any = entry
        for key in self.keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def arrow_type(self) -> pa.DataType:
        """Return the type of the values in an Arrow table."""
        import pyarrow as pa

        types = {"word": pa.string, "count": pa.int64, "real": pa.float64, "flag": pa.bool_}
        return types[self.kind]()


def flow_entries(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the entry of each flow, with its name as `id`."""
    for name, flow in summary["flows"].items():
        yield {"id": name, **flow}


def link_entries(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the entry of each direction of each link, with the name as `id`, and `direction`."""
    for name, ways in summary["links"].items():
        for direction, way in ways.items():
            yield {"id": name, "direction": direction, **way}


def pick(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """Return the columns of these names, in the order of the names."""
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names)


def _rare(*columns: Column) -> Iterable[Column]:
    return (replace(column, usual=False) for column in columns)


PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
"""Names of percentiles, and the share of values that does not exceed them."""


def _percentiles(of: str, title: str, what: str) -> Iterable[Column]:
    """Columns that need the records of a run."""
    return (
        Column(
            f"{of}_{name}",
            f"{title}, {share:.0%}".replace("%", " %"),
            unit="s",
            meaning=f"Least value that {share * 100:g} % of {what} do not exceed",
            shown="ms",
            path=f"{of}.{name}",
        )
        for name, share in PERCENTILES.items()
    )


_BYTES_LEAVING = (
    "Bytes of data packets of which the first link of the path began the transmission: headers and "
    "packets sent again count, what was dropped before that link does not"
)
_JAIN = "Jain, Chiu, Hawe, DEC Research Report TR-301, 1984"

FLOWS = (
    Column("flow", "Flow", "word", meaning="Name of the flow", path="id"),
    Column("cc", "cc", "word", meaning="Congestion control; none for UDP"),
    Column(
        "label",
        "TCP",
        "word",
        meaning="The preset that the flow is, or its parts; of UDP the source",
    ),
    Column(
        "goodput_bps",
        "Goodput",
        unit="bit/s",
        meaning="New payload that arrived in order, from the flow's start to its finish, or to the "
        "end of the run where it did not finish",
        formula="8 · bytes_delivered / (min(finish_s, end_s) - start_s)",
        source="Ackclock",
    ),
    Column(
        "goodput_to_end_bytes_per_s",
        "Goodput to end",
        unit="B/s",
        meaning="The same in bytes per second, always to the end of the run",
        formula="bytes_delivered / (end_s - start_s)",
        source="the ns-3 lab (Ravuri 2016), which counts the bytes of the packet sink",
        digits=6,
    ),
    Column(
        "finish_s",
        "Finish",
        unit="s",
        meaning="When the last new byte was in order at the receiver; none if it was not",
        digits=5,
    ),
    Column(
        "bytes_delivered",
        "Delivered",
        "count",
        "B",
        "New payload bytes in order at the receiver; for UDP all that arrived",
    ),
    Column(
        "bytes_on_wire",
        "Transferred",
        "count",
        "B",
        _BYTES_LEAVING,
        source="the ns-2 lab (Pérez Datsira 2021): bytes that leave the queue of the access link",
    ),
    Column("retransmissions", "Resent", "count", "packets", "Data packets sent again"),
    Column("timeouts", "Timeouts", "count", "", "Packets given up by the timer"),
    Column(
        "segments_dropped",
        "Lost",
        "count",
        "packets",
        "Data packets of the flow dropped anywhere in the network",
    ),
    Column(
        "path_rtt_s",
        "Base RTT",
        unit="s",
        meaning="Round-trip time of a full segment and its ACK where nothing waits, as the links "
        "are at the start; none with dynamic routing",
        formula="sum over the path and back of delay + size / rate",
        shown="ms",
    ),
    Column(
        "rtt_s_mean",
        "RTT",
        unit="s",
        meaning="Mean of the samples of the round-trip time",
        shown="ms",
        path="rtt_s.mean",
    ),
    *_rare(
        Column("transport", "Transport", "word", meaning="`tcp` or `udp`"),
        Column("from", "From", "word", meaning="Sending host"),
        Column("to", "To", "word", meaning="Receiving host"),
        Column("start_s", "Start", unit="s", meaning="Start of the flow", digits=5),
        Column(
            "finish_ack_s",
            "Last ACK",
            unit="s",
            meaning="When the sender had the last ACK; none if it had not",
            digits=5,
        ),
        Column("segment_bytes", "Segment", "count", "B", "Payload of a full segment"),
        Column("bytes_offered", "Offered", "count", "B", "What the flow wants to send"),
        Column(
            "packets_on_wire",
            "Packets out",
            "count",
            "packets",
            "Data packets of which the first link of the path began the transmission",
        ),
        Column(
            "segments_sent",
            "Sent",
            "count",
            "packets",
            "Data packets that the sender sent, those sent again included",
        ),
        Column(
            "bytes_sent",
            "Payload sent",
            "count",
            "B",
            "Payload bytes that the sender sent, those sent again included",
        ),
        Column(
            "spurious_retransmissions",
            "Spurious",
            "count",
            "packets",
            "Data packets sent again though the receiver had them",
        ),
        Column(
            "fast_retransmits",
            "Fast retransmits",
            "count",
            "packets",
            "Packets sent again because of duplicate ACKs or a gap",
        ),
        Column(
            "ecn_reductions",
            "ECN cuts",
            "count",
            "",
            "How often an echoed mark has cut the window",
        ),
        Column(
            "duplicates_received",
            "Duplicates",
            "count",
            "packets",
            "Data packets that arrived a second time",
        ),
        Column(
            "reordered_received",
            "Reordered",
            "count",
            "packets",
            "New data packets that arrived after one with a higher number",
        ),
        Column(
            "rtt_s_min",
            "Least RTT",
            unit="s",
            meaning="Least sample of the round-trip time",
            shown="ms",
            path="rtt_s.min",
        ),
        Column(
            "rtt_s_max",
            "Largest RTT",
            unit="s",
            meaning="Largest sample of the round-trip time",
            shown="ms",
            path="rtt_s.max",
        ),
        *_percentiles(
            "rtt_s", "RTT", "the samples of the round-trip time, where all were recorded"
        ),
        Column(
            "cwnd_bytes_mean",
            "Mean window",
            unit="B",
            meaning="Congestion window, mean over the time in which the flow was active",
            path="cwnd_bytes.mean",
        ),
        Column(
            "cwnd_bytes_max",
            "Largest window",
            unit="B",
            meaning="Largest congestion window",
            path="cwnd_bytes.max",
        ),
    ),
)
"""A row is a flow of a run."""

LINKS = (
    Column("link", "Link", "word", meaning="Name of the link", path="id"),
    Column("direction", "Direction", "word", meaning="`forward`, `backward`, or `both`"),
    Column(
        "utilization",
        "Utilisation",
        meaning="Share of the run in which the link transmitted",
        shown="%",
    ),
    Column("packets_carried", "Carried", "count", "packets", "Packets transmitted in full"),
    Column(
        "drops",
        "Lost",
        "count",
        "packets",
        "Packets dropped here, for any reason",
        path="packets_dropped",
    ),
    Column(
        "queue_packets_mean",
        "Mean queue",
        unit="packets",
        meaning="Packets waiting, mean over the run; the one in transmission does not count",
        path="queue_packets.mean",
    ),
    Column(
        "queue_packets_max",
        "Longest queue",
        "count",
        "packets",
        "Most packets waiting",
        path="queue_packets.max",
    ),
    Column(
        "queueing_delay_s_mean",
        "Mean wait",
        unit="s",
        meaning="Wait from entering to the start of transmission or the end of the run, mean over "
        "the packets that entered",
        shown="ms",
        path="queueing_delay_s.mean",
    ),
    Column(
        "queueing_delay_s_max",
        "Longest wait",
        unit="s",
        meaning="Longest wait of a packet that entered",
        shown="ms",
        path="queueing_delay_s.max",
    ),
    *_rare(
        *_percentiles(
            "queueing_delay_s",
            "Wait",
            "the waits of packets that entered, where all were recorded",
        ),
        Column("bytes_carried", "Bytes carried", "count", "B", "Bytes transmitted in full"),
        Column(
            "drops_queue_full",
            "Queue full",
            "count",
            "packets",
            "Packets dropped because the queue was full",
            path="drops.queue-full",
        ),
        Column(
            "drops_early",
            "Early",
            "count",
            "packets",
            "Packets dropped at random before the queue was full (RED, PIE)",
            path="drops.early",
        ),
        Column(
            "drops_forced",
            "Forced",
            "count",
            "packets",
            "Packets dropped because the average queue was too long (RED)",
            path="drops.forced",
        ),
        Column(
            "drops_codel",
            "CoDel",
            "count",
            "packets",
            "Packets dropped because waits were too long (CoDel, FQ-CoDel)",
            path="drops.codel",
        ),
        Column(
            "drops_overlimit",
            "Overlimit",
            "count",
            "packets",
            "Packets of the longest queue dropped for lack of room (FQ-CoDel)",
            path="drops.overlimit",
        ),
        Column("marks", "Marked", "count", "packets", "Packets marked with congestion experienced"),
        Column("corrupted", "Damaged", "count", "packets", "Packets that the link has damaged"),
        Column(
            "duplicated", "Duplicated", "count", "packets", "Packets that came to the link twice"
        ),
        Column(
            "drops_corrupted",
            "Damaged, dropped",
            "count",
            "packets",
            "Damaged packets that came over the link to the host that dropped them",
            path="drops.corrupted",
        ),
        Column(
            "drops_loss",
            "Loss model",
            "count",
            "packets",
            "Packets taken by the loss model",
            path="drops.loss",
        ),
        Column(
            "drops_link_down",
            "Link down",
            "count",
            "packets",
            "Packets that came while the link was down",
            path="drops.link-down",
        ),
        Column(
            "queue_bytes_mean",
            "Mean queue, bytes",
            unit="B",
            meaning="Bytes waiting, mean over the run",
            path="queue_bytes.mean",
        ),
        Column(
            "queue_bytes_max",
            "Longest queue, bytes",
            "count",
            "B",
            "Most bytes waiting",
            path="queue_bytes.max",
        ),
    ),
)
"""A row is a direction of a link of a run."""

DROPS = (
    Column(
        "flow", "Flow", "word", meaning="Whose data packets; none for ACKs and routers' packets"
    ),
    Column("link", "Link", "word", meaning="Where; none for a router without a route"),
    Column("direction", "Direction", "word", meaning="`forward`, `backward`, or `both`"),
    Column(
        "reason",
        "Reason",
        "word",
        meaning="Why: a word of `drop_reason`, such as `queue-full`",
    ),
    Column("packets", "Lost", "count", "packets", "Packets dropped there for this reason"),
)
"""A row is a flow, a queue, and a reason for which packets of the one were lost at the other."""

RUNS = (
    Column("scenario", "Scenario", "word", meaning="Name of the scenario"),
    Column("seed", "Seed", "count", meaning="Seed of all random numbers"),
    Column("end_s", "End", unit="s", meaning="When the run ended", digits=5),
    Column(
        "goodput_bps",
        "Total goodput",
        unit="bit/s",
        meaning="Sum of the goodputs of all flows",
        formula="sum of goodput_bps of the flows",
        source="Ackclock",
        path="totals.goodput_bps",
    ),
    Column(
        "fairness_jain",
        "Fairness",
        meaning="Jain's index of the flows' goodputs x: 1 for equal shares, 1/n if one has all",
        formula="(Σx)² / (n Σx²)",
        source=_JAIN,
        digits=5,
    ),
    Column(
        "retransmissions",
        "Resent",
        "count",
        "packets",
        "Data packets sent again, of all flows",
        path="totals.retransmissions",
    ),
    Column(
        "timeouts",
        "Timeouts",
        "count",
        "",
        "Packets given up by timers, of all flows",
        path="totals.timeouts",
    ),
    Column(
        "drops",
        "Lost",
        "count",
        "packets",
        "Packets dropped anywhere, for any reason",
        path="totals.packets_dropped",
    ),
    Column(
        "bottleneck_utilization",
        "Utilisation",
        meaning="Share of the run in which the busiest link transmitted",
        shown="%",
        path="bottleneck.utilization",
    ),
    Column(
        "queue_packets_mean",
        "Mean queue",
        unit="packets",
        meaning="Packets waiting at the busiest link, mean over the run",
        path="bottleneck.queue_packets_mean",
    ),
    Column(
        "queueing_delay_s_mean",
        "Mean wait",
        unit="s",
        meaning="Wait at the busiest link, mean over the packets that entered",
        shown="ms",
        path="bottleneck.queueing_delay_s_mean",
    ),
    *_rare(
        Column(
            "bytes_on_wire",
            "Transferred",
            "count",
            "B",
            f"{_BYTES_LEAVING}; sum over the flows",
            path="totals.bytes_on_wire",
        ),
        Column("finished", "Finished", "flag", meaning="Whether all that was to be sent arrived"),
        Column("stop_reason", "Stopped by", "word", meaning="Why the run ended"),
        Column("digest", "Digest", "word", meaning="Fingerprint of the run"),
        Column("events", "Events", "count", meaning="Events handled; depends on shortcuts"),
        Column("packet_hops", "Packet-hops", "count", meaning="Packets transmitted by links"),
    ),
)
"""A row is a run."""

SWEEP = (
    Column("key", "Key", "word", meaning="Fingerprint of the settings of the run", usual=False),
    Column("replication", "Replication", "count", meaning="Which of the runs with equal settings"),
    Column("status", "Status", "word", meaning="`done` or `failed`", usual=False),
    Column("error", "Error", "word", meaning="Why it failed", usual=False),
)
"""What a run of a sweep has besides."""

TABLES: dict[str, tuple[Column, ...]] = {
    "flows": FLOWS,
    "links": LINKS,
    "drops": DROPS,
    "runs": RUNS,
}
"""All tables, by the word for `--what`."""
