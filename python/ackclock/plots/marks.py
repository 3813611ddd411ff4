"""Marks across the panels of a figure: losses, changes, starts and ends of flows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from . import bands, lanes, palette, quantities
from .panel import Panel
from .sheet import Sheet
from .view import View

_LOSS_EVERY_MM = 0.9
_LINE_EVERY_MM = 0.3
_MOST_LINES = 120
_MOST_NAMED = 6


def across(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    """Mark what happened at one moment in all panels.

    Lost packets are small triangles at the top of each panel that does not show them itself, route
    changes dashed lines, changes of links lines of dashes and dots, with the time in which a link
    is down shaded, starts and ends of flows faint lines. The warm-up is shaded.
    """
    if not panels:
        return
    _warmup(view, sheet, panels)
    _flow_ends(view, panels)
    _route_changes(view, sheet, panels)
    _link_changes(view, sheet, panels)
    _losses(view, sheet, [panel for panel in panels if not panel.shows_losses])


def _warmup(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    if view.warmup_s <= view.span[0]:
        return
    for panel in panels:
        panel.shade(view.span[0], min(view.warmup_s, view.span[1]), palette.RULE, 0.3, zorder=0)
    time = quantities.number(view.warmup_s / view.time_unit.size)
    sheet.note(
        f"Grey: the warm-up until {time} {view.time_unit.name}, which is not in the figures of "
        "the run."
    )


def _flow_ends(view: View, panels: Sequence[Panel]) -> None:
    if len(view.flows) > 8:
        return
    times: set[float] = set()
    for name in view.flows:
        active = view.active(name)
        times |= {active.start_s, active.stop_s}
    inner = np.array([time for time in sorted(times) if 0 < time < view.end_s])
    for panel in panels:
        panel.upright(inner, palette.RULE, 0.5, zorder=1)


def _route_changes(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    times = {change.time_s for change in view.route_changes}
    if _lines(panels, times, (0, (4, 2))):
        sheet.note("Dashed line across the panels: a route of these flows changed.")
    elif times:
        sheet.note(f"Routes changed at {len(times)} moments; see the plot 'routes'.")


def _link_changes(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    words: dict[tuple[float, str], list[str]] = {}
    down: dict[tuple[str, float, float], None] = {}
    for lane in view.changing_lanes:
        for before, after in pairwise(lane.states):
            if not view.span[0] <= after.time_s <= view.span[1]:
                continue
            changes = words.setdefault((after.time_s, lane.link), [])
            found = lanes.change(before, after, binary=view.binary_rates)
            changes += [word for word in found if word not in changes]
        for state, then in pairwise([*lane.states, lane.states[-1]._replace(time_s=view.end_s)]):
            if not state.up:
                down[lane.link, state.time_s, then.time_s] = None
    if not words:
        return
    unit = view.time_unit
    if not _lines(panels, {time for time, _ in words}, (0, (4, 1.5, 1, 1.5))):
        sheet.note(f"Links changed at {len(words)} moments; their capacity is in 'link-rate'.")
        return
    for panel in panels:
        for _, start, stop in down:
            panel.shade(start, stop, palette.CHANGE, 0.1, zorder=0)
    sentences = [
        f"{link} {' and '.join(what)} at {quantities.number(time / unit.size)} {unit.name}"
        for (time, link), what in sorted(words.items())
    ]
    more = f", and {len(sentences) - _MOST_NAMED} more" if len(sentences) > _MOST_NAMED else ""
    shaded = ", shaded while down" if down else ""
    sheet.note(
        f"Dashes and dots: a link changes{shaded}: {', '.join(sentences[:_MOST_NAMED])}{more}."
    )


def _lines(panels: Sequence[Panel], times: Iterable[float], dashes: Any) -> bool:
    """Draw lines across the panels at these times; False if there are none, or too many."""
    edges = panels[0].bins(_LINE_EVERY_MM)
    at = bands.distinct(np.array(sorted(times)), edges)
    if not 0 < len(at) <= _MOST_LINES:
        return False
    for panel in panels:
        panel.upright(at, palette.CHANGE, 0.7, ls=dashes, zorder=1.5)
    return True


def _losses(view: View, sheet: Sheet, panels: Sequence[Panel]) -> None:
    times = view.loss_times()
    times = times[(times >= view.span[0]) & (times <= view.span[1])]
    if not len(times) or not panels:
        return
    at = bands.distinct(times, panels[0].bins(_LOSS_EVERY_MM))
    for panel in panels:
        style = {"marker": "v", "ms": 2.6, "mew": 0, "ls": "", "clip_on": False, "zorder": 5}
        across = panel.axes.get_xaxis_transform()
        panel.line(at, np.full(len(at), 0.985), palette.LOSS, transform=across, **style)
    sheet.note("▼\u00a0at the top of a panel: packet loss.")
