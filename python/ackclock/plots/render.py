"""From a run to files: draws the plots asked for and writes them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

from . import registry
from .errors import PlotError, unknown
from .registry import Plot
from .timeline import figure as timeline_figure
from .view import Run, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOGGER = logging.getLogger("ackclock")

FORMATS = ("png", "svg", "pdf")
_WIDTHS_MM = (60.0, 600.0)
_PNG_PIXELS = 1200


def write(
    results: Run,
    kinds: Sequence[str] | None,
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
    formats: Sequence[str],
    out: Path,
    width_mm: float,
) -> list[Path]:
    """See `ackclock.plots.plot`."""
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    if not _WIDTHS_MM[0] <= width_mm <= _WIDTHS_MM[1]:
        low, high = _WIDTHS_MM
        raise PlotError(f"a figure of {width_mm:g} mm: allowed are {low:g} to {high:g} mm")
    asked = None if kinds is None else [registry.find(kind) for kind in dict.fromkeys(kinds)]
    view = View(results, flows, links, width_mm)
    wanted = _unasked(view) if asked is None else asked
    for plot in wanted:
        for table in plot.needs:
            view.need(table)
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with _style():
        for plot in wanted:
            drawn = _draw(view, plot)
            for name in formats:
                path = out / f"{plot.name}.{name}"
                _save(drawn, path, view, plot)
                written.append(path)
    return written


def draw(
    results: Run,
    kind: str,
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
    width_mm: float,
) -> Figure:
    """See `ackclock.plots.figure`."""
    plot = registry.find(kind)
    view = View(results, flows, links, width_mm)
    for table in plot.needs:
        view.need(table)
    with _style():
        return _draw(view, plot)


def _unasked(view: View) -> list[Plot]:
    """The default plots that this run allows; says which ones it does not."""
    wanted: list[Plot] = []
    for plot in registry.PLOTS:
        if plot.default == "never":
            continue
        missing = [table for table in plot.needs if not view.recorded(table)]
        if missing:
            _LOGGER.info("no plot '%s': this run has not recorded %s", plot.name, missing[0])
            continue
        if plot.default == "changing-routes" and not view.route_changes:
            continue
        wanted.append(plot)
    return wanted


def _draw(view: View, plot: Plot) -> Figure:
    if plot.panels:
        parts = [registry.find(name) for name in plot.panels]
        return timeline_figure(view, [(part.name, part.load()) for part in parts])
    if plot.form == "panel":
        return timeline_figure(view, [(plot.name, plot.load())])
    return plot.load()(view)


def _style():  # noqa: ANN202  # the type of matplotlib's context has no public name
    with resources.as_file(resources.files("ackclock.plots") / "ackclock.mplstyle") as path:
        return mpl.rc_context(fname=str(path))


def _save(drawn: Figure, path: Path, view: View, plot: Plot) -> None:
    """Write a figure without anything that differs between two runs of this program."""
    version = view.summary.get("ackclock", "")
    creator = f"Ackclock {version}".strip()
    title = f"{view.summary.get('scenario') or view.model.get('name')}: {plot.summary}"
    kind = path.suffix[1:]
    if kind == "png":
        metadata = {"Software": creator, "Title": title}
    elif kind == "svg":
        metadata = {"Creator": creator, "Title": title, "Date": None}
    else:
        metadata = {"Creator": creator, "Title": title, "CreationDate": None}
    inches = drawn.get_size_inches()[0]
    drawn.savefig(path, format=kind, dpi=_PNG_PIXELS / inches, metadata=metadata)
