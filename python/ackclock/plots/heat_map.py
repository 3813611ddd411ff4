"""Figure of a sweep: a result over two axes, in colour and in numbers."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ackclock.tables.groups import groups
from ackclock.tables.shown import NEVER, decimals, unit_of

from . import palette, text
from .across import across
from .errors import PlotError
from .facets import TICKS
from .sweep_view import SweepView

_MAP = "cividis"  # made for colour-blind eyes, and grows in lightness (Nuñez et al. 2018)
_ROW_MM = 7.0


def draw(view: SweepView) -> Figure:
    """A result over two axes of a sweep, a panel for each combination of the others.

    Raises:
        PlotError: the sweep varies fewer than two axes, or too much for one figure.
    """
    x, y, facets = chosen(view)
    value = view.value()
    called = view.called(value)
    keys = [*facets, y, x]
    found = groups(view.chosen, keys, value.name, view.aggregate, replicated=False)
    known = [group.value or 0.0 for group in view.known(found, value)]
    unit, size = unit_of(value, known)
    scaled = {g.key: g.value / size for g in found if g.value is not None}
    places = decimals(list(scaled.values()), 3)
    cells = view.cells(facets)
    over, down = across(x, view.levels(x)), across(view.short(y), view.levels(y))
    widest = max(text.width_mm(label, TICKS) for label in down.labels)
    title = f"{called}{view.whose}{f' ({unit})' if unit else ''} over {x} and {y}"
    most = int((view.width_mm - 20) / (9.0 * len(over.labels) + 4.0))
    means = f"means over {view.meant}" if view.meant and not view.pooled() else ""
    height = _ROW_MM * len(down.labels)
    page = view.page(title, facets, most, height, means, left_mm=widest + 8.0)
    page.notes = [*view.explained([y, *facets]), *view.pooled(), *view.left_out(value)]
    low, high = min(known) / size, max(known) / size
    ramp = colormaps[_MAP]
    for index, (cell, axes) in enumerate(zip(cells, page.axes, strict=True)):
        grid = np.array(
            [[scaled.get((*cell, b, a), np.nan) for a in view.levels(x)] for b in view.levels(y)]
        )
        axes.imshow(
            np.where(np.isinf(grid), np.nan, grid),
            cmap=_MAP,
            vmin=low,
            vmax=high,
            aspect="auto",
            origin="lower",
        )
        for (row, column), number in np.ndenumerate(grid):
            if not np.isfinite(number):
                words, ink = "no run" if np.isnan(number) else NEVER, palette.FAINT_INK
            else:
                share = (number - low) / (high - low) if high > low else 0.5
                words, ink = f"{number:.{places}f}", palette.text_on(to_hex(ramp(share)))
            axes.text(column, row, words, ha="center", va="center", size=TICKS, color=ink)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        last, first = page.is_last(index), page.is_first(index)
        axes.set_xticks(range(len(over.labels)), over.labels if last else [], parse_math=False)
        axes.set_yticks(range(len(down.labels)), down.labels if first else [], parse_math=False)
        if last:
            axes.set_xlabel(over.label, labelpad=2, parse_math=False)
        if first:
            label = text.short(down.label, page.height_mm + 4.0, 7.0)
            axes.set_ylabel(label, labelpad=2, parse_math=False)
    return page.finish()


def chosen(view: SweepView) -> tuple[str, str, list[str]]:
    """Which axis runs along, which one up, and which have panels.

    Raises:
        PlotError: there are no two such axes.
    """
    asked = view.options
    facets = list(asked.facets or ())
    for axis in (asked.x, asked.y, *facets):
        if axis in view.sampled:
            raise PlotError(
                f"the values of '{axis}' were drawn and make no grid; --kind sweep-lines "
                f"--x '{axis}' shows a point for each of them"
            )
    free = view.left(asked.x, asked.y, *facets)
    # Numbers make better maps than words.
    free.sort(key=lambda axis: not view.numeric(axis))
    x = view.axis(asked.x) or (free.pop(0) if free else None)
    y = view.axis(asked.y) or (free.pop(0) if free else None)
    if x is None or y is None or x == y:
        drawn = "; those that were drawn make no grid" if view.sampled else ""
        raise PlotError(
            f"a heat map needs two different axes of the sweep with several values{drawn}"
        )
    return x, y, [*facets, *view.left(x, y, *facets)]
