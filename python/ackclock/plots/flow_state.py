"""Panels: what a modern sender knows of itself: segments by fate, times, rates."""

from __future__ import annotations

import numpy as np

from . import draw, palette
from .palette import LineStyle
from .panel import Panel
from .view import Series, View

_Quantities = dict[str, str]

_COUNTS = {
    "in_flight": "in flight",
    "sacked": "arrived out of order",
    "lost": "lost",
    "retransmitted": "sent again",
}
_TIMES = {
    "srtt_s": "smoothed RTT",
    "min_rtt_s": "least RTT",
    "rto_s": "RTO",
    "reo_wnd_s": "window for reordering",
}
_RATES = {"delivery_rate_bps": "delivery rate", "pacing_rate_bps": "pacing rate"}
_LINES: tuple[LineStyle, ...] = ("solid", "dashed", "dotted")
_STATES = {"recovery": "recovery", "loss": "repair after a timeout", "cwr": "reduction"}


def fill_counts(view: View, panel: Panel) -> None:
    """Segments in flight, arrived out of order, lost and sent again, with the state shaded."""
    panel.title, panel.unit = "State of a sender", "segments"
    if highest := _fill(view, panel, _COUNTS, 1.0):
        panel.y_from_zero(highest, counts=True)
        _shade(view, panel)


def fill_times(view: View, panel: Panel) -> None:
    """Smoothed and least round-trip time, retransmission timeout, window for reordering."""
    panel.title = "Round-trip times and timeout"
    highest = draw.highest(_series(view, _TIMES))
    size = draw.time_unit(panel, highest)
    if _fill(view, panel, _TIMES, size):
        panel.y_from_zero(highest / size)


def fill_rates(view: View, panel: Panel) -> None:
    """Delivery rate and pacing rate."""
    panel.title = "Delivery and pacing rate"
    highest = draw.highest(_series(view, _RATES))
    size = draw.rate_unit(view, panel, highest)
    if _fill(view, panel, _RATES, size):
        panel.y_from_zero(highest / size)


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
        panel.empty("no flow reports it: modern senders do")
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
