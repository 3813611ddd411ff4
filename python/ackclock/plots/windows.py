"""Figure: congestion windows of several algorithms, or of several runs, on the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from . import flow_window, heading
from .errors import PlotError
from .sheet import Sheet
from .view import View

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
        raise PlotError("the plot 'windows': there is no flow with a congestion window")
    if len(parts) > MOST_PANELS:
        raise PlotError(f"{len(parts)} panels of windows are more than the {MOST_PANELS} of a page")
    longest = max(views, key=lambda view: view.span[1])
    sheet = Sheet(longest, words=heading.of_runs(views) if len(views) > 1 else None)
    panels = []
    for name, view in parts:
        panel = sheet.add(_HEIGHT_MM)
        flow_window.fill(view.beside(1, longest.span), panel)
        panel.title, panel.unit = name, "congestion window, packets"
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
    """What the algorithm of a flow is called: its congestion control, and its recovery."""
    cc, recovery = flow["tcp"]["cc"]["kind"], (flow["tcp"].get("recovery") or {}).get("kind")
    name = heading.algorithm(flow)
    plain = recovery in (None, "selective-repeat", cc) or name == flow["label"]
    return name if plain else f"{name}, recovery {recovery}"


def _of_runs(views: Sequence[View]) -> list[tuple[str, View]]:
    """All runs, called by their algorithms if these differ, else by their names."""
    used = [list(dict.fromkeys(algorithm(v.flow(f)) for f in v.window_flows())) for v in views]
    if all(len(names) == 1 for names in used) and len({names[0] for names in used}) == len(used):
        return [(names[0], view) for names, view in zip(used, views, strict=True)]
    return [(heading.run_name(view, number), view) for number, view in enumerate(views, 1)]
