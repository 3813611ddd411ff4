"""`ackclock playground`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.options import JsonOption


def playground(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Write this file."),
    ] = Path("playground.html"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is not a playground.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the playground: the simulator as one page for a browser, which needs no installation.

    The page needs no network. It has the scenarios of the package, controls for rate, buffer,
    losses and algorithms, an editor, the panels of a report, and a game against CUBIC. Runs have
    the same digest as with 'ackclock run'.

    [bold]Examples[/bold]

    [cyan]ackclock playground[/cyan]
    [cyan]ackclock playground -o course/playground.html[/cyan]
    """
    from ackclock import playground as playgrounds
    from ackclock.cli.terminal import print_json

    written = playgrounds.write(out, force=force)
    if as_json:
        print_json({"playground": str(written)})
    else:
        typer.echo(str(written))
