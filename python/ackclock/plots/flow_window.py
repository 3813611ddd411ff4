"""Panels: congestion windows with the events that changed them, small and in detail."""

from __future__ import annotations

from typing import Any

import numpy as np

from ackclock.arrays import Flags, Floats

from . import bands, draw, palette
from .measured import lay_over
from .panel import Panel
from .view import View

_HEIGHT_MM = {True: 62.0, False: 46.0}
_LINE_EVERY_MM = 0.8
_MOST_THRESHOLDS = 4
_CROWDED_MM = 0.5
_EXACT = 200.0
"""Up to this many changes in a pixel each one is drawn, so that marks stand on the line."""

_EVENTS = {
    "fast-retransmit": ("o", "fast retransmit"),
    "timeout": ("X", "timeout"),
    "reduction": ("s", "reduction without recovery"),
    "probe": ("^", "tail loss probe"),
    "undo": ("*", "reduction undone"),
    "spurious": ("D", "needless retransmission"),
}


def fill(view: View, panel: Panel) -> None:
    """Congestion window of each flow in segments, its threshold, timeouts and fast retransmits."""
    names = _windows(view, panel, "packets")
    if len(names) <= _MOST_THRESHOLDS:
        _thresholds(view, panel, [name for name in names if _cut(view, name)], 1.0)
    _events(view, panel, names, size=3.0, every_mm=1.3)


def fill_events(view: View, panel: Panel) -> None:
    """The same in detail: every event, the threshold above the window, and recovery."""
    panel.height_mm = _HEIGHT_MM[view.width_mm > 120]
    names = _windows(view, panel, _unit(view))
    _thresholds(view, panel, names, 1.6)
    if not names:
        return
    shaded = [
        draw.shade(view, panel, name, "cwnd", "recovery", view.flow_color[name]) for name in names
    ]
    if any(shaded):
        panel.note("Shaded: fast recovery.")
    if len(names) == 1:
        _lines(view, panel, names[0])
    _events(view, panel, names, size=3.8, every_mm=0.4)
    panel.note("Marks show the window before the event.")
    if not view.recorded("events"):
        panel.note("Events were not recorded.")


def _windows(view: View, panel: Panel, unit: str) -> list[str]:
    """Draw the windows; returns the flows that have one."""
    panel.title, panel.unit = "Congestion window", unit
    view.need("cwnd")
    every = {name: view.window_packets(name) for name in view.window_flows()}
    series = draw.some(panel, every, "no congestion window")
    if not series:
        return []
    # With more marks than fit beside each other an exact line would be a solid block.
    marks = (sum(len(_event_times(view, name, event)) for event in _EVENTS) for name in series)
    crowded = max(marks) > panel.width_mm / _CROWDED_MM
    exact: dict[str, Any] = {} if crowded else {"dense": _EXACT, "smooth": False}
    highest = draw.of_flows(view, panel, series, draw.steps, **exact)
    panel.y_from_zero(highest, counts=True)
    lay_over(view, panel, "window")
    return list(series)


def _unit(view: View) -> str:
    sizes = {view.flow(name)["tcp"]["segment_bytes"] for name in view.window_flows()}
    return f"segments of {sizes.pop():,} B" if len(sizes) == 1 else "segments"


def _cut(view: View, name: str) -> bool:
    """Whether a flow's threshold ever changes."""
    values = view.ssthresh_packets(name)[1]
    return len(np.unique(values[~np.isnan(values)])) > 1


def _thresholds(view: View, panel: Panel, names: list[str], tall: float) -> None:
    """Draw thresholds up to `tall` times the height of the panel, which grows for them."""
    top = panel.axes.get_ylim()[1]
    highest = 0.0
    for name in names:
        times, values = view.ssthresh_packets(name)
        values = np.where(values > tall * top / 1.1, np.nan, values)
        inside = _in_force(times, view.span) & ~np.isnan(values)
        if not inside.any():
            continue
        highest = max(highest, float(values[inside].max()))
        draw.level(view, panel, name, times, values, 0.8 if len(names) <= _MOST_THRESHOLDS else 0.6)
    if highest:
        panel.y_from_zero(max(highest, top / 1.1), counts=True)
        panel.entry("slow-start threshold", palette.FAINT_INK, line="dotted", width=0.9)


def _in_force(times: Floats, span: tuple[float, float]) -> Flags:
    """Which values hold at some time of the span."""
    return (np.append(times[1:], np.inf) > span[0]) & (times <= span[1])


def _event_times(view: View, name: str, event: str) -> Floats:
    table = view.records("events")
    if table is None:
        return np.empty(0)
    at = table.plain("time_s")[table.rows(flow=name, event=event)]
    return at[(at >= view.span[0]) & (at <= view.span[1])]


def _lines(view: View, panel: Panel, name: str) -> None:
    edges = panel.bins(_LINE_EVERY_MM)
    for event in _EVENTS:
        times = bands.distinct(_event_times(view, name, event), edges)
        panel.upright(times, palette.RULE, 0.6, zorder=1)


def _events(view: View, panel: Panel, names: list[str], size: float, every_mm: float) -> None:
    edges = panel.bins(every_mm)
    for event, (marker, words) in _EVENTS.items():
        found = {name: _event_times(view, name, event) for name in names}
        for name, at in found.items():
            if not len(at):
                continue
            kept = bands.distinct(at, edges)
            color, depth = _event_color(view, name, event, len(names)), 4 + (event == "timeout")
            panel.points(kept, _before(view, name, kept), marker, color, size, zorder=depth)
        if count := sum(map(len, found.values())):
            alone = len(names) == 1
            color = _event_color(view, names[0], event, 1) if alone else palette.FAINT_INK
            panel.mark(f"{words}: {count:,}", color, marker)


def _event_color(view: View, name: str, event: str, among: int) -> str:
    return palette.LOSS if among == 1 and event == "timeout" else view.flow_color[name]


def _before(view: View, name: str, at: Floats) -> Floats:
    """Window of a flow just before these times, in segments."""
    times, values = view.window_packets(name)
    return values[np.maximum(np.searchsorted(times, at, side="left") - 1, 0)]
