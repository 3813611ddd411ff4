"""Figure: packets waiting at each link, and the packets dropped there."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from . import bands, draw, flow_strip, marks, palette
from .lanes import Lane
from .link_queue import draw_limit, limit_packets
from .panel import Panel
from .sheet import Sheet
from .view import View

_HEIGHT_MM = {True: 46.0, False: 36.0}
_STACKED_MM = {True: 32.0, False: 26.0}
_ROW_MM = 2.4
_MARK_EVERY_MM = 0.12
_EXACT = 12.0
"""Up to this many changes in a pixel each step is drawn, else the mean and the range."""
_MOST_ROWS = 8

_REASONS = {
    "queue-full": ("x", "dropped, buffer full"),
    "early": ("1", "dropped early"),
    "forced": ("2", "dropped, average queue too long"),
    "codel": ("3", "dropped, waits too long"),
    "overlimit": ("4", "dropped, longest queue"),
    "corrupted": ("|", "corrupted"),
    "loss": ("+", "lost (loss model)"),
}
"""Shape and words for the reasons of drops at links."""


def draw_links(view: View) -> Figure:
    """A panel for each link: its queue, its limit, and above the limit what was dropped there."""
    sheet = Sheet(view)
    flow_strip.add(view, sheet)
    several = len(view.lanes) > 1
    height = (_STACKED_MM if several else _HEIGHT_MM)[view.width_mm > 120]
    panels = [sheet.add(height) for _ in view.lanes]
    for panel, lane in zip(panels, view.lanes, strict=True):
        _fill(view, panel, lane)
    if not panels:
        sheet.add(height).empty("no link")
    marks.across(view, sheet, panels)
    if view.recorded("drops"):
        sheet.note("Marks: packets dropped at this link, in the colour of their flow.")
    return sheet.finish()


def _fill(view: View, panel: Panel, lane: Lane) -> None:
    panel.title = f"Queue of {lane.label}"
    panel.unit = "packets waiting, without the one being sent"
    panel.shows_losses = view.recorded("drops")
    times, values = view.queue_length(lane)
    color = view.lane_color[lane]
    highest = draw.steps(panel, times, values, color=color, before=0.0, dense=_EXACT)
    panel.entry("waiting", color)
    limit = limit_packets(view, lane)
    if limit and highest >= 0.5 * limit:
        highest = max(highest, limit)
        draw_limit(panel, limit)
    top = highest or 1.0
    panel.y_from_zero(top, counts=True)
    panel.axes.set_ylim(0, max(1.1 * top, _drops(view, panel, lane, top)))
    # No numbers beside the marks: their height is not a queue length.
    panel.axes.set_yticks([tick for tick in panel.axes.get_yticks() if tick <= 1.1 * top])


def _drops(view: View, panel: Panel, lane: Lane, highest: float) -> float:
    """Draw the drops at this link above `highest`, a row for each flow and reason.

    Returns the upper limit of the axis that leaves room for them.
    """
    table = view.records("drops")
    if table is None:
        return 0.0
    found: list[tuple[str, str, np.ndarray]] = []
    for reason in _REASONS:
        for name in view.flows:
            rows = table.rows(link=lane.link, direction=lane.direction, flow=name, reason=reason)
            if len(rows):
                found.append((reason, name, np.sort(table.plain("time_s")[rows])))
    room = _ROW_MM * (min(len(found), _MOST_ROWS) + 0.6)
    scale = highest / (panel.height_mm - room)
    edges = panel.bins(_MARK_EVERY_MM)
    lost: dict[str, list[np.ndarray]] = {}
    for row, (reason, name, times) in enumerate(found):
        times = times[panel.inside(times)]
        lost.setdefault(reason, []).append(times)
        at = bands.distinct(times, edges)
        height = highest + scale * _ROW_MM * (row % _MOST_ROWS + 0.75)
        marker, color = _REASONS[reason][0], view.flow_color[name]
        panel.points(at, np.full(len(at), height), marker, color, 3.4, zorder=4)
    for reason, times in lost.items():
        marker, words = _REASONS[reason]
        alone = len(view.flows) == 1
        color = view.flow_color[view.flows[0]] if alone else palette.FAINT_INK
        panel.mark(f"{words}: {view.counted(np.concatenate(times))}", color, marker)
    return highest + scale * room
