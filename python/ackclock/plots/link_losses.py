"""Panel: packets lost in each window of time."""

from __future__ import annotations

import numpy as np

from ackclock.arrays import Floats
from ackclock.metrics import windowed_counts

from . import palette, quantities
from .panel import Panel
from .view import View

_LEAST_MM, _BAR_MM = 0.15, 0.6
"""Windows narrower than the first are joined until bars are the second apart: else a bar each few
seconds would be a solid block, as if something were lost all the time."""

_MOST_PLACES = 8
"""How many links are distinguished unless they are asked for."""

Place = tuple[str, str, Floats]


def fill(view: View, panel: Panel) -> None:
    """Packets of any kind lost at each link, counted in windows of time, as bars."""
    view.need("drops")
    panel.shows_losses = True
    window_s = _window_s(view, panel)
    panel.title, panel.unit = "Packets lost", f"packets per {quantities.window(window_s)}"
    places: list[Place] = [
        (lane.label, view.lane_color[lane], view.loss_times(lane))
        for lane in (view.lanes if view.asked_links is not None else view.all_lanes)
    ]
    if view.asked_links is None:
        if not view.all_lanes_are_here:
            places.append(("other links", palette.FAINT_INK, view.other_loss_times()))
        places.append(("no route", palette.LOSS, view.unrouted_times()))
    places = [(label, color, times[panel.inside(times)]) for label, color, times in places]
    losing = [place for place in places if len(place[2])]
    if not losing:
        drawn = "" if view.asked_links is None else " at these links"
        panel.empty(f"no packet was lost{drawn}")
        return
    if view.asked_links is None:
        losing = _worst(losing)
    highest = 0
    # Bars of several links in one window stand on one another, so that none is hidden.
    below: np.ndarray | None = None
    for label, color, times in losing:
        edges, counts = windowed_counts(times, 0.0, view.end_s, window_s)
        below = np.zeros(len(counts)) if below is None else below
        hit = np.flatnonzero(counts)
        middles = (edges[hit] + edges[hit + 1]) / 2 / view.time_unit.size
        width = max(1.3, panel.width_mm * window_s / view.span_s * 2.0)
        ends = (below[hit], below[hit] + counts[hit])
        panel.axes.vlines(middles, *ends, color=color, lw=width, zorder=3)
        below = below + counts
        highest = max(highest, int(below.max()))
        panel.entry(f"{label}: {view.counted(times)}", color, width=2.4)
    panel.y_from_zero(highest, counts=True)


def _window_s(view: View, panel: Panel) -> float:
    """Width of the windows in which losses are counted: a multiple of that of rates."""
    second_mm = panel.width_mm / view.span_s
    if view.window_s * second_mm >= _LEAST_MM:
        return view.window_s
    return view.window_s * quantities.round_up(_BAR_MM / second_mm / view.window_s)


def _worst(places: list[Place]) -> list[Place]:
    """The places where most is lost, in their order, and the others as one."""
    if len(places) <= _MOST_PLACES:
        return places
    ranked = sorted(range(len(places)), key=lambda i: -len(places[i][2]))
    kept, rest = sorted(ranked[: _MOST_PLACES - 1]), sorted(ranked[_MOST_PLACES - 1 :])
    times = np.sort(np.concatenate([places[i][2] for i in rest]))
    return [*(places[i] for i in kept), (f"{len(rest)} others", palette.FAINT_INK, times)]
