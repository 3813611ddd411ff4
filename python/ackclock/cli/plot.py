"""`ackclock plot`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ackclock.cli.options import ImageFormat, choose, name_list, read_where
from ackclock.cli.terminal import print_json
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.plots import Options
    from ackclock.sweep import SweepResults


def width(text: str) -> float:
    """Return a width on paper in mm.

    Raises:
        typer.BadParameter: this is not a width.
    """
    from ackclock.plots.options import NAMED_WIDTHS_MM

    if text in NAMED_WIDTHS_MM:
        return NAMED_WIDTHS_MM[text]
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(mm|cm|in|)\s*", text)
    if not found:
        names = ", ".join(NAMED_WIDTHS_MM)
        raise typer.BadParameter(f"'{text}' is not a width; write {names}, 120 or '3.5 in'")
    return float(found[1]) * {"": 1.0, "mm": 1.0, "cm": 10.0, "in": 25.4}[found[2]]


def folder(place: Path) -> Path:
    """Return where the plots of a run or of a sweep go to."""
    return place.parent if place.is_file() else place


def plot(
    run_directories: list[Path],
    kinds: list[str] | None = None,
    flows: list[str] | None = None,
    links: list[str] | None = None,
    begin: float | None = None,
    end: float | None = None,
    modulo: int | None = None,
    together: bool | None = None,
    sliding: bool = False,
    bin_s: float | None = None,
    overlay: list[str] | None = None,
    x: str | None = None,
    y: str | None = None,
    lines: str | None = None,
    facets: list[str] | None = None,
    value: str | None = None,
    what: Literal["runs", "flows"] | None = None,
    aggregate: str | None = None,
    where: list[str] | None = None,
    width_mm: float | None = None,
    style: Literal["light", "dark", "paper", "slides"] = "light",
    transparent: bool = False,
    image_format: ImageFormat = "png",
    out: Path | None = None,
    watch: bool = False,
    as_json: bool = False,
) -> None:
    """Plot a run or a sweep.

    Plots of a sweep choose axes by themselves: numbers along the bottom, words as lines, the rest
    as panels.

    [bold]Examples[/bold]

    [cyan]ackclock plot runs/caltech/test-case-2-fast-1 --format pdf[/cyan]
    [cyan]ackclock plot runs/caltech/test-case-2-fast-1 --flows F1,F2 --links L1[/cyan]
    [cyan]ackclock plot runs/bene/two-flows-1 --kind sequence --modulo 50 --to 1[/cyan]
    [cyan]ackclock plot window-1 window-2 window-5 --kind window-sweep --out compared[/cyan]
    [cyan]ackclock plot my-run --kind overview --theme paper --width column --format pdf[/cyan]
    [cyan]ackclock plot my-experiment.yaml --kind overview --watch[/cyan]
    [cyan]ackclock plot my-sweep --kind sweep-lines --value drops --x queue --lines cc[/cyan]
    """
    from ackclock import plots

    options = plots.Options(
        width_mm=width_mm,
        style=style,
        transparent=transparent,
        modulo=modulo,
        together=together,
        sliding=sliding,
        bin_s=bin_s,
        from_s=begin,
        to_s=end,
        overlay=tuple(overlay or ()),
        x=x,
        y=y,
        lines=lines,
        facets=None if facets is None else tuple(name_list(facets)),
        value=value,
        what=what,
        aggregate=aggregate,
        where=read_where(where),
    )
    draw = partial(
        _drawn, kinds=kinds, flows=flows, links=links, fmt=image_format, out=out, options=options
    )
    if watch:
        from ackclock.cli.watching import watch as watch_files

        if as_json:
            raise InputError("--json prints a single document, so it excludes --watch")
        watch_files(run_directories, lambda places: _print_paths(draw(places)))
    else:
        _print_paths(draw(run_directories), as_json=as_json)


def _drawn(
    places: Sequence[Path],
    *,
    kinds: list[str] | None,
    flows: list[str] | None,
    links: list[str] | None,
    fmt: ImageFormat,
    out: Path | None,
    options: Options,
) -> list[Path]:
    """Draw plots of runs or of a sweep; returns the files."""
    from ackclock import plots
    from ackclock.cli.table_sources import is_sweep
    from ackclock.results import Results

    out = out if out is not None else folder(places[0]) / "plots"
    chosen = choose("plot", kinds, plots.names())
    if any(map(is_sweep, places)):
        return plots.plot_sweep(_sweep(places, flows or links), chosen, fmt, out, options=options)
    for place in places:
        if re.match(r"[a-z0-9]+:/", str(place)):  # as a path it has lost a slash
            raise InputError(
                f"plots read folders, not URLs ('{place}'): copy its results.parquet to a folder "
                "and plot that, or run 'ackclock sweep STUDY --out FOLDER'"
            )
        if str(place) in plots.names() and not place.exists():
            raise InputError(f"'{place}' is a plot, not a run directory; write --kind {place}")
    runs = [Results.load(directory) for directory in places]
    flows = choose("flow", flows, runs[0].summary["flows"])
    links = choose("link", links, runs[0].summary["links"])
    return plots.plot(runs, chosen, flows, links, fmt, out, options=options)


def _sweep(places: Sequence[Path], chosen: list[str] | None) -> SweepResults:
    from ackclock.sweep import load

    if len(places) > 1:
        raise InputError("a plot of a sweep shows one sweep; name it alone")
    if chosen:
        raise InputError("--flows and --links choose of runs; of a sweep choose with --where")
    return load(places[0])


def _print_paths(written: list[Path], *, as_json: bool = False) -> None:
    if as_json:
        print_json({"plots": [str(path) for path in written]})
    else:
        for path in written:
            typer.echo(str(path))
