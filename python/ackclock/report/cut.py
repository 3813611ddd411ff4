"""Long series cut to what a screen can show, so that nothing that sticks out is lost.

Of each bin of time the first, the least, the greatest and the last row remain, in their order, so
every point is a row of the records. Bins of one level lie within those of the next one, so that a
series that has been cut can be cut again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ackclock.arrays import Floats, Integers

Series = tuple[Floats, Floats]

_FINEST = 1 << 15
_WITHIN = 3
"""By how many levels the window is finer than the rest."""


@dataclass(frozen=True)
class Grid:
    """Bins of time.

    Attributes:
        end_s: End of the run, seconds; it begins at 0.
        level: How many times the width of the bins has been doubled.
        window: A span of time that is cut less, seconds.
    """

    end_s: float
    level: int = 0
    window: tuple[float, float] = (0.0, 0.0)

    def of(self, time_s: Floats) -> Integers:
        """The bin of each time, ascending with it."""
        finest = self._finest(time_s)
        begin, end = self._finest(np.array(self.window))
        within = (finest >= begin) & (finest < end)
        shift = max(0, self.level - _WITHIN)
        coarse = finest >> self.level << self.level
        coarse = np.where(finest >= end, np.maximum(coarse, end), coarse)
        return np.where(within, np.maximum(finest >> shift << shift, begin), coarse)

    @property
    def count(self) -> int:
        """How many bins there are on the finest level."""
        return _FINEST

    def begin_s(self, number: int) -> float:
        """When a bin of the finest level begins, seconds."""
        return self.end_s * number / _FINEST

    def coarser(self) -> Grid:
        """The grid of the next level."""
        return replace(self, level=self.level + 1)

    def _finest(self, time_s: Floats) -> Integers:
        return np.clip(time_s * (_FINEST / self.end_s), 0, _FINEST - 1).astype(np.int64)


def cut(series: Series, grid: Grid) -> Series:
    """A series with at most four rows in each bin; rows are in the order of time."""
    time_s, value = series
    if not len(time_s):
        return series
    starts = np.flatnonzero(np.diff(grid.of(time_s), prepend=-(1 << 40)))
    counts = np.diff(starts, append=len(time_s))
    if counts.max() <= 4:
        return series
    extremes = (
        _first(value, extreme.reduceat(value, starts), starts, counts)
        for extreme in (np.minimum, np.maximum)
    )
    few = np.flatnonzero(np.repeat(counts <= 4, counts))
    kept = np.unique(np.concatenate((starts, *extremes, starts + counts - 1, few)))
    return time_s[kept], value[kept]


def fitted(many: Sequence[Series], grid: Grid, points: int) -> tuple[list[Series], Grid]:
    """Cut several series on one grid, as fine as the number of points in all of them allows."""
    kept = [cut(series, grid) for series in many]
    while sum(len(time_s) for time_s, _ in kept) > points and 1 << grid.level < _FINEST:
        grid = grid.coarser()
        kept = [cut(series, grid) for series in kept]
    return kept, grid


def changes(series: Series) -> Series:
    """A level without the rows in which it stays as it is."""
    time_s, value = series
    changed = np.ones(len(value), np.bool_)
    changed[1:] = value[1:] != value[:-1]
    return time_s[changed], value[changed]


def _first(value: Floats, wanted: Floats, starts: Integers, counts: Integers) -> Integers:
    """The first row of each bin that has the value wanted there."""
    rows = np.flatnonzero(value == np.repeat(wanted, counts))
    bins = np.searchsorted(starts, rows, side="right")
    return rows[np.flatnonzero(np.diff(bins, prepend=0))]
