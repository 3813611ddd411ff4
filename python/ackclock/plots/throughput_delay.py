"""Figure: goodput against round-trip time, a point for each flow; better is up and to the right.

As in Winstein, Balakrishnan, "TCP ex Machina" (SIGCOMM 2013): the delay grows to the left, and an
ellipse holds one standard deviation of the replications along its axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
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
from .legends import Entry
from .palette import MARKS
from .sweep_view import SweepView
from .view import View

_MOST = 40
_MOST_NAMED = 12
"""With more combinations than this, colours and marks stand for a part of their keys each."""
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
    notes = _not_drawn(missing, clouds)
    return _figure(clouds, view.width_mm, subtitle, words[2], notes, binary=view.binary_rates)


def draw_sweep(view: SweepView) -> Figure:
    """Points of a sweep: a colour for each flow and combination of axes, a point a replication.

    Raises:
        PlotError: too many combinations for one figure.
    """
    table, keys = view.flows(), view.left("flow")
    keys += ["flow"] if len(table.different("flow")) > 1 else []
    held: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    missing = 0
    columns = (table.values(name) for name in keys)
    figures = zip(table.values("rtt_s_mean"), table.values("goodput_bps"), strict=True)
    for *key, (rtt, goodput) in zip(*columns, figures, strict=True):
        missing += rtt is None
        if rtt is not None and goodput is not None:
            held.setdefault(tuple(key), []).append((rtt, goodput))
    if len(held) > _MOST:
        raise PlotError(f"{len(held)} groups of points are too many; choose some with --where")
    marked = _marked(keys, held)
    names = [_called(view, keys, key, without=marked) for key in held]
    kinds = [key[marked] for key in held] if marked is not None else names
    colors = palette.flow_colors(list(dict.fromkeys(names)), names)
    marks = dict(zip(dict.fromkeys(kinds), cycle(MARKS), strict=False))
    clouds = [
        Cloud(name, colors[name], marks[kind], rtts, goodputs, min(rtts))
        for name, kind, points in zip(names, kinds, held.values(), strict=True)
        for rtts, goodputs in [zip(*points, strict=True)]
    ]
    legend: list[Entry] = []
    if marked is not None:
        own = [_called(view, [keys[marked]], (kind,)) for kind in marks]
        legend = [(_handle("o", colors[name]), name) for name in dict.fromkeys(names)]
        legend += [(_handle(m, palette.INK), w) for m, w in zip(marks.values(), own, strict=True)]
    points = "points of the sample" if view.sampled else "replications"
    words = view.subtitle(view.title), view.caption()
    notes = [*_not_drawn(missing, clouds), *view.explained(keys)]
    return _figure(clouds, view.width_mm, *words, notes, legend=legend, points=points)


def _not_drawn(missing: int, clouds: Sequence[Cloud]) -> list[str]:
    return [f"Not drawn: {missing} without an RTT sample."] if missing and clouds else []


def _called(
    view: SweepView, keys: Sequence[str], key: Sequence[Any], without: int | None = None
) -> str:
    """What a combination of values is called; a flow by its name alone."""
    kept = [(k, v) for i, (k, v) in enumerate(zip(keys, key, strict=True)) if i != without]
    parts = [str(v) if k == "flow" else view.words([k], (v,)) for k, v in kept]
    return ", ".join(parts) or "all runs"


def _marked(keys: Sequence[str], held: Iterable[Sequence[Any]]) -> int | None:
    """Of very many combinations, the key whose values have marks, and the others colours.

    It is the one that leaves the fewest colours; none where each combination has its own mark.
    """
    found = list(held)
    counts = {i: len({key[i] for key in found}) for i in range(len(keys))}
    fitting = [i for i, count in counts.items() if 1 < count <= len(MARKS)]
    if len(found) <= _MOST_NAMED or len(fitting) < 2:
        return None
    return max(reversed(fitting), key=lambda i: counts[i])


def _figure(
    clouds: Sequence[Cloud],
    width_mm: float,
    subtitle: str,
    caption: str,
    notes: Sequence[str] = (),
    *,
    legend: Sequence[Entry] = (),
    points: str = "replications",
    binary: bool = False,
) -> Figure:
    highest = max((max(cloud.goodput_bps) for cloud in clouds), default=1.0)
    longest = max((max(cloud.rtt_s) for cloud in clouds), default=1.0)
    rate, span = quantities.rate_unit(highest, binary=binary), quantities.span_unit(longest)
    title, height = "Goodput against round-trip time", min(90.0, 0.55 * width_mm)
    page = Facets(width_mm, title, subtitle, caption, 1, 1, height)
    page.legend = [*legend] or [(_handle(c.mark, c.color), c.name) for c in clouds]
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


def _handle(mark: str, color: str) -> Line2D:
    return Line2D([], [], color=color, marker=mark, ls="", markersize=4)


def _draw(axes: Axes, cloud: Cloud, second: float, bit: float) -> None:
    points = np.column_stack((cloud.rtt_s, cloud.goodput_bps)) / (second, bit)
    several = len(points) > 2
    size, alpha = (2.5, 0.7) if several else (5.0, 1.0)
    style = {"color": cloud.color, "ms": size, "alpha": alpha, "zorder": 3, "clip_on": False}
    axes.plot(*points.T, cloud.mark, **style)
    if not several:
        return
    values, vectors = np.linalg.eigh(np.cov(points.T))
    width, height = 2 * np.sqrt(np.maximum(values, 0.0))
    turn = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
    look = {"fc": cloud.color, "ec": cloud.color, "alpha": 0.25, "zorder": 2}
    axes.add_patch(Ellipse(tuple(points.mean(axis=0)), width, height, angle=turn, **look))
