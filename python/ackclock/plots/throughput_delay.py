"""Figure: goodput against round-trip time, a point for each flow; better is up and to the right.

As in Winstein, Balakrishnan, "TCP ex Machina" (SIGCOMM 2013): the delay grows to the left, and an
ellipse holds one standard deviation of the replications along its axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator

from . import heading, palette, quantities
from .errors import PlotError
from .facets import Facets
from .palette import MARKS
from .sweep_view import SweepView
from .view import View

_MOST = 40
_NARROWEST = 0.1
"""Least width of the RTT axis as a share of the longest RTT: small differences look small."""


@dataclass(frozen=True)
class Cloud:
    """Points of the same kind.

    Attributes:
        name: What they are called.
        color: Their colour.
        mark: Their mark.
        rtt_s: Round-trip times, means over runs; shape (n,).
        goodput_bps: Goodputs; shape (n,).
        least_s: The shortest round-trip time of all, where it is known; the axis reaches it, so
            that milliseconds of difference look small where queues add many.
    """

    name: str
    color: str
    mark: str
    rtt_s: Sequence[float]
    goodput_bps: Sequence[float]
    least_s: float


def draw(views: Sequence[View]) -> Figure:
    """A point for each flow of a run, or of several runs."""
    clouds: list[Cloud] = []
    missing = 0
    for number, view in enumerate(views):
        for flow in view.flows:
            found = view.summary["flows"][flow]
            rtt = found.get("rtt_s")
            missing += not rtt
            if rtt:
                name = f"{flow} ({heading.algorithm(view.flow(flow))})"
                name += f", {heading.run_name(view, number + 1)}" if len(views) > 1 else ""
                look = view.flow_color[flow], MARKS[number % len(MARKS)]
                goodput = found["goodput_bps"]
                clouds.append(Cloud(name, *look, [rtt["mean"]], [goodput], rtt["min"]))
    view, several = views[0], len(views) > 1
    words = (
        heading.of_runs(views)
        if several
        else (heading.title(view), "", heading.caption(view, figures=True))
    )
    subtitle = words[1] if several else words[0]
    notes = [f"Not drawn: {missing} without an RTT sample."] if missing and clouds else []
    return _figure(clouds, view.width_mm, subtitle, words[2], notes, binary=view.binary_rates)


def draw_sweep(view: SweepView) -> Figure:
    """Points of a sweep: a colour for each flow and combination of axes, a point a replication.

    Raises:
        PlotError: too many combinations for one figure.
    """
    table, axes = view.flows(), view.left("flow")
    keys = [*axes, "flow"] if len(table.different("flow")) > 1 else axes
    held: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    columns = (table.values(name) for name in keys)
    figures = zip(table.values("rtt_s_mean"), table.values("goodput_bps"), strict=True)
    for *key, (rtt, goodput) in zip(*columns, figures, strict=True):
        if rtt is not None and goodput is not None:
            held.setdefault(tuple(key), []).append((rtt, goodput))
    if len(held) > _MOST:
        raise PlotError(f"{len(held)} groups of points are too many; choose some with --where")
    cells = [(view.words(axes, key[: len(axes)]), *key[len(axes) :]) for key in held]
    names = [", ".join(filter(None, cell)) or "all runs" for cell in cells]
    colors = palette.flow_colors(names, names)
    clouds = [
        Cloud(name, colors[name], MARKS[i % len(MARKS)], rtts, goodputs, min(rtts))
        for i, (name, points) in enumerate(zip(names, held.values(), strict=True))
        for rtts, goodputs in [zip(*points, strict=True)]
    ]
    points = "points of the sample" if view.sampled else "replications"
    words = view.subtitle(view.title), view.caption()
    return _figure(clouds, view.width_mm, *words, points=points)


def _figure(
    clouds: Sequence[Cloud],
    width_mm: float,
    subtitle: str,
    caption: str,
    notes: Sequence[str] = (),
    *,
    points: str = "replications",
    binary: bool = False,
) -> Figure:
    highest = max((max(cloud.goodput_bps) for cloud in clouds), default=1.0)
    longest = max((max(cloud.rtt_s) for cloud in clouds), default=1.0)
    rate, span = quantities.rate_unit(highest, binary=binary), quantities.span_unit(longest)
    title, height = "Goodput against round-trip time", min(90.0, 0.55 * width_mm)
    page = Facets(width_mm, title, subtitle, caption, 1, 1, height)
    marks = [Line2D([], [], color=c.color, marker=c.mark, ls="", markersize=4) for c in clouds]
    page.legend = [(mark, c.name) for mark, c in zip(marks, clouds, strict=True)]
    if not clouds:
        return page.empty("no flow has a round-trip time")
    axes = page.axes[0]
    for cloud in clouds:
        _draw(axes, cloud, span.size, rate.size)
    shortest = min(cloud.least_s for cloud in clouds)
    room = max(longest - shortest, _NARROWEST * longest)
    ends = (longest + shortest + np.array((-1.2, 1.2)) * room) / 2
    axes.set_xlim(*(ends / span.size))
    axes.set_ylim(0, 1.1 * highest / rate.size or 1.0)
    axes.invert_xaxis()
    axes.set_xlabel(f"Mean round-trip time ({span.name}), decreasing to the right", labelpad=2)
    axes.set_ylabel(f"Goodput ({rate.name})", labelpad=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6))
    page.notes += ["The upper right is best.", *notes]
    if any(len(cloud.rtt_s) > 2 for cloud in clouds):
        page.notes.append(f"Points: {points}. Ellipses: one standard deviation.")
    return page.finish()


def _draw(axes: Axes, cloud: Cloud, second: float, bit: float) -> None:
    points = np.column_stack((cloud.rtt_s, cloud.goodput_bps)) / (second, bit)
    several = len(points) > 2
    size, alpha = (2.5, 0.7) if several else (5.0, 1.0)
    axes.plot(*points.T, cloud.mark, color=cloud.color, ms=size, alpha=alpha, zorder=3)
    if not several:
        return
    values, vectors = np.linalg.eigh(np.cov(points.T))
    width, height = 2 * np.sqrt(np.maximum(values, 0.0))
    turn = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
    look = {"fc": cloud.color, "ec": cloud.color, "alpha": 0.25, "zorder": 2}
    axes.add_patch(Ellipse(tuple(points.mean(axis=0)), width, height, angle=turn, **look))
