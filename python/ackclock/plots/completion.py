"""Figure: how long transfers take: the distribution of completion times, and each by its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from ackclock.arrays import Floats
from ackclock.errors import listed
from ackclock.tables.groups import ranked

from . import heading, palette, quantities
from .errors import PlotError
from .facets import Facets
from .sweep_view import SweepView
from .view import View

_TITLE = "Flow completion times"
_MOST = 12
_FEW_SIZES = 4
"""With fewer different sizes there is nothing to see against the size."""
_BINS = 12
_SHARES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


class Transfers(NamedTuple):
    """Transfers that share a line.

    Attributes:
        name: What they are called.
        seconds: Completion times, ascending, of those that finished; shape (n,).
        size_bytes: Their sizes in the same order, where they are known; shape (n,).
        count: How many were started, with those that did not finish.
    """

    name: str
    seconds: Floats
    size_bytes: Floats
    count: int


def draw(views: Sequence[View]) -> Figure:
    """The transfers of a run by their congestion control, or those of several runs."""
    several = len(views) > 1
    held: dict[str, list[tuple[float | None, float]]] = {}
    runs: list[str] = []
    for number, view in enumerate(views, 1):
        run = heading.run_name(view, number)
        runs.append(f"{run} ({number})" if run in runs else run)
        for name in view.flows:
            flow = view.summary["flows"][name]
            begun = flow["start_s"] < view.summary["end_s"]
            if begun and (view.flow(name).get("send_bytes") is not None):
                key = runs[-1] if several else flow.get("label") or name
                size = float(flow.get("bytes_offered") or 0.0)
                held.setdefault(key, []).append((flow.get("completion_s"), size))
    view = views[0]
    words = (
        heading.of_runs(views)[1:]
        if several
        else (heading.title(view), heading.caption(view, figures=True))
    )
    return _figure(_sorted(held), view.width_mm, *words)


def draw_sweep(view: SweepView) -> Figure:
    """A line for each combination of a sweep, over its flows and replications.

    Which flows have an end is not kept: those that finish in no run are left out.

    Raises:
        PlotError: too many combinations for one figure.
    """
    table, keys = view.flows(), view.left("flow")
    begun = view.begun(table)
    columns = (table.values(name) for name in keys)
    flows, times = table.values("flow"), table.values("completion_s")
    ending = {flow for flow, time in zip(flows, times, strict=True) if time is not None}
    held: dict[str, list[tuple[float | None, float]]] = {}
    for start, flow, time, *key in zip(begun, flows, times, *columns, strict=True):
        if start and flow in ending:
            held.setdefault(view.words(keys, tuple(key)) or "all runs", []).append((time, 0.0))
    endless = sorted({*map(str, flows)} - {*map(str, ending)})
    notes = [f"Left out, since they finish in no run: {listed(endless, 5)}."] if endless else []
    return _figure(_sorted(held), view.width_mm, view.subtitle(view.title), view.caption(), notes)


def _sorted(held: dict[str, list[tuple[float | None, float]]]) -> list[Transfers]:
    if len(held) > _MOST:
        raise PlotError(f"{len(held)} lines are too many; choose some with --where or --flows")
    found = []
    for name, transfers in held.items():
        done = sorted((time, size) for time, size in transfers if time is not None)
        seconds, sizes = np.array(done, np.float64).reshape(-1, 2).T
        found.append(Transfers(name, seconds, sizes, len(transfers)))
    return found


def _figure(
    groups: Sequence[Transfers],
    width_mm: float,
    subtitle: str,
    caption: str,
    notes: Sequence[str] = (),
) -> Figure:
    drawn = [group for group in groups if len(group.seconds) and group.seconds[0] > 0]
    sized = [group for group in drawn if len(set(group.size_bytes)) >= _FEW_SIZES]
    count = 1 + bool(sized)
    across = count if width_mm > 120 else 1
    page = Facets(
        width_mm, _TITLE, subtitle, caption, count, across, 60.0, gap_mm=15.0, between_mm=12.0
    )
    if not drawn:
        return page.empty("no transfer finished")
    colors = palette.flow_colors([group.name for group in groups], [g.name for g in groups])
    unit = quantities.span_unit(max(float(group.seconds[-1]) for group in drawn))
    _distribution(page.axes[0], drawn, colors, unit)
    if sized:
        _by_size(page.axes[1], sized, colors, unit)
        page.notes.append("Dots: transfers. Line through them: the median of each range of sizes.")
    page.notes += notes
    page.legend = [(_handle(colors[group.name]), _called(group)) for group in groups]
    if any(len(group.seconds) < group.count for group in groups):
        page.notes.append("A line that ends below 100 %: the others had not finished.")
    return page.finish()


def _called(group: Transfers) -> str:
    if not len(group.seconds):
        return f"{group.name}: none of {group.count} finished"
    unit = quantities.span_unit(float(group.seconds[-1]))
    median, p99 = (
        f"{quantities.number(ranked(share)(group.seconds.tolist()) / unit.size)} {unit.name}"
        for share in (0.5, 0.99)
    )
    return f"{group.name}: median {median}, 99th percentile {p99} ({len(group.seconds)} transfers)"


def _handle(color: str) -> Line2D:
    return Line2D([], [], color=color, lw=1.4)


def _distribution(
    axes: Axes, groups: Sequence[Transfers], colors: dict[str, str], unit: quantities.Unit
) -> None:
    """Which share of the transfers had taken no longer than this."""
    for group in groups:
        done = np.arange(1, len(group.seconds) + 1) / group.count
        times = np.concatenate((group.seconds[:1], group.seconds)) / unit.size
        axes.step(
            times, np.concatenate(([0.0], done)), where="post", color=colors[group.name], lw=1.2
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_yticks(_SHARES, [f"{100 * share:g} %" for share in _SHARES])
    axes.set_xlabel(f"Completion time ({unit.name})", labelpad=2)
    axes.set_ylabel("Transfers", labelpad=2)
    _plain(axes.xaxis)


def _by_size(
    axes: Axes, groups: Sequence[Transfers], colors: dict[str, str], unit: quantities.Unit
) -> None:
    """Each transfer by its size, and medians."""
    sizes = quantities.size_unit(max(float(group.size_bytes.max()) for group in groups))
    for group in groups:
        color = colors[group.name]
        x, y = group.size_bytes / sizes.size, group.seconds / unit.size
        axes.plot(x, y, ".", color=color, ms=2.5, alpha=0.35, mew=0, zorder=2)
        order = np.argsort(x, kind="stable")
        parts = np.array_split(order, min(_BINS, max(1, len(order) // 5)))
        middle = [(float(np.median(x[part])), float(np.median(y[part]))) for part in parts]
        axes.plot(*zip(*middle, strict=True), color=color, lw=1.2, zorder=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.04)
    axes.set_xlabel(f"Size ({sizes.name})", labelpad=2)
    axes.set_ylabel(f"Completion time ({unit.name})", labelpad=2)
    _plain(axes.xaxis)
    _plain(axes.yaxis)


def _plain(axis: Any) -> None:
    """Numbers as people write them."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
