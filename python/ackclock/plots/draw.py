"""Drawing of series into a panel: bands for dense ones, exact lines for sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ackclock.arrays import Floats

from . import bands, palette, quantities
from .lanes import Lane
from .palette import LineStyle
from .panel import Panel
from .view import Series, View

How = Callable[..., float]
_K = TypeVar("_K")

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
    times: Floats,
    values: Floats,
    *,
    start_s: float = 0.0,
    stop_s: float = np.inf,
    before: float = np.nan,
    dense: float = 0.5,
    smooth: bool = True,
    **style: Any,
) -> float:
    """Draw a quantity that keeps its value until the next change.

    Args:
        panel: Where to draw.
        times: Times of the changes, seconds, not decreasing.
        values: Values from then on, in the unit of the panel.
        start_s: Where to begin.
        stop_s: Where to end; default the end of the run.
        before: The value until the first change; NaN for none.
        dense: With more changes than this in a bin, a band is drawn in place of each change.
        smooth: Whether the line of a band may be smoothed; not where marks stand on it.
        style: `color`, of which the band is a tint, style of the `line`, and how many series are
            `among` those that share the panel.

    Returns:
        The greatest value drawn, 0 if there is none.
    """
    start_s, stop = max(start_s, panel.span[0]), min(stop_s, panel.end_s, panel.span[1])
    if stop < start_s:
        return 0.0
    keep = (times >= start_s) & (times <= stop)
    inside = np.searchsorted(times, start_s, side="left")
    if inside > 0:
        before = float(values[inside - 1])
    times, values = times[keep], values[keep]
    if not len(times) and np.isnan(before):
        return 0.0
    count = _bins(panel, start_s, stop)
    if len(times) <= dense * count:
        xs = np.concatenate(([start_s], times, [stop]))
        ys = np.concatenate(([before], values, [values[-1] if len(values) else before]))
        skip = int(np.isnan(before))  # no line before there is a value
        _line(panel, xs[skip:], ys[skip:], drawstyle="steps-post", **style)
        return float(ys[skip:].max())
    band = bands.of_steps(times, values, bands.bins(start_s, stop, count), before=before)
    return _band(panel, band, smooth=smooth, **style)


def samples(
    panel: Panel, times: Floats, values: Floats, *, usual_s: float = 0.0, **style: Any
) -> float:
    """Draw single measurements joined by lines, except where there is none for long.

    Arguments and return value as in `steps`; `usual_s` is a usual time between two measurements,
    if that is more than most of these are apart.
    """
    inside = np.flatnonzero(panel.inside(times))
    if not len(inside):
        return 0.0
    near = slice(max(inside[0] - 1, 0), inside[-1] + 2)  # lines lead to what lies outside
    times, values = times[near], values[near]
    start, stop = panel.span
    count = _bins(panel, start, stop)
    between = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    gap_s = max(_GAP * max(usual_s, between), _GAP_MM / panel.width_mm * (stop - start))
    if len(times) <= count:
        _line(panel, *bands.parted(times, values, gap_s), **style)
        return float(values.max())
    return _band(panel, bands.of_samples(times, values, panel.bins(_BIN_MM)), gap_s, **style)


def windows(
    panel: Panel,
    edges: Floats,
    values: Floats,
    *,
    start_s: float = 0.0,
    stop_s: float = np.inf,
    **style: Any,
) -> float:
    """Draw values that belong to windows of time, such as rates, as a stair line.

    Windows that do not touch the time from `start_s` to `stop_s` are left out.
    """
    keep = (edges[1:] > start_s) & (edges[:-1] <= stop_s)
    if not keep.any():
        return 0.0
    first = int(np.argmax(keep))
    values = values[keep]
    edges = edges[first : first + len(values) + 1]
    ends = {"start_s": float(edges[0]), "stop_s": float(edges[-1])}
    return steps(panel, edges[:-1], values, dense=1.0, **ends, **style)


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
        top = max(top, how(panel, times, values / size, **style, **own, **more))
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
        top = max(top, how(panel, times, values / size, **style, **more))
        panel.entry(lane.label, view.lane_color[lane], line=lane.line)
    return top


def level(
    view: View, panel: Panel, name: str, times: Floats, values: Floats, width: float = 0.8
) -> None:
    """Draw a level beside the series of a flow; where it is far above them it leaves the panel."""
    if len(times):
        times, values = np.append(times, view.active(name).stop_s), np.append(values, values[-1])
        panel.level(times, values, view.flow_color[name], width=width, zorder=2.5)


def shade(view: View, panel: Panel, name: str, table: str, state: str, color: str) -> int:
    """Shade the times at which a flow is in a state, by a record table; returns how often it is."""
    records = view.need(table)
    rows = records.rows(flow=name)
    times = records.plain("time_s")[rows]
    turns = np.diff(records.is_("state", state)[rows].astype(np.int8), prepend=0, append=0)
    begins, ends = np.flatnonzero(turns > 0), np.flatnonzero(turns < 0)
    stops = np.append(times, view.active(name).stop_s)
    for span in zip(times[begins], stops[ends], strict=True):
        panel.shade(*span, color, 0.13)
    return len(begins)


def some(panel: Panel, series: Mapping[_K, Series], message: str) -> dict[_K, Series]:
    """Those of some series that have a value; if none has, the panel says so."""
    found = {key: entry for key, entry in series.items() if len(entry[1])}
    if not found:
        panel.empty(message)
    return found


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


def time_unit(panel: Panel, longest_s: float, words: str = "") -> float:
    """Write the unit of a panel of short times, and return its size in seconds."""
    unit = quantities.span_unit(longest_s)
    panel.unit = f"{unit.name}{words}"
    return unit.size


def line_width(among: int) -> float:
    """Width of a line in points, less where many share a panel."""
    return 1.1 if among <= 4 else 0.9 if among <= _MOST_BANDS else 0.55


def _bins(panel: Panel, start_s: float, stop_s: float) -> int:
    share = (stop_s - start_s) / (panel.span[1] - panel.span[0])
    return max(1, round(panel.width_mm * share / _BIN_MM))


def _line(
    panel: Panel,
    times: Floats,
    values: Floats,
    *,
    color: str,
    line: LineStyle = "solid",
    among: int = 1,
    **style: Any,
) -> None:
    unknown = np.concatenate(([True], np.isnan(values), [True]))
    alone = np.flatnonzero(unknown[:-2] & ~unknown[1:-1] & unknown[2:])
    if len(alone):
        style |= {
            "marker": "o",
            "ms": 2.4 if among <= 4 else 1.6,
            "mew": 0.0,
            "markevery": list(alone),
        }
    panel.line(times, values, color, line, line_width(among), zorder=3, **style)


def _band(
    panel: Panel, band: bands.Band, gap_s: float = np.inf, *, smooth: bool = True, **style: Any
) -> float:
    known = ~np.isnan(band.low)
    if not known.any():
        return 0.0
    middles = (band.edges[:-1] + band.edges[1:]) / 2
    top = float(np.nanmax(band.high))
    if style.get("among", 1) <= _MOST_BANDS:
        tint = {"color": style["color"], "alpha": 0.24, "lw": 0, "zorder": 2}
        panel.axes.fill_between(middles / panel.second, band.low, band.high, **tint)
        if float(np.mean((band.high - band.low)[known])) > _NOISY * top:
            panel.note("Line: mean; shading: minimum to maximum.")
    mean = band.mean
    spread = float(np.mean((band.high - band.low)[known]))
    if smooth and spread > _NOISY * top:
        mean = bands.smoothed(mean, round(_SMOOTH_MM / _BIN_MM))
    _line(panel, *bands.parted(middles[known], mean[known], gap_s), **style)
    return top
