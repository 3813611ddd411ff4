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


def plot(
    run_directory: Annotated[
        Path,
        typer.Argument(metavar="RUN_DIR", help="What 'ackclock run' wrote.", show_default=False),
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
    """
    from ackclock import plots
    from ackclock.cli.terminal import print_json
    from ackclock.results import Results

    results = Results.load(run_directory)
    written = plots.plot(
        results,
        kinds=choose("plot", kinds, plots.names()),
        flows=choose("flow", flows, results.summary["flows"]),
        links=choose("link", links, results.summary["links"]),
        fmt=image_format.value,
        out=out if out is not None else run_directory / "plots",
    )
    if as_json:
        print_json({"plots": [str(path) for path in written]})
    else:
        for path in written:
            typer.echo(str(path))
