"""Measurements of real connections over the panels of a run."""

from __future__ import annotations

from . import palette
from .palette import LineStyle
from .panel import Panel
from .view import View

_MOST_POINTS = 20_000
_LINES: tuple[LineStyle, ...] = ("solid", "dashed", "dotted")


def lay_over(view: View, panel: Panel, quantity: str, size: float = 1.0) -> None:
    """Draw what was measured of a quantity over a panel; `size` is the size of its unit.

    A measurement begins with the first data of its flow. What lies above the panel makes it higher.
    """
    top = panel.axes.get_ylim()[1]
    for number, (flow, measurement) in enumerate(view.measured):
        if quantity not in measurement.series:
            continue
        times, values = measurement.series[quantity]
        times = times + _first_data_s(view, flow)
        inside = panel.inside(times)
        times, values = times[inside], values[inside] / size
        if not len(times):
            panel.note(f"{measurement.name}: nothing was measured in this time.")
            continue
        line = _LINES[number % len(_LINES)]
        style = {"alpha": 0.8, "zorder": 3.5, "rasterized": len(times) > _MOST_POINTS}
        panel.line(times, values, palette.INK, line, drawstyle="steps-post", **style)
        panel.entry(f"measured: {measurement.name}", palette.INK, line=line, width=0.7)
        top = max(top, float(values.max()) * 1.1)
    low = panel.axes.get_ylim()[0]
    panel.axes.set_ylim(low, top)


def _first_data_s(view: View, flow: str) -> float:
    """When a flow first sends data, after its handshake; where that is not recorded, its start."""
    table = view.records("packets")
    if table is not None:
        rows = table.rows(flow=flow, event="sent", kind="data")
        if len(rows):
            return float(table.plain("time_s")[rows[0]])
    return view.active(flow).start_s
