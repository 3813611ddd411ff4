"""Panel: congestion windows."""

from __future__ import annotations

import numpy as np

from . import bands, draw, palette
from .palette import DASHES
from .sheet import Panel
from .view import View

_MARK_EVERY_MM = 1.3

EVENT_MARKS = {"timeout": ("x", "timeout"), "fast-retransmit": ("v", "fast retransmit")}
"""Marker and words for each event of a flow that is marked on its window."""


def fill(view: View, panel: Panel) -> None:
    """Congestion window of each flow in segments, its threshold, timeouts and fast retransmits."""
    panel.title, panel.unit = "Congestion window", "packets"
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    names = [name for name in view.window_flows() if len(view.window_packets(name)[0])]
    view.need("cwnd")
    if not names:
        panel.empty("no congestion window")
        return
    highest = 0.0
    for name in names:
        times, values = view.window_packets(name)
        active = view.active(name)
        highest = max(
            highest,
            draw.steps(
                panel,
                view,
                times,
                values,
                color=view.flow_color[name],
                start_s=active.start_s,
                stop_s=active.stop_s,
                among=len(names),
            ),
        )
        panel.entry(name, view.flow_color[name])
    for name in names:
        _threshold(view, panel, name, highest, len(names))
    _events(view, panel, names)
    panel.y_from_zero(highest, counts=True)


def _threshold(view: View, panel: Panel, name: str, highest: float, among: int) -> None:
    """Draw the slow-start threshold as a thin dotted line, if it is finite and ever changes."""
    times, values = view.ssthresh_packets(name)
    if among > 4 or len(np.unique(values[~np.isnan(values)])) < 2:
        return
    active = view.active(name)
    clipped = np.where(values > 1.08 * highest, np.nan, values)
    if np.isnan(clipped).all():
        return
    panel.axes.plot(
        np.append(times, active.stop_s) / view.time_unit.size,
        np.append(clipped, clipped[-1]),
        color=view.flow_color[name],
        lw=0.7,
        ls=DASHES["dotted"],
        drawstyle="steps-post",
        zorder=2.5,
    )
    if not any(label == "slow-start threshold" for _, label in panel.entries):
        panel.entry("slow-start threshold", palette.FAINT_INK, line="dotted", width=0.8)


def _events(view: View, panel: Panel, names: list[str]) -> None:
    table = view.records("events")
    if table is None:
        return
    edges = draw.bin_edges(panel, view, _MARK_EVERY_MM)
    for event, (marker, words) in EVENT_MARKS.items():
        marked = False
        for name in names:
            rows = table.rows(flow=name, event=event)
            at = bands.distinct(table.plain("time_s")[rows], edges)
            times, values = view.window_packets(name)
            if not len(at) or not len(times):
                continue
            before = np.searchsorted(times, at, side="left") - 1  # the window that was cut
            panel.axes.plot(
                at / view.time_unit.size,
                values[np.maximum(before, 0)],
                ls="",
                marker=marker,
                ms=3.2,
                mew=0.9 if marker == "x" else 0.4,
                mfc=view.flow_color[name],
                mec=view.flow_color[name] if marker == "x" else palette.GROUND,
                zorder=4,
            )
            marked = True
        if marked:
            panel.note(f"{'×' if marker == 'x' else '▼'}\u00a0on a window: {words}.")
