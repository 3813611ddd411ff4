"""The figures of a run as a row: names, units and meanings, and how they come from a summary.

The one place that knows the columns of a table of results. It needs no Arrow, so that a worker
starts quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "integer", "real"]
Summary = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A column: name, kind, unit, meaning, and what gives its value."""

    name: str
    kind: Kind
    unit: str
    summary: str
    of: Callable[[Any], Any]


def _drops(summary: Summary) -> int:
    return sum(summary["packets_dropped"].values())


def _total(name: str) -> Callable[[Summary], int]:
    return lambda summary: sum(flow.get(name) or 0 for flow in summary["flows"].values())


def _bottleneck(summary: Summary) -> dict[str, Any] | None:
    """Return the direction of a link that is used most; the first of equals."""
    ways = [way for link in summary["links"].values() for way in link.values()]
    return max(ways, key=lambda way: way["utilization"], default=None)


def _of_bottleneck(*names: str) -> Callable[[Summary], Any]:
    def value(summary: Summary) -> Any:
        found: Any = _bottleneck(summary)
        for name in names:
            found = None if found is None else found[name]
        return found

    return value


def _get(*names: str) -> Callable[[dict[str, Any]], Any]:
    def value(found: Any) -> Any:
        for name in names:
            found = None if found is None else found.get(name)
        return found

    return value


def _goodput(summary: Summary) -> float:
    return sum(flow["goodput_bps"] for flow in summary["flows"].values())


RUN = (
    Figure("digest", "text", "", "Fingerprint of the run", _get("digest")),
    Figure("end_s", "real", "s", "End of the run", _get("end_s")),
    Figure("goodput_bps", "real", "bit/s", "Goodput of all flows together", _goodput),
    Figure(
        "fairness_jain", "real", "", "Jain's index of the flows' goodput; 1: all got the same",
        _get("fairness_jain"),
    ),
    Figure(
        "retransmissions", "integer", "", "Segments sent again, all flows",
        _total("retransmissions"),
    ),
    Figure("timeouts", "integer", "", "Timeouts, all flows", _total("timeouts")),
    Figure("drops", "integer", "", "Packets dropped or lost anywhere, for any reason", _drops),
    Figure(
        "bottleneck_utilization", "real", "", "Share of time in which the busiest link sent",
        _of_bottleneck("utilization"),
    ),
    Figure(
        "queue_packets_mean", "real", "packets", "Packets waiting at that link, mean over time",
        _of_bottleneck("queue_packets", "mean"),
    ),
    Figure(
        "queueing_delay_s_mean", "real", "s", "Waiting time at that link, mean over packets",
        _of_bottleneck("queueing_delay_s", "mean"),
    ),
    Figure("events", "integer", "", "Events that the simulator handled", _get("events")),
    Figure("packet_hops", "integer", "", "Packets that links transmitted", _get("packet_hops")),
)  # fmt: skip
"""Figures of a whole run, from its summary."""

FLOW = (
    Figure(
        "goodput_bps", "real", "bit/s",
        "New payload in order per second, from the start to the finish or the end of the run",
        _get("goodput_bps"),
    ),
    Figure(
        "bytes_delivered", "integer", "bytes", "Payload that arrived in order",
        _get("bytes_delivered"),
    ),
    Figure(
        "packets_on_wire", "integer", "packets",
        "Data packets of which the first link of the path began the transmission",
        _get("packets_on_wire"),
    ),
    Figure(
        "bytes_on_wire", "integer", "bytes",
        "Their bytes with headers, those sent again included",
        _get("bytes_on_wire"),
    ),
    Figure("start_s", "real", "s", "Start of the flow", _get("start_s")),
    Figure("finish_s", "real", "s", "Arrival of the last byte; null: never", _get("finish_s")),
    Figure(
        "segments_sent", "integer", "", "Segments sent, retransmissions included",
        _get("segments_sent"),
    ),
    Figure("retransmissions", "integer", "", "Segments sent again", _get("retransmissions")),
    Figure("timeouts", "integer", "", "Timeouts", _get("timeouts")),
    Figure(
        "segments_dropped", "integer", "", "Segments dropped or lost on the way",
        _get("segments_dropped"),
    ),
    Figure("rtt_s_mean", "real", "s", "Round-trip time, mean of samples", _get("rtt_s", "mean")),
    Figure(
        "cwnd_bytes_mean", "real", "bytes", "Congestion window, mean over time",
        _get("cwnd_bytes", "mean"),
    ),
)  # fmt: skip
"""Figures of each flow."""

LINK = (
    Figure("utilization", "real", "", "Share of time in which it sent", _get("utilization")),
    Figure(
        "packets_carried", "integer", "", "Packets that it transmitted", _get("packets_carried")
    ),
    Figure(
        "drops", "integer", "", "Packets dropped or lost here",
        lambda way: sum(way["drops"].values()),
    ),
    Figure(
        "queue_packets_mean", "real", "packets", "Packets waiting, mean over time",
        _get("queue_packets", "mean"),
    ),
    Figure("queue_packets_max", "integer", "packets", "Most of them", _get("queue_packets", "max")),
    Figure(
        "queue_bytes_mean", "real", "bytes", "Bytes waiting, mean over time",
        _get("queue_bytes", "mean"),
    ),
    Figure("queue_bytes_max", "integer", "bytes", "Most of them", _get("queue_bytes", "max")),
    Figure(
        "queueing_delay_s_mean", "real", "s", "Waiting time, mean over packets",
        _get("queueing_delay_s", "mean"),
    ),
    Figure(
        "queueing_delay_s_max", "real", "s", "Longest wait", _get("queueing_delay_s", "max")
    ),
)  # fmt: skip
"""Figures of each direction of each link."""

COMMON = ("key", "replication", "seed", "status", "error", "flows", "links")
"""Columns beside the axes and the figures of runs."""

RESERVED = frozenset({*COMMON, *(figure.name for figure in RUN)})
"""Names that an axis cannot have."""


def row(key: str, seed: int, summary: Summary) -> dict[str, Any]:
    """Return the row of a run; figures of flows and links as columns."""
    flows = list(summary["flows"].items())
    ways = [
        (name, direction, way)
        for name, link in summary["links"].items()
        for direction, way in link.items()
    ]
    figures: dict[str, Any] = {"key": key, "seed": seed, "status": "done", "error": None}
    figures |= {figure.name: figure.of(summary) for figure in RUN}
    figures["flows"] = {
        "id": [name for name, _ in flows],
        **{figure.name: [figure.of(flow) for _, flow in flows] for figure in FLOW},
    }
    figures["links"] = {
        "id": [name for name, _, _ in ways],
        "direction": [direction for _, direction, _ in ways],
        **{figure.name: [figure.of(way) for _, _, way in ways] for figure in LINK},
    }
    return figures


def failed(key: str, seed: int, error: str) -> dict[str, Any]:
    """Return the row of a run that failed: no figures, but the reason."""
    figures: dict[str, Any] = {"key": key, "seed": seed, "status": "failed", "error": error}
    return figures | dict.fromkeys((*(figure.name for figure in RUN), "flows", "links"))
