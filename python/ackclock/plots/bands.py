"""Reductions of dense series to what a figure can show: one value range per narrow time bin.

A run has tens of thousands of samples for about a thousand pixels. Joining them by lines gives a
solid block; taking every tenth hides the peaks. A `Band` keeps the least and the greatest value
and the mean of each bin, so no peak is lost and the mean stays readable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ackclock.arrays import Floats, Integers


@dataclass(frozen=True)
class Band:
    """Least, mean and greatest value in each time bin; NaN in a bin without a value.

    `edges` has one element more than the others.
    """

    edges: Floats
    low: Floats
    mean: Floats
    high: Floats


def bins(start: float, stop: float, count: int) -> Floats:
    """`count` bins of equal width from `start` to `stop`, as `count + 1` edges."""
    if not stop > start:
        stop = start + 1.0
    return np.linspace(start, stop, max(1, count) + 1)


def of_steps(times: Floats, values: Floats, edges: Floats, *, before: float = np.nan) -> Band:
    """The band of a quantity that keeps its value until the next change.

    `times` must not decrease; among changes at one instant the last one stays in force, but all
    of them count for the range. `before` is the value until the first change (NaN: there is none).
    The mean is the time average over the part of each bin in which the quantity has a value.
    """
    count = len(edges) - 1
    first = np.searchsorted(times, edges, side="right")
    known = np.concatenate(([before], values))
    at_start = known[first[:-1]]  # in force when the bin begins
    low, high = at_start.copy(), at_start.copy()
    if len(times):
        filled = np.flatnonzero(first[1:] > first[:-1])
        if len(filled):
            starts = first[:-1][filled]
            clipped = values[: first[-1]]
            low[filled] = np.fmin(low[filled], np.minimum.reduceat(clipped, starts))
            high[filled] = np.fmax(high[filled], np.maximum.reduceat(clipped, starts))
        area = _area(times, np.nan_to_num(values), edges, np.nan_to_num(before))
        # The part of each bin in which there is a value.
        lit = np.diff(np.maximum(edges, times[0]) if np.isnan(before) else edges)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(lit > 0, area / lit, low)
        mean = np.clip(mean, low, high)
    else:
        mean = np.full(count, before)
    return Band(edges, low, mean, high)


def of_samples(times: Floats, values: Floats, edges: Floats) -> Band:
    """The band of single measurements (such as RTT samples); the mean is over the samples."""
    count = len(edges) - 1
    low, mean, high = (np.full(count, np.nan) for _ in range(3))
    first = np.searchsorted(times, edges, side="left")
    first[-1] = np.searchsorted(times, edges[-1], side="right")
    filled = np.flatnonzero(first[1:] > first[:-1])
    if len(filled):
        starts = first[:-1][filled]
        clipped = values[: first[-1]]
        low[filled] = np.minimum.reduceat(clipped, starts)
        high[filled] = np.maximum.reduceat(clipped, starts)
        sums = np.add.reduceat(clipped, starts)
        mean[filled] = sums / (first[1:] - first[:-1])[filled]
    return Band(edges, low, mean, high)


def smoothed(values: Floats, reach: int) -> Floats:
    """A moving average over `reach` bins to each side, with weights that fall towards the ends.

    NaN stays NaN and does not count for its neighbours.
    """
    if reach < 1 or not len(values):
        return values
    weights = np.append(np.arange(1, reach + 1), np.arange(reach + 1, 0, -1)).astype(np.float64)
    known = ~np.isnan(values)
    padded = np.pad(np.where(known, values, 0.0), reach)
    total = np.convolve(padded, weights, "valid")
    share = np.convolve(np.pad(known.astype(np.float64), reach), weights, "valid")
    return np.where(known, total / np.maximum(share, 1e-12), np.nan)


def parted(times: Floats, values: Floats, gap_s: float) -> tuple[Floats, Floats]:
    """With NaN between neighbours that are further apart than this, so that no line joins them."""
    places = np.flatnonzero(np.diff(times) > gap_s) + 1
    middles = (times[places - 1] + times[places]) / 2
    return np.insert(times, places, middles), np.insert(values, places, np.nan)


def distinct(times: Floats, edges: Floats) -> Floats:
    """At most one time for each bin: the first of the bin. For marks that would overprint."""
    if not len(times):
        return times
    ordered = np.sort(times)
    bin_of = np.searchsorted(edges, ordered, side="right")
    return ordered[np.concatenate(([True], np.diff(bin_of) > 0))]


def distinct_points(times: Floats, values: Floats, across: tuple[Floats, Floats]) -> Integers:
    """Which points to draw so that each cell of a grid that has points keeps one of them.

    Args:
        times: Horizontal places of the points; shape (m,).
        values: Vertical places; shape (m,).
        across: Edges of the cells along each axis, ascending.

    Returns:
        Rows of the first point in each cell, ascending.
    """
    columns, rows = across
    cell = np.searchsorted(columns, times) * (len(rows) + 1) + np.searchsorted(rows, values)
    return np.sort(np.unique(cell, return_index=True)[1])


def _area(times: Floats, values: Floats, edges: Floats, before: float) -> Floats:
    """Integral over each bin of a step function that is `before` until `times[0]`."""
    knots = np.concatenate(([min(edges[0], times[0])], times, [max(edges[-1], times[-1])]))
    heights = np.concatenate(([before], values))
    total = np.concatenate(([0.0], np.cumsum(heights * np.diff(knots))))
    return np.diff(np.interp(edges, knots, total))
