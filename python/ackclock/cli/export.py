"""`ackclock export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ackclock.cli.options import choose, read_overrides
from ackclock.cli.terminal import print_json, terminable
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.export import Format, Options
    from ackclock.results import Results
    from ackclock.scenario import Scenario


def export(
    run: str,
    name: str,
    out: Path | None = None,
    flows: list[str] | None = None,
    links: list[str] | None = None,
    hosts: list[str] | None = None,
    tables: list[str] | None = None,
    snaplen: int | None = None,
    first_fid: int | None = None,
    settings: list[str] | None = None,
    seed: int | None = None,
    as_json: bool = False,
) -> None:
    """Write a run in the format of another program: packet trace, capture, tables.

    [bold]Examples[/bold]

    [cyan]ackclock export runs/bene/two-flows-1 --format pcapng[/cyan]
    [cyan]ackclock export bene/two-flows --format ns2 --out two-flows.tr[/cyan]
    [cyan]ackclock export teach/cubic-bbr --format netem --out cubic-bbr.sh[/cyan]
    [cyan]ackclock export bene/two-flows --format csv --tables cwnd,drops --out tables[/cyan]
    """
    from ackclock import export as exporting
    from ackclock.export.registry import check
    from ackclock.scenario import Scenario

    entry = exporting.find(name)
    results: Results | Scenario = (
        Scenario.load(run, read_overrides(settings), seed)
        if entry.of == "scenario"
        else _results(run, entry, settings, seed)
    )
    model = results.model
    options = exporting.Options(
        flows=choose("flow", flows, (flow["id"] for flow in model["flows"])),
        links=choose("link", links, (link["id"] for link in model["links"])),
        hosts=choose("host", hosts, model["hosts"]),
        tables=[part for text in tables for part in text.split(",")] if tables else None,
        snaplen=snaplen,
        first_fid=first_fid,
    )
    check(entry, results, options, lambda name: f"--{name.replace('_', '-')}")
    if out is not None and str(out) == "-":
        if as_json:
            raise InputError("--json and --out - both want standard output")
        _print(results, entry, options)
        return
    place = out if out is not None else _place(results, entry, options)
    place.parent.mkdir(parents=True, exist_ok=True)
    with terminable():
        written = exporting.export(results, name, place, options)
    nodes = _node_numbers(results) if entry.name == "ns2" else None
    if as_json:
        document: dict[str, object] = {"files": [str(path) for path in written]}
        print_json(document if nodes is None else {**document, "nodes": nodes})
        return
    for path in written:
        typer.echo(str(path))
    if nodes is not None:
        typer.echo("nodes: " + ", ".join(f"{node} = {number}" for node, number in nodes.items()))


def _results(run: str, entry: Format, settings: list[str] | None, seed: int | None) -> Results:
    """The run of a directory; of a scenario, a new run that records what the format needs."""
    from ackclock import run as simulate
    from ackclock.cli.progress import progress_line
    from ackclock.results import Results
    from ackclock.run_directory import RunDirectory
    from ackclock.scenario import Scenario

    if RunDirectory(Path(run)).is_run():
        if settings or seed is not None:
            raise InputError(
                f"'{run}' has been run; --set and --seed are for scenarios "
                f"(its scenario: '{Path(run) / 'scenario.yaml'}')"
            )
        return Results.load(run)
    needed = [f"{table}: changes" for table in (*entry.tables, *entry.also)]
    record = f"{{kind: none, {', '.join(needed)}}}" if needed else "all"
    scenario = Scenario.load(run, [*read_overrides(settings), ("record", record)], seed)
    with progress_line(wanted=True) as progress:
        return simulate(scenario, progress)


def _place(results: Results | Scenario, entry: Format, options: Options) -> Path:
    """Where the file goes by default: into the run directory, or here."""
    label = (results.model["name"] or "").rsplit("/", 1)[-1] or "run"
    one = entry.name != "csv" or (options.tables is not None and len(options.tables) == 1)
    ending = entry.suffix if one else ""
    if entry.name == "windows":
        label += "-windows"
    elif entry.name == "csv":
        label = options.tables[0] if one and options.tables else "csv"
    folder: Path | None = getattr(results, "directory", None)
    if folder is None:
        return Path(f"{label}{ending}")
    return folder / "exports" / f"{label}{ending}"


def _print(results: Results | Scenario, entry: Format, options: Options) -> None:
    if entry.name == "csv" and (options.tables is None or len(options.tables) != 1):
        raise InputError("only one table fits on standard output; choose it with --tables")
    for chunk in entry.load()(results, options):
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _node_numbers(results: Results | Scenario) -> dict[str, int]:
    from ackclock.export.network import Network

    network = Network(results.model)
    return dict(zip(network.nodes, network.numbers().tolist(), strict=True))
