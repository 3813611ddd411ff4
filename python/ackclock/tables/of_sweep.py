"""Result tables of a sweep, from its table with one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ackclock.columns import DROPS, FLOWS, LINKS, RUNS, SWEEP, TABLES, Column, Kind
from ackclock.errors import InputError, must_have, names_of, one_of, unknown
from ackclock.nested import elements
from ackclock.tables.arrow_column import ArrowColumn
from ackclock.tables.table import ResultTable

_OF_SWEEP = {column.name for column in SWEEP} | {"seed"}
_NESTED = ("flows", "links")


def axes(table: Any) -> list[str]:
    """Return the names of the axes of a sweep, in their order.

    The axes are the columns that no other definition knows.

    Raises:
        InputError: this is not the table of a sweep.
    """
    must_have(table, "column_names", name="table", wanted="the `table` of a sweep")
    known = _OF_SWEEP | {column.name for column in RUNS} | set(_NESTED)
    return [name for name in table.column_names if name not in known]


def of_sweep(table: Any, what: str, names: Sequence[str] | None = None) -> ResultTable:
    """Return a table of a sweep; runs that failed are left out, and a note says how many.

    Args:
        table: One row per run, as `ackclock sweep` writes it: a table of Arrow, or `SweepResults`,
            which reads columns when they are asked for.
        what: A name of `TABLES`.
        names: Names of the axes; default all columns that no definition knows.

    Raises:
        InputError: there is no such table, or no such axis.
    """
    one_of("table", what, TABLES)
    known = axes(table)
    named = known if names is None else names_of("names", names, "links.L1.rate")
    for name in named:
        if name not in table.column_names:
            raise InputError(unknown("axis", name, known))
    done, failed = None, 0
    if "status" in table.column_names:
        status = table.select(["status"])["status"]
        states, codes = ArrowColumn(lambda: status, len(table)).coded()
        done = pa.array(np.flatnonzero(np.array([state == "done" for state in states])[codes]))
        failed = len(table) - len(done)
        done = done if failed else None
    rows, count = table, len(table) - failed
    if what != "runs":
        # A flow has no figure of its run, whatever that is called.
        nested = "flows" if what == "flows" else "links"
        beside = [*named, *(c.name for c in SWEEP), "seed", nested]
        found = table.select([name for name in beside if name in table.column_names])
        rows, done = elements(found if done is None else found.take(done), nested), None
        if what == "drops":
            rows = rows.filter(pc.field("drops") > 0)
            rows = rows.append_column("packets", rows["drops"])
        count = rows.num_rows
    there = {
        name: ArrowColumn(lambda name=name: rows.select([name])[name], count, done)
        for name in rows.column_names
    }
    across = [_axis(name, there[name].coded()[0]) for name in named]
    common = [column for column in SWEEP if column.name != "error"]
    # By which runs of different settings belong together; runs have it among their figures.
    common += [replace(c, usual=False) for c in RUNS if c.name == "seed" and what != "runs"]
    own = {
        "runs": [column for column in RUNS if column.name != "scenario"],
        "flows": FLOWS,
        "links": LINKS,
        "drops": DROPS,
    }[what]
    made: dict[Column, Sequence[Any]] = {}
    for column in (*across, *common, *own):
        cells = there.get(column.name)
        if column.name == "replication" and cells is not None and len(cells.coded()[0]) < 2:
            continue
        filled = cells is not None and cells.arrow.null_count < count
        if filled or (column.usual and what != "drops"):
            made[column] = [None] * count if cells is None else cells
    notes = (f"{failed} of {len(table)} runs failed and are left out.",) if failed else ()
    return ResultTable.of(made, _TITLES[what], notes)


_TITLES = {
    "flows": "Flows of all runs",
    "links": "Links of all runs",
    "drops": "Lost packets by queue",
    "runs": "Runs",
}


def _axis(name: str, values: Sequence[Any]) -> Column:
    kinds: list[tuple[Kind, Any]] = [("flag", bool), ("count", int), ("real", int | float)]
    fitting: list[Kind] = [kind for kind, of in kinds if all(isinstance(v, of) for v in values)]
    kind: Kind = fitting[0] if values and fitting else "word"
    return Column(name, name, kind, meaning="Axis of the sweep")
