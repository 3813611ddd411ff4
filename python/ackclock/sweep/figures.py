"""The figures that a sweep keeps of a run: which columns, and the lines of journals that hold them.

What they mean and how a summary gives them stands in `ackclock.columns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ackclock.columns import FLOWS, LINKS, RUNS, Column, pick


def _id(columns: Iterable[Column], name: str) -> Column:
    """The column of names, which within the list of flows or links is `id`."""
    (column,) = pick(columns, name)
    return replace(column, name="id", path="id")


RUN = pick(
    RUNS,
    "digest",
    "stop_reason",
    "end_s",
    "goodput_bps",
    "bytes_on_wire",
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
    *pick(
        FLOWS,
        "goodput_bps",
        "goodput_to_end_bytes_per_s",
        "bytes_delivered",
        "packets_on_wire",
        "bytes_on_wire",
        "start_s",
        "finish_s",
        "finish_ack_s",
        "segments_sent",
        "retransmissions",
        "spurious_retransmissions",
        "timeouts",
        "segments_dropped",
        "rtt_s_mean",
        "cwnd_bytes_mean",
    ),
)
"""Columns of each flow."""

LINK = (
    _id(LINKS, "link"),
    *pick(
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

LAYOUT = json.dumps(
    {
        part: {column.name: column.keys for column in columns}
        for part, columns in (("run", RUN), ("flows", FLOW), ("links", LINK))
    }
)
"""The same as the engine takes it: where each figure stands in a summary."""


def done(keys: Sequence[str], first_seed: int, columns: str) -> str:
    """Return the line of a journal for runs that were done.

    Args:
        keys: Their keys.
        first_seed: Seed of the first one; those of the others count on.
        columns: Their figures, as `_core.rows` gives them.
    """
    head = json.dumps({"keys": keys, "first_seed": first_seed, "error": None})
    return f'{head[:-1]}, "columns": {columns}}}\n'


def failed(key: str, seed: int, error: str) -> str:
    """Return the line of a journal for a run that failed: no figures, but the reason."""
    entry: dict[str, Any] = {"keys": [key], "first_seed": seed, "error": error, "columns": None}
    return json.dumps(entry, ensure_ascii=False) + "\n"
