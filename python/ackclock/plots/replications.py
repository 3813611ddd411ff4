"""Figure: how a quantity is distributed over replications, and how heavy its tail is.

It shows many runs by their figures, without records, and so is not an entry of the registry, whose
plots draw runs. `ackclock replicate --plot` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ackclock.arrays import Floats
from ackclock.metrics.statistics import Statistics

from . import palette, quantities, saving
from .errors import PlotError
from .panel import Panel
from .sheet import Page

_HEIGHT_MM = 52.0
_BELOW_MM = {True: 8.8, False: 7.6}
"""Room below: powers of ten on a logarithmic axis are higher than plain numbers."""

_HEAVY = 2.0
"""Below this tail index a variance does not exist, and a linear axis would show one value."""
_WIDE = 50.0
"""With the 95 % quantile more than this times the 5 % quantile, a linear axis hides the rest."""


@dataclass(frozen=True)
class Sample:
    """One curve.

    Attributes:
        values: One a replication, NaN where it never happened; shape (n,).
        statistics: Of these values.
        cut_off: In how many of the replications without a value it would have come later, had
            they not been ended. In the others it would never have come.
    """

    values: Floats
    statistics: Statistics
    cut_off: int = 0


def write(
    path: Path, samples: Mapping[str, Sample], *, title: str, quantity: str, unit: str, caption: str
) -> None:
    """Draw the figure into a file, whose suffix says the format: .png, .svg or .pdf.

    Arguments as in `figure`.

    Raises:
        PlotError: a suffix of no such format, or nothing to draw.
        OSError: the file cannot be written.
    """
    require_format(path)
    drawn = figure(samples, title=title, quantity=quantity, unit=unit, caption=caption)
    saving.save(drawn, path, title)


def require_format(path: Path) -> None:
    """Check that the suffix of a file names a format.

    Raises:
        PlotError: it is none of png, svg, pdf.
    """
    saving.require_format(path.suffix.removeprefix(".").lower() or str(path))


def figure(
    samples: Mapping[str, Sample],
    *,
    title: str,
    quantity: str,
    unit: str,
    caption: str = "",
    width_mm: float = 180.0,
) -> Figure:
    """Draw the share of replications up to each value, with quantiles and their intervals.

    A curve that does not reach 1 stops at the share of replications in which it happened. With a
    heavy tail the axis is logarithmic, and a second panel shows the share above each value, of the
    replications in which it happened, on two logarithmic axes, with the estimated tail index.

    Args:
        samples: By the name of the flow.
        title: Heading.
        quantity: What is shown.
        unit: Its unit; empty for counts.
        caption: Written below.
        width_mm: Width on paper.

    Raises:
        PlotError: there is no replication with a value.
    """
    drawn = {name: s for name, s in samples.items() if not np.isnan(s.values).all()}
    if not drawn:
        raise PlotError(f"nothing to draw: '{quantity}' has no value in any replication")
    colors = palette.flow_colors(list(samples), list(samples))
    # Zeros have no place on a logarithmic axis; a share of them shows at its left end.
    logarithmic = any(map(_is_wide, drawn.values()))
    heavy = logarithmic and any(map(_is_heavy, drawn.values()))
    fills = [_fill_distribution, _fill_tail] if heavy else [_fill_distribution]
    with saving.style():
        across = f"{quantity} ({unit})" if unit else quantity
        below = _BELOW_MM[logarithmic]
        page = Page(width_mm, title, "", caption, across, below_mm=below)
        for fill in fills:
            panel = page.put(_HEIGHT_MM)
            panel.axes.set_xmargin(0.02)
            panel.axes.sharex(page.panels[0].axes)
            if logarithmic:
                panel.axes.set_xscale("log")
            for name, sample in drawn.items():
                fill(panel, name, sample, colors[name])
        return page.finish()


def _is_wide(sample: Sample) -> bool:
    above = sample.values[sample.values > 0]
    if not above.size:
        return False
    low, high = np.quantile(above, [0.05, 0.95], method="inverted_cdf")
    return bool(high > _WIDE * low) or _is_heavy(sample)


def _is_heavy(sample: Sample) -> bool:
    tail = sample.statistics.tail
    return tail is not None and tail.value < _HEAVY


def _fill_distribution(panel: Panel, name: str, sample: Sample, color: str) -> None:
    axes, statistics = panel.axes, sample.statistics
    found = np.sort(sample.values[~np.isnan(sample.values)])
    total = statistics.count
    values, places = np.unique(found, return_index=True)
    shares = np.append(places[1:], found.size) / total
    label = name
    if statistics.missing.count:
        label += f" ({quantities.number(statistics.missing.value * 100)} % unfinished)"
        axes.axhline(found.size / total, color=color, lw=0.7, ls=palette.DASHES["dotted"], zorder=2)
    start = np.concatenate(([values[0]], values))
    axes.step(
        start, np.concatenate(([0.0], shares)), where="post", color=color, lw=1.1, label=label
    )
    for mark in statistics.quantiles:
        if math.isfinite(mark.value) and (mark.value > 0 or axes.get_xscale() == "linear"):
            low = mark.low if mark.low_rank and math.isfinite(mark.low) else mark.value
            high = mark.high if math.isfinite(mark.high) else mark.value
            axes.plot([low, high], [mark.share] * 2, color=color, lw=2.4, alpha=0.35, zorder=3)
            axes.plot([mark.value], [mark.share], "o", color=color, ms=3.2, mew=0, zorder=4)
    axes.set_ylim(0, 1.02)
    ticks = [*(q.share for q in statistics.quantiles), 1.0]
    axes.set_yticks(ticks, [f"{share * 100:g} %" for share in ticks])
    panel.title = "Replications up to this value"
    panel.entry(label, color)


def _fill_tail(panel: Panel, name: str, sample: Sample, color: str) -> None:
    axes = panel.axes
    found = np.sort(sample.values[sample.values > 0])
    total = int((~np.isnan(sample.values)).sum()) + sample.cut_off
    values, places = np.unique(found, return_index=True)
    above = (found.size + sample.cut_off - np.append(places[1:], found.size)) / total
    keep = above > 0
    label = name
    tail = sample.statistics.tail
    if tail is not None and math.isfinite(tail.value):
        label += f" (tail index {tail.value:.2g}, {tail.low:.2g} to {tail.high:.2g})"
        # From the share that was measured at the threshold.
        share = (int((found > tail.threshold).sum()) + sample.cut_off) / total
        reach = np.array([tail.threshold, found[-1]])
        power = share * (reach / tail.threshold) ** -tail.value
        axes.plot(reach, power, color=color, lw=0.9, ls=palette.DASHES["dashed"], zorder=4)
    axes.step(values[keep], above[keep], where="post", color=color, lw=1.1, label=label)
    axes.set_yscale("log")
    panel.title = "Share above this value, of those finished"
    panel.entry(label, color)
