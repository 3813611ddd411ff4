"""`ackclock plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.options import (
    FlowsOption,
    FormatOption,
    ImageFormat,
    JsonOption,
    LinksOption,
    choose,
)
from ackclock.cli.times import FromOption, ToOption, seconds


def plot(
    run_directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN_DIR",
            help="What 'ackclock run' wrote; several for a plot that compares runs.",
            show_default=False,
        ),
    ],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME[,NAME...]",
            help="Draw these plots only ('ackclock list plot'); may be repeated.",
            show_default=False,
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
            show_default=False,
        ),
    ] = None,
    together: Annotated[
        bool | None,
        typer.Option(
            "--together/--apart",
            help="All flows in one figure, or one figure for each; default as suits the plot.",
            show_default=False,
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
            show_default=False,
        ),
    ] = None,
    image_format: FormatOption = ImageFormat.png,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the plots here instead of RUN_DIR/plots.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw plots of a run that was made before.

    [bold]Examples[/bold]

    [cyan]ackclock plot runs/caltech/test-case-2-fast-1 --format pdf[/cyan]
    [cyan]ackclock plot runs/caltech/test-case-2-fast-1 --flows F1,F2 --links L1[/cyan]
    [cyan]ackclock plot runs/bene/two-flows-1 --kind sequence --modulo 50 --to 1[/cyan]
    [cyan]ackclock plot window-1 window-2 window-5 --kind window-sweep --out sweep[/cyan]
    """
    from ackclock import plots
    from ackclock.cli.terminal import print_json
    from ackclock.results import Results

    runs = [Results.load(directory) for directory in run_directories]
    results = runs[0]
    written = plots.plot(
        runs,
        kinds=choose("plot", kinds, plots.names()),
        flows=choose("flow", flows, results.summary["flows"]),
        links=choose("link", links, results.summary["links"]),
        fmt=image_format.value,
        out=out if out is not None else run_directories[0] / "plots",
        options=plots.Options(modulo, together, sliding, bin_s, begin, end),
    )
    if as_json:
        print_json({"plots": [str(path) for path in written]})
    else:
        for path in written:
            typer.echo(str(path))
