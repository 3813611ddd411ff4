"""Figure: values that controllers in Python record by `self.record(name, value)`."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from . import draw, flow_strip
from .panel import Panel
from .sheet import Sheet
from .view import Series, View

_HEIGHT_MM = {True: 32.0, False: 26.0}
_MOST_PANELS = 12


def draw_variables(view: View) -> Figure:
    """A panel for each variable, in which each flow has its line."""
    records = view.records("variables")
    names = [] if records is None else records.names("name")
    series = {name: _series(view, name) for name in names}
    series = {name: flows for name, flows in series.items() if flows}
    sheet = Sheet(view)
    flow_strip.add(view, sheet)
    if not series:
        panel = sheet.add(_HEIGHT_MM[True])
        panel.title = "Recorded values"
        panel.empty("no controller in Python recorded any: self.record(name, value) does")
    for name, flows in list(series.items())[:_MOST_PANELS]:
        _fill(view, sheet.add(_HEIGHT_MM[view.width_mm > 120]), name, flows)
    if left := list(series)[_MOST_PANELS:]:
        sheet.note(f"Not drawn, for lack of room: {', '.join(left)}.")
    return sheet.finish()


def _series(view: View, variable: str) -> dict[str, Series]:
    """The values of a variable that are numbers, by flow."""
    records = view.need("variables")
    times, values = records.plain("time_s"), records.plain("value")
    found = {}
    for flow in view.flows:
        rows = records.rows(flow=flow, name=variable)
        rows = rows[np.isfinite(values[rows])]
        if len(rows):
            found[flow] = times[rows], values[rows]
    return found


def _fill(view: View, panel: Panel, variable: str, series: dict[str, Series]) -> None:
    panel.title, panel.unit = variable, "as recorded"
    highest = draw.of_flows(view, panel, series, draw.steps)
    least = min(float(values.min()) for _, values in series.values())
    if least >= 0:
        panel.y_from_zero(highest or 1.0)
