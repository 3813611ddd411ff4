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
    from ackclock.convert import convert_file

    conversion = convert_file(file, out)
    document = conversion.document
    typer.echo(f"{out}: {len(document['flows'])} flows, {len(document['links'])} links")
    for note in conversion.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"Run it: ackclock run {out}")
