"""Result tables: flows, links, lost packets and runs, of runs and of sweeps.

>>> from ackclock import tables
>>> table = tables.of_run(results, "flows")                            # doctest: +SKIP
>>> print(tables.to_markdown(table.usual()))                           # doctest: +SKIP
>>> tables.pivoted(tables.of_sweep(sweep.table, "runs"), "queue", "cc", "goodput_bps")
...                                                                    # doctest: +SKIP

What each column means is defined in `ackclock.columns` and nowhere else.
"""

from __future__ import annotations

from typing import Any

from ackclock.columns import PERCENTILES, TABLES, Column
from ackclock.errors import flag_of, must_have
from ackclock.metrics.percentiles import Recorded, with_percentiles
from ackclock.tables.formats import to_csv, to_html, to_json, to_latex, to_markdown, to_parquet
from ackclock.tables.groups import AGGREGATES, grouped, paired, pivoted
from ackclock.tables.of_records import of_records
from ackclock.tables.of_run import of_summaries
from ackclock.tables.of_sweep import axes, of_sweep
from ackclock.tables.table import ResultTable

__all__ = [
    "AGGREGATES",
    "TABLES",
    "Column",
    "ResultTable",
    "axes",
    "detailed",
    "grouped",
    "of_records",
    "of_run",
    "of_summaries",
    "of_sweep",
    "paired",
    "pivoted",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_parquet",
]


def of_run(results: Recorded, what: str = "flows", *, percentiles: bool = False) -> ResultTable:
    """Return a table of a run.

    Args:
        results: The run; `ackclock.Results`.
        what: `flows`, `links`, `drops` (lost packets by flow and queue), or `runs` (one row).
        percentiles: Read the records for percentiles of round-trip times and waits.

    Raises:
        InputError: there is no such table.
    """
    must_have(results, "summary")
    summary = detailed(results) if flag_of("percentiles", percentiles) else results.summary
    return of_summaries({"": summary}, what)


def detailed(results: Recorded) -> dict[str, Any]:
    """Return the summary of a run with the percentiles that its records give."""
    must_have(results, "summary")
    return with_percentiles(results, PERCENTILES)
