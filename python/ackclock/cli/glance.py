"""A run at a glance: windows and the queue that matters, as charts in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from ackclock.cli import chart
from ackclock.cli.chart import Chart

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.plots.view import View
    from ackclock.results import Results

_MOST_FLOWS = 3
_ROWS = {0: 0, 1: 7, 2: 4, 3: 3}
_QUEUE_ROWS = 4
_COLORS = ("blue", "red", "green")
_EVENTS = (("T", ("timeout",)), ("x", ("fast-retransmit", "recovery", "reduction")))


def print_glance(
    screen: Console,
    results: Results,
    flows: Sequence[str] | None = None,
    links: Sequence[str] | None = None,
) -> None:
    """Draw the windows of the first flows, all on one scale, and the queue of the busiest link.

    Nothing is drawn of what was not recorded.
    """
    if not {"cwnd", "queue"} & set(results.tables):
        return
    from ackclock.plots.view import View

    view = View(results, flows, links)
    flows = view.window_flows() if view.recorded("cwnd") else []
    names = [name for name in flows if len(view.window_packets(name)[0])]
    charts = _windows(view, names[:_MOST_FLOWS])
    charts += _queue(view) if view.recorded("queue") else []
    if not charts:
        return
    braille = knows_braille() and not screen.legacy_windows
    screen.print()
    marked = False
    for drawn in charts:
        screen.print(Text(drawn.title, style="bold"), soft_wrap=True)
        for scale, curve, marks in chart.lines(drawn, braille=braille):
            line = Text.assemble((scale, "dim"), (curve, drawn.color), (marks, "dim"))
            line.rstrip()
            screen.print(line, soft_wrap=True)
            marked = marked or bool(marks)
    for text in chart.axis(view.span, braille=braille):
        screen.print(Text(text, style="dim"), soft_wrap=True)
    said = ["x: fast retransmit or reduction, T: timeout"] if marked else []
    if (more := len(names) - _MOST_FLOWS) > 0:
        said.append(f"{more} more flow{'s' * (more > 1)}: choose with --flows")
    if said:
        screen.print(Text("; ".join(said), style="dim"), soft_wrap=True)


def _windows(view: View, names: Sequence[str]) -> list[Chart]:
    series = {name: view.window_packets(name) for name in names}
    top = max((float(values.max()) for _, values in series.values()), default=0.0)
    drawn = []
    for name, color in zip(names, _COLORS, strict=False):
        label = view.summary["flows"][name].get("label")
        title = f"{name} ({label}): " if label else f"{name}: "
        times, values = _until_finish(view, name, series[name])
        drawn.append(
            Chart(
                f"{title}congestion window, packets",
                times,
                values,
                view.span,
                top,
                _ROWS[len(names)],
                color,
                _marks(view, name),
            )
        )
    return drawn


def _until_finish(
    view: View, name: str, series: tuple[chart.Floats, chart.Floats]
) -> tuple[chart.Floats, chart.Floats]:
    """The window of a flow without the time after its end."""
    times, values = series
    active = view.active(name)
    if not active.finished:
        return times, values
    during = times < active.stop_s
    return np.append(times[during], active.stop_s), np.append(values[during], np.nan)


def _marks(view: View, name: str) -> list[tuple[str, chart.Floats]]:
    table = view.records("events")
    if table is None:
        return []
    found = []
    for letter, events in _EVENTS:
        times = [table.plain("time_s")[table.rows(flow=name, event=event)] for event in events]
        joined = np.concatenate(times)
        if len(joined):
            found.append((letter, joined))
    return found


def _queue(view: View) -> list[Chart]:
    lanes = view.lanes
    if not lanes:
        return []
    lane = max(lanes, key=lambda one: view.interest[one])
    times, values = view.queue_length(lane)
    top = float(values.max(initial=0.0))
    if top == 0:
        return []
    title = f"{lane.label}: packets waiting"
    return [Chart(title, times, values, view.span, top, _QUEUE_ROWS, "yellow")]


def knows_braille() -> bool:
    """Whether standard output can show Braille and lines."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "⣿│".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
