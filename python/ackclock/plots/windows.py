"""Figure: congestion windows of several algorithms, or of several runs, on the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import flow_window, heading
from .errors import PlotError
from .sheet import Sheet
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 12
"""More panels below each other than this make no page."""

_HEIGHT_MM = 27.0


def draw(views: Sequence[View]) -> Figure:
    """A panel for each algorithm of a run, or for each of several runs, with one scale for all.

    Raises:
        PlotError: there are no windows, or too many runs for one page.
    """
    parts = _of_run(views[0]) if len(views) == 1 else _of_runs(views)
    if not parts:
        raise PlotError("there is no flow with a congestion window")
    if len(parts) > MOST_PANELS:
        raise PlotError(f"{len(parts)} panels of windows are more than the {MOST_PANELS} of a page")
    longest = max(views, key=lambda view: view.span[1])
    sheet = Sheet(longest, words=heading.of_runs(views) if len(views) > 1 else None)
    panels = []
    for name, view in parts:
        view.time_unit = longest.time_unit
        panel = sheet.add(_HEIGHT_MM)
        flow_window.fill(view, panel)
        panel.title = name
        panels.append(panel)
    highest = max(panel.axes.get_ylim()[1] for panel in panels)
    for panel in panels:
        if not panel.message:
            panel.axes.set_ylim(0, highest)
    return sheet.finish()


def _of_run(view: View) -> list[tuple[str, View]]:
    """The flows of a run by algorithm, in the order of the scenario."""
    names: dict[str, list[str]] = {}
    for flow in view.window_flows():
        names.setdefault(algorithm(view.flow(flow)), []).append(flow)
    return [(name, view.of_flows(flows)) for name, flows in names.items()]


def algorithm(flow: Any) -> str:
    """What a flow's algorithm is called: its congestion control, and its recovery by another name."""
    cc = heading.algorithm(flow)
    recovery = (flow["tcp"].get("recovery") or {}).get("kind")
    kind = flow["tcp"]["cc"]["kind"]
    if recovery in (None, "selective-repeat", kind):
        return cc
    return f"{cc}, recovery {recovery}"


def _of_runs(views: Sequence[View]) -> list[tuple[str, View]]:
    """All runs, each called by its algorithms and by what sets it apart from the others."""
    names = [", ".join(dict.fromkeys(algorithm(v.flow(f)) for f in v.window_flows())) for v in views]
    if len(set(names)) < len(names):
        names = [
            f"{heading.run_name(view, number)}: {name}"
            for number, (view, name) in enumerate(zip(views, names, strict=True), 1)
        ]
    return list(zip(names, views, strict=True))
