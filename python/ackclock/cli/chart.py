"""Curves as text: a chart of Braille dots, or of ASCII where the output cannot show these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ackclock.arrays import Floats

WIDTH = 80
"""Columns of a chart with its axis: what a terminal has at least."""

_MARGIN = 8
_CROWDED = 0.6
"""Marks in more of the columns than this say nothing, and are left out."""

_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bits of the dots of a Braille character by row and column (Unicode, chapter 21.1)."""


@dataclass
class Chart:
    """One chart: a step function over time, and marks below it.

    Attributes:
        title: Written above.
        times: When the value changes, seconds, in order.
        values: The value from then on; NaN where there is none.
        span: Begin and end of the time axis, seconds.
        top: Value at the upper edge; the lower edge is 0.
        rows: Height in lines.
        color: Style of the curve for rich; empty for none.
        marks: Times at which a letter stands below the curve; the first of a column wins.
    """

    title: str
    times: Floats
    values: Floats
    span: tuple[float, float]
    top: float
    rows: int = 6
    color: str = ""
    marks: Sequence[tuple[str, Floats]] = field(default_factory=list)


def lines(chart: Chart, *, braille: bool, width: int = WIDTH) -> list[tuple[str, str, str]]:
    """A chart as lines, each in three parts: the scale, the curve (in its colour), the marks."""
    columns = width - _MARGIN - 1
    painted = _braille(chart, columns) if braille else _ascii(chart, columns)
    bar = "│" if braille else "|"
    found = []
    for row, text in enumerate(painted):
        number = {0: _number(chart.top), chart.rows - 1: "0"}.get(row, "")
        found.append((f"{number:>{_MARGIN - 1}} {bar}", text, ""))
    below = _mark_line(chart, columns)
    if below.strip() and (columns - below.count(" ")) < _CROWDED * columns:
        found.append((" " * (_MARGIN + 1), "", below))
    return found


def axis(span: tuple[float, float], *, braille: bool, width: int = WIDTH) -> list[str]:
    """The time axis below charts: a rule with ticks, and their numbers."""
    columns = width - _MARGIN - 1
    corner, rule, tick = ("└", "─", "┴") if braille else ("+", "-", "+")
    unit, size = ("s", 1.0) if span[1] >= 1 else ("ms", 1e-3) if span[1] >= 1e-3 else ("µs", 1e-6)
    begin, end = span[0] / size, span[1] / size
    step = _step(end - begin)
    ruled, numbers = [rule] * columns, [" "] * width
    for number in range(math.ceil(begin / step - 1e-9), math.floor(end / step + 1e-9) + 1):
        at = round((number * step - begin) / (end - begin) * (columns - 1))
        ruled[at] = tick
        text = f"{number * step:.6g}"
        left = min(_MARGIN + 1 + at - len(text) // 2, width - len(text))
        numbers[left : left + len(text)] = text
    named = f"{unit:>{_MARGIN - 2}}" + "".join(numbers)[_MARGIN - 2 :].rstrip()
    return [" " * _MARGIN + corner + "".join(ruled), named]


def _step(length: float) -> float:
    """A round distance of ticks, at most eight of them."""
    power = 10.0 ** math.floor(math.log10(length / 8))
    return next(power * part for part in (1, 2, 5, 10) if length / (power * part) <= 8 * (1 + 1e-9))


def bins(chart: Chart, count: int) -> tuple[Floats, Floats]:
    """The least and the largest value of a step function in each of some equal bins; NaN if none.

    A value that holds from before a bin counts in it.
    """
    edges = np.linspace(*chart.span, count + 1)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    times, values = chart.times, chart.values
    if not len(times):
        return low, high
    first = np.searchsorted(times, edges[:-1], side="right")
    last = np.searchsorted(times, edges[1:], side="left")
    for place in range(count):
        inside = values[max(first[place] - 1, 0) : max(last[place], first[place])]
        if times[0] >= edges[place + 1]:
            continue
        inside = inside[~np.isnan(inside)]
        if len(inside):
            low[place], high[place] = inside.min(), inside.max()
    return low, high


def _braille(chart: Chart, columns: int) -> list[str]:
    low, high = bins(chart, 2 * columns)
    cells = np.zeros((chart.rows, columns), np.int64)
    most = 4 * chart.rows - 1
    scale = most / chart.top if chart.top > 0 else 0.0
    before: tuple[int, int] | None = None
    for place in range(2 * columns):
        if np.isnan(low[place]):
            before = None
            continue
        bottom, top = (int(min(most, round(v * scale))) for v in (low[place], high[place]))
        if before is not None:  # join what has jumped between two bins
            bottom, top = min(bottom, before[1]), max(top, before[0])
        before = (bottom, top)
        for dot in range(bottom, top + 1):
            row, part = divmod(most - dot, 4)
            cells[row, place // 2] |= _DOTS[part, place % 2]
    return ["".join(chr(_BRAILLE + cell) if cell else " " for cell in row) for row in cells]


def _ascii(chart: Chart, columns: int) -> list[str]:
    low, high = bins(chart, columns)
    cells = [[" "] * columns for _ in range(chart.rows)]
    most = chart.rows - 1
    scale = most / chart.top if chart.top > 0 else 0.0
    for place in np.flatnonzero(~np.isnan(low)):
        bottom, top = (int(min(most, round(v * scale))) for v in (low[place], high[place]))
        for level in range(bottom, top + 1):
            cells[most - level][place] = "*"
    return ["".join(row) for row in cells]


def _mark_line(chart: Chart, columns: int) -> str:
    line = [" "] * columns
    begin, end = chart.span
    for letter, times in reversed(list(chart.marks)):
        inside = times[(times >= begin) & (times <= end)]
        places = (inside - begin) / (end - begin) * columns
        for place in set(places.astype(int).tolist()):
            line[min(place, columns - 1)] = letter
    return "".join(line)


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"
