"""Percentiles of round-trip times and waits, from the records of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ackclock.arrays import Floats, Integers
from ackclock.metrics.condense import by_names
from ackclock.metrics.quantiles import quantiles
from ackclock.metrics.series import pieces

_END = "end"
"""The end of the run, in the place of a column."""

_SAMPLES = {"rtt": ["rtt_s"]}
_WAITS = {"transmissions": ["time_s", "entered_s"], "waiting": [_END, "time_s"]}
"""Tables, and the columns of which the first less the others is measured."""

_WHEN = {"rtt": "time_s", "transmissions": "entered_s", "waiting": "time_s"}
"""The moment that must not lie in the warm-up."""


class Recorded(Protocol):
    """What this needs of a run; `ackclock.results.Results` has it."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The document `summary.json`."""
        ...

    @property
    def model(self) -> Mapping[str, Any]:
        """The scenario in numbers."""
        ...

    @property
    def tables(self) -> Sequence[str]:
        """Names of the recorded tables."""
        ...

    def table(self, name: str) -> pa.Table:
        """A record table by its name."""
        ...


def with_percentiles(results: Recorded, shares: Mapping[str, float]) -> dict[str, Any]:
    """Return the summary of a run with percentiles beside the means of times.

    `rtt_s` of a flow has them where every sample was recorded (table `rtt`), `queueing_delay_s` of
    a link where every transmission was (tables `transmissions` and `waiting`): over the waits of
    all packets that were transmitted or wait at the end, as the mean is; one that waits at the end
    counts with its wait until then. Exact: the least value that this share does not exceed. What
    was measured in the warm-up does not count.

    Args:
        results: The run.
        shares: Names of the percentiles, and shares above 0, up to 1.
    """
    summary = dict(results.summary)
    flows = {name: dict(flow) for name, flow in summary["flows"].items()}
    links = {
        name: {direction: dict(way) for direction, way in ways.items()}
        for name, ways in summary["links"].items()
    }
    if _whole(results, "rtt"):
        names = [(name,) for name in flows]
        for (name,), found in _found(results, _SAMPLES, ("flow",), names, shares).items():
            flows[name]["rtt_s"] = {**flows[name]["rtt_s"], **found}
    if _whole(results, "transmissions") and _whole(results, "waiting"):
        names = [(name, direction) for name, ways in links.items() for direction in ways]
        waits = _found(results, _WAITS, ("link", "direction"), names, shares)
        for (name, direction), found in waits.items():
            way = links[name][direction]
            way["queueing_delay_s"] = {**way["queueing_delay_s"], **found}
    return {**summary, "flows": flows, "links": links}


def _whole(results: Recorded, table: str) -> bool:
    """Whether every row of a table was recorded, not some of them."""
    return table in results.tables and results.model["record"].get(table) == "changes"


def _found(
    results: Recorded,
    sources: Mapping[str, Sequence[str]],
    subject: tuple[str, ...],
    names: Sequence[tuple[str, ...]],
    shares: Mapping[str, float],
) -> dict[tuple[str, ...], dict[str, float]]:
    """Percentiles of a column, or of the difference of two, of some tables, for each subject."""
    number = {name: i for i, name in enumerate(names)}
    warmup_s = float(results.summary.get("warmup_s") or 0.0)

    def read() -> Iterator[tuple[Integers, Floats]]:
        for table, (column, *since) in sources.items():
            measured = {*since, column, *([_WHEN[table]] if warmup_s else [])} - {_END}
            parts = pieces(results, table, [*subject, *sorted(measured)])
            batches = (batch for part in parts for batch in part.to_batches(2**20))
            for batch, groups in by_names((pa.Table.from_batches([b]) for b in batches), subject):
                end = np.full(len(batch), results.summary["end_s"])
                values = end if column == _END else batch[column].to_numpy()
                for name in since:
                    values = values - batch[name].to_numpy()
                of = np.zeros(len(batch), np.int64)
                for name, rows in groups:
                    of[rows] = number.get(name, 0)
                # Times are whole nanoseconds; their differences as floating-point numbers are not.
                values = np.round(values.astype(np.float64), 9)
                counted = batch[_WHEN[table]].to_numpy() > warmup_s if warmup_s else slice(None)
                yield of[counted], values[counted]

    found = quantiles(read, list(shares.values()))
    return {names[group]: dict(zip(shares, at, strict=True)) for group, at in found.items()}
