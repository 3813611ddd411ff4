"""Result tables of runs, from their summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Any

from ackclock.columns import (
    DROPS,
    FLOWS,
    LINKS,
    RUNS,
    TABLES,
    Column,
    Summary,
    flow_entries,
    link_entries,
    pick,
)
from ackclock.errors import mapping_of, one_of, refuse
from ackclock.tables.table import ResultTable

_TITLES = {
    "flows": "Flows",
    "links": "Links",
    "drops": "Lost packets by flow and queue",
    "runs": "Runs",
}
_OTHERS = "Without a flow: ACKs and packets of routers."
_SUMMARIES = "a mapping of names to summaries, as `results.summary` is one"
_RUN = Column("run", "Run", "word", meaning="Which run")


_BUSIEST = {"flows": pick(FLOWS, "goodput_bps"), "links": pick(LINKS, "utilization", "drops")}


def of_summaries(
    summaries: Mapping[str, Summary], what: str, most: int | None = None
) -> ResultTable:
    """Return a table of one run, or of several with a column that names them.

    Args:
        summaries: Summaries of runs (`results.summary`) by the name of each run.
        what: A name of `TABLES`.
        most: Only this many flows, or links, of each run: the busiest, in this order.

    Raises:
        InputError: there is no such table.
    """
    summaries = mapping_of("summaries", summaries, _SUMMARIES, Mapping)
    for summary in summaries.values():
        if not {"flows", "links"} <= summary.keys():
            refuse("summaries", summaries, _SUMMARIES)
    entries, columns = {
        "flows": (flow_entries, FLOWS),
        "links": (link_entries, LINKS),
        "drops": (_drops, DROPS),
        "runs": (lambda summary: [summary], RUNS),
    }[one_of("table", what, TABLES)]

    def rank(entry: Mapping[str, Any]) -> list[float]:
        return [column.of(entry) or 0 for column in _BUSIEST[what]]

    def shown_of(summary: Summary) -> Iterable[Mapping[str, Any]]:
        every = entries(summary)
        return every if most is None else nlargest(most, every, key=rank)

    rows = [
        {_RUN.name: name, **(entry if what == "drops" else picked(entry, columns))}
        for name, summary in summaries.items()
        for entry in shown_of(summary)
    ]
    shown = (*([_RUN] if len(summaries) > 1 else []), *columns)
    others = what == "drops" and any(row["flow"] is None for row in rows)
    made = table_of(rows, shown, _TITLES[what])
    return replace(made, notes=(_OTHERS,)) if others else made


def table_of(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], title: str
) -> ResultTable:
    """Return rows as a table, without the rare columns that no row has."""
    held: set[str] = set().union(*rows) if rows else set()
    kept = [column for column in columns if column.usual or column.name in held]
    return ResultTable.of({c: [row.get(c.name) for row in rows] for c in kept}, title)


def picked(entry: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    """Return the columns that an entry of a summary has."""
    found = ((column.name, column.of(entry)) for column in columns)
    return {name: value for name, value in found if value is not None}


def _drops(summary: Summary) -> list[dict[str, Any]]:
    """Lost data packets as flows count them; what links count beyond that were other packets."""
    rows: list[dict[str, Any]] = []
    left: Counter[tuple[str | None, str | None, str]] = Counter()
    for name, ways in summary["links"].items():
        for direction, link in ways.items():
            for reason, packets in link["drops"].items():
                left[name, direction, reason] += packets
    left[None, None, "no-route"] += summary["packets_dropped"].get("no-route", 0)
    for name, flow in summary["flows"].items():
        for drops in flow.get("drops", ()):
            place = (drops["link"], drops["direction"], drops["reason"])
            left[place] -= drops["packets"]
            rows.append({"flow": name, **drops})
    others = (
        {"flow": None, "link": link, "direction": direction, "reason": reason, "packets": packets}
        for (link, direction, reason), packets in left.items()
        if packets > 0
    )
    return [*rows, *others]
