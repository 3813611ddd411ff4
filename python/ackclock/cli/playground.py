"""`ackclock playground`."""

from __future__ import annotations

from pathlib import Path

import typer

from ackclock.cli.terminal import print_json


def playground(
    out: Path = Path("playground.html"),
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Write the playground: the simulator as one web page, without installation.

    The page works offline. It has the scenarios of the package, controls for rate, buffer, losses
    and algorithms, an editor, the panels of a report, and a game against CUBIC. Runs have the same
    digest as with 'ackclock run'.

    [bold]Examples[/bold]

    [cyan]ackclock playground[/cyan]
    [cyan]ackclock playground -o course/playground.html[/cyan]
    """
    from ackclock import playground as playgrounds

    written = playgrounds.write(out, force=force)
    if as_json:
        print_json({"playground": str(written)})
    else:
        typer.echo(str(written))
