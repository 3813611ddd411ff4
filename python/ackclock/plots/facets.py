"""The page of a figure of small panels: heading, legend, panels in a grid, notes and caption.

All panels have the same size and may share their axes. Everything is laid out in millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from . import legends, palette, text
from .panel import ROUND
from .saving import Figure
from .words import EDGE_MM, MM, ROW_MM, TOP_MM, place, words, write_above, write_instead

TICKS = 6.6
"""Size of numbers at axes, points."""

_HEAD = 7.2
_LEGEND = legends.Measures(size=6.8, handle=4.0, handle_gap=1.2, column_gap=3.0, row=3.4)
_HEAD_ROW = 3.0
_MOST_ENTRIES = 40
"""In a legend; of more, which are steps of a ramp, a few that show their order."""


def beside(count: int, most: int, levels: int = 0) -> int:
    """How many of some panels are beside each other, at most `most`.

    With `levels` of the last axis of the panels a row holds all of them, if it can, so that panels
    below each other differ in the other axes only.
    """
    most = max(1, most)
    if levels > 1 and levels <= most and count % levels == 0:
        return levels
    if count <= most:
        return count
    return next((n for n in range(most, 1, -1) if count % n == 0), most)


@dataclass
class Facets:
    """A figure in the making: `panels` gives the axes to draw into, `finish` the figure.

    Attributes:
        width_mm: Width of the figure.
        title: What is shown.
        subtitle: Of what.
        caption: Where it is from.
        count: How many panels there are.
        across: How many of them are beside each other.
        height_mm: Height of the axes of a panel.
        left_mm: Room for numbers and words at the left.
        below_mm: Room for numbers and words below the last row.
        between_mm: Room between rows, beside that for heads.
        gap_mm: Room between panels of a row; more if each has numbers of its own.
        heads: What is written above each panel; empty for none.
        legend: Handles and labels.
        notes: Sentences below the figure.
    """

    width_mm: float
    title: str
    subtitle: str
    caption: str
    count: int
    across: int
    height_mm: float
    left_mm: float = 13.0
    below_mm: float = 9.0
    between_mm: float = 3.0
    gap_mm: float = 4.0
    heads: Sequence[str] = ()
    legend: list[tuple[Any, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.figure = Figure(figsize=(self.width_mm * MM, 100 * MM))
        box = (0.1, 0.1, 0.8, 0.8)
        self.axes: list[Axes] = [self.figure.add_axes(box) for _ in range(self.count)]

    @property
    def panel_mm(self) -> float:
        """Width of the axes of a panel."""
        room = self.width_mm - self.left_mm - EDGE_MM
        return (room - self.gap_mm * (self.across - 1)) / self.across

    def is_first(self, index: int) -> bool:
        """Whether a panel is the first of its row."""
        return index % self.across == 0

    def is_last(self, index: int) -> bool:
        """Whether a panel is the last one of its column."""
        return index + self.across >= self.count

    def scale(self, axes: Axes, top: float, label: str) -> None:
        """Let the value axis begin at 0; the first panel of a row has its numbers and label."""
        axes.set_ylim(0, top if top > 0 else 1)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=ROUND))
        if self.is_first(self.axes.index(axes)):
            axes.set_ylabel(label, labelpad=2)
        else:
            axes.tick_params(labelleft=False)

    def empty(self, message: str) -> Figure:
        """Write why there is nothing in the panels instead of them."""
        self.height_mm, self.below_mm, self.heads = ROW_MM, 1.0, ()
        for axes in self.axes:
            axes.set_axis_off()
        write_instead(self.axes[0], message)
        return self.finish()

    def finish(self) -> Figure:
        """Write heading, legend, notes and caption, and give everything its place."""
        said = words(self.width_mm, self.title, self.subtitle, self.notes, self.caption)
        shown = legends.some(self.legend, _MOST_ENTRIES)
        columns = _LEGEND.columns([label for _, label in shown], self.width_mm - 2 * EDGE_MM)
        rows = -(-len(shown) // columns) if shown else 0
        heads = [text.lines(head, self.panel_mm, _HEAD) for head in self.heads]
        head_mm = 1.4 + _HEAD_ROW * max(map(len, heads)) if any(heads) else 0.0
        under = TOP_MM + said.above_mm
        top = under + 1.2 + rows * _LEGEND.row + 2.0 * bool(rows) + head_mm
        row_mm, deep = head_mm + self.height_mm + self.between_mm, -(-self.count // self.across)
        below = top + deep * row_mm - head_mm - self.between_mm + self.below_mm
        height = below + ROW_MM * len(said.foot) + 2.0
        self.figure.set_size_inches(self.width_mm * MM, height * MM)
        said.write(self.figure, height, below + 1.6)
        if shown:
            corner = (EDGE_MM / self.width_mm, 1 - (under + 1.6) / height)
            legends.draw(self.figure, shown, columns, _LEGEND, loc="upper left", anchor=corner)
        for index, axes in enumerate(self.axes):
            row, column = divmod(index, self.across)
            corner = (self.left_mm + column * (self.panel_mm + self.gap_mm), top + row * row_mm)
            place(axes, (*corner, self.panel_mm, self.height_mm), (self.width_mm, height))
            if index < len(heads) and heads[index]:
                head = "\n".join(heads[index])
                write_above(axes, head, 0, 1.2, _HEAD, palette.INK, linespacing=1.05)
        return self.figure
