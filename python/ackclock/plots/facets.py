"""The page of a figure of small panels: heading, legend, panels in a grid, notes and caption.

All panels have the same size and may share their axes. Everything is laid out in millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes

from . import legends, palette, text
from .saving import Figure

MM = 1 / 25.4  # inches
TICKS = 6.6
"""Size of numbers at axes, points."""

_EDGE, _GAP_X, _TOP = 3.0, 4.0, 3.0
_TITLE, _SUBTITLE, _HEAD, _NOTE, _LEGEND = 9.5, 7.0, 7.2, 5.8, 6.8
_HANDLE, _HANDLE_GAP, _COLUMN_GAP, _LEGEND_ROW = 4.0, 1.2, 3.0, 3.4
_HEAD_ROW = 3.0
_MOST_TITLE_LINES = 3


def beside(count: int, most: int, levels: int = 0) -> int:
    """How many of some panels stand beside each other, at most `most`.

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
        across: How many of them stand beside each other.
        height_mm: Height of the axes of a panel.
        left_mm: Room for numbers and words at the left.
        below_mm: Room for numbers and words below the last row.
        between_mm: Room between rows, beside that for heads.
        heads: What stands above each panel; empty for none.
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
    heads: Sequence[str] = ()
    legend: list[tuple[Any, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.figure = Figure(figsize=(self.width_mm * MM, 100 * MM))
        self.axes: list[Axes] = [
            self.figure.add_axes((0.1, 0.1, 0.8, 0.8)) for _ in range(self.count)
        ]

    @property
    def panel_mm(self) -> float:
        """Width of the axes of a panel."""
        room = self.width_mm - self.left_mm - _EDGE
        return (room - _GAP_X * (self.across - 1)) / self.across

    def is_first(self, index: int) -> bool:
        """Whether a panel is the first of its row."""
        return index % self.across == 0

    def is_last(self, index: int) -> bool:
        """Whether a panel is the last one of its column."""
        return index + self.across >= self.count

    def finish(self) -> Figure:
        """Write heading, legend, notes and caption, and give everything its place."""
        room = self.width_mm - 2 * _EDGE
        head = text.lines(self.title, room, _TITLE, "bold")[:_MOST_TITLE_LINES]
        sub = text.lines(self.subtitle, room, _SUBTITLE)[:3]
        foot = text.lines("  ".join(self.notes), room, _NOTE) + text.lines(
            self.caption, room, _NOTE
        )
        columns = self._legend_columns(room)
        rows = -(-len(self.legend) // columns) if self.legend else 0
        heads = [text.lines(head, self.panel_mm, _HEAD) for head in self.heads]
        head_mm = 1.4 + _HEAD_ROW * max(map(len, heads)) if any(heads) else 0.0
        deep = -(-self.count // self.across)
        top = _TOP + 4.4 * len(head) + 3.3 * len(sub) + 1.2 + rows * _LEGEND_ROW + 2.0 * bool(rows)
        below = (
            top + deep * (head_mm + self.height_mm) + (deep - 1) * self.between_mm + self.below_mm
        )
        height = below + 2.6 * len(foot) + 2.0
        self.figure.set_size_inches(self.width_mm * MM, height * MM)
        y = _TOP
        for line in head:
            self._write(line, y + 3.3, height, _TITLE, palette.INK, "bold")
            y += 4.4
        for line in sub:
            self._write(line, y + 2.8, height, _SUBTITLE, palette.FAINT_INK)
            y += 3.3
        if self.legend:
            self._place_legend(columns, y + 1.6, height)
        for index, axes in enumerate(self.axes):
            row, column = divmod(index, self.across)
            left = self.left_mm + column * (self.panel_mm + _GAP_X)
            start = top + head_mm + row * (head_mm + self.height_mm + self.between_mm)
            axes.set_position(
                (
                    left / self.width_mm,
                    1 - (start + self.height_mm) / height,
                    self.panel_mm / self.width_mm,
                    self.height_mm / height,
                )
            )
            if index < len(heads) and heads[index]:
                axes.annotate(
                    "\n".join(heads[index]),
                    (0, 1),
                    xycoords="axes fraction",
                    xytext=(0, 1.2 / text.MM_PER_POINT),
                    textcoords="offset points",
                    size=_HEAD,
                    color=palette.INK,
                    linespacing=1.05,
                    annotation_clip=False,
                    parse_math=False,
                )
        y = below + 1.6
        for line in foot:
            self._write(line, y, height, _NOTE, palette.FAINT_INK)
            y += 2.6
        return self.figure

    def _write(
        self, line: str, y_mm: float, height: float, size: float, color: str, weight: str = "normal"
    ) -> None:
        x, y = _EDGE / self.width_mm, 1 - y_mm / height
        self.figure.text(x, y, line, size=size, color=color, weight=weight, parse_math=False)

    def _legend_columns(self, room_mm: float) -> int:
        if not self.legend:
            return 1
        widest = max(text.width_mm(label, _LEGEND) for _, label in self.legend)
        each = widest + _HANDLE + _HANDLE_GAP + _COLUMN_GAP
        return max(1, min(len(self.legend), int((room_mm + _COLUMN_GAP) / each)))

    def _place_legend(self, columns: int, y_mm: float, height: float) -> None:
        # matplotlib fills column after column; people read row after row.
        shown = [entry for start in range(columns) for entry in self.legend[start::columns]]
        legends.draw(
            self.figure,
            shown,
            columns,
            legends.Measures(_LEGEND, _HANDLE, _HANDLE_GAP, _COLUMN_GAP, _LEGEND_ROW),
            loc="upper left",
            anchor=(_EDGE / self.width_mm, 1 - y_mm / height),
        )
