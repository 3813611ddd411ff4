"""Figures over time: panels with one time axis, the active flows above them, marks across them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ackclock.errors import listed

from . import flow_strip, heading, marks, sheet
from .errors import PlotError
from .panel import Panel
from .saving import Figure
from .sheet import Sheet
from .view import View, evenly
from .words import MM

if TYPE_CHECKING:
    from .registry import Plot

_STACKED_MM = {True: 25.0, False: 21.0}
_SINGLE_MM = {True: 52.0, False: 38.0}
_MOST_FLOWS = 200
"""How many flows a page of several panels shows unless they are asked for."""

_LEAST_COLUMN_MM = 60.0


def figure(views: Sequence[View], plots: Sequence[Plot]) -> Figure:
    """Draw panels one above the other; of several runs, beside each other on the same scales.

    Panels whose records no run has kept are left out, and a note says so.

    Raises:
        PlotError: no panel is left, or the runs are too many for the width.
    """
    needed = dict.fromkeys(table for plot in plots for table in plot.needs)
    missing = [table for table in needed if not any(view.recorded(table) for view in views)]
    kept = [plot for plot in plots if not set(plot.needs) & set(missing)]
    if not kept:
        views[0].need(missing[0])
    if len(views) == 1:
        page = _page(views[0], kept, Sheet(views[0]))
        drawn = page.figure
        pages = [page]
    else:
        drawn, pages = _columns(views, kept)
    if missing:
        pages[0].note(
            f"Not recorded, so not drawn: {', '.join(missing)}; "
            f"record them with --set record.{missing[0]}=changes"
            f"{' and so on' if len(missing) > 1 else ''}."
        )
    return sheet.finish(pages, drawn)


def _columns(views: Sequence[View], plots: Sequence[Plot]) -> tuple[Figure, list[Sheet]]:
    """A column for each run, with one time axis and equal scales."""
    width = views[0].width_mm
    if width / len(views) < _LEAST_COLUMN_MM:
        raise PlotError(
            f"{len(views)} runs beside each other need a figure of "
            f"{_LEAST_COLUMN_MM * len(views):g} mm (--width)"
        )
    begin, end = views[0].span[0], max(view.span[1] for view in views)
    drawn = Figure(figsize=(width * MM, 100 * MM))
    pages: list[Sheet] = []
    parts: Any = drawn.subfigures(1, len(views), wspace=0.0)
    for number, (view, part) in enumerate(zip(views, parts, strict=True), 1):
        one = view.beside(len(views), (begin, end))
        words = (heading.run_name(view, number), heading.subtitle(view), heading.caption(view))
        pages.append(_page(one, plots, Sheet(one, words=words, figure=part)))
    for row in zip(*(page.panels for page in pages), strict=True):
        shown = [panel for panel in row if not panel.message and panel.title]
        if len({panel.unit for panel in shown}) > 1:
            pages[0].note(f"{shown[0].title}: the scales differ.")
        elif shown:
            limits = [panel.axes.get_ylim() for panel in shown]
            for panel in shown:
                panel.axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    return drawn, pages


def _page(view: View, plots: Sequence[Plot], page: Sheet) -> Sheet:
    left_out = ""
    if len(plots) > 1 and not view.flows_asked and len(view.flows) > _MOST_FLOWS:
        left_out = f"{_MOST_FLOWS} of {len(view.flows)} flows are drawn, evenly chosen."
        view = view.of_flows(evenly(view.flows, _MOST_FLOWS))
    height = (_STACKED_MM if len(plots) > 1 else _SINGLE_MM)[view.width_mm > 120]
    flow_strip.add(view, page)
    panels: list[Panel] = []
    for plot in plots:
        panel = page.add(height)
        panels.append(panel)
        if lacking := [table for table in plot.needs if not view.recorded(table)]:
            panel.title = plot.name
            panel.empty(f"not recorded: {listed(lacking)}")
        else:
            plot.load()(view, panel)
    marks.across(view, page, [panel for panel in panels if not panel.message])
    if left_out:
        panels[0].note(left_out)
    return page
