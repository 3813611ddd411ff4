"""Figure of a sweep: a result against another, a mark for each combination of its axes.

The picture by which congestion controls are compared: throughput against delay. Unlike in
`throughput-delay`, both axes grow as usual, since either may be any result, and marks are means
with their confidence intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ackclock.arrays import Floats
from ackclock.tables import Column
from ackclock.tables.groups import Group, groups
from ackclock.tables.shown import unit_of
from ackclock.tables.values import spelled

from . import palette, text
from .across import across
from .errors import PlotError
from .palette import MARKS
from .panel import ROUND
from .sweep_view import Cell, SweepView, is_finite

_ALGORITHM = ("cc", "tcp", "preset")
"""Ends of axes that say which algorithm it is."""
_FAR = 0.5
"""An axis begins at 0 unless all values are above this share of the largest."""
_NARROWEST = 0.2
"""Least length of an axis as a share of the largest value: small differences look small."""
_MOST_NUMBERS = 5
"""Of a longer path, the numbers at its ends are written."""
_MORE = ("goodput", "fairness", "utilization", "bottleneck_utilization")
_LESS = ("queue", "rtt", "completion", "finish", "drops", "timeouts", "retransmissions")
"""How names of results begin of which more, or less, is better."""

Points = dict[Cell, tuple[Group, Group]]
Number = tuple[str, tuple[float, float]]
"""What is written beside a mark, and where that is, in the units of the axes."""
_MARK, _NUMBER, _OFF = 4.5, 5.5, 3.0
"""Sizes of marks and of numbers beside them, and how far these are away, points."""


def draw(view: SweepView) -> Figure:
    """A result of a sweep against another; bars are intervals of means over replications.

    Raises:
        PlotError: no run has both, or the sweep varies too much for one figure.
    """
    results, lines, marks, facets = chosen(view)
    x, y = results
    split = [axis for axis in (lines, marks) if axis]
    table, keys = view.chosen, list(dict.fromkeys([*facets, *split, *view.sampled]))
    # Both results of a mark are over the same runs.
    kept, apart = table.take(np.flatnonzero(view.there(x, y))), not view.over_flows
    every = [groups(kept, keys, column.name, view.aggregate, apart) for column in results]
    points: Points = {
        one.key: (one, other)
        for one, other in zip(*every, strict=True)
        if is_finite(one) and is_finite(other)
    }
    if not points:
        raise PlotError(f"nothing to draw: nothing has both '{x.name}' and '{y.name}'")
    found = list(zip(*points.values(), strict=True))
    cells = view.cells(facets)
    under = x.title if x.title[:2].isupper() else x.title[0].lower() + x.title[1:]
    height = 34.0 if len(cells) > 2 else min(80.0, 0.5 * view.width_mm)
    page = view.page(
        f"{y.title} against {under}{view.whose}", facets, 3 if view.width_mm > 120 else 2, height
    )
    page.notes = view.explained([*split, *facets])
    units = [unit_of(c, [g.value for g in own]) for c, own in zip(results, found, strict=True)]
    sizes = [size for _, size in units]
    labels = [
        view.called(column) + (f" ({unit})" if unit else "")
        for column, (unit, _) in zip(results, units, strict=True)
    ]
    names = view.levels(lines) if lines else [None]
    colors = palette.flow_colors([spelled(n) for n in names], [spelled(n) for n in names])
    shown = across(marks, view.levels(marks)) if marks else None
    path = shown is not None and shown.numeric and not view.sampled
    words = dict(zip(view.levels(marks), shown.labels, strict=True)) if marks and shown else {}
    looks = dict.fromkeys(words, "o") if path else dict(zip(words, cycle(MARKS), strict=False))
    spans = [_span(own, size) for own, size in zip(found, sizes, strict=True)]
    style = palette.mark_style(len(points) // len(cells), _MARK)
    complete = True
    for index, (cell, axes) in enumerate(zip(cells, page.axes, strict=True)):
        numbers: list[Number] = []
        for name in names:
            head = (*cell, name) if lines else cell
            own = {key[len(head) :]: p for key, p in points.items() if key[: len(head)] == head}
            color, along = colors[spelled(name)], words if path else {}
            numbers += _draw(axes, own, sizes, looks, color, along, style)
        marked = [_place(point, sizes) for key, point in points.items() if key[: len(cell)] == cell]
        complete &= _write(axes, numbers, marked, spans, (page.panel_mm, height))
        axes.set_xlim(*spans[0])
        axes.set_ylim(*spans[1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(7 if len(cells) == 1 else 5, steps=ROUND))
        first, last = page.is_first(index), page.is_last(index)
        axes.tick_params(labelleft=first, labelbottom=last)
        axes.set_xlabel(labels[0] if last else "", labelpad=2)
        axes.set_ylabel(text.short(labels[1], height + 4.0, 7.0) if first else "", labelpad=2)
    entries = [(lines, name, "o", colors[spelled(name)]) for name in names] if lines else []
    entries += [] if path else [(marks, kind, looks[kind], palette.INK) for kind in looks]
    page.legend = [
        (Line2D([], [], marker=mark, color=color, ls="", ms=4.5), view.words([axis or ""], (kind,)))
        for axis, kind, mark, color in entries
    ]
    page.notes += [*_notes(view, results, points), *(n for own in every for n in view.never(own))]
    if any(start for start, _ in spans):
        page.notes.append("Not every axis begins at 0.")
    if shown and path:
        some = "" if complete else " Where they have no room they are left out."
        page.notes.append(f"Numbers along the lines: {shown.label}.{some}")
    return page.finish()


def _results(view: SweepView) -> tuple[Column, Column]:
    """The results along and up."""
    asked = view.options
    usual = "queueing_delay_s_mean" if view.chosen is view.runs else "rtt_s_mean"
    x, y = view.value(asked.x or usual), view.value(asked.y or "goodput_bps")
    if x.name == y.name:
        raise PlotError(f"--x and --y are both '{x.name}'; choose two different results")
    return x, y


def chosen(view: SweepView) -> tuple[tuple[Column, Column], str | None, str | None, list[str]]:
    """Which results are shown, and which axis has colours, marks (or is along lines), and panels.

    By default the algorithm has colours, or else the first axis of words, and the next axis,
    preferably one of numbers, has marks. Those that vary together with one of these need neither,
    nor do values that were drawn.
    """
    facets = list(view.options.facets or ())
    free = view.left(view.options.lines, *facets)
    lines = view.options.lines
    if lines is None:
        fitting = [axis for axis in free if len(view.levels(axis)) <= len(palette.FLOWS)]
        fitting.sort(key=lambda axis: (axis.split(".")[-1] not in _ALGORITHM, view.numeric(axis)))
        lines = next(iter(fitting), None)
    taken = [lines, *(view.together(lines) if lines else ())]
    rest = [axis for axis in free if axis not in taken]
    fitting = [a for a in rest if view.numeric(a) or len(view.levels(a)) <= len(MARKS)]
    marks = max(fitting, key=view.numeric, default=None)
    taken += [marks, *(view.together(marks) if marks else ())]
    return _results(view), lines, marks, [*facets, *(axis for axis in rest if axis not in taken)]


def _ends(group: Group) -> tuple[float, float]:
    value = group.value or 0.0
    return (max(0.0, group.interval.low), group.interval.high) if group.interval else (value, value)


def _span(found: Sequence[Group], size: float) -> tuple[float, float]:
    """From where to where an axis goes."""
    ends = np.array([_ends(group) for group in found]) / size
    low, high = float(ends.min()), float(ends.max())
    if low < _FAR * high or high <= 0:
        return 0.0, 1.08 * high or 1.0
    room = max(1.2 * (high - low), _NARROWEST * high)
    return (low + high - room) / 2, (low + high + room) / 2


def _draw(
    axes: Axes,
    points: Points,
    sizes: Sequence[float],
    looks: Mapping[Any, str],
    color: str,
    words: Mapping[Any, str],
    style: Mapping[str, Any],
) -> list[Number]:
    """Draw the points of one colour; with words for their marks, as a path.

    Returns:
        Words to write along the path, with the places of their marks.
    """
    at = {key: _place(point, sizes) for key, point in points.items()}
    order = [key for kind in words for key in points if key[0] == kind]
    if order:
        axes.plot(*np.transpose([at[key] for key in order]), color=color, lw=0.8, alpha=0.5)
    for mark in dict.fromkeys(looks.values()) or ("o",):
        mine = [place for key, place in at.items() if not looks or looks[key[0]] == mark]
        if mine:
            where = np.transpose(mine)
            axes.plot(*where, mark, color=color, clip_on=False, zorder=3, **style)
    bars: dict[str, Any] = {"color": color, "lw": 1.0, "alpha": 0.6, "zorder": 2.8}
    for along, (lay, size) in enumerate(zip((axes.hlines, axes.vlines), sizes, strict=True)):
        sure = {key: point[along] for key, point in points.items() if point[along].interval}
        if sure:
            ends = np.transpose([_ends(group) for group in sure.values()]) / size
            lay([at[key][1 - along] for key in sure], *ends, **bars)
    named = order if len(order) <= _MOST_NUMBERS else (order[0], order[-1])
    return [(words[key[0]], at[key]) for key in named]


def _place(point: tuple[Group, Group], sizes: Sequence[float]) -> tuple[float, float]:
    """Where a mark is, in the units of the axes."""
    x, y = ((group.value or 0.0) / size for group, size in zip(point, sizes, strict=True))
    return x, y


def _write(
    axes: Axes,
    numbers: Sequence[Number],
    marked: Sequence[tuple[float, float]],
    spans: Sequence[tuple[float, float]],
    size_mm: tuple[float, float],
) -> bool:
    """Write numbers beside marks where they cover neither marks nor each other.

    Args:
        axes: The panel.
        numbers: What to write, and beside which mark.
        marked: Places of all marks.
        spans: From where to where the axes go.
        size_mm: Width and height of the panel.

    Returns:
        Whether all of them had room.
    """
    low, high = np.transpose(spans)

    def on_paper(place: tuple[float, float]) -> Floats:
        return (np.array(place) - low) / (high - low) * size_mm

    mark, off, tall = (points * text.MM_PER_POINT for points in (_MARK / 2, _OFF, _NUMBER))
    taken = [(at - mark, at + mark) for at in map(on_paper, marked)]
    complete = True
    for word, place in numbers:
        at, wide = on_paper(place), text.width_mm(word, _NUMBER)
        for right, up in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            aside = off if right > 0 else -off - wide, off if up > 0 else -off - tall
            corner = at + np.array(aside)
            box = corner, corner + np.array((wide, tall))
            free = all(np.any(box[1] <= one) or np.any(other <= box[0]) for one, other in taken)
            if free and np.all(corner >= 0):
                taken.append(box)
                style: dict[str, Any] = {"textcoords": "offset points", "size": _NUMBER}
                style |= {"ha": "left" if right > 0 else "right", "zorder": 4, "parse_math": False}
                style |= {"va": "bottom" if up > 0 else "top", "color": palette.FAINT_INK}
                axes.annotate(word, place, (right * _OFF, up * _OFF), **style)
                break
        else:
            complete = False
    return complete


def _notes(view: SweepView, results: tuple[Column, Column], points: Points) -> Iterator[str]:
    x, y = (column.name for column in results)
    if x.startswith(_LESS) and y.startswith(_MORE):
        yield "Better is up and to the left."
    intervals = [group.interval for point in points.values() for group in point if group.interval]
    if any(interval.low < interval.high for interval in intervals):
        yield f"Bars: 95 % confidence intervals of means over {view.replications} replications."
    elif intervals:
        yield "All replications have the same values: there are no bars."
    if view.sampled:
        yield f"Each mark is one of the {view.meant}."
    yield from view.pooled(apart=True)
    yield from view.left_out(*results)
