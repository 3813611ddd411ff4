"""Figure of a sweep: a result against an axis, a line for each value of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ackclock.tables.groups import Group, groups
from ackclock.tables.shown import unit_of
from ackclock.tables.values import spelled

from . import palette
from .across import across
from .errors import PlotError
from .palette import MARKS
from .sweep_view import SweepView

_MARK = 3.4
"""Size of marks, points."""
_ASIDE = 0.6
"""How much of the room of a word its points take."""


def draw(view: SweepView) -> Figure:
    """A result against an axis of a sweep; intervals are those of means over replications.

    Raises:
        PlotError: the sweep varies nothing, or too much for one figure.
    """
    x, lines, facets = chosen(view)
    value, split = view.value(), [lines] if lines else []
    called = view.called(value)
    drawn, joined = x in view.sampled, view.in_order(x)
    others = [axis for axis in view.sampled if axis not in (x, lines, *facets)] if drawn else []
    exact = (drawn or not view.sampled) and not view.over_flows
    keys = [*facets, *split, *others, x]
    every = groups(view.chosen, keys, value.name, view.aggregate, replicated=exact)
    found = view.known(every, value)
    unit, size = unit_of(value, [group.value for group in found])
    cells = view.cells(facets)
    title, height = f"{called}{view.whose} against {x}", 30.0 if len(cells) > 2 else 48.0
    page = view.page(title, facets, 4 if view.width_mm > 120 else 2, height)
    page.notes = view.explained([*split, *facets])
    if beside := [a for a in view.together(x) if a not in (lines, *facets)]:
        page.notes.append(f"Varied together with {x}: {', '.join(beside)}.")
    levels = view.levels(x)
    axis = across(x, levels, drawn=drawn)
    names = view.levels(lines) if lines else [None]
    colors = palette.flow_colors([spelled(n) for n in names], [spelled(n) for n in names])
    styles: list[dict[str, Any]] = [
        {"color": colors[spelled(name)], "marker": MARKS[place % len(MARKS)], "lw": 1.1}
        | {"ls": "-" if axis.numeric and joined else ""}
        for place, name in enumerate(names)
    ]
    marks = palette.mark_style(len(found) // len(cells), _MARK)
    top = 1.08 * max(_reach(group) for group in found) / size
    for index, (cell, axes) in enumerate(zip(cells, page.axes, strict=True)):
        for place, (name, style) in enumerate(zip(names, styles, strict=True)):
            key = (*cell, *([name] if lines else []))
            mine = [(g.key[-1], g) for g in found if g.key[: len(key)] == key]
            # Points over a word stand beside each other; no line distinguishes them.
            aside = 0.0 if axis.numeric else (place - (len(names) - 1) / 2) * _ASIDE / len(names)
            at = {level: x_at + aside for level, x_at in zip(levels, axis.places, strict=True)}
            _line(axes, at, mine, size, {**style, **marks})
        axis.place(axes, numbers=page.is_last(index))
        page.scale(axes, top, f"{called} ({unit})" if unit else called)
    if lines:
        handles = [Line2D([], [], **style, **palette.mark_style(1, _MARK)) for style in styles]
        page.legend = [(h, view.words([lines], (n,))) for h, n in zip(handles, names, strict=True)]
    ends = [(group.interval.low, group.interval.high) for group in found if group.interval]
    if any(low < high for low, high in ends):
        page.notes.append(
            f"Bars: 95 % confidence intervals of means over {view.replications} replications."
        )
    elif ends:
        page.notes.append("All replications have the same value: there are no bars.")
    page.notes += [*view.pooled(apart=drawn), *view.left_out(value), *view.never(every)]
    if drawn:
        page.notes.append(f"Each point is one of the {view.meant}.")
    return page.finish()


def chosen(view: SweepView) -> tuple[str, str | None, list[str]]:
    """Which axis runs along, which one has lines, and which have panels.

    Unasked the axis with most numbers runs along, and the first axis of words, or else the next one
    of numbers, has lines. All the others have panels: a mean over them would be of nothing. Those
    that vary together with the first need neither, nor do numbers that were drawn.
    """
    asked = view.options
    taken = (asked.lines, *(asked.facets or ()))
    drawn = [axis for axis in view.sampled if axis not in taken]
    free = [*view.left(*taken), *drawn]
    numeric = [axis for axis in free if view.numeric(axis)]
    x = view.axis(asked.x) or max(numeric or free, key=lambda a: len(view.levels(a)), default=None)
    if x is None:
        raise PlotError("this sweep varies nothing, or --where leaves one run: there is no line")
    rest = view.left(x, *taken, *view.together(x))
    if x in drawn:
        rest += [axis for axis in drawn if axis != x and not view.numeric(axis)]
    words = [axis for axis in rest if not view.numeric(axis)]
    lines = asked.lines
    if lines is None and asked.facets is None and rest:
        fitting = [axis for axis in (*words, *rest) if len(view.levels(axis)) <= len(palette.FLOWS)]
        lines = fitting[0] if fitting else None
    elif lines is None and rest:
        lines = rest[0]
    facets = list(asked.facets or ())
    return x, lines, [*facets, *(axis for axis in rest if axis != lines)]


def _reach(group: Group) -> float:
    value = group.value or 0.0
    return max(value, group.interval.high) if group.interval else value


def _line(
    axes: Axes,
    at: dict[Any, float],
    mine: list[tuple[Any, Group]],
    size: float,
    style: dict[str, Any],
) -> None:
    points = [(at[level], group) for level, group in mine]
    if not points:
        return
    values = np.array([group.value for _, group in points], np.float64) / size
    axes.plot([place for place, _ in points], values, zorder=3, **style)
    sure = [(place, group.interval) for place, group in points if group.interval]
    if sure:
        places, ends = zip(*sure, strict=True)
        low, high = np.transpose([(max(0.0, end.low), end.high) for end in ends]) / size
        axes.vlines(places, low, high, color=style["color"], lw=1.0, alpha=0.6, zorder=2.8)
