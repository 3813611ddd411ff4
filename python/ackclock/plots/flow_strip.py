"""The strip below the title: which flow is active when."""

from __future__ import annotations

from . import palette, text
from .heading import task
from .panel import Panel
from .sheet import Sheet
from .view import View

_ROW_MM = 3.0
_MOST_MM = 18.0
_LABEL_SIZE = 5.8
_GAPS_MM = 0.5
"""Bars lower than this touch: gaps narrower than a pixel would be stripes."""


def add(view: View, sheet: Sheet) -> Panel:
    """Add the strip: one bar for each drawn flow, from its start to its end."""
    rows = max(1, len(view.flows))
    height = min(_MOST_MM, rows * _ROW_MM)
    panel = sheet.add(height)
    axes = panel.axes
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    unit = panel.second
    row_mm = height / rows
    thick = 0.82 if row_mm > _GAPS_MM else 1.0
    for row, name in enumerate(view.flows):
        active = view.active(name)
        length, start = (active.stop_s - active.start_s) / unit, active.start_s / unit
        axes.barh(row + 0.5, length, left=start, height=thick, color=view.flow_color[name])
        if row_mm > 2.4:
            _label(view, panel, row, name)
    if row_mm <= 2.4:
        panel.title = "Active flows"
        panel.ramp = len(view.flows) > len(palette.FLOWS)
        for name in view.flows:
            panel.entry(name, view.flow_color[name])
    return panel


def _label(view: View, panel: Panel, row: int, name: str) -> None:
    """Write the flow's name and task into its bar, or beside it where the bar is too short."""
    flow, active = view.flow(name), view.active(name)
    words = f"{name}{task(flow)}"
    scale = panel.width_mm / view.span_s
    # Where the bar begins and ends on paper, from the left edge of the panel.
    begin, end = (
        (min(max(time, view.span[0]), view.span[1]) - view.span[0]) * scale
        for time in (active.start_s, active.stop_s)
    )
    needed = text.width_mm(words, _LABEL_SIZE) + 2.0
    color, x, side = palette.INK, 0.0, "left"
    if end - begin >= needed:
        x, color = begin + 1.0, palette.text_on(view.flow_color[name])
    elif panel.width_mm - end >= needed:
        x = end + 1.0
    elif begin >= needed:
        x, side = begin - 1.0, "right"
    else:
        words, x, color = name, begin + 0.5, palette.text_on(view.flow_color[name])
    at = ((view.span[0] + x / scale) / panel.second, row + 0.5)
    style = {"size": _LABEL_SIZE, "color": color, "ha": side, "va": "center_baseline"}
    panel.axes.text(*at, words, **style, parse_math=False)
