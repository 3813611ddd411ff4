"""Result tables: flows, links, lost packets and runs, of runs and of sweeps.

>>> from ackclock import tables
>>> table = tables.of_run(results, "flows")                            # doctest: +SKIP
>>> print(tables.to_markdown(table.usual()))                           # doctest: +SKIP
>>> tables.pivoted(tables.of_sweep(sweep.table, "runs"), "queue", "cc", "goodput_bps")
...                                                                    # doctest: +SKIP

What each column means is defined in `ackclock.columns` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ackclock.columns import TABLES, Column
from ackclock.tables.formats import to_csv, to_json, to_latex, to_markdown, to_parquet
from ackclock.tables.groups import AGGREGATES, grouped, pivoted
from ackclock.tables.of_run import of_summaries
from ackclock.tables.of_sweep import axes, of_sweep
from ackclock.tables.table import ResultTable

__all__ = [
    "AGGREGATES",
    "TABLES",
    "Column",
    "ResultTable",
    "axes",
    "grouped",
    "of_run",
    "of_summaries",
    "of_sweep",
    "pivoted",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_parquet",
]


class HasSummary(Protocol):
    """What a table needs of a run; `ackclock.Results` has it."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The document `summary.json`."""
        ...


def of_run(results: HasSummary, what: str = "flows") -> ResultTable:
    """Return a table of a run.

    Args:
        results: The run.
        what: `flows`, `links`, `drops` (lost packets by flow and queue), or `runs` (one row).

    Raises:
        InputError: there is no such table.
    """
    return of_summaries({"": results.summary}, what)
