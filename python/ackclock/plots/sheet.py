"""The page of a figure: heading, panels one above the other, notes and caption.

A `Page` knows no run; a `Sheet` is the page of a run, with panels over time.

Everything is laid out in millimetres, so that a figure keeps its text sizes at any width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import FigureBase
from matplotlib.ticker import MaxNLocator

from . import heading, legends, palette, text
from .panel import ROUND, Panel
from .saving import Figure
from .view import View
from .words import EDGE_MM, MM, ROW_MM, TOP_MM, Words, place, words, write_above, write_instead

_LEFT, _RIGHT, _BOTTOM = 11.5, EDGE_MM, 2.5
_PANEL_SIZE = 7.2
_LEGEND = legends.Measures(size=6.8, handle=3.4, handle_gap=1.2, column_gap=2.6, row=3.2)
_PANEL_HEADER, _PANEL_GAP, _AXIS = 4.6, 1.9, 7.6
_MOST_ENTRIES = 12


@dataclass(frozen=True)
class _Header:
    """What is above a panel: its title, and the legend beside it or in rows below it."""

    entries: Sequence[legends.Entry]
    columns: int
    rows: int
    beside: bool
    title_mm: float

    @classmethod
    def of(cls, panel: Panel) -> _Header:
        """The header of a panel; of very many entries, a few that show the order of the colours."""
        shown: list[legends.Entry] = panel.entries
        if panel.ramp:
            other = (palette.FAINT_INK, palette.RULE)
            steps = [
                entry
                for entry in shown
                if entry[0].get_linestyle() != "None" and entry[0].get_color() not in other
            ]
            rest = [entry for entry in shown if entry not in steps]
            shown = [*legends.some(steps, _MOST_ENTRIES), *rest]
        labels, room = [label for _, label in shown], panel.width_mm
        title_mm = text.width_mm(panel.title, _PANEL_SIZE)
        title_mm += text.width_mm(f"  {panel.unit}" if panel.unit else "", _PANEL_SIZE)
        width, count = sum(map(_LEGEND.width_mm, labels)), len(labels)
        if width <= room:
            beside = not labels or width <= room - title_mm - 3
            return cls(shown, count, min(count, 1), beside, title_mm)
        # The rows are as equal as can be.
        columns = -(-count // -(-count // _LEGEND.columns(labels, room)))
        return cls(shown, columns, -(-count // columns), False, title_mm)

    @property
    def below_mm(self) -> float:
        """Height of the rows below the title."""
        return 0.0 if self.beside else self.rows * _LEGEND.row


@dataclass(frozen=True)
class _Frame:
    """What is above and below the panels, and the room below them, mm."""

    words: Words
    headers: list[_Header]
    below_mm: float


def finish(pages: Sequence[Page], figure: Figure) -> Figure:
    """Give everything on some pages beside each other its place; panels are in rows."""
    frames = [page.frame() for page in pages]
    below = TOP_MM + max(frame.words.above_mm for frame in frames) + 1.4
    tops: list[float] = []
    for row, panels in enumerate(zip(*(page.panels for page in pages), strict=True)):
        below += max(
            _PANEL_HEADER + frame.headers[row].below_mm if panel.title else 0.0
            for panel, frame in zip(panels, frames, strict=True)
        )
        tops.append(below)
        tallest = max(panel.height_mm for panel in panels)
        for panel in panels:
            if not panel.message:
                panel.height_mm = tallest
        below += tallest + _PANEL_GAP
    below += max(frame.below_mm for frame in frames)
    rows = max(len(frame.words.foot) for frame in frames)
    height = below + ROW_MM * rows + 0.8 + _BOTTOM
    figure.set_size_inches(sum(page.width_mm for page in pages) * MM, height * MM)
    for page, frame in zip(pages, frames, strict=True):
        page.place(frame, tops, below, height)
    return figure


class Page:
    """A figure in the making. Add panels, draw into them, then `finish`.

    Args:
        width_mm: Width on paper.
        title: Heading.
        subtitle: Written below the heading; empty for none.
        caption: Written below the panels.
        across: Label of the horizontal axis that joined panels share.
        left_mm: Room for the axis numbers at the left.
        below_mm: Room for numbers and label of that axis.
        figure: Where to draw, if this is one of several pages beside each other.
    """

    def __init__(
        self,
        width_mm: float,
        title: str,
        subtitle: str,
        caption: str,
        across: str = "",
        left_mm: float = _LEFT,
        below_mm: float = _AXIS,
        figure: FigureBase | None = None,
    ) -> None:
        self.width_mm = width_mm
        self.across = across
        self._title, self._subtitle, self._caption = title, subtitle, caption
        self.figure: Any = figure or Figure(figsize=(width_mm * MM, 100 * MM))
        self.panels: list[Panel] = []
        self._left, self._below = left_mm, below_mm
        self._notes: list[str] = []

    @property
    def axes_width_mm(self) -> float:
        """Width of the axes of every panel."""
        return self.width_mm - self._left - _RIGHT

    def put(self, height_mm: float, *, joined: bool = True) -> Panel:
        """Put a panel below the others; of `joined` ones the last has the numbers of the axis."""
        axes = self.figure.add_axes((0.1, 0.1, 0.8, 0.8))
        panel = Panel(axes, self.axes_width_mm, height_mm, joined=joined)
        self.panels.append(panel)
        return panel

    def note(self, sentence: str) -> None:
        """Say something below the figure."""
        self._notes.append(sentence)

    def finish(self) -> Figure:
        """Write headings, legends, notes and caption, and give everything its place."""
        return finish([self], self.figure)

    def frame(self) -> _Frame:
        """How much room the words above and below and the panels need."""
        notes = [*self._notes, *(note for panel in self.panels for note in panel.notes)]
        said = words(self.width_mm, self._title, self._subtitle, notes, self._caption)
        labelled = any(panel.joined for panel in self.panels) or self.panels[-1].labelled
        below = self._below - _PANEL_GAP if labelled else 0.0
        return _Frame(said, [_Header.of(panel) for panel in self.panels], below)

    def place(self, frame: _Frame, tops: Sequence[float], below: float, height: float) -> None:
        """Put everything where it belongs on a page of this height; all in mm from the top."""
        frame.words.write(self.figure, height, below + 2.2)
        joined = [panel for panel in self.panels if panel.joined]
        for panel, top, header in zip(self.panels, tops, frame.headers, strict=True):
            box = (self._left, top, self.axes_width_mm, panel.height_mm)
            place(panel.axes, box, (self.width_mm, height))
            self._dress(panel, header, last=bool(joined) and panel is joined[-1])

    def _dress(self, panel: Panel, header: _Header, *, last: bool) -> None:
        axes = panel.axes
        if panel.joined:
            axes.tick_params(labelbottom=last)
            if last:
                axes.set_xlabel(self.across, labelpad=2)
                self._keep_on_page(axes)
        if panel.message:
            axes.set_yticks([])
            axes.grid(visible=False)
            axes.spines[["left", "bottom"]].set_visible(last)
            axes.tick_params(bottom=last)
            write_instead(axes, panel.message, 0.006)
        if not panel.title:
            return
        lift = 1.5 + header.below_mm
        start = -_LEFT + _RIGHT if self._left == _LEFT else 0.0
        room = self.axes_width_mm - start
        unit, _, about = panel.unit.partition(", ")
        if header.title_mm > room:
            # What a unit is of gives way before the title does.
            over = text.width_mm(f"  {unit}" if unit else "", _PANEL_SIZE)
            panel.title = text.short(panel.title, room - over, _PANEL_SIZE)
        beyond = start + text.width_mm(panel.title + "  ", _PANEL_SIZE)
        unit = text.cut(f"{unit}, {about}" if about else unit, start + room - beyond, _PANEL_SIZE)
        write_above(axes, panel.title, start, lift, _PANEL_SIZE, palette.INK)
        write_above(axes, unit, beyond, lift, _PANEL_SIZE, palette.FAINT_INK)
        if header.rows:
            loc, left = ("lower right", 1) if header.beside else ("lower left", 0)
            anchor = (left, 1 + 0.9 / panel.height_mm)
            columns = header.columns
            legends.draw(axes, header.entries, columns, _LEGEND, loc=loc, anchor=anchor)

    def _keep_on_page(self, axes: Any) -> None:
        """Put a number of the axis that would stick out at the right before its tick."""
        low, high = axes.get_xlim()
        for at, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
            beyond = text.width_mm(label.get_text(), label.get_fontsize()) / 2
            if (high - at) / (high - low) * self.axes_width_mm + _RIGHT < beyond:
                label.set_horizontalalignment("right")


class Sheet(Page):
    """The page of a run.

    Args:
        view: The run.
        left_mm: Room for the axis numbers at the left.
        words: Title, subtitle and caption of a figure that is not of one run; default those of the
            run.
        figure: As of a page.
    """

    def __init__(
        self,
        view: View,
        left_mm: float = _LEFT,
        words: tuple[str, str, str] | None = None,
        figure: FigureBase | None = None,
    ) -> None:
        title, subtitle, caption = words or (
            heading.title(view),
            heading.subtitle(view),
            heading.caption(view),
        )
        super().__init__(view.width_mm, title, subtitle, caption, left_mm=left_mm, figure=figure)
        self.view = view

    def add(self, height_mm: float, *, timed: bool = True) -> Panel:
        """Add a panel below the others; `timed` ones share the time axis of the run."""
        panel = self.put(height_mm, joined=timed)
        if timed:
            unit, axes = self.view.time_unit, panel.axes
            panel.span, panel.second, panel.end_s = self.view.span, unit.size, self.view.end_s
            self.across = f"Time ({unit.name})"
            axes.set_xlim(self.view.span[0] / unit.size, self.view.span[1] / unit.size)
            axes.xaxis.set_major_locator(
                MaxNLocator(14 if self.axes_width_mm > 120 else 7, steps=ROUND)
            )
            axes.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=3, steps=ROUND))
        return panel
