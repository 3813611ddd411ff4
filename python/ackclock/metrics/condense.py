"""Series out of tables that are too long to be held in memory, condensed while they are read.

Time is cut into narrow bins. Of each bin with many rows a few points remain, such that the least
and the greatest value and the mean of the bin are what they were: of a level, which holds until it
changes, the mean over time; of samples the mean over samples. What is off is the place of the
extremes within their bin.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    found: dict[Key, list[Series]] = {}
    before: dict[Key, tuple[float, float]] = {}
    for piece, groups in by_names(pieces, subject):
        time_s = piece["time_s"].to_numpy()
        values = np.asarray(piece[value].to_numpy(), np.float64)
        for key, rows in groups:
            times, own = time_s[rows], values[rows]
            first, last = np.searchsorted(times, span[0]), np.searchsorted(times, span[1], "right")
            if first:
                before[key] = (times[first - 1], own[first - 1])
            if last > first:
                part = _thin(times[first:last], own[first:last], places, samples=samples)
                found.setdefault(key, []).append(part)
    answer: dict[Key, Series] = {}
    for key in found.keys() | before.keys():
        parts = found.get(key, [])
        if key in before:
            parts = [(np.array([before[key][0]]), np.array([before[key][1]])), *parts]
        times, values = zip(*parts, strict=True)
        answer[key] = np.concatenate(times), np.concatenate(values)
    return answer


def by_names(
    pieces: Iterable[pa.Table], columns: Sequence[str]
) -> Iterator[tuple[pa.Table, list[tuple[Key, Integers]]]]:
    """Give each piece of a table, and its rows by the names that they have in some columns."""
    codes = [Codes() for _ in columns]
    for piece in pieces:
        numbers = [code.of(piece[column]) for code, column in zip(codes, columns, strict=True)]
        yield (
            piece,
            [
                (tuple(str(code.names[n]) for code, n in zip(codes, key, strict=True)), rows)
                for key, rows in Split(np.stack(numbers))
            ],
        )


class Split:
    """The rows of each combination of numbers; shape (columns, rows). Rows stay in order."""

    def __init__(self, numbers: Integers) -> None:
        self._numbers = numbers
        key = np.zeros(numbers.shape[1], np.int64)
        self._sizes = [int(column.max(initial=0)) + 1 for column in numbers]
        for column, size in zip(numbers, self._sizes, strict=True):
            key = key * size + column
        # Of 16 bits: sorted by digits, which is faster by far.
        small = key.astype(np.uint16) if key.max(initial=0) < 1 << 16 else key
        self._order = np.argsort(small, kind="stable")
        self._sorted = key[self._order]

    def of(self, *combination: int) -> Integers:
        """Return the rows of a combination."""
        key = 0
        for number, size in zip(combination, self._sizes, strict=True):
            if not 0 <= number < size:
                return self._order[:0]
            key = key * size + number
        first, last = np.searchsorted(self._sorted, (key, key + 1))
        return self._order[first:last]

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """Give each combination that there is, and its rows."""
        if not len(self._order):
            return
        ends = np.flatnonzero(np.diff(self._sorted)) + 1
        for rows in np.split(self._order, ends):
            yield tuple(int(column[rows[0]]) for column in self._numbers), rows


def _thin(times: Floats, values: Floats, places: Bins, *, samples: bool) -> Series:
    """The rows of bins with few of them, and some points in place of those of the others."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(places.of(times))) + 1))
    counts = np.diff(starts, append=len(times))
    many = counts > (_OF_SAMPLES if samples else _OF_LEVEL)
    if not many.any():
        return times, values
    points = (_of_samples if samples else _of_level)(times, values, starts, counts)
    kept = np.flatnonzero(np.repeat(~many, counts))
    place = np.concatenate((kept, *(starts[many] + i for i in range(len(points)))))
    order = np.argsort(place, kind="stable")
    time_s = np.concatenate((times[kept], *(at[many] for at, _ in points)))
    value = np.concatenate((values[kept], *(own[many] for _, own in points)))
    return time_s[order], value[order]


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
