"""`ackclock report`."""

from __future__ import annotations

from pathlib import Path

import typer

from ackclock.cli.options import choose
from ackclock.cli.terminal import print_json
from ackclock.cli.times import seconds


def span(text: str) -> tuple[float, float]:
    """Return a span of time in seconds.

    Raises:
        typer.BadParameter: this is not one.
    """
    begin, colon, end = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"'{text}' is not a span; write FROM:TO, as in '0.5:2.5'")
    found = seconds(begin), seconds(end)
    if found[0] >= found[1]:
        raise typer.BadParameter(f"'{text}' ends before it begins")
    return found


def report(
    run_directories: list[Path],
    out: Path | None = None,
    force: bool = False,
    animate: str | None = None,
    flows: list[str] | None = None,
    links: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Write a report: one web page with zoomable panels and animated packets.

    The page is self-contained: figures, theory, the network coloured by load, rates, windows with
    the rule behind each reduction, round-trip times and queues. The same records give a
    byte-identical page.

    [bold]Examples[/bold]

    [cyan]ackclock report runs/teach/cubic-bbr-1[/cyan]
    [cyan]ackclock report small-buffer large-buffer -o buffers.html[/cyan]
    [cyan]ackclock report runs/caltech/test-case-2-fast-1 --animate 20:21.5[/cyan]
    """
    from ackclock import report as reports
    from ackclock.results import Results

    runs = [Results.load(directory) for directory in run_directories]
    place = out if out is not None else run_directories[0] / "report.html"
    written = reports.write(
        runs,
        place,
        flows=choose("flow", flows, runs[0].summary["flows"]),
        links=choose("link", links, runs[0].summary["links"]),
        animate=None if animate is None else span(animate),
        force=force,
    )
    if as_json:
        print_json({"report": str(written)})
    else:
        typer.echo(str(written))
