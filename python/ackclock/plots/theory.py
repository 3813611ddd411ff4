"""Figure: what theory predicts beside what the run measured: rates, windows, queues, RTTs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ackclock.theory import TheoryError, compare, predict
from ackclock.theory.comparison import ComparedPeriod, Comparison

from . import heading, palette, quantities, text
from .errors import PlotError
from .facets import Facets
from .panel import ROUND
from .view import View

_MOST = 12
_QUEUED = 0.5
"""Packets; a link with less of a queue, in theory and run, is not drawn beside others."""
_NAME = 7.0
"""Size of the names below panels, points."""
_HEADS = {
    "rate": "Rate",
    "window": "Window",
    "path-queue": "Queue on the path",
    "link-queue": "Queue",
    "queue": "Queue",
    "rtt": "Round-trip time",
}


@dataclass(frozen=True)
class Pair:
    """A figure of theory, which may be a range, and what the run gave."""

    subject: str
    low: float
    high: float
    measured: float


def draw(view: View) -> Figure:
    """Theory and run, a panel for each quantity.

    Raises:
        PlotError: there is no theory for this scenario, or nothing of it was measured.
    """
    results: Any = view.results
    try:
        comparison = compare(predict(view.model), results)
    except TheoryError as error:
        raise PlotError(f"no theory for this scenario: {error}") from None
    hidden = set(view.summary["flows"]) - set(view.flows)
    found = pairs(comparison, hidden)
    if not found:
        raise PlotError("nothing to draw: theory predicts nothing that this run has measured")
    rate = quantities.rate_unit(_highest(found.get("rate", [])), binary=view.binary_rates)
    span = quantities.span_unit(_highest(found.get("rtt", [])))
    units = dict.fromkeys(_HEADS, quantities.Unit("packets", 1.0)) | {"rate": rate, "rtt": span}
    words = "Theory and run", heading.title(view), heading.caption(view, figures=True)
    page = Facets(view.width_mm, *words, len(found), min(len(found), 3), 42.0)
    page.below_mm, page.between_mm, page.gap_mm = 5.0, 9.0, 11.0
    page.heads = [f"{_HEADS[name]} ({units[name].name})" for name in found]
    for (quantity, entries), axes in zip(found.items(), page.axes, strict=True):
        _fill(axes, entries, view.flow_color, units[quantity].size, page.panel_mm)
    page.notes.append("Box or line: theory. Dot: simulation.")
    if "link-queue" in found:
        page.notes.append("Links without a queue are not shown.")
    if (steady := _steady(comparison)) is not None:
        page.notes.append(f"Equilibrium from {steady.start_s:.4g} to {steady.end_s:.4g} s.")
    return page.finish()


def pairs(comparison: Comparison, hidden: set[str]) -> dict[str, list[Pair]]:
    """What both theory and run give, by quantity: of the longest steady part, and of averages.

    Args:
        comparison: Theory and run.
        hidden: Flows that are left out.
    """
    found: dict[str, list[Pair]] = {}

    def add(quantity: str, subject: str, ends: tuple[float, float], measured: float | None) -> None:
        known = found.setdefault(quantity, [])
        if measured is not None and subject not in hidden:
            known.append(Pair(subject, *ends, measured))

    if (steady := _steady(comparison)) is not None:
        for one in steady.figures:
            add(one.quantity, one.subject, one.ends, one.measured)
    for known in comparison.averages:
        for one in known.figures:
            estimate = one.estimate
            add(estimate.quantity, estimate.subject, (estimate.low, estimate.high), one.measured)
    links = found.get("link-queue", [])
    if queued := [one for one in links if max(one.high, one.measured) >= _QUEUED]:
        found["link-queue"] = queued
    return {quantity: entries[:_MOST] for quantity, entries in found.items() if entries}


def _steady(comparison: Comparison) -> ComparedPeriod | None:
    """The longest time with an equilibrium."""
    steady = [period for period in comparison.periods if period.figures]
    return max(steady, key=lambda one: one.end_s - one.start_s, default=None)


def _highest(entries: list[Pair]) -> float:
    return max((max(one.high, one.measured) for one in entries), default=0.0)


def _fill(
    axes: Axes, entries: list[Pair], colors: Mapping[str, str], size: float, width_mm: float
) -> None:
    highest = max(_highest(entries) / size, 1e-12)
    for place, one in enumerate(entries):
        color = colors.get(one.subject, palette.INK)
        low, high = one.low / size, one.high / size
        # A single figure is a box that is as thin as a line.
        least = 0.012 * highest
        axes.bar(place, max(high - low, least), 0.62, low, color=color, alpha=0.35, zorder=2)
        axes.plot([place], [one.measured / size], "o", color=color, ms=4, zorder=3)
    axes.set_ylim(0, 1.15 * highest)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=ROUND))
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(entries) - 0.4)
    room_mm = width_mm / len(entries) - 1.5
    names = [text.short(_short(one.subject), room_mm, _NAME) for one in entries]
    axes.set_xticks(range(len(entries)), names)
    axes.tick_params(axis="x", length=0, labelsize=_NAME)


def _short(subject: str) -> str:
    """The name of a flow or link; of several flows together, how many these are."""
    together = subject.count(" + ")
    return f"{together + 1} flows" if together else subject.removesuffix(" forward")
