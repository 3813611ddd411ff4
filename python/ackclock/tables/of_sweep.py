"""Result tables of a sweep, from its table with one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ackclock.columns import DROPS, FLOWS, LINKS, RUNS, SWEEP, TABLES, Column, Kind
from ackclock.errors import InputError, unknown
from ackclock.nested import elements
from ackclock.tables.arrow_column import ArrowColumn
from ackclock.tables.table import ResultTable

_OF_SWEEP = {column.name for column in SWEEP} | {"seed"}
_NESTED = ("flows", "links")


def axes(table: pa.Table) -> list[str]:
    """Return the names of the axes of a sweep, in their order.

    The axes are the columns that no other definition knows.
    """
    known = _OF_SWEEP | {column.name for column in RUNS} | set(_NESTED)
    return [name for name in table.column_names if name not in known]


def of_sweep(table: pa.Table, what: str, names: Sequence[str] | None = None) -> ResultTable:
    """Return a table of a sweep; runs that failed are left out, and a note says how many.

    Args:
        table: One row per run, as `ackclock sweep` writes it.
        what: A name of `TABLES`.
        names: Names of the axes; default all columns that no definition knows.

    Raises:
        InputError: there is no such table.
    """
    if what not in TABLES:
        raise InputError(unknown("table", what, TABLES))
    named = list(axes(table) if names is None else names)
    done = table
    if "status" in table.column_names:
        done = table.filter(pc.field("status") == "done")
    rows = done
    if what != "runs":
        # A flow has no figure of its run, whatever that is called.
        nested = "flows" if what == "flows" else "links"
        beside = [*named, *(c.name for c in SWEEP), "seed", nested]
        rows = elements(done.select([n for n in beside if n in done.column_names]), nested)
    if what == "drops":
        rows = rows.filter(pc.field("drops") > 0)
        rows = rows.append_column("packets", rows["drops"])
    across = [_axis(name, rows[name].unique().to_pylist()) for name in named]
    common = [column for column in SWEEP if column.name != "error"]
    own = {
        "runs": [column for column in RUNS if column.name != "scenario"],
        "flows": FLOWS,
        "links": LINKS,
        "drops": DROPS,
    }[what]
    made: dict[Column, Sequence[Any]] = {}
    for column in (*across, *common, *own):
        there = column.name in rows.column_names
        filled = there and rows[column.name].null_count < rows.num_rows
        if column.name == "replication" and there and len(rows["replication"].unique()) < 2:
            continue
        if filled or (column.usual and what != "drops"):
            made[column] = ArrowColumn(rows[column.name]) if there else [None] * rows.num_rows
    failed = table.num_rows - done.num_rows
    notes = (f"{failed} of {table.num_rows} runs failed and are left out.",) if failed else ()
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
