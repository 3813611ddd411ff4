"""Panels: what a modern sender knows of itself: segments by fate, times, rates."""

from __future__ import annotations

import numpy as np

from . import draw, palette, quantities
from .palette import LineStyle
from .panel import Panel
from .view import Series, View

_Quantities = dict[str, str]

_COUNTS = {
    "in_flight": "in flight",
    "sacked": "SACKed",
    "lost": "lost",
    "retransmitted": "retransmitted",
}
_TIMES = {
    "srtt_s": "smoothed RTT",
    "min_rtt_s": "minimum RTT",
    "rto_s": "RTO",
    "reo_wnd_s": "reordering window",
}
_USUAL = 0.99
"""The share of the time in which values are below what a panel reaches up to,"""
_FAR, _ROOM = 2.0, 1.3
"""if the largest is so many times that; and the room above it."""
_RATES = {"delivery_rate_bps": "delivery rate", "pacing_rate_bps": "pacing rate"}
_LINES: tuple[LineStyle, ...] = ("solid", "dashed", "dotted")
_STATES = {"recovery": "recovery", "loss": "repair after a timeout", "cwr": "reduction"}


def fill_counts(view: View, panel: Panel) -> None:
    """Segments in flight, SACKed, lost and retransmitted, with the state shaded."""
    panel.title, panel.unit = "Sender state", "segments"
    if highest := _fill(view, panel, _COUNTS, 1.0):
        panel.y_from_zero(highest, counts=True)
        _shade(view, panel)


def fill_times(view: View, panel: Panel) -> None:
    """Smoothed and minimum RTT, retransmission timeout, reordering window."""
    panel.title = "Round-trip times and timeout"
    usual, highest = _usual(view, _TIMES)
    size = draw.time_unit(panel, usual)
    if _fill(view, panel, _TIMES, size):
        panel.y_from_zero(usual / size)
        _say_what_is_above(panel, usual, highest, size)


def fill_rates(view: View, panel: Panel) -> None:
    """Delivery rate and pacing rate."""
    panel.title = "Delivery and pacing rate"
    usual, highest = _usual(view, _RATES)
    size = draw.rate_unit(view, panel, usual)
    if _fill(view, panel, _RATES, size):
        panel.y_from_zero(usual / size)
        _say_what_is_above(panel, usual, highest, size)


def _usual(view: View, columns: _Quantities) -> tuple[float, float]:
    """What a panel has to reach up to, and the largest value.

    A first timeout of a second, or the pace of slow start, would leave a flat line of all the
    rest: what is exceeded for a hundredth of the time only, and then by far, is cut off.
    """
    usual = highest = 0.0
    for (name, _), (times, values) in _series(view, columns).items():
        known = np.isfinite(values)
        times, values = times[known], values[known]
        lasts = np.diff(times, append=max(view.active(name).stop_s, times[-1]))
        order = np.argsort(values)
        share = np.cumsum(lasts[order]) / max(float(lasts.sum()), 1e-9)
        last = min(int(np.searchsorted(share, _USUAL)), len(order) - 1)
        usual = max(usual, float(values[order[last]]))
        highest = max(highest, float(values.max()))
    return (_ROOM * usual, highest) if highest > _FAR * usual > 0 else (highest, highest)


def _say_what_is_above(panel: Panel, top: float, highest: float, size: float) -> None:
    if highest > top:
        most = f"{quantities.number(highest / size)} {panel.unit}"
        panel.note(f"{panel.title}: short peaks of up to {most} are above the panel.")


def _series(view: View, columns: _Quantities) -> dict[tuple[str, str], Series]:
    """What there is of each flow and quantity."""
    view.need("tcp_info")
    found = {}
    for name in view.window_flows():
        for column in columns:
            times, values = view.tcp_info(name, column)
            if np.isfinite(values).any():
                found[name, column] = times, values
    return found


def _fill(view: View, panel: Panel, columns: _Quantities, size: float) -> float:
    """Draw quantities: of one flow in colours, of several by the flow's colour and by line."""
    series = _series(view, columns)
    names = list(dict.fromkeys(name for name, _ in series))
    if not series:
        panel.empty("recorded by modern senders only")
        return 0.0
    alone = len(names) == 1
    shown = list(columns) if alone else list(columns)[: len(_LINES)]
    highest = 0.0
    for (name, column), (times, values) in series.items():
        if column not in shown:
            continue
        place = shown.index(column)
        color = palette.FLOWS[place] if alone else view.flow_color[name]
        style = {"color": color, "line": "solid" if alone else _LINES[place], "among": len(series)}
        active = view.active(name)
        known = np.isfinite(values)  # from the first value on that there is
        life = {"start_s": active.start_s, "stop_s": active.stop_s}
        drawn = draw.steps(panel, times[known], values[known] / size, **life, **style)
        highest = max(highest, drawn)
        if alone:
            panel.entry(columns[column], color)
    if not alone:
        for name in names:
            panel.entry(name, view.flow_color[name])
        for column, line in zip(shown, _LINES, strict=False):
            panel.entry(columns[column], palette.FAINT_INK, line=line)
    return highest


def _shade(view: View, panel: Panel) -> None:
    """Shade the times at which the one flow of a panel is not open."""
    if len(names := view.window_flows()) != 1:
        return
    colors = (palette.FAINT_INK, palette.LOSS, palette.CHANGE)
    found = []
    for color, (state, words) in zip(colors, _STATES.items(), strict=True):
        if times := draw.shade(view, panel, names[0], "tcp_info", state, color):
            found.append(f"{words} ({times:,})")
    if found:
        panel.note(f"Shaded: {', '.join(found)}.")
