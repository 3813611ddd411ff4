"""`ackclock plot`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ackclock.cli import completing
from ackclock.cli.options import (
    FlowsOption,
    FormatOption,
    ImageFormat,
    JsonOption,
    LinksOption,
    WhereOption,
    choose,
    name_list,
    read_where,
)
from ackclock.cli.times import FromOption, ToOption, seconds
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.plots import Options


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
    run_directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            autocompletion=completing.runs,
            help="What 'ackclock run' or 'ackclock sweep' wrote; several runs for a plot that "
            "compares them.",
        ),
    ],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME[,NAME...]",
            autocompletion=completing.plots,
            help="Draw these plots only ('ackclock list plot'); may be repeated.",
        ),
    ] = None,
    flows: FlowsOption = None,
    links: LinksOption = None,
    begin: FromOption = None,
    end: ToOption = None,
    modulo: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Let sequence numbers start again after N segments ('sequence').",
        ),
    ] = None,
    together: Annotated[
        bool | None,
        typer.Option(
            "--together/--apart",
            help="All flows in one figure, or one figure for each; default as suits the plot.",
        ),
    ] = None,
    sliding: Annotated[
        bool,
        typer.Option("--sliding", help="Show the rate over the last 1 s too ('receiver-rate')."),
    ] = False,
    bin_s: Annotated[
        float | None,
        typer.Option(
            "--bin",
            metavar="TIME",
            parser=seconds,
            help="Width of the bins for rates ('receiver-rate'); default 0.1 s.",
        ),
    ] = None,
    overlay: Annotated[
        list[str] | None,
        typer.Option(
            "--overlay",
            metavar="[FLOW=]FILE",
            help="Lay a measurement over windows, data in flight and RTTs: a capture (pcapng, "
            "pcap), samples of 'ss -tin', tcp_probe, or a trace of ns-2; may be repeated.",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Axis of a sweep along the bottom."),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Axis of a sweep along the side ('heat-map')."),
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(
            "--lines",
            metavar="AXIS",
            help="One line for each value of this axis of a sweep ('sweep-lines').",
        ),
    ] = None,
    facets: Annotated[
        list[str] | None,
        typer.Option(
            "--facets",
            metavar="AXIS[,AXIS...]",
            help="One panel for each combination of values of these axes of a sweep.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value",
            metavar="NAME",
            help="Which result of a sweep; default goodput_bps. 'ackclock table SWEEP --columns "
            "list' says which there are.",
        ),
    ] = None,
    where: WhereOption = None,
    width_mm: Annotated[
        float | None,
        typer.Option(
            "--width",
            metavar="WIDTH",
            parser=width,
            help="Width on paper, 60 to 600 mm: 'page' (180), 'column' (88, one of two), a number "
            "of mm, or inches as '3.5 in'. Default page; for slides half a slide.",
        ),
    ] = None,
    style: Annotated[
        Literal["light", "dark", "paper", "slides"],
        typer.Option(
            "--theme",
            "--style",
            help="For a light or a dark screen, for print (black text), or for slides (text twice "
            "as large).",
        ),
    ] = "light",
    transparent: Annotated[
        bool, typer.Option("--transparent", help="Leave the ground of the pictures out.")
    ] = False,
    image_format: FormatOption = "png",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the plots here instead of DIR/plots.",
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Draw again whenever a run is replaced; a scenario file is run again whenever it "
            "is saved. Ctrl-C ends it.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw plots of a run or a sweep that was made before.

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
        where=read_where(where),
    )
    asked = _Asked(kinds, flows, links, image_format, out, options)
    if watch:
        from ackclock.cli.watching import watch as watch_files

        if as_json:
            raise InputError("--json prints one document; --watch goes on")
        watch_files(run_directories, lambda places: _print_paths(_drawn(places, asked)))
    else:
        _print_paths(_drawn(run_directories, asked), as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    kinds: list[str] | None
    flows: list[str] | None
    links: list[str] | None
    image_format: ImageFormat
    out: Path | None
    options: Options


def _drawn(run_directories: Sequence[Path], asked: _Asked) -> list[Path]:
    """Draw what was asked for of runs or of a sweep; returns the files."""
    from ackclock import plots
    from ackclock.cli.table_sources import is_sweep
    from ackclock.results import Results

    place = asked.out if asked.out is not None else folder(run_directories[0]) / "plots"
    if any(map(is_sweep, run_directories)):
        return _of_sweep(run_directories, asked, place)
    runs = [Results.load(directory) for directory in run_directories]
    results = runs[0]
    return plots.plot(
        runs,
        kinds=choose("plot", asked.kinds, plots.names()),
        flows=choose("flow", asked.flows, results.summary["flows"]),
        links=choose("link", asked.links, results.summary["links"]),
        fmt=asked.image_format,
        out=place,
        options=asked.options,
    )


def _of_sweep(places: Sequence[Path], asked: _Asked, out: Path) -> list[Path]:
    from ackclock import plots
    from ackclock.sweep import load

    if len(places) > 1:
        raise InputError("a plot of a sweep shows one sweep; name it alone")
    if asked.flows or asked.links:
        raise InputError("--flows and --links choose of runs; of a sweep choose with --where")
    return plots.plot_sweep(
        load(places[0]),
        choose("plot", asked.kinds, plots.names()),
        asked.image_format,
        out,
        options=asked.options,
    )


def _print_paths(written: list[Path], *, as_json: bool = False) -> None:
    from ackclock.cli.terminal import print_json

    if as_json:
        print_json({"plots": [str(path) for path in written]})
    else:
        for path in written:
            typer.echo(str(path))
