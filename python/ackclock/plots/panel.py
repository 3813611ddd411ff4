"""A panel of a figure: its axes, what is drawn along them, and what is written above them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ackclock.arrays import ArrayLike, Flags, Floats

from . import bands, palette
from .palette import DASHES, LineStyle

ROUND = [1, 2, 2.5, 5, 10]
"""First digits of the steps of axes."""


def mark_style(marker: str, color: str, size: float, *, hollow: bool = False) -> dict[str, Any]:
    """How marks of this shape look in a panel and in its legend; `size` in points."""
    stroked = hollow or marker in "x+|1234"
    return {
        "marker": marker,
        "ms": size,
        "mfc": palette.GROUND if hollow else color,
        "mec": color,
        "mew": max(0.5, 0.22 * size) if stroked else 0.0,
    }


@dataclass
class Panel:
    """One panel: its axes, and what to write above them.

    A function that draws a panel fills `axes` and sets `title` and `unit`; it calls `entry` for
    each thing to name in the legend and `empty` if there is nothing to draw. With `ramp` the
    colours of the entries are steps of a ramp, and of very many the legend names only some. One
    that draws the losses itself sets `shows_losses`, to be spared the marks of losses; the last one
    of a figure sets `labelled` if its horizontal axis is its own and has numbers and a label.

    Along a time axis it draws what happens in `span`, in seconds, of a run that ends at `end_s`; a
    unit of the axis has `second` of them.
    """

    axes: Axes
    width_mm: float
    height_mm: float
    title: str = ""
    unit: str = ""
    joined: bool = True
    ramp: bool = False
    entries: list[tuple[Line2D, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    message: str = ""
    shows_losses: bool = False
    labelled: bool = False
    span: tuple[float, float] = (0.0, 1.0)
    end_s: float = np.inf
    second: float = 1.0

    def entry(
        self, label: str, color: str, *, line: LineStyle = "solid", width: float = 1.6
    ) -> None:
        """Name something in the legend above the panel."""
        self.entries.append((Line2D([], [], color=color, lw=width, ls=DASHES[line]), label))

    def mark(self, label: str, color: str, marker: str, *, hollow: bool = False) -> None:
        """Name a kind of marks in the legend."""
        handle = Line2D([], [], ls="", **mark_style(marker, color, 3.6, hollow=hollow))
        self.entries.append((handle, label))

    def note(self, sentence: str) -> None:
        """Say something below the figure."""
        self.notes.append(sentence)

    def empty(self, message: str) -> None:
        """Make this a low panel that says why nothing is in it."""
        self.message = message
        self.height_mm = 3.6

    def y_from_zero(self, largest: float, *, counts: bool = False) -> None:
        """Let the value axis begin at 0 and leave room above the largest value for marks.

        With `counts` only whole numbers are written at the axis.
        """
        if counts:
            locator = MaxNLocator(4, integer=True, min_n_ticks=1, steps=ROUND)
            self.axes.yaxis.set_major_locator(locator)
        self.axes.set_ylim(0, largest * 1.1 if largest > 0 else 1)

    # Along the time axis

    def inside(self, times: Floats) -> Flags:
        """Which of these times are drawn."""
        return (times >= self.span[0]) & (times <= self.span[1])

    def bins(self, bin_mm: float) -> Floats:
        """Edges of bins of this width on paper over the whole time axis."""
        return bands.bins(*self.span, max(1, round(self.width_mm / bin_mm)))

    def points(
        self,
        times: ArrayLike,
        values: ArrayLike,
        marker: str,
        color: str,
        size: float,
        *,
        hollow: bool = False,
        **style: Any,
    ) -> None:
        """Draw marks, whole ones at the very beginning or end, too; `size` in points."""
        look = mark_style(marker, color, size, hollow=hollow)
        style = {"ls": "", "clip_on": False, **look, **style}
        self.axes.plot(np.asarray(times) / self.second, values, **style)

    def line(
        self,
        times: ArrayLike,
        values: ArrayLike,
        color: str,
        line: LineStyle = "solid",
        width: float = 0.7,
        **style: Any,
    ) -> None:
        """Draw a line through points."""
        style = {"color": color, "lw": width, "ls": DASHES[line], **style}
        self.axes.plot(np.asarray(times) / self.second, values, **style)

    def level(self, times: ArrayLike, values: ArrayLike, color: str, **style: Any) -> None:
        """Draw what holds from each time to the next as a dotted line; it may leave the panel."""
        stepped: dict[str, Any] = {"drawstyle": "steps-post", **style}
        self.line(times, values, color, "dotted", **stepped)

    def upright(self, times: Floats, color: str, width: float, **style: Any) -> None:
        """Draw lines from top to bottom."""
        for time in times / self.second:
            self.axes.axvline(time, color=color, lw=width, **style)

    def shade(self, start: float, stop: float, color: str, alpha: float, **style: Any) -> None:
        """Colour the ground between two times."""
        style = {"color": color, "alpha": alpha, "lw": 0, "zorder": 0.5, **style}
        self.axes.axvspan(start / self.second, stop / self.second, **style)
