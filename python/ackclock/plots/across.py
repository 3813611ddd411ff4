"""The axis of a sweep along an axis of a figure: places, numbers, unit, scale."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from ackclock.tables.values import scale, spelled

from .panel import ROUND

_EVEN = 0.35
"""Ratios of neighbours that differ by less than this share make a logarithmic axis."""
_LEAST_RATIO = 4.0
_MOST_VALUES = 12
"""Of more values that were drawn, no single one is shown."""


@dataclass(frozen=True)
class Across:
    """Where the values of an axis stand.

    Attributes:
        places: A number for each value, in order.
        labels: The words for them.
        label: The name of the axis, with the unit that all values share.
        logarithmic: Whether equal ratios are equal lengths.
        numeric: Whether lengths mean something.
        unit: Length of a unit of the name, where round numbers are shown instead of the values.
    """

    places: tuple[float, ...]
    labels: tuple[str, ...]
    label: str
    logarithmic: bool
    numeric: bool
    unit: float = 0.0

    def place(self, axes: Axes, *, numbers: bool) -> None:
        """Set up the horizontal axis; `numbers` says whether they are written."""
        low, high = min(self.places), max(self.places)
        if self.logarithmic:
            axes.set_xscale("log", base=10 if self.unit else 2)
            room = (high / low) ** 0.06
            axes.set_xlim(low / room, high * room)
        else:
            room = 0.06 * (high - low) or 0.5
            axes.set_xlim(
                low - (room if self.numeric else 0.5), high + (room if self.numeric else 0.5)
            )
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        if self.unit:
            ticks = LogLocator(subs=(1, 2, 5)) if self.logarithmic else MaxNLocator(7, steps=ROUND)
            axes.xaxis.set_major_locator(ticks)
            axes.xaxis.set_major_formatter(lambda at, _: f"{at / self.unit:g}" if numbers else "")
            if numbers:
                axes.set_xlabel(self.label, labelpad=2, parse_math=False)
            return
        shown = self._apart(axes)
        axes.set_xticks([self.places[i] for i in shown])
        axes.set_xticklabels([self.labels[i] for i in shown] if numbers else [])
        for words in axes.get_xticklabels():
            words.set_parse_math(False)
        if numbers:
            axes.set_xlabel(self.label, labelpad=2, parse_math=False)

    def _apart(self, axes: Axes) -> list[int]:
        """The values whose words do not run into each other: all, or every second one, ..."""
        low, high = axes.get_xlim()
        lay = math.log if self.logarithmic else float
        span = lay(high) - lay(low)
        at = [(lay(place) - lay(low)) / span for place in self.places]
        if not self.numeric:
            return list(range(len(at)))
        kept: list[int] = []
        for index in range(len(at)):
            if not kept or at[index] - at[kept[-1]] >= 0.085:
                kept.append(index)
        return kept


def across(name: str, values: Sequence[Any], *, drawn: bool = False) -> Across:
    """Return where the values of an axis stand; words stand at equal distances.

    With `drawn` an axis of many values has round numbers, and the scale that spreads them evenly.
    """
    texts = [spelled(value) for value in values]
    numbers = scale(values)
    if numbers is None:
        return Across(tuple(map(float, range(len(values)))), tuple(texts), name, False, False)
    label, labels = _unit(name, texts)
    if drawn and len(values) > _MOST_VALUES and (unit := _unit_size(numbers, labels)):
        return Across(numbers, tuple(labels), label, _even_shares(numbers), True, unit)
    return Across(numbers, tuple(labels), label, _even_ratios(numbers), True)


def _unit(name: str, texts: Sequence[str]) -> tuple[str, list[str]]:
    """Take the unit that all texts have into the name."""
    parts = [re.fullmatch(r"(\S+) +(\S.*)", text) for text in texts]
    units = {part[2] for part in parts if part}
    if len(units) != 1 or not all(parts):
        return name, list(texts)
    return f"{name} ({units.pop()})", [part[1] for part in parts if part]


def _unit_size(numbers: Sequence[float], labels: Sequence[str]) -> float:
    """Return how long a unit of the labels is; 0 where they have none in common."""
    for number, label in zip(numbers, labels, strict=True):
        try:
            if value := float(label):
                return number / value
        except ValueError:
            break
    return 0.0


def _even_shares(numbers: Sequence[float]) -> bool:
    """Whether the median is nearer to the geometric than to the arithmetic mean of the ends."""
    low, high, middle = min(numbers), max(numbers), statistics.median(numbers)
    if low <= 0 or high < 8 * low:
        return False
    return abs(math.log(middle / math.sqrt(low * high))) < abs(math.log(2 * middle / (low + high)))


def _even_ratios(numbers: Sequence[float]) -> bool:
    if len(numbers) < 3 or min(numbers) <= 0 or max(numbers) < _LEAST_RATIO * min(numbers):
        return False
    ratios = [math.log(b / a) for a, b in itertools.pairwise(numbers)]
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    if max(steps) - min(steps) <= 1e-9 * max(steps):
        return False  # equal steps: linear
    return max(numbers) >= 8 * min(numbers) or max(ratios) - min(ratios) < _EVEN
