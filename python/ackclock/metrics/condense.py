"""Series out of tables that are too long to be held in memory, condensed while they are read.

Time is cut into narrow bins. Of each bin with many rows a few points remain, such that the least
and the greatest value and the mean of the bin are what they were: of a level, which holds until it
changes, the mean over time; of samples the mean over samples. What is off is the place of the
extremes within their bin.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ackclock.arrays import Floats, Integers
from ackclock.metrics.words import coded

Key = tuple[str, ...]
Series = tuple[Floats, Floats]

LONG = 2_000_000
"""Tables with more rows are condensed."""

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "cwnd": ("flow",),
    "rtt": ("flow",),
    "queue": ("link", "direction"),
    "tcp_info": ("flow",),
    "aqm": ("link", "direction", "variable"),
}
"""Columns that say what a row is about, of tables that can be condensed."""

SAMPLES = frozenset({"rtt"})
"""Tables of measurements; the others are of levels."""

_MOST_POINTS = 1_500_000
_MOST_BINS = 20_000
_LEAST_BINS = 200
_OF_LEVEL, _OF_SAMPLES = 3, 8
"""Points that remain of a bin."""


@dataclass(frozen=True)
class Bins:
    """Bins of equal width over a span of time."""

    start_s: float
    end_s: float
    count: int

    def of(self, time_s: Floats) -> Integers:
        """Return the bin of each time; times outside of the span count to the first or last."""
        width = (self.end_s - self.start_s) / self.count
        places = np.floor((time_s - self.start_s) / width)
        return np.clip(places, 0, self.count - 1).astype(np.int64)


def bins(span: tuple[float, float], subjects: int, points: int = _OF_SAMPLES) -> Bins:
    """Return bins over a span, as many as memory allows with this many subjects."""
    count = _MOST_POINTS // (points * max(1, subjects))
    end = span[1] if span[1] > span[0] else span[0] + 1.0
    return Bins(span[0], end, min(_MOST_BINS, max(_LEAST_BINS, count)))


class Codes:
    """Numbers for names, the same in all pieces of a table."""

    def __init__(self) -> None:
        self.names: list[str | None] = [None]
        self._numbers: dict[str | None, int] = {None: 0}

    def of(self, column: pa.ChunkedArray) -> Integers:
        """Return the number of the name in each row; 0 for none."""
        codes, names = coded(column)
        return np.array([0, *map(self._number, names)], np.int64)[codes + 1]

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]


def condense(
    pieces: Iterable[pa.Table],
    subject: tuple[str, ...],
    value: str,
    span: tuple[float, float],
    *,
    samples: bool,
    subjects: int,
) -> dict[Key, Series]:
    """Condense a column of a table.

    Args:
        pieces: The table, piece by piece, with `time_s`, the columns of the subject, and the
            value. Rows of a subject are in order of time.
        subject: Columns that say what a row is about.
        value: The column.
        span: Seconds; of what is before, only the last row of each subject is kept.
        samples: Whether values are measurements rather than levels.
        subjects: How many subjects there are, about.

    Returns:
        Times in seconds and values of each subject that has rows.
    """
    places = bins(span, subjects, _OF_SAMPLES if samples else _OF_LEVEL)
    numbers: dict[Key, int] = {}
    before: dict[Key, tuple[float, float]] = {}
    parts: list[tuple[Integers, Floats, Floats]] = []
    for piece, split, keys in _pieces(pieces, subject):
        known = [numbers.setdefault(key, len(numbers)) for key in keys]
        of = np.repeat(np.array(known, np.int64), np.diff(split.starts, append=len(split.order)))
        times = piece["time_s"].to_numpy()[split.order]
        values = np.asarray(piece[value].to_numpy(), np.float64)[split.order]
        early = np.add.reduceat(times < span[0], split.starts, dtype=np.int64)
        for place in np.flatnonzero(early):
            last = split.starts[place] + early[place] - 1
            before[keys[place]] = (times[last], values[last])
        inside = (times >= span[0]) & (times <= span[1])
        if inside.any():
            parts.append(_thin(of[inside], times[inside], values[inside], places, samples=samples))
    times, values = np.array(list(before.values())).reshape(-1, 2).T
    parts.insert(0, (np.array([numbers[key] for key in before], np.int64), times, values))
    of, times, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(of, kind="stable")
    ends = np.searchsorted(of[order], np.arange(len(numbers) + 1))
    rows = [order[start:end] for start, end in pairwise(ends)]
    return {key: (times[rows[n]], values[rows[n]]) for key, n in numbers.items() if len(rows[n])}


def by_names(
    pieces: Iterable[pa.Table], columns: Sequence[str]
) -> Iterator[tuple[pa.Table, list[tuple[Key, Integers]]]]:
    """Give each piece of a table, and its rows by the names that they have in some columns."""
    for piece, split, keys in _pieces(pieces, columns):
        yield piece, [(key, rows) for key, (_, rows) in zip(keys, split, strict=True)]


def _pieces(
    pieces: Iterable[pa.Table], columns: Sequence[str]
) -> Iterator[tuple[pa.Table, "Split", list[Key]]]:
    """Give each piece that has rows, how they are sorted, and the names of each combination."""
    codes = [Codes() for _ in columns]
    for piece in pieces:
        if not piece.num_rows:
            continue
        split = Split(
            np.stack([code.of(piece[column]) for code, column in zip(codes, columns, strict=True)])
        )
        named = zip(codes, split.combinations, strict=True)
        names = [[str(code.names[n]) for n in own] for code, own in named]
        yield piece, split, list(zip(*names, strict=True))


class Split:
    """The rows of each combination of numbers; shape (columns, rows). Rows stay in order.

    Attributes:
        order: The rows, sorted by combination.
        starts: Where each combination begins in `order`.
        combinations: Their numbers; shape (columns, combinations).
    """

    def __init__(self, numbers: Integers) -> None:
        key = np.zeros(numbers.shape[1], np.int64)
        self._sizes = [int(column.max(initial=0)) + 1 for column in numbers]
        for column, size in zip(numbers, self._sizes, strict=True):
            key = key * size + column
        # Of 16 bits: sorted by digits, which is faster by far.
        small = key.astype(np.uint16) if key.max(initial=0) < 1 << 16 else key
        self.order = np.argsort(small, kind="stable")
        self._sorted = key[self.order]
        self.starts = np.flatnonzero(np.diff(self._sorted, prepend=-1))
        self.combinations = numbers[:, self.order[self.starts]]

    def of(self, *combination: int) -> Integers:
        """Return the rows of a combination."""
        key = 0
        for number, size in zip(combination, self._sizes, strict=True):
            if not 0 <= number < size:
                return self.order[:0]
            key = key * size + number
        first, last = np.searchsorted(self._sorted, (key, key + 1))
        return self.order[first:last]

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """Give each combination that there is, and its rows."""
        ends = [*self.starts.tolist(), len(self.order)]
        rows = (self.order[start:end] for start, end in pairwise(ends))
        return zip(map(tuple, self.combinations.T.tolist()), rows, strict=True)


def _thin(
    of: Integers, times: Floats, values: Floats, places: Bins, *, samples: bool
) -> tuple[Integers, Floats, Floats]:
    """The rows of bins with few of them, and some points in place of those of the others.

    Rows are sorted by what they are of; a bin has rows of one subject.
    """
    place = places.of(times)
    starts = np.flatnonzero(np.diff(of, prepend=-1) | np.diff(place, prepend=-1))
    counts = np.diff(starts, append=len(times))
    many = counts > (_OF_SAMPLES if samples else _OF_LEVEL)
    if not many.any():
        return of, times, values
    points = (_of_samples if samples else _of_level)(times, values, starts, counts)
    kept = np.flatnonzero(np.repeat(~many, counts))
    place = np.concatenate((kept, *(starts[many] + i for i in range(len(points)))))
    order = np.argsort(place, kind="stable")
    time_s = np.concatenate((times[kept], *(at[many] for at, _ in points)))
    value = np.concatenate((values[kept], *(own[many] for _, own in points)))
    return of[place[order]], time_s[order], value[order]


def _of_level(times: Floats, values: Floats, starts: Integers, counts: Integers) -> list[Series]:
    """Of a bin: the greatest value for so long, the least for the rest, then the last one."""
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    ends = starts + counts - 1
    lasted = np.diff(times, append=times[-1])
    lasted[ends] = 0.0  # the last value holds until the next bin with rows
    with np.errstate(invalid="ignore", divide="ignore"):
        area = np.add.reduceat(values * lasted, starts)
        begin, end = times[starts], times[ends]
        held = (area - low * (end - begin)) / (high - low)
    flat = ~np.isfinite(held)
    turn = np.where(flat, end, np.clip(begin + held, begin, end))
    return [
        (begin, np.where(np.isfinite(high), high, values[starts])),
        (turn, np.where(np.isfinite(low), low, values[ends])),
        (end, values[ends]),
    ]


def _of_samples(times: Floats, values: Floats, starts: Integers, counts: Integers) -> list[Series]:
    """Of a bin: least and greatest value, and values between that make the mean right."""
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    mean = np.add.reduceat(values, starts) / counts
    between = np.clip((_OF_SAMPLES * mean - low - high) / (_OF_SAMPLES - 2), low, high)
    begin, end = times[starts], times[starts + counts - 1]
    chosen = [between] * _OF_SAMPLES
    chosen[2], chosen[5] = low, high
    shares = np.linspace(0.0, 1.0, _OF_SAMPLES)
    return [(begin + share * (end - begin), own) for share, own in zip(shares, chosen, strict=True)]
