"""`ackclock convert`."""

from __future__ import annotations

from pathlib import Path

import typer


def convert(file: Path, out: Path) -> None:
    """Convert a file of another simulator to a scenario.

    Reads the network topologies of the Caltech simulator of 2015 (JSON by jsonpickle, as in the
    [italic]data[/italic] folder of lakshbhasin/network_simulator) and the networks of the Bene
    simulator of BYU CS 460 (text, as in the [italic]networks[/italic] folder of zappala/bene).
    Whatever is not understood is an error that names it, and nothing is written.

    [bold]Example[/bold]

    [cyan]ackclock convert data/test_case_0.json -o test-case-0.yaml[/cyan]
    [cyan]ackclock run test-case-0.yaml[/cyan]
    """
    from ackclock.cli.figures import counted
    from ackclock.convert import convert_file, written

    if str(out) == "-":  # its notes are comments there
        typer.echo(written(file)[1], nl=False)
        return
    conversion = convert_file(file, out)
    flows, links = (len(conversion.document[key]) for key in ("flows", "links"))
    typer.echo(f"{out}: {counted(flows, 'flow')}, {counted(links, 'link')}")
    for note in conversion.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"Run it: ackclock run {out}")
