"""The tables of a report: what flows got, what links carried, theory beside measurement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from ackclock import tables
from ackclock.columns import Column
from ackclock.results import Results
from ackclock.tables import ResultTable
from ackclock.theory import TheoryError, compare, predict
from ackclock.theory.comparison import Comparison

from .series import MOST_FLOWS

_FLOWS = (
    "run", "flow", "label", "goodput_bps", "finish_s", "path_rtt_s", "rtt_s_min", "rtt_s_mean",
    "rtt_s_p95", "rtt_s_max", "cwnd_bytes_mean", "retransmissions", "timeouts", "segments_dropped",
)  # fmt: skip
_LINKS = (
    "run", "link", "direction", "utilization", "drops", "queue_packets_mean", "queue_packets_max",
    "queueing_delay_s_mean", "queueing_delay_s_p95", "queueing_delay_s_max",
)  # fmt: skip
_MOST_LINKS = 15
_MOST_FLOWS = 200
_MOST_HOPS = 5_000_000
"""Percentiles of more packet-hops take too long, as in `ackclock run`."""

_PAIRS = {
    "rate": ("Rate", "", ""),
    "path-queue": ("Queue on path", "packets", ""),
    "rtt": ("RTT", "s", "ms"),
    "window": ("Window", "packets", ""),
}


def html(runs: Mapping[str, Results]) -> str:
    """All tables of these runs as parts of a page."""
    summaries = {
        name: tables.detailed(run)
        if run.summary["packet_hops"] <= _MOST_HOPS and len(run.summary["flows"]) <= _MOST_FLOWS
        else dict(run.summary)
        for name, run in runs.items()
    }
    flows = sum(len(run.summary["flows"]) for run in runs.values())
    most = MOST_FLOWS // len(runs) or 1 if flows > MOST_FLOWS else None
    links = [link for run in runs.values() for link in run.model["links"]]
    ways = sum(1 if link["duplex"] == "half" else 2 for link in links)
    of_flows = tables.of_summaries(summaries, "flows", most)
    of_links = tables.of_summaries(summaries, "links", _MOST_LINKS)
    parts = [
        *_shown(of_flows, _FLOWS, "flows", flows),
        *_shown(of_links, _LINKS, "directions of links", ways),
    ]
    return _section("Figures", parts) + _section("Theory and run", [*_theory(runs)])


def _section(title: str, parts: list[str]) -> str:
    return f'<section class="card figures"><h2>{title}</h2>{"".join(parts)}</section>\n'


def _shown(table: ResultTable, names: tuple[str, ...], what: str, count: int) -> Iterator[str]:
    """The columns that have a value."""
    known = [name for name in names if name in table.names]
    filled = [name for name in known if any(v is not None for v in table.cells[name])]
    if not filled:
        return
    yield f'<div class="wide">{tables.to_html(table.select(filled))}</div>'
    if count > len(table):
        yield f'<p class="faint">The busiest {len(table)} of {count:,} {what}.</p>'


def _theory(runs: Mapping[str, Results]) -> Iterator[str]:
    for name, run in runs.items():
        if len(runs) > 1:
            yield f"<h3>{escape(name)}</h3>"
        if len(run.summary["flows"]) > _MOST_FLOWS:
            yield f"<p>Not shown for more than {_MOST_FLOWS} flows.</p>"
            continue
        try:
            comparison = compare(predict(run.model), run)
        except TheoryError as error:
            yield f"<p>None for this scenario: {escape(str(error))}</p>"
            continue
        for table in (_periods(comparison), _finishes(comparison), _averages(comparison)):
            if len(table):
                yield f'<div class="wide">{tables.to_html(table)}</div>'
        judged = comparison.verdicts
        if wrong := judged.count(False):
            yield f"<p><b>Theory and run differ</b> in {wrong} of {len(judged)} figures.</p>"
        elif judged:
            yield f"<p>Theory and run agree in {len(judged)} of {len(judged)} figures.</p>"
        models = {known.averages.model.name: known.averages.model for known in comparison.averages}
        said = [
            f"{model.says} For {model.holds_for} ({model.source})." for model in models.values()
        ]
        said += [
            f"{known.averages.model.name}: not judged: {known.unjudged}."
            for known in comparison.averages
            if known.unjudged
        ]
        yield from (f'<p class="faint">{escape(note)}</p>' for note in (*said, *comparison.notes))


def _periods(comparison: Comparison) -> ResultTable:
    """A row for each flow in each settled period; theory, run and error of each quantity."""
    rows: list[dict[str, Any]] = []
    columns = [Column("period", "Steady part (s)", "word"), Column("flow", "Flow", "word")]
    rate, bps = comparison.prediction.rate_unit
    for key, (title, unit, people) in _PAIRS.items():
        columns += _columns(key, title, unit or rate, people)
    last = ""
    for period in comparison.periods:
        by_name = {(figure.quantity, figure.subject): figure for figure in period.figures}
        for name in period.predicted.flows if period.figures else ():
            span = f"{period.spans[0][0]:.2f} to {period.spans[-1][1]:.2f}"
            row: dict[str, Any] = {"period": "" if span == last else span, "flow": name}
            last = span
            for key in _PAIRS:
                if figure := by_name.get((key, name)):
                    size = bps if key == "rate" else 1.0
                    run = None if figure.measured is None else figure.measured / size
                    low, high = (end / size for end in figure.ends)
                    row |= {key: low, f"{key} to": high if figure.range else None}
                    row[f"{key} run"] = run
                    row[f"{key} error"] = figure.error
            rows.append(row)
    return _table(columns, rows, "Steady state")


def _finishes(comparison: Comparison) -> ResultTable:
    columns = [Column("flow", "Flow", "word"), *_columns("finish", "Finish", "s", "", "s")]
    keys = ("flow", "finish", "finish run", "finish error")
    rows: list[dict[str, Any]] = [
        dict(zip(keys, (one.subject, one.predicted, one.measured, one.error), strict=True))
        for one in comparison.finishes
    ]
    return _table(columns, rows, "Completion")


def _averages(comparison: Comparison) -> ResultTable:
    """A row for each average that a model gives; a range has two ends."""
    unit, bps = comparison.prediction.rate_unit
    words = [("of", "Average of"), ("quantity", ""), ("span", "Over (s)"), ("unit", "Unit")]
    numbers = [("low", "Theory, from"), ("high", "to"), ("run", "run")]
    columns = [Column(name, title, "word") for name, title in words]
    columns += [Column(name, title) for name, title in numbers]
    columns.append(Column("error", "error", shown="%", digits=2))
    rows: list[dict[str, Any]] = []
    for known in comparison.averages:
        for figure in known.figures:
            estimate = figure.estimate
            size = bps if estimate.quantity == "rate" else 1.0
            rows.append(
                {
                    "of": estimate.named(len(comparison.prediction.flows)),
                    "quantity": estimate.quantity,
                    "span": f"{known.span[0]:.2f} to {known.span[1]:.2f}",
                    "unit": unit if estimate.quantity == "rate" else "packets",
                    "low": estimate.low / size,
                    "high": estimate.high / size,
                    "run": None if figure.measured is None else figure.measured / size,
                    "error": figure.error,
                }
            )
    return _table(columns, rows, "Averages")


def _columns(key: str, title: str, unit: str, people: str, error: str = "") -> list[Column]:
    """Theory, run, and the error: relative unless it has a unit."""
    return [
        Column(key, f"{title}, theory", unit=unit, shown=people),
        Column(f"{key} to", "to", unit=unit, shown=people),
        Column(f"{key} run", "run", unit=unit, shown=people),
        Column(f"{key} error", "error", unit=error, shown="" if error else "%", digits=2),
    ]


def _table(columns: list[Column], rows: list[dict[str, Any]], title: str) -> ResultTable:
    made = {column: [row.get(column.name) for row in rows] for column in columns}
    filled = {c: cells for c, cells in made.items() if any(v is not None for v in cells)}
    return ResultTable.of(filled, title)
