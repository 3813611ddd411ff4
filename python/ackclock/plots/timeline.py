"""Figures over time: panels with one time axis, the active flows above them, marks across them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import flow_strip, marks
from .errors import PlotError
from .sheet import Panel, Sheet, evenly
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fill = Callable[[View, Panel], None]

_STACKED_MM = {True: 25.0, False: 21.0}
_SINGLE_MM = {True: 52.0, False: 38.0}
_MOST_FLOWS = 200
"""How many flows a page of several panels shows unless they are asked for."""


def figure(view: View, fills: Sequence[tuple[str, Fill]]) -> Figure:
    """Draw panels one above the other.

    Args:
        view: The run.
        fills: For each panel the name of its plot and the function that draws it. A panel whose
            records the run has not kept is left as a line that says so.

    Raises:
        PlotError: the only panel needs records that the run has not kept.
    """
    left_out = ""
    if len(fills) > 1 and not view.flows_asked and len(view.flows) > _MOST_FLOWS:
        left_out = f"{_MOST_FLOWS} of {len(view.flows)} flows are drawn, evenly chosen."
        view = view.of_flows(evenly(view.flows, _MOST_FLOWS))
    wide = view.width_mm > 120
    height = (_STACKED_MM if len(fills) > 1 else _SINGLE_MM)[wide]
    sheet = Sheet(view)
    flow_strip.add(view, sheet)
    panels: list[Panel] = []
    for name, fill in fills:
        panel = sheet.add(height)
        panels.append(panel)
        try:
            fill(view, panel)
        except PlotError as error:
            if len(fills) == 1:
                raise
            panel.title = panel.title or name
            panel.empty(str(error))
    marks.across(view, sheet, [p for p in panels if not p.message])
    if left_out:
        panels[0].note(left_out)
    return sheet.finish()
