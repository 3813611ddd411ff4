"""The words of a page: title and subtitle above, notes and caption below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from . import palette, text

MM = 1 / 25.4  # inches
EDGE_MM, TOP_MM = 3.0, 3.0
ROW_MM = 2.6
"""Height of a line below."""

_TITLE, _SUBTITLE, _NOTE, _INSTEAD = 9.5, 7.0, 5.8, 6.6
_TITLE_MM, _SUBTITLE_MM = 4.4, 3.3
_MOST_LINES = 3


@dataclass(frozen=True)
class Words:
    """The lines of a page of this width."""

    width_mm: float
    head: list[str]
    sub: list[str]
    foot: list[str]

    @property
    def above_mm(self) -> float:
        """Height of title and subtitle."""
        return _TITLE_MM * len(self.head) + _SUBTITLE_MM * len(self.sub)

    def write(self, figure: Any, height_mm: float, foot_mm: float) -> None:
        """Write all lines on a page of this height, the first one below at `foot_mm`."""
        y = TOP_MM
        for line in self.head:
            self._line(figure, line, (y + 3.3) / height_mm, _TITLE, palette.INK, "bold")
            y += _TITLE_MM
        for line in self.sub:
            self._line(figure, line, (y + 2.8) / height_mm, _SUBTITLE, palette.FAINT_INK)
            y += _SUBTITLE_MM
        for i, line in enumerate(self.foot):
            y = foot_mm + ROW_MM * i
            self._line(figure, line, y / height_mm, _NOTE, palette.FAINT_INK)

    def _line(
        self, figure: Any, line: str, y: float, size: float, color: str, weight: str = "normal"
    ) -> None:
        style = {"size": size, "color": color, "weight": weight, "va": "baseline"}
        figure.text(EDGE_MM / self.width_mm, 1 - y, line, **style, parse_math=False)


def words(width_mm: float, title: str, subtitle: str, notes: Sequence[str], caption: str) -> Words:
    """Break the words of a page into lines; of a very long title the end is cut."""
    room = width_mm - 2 * EDGE_MM
    head = text.lines(title, room, _TITLE, "bold")
    if len(head) > _MOST_LINES:
        rest = " ".join(head[_MOST_LINES - 1 :])
        head = [*head[: _MOST_LINES - 1], text.cut(rest, room, _TITLE, "bold")]
    sub = text.lines(subtitle, room, _SUBTITLE)[:_MOST_LINES]
    foot = text.lines("  ".join(dict.fromkeys(notes)), room, _NOTE)
    return Words(width_mm, head, sub, [*foot, *text.lines(caption, room, _NOTE)])


def place(axes: Axes, box: tuple[float, float, float, float], page: tuple[float, float]) -> None:
    """Put axes at a box (left, top, width, height) of a page of this size; all in mm."""
    left, top, width, height = box
    across, down = page
    axes.set_position((left / across, 1 - (top + height) / down, width / across, height / down))


def write_above(
    axes: Axes, line: str, x_mm: float, y_mm: float, size: float, color: str, **style: Any
) -> None:
    """Write above axes, at this distance from their upper left corner."""
    looks: dict[str, Any] = {"size": size, "color": color, "parse_math": False, **style}
    axes.annotate(
        line,
        (0, 1),
        (x_mm / text.MM_PER_POINT, y_mm / text.MM_PER_POINT),
        xycoords="axes fraction",
        textcoords="offset points",
        annotation_clip=False,
        **looks,
    )


def write_instead(axes: Axes, message: str, x: float = 0.0) -> None:
    """Write within axes why nothing is drawn there."""
    style = {"size": _INSTEAD, "color": palette.FAINT_INK, "va": "center", "style": "italic"}
    axes.text(x, 0.5, message, transform=axes.transAxes, **style, parse_math=False)
