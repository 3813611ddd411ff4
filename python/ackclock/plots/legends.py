"""Legends: how handles and words are set out, the same on every figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from . import palette, text
from .view import evenly

Entry = tuple[Any, str]


@dataclass(frozen=True)
class Measures:
    """Sizes of a legend: letters in points, all else in mm."""

    size: float
    handle: float
    handle_gap: float
    column_gap: float
    row: float

    def width_mm(self, label: str) -> float:
        """Width of an entry with the room beside it."""
        words = text.width_mm(label, self.size)
        return words + self.handle + self.handle_gap + self.column_gap

    def columns(self, labels: Sequence[str], room_mm: float) -> int:
        """How many entries are in a row so that no row is wider than the room."""
        widest = max(map(self.width_mm, labels), default=1.0)
        return max(1, min(len(labels), int((room_mm + self.column_gap) / widest)))


def some(steps: Sequence[Entry], most: int) -> list[Entry]:
    """The steps of a ramp of colours; of more than `most`, a few that show their order."""
    if len(steps) <= most:
        return list(steps)
    count = Line2D([], [], lw=0), f"{len(steps)} drawn, in this order"
    return [*evenly(steps, 5), count]


def draw(
    place: Axes | Figure,
    entries: Sequence[Entry],
    columns: int,
    measures: Measures,
    *,
    loc: Any,
    anchor: tuple[float, float],
) -> None:
    """Draw entries, handle and words, in columns; `loc` of the legend is put at `anchor`."""
    # matplotlib fills column after column; people read row after row.
    entries = [entry for start in range(columns) for entry in entries[start::columns]]
    em = measures.size * text.MM_PER_POINT
    legend = place.legend(
        [handle for handle, _ in entries],
        [label for _, label in entries],
        loc=loc,
        bbox_to_anchor=anchor,
        ncols=columns,
        fontsize=measures.size,
        labelcolor=palette.INK,
        borderpad=0,
        borderaxespad=0,
        handlelength=measures.handle / em,
        handletextpad=measures.handle_gap / em,
        columnspacing=measures.column_gap / em,
        labelspacing=(measures.row / em) - 1.15,
    )
    for words in legend.get_texts():
        words.set_parse_math(False)
