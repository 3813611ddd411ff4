"""Panel: congestion window and threshold with the events that changed them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import bands, draw, palette, quantities
from .palette import DASHES
from .sheet import Panel, mark_style
from .view import View

Floats = NDArray[np.float64]

_HEIGHT_MM = {True: 62.0, False: 46.0}
_MARK_EVERY_MM = 0.4
_LINE_EVERY_MM = 0.8
_TALL = 1.6
"""A threshold above this many times the largest window is cut off."""

_EVENTS = {"fast-retransmit": ("o", "fast retransmit"), "timeout": ("X", "timeout")}
_EXACT = 200.0
"""Up to this many changes in a pixel each one is drawn, so that marks stand on the line."""


def fill(view: View, panel: Panel) -> None:
    """Window and slow-start threshold of each flow, fast retransmits, timeouts and recovery."""
    panel.height_mm = _HEIGHT_MM[view.width_mm > 120]
    panel.title, panel.unit = "Congestion window", _unit(view)
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    view.need("cwnd")
    names = [name for name in view.window_flows() if len(view.window_packets(name)[0])]
    if not names:
        panel.empty("no congestion window")
        return
    highest = max(_window(view, panel, name, len(names)) for name in names)
    capped = [_threshold(view, panel, name, highest, len(names)) for name in names]
    highest = max(highest, *capped)
    panel.y_from_zero(highest, counts=True)
    if any(capped):
        panel.entry("slow-start threshold", palette.FAINT_INK, line="dotted", width=0.9)
    _recovery(view, panel, names)
    _events(view, panel, names)


def _unit(view: View) -> str:
    sizes = {view.flow(name)["tcp"]["segment_bytes"] for name in view.window_flows()}
    return f"segments of {quantities.size(sizes.pop())}" if len(sizes) == 1 else "segments"


def _window(view: View, panel: Panel, name: str, among: int) -> float:
    """Draw the window of a flow; returns its greatest value."""
    times, values = view.window_packets(name)
    active = view.active(name)
    panel.entry(name, view.flow_color[name])
    return draw.steps(
        panel,
        view,
        times,
        values,
        color=view.flow_color[name],
        start_s=active.start_s,
        stop_s=active.stop_s,
        dense=_EXACT,
        among=among,
    )


def _threshold(view: View, panel: Panel, name: str, highest: float, among: int) -> float:
    """Draw the threshold where it is not far above all windows; returns its greatest value."""
    times, values = view.ssthresh_packets(name)
    active = view.active(name)
    values = np.where(values > _TALL * highest, np.nan, values)
    inside = _in_force(times, view.span) & ~np.isnan(values)
    if not inside.any():
        return 0.0
    panel.axes.plot(
        np.append(times, active.stop_s) / view.time_unit.size,
        np.append(values, values[-1]),
        color=view.flow_color[name],
        lw=0.9 if among <= 4 else 0.6,
        ls=DASHES["dotted"],
        drawstyle="steps-post",
        zorder=2.5,
    )
    return float(values[inside].max())


def _in_force(times: Floats, span: tuple[float, float]) -> NDArray[np.bool_]:
    """Which values hold at some time of the span."""
    return (np.append(times[1:], np.inf) > span[0]) & (times <= span[1])


def _recovery(view: View, panel: Panel, names: list[str]) -> None:
    """Shade the times at which a flow is in recovery."""
    table = view.need("cwnd")
    shaded = False
    for name in names:
        rows = table.rows(flow=name)
        times = table.plain("time_s")[rows]
        inside = table.is_("state", "recovery")[rows].astype(np.int8)
        turns = np.diff(inside, prepend=0, append=0)
        begins, ends = np.flatnonzero(turns > 0), np.flatnonzero(turns < 0)
        stops = np.append(times, view.active(name).stop_s)
        for begin, end in zip(times[begins], stops[ends], strict=True):
            panel.axes.axvspan(
                begin / view.time_unit.size,
                end / view.time_unit.size,
                color=view.flow_color[name],
                alpha=0.13,
                lw=0,
                zorder=0.5,
            )
            shaded = True
    if shaded:
        panel.note("Shaded: fast recovery.")


def _events(view: View, panel: Panel, names: list[str]) -> None:
    """Mark events on the window that they cut, with a line across the panel if they are few."""
    table = view.records("events")
    if table is None:
        panel.note("Events were not recorded.")
        return
    unit = view.time_unit.size
    lines = draw.bin_edges(panel, view, _LINE_EVERY_MM)
    for event, (marker, words) in _EVENTS.items():
        count = 0
        for name in names:
            at = table.plain("time_s")[table.rows(flow=name, event=event)]
            at = at[(at >= view.span[0]) & (at <= view.span[1])]
            count += len(at)
            if not len(at):
                continue
            if len(names) == 1:
                for time in bands.distinct(at, lines):
                    panel.axes.axvline(time / unit, color=palette.RULE, lw=0.6, zorder=1)
            kept = bands.distinct(at, draw.bin_edges(panel, view, _MARK_EVERY_MM))
            panel.axes.plot(
                kept / unit,
                _before(view, name, kept),
                ls="",
                clip_on=False,
                zorder=5 if event == "timeout" else 4,
                **mark_style(marker, _event_color(view, name, event, len(names)), 3.8),
            )
        if count:
            color = palette.FAINT_INK
            if len(names) == 1:
                color = _event_color(view, names[0], event, 1)
            panel.mark(f"{words}: {count:,}", color, marker)
    panel.note("A mark stands on the window before the event.")


def _event_color(view: View, name: str, event: str, among: int) -> str:
    return palette.LOSS if among == 1 and event == "timeout" else view.flow_color[name]


def _before(view: View, name: str, at: Floats) -> Floats:
    """Window of a flow just before these times, in segments."""
    times, values = view.window_packets(name)
    return values[np.maximum(np.searchsorted(times, at, side="left") - 1, 0)]
