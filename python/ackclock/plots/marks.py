"""Marks across the panels of a figure: losses, route changes, starts and ends of flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import bands, draw, palette
from .sheet import Panel, Sheet
from .view import View

_LOSS_EVERY_MM = 0.9
_LINE_EVERY_MM = 0.3
_MOST_LINES = 120


def across(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    """Mark what happened at one moment in all panels.

    Lost packets are small triangles at the top of each panel that does not show them itself, route
    changes dashed lines, starts and ends of flows faint lines.
    """
    if not panels:
        return
    _flow_ends(view, panels)
    _route_changes(view, sheet, panels)
    _losses(view, sheet, [panel for panel in panels if not panel.shows_losses])


def _flow_ends(view: View, panels: Sequence[Panel]) -> None:
    if len(view.flows) > 8:
        return
    times: set[float] = set()
    for name in view.flows:
        active = view.active(name)
        times |= {active.start_s, active.stop_s}
    inner = [time / view.time_unit.size for time in sorted(times) if 0 < time < view.end_s]
    for panel in panels:
        for time in inner:
            panel.axes.axvline(time, color=palette.RULE, lw=0.5, zorder=1)


def _route_changes(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    times = np.array(sorted({change.time_s for change in view.route_changes}))
    if not len(times):
        return
    edges = draw.bin_edges(panels[0], view, _LINE_EVERY_MM)
    lines = bands.distinct(times, edges)
    if len(lines) > _MOST_LINES:
        sheet.note(f"Routes changed at {len(times)} moments; see the plot 'routes'.")
        return
    for panel in panels:
        for time in lines / view.time_unit.size:
            panel.axes.axvline(time, color=palette.ROUTE, lw=0.7, ls=(0, (4, 2)), zorder=1.5)
    sheet.note("Dashed line across the panels: a route of these flows changed.")


def _losses(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    times = view.loss_times()
    times = times[(times >= view.span[0]) & (times <= view.span[1])]
    if not len(times) or not panels:
        return
    at = bands.distinct(times, draw.bin_edges(panels[0], view, _LOSS_EVERY_MM))
    for panel in panels:
        panel.axes.plot(
            at / view.time_unit.size,
            np.full(len(at), 0.985),
            transform=panel.axes.get_xaxis_transform(),
            ls="",
            marker="v",
            ms=2.6,
            mew=0,
            color=palette.LOSS,
            zorder=5,
            clip_on=False,
        )
    sheet.note("▼\u00a0at the top of a panel: packets were lost somewhere.")
