"""Drawing of series into a panel: bands for dense ones, exact lines for sparse ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import bands
from .sheet import Panel
from .view import View

Floats = NDArray[np.float64]

_BIN_MM = 0.15
"""Width of a bin on paper: one pixel of a figure that is 1200 pixels wide."""

_MOST_BANDS = 8
"""With more series than this, bands would cover each other: only the lines are drawn."""


def steps(
    panel: Panel,
    view: View,
    times: Floats,
    values: Floats,
    *,
    color: str,
    start_s: float = 0.0,
    stop_s: float | None = None,
    before: float = np.nan,
    mean_mm: float = _BIN_MM,
    dashed: bool = False,
    among: int = 1,
) -> float:
    """Draw a quantity that keeps its value until the next change.

    Args:
        panel: Where to draw.
        view: The run, for the time axis.
        times: Times of the changes, seconds, not decreasing.
        values: Values from then on, in the unit of the panel.
        color: Colour of the line; the band is a tint of it.
        start_s: Where to begin.
        stop_s: Where to end; default the end of the run.
        before: The value until the first change; NaN for none.
        mean_mm: Width on paper over which the line averages.
        dashed: Draw a dashed line.
        among: How many series share the panel.

    Returns:
        The greatest value drawn, 0 if there is none.
    """
    stop = view.end_s if stop_s is None else stop_s
    keep = (times >= start_s) & (times <= stop)
    inside = np.searchsorted(times, start_s, side="left")
    if inside > 0:
        before = float(values[inside - 1])
    times, values = times[keep], values[keep]
    if not len(times) and np.isnan(before):
        return 0.0
    count = _bins(panel, view, start_s, stop, _BIN_MM)
    if len(times) <= count / 2:
        xs = np.concatenate(([start_s], times, [stop]))
        ys = np.concatenate(([before], values, [values[-1] if len(values) else before]))
        _line(panel, view, xs, ys, color, dashed, among, drawstyle="steps-post")
        return float(np.nanmax(ys)) if not np.isnan(ys).all() else 0.0
    band = bands.of_steps(times, values, bands.bins(start_s, stop, count), before=before)
    coarse = band
    if mean_mm > _BIN_MM:
        edges = bands.bins(start_s, stop, _bins(panel, view, start_s, stop, mean_mm))
        coarse = bands.of_steps(times, values, edges, before=before)
    return _band(panel, view, band, coarse, color, dashed, among)


def samples(
    panel: Panel,
    view: View,
    times: Floats,
    values: Floats,
    *,
    color: str,
    mean_mm: float = _BIN_MM,
    among: int = 1,
) -> float:
    """Draw single measurements joined by lines; arguments and return value as in `steps`."""
    if not len(times):
        return 0.0
    count = _bins(panel, view, 0.0, view.end_s, _BIN_MM)
    if len(times) <= count:
        _line(panel, view, times, values, color, False, among)
        return float(values.max())
    band = bands.of_samples(times, values, bands.bins(0.0, view.end_s, count))
    edges = bands.bins(0.0, view.end_s, _bins(panel, view, 0.0, view.end_s, mean_mm))
    return _band(panel, view, band, bands.of_samples(times, values, edges), color, False, among)


def windows(
    panel: Panel,
    view: View,
    edges: Floats,
    values: Floats,
    *,
    color: str,
    start_s: float = 0.0,
    stop_s: float | None = None,
    dashed: bool = False,
    among: int = 1,
) -> float:
    """Draw values that belong to windows of time, such as rates, as a stair line.

    Windows that do not touch the time from `start_s` to `stop_s` are left out.
    """
    stop = view.end_s if stop_s is None else stop_s
    keep = (edges[1:] > start_s) & (edges[:-1] <= stop)
    if not keep.any():
        return 0.0
    first = int(np.argmax(keep))
    values = values[keep]
    edges = edges[first : first + len(values) + 1]
    return steps(
        panel,
        view,
        edges[:-1],
        values,
        color=color,
        start_s=float(edges[0]),
        stop_s=min(float(edges[-1]), view.end_s),
        dashed=dashed,
        among=among,
        mean_mm=0.6 if len(values) > 2 * _bins(panel, view, 0, view.end_s, _BIN_MM) else _BIN_MM,
    )


def line_width(among: int) -> float:
    """Width of a line in points, less where many share a panel."""
    return 1.1 if among <= 4 else 0.9 if among <= _MOST_BANDS else 0.55


def bin_edges(panel: Panel, view: View, bin_mm: float) -> Floats:
    """Bins of this width on paper over the whole time axis."""
    return bands.bins(0.0, view.end_s, _bins(panel, view, 0.0, view.end_s, bin_mm))


def _bins(panel: Panel, view: View, start_s: float, stop_s: float, bin_mm: float) -> int:
    share = (stop_s - start_s) / view.end_s
    return max(1, round(panel.width_mm * share / bin_mm))


def _line(
    panel: Panel,
    view: View,
    times: Floats,
    values: Floats,
    color: str,
    dashed: bool,
    among: int,
    drawstyle: str = "default",
) -> None:
    panel.axes.plot(
        times / view.time_unit.size,
        values,
        color=color,
        lw=line_width(among),
        ls=(0, (2.2, 1.2)) if dashed else "-",
        drawstyle=drawstyle,
        zorder=3,
    )


def _band(
    panel: Panel,
    view: View,
    fine: bands.Band,
    coarse: bands.Band,
    color: str,
    dashed: bool,
    among: int,
) -> float:
    unit = view.time_unit.size
    known = ~np.isnan(fine.low)
    if not known.any():
        return 0.0
    if among <= _MOST_BANDS:
        middles = (fine.edges[:-1] + fine.edges[1:]) / 2
        panel.axes.fill_between(
            middles[known] / unit,
            fine.low[known],
            fine.high[known],
            color=color,
            alpha=0.24,
            lw=0,
            zorder=2,
        )
    lit = ~np.isnan(coarse.mean)
    middles = (coarse.edges[:-1] + coarse.edges[1:]) / 2
    _line(panel, view, middles[lit], coarse.mean[lit], color, dashed, among)
    return float(np.nanmax(fine.high))
