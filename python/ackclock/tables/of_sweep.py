"""Result tables of a sweep, from its table with one row a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ackclock.columns import DROPS, FLOWS, LINKS, RUNS, SWEEP, TABLES, Column
from ackclock.errors import InputError, unknown
from ackclock.tables.of_run import table_of
from ackclock.tables.table import ResultTable
from ackclock.tables.values import ordered

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
        table: One row a run, as `ackclock sweep` writes it.
        what: A name of `TABLES`.
        names: Names of the axes; default all columns that no definition knows.

    Raises:
        InputError: there is no such table.
    """
    if what not in TABLES:
        raise InputError(unknown("table", what, TABLES))
    named = list(axes(table) if names is None else names)
    runs = table.to_pylist()
    done = [run for run in runs if run.get("status", "done") == "done"]
    across = tuple(_axis(name, [run[name] for run in done]) for name in named)
    common = [column for column in SWEEP if column.name != "error"]
    columns = {
        "runs": [*common, *(column for column in RUNS if column.name != "scenario")],
        "flows": [*common, *FLOWS],
        "links": [*common, *LINKS],
        "drops": [*common, *DROPS],
    }[what]
    rows = [
        {**{name: run[name] for name in named}, **{c.name: run.get(c.name) for c in common}, **row}
        for run in done
        for row in _ROWS[what](run)
    ]
    made = table_of(rows, (*across, *columns), _TITLES[what])
    if what == "drops":
        made = made.select([name for name in made.names if any(made.values(name))])
    if len({row["replication"] for row in rows}) < 2 and "replication" in made.names:
        made = made.select([name for name in made.names if name != "replication"])
    failed = len(runs) - len(done)
    notes = (f"{failed} of {len(runs)} runs failed and are left out.",) if failed else ()
    return ResultTable(made.columns, made.cells, made.title, notes)


_TITLES = {
    "flows": "Flows of all runs",
    "links": "Links of all runs",
    "drops": "Lost packets by queue",
    "runs": "Runs",
}


def _axis(name: str, values: Sequence[Any]) -> Column:
    different = ordered(values)
    if different and all(isinstance(v, bool) for v in different):
        kind = "flag"
    elif different and all(isinstance(v, int) for v in different):
        kind = "count"
    elif different and all(isinstance(v, int | float) for v in different):
        kind = "real"
    else:
        kind = "word"
    return Column(name, name, kind, meaning="Axis of the sweep")


def _runs(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{c.name: run[c.name] for c in RUNS if run.get(c.name) is not None}]


def _flows(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_filled(flow, "flow") for flow in run["flows"] or ()]


def _links(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_filled(link, "link") for link in run["links"] or ()]


def _filled(stored: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What a sweep stored of a flow or a link, by the names of columns."""
    values = {kind if name == "id" else name: value for name, value in stored.items()}
    return {name: value for name, value in values.items() if value is not None}


def _drops(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"link": row["link"], "direction": row["direction"], "packets": row["drops"]}
        for row in _links(run)
        if row.get("drops")
    ]


_ROWS = {"runs": _runs, "flows": _flows, "links": _links, "drops": _drops}
