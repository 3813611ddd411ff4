"""Result tables of runs, from their summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ackclock.errors import InputError, unknown
from ackclock.tables.columns import DROPS, FLOWS, LINKS, RUNS, TABLES, Column
from ackclock.tables.table import ResultTable

Summary = Mapping[str, Any]

_TITLES = {
    "flows": "Flows",
    "links": "Links",
    "drops": "Lost packets by flow and queue",
    "runs": "Runs",
}
_OTHERS = "Without a flow: ACKs and packets of routers."
_RUN = Column("run", "Run", "word", meaning="Which run")


def of_summaries(summaries: Mapping[str, Summary], what: str) -> ResultTable:
    """Return a table of one run, or of several with a column that names them.

    Args:
        summaries: Summaries of runs (`results.summary`) by the name of each run.
        what: A name of `TABLES`.

    Raises:
        InputError: there is no such table.
    """
    if what not in TABLES:
        raise InputError(unknown("table", what, TABLES))
    make, columns = {
        "flows": (_flows, FLOWS),
        "links": (_links, LINKS),
        "drops": (_drops, DROPS),
        "runs": (_run, RUNS),
    }[what]
    rows = [{_RUN.name: name, **row} for name, told in summaries.items() for row in make(told)]
    shown = (*([_RUN] if len(summaries) > 1 else []), *columns)
    others = what == "drops" and any(row["flow"] is None for row in rows)
    made = table_of(rows, shown, _TITLES[what])
    return replace(made, notes=(_OTHERS,)) if others else made


def table_of(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], title: str
) -> ResultTable:
    """Return rows as a table, without the rare columns that no row has."""
    held: set[str] = set().union(*rows) if rows else set()
    kept = tuple(column for column in columns if column.usual or column.name in held)
    cells = {column.name: [row.get(column.name) for row in rows] for column in kept}
    return ResultTable(kept, cells, title)


def picked(entry: Mapping[str, Any], columns: Sequence[Column], end_s: float) -> dict[str, Any]:
    """Return the columns that an entry of a summary has."""
    row: dict[str, Any] = {}
    for column in columns:
        value: Any = entry
        if column.derived is not None:
            value = column.derived(entry, end_s)
        else:
            for key in (column.path or column.name).split("."):
                value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            row[column.name] = value
    return row


def _flows(summary: Summary) -> list[dict[str, Any]]:
    entries = ({"id": name, **flow} for name, flow in summary["flows"].items())
    return [picked(entry, FLOWS, summary["end_s"]) for entry in entries]


def _links(summary: Summary) -> list[dict[str, Any]]:
    rows = []
    for name, ways in summary["links"].items():
        for direction, link in ways.items():
            entry = {"id": name, "direction": direction, **link}
            row = picked(entry, LINKS, summary["end_s"])
            rows.append({**row, "drops": sum(link["drops"].values())})
    return rows


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


def _run(summary: Summary) -> list[dict[str, Any]]:
    flows = list(summary["flows"].values())
    links = [link for ways in summary["links"].values() for link in ways.values()]
    busiest = max(links, key=lambda link: link["utilization"], default=None)
    row = picked(summary, RUNS, summary["end_s"])
    for name in ("goodput_bps", "retransmissions", "timeouts", "bytes_on_wire"):
        row[name] = sum(flow.get(name, 0) for flow in flows)
    row["drops"] = sum(summary["packets_dropped"].values())
    if busiest is not None:
        row["bottleneck_utilization"] = busiest["utilization"]
        row["queue_packets_mean"] = busiest["queue_packets"]["mean"]
        row["queueing_delay_s_mean"] = busiest["queueing_delay_s"]["mean"]
    return [row]
