"""Panel: rate of links, with the paths that flows take behind it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from . import draw, palette, quantities
from .lanes import Lane
from .panel import Panel
from .view import Series, View

_MOST_MOVING_FLOWS = 4


def fill(view: View, panel: Panel) -> None:
    """Rate of each link in windows of time, all packets together, and its capacity.

    Where a flow's path changes during the run, spans behind the lines show which one it takes.
    """
    series = {lane: view.link_rate(lane) for lane in view.lanes}
    highest = draw.highest(series)
    # Lines of capacities far above all rates would leave little room for the rates.
    near = 1.3 * highest
    capacities = [
        (times, values) for times, values in _capacities(view, series) if values.min() <= near
    ]
    highest = max([highest, *(values[values <= near].max() for _, values in capacities)])
    panel.title = "Link rate"
    window = quantities.window(view.window_s)
    size = draw.rate_unit(view, panel, highest, f", all packets, {window} bins")
    draw.of_lanes(view, panel, series, draw.windows, size)
    for times, values in capacities:
        panel.level(times, np.append(values, values[-1]) / size, palette.FAINT_INK, zorder=1)
    if capacities:
        panel.entry("capacity", palette.FAINT_INK, line="dotted", width=0.8)
    panel.y_from_zero(highest / size)
    _paths(view, panel)


def _capacities(view: View, lanes: Iterable[Lane]) -> list[Series]:
    """Edges of spans of time and bit/s in them, 0 while a link is down; equal ones once.

    Those of a trace, which are moments, are in the windows of the rates.
    """
    found: dict[tuple[bytes, bytes], Series] = {}
    for lane in lanes:
        if lane.traced:
            edges, values = view.capacity(lane)
        else:
            edges = np.array([*(state.time_s for state in lane.states), view.end_s])
            values = np.array([state.rate_bps * state.up for state in lane.states], np.float64)
        found[edges.tobytes(), values.tobytes()] = edges, values
    return list(found.values())


def _paths(view: View, panel: Panel) -> None:
    """Shade the times at which a flow takes another path than the one it takes for longest."""
    moving = view.moving_flows
    if not 0 < len(moving) <= _MOST_MOVING_FLOWS:
        return
    _, top = panel.axes.get_ylim()
    panel.axes.set_ylim(0, 1.12 * top)  # room for the words
    drawn = {lane.link for lane in view.lanes}
    words = {"size": 5.8, "color": palette.FAINT_INK, "ha": "center", "va": "top"}
    for row, name in enumerate(moving):
        active = view.active(name)
        for span in view.flow_paths[name]:
            own = view.own(name, span)
            start = max(span.start_s, active.start_s, view.span[0])
            stop = min(span.stop_s, active.stop_s, view.span[1])
            if stop <= start or not own:
                continue
            low, high = 1 - (row + 1) / len(moving), 1 - row / len(moving)
            color = view.link_color[next((link for link in own if link in drawn), own[0])]
            panel.shade(start, stop, color, 0.10, ymin=low, ymax=high)
            label = f"{name} via {', '.join(own)}"
            if (stop - start) / view.span_s * panel.width_mm > 1.25 * len(label):
                at = ((start + stop) / 2 / panel.second, high - 0.04)
                across = panel.axes.get_xaxis_transform()
                panel.axes.text(*at, label, transform=across, **words, parse_math=False)
