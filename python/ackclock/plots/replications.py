"""Figure: how a quantity is distributed over replications, and how heavy its tail is.

It shows many runs by their figures, without records, and so is no entry of the registry, whose
plots draw runs. `ackclock replicate --plot` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.metrics.statistics import Statistics

from . import palette, quantities
from .errors import PlotError, unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MM = 1 / 25.4  # inches
_FORMATS = ("png", "svg", "pdf")
_PNG_PIXELS = 1200
_PANEL_MM = 52.0
_LEFT, _RIGHT, _HEAD, _LEGEND_ROW, _AXIS, _FOOT = 14.0, 4.0, 12.0, 3.6, 11.0, 5.0

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

    values: NDArray[np.float64]
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
    kind = require_format(path)
    drawn = figure(samples, title=title, quantity=quantity, unit=unit, caption=caption)
    # Nothing that differs between two runs of this program.
    metadata = {
        "png": {"Software": "Ackclock", "Title": title},
        "svg": {"Creator": "Ackclock", "Title": title, "Date": None},
        "pdf": {"Creator": "Ackclock", "Title": title, "CreationDate": None},
    }[kind]
    with _style():
        dpi = _PNG_PIXELS / drawn.get_size_inches()[0]
        drawn.savefig(path, format=kind, dpi=dpi, metadata=metadata)


def require_format(path: Path) -> str:
    """Return the format of a file by its suffix.

    Raises:
        PlotError: it is none of png, svg, pdf.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in _FORMATS:
        raise unknown("format", kind or str(path), _FORMATS)
    return kind


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
    panels = 2 if heavy else 1
    legend_mm = _LEGEND_ROW * math.ceil(len(drawn) / 4)
    height_mm = _HEAD + panels * (legend_mm + _PANEL_MM + _AXIS) + _FOOT
    with _style():
        page = Figure(figsize=(width_mm * _MM, height_mm * _MM))
        for i in range(panels):
            top = _HEAD + legend_mm + i * (legend_mm + _PANEL_MM + _AXIS)
            axes = page.add_axes(
                (
                    _LEFT / width_mm,
                    1 - (top + _PANEL_MM) / height_mm,
                    1 - (_LEFT + _RIGHT) / width_mm,
                    _PANEL_MM / height_mm,
                )
            )
            axes.set_xmargin(0.02)
            if logarithmic:
                axes.set_xscale("log")
            fill = _fill_tail if i else _fill_distribution
            for name, sample in drawn.items():
                fill(axes, name, sample, colors[name])
            _dress(axes, quantity, unit)
        _write_texts(page, title, caption, width_mm, height_mm)
    return page


def _is_wide(sample: Sample) -> bool:
    above = sample.values[sample.values > 0]
    if not above.size:
        return False
    low, high = np.quantile(above, [0.05, 0.95], method="inverted_cdf")
    return bool(high > _WIDE * low) or _is_heavy(sample)


def _is_heavy(sample: Sample) -> bool:
    tail = sample.statistics.tail
    return tail is not None and tail.value < _HEAVY


def _fill_distribution(axes: Axes, name: str, sample: Sample, color: str) -> None:
    statistics = sample.statistics
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
    axes.set_yticks([q.share for q in statistics.quantiles] + [1.0])
    axes.set_yticklabels([f"{q.share * 100:g} %" for q in statistics.quantiles] + ["100 %"])
    axes.set_ylabel("Replications up to this value", size=7)


def _fill_tail(axes: Axes, name: str, sample: Sample, color: str) -> None:
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
        axes.plot(
            reach,
            share * (reach / tail.threshold) ** -tail.value,
            color=color,
            lw=0.9,
            ls=palette.DASHES["dashed"],
            zorder=4,
        )
    axes.step(values[keep], above[keep], where="post", color=color, lw=1.1, label=label)
    axes.set_yscale("log")
    axes.set_ylabel("Share above, of those finished", size=7)


def _dress(axes: Axes, quantity: str, unit: str) -> None:
    axes.set_xlabel(f"{quantity} ({unit})" if unit else quantity, size=7, labelpad=2)
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=4,
        fontsize=6.8,
        labelcolor=palette.INK,
        borderpad=0,
        borderaxespad=0.2,
        handlelength=1.6,
    )
    for words in legend.get_texts():
        words.set_parse_math(False)


def _write_texts(page: Figure, title: str, caption: str, width_mm: float, height_mm: float) -> None:
    left = 3 / width_mm
    page.text(
        left, 1 - 5 / height_mm, title, size=9.5, weight="bold", color=palette.INK, parse_math=False
    )
    page.text(left, 2 / height_mm, caption, size=5.8, color=palette.FAINT_INK, parse_math=False)


def _style():  # noqa: ANN202  # the type of matplotlib's context has no public name
    with resources.as_file(resources.files("ackclock.plots") / "ackclock.mplstyle") as path:
        return mpl.rc_context(fname=str(path))
