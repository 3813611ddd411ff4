"""From a run to files: draws the plots asked for and writes them."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import registry, saving
from .errors import PlotError
from .options import Options
from .registry import Plot
from .timeline import figure as timeline_figure
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.metrics.percentiles import Recorded

    from .sweep_view import SweepView

_LOGGER = logging.getLogger("ackclock")
_MOST_APART = 100
"""Figures of one kind that are made of one run unless all are asked for."""


def write(
    runs: Sequence[Recorded],
    kinds: Sequence[str] | None,
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
    formats: Sequence[str],
    out: Path,
    options: Options,
) -> list[Path]:
    """See `ackclock.plots.plot`."""
    for name in formats:
        saving.require_format(name)
    asked = None if kinds is None else [registry.find(kind) for kind in dict.fromkeys(kinds)]
    written: list[Path] = []
    with saving.style(options):
        views = [View(results, flows, links, options) for results in runs]
        wanted = _unasked(views) if asked is None else asked
        _require_able(views, options, wanted)
        figures = [(plot, _parts(views, plot)) for plot in wanted]
        out.mkdir(parents=True, exist_ok=True)
        for plot, made in figures:
            for stem, parts in made:
                drawn = _draw(parts, plot)
                for name in formats:
                    path = out / f"{stem}.{name}"
                    _save(drawn, path, parts[0], plot)
                    written.append(path)
    return written


def write_sweep(
    view: SweepView, kinds: Sequence[str] | None, formats: Sequence[str], out: Path
) -> list[Path]:
    """See `ackclock.plots.plot_sweep`."""
    for name in formats:
        saving.require_format(name)
    wanted = _of_sweep(view) if kinds is None else [_able(kind) for kind in dict.fromkeys(kinds)]
    _require_heard(view.options, wanted)
    with saving.style(view.options):
        drawn = [(plot, plot.load_sweep()(view)) for plot in wanted]
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    shown = view.options.value
    for plot, figure in drawn:
        stem = f"{plot.name}-{_plain(shown)}" if shown and plot.knows("value") else plot.name
        for name in formats:
            path = out / f"{stem}.{name}"
            saving.save(figure, path, f"{view.name}: {plot.summary}", options=view.options)
            written.append(path)
    return written


def draw_sweep(view: SweepView, kind: str) -> Figure:
    """See `ackclock.plots.figure_of_sweep`."""
    plot = _able(kind)
    _require_heard(view.options, [plot])
    with saving.style(view.options):
        return plot.load_sweep()(view)


def _able(kind: str) -> Plot:
    plot = registry.find(kind)
    if not plot.sweep:
        able = ", ".join(other.name for other in registry.PLOTS if other.sweep)
        raise PlotError(
            f"the plot '{kind}' shows runs, this is a sweep; of sweeps there are: {able}"
        )
    return plot


def _of_sweep(view: SweepView) -> list[Plot]:
    """The plots that suit a sweep unasked."""
    count = len(view.varied)
    if not count:
        return [registry.find("fairness")]
    return [registry.find(name) for name in ("sweep-lines", "heat-map")[: min(count, 2)]]


def _require_heard(options: Options, wanted: Sequence[Plot]) -> None:
    """Raise if an option would be lost silently."""
    for option in options.asked():
        if not any(plot.knows(option) for plot in wanted):
            able = [plot.name for plot in registry.PLOTS if plot.knows(option)]
            word = option.removesuffix("_s").replace("_", "-")
            raise PlotError(f"'{word}' means nothing to the plots asked for; it does to {able[0]}")


def _require_able(views: Sequence[View], options: Options, wanted: Sequence[Plot]) -> None:
    """Raise if these plots cannot be drawn of these runs, or an option would be lost silently."""
    for plot in wanted:
        if plot.form == "sweep":
            raise PlotError(f"the plot '{plot.name}' shows a sweep, not runs")
        if len(views) != 1 and (plot.form not in ("runs", "panel") or not views):
            raise PlotError(f"the plot '{plot.name}' shows one run, not {len(views)}")
        for view in views:
            for table in plot.missing(view.recorded):
                view.need(table)
    _require_heard(options, wanted)


def _parts(views: Sequence[View], plot: Plot) -> list[tuple[str, Sequence[View]]]:
    """The figures of a plot: the name of each file, and what it shows of the runs."""
    view = views[0]
    if len(views) > 1:
        return [(plot.name, views)]
    together = view.options.together
    apart = plot.apart if together is None or not plot.knows("together") else not together
    if not apart or len(view.flows) < 2:
        return [(plot.name, views)]
    if together is None and len(view.flows) > _MOST_APART:
        raise PlotError(
            f"the plot '{plot.name}' makes a figure for each of {len(view.flows)} flows; choose "
            "some with --flows, draw all in one with --together, or ask for all with --apart"
        )
    return [(f"{plot.name}-{_plain(name)}", [view.of_flows([name])]) for name in view.flows]


def _plain(name: str) -> str:
    """A name without what a file name cannot hold."""
    return re.sub(r"[^\w.$-]", "_", name)


def draw(
    runs: Sequence[Recorded],
    kind: str,
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
    options: Options,
) -> Figure:
    """See `ackclock.plots.figure`."""
    plot = registry.find(kind)
    with saving.style(options):
        views = [View(results, flows, links, options) for results in runs]
        _require_able(views, options, [plot])
        return _draw(views, plot)


def _unasked(views: Sequence[View]) -> list[Plot]:
    """The default plots that these runs allow; says which ones they do not."""
    view = views[0]
    if len(views) > 1:
        return [registry.find("overview")]
    wanted: list[Plot] = []
    for plot in registry.PLOTS:
        if plot.default == "never":
            continue
        if missing := plot.missing(view.recorded):
            _LOGGER.info("no plot '%s': this run has not recorded %s", plot.name, missing[0])
            continue
        if plot.default == "changing-routes" and not view.route_changes:
            continue
        wanted.append(plot)
    return wanted


def _draw(views: Sequence[View], plot: Plot) -> Figure:
    if plot.form == "runs":
        return plot.load()(views)
    if plot.form == "panel":
        return timeline_figure(views, plot.parts())
    return plot.load()(views[0])


def _save(drawn: Figure, path: Path, view: View, plot: Plot) -> None:
    """Write a figure without anything that differs between two runs of this program."""
    version = view.summary.get("ackclock", "")
    creator = f"Ackclock {version}".strip()
    title = f"{view.summary.get('scenario') or view.model.get('name')}: {plot.summary}"
    saving.save(drawn, path, title, creator, view.options)
