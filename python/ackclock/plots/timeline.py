"""Figures over time: panels with one time axis, the active flows above them, marks across them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import flow_strip, marks
from .errors import PlotError
from .sheet import Panel, Sheet
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fill = Callable[[View, Panel], None]

_STACKED_MM = {True: 25.0, False: 21.0}
_SINGLE_MM = {True: 52.0, False: 38.0}


def figure(view: View, fills: Sequence[tuple[str, Fill]]) -> Figure:
    """Draw panels one above the other.

    Args:
        view: The run.
        fills: For each panel the name of its plot and the function that draws it. A panel whose
            records the run has not kept is left as a line that says so.

    Raises:
        PlotError: the only panel needs records that the run has not kept.
    """
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
    return sheet.finish()
