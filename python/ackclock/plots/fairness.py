"""Figure: the goodput of each flow as a bar, with Jain's index of fairness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.metrics import jain
from ackclock.metrics.statistics import Interval
from ackclock.tables.groups import groups

from . import heading, palette, quantities, text
from .errors import PlotError
from .facets import TICKS, Facets, beside
from .palette import DASHES
from .sweep_view import SweepView
from .view import View

_MOST_NAMES = 40
_FLAT = 5.0
"""Panels whose bars are lower than the highest by this factor could not be read on its scale."""
_NUMBERS_MM = 9.0
_NAME_MM = 9.0
"""Names are not shortened further than this: rather some bars have none."""
_NAME_GAP_MM = 1.5
_SIZES: dict[str, Any] = {"below_mm": 5.0, "between_mm": 5.5}
_TITLE = "Goodput of each flow"


@dataclass(frozen=True)
class Bars:
    """The bars of a panel.

    Attributes:
        goodputs: By flow, bit/s.
        fairness: Jain's index of these flows; none where nobody got anything.
        intervals: Of means over replications, by flow.
        left_out: How many flows of the run are not shown.
    """

    goodputs: Mapping[str, float]
    fairness: float | None
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    left_out: int = 0


def draw(views: Sequence[View]) -> Figure:
    """The goodputs of the flows of a run, or of several runs."""
    panels = list(map(_of_run, views))
    view, several = views[0], len(views) > 1
    colors: dict[str, str] = {}
    for each in views:
        colors = {**each.flow_color, **colors}
    page = Facets(
        view.width_mm,
        _TITLE,
        f"{len(views)} runs" if several else heading.title(view),
        heading.of_runs(views)[2] if several else heading.caption(view, figures=True),
        len(views),
        beside(len(views), _most(view.width_mm, panels)),
        26.0 if several else 48.0,
        heads=[heading.run_name(v, i) if several else "" for i, v in enumerate(views, 1)],
        **_SIZES,
    )
    return _figure(page, panels, colors, binary=view.binary_rates)


def draw_sweep(view: SweepView) -> Figure:
    """The goodputs of the flows in each cell of a sweep, means over replications.

    Raises:
        PlotError: too many cells for one figure.
    """
    facets = view.options.facets or ()
    if "flow" in facets:
        raise PlotError("each panel has a bar for each flow: 'flow' cannot be one of its facets")
    axes = [*facets, *view.left(*facets, "flow")]
    table = view.flows()
    every, begun = table, view.begun(table)
    table = table.take(np.flatnonzero(begun)) if begun.any() else table
    found = groups(table, [*axes, "flow"], "goodput_bps", replicated=not view.sampled)
    # Jain's index of a run is that of all its flows.
    whole = [] if "flow" in view.wanted else groups(view.runs, axes, "fairness_jain")
    means = {group.key: group.value for group in whole}
    there = groups(every, [*axes, "flow"], "goodput_bps")
    panels: list[Bars] = []
    for cell in view.cells(axes):
        mine = {g.key[-1]: g for g in found if g.key[:-1] == cell and g.value is not None}
        goodputs = {name: group.value or 0.0 for name, group in mine.items()}
        intervals = {name: group.interval for name, group in mine.items() if group.interval}
        left_out = sum(group.key[:-1] == cell for group in there) - len(goodputs)
        panels.append(Bars(goodputs, means.get(cell), intervals, left_out))
    names = every.different("flow")
    height = 48.0 if len(panels) == 1 else 26.0
    page = view.page(_TITLE, axes, _most(view.width_mm, panels), height, **_SIZES)
    return _figure(page, panels, palette.flow_colors(names, names), view.meant)


def _of_run(view: View) -> Bars:
    flows = view.summary["flows"]
    rates = {name: flows[name]["goodput_bps"] for name in view.flows}
    # As `fairness_jain` of the summary, without flows that the run did not start.
    begun = {name for name, flow in flows.items() if flow["start_s"] < view.summary["end_s"]}
    counted = begun or flows.keys()
    goodputs = {n: float(rate) for n, rate in rates.items() if rate is not None and n in counted}
    left_out = len(flows) - len(goodputs)
    return Bars(goodputs, jain(list(goodputs.values())), left_out=left_out)


def _most(width_mm: float, panels: Sequence[Bars]) -> int:
    """How many panels have room beside each other."""
    return min(4, int(width_mm / (14.0 + 2.6 * max(len(panel.goodputs) for panel in panels))))


def _figure(
    page: Facets,
    panels: Sequence[Bars],
    colors: Mapping[str, str],
    meant: str = "",
    *,
    binary: bool = False,
) -> Figure:
    if not any(panel.goodputs for panel in panels):
        raise PlotError("nothing to draw: there is no flow")
    tops = [_top(panel) for panel in panels]
    highest = max(tops)
    unit = quantities.rate_unit(highest, binary=binary)
    named = max(len(panel.goodputs) for panel in panels) <= _MOST_NAMES
    if own := min(tops) < highest / _FLAT:
        page.notes.append("Each panel has its own scale.")
        page.gap_mm = _NUMBERS_MM
    some = False
    for panel, axes, top in zip(panels, page.axes, tops, strict=True):
        _fill(axes, panel, colors, unit.size)
        page.scale(axes, 1.25 * (top if own else highest) / unit.size, f"Goodput ({unit.name})")
        axes.tick_params(labelleft=own or page.is_first(page.axes.index(axes)))
        every = _name_bars(axes, list(panel.goodputs), page.panel_mm, named=named)
        some = some or every > 1
    if some:
        page.notes.append("Not every bar has its name.")
    page.notes.append("Dashed: equal shares. Jain's index is 1 if all flows get the same.")
    if meant:
        bars = any(panel.intervals for panel in panels)
        page.notes.append(
            f"Means over {meant}{'; bars on them: 95 % confidence intervals' * bars}."
        )
    return page.finish()


def _top(panel: Bars) -> float:
    ends = [interval.high for interval in panel.intervals.values()]
    return max(ends or panel.goodputs.values(), default=0.0)


def _fill(axes: Axes, panel: Bars, colors: Mapping[str, str], size: float) -> None:
    names = list(panel.goodputs)
    heights = [panel.goodputs[name] / size for name in names]
    axes.bar(range(len(names)), heights, 0.72, color=[colors[name] for name in names], zorder=2)
    if names:
        share = sum(heights) / len(names)
        axes.axhline(share, color=palette.INK, lw=0.8, ls=DASHES["dashed"], zorder=3)
    for place, name in enumerate(names):
        if name in panel.intervals:
            interval = panel.intervals[name]
            ends = [max(0.0, interval.low) / size, interval.high / size]
            axes.plot([place, place], ends, color=palette.INK, lw=0.9, zorder=4)
    axes.grid(visible=False, axis="x")
    if panel.fairness is not None:
        shown, every = len(names), len(names) + panel.left_out
        of = f" of these {shown} of {every} flows" if panel.left_out else ""
        words = f"Jain's index{of} {panel.fairness:.3f}"
        style = {"size": TICKS, "color": palette.INK, "ha": "right", "va": "top"}
        axes.text(0.99, 0.97, words, transform=axes.transAxes, **style)


def _name_bars(axes: Axes, names: Sequence[str], width_mm: float, *, named: bool) -> int:
    """Name the bars of a panel, or every so many of them, which it returns."""
    axes.set_xlim(-0.6, max(len(names), 1) - 0.4)
    axes.tick_params(axis="x", length=0)
    if not named:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(names)} flows", labelpad=2)
        return 1
    room_mm = width_mm / max(len(names), 1) - _NAME_GAP_MM
    shown = [text.short(name, max(room_mm, _NAME_MM), TICKS) for name in names]
    widest = max((text.width_mm(name, TICKS) for name in shown), default=0.0)
    every = max(1, math.ceil((widest + _NAME_GAP_MM) / (room_mm + _NAME_GAP_MM) - 1e-9))
    ticks = range(0, len(names), every)
    labels: Any = [shown[i] for i in ticks]
    axes.set_xticks(list(ticks), labels, parse_math=False)
    return every
