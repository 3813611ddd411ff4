"""Figure: the goodput of each flow as a bar, with Jain's index of fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import MaxNLocator

from ackclock.metrics import jain
from ackclock.metrics.statistics import Interval
from ackclock.tables.groups import groups

from . import heading, palette, quantities, text
from .errors import PlotError
from .facets import TICKS, Facets, beside
from .palette import DASHES
from .sweep_view import SweepView
from .view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NAMES = 40


@dataclass(frozen=True)
class Bars:
    """The bars of a panel.

    Attributes:
        head: What the panel shows.
        goodputs: By flow, bit/s.
        intervals: Of means over replications, by flow.
        fairness: Jain's index of these flows; none where nobody got anything.
        left_out: How many flows of the run are not shown.
    """

    head: str
    goodputs: Mapping[str, float]
    intervals: Mapping[str, Interval]
    fairness: float | None
    left_out: int = 0


def draw(views: Sequence[View]) -> Figure:
    """The goodputs of the flows of a run, or of several runs."""
    several = len(views) > 1
    panels = [
        _of_run(view, heading.run_name(view, number) if several else "")
        for number, view in enumerate(views, 1)
    ]
    view = views[0]
    colors: dict[str, str] = {}
    for each in views:
        colors = {**each.flow_color, **colors}
    titles = ["Goodput of each flow", f"{len(views)} runs" if several else heading.title(view)]
    caption = heading.of_runs(views)[2] if several else heading.caption(view)
    return _figure(panels, colors, view.width_mm, titles, caption, binary=view.binary_rates)


def draw_sweep(view: SweepView) -> Figure:
    """The goodputs of the flows in each cell of a sweep, means over replications.

    Raises:
        PlotError: too many cells for one figure.
    """
    axes = [*(view.options.facets or ()), *view.left(*(view.options.facets or ()))]
    cells = view.cells(axes)
    table = view.flows()
    found = groups(table, [*axes, "flow"], "goodput_bps")
    means = {group.key: group for group in groups(view.runs, axes, "fairness_jain")}
    panels: list[Bars] = []
    for cell in cells:
        mine = {g.key[-1]: g for g in found if g.key[:-1] == cell and g.value is not None}
        fairness = means[cell].value if cell in means else None
        panels.append(
            Bars(
                view.words(axes, cell),
                {name: group.value or 0.0 for name, group in mine.items()},
                {name: group.interval for name, group in mine.items() if group.interval},
                fairness,
            )
        )
    names = list(dict.fromkeys(table.values("flow")))
    colors = palette.flow_colors(names, names)
    titles = ["Goodput of each flow", view.subtitle(view.title)]
    return _figure(
        panels,
        colors,
        view.width_mm,
        titles,
        view.caption(),
        replications=view.replications,
        levels=view.last_levels(axes),
        notes=view.explained(axes),
    )


def _of_run(view: View, head: str) -> Bars:
    flows = view.summary["flows"]
    goodputs = {name: float(flows[name]["goodput_bps"]) for name in view.flows}
    left_out = len(flows) - len(goodputs)
    return Bars(head, goodputs, {}, jain(list(goodputs.values())), left_out)


def _figure(
    panels: Sequence[Bars],
    colors: Mapping[str, str],
    width_mm: float,
    titles: Sequence[str],
    caption: str,
    *,
    binary: bool = False,
    replications: int = 1,
    levels: int = 0,
    notes: Sequence[str] = (),
) -> Figure:
    if not any(panel.goodputs for panel in panels):
        raise PlotError("nothing to draw: there is no flow")
    highest = max(
        max((i.high for i in panel.intervals.values()), default=0.0)
        if panel.intervals
        else max(panel.goodputs.values(), default=0.0)
        for panel in panels
    )
    unit = quantities.rate_unit(highest, binary=binary)
    most = max(len(panel.goodputs) for panel in panels)
    page = Facets(
        width_mm,
        titles[0],
        titles[1],
        caption,
        len(panels),
        beside(len(panels), min(4, int(width_mm / (14.0 + 2.6 * most))), levels),
        48.0 if len(panels) == 1 else 26.0,
        below_mm=5.0,
        between_mm=5.5,
        heads=[panel.head for panel in panels],
    )
    named = most <= _MOST_NAMES
    for index, (panel, axes) in enumerate(zip(panels, page.axes, strict=True)):
        _fill(axes, panel, colors, unit.size)
        axes.set_ylim(0, 1.25 * highest / unit.size if highest > 0 else 1)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        _name_bars(axes, list(panel.goodputs), page.panel_mm, named=named)
        if page.is_first(index):
            axes.set_ylabel(f"Goodput ({unit.name})", labelpad=2)
        else:
            axes.tick_params(labelleft=False)
    page.notes += notes
    page.notes.append("Dashed: equal shares. Jain's index: 1 if all flows got the same.")
    if replications > 1:
        page.notes.append(
            f"Means over {replications} replications; bars on them: 95 % confidence intervals."
        )
    return page.finish()


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
        axes.text(
            0.99,
            0.97,
            f"Jain's index{of} {panel.fairness:.3f}",
            transform=axes.transAxes,
            size=TICKS,
            color=palette.INK,
            ha="right",
            va="top",
        )


def _name_bars(axes: Axes, names: Sequence[str], width_mm: float, *, named: bool) -> None:
    axes.set_xlim(-0.6, max(len(names), 1) - 0.4)
    axes.tick_params(axis="x", length=0)
    if not named:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(names)} flows", labelpad=2)
        return
    widest = max((text.width_mm(name, TICKS) for name in names), default=0.0)
    every = max(1, -(-int(widest + 1.5) * len(names) // int(max(width_mm, 1))))
    ticks = range(0, len(names), every)
    labels: Any = [names[i] for i in ticks]
    axes.set_xticks(list(ticks), labels, parse_math=False)
