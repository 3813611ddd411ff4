"""The row of a run: which columns a sweep keeps, and in which order.

What they mean and how a summary gives them stands in `ackclock.columns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ackclock.columns import FLOWS, LINKS, RUNS, Column, Summary, flow_entries, link_entries


def _chosen(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names)


def _id(columns: Iterable[Column], name: str) -> Column:
    """The column of names, which within the list of flows or links is `id`."""
    (column,) = _chosen(columns, name)
    return replace(column, name="id", path="")


RUN = _chosen(
    RUNS,
    "digest",
    "end_s",
    "goodput_bps",
    "fairness_jain",
    "retransmissions",
    "timeouts",
    "drops",
    "bottleneck_utilization",
    "queue_packets_mean",
    "queueing_delay_s_mean",
    "events",
    "packet_hops",
)
"""Columns of a whole run, from its summary."""

FLOW = (
    _id(FLOWS, "flow"),
    *_chosen(
        FLOWS,
        "goodput_bps",
        "bytes_delivered",
        "packets_on_wire",
        "bytes_on_wire",
        "start_s",
        "finish_s",
        "segments_sent",
        "retransmissions",
        "timeouts",
        "segments_dropped",
        "rtt_s_mean",
        "cwnd_bytes_mean",
    ),
)
"""Columns of each flow."""

LINK = (
    _id(LINKS, "link"),
    *_chosen(
        LINKS,
        "direction",
        "utilization",
        "packets_carried",
        "drops",
        "queue_packets_mean",
        "queue_packets_max",
        "queue_bytes_mean",
        "queue_bytes_max",
        "queueing_delay_s_mean",
        "queueing_delay_s_max",
    ),
)
"""Columns of each direction of each link."""

COMMON = ("key", "replication", "seed", "status", "error", "flows", "links")
"""Columns beside the axes and those of runs."""

RESERVED = frozenset({*COMMON, *(column.name for column in RUN)})
"""Names that an axis cannot have."""


def row(key: str, seed: int, summary: Summary) -> dict[str, Any]:
    """Return the row of a run; those of its flows and links as columns."""
    end_s = summary["end_s"]
    flows, links = list(flow_entries(summary)), list(link_entries(summary))
    made: dict[str, Any] = {"key": key, "seed": seed, "status": "done", "error": None}
    made |= {column.name: column.of(summary, end_s) for column in RUN}
    made["flows"] = {column.name: [column.of(flow, end_s) for flow in flows] for column in FLOW}
    made["links"] = {column.name: [column.of(link, end_s) for link in links] for column in LINK}
    return made


def failed(key: str, seed: int, error: str) -> dict[str, Any]:
    """Return the row of a run that failed: no values, but the reason."""
    made: dict[str, Any] = {"key": key, "seed": seed, "status": "failed", "error": error}
    return made | dict.fromkeys((*(column.name for column in RUN), "flows", "links"))
