"""From a run to files: draws the plots asked for and writes them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ackclock.errors import names_of

from . import registry, saving
from .errors import PlotError
from .options import Options
from .registry import Plot
from .timeline import figure as timeline_figure
from .view import View

if TYPE_CHECKING:
    from ackclock.metrics.percentiles import Recorded

    from .sweep_view import SweepView

_LOGGER = logging.getLogger("ackclock")
_MOST_APART = 100
"""Figures of one kind that are made of one run unless all are asked for."""


def write(
    runs: Sequence[Recorded],
    kinds: str | Sequence[str] | None,
    flows: str | Sequence[str] | None,
    links: str | Sequence[str] | None,
    formats: Sequence[str],
    out: Path,
    options: Options,
) -> list[Path]:
    """See `ackclock.plots.plot`."""
    asked = None if kinds is None else [registry.find(kind) for kind in _kinds(kinds)]
    with saving.style(options):
        views = [View(results, flows, links, options) for results in runs]
        wanted = _unasked(views) if asked is None else asked
        _require_able(views, options, wanted)
        figures = [(plot, *one) for plot in wanted for one in _parts(views, plot)]
        drawn = ((plot, stem, _draw(parts, plot)) for plot, stem, parts in figures)
        summary = views[0].summary
        name = str(summary.get("scenario") or views[0].model.get("name"))
        creator = f"Ackclock {summary.get('ackclock', '')}".strip()
        return _save(drawn, formats, out, name, creator, options)


def write_sweep(
    view: SweepView, kinds: str | Sequence[str] | None, formats: Sequence[str], out: Path
) -> list[Path]:
    """See `ackclock.plots.plot_sweep`."""
    wanted = _of_sweep(view) if kinds is None else [_able(kind) for kind in _kinds(kinds)]
    _require_heard(view.options, wanted)
    for plot in wanted:
        plot.require_sweep(view)
    with saving.style(view.options):
        drawn = [(plot, _stem(plot, view.options), plot.load_sweep()(view)) for plot in wanted]
    return _save(drawn, formats, out, view.name, "Ackclock", view.options)


def _stem(plot: Plot, options: Options) -> str:
    """The name of the file of a plot of a sweep, in which another result has another file."""
    shown = [getattr(options, name) for name in ("value", "aggregate") if plot.knows(name)]
    return "-".join([plot.name, *(_plain(word) for word in shown if word)])


def _kinds(asked: str | Sequence[str]) -> Iterable[str]:
    return dict.fromkeys(names_of("kinds", asked, "flow-window"))


def _save(
    drawn: Iterable[tuple[Plot, str, Figure]],
    formats: Sequence[str],
    out: Path,
    name: str,
    creator: str,
    options: Options,
) -> list[Path]:
    """Write figures, by the names of their files, in each of these formats."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PlotError(f"'{out}' is not a folder; choose another place (--out)") from None
    written: list[Path] = []
    for plot, stem, figure in drawn:
        for kind in formats:
            written.append(out / f"{stem}.{kind}")
            saving.save(figure, written[-1], f"{name}: {plot.summary}", creator, options)
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
    most = 1 if view.sampled else 2
    return [registry.find(name) for name in ("sweep-lines", "heat-map")[: min(count, most)]]


def _require_heard(options: Options, wanted: Sequence[Plot]) -> None:
    """Raise if an option would be lost silently."""
    for option in options.asked():
        if not any(plot.knows(option) for plot in wanted):
            able = [plot.name for plot in registry.PLOTS if plot.knows(option)]
            word = option.removesuffix("_s").replace("_", "-")
            raise PlotError(
                f"'{word}' has no effect on the plots asked for; it applies to {able[0]}"
            )


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
    flows: str | Sequence[str] | None,
    links: str | Sequence[str] | None,
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
