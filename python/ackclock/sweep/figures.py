"""The figures that a sweep keeps of a run: which columns, and the rows in journals that hold them.

What they mean and how a summary gives them stands in `ackclock.columns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from ackclock.columns import FLOWS, LINKS, RUNS, Column


def _kept(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns that a sweep keeps; of a list of flows or links, their names are `id`."""
    kept = sorted((column for column in columns if column.sweep), key=lambda column: column.sweep)
    return tuple(replace(c, name="id") if c.path == "id" else c for c in kept)


RUN = _kept(RUNS)
"""Columns of a whole run, from its summary."""

FLOW = _kept(FLOWS)
"""Columns of each flow."""

LINK = _kept(LINKS)
"""Columns of each direction of each link."""

COMMON = ("key", "replication", "seed", "status", "error", "flows", "links")
"""Columns besides the axes and those of runs."""

RESERVED = frozenset({*COMMON, *(column.name for column in RUN)})
"""Names that an axis cannot have."""

LAYOUT = json.dumps(
    {
        part: {column.name: column.keys for column in columns}
        for part, columns in (("run", RUN), ("flows", FLOW), ("links", LINK))
    }
)
"""The same as the engine takes it: where each figure is in a summary."""


def failed(key: str, seed: int, error: str) -> bytes:
    """Return the row of a run that failed, as the engine writes those that it simulates."""
    row = {"key": key, "seed": seed, "status": "failed", "error": error}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
