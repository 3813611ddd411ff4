"""Drawing of series into a panel: bands for dense ones, exact lines for sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bands, palette, quantities
from .lanes import Lane
from .palette import DASHES, LineStyle
from .sheet import Panel
from .view import Series, View

Floats = NDArray[np.float64]
How = Callable[..., float]

_BIN_MM = 0.15
"""Width of a bin on paper: one pixel of a figure that is 1200 pixels wide."""

_NOISY = 0.02
"""A series is smoothed if it typically varies within a bin by more than this share of its peak."""

_SMOOTH_MM = 0.75
"""How far to each side a smoothed line averages: enough to hide the bursts of a round trip."""

_GAP, _GAP_MM = 4.0, 2.0
"""Measurements are not joined over a time this many times as long as usual, and this wide."""

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
    dense: float = 0.5,
    line: LineStyle = "solid",
    among: int = 1,
    smooth: bool = True,
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
        dense: With more changes than this in a bin, a band is drawn in place of each change.
        line: Style of the line.
        among: How many series share the panel.
        smooth: Whether the line of a band may be smoothed; not where marks stand on it.

    Returns:
        The greatest value drawn, 0 if there is none.
    """
    start_s = max(start_s, view.span[0])
    stop = min(view.end_s if stop_s is None else stop_s, view.span[1])
    if stop < start_s:
        return 0.0
    keep = (times >= start_s) & (times <= stop)
    inside = np.searchsorted(times, start_s, side="left")
    if inside > 0:
        before = float(values[inside - 1])
    times, values = times[keep], values[keep]
    if not len(times) and np.isnan(before):
        return 0.0
    count = _bins(panel, view, start_s, stop, _BIN_MM)
    if len(times) <= dense * count:
        xs = np.concatenate(([start_s], times, [stop]))
        ys = np.concatenate(([before], values, [values[-1] if len(values) else before]))
        skip = int(np.isnan(before))  # no line before there is a value
        _line(panel, view, xs[skip:], ys[skip:], color, line, among, drawstyle="steps-post")
        return float(ys[skip:].max())
    band = bands.of_steps(times, values, bands.bins(start_s, stop, count), before=before)
    return _band(panel, view, band, color, line, among, smooth=smooth)


def samples(
    panel: Panel,
    view: View,
    times: Floats,
    values: Floats,
    *,
    color: str,
    line: LineStyle = "solid",
    among: int = 1,
    usual_s: float = 0.0,
) -> float:
    """Draw single measurements joined by lines, except where there is none for long.

    Arguments and return value as in `steps`; `usual_s` is a usual time between two measurements,
    if that is more than most of these are apart.
    """
    if not len(times):
        return 0.0
    start, stop = view.span
    inside = np.flatnonzero((times >= start) & (times <= stop))
    if not len(inside):
        return 0.0
    near = slice(max(inside[0] - 1, 0), inside[-1] + 2)  # lines lead to what lies outside
    times, values = times[near], values[near]
    count = _bins(panel, view, start, stop, _BIN_MM)
    between = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    gap_s = max(_GAP * max(usual_s, between), _GAP_MM / panel.width_mm * view.span_s)
    if len(times) <= count:
        _line(panel, view, *bands.parted(times, values, gap_s), color, line, among)
        return float(values.max())
    band = bands.of_samples(times, values, bands.bins(start, stop, count))
    return _band(panel, view, band, color, line, among, gap_s)


def windows(
    panel: Panel,
    view: View,
    edges: Floats,
    values: Floats,
    *,
    color: str,
    start_s: float = 0.0,
    stop_s: float | None = None,
    line: LineStyle = "solid",
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
        line=line,
        dense=1.0,
        among=among,
    )


def of_flows(
    view: View,
    panel: Panel,
    series: Mapping[str, Series],
    how: How,
    size: float = 1.0,
    **more: Any,
) -> float:
    """Draw a series of each flow in its colour and over its life, and name it.

    Args:
        view: The run.
        panel: Where to draw.
        series: Times, or edges of windows, in seconds, and values by flow.
        how: `steps`, `windows`, or `samples` of round-trip times.
        size: Size of the unit of the panel.
        more: As these take them.

    Returns:
        The greatest value drawn, 0 if there is none.
    """
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    top = 0.0
    for name, (times, values) in series.items():
        color, active = view.flow_color[name], view.active(name)
        own = {"start_s": active.start_s, "stop_s": active.stop_s}
        if how is samples:  # windows may leave as bursts, one in a round trip
            own = {"usual_s": float(np.median(values))}
        style = {"color": color, "among": len(series)}
        top = max(top, how(panel, view, times, values / size, **style, **own, **more))
        panel.entry(name, color)
    return top


def of_lanes(
    view: View,
    panel: Panel,
    series: Mapping[Lane, Series],
    how: How,
    size: float = 1.0,
    **more: Any,
) -> float:
    """The same of transmitters of links, over the whole run."""
    top = 0.0
    for lane, (times, values) in series.items():
        style = {"color": view.lane_color[lane], "line": lane.line, "among": len(series)}
        top = max(top, how(panel, view, times, values / size, **style, **more))
        panel.entry(lane.label, view.lane_color[lane], line=lane.line)
    return top


def level(
    view: View, panel: Panel, name: str, times: Floats, values: Floats, width: float = 0.8
) -> None:
    """Draw a level beside the series of a flow; where it is far above them it leaves the panel."""
    if len(times):
        panel.axes.plot(
            np.append(times, view.active(name).stop_s) / view.time_unit.size,
            np.append(values, values[-1]),
            color=view.flow_color[name],
            lw=width,
            ls=DASHES["dotted"],
            drawstyle="steps-post",
            zorder=2.5,
        )


def shade(view: View, panel: Panel, name: str, table: str, state: str, color: str) -> int:
    """Shade the times at which a flow is in a state, by a record table; returns how often it is."""
    records = view.need(table)
    rows = records.rows(flow=name)
    times = records.plain("time_s")[rows]
    turns = np.diff(records.is_("state", state)[rows].astype(np.int8), prepend=0, append=0)
    begins, ends = np.flatnonzero(turns > 0), np.flatnonzero(turns < 0)
    stops = np.append(times, view.active(name).stop_s)
    for span in zip(times[begins], stops[ends], strict=True):
        begin, end = (time / view.time_unit.size for time in span)
        panel.axes.axvspan(begin, end, color=color, alpha=0.13, lw=0, zorder=0.5)
    return len(begins)


def highest(series: Mapping[Any, Series]) -> float:
    """The greatest value of some series, 0 if there is none."""
    tops = (np.nanmax(values) for _, values in series.values() if len(values))
    return max(map(float, tops), default=0.0)


def rate_unit(view: View, panel: Panel, highest_bps: float, words: str = "") -> float:
    """Write the unit of a panel of rates, explained below the figure if it is binary.

    Returns:
        Its size in bit/s.
    """
    unit = quantities.rate_unit(highest_bps, binary=view.binary_rates)
    panel.unit = f"{unit.name}{words}"
    if power := {"Kibps": "¹⁰", "Mibps": "²⁰", "Gibps": "³⁰"}.get(unit.name):
        panel.note(f"1 {unit.name} = 2{power} bit/s, as in the scenario.")
    return unit.size


def pixels(panel: Panel) -> int:
    """How many bins a series is drawn in over the whole width of a panel."""
    return max(1, round(panel.width_mm / _BIN_MM))


def line_width(among: int) -> float:
    """Width of a line in points, less where many share a panel."""
    return 1.1 if among <= 4 else 0.9 if among <= _MOST_BANDS else 0.55


def bin_edges(panel: Panel, view: View, bin_mm: float) -> Floats:
    """Bins of this width on paper over the whole time axis."""
    return bands.bins(*view.span, _bins(panel, view, *view.span, bin_mm))


def _bins(panel: Panel, view: View, start_s: float, stop_s: float, bin_mm: float) -> int:
    share = (stop_s - start_s) / view.span_s
    return max(1, round(panel.width_mm * share / bin_mm))


def _line(
    panel: Panel,
    view: View,
    times: Floats,
    values: Floats,
    color: str,
    line: LineStyle,
    among: int,
    drawstyle: str = "default",
) -> None:
    unknown = np.concatenate(([True], np.isnan(values), [True]))
    alone = np.flatnonzero(unknown[:-2] & ~unknown[1:-1] & unknown[2:])
    panel.axes.plot(
        times / view.time_unit.size,
        values,
        color=color,
        lw=line_width(among),
        ls=DASHES[line],
        drawstyle=drawstyle,
        zorder=3,
        **({"marker": ".", "ms": 2.2, "mew": 0.0, "markevery": list(alone)} if len(alone) else {}),
    )


def _band(
    panel: Panel,
    view: View,
    band: bands.Band,
    color: str,
    line: LineStyle,
    among: int,
    gap_s: float = np.inf,
    *,
    smooth: bool = True,
) -> float:
    unit = view.time_unit.size
    known = ~np.isnan(band.low)
    if not known.any():
        return 0.0
    middles = (band.edges[:-1] + band.edges[1:]) / 2 / unit
    top = float(np.nanmax(band.high))
    if among <= _MOST_BANDS:
        panel.axes.fill_between(
            middles, band.low, band.high, color=color, alpha=0.24, lw=0, zorder=2
        )
    mean = band.mean
    spread = float(np.mean((band.high - band.low)[known]))
    if smooth and spread > _NOISY * top:
        mean = bands.smoothed(mean, round(_SMOOTH_MM / _BIN_MM))
    joined = bands.parted(middles[known] * unit, mean[known], gap_s)
    _line(panel, view, *joined, color, line, among)
    return top
